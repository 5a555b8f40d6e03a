//! MPI requests with what is to be remembered of them.

use mpi::request::{Request, Scope};

/// A request under way, and what it is about.
pub(super) type Tagged<'a, T, S> = (T, Request<'a, [u8], S>);

/// Takes out the requests that are done, and tells what they were about; true if there were any.
pub(super) fn take_done<'a, T, S: Scope<'a>>(
    requests: &mut Vec<Tagged<'a, T, S>>,
    mut done: impl FnMut(T),
) -> bool {
    let before = requests.len();
    let mut at = 0;
    while at < requests.len() {
        let (about, request) = requests.swap_remove(at);
        match request.test() {
            Ok(_) => done(about),
            Err(pending) => {
                requests.push((about, pending));
                let last = requests.len() - 1;
                requests.swap(at, last);
                at += 1;
            }
        }
    }
    requests.len() < before
}

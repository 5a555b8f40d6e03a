//! MPI requests, each with a tag.

use mpi::request::{Request, Scope};

/// A pending request and its tag.
pub(super) type Tagged<'a, T, S> = (T, Request<'a, [u8], S>);

/// Removes the requests that are done, and calls `done` with their tags; true if there were any.
pub(super) fn take_done<'a, T, S: Scope<'a>>(
    requests: &mut Vec<Tagged<'a, T, S>>,
    mut done: impl FnMut(T),
) -> bool {
    let before = requests.len();
    let mut at = 0;
    while at < requests.len() {
        let (tag, request) = requests.swap_remove(at);
        match request.test() {
            Ok(_) => done(tag),
            Err(pending) => {
                requests.push((tag, pending));
                let last = requests.len() - 1;
                requests.swap(at, last);
                at += 1;
            }
        }
    }
    requests.len() < before
}

//! Room to compute in, one for each thread instead of one for each agent.
//!
//! What a model needs while it runs (activations, packed weights) is much larger than the model.
//! Kept per thread, a thousand agents fit where sixteen do.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::SimError;

/// One `T` for each thread of a pool. A thread always gets the same one, so it never waits.
///
/// What a `T` holds may not show in any result: which agent meets which thread is chance.
#[derive(Debug)]
pub struct PerThread<T>(Box<[Mutex<T>]>);

impl<T> PerThread<T> {
    /// As many as there are threads, each made by `make`.
    ///
    /// # Errors
    /// If one cannot be made.
    pub fn try_new<E>(threads: usize, mut make: impl FnMut() -> Result<T, E>) -> Result<Self, E> {
        let all = (0..threads.max(1)).map(|_| make().map(Mutex::new));
        Ok(PerThread(all.collect::<Result<_, E>>()?))
    }

    /// As many as there are threads, each made by `make`.
    pub fn new(threads: usize, mut make: impl FnMut() -> T) -> Self {
        PerThread((0..threads.max(1)).map(|_| Mutex::new(make())).collect())
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// That of the thread which asks; the first outside any pool.
    ///
    /// Threads of another, larger pool share some, and then wait for each other.
    pub fn own(&self) -> MutexGuard<'_, T> {
        let thread = rayon::current_thread_index().unwrap_or(0) % self.0.len();
        // A panic while it was held ends the run; nobody reads what is in there.
        self.0[thread].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Worker threads, or why there are none.
///
/// # Errors
/// If the machine refuses them.
pub fn start_threads(threads: usize) -> Result<rayon::ThreadPool, SimError> {
    let threads = threads.max(1);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| SimError::Threads { threads, reason: error.to_string() })
}

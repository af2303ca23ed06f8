//! Work on many chunks with several threads.
//!
//! | function | order of results | who does the I/O | use it for |
//! |---|---|---|---|
//! | [`for_each`] | any | every worker | independent items: verifying, filling slots of a buffer |
//! | [`in_order`] | that of the jobs | the caller | a source or sink that is not `Send`, or is no stream |
//! | [`in_order_by_workers`] | that of the jobs | every worker, one at a time | streams of chunks whose data should stay in one worker's cache |
//!
//! The caller's thread is always one of the workers, and with one worker no other thread is used.
//! How many there are is decided in one place: [`Executor::count`](blosc_chunk::Executor::count).
//! The other workers of [`for_each`] are threads of the executor, which take less time to wake than
//! to start; they never wait for each other. Workers of the two functions that keep an order wait
//! for their turn or for a job. They have threads of their own, which end with the call: those of
//! the executor would be missing where another operation computes, and a pool of the caller need
//! not run its calls at the same time.

mod for_each;
mod in_order;
mod in_order_by_workers;

pub use for_each::for_each;
pub use in_order::{Job, in_order};
pub use in_order_by_workers::in_order_by_workers;

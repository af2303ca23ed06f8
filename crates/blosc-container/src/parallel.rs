//! Work on many chunks with several threads.
//!
//! | function | order of results | I/O in | use it for |
//! |---|---|---|---|
//! | [`for_each`] | any | every worker | independent items: verifying, filling slots of a buffer |
//! | [`in_order`] | that of the jobs | the caller | a source or sink that is not `Send`, or not a stream |
//! | [`in_order_by_workers`] | that of the jobs | every worker, one at a time | streams of chunks whose data should stay in one worker's cache |
//!
//! The caller's thread is always one of the workers, and with one worker no other thread is used.
//! [`Executor::count`](blosc_chunk::Executor::count) alone determines their number. The other
//! workers of [`for_each`] are threads of the executor, which wake faster than new threads start;
//! they never wait for each other. In the two functions that keep an order, workers wait for their
//! turn or for a job. Their threads are separate, and end with the call. Waiting threads of the
//! executor would be missing in another operation, and a caller's pool may not run all calls at the
//! same time.

mod for_each;
mod in_order;
mod in_order_by_workers;

pub use for_each::for_each;
pub use in_order::{Job, in_order};
pub use in_order_by_workers::in_order_by_workers;

//! A number of threads without a pool.

use core::num::NonZeroUsize;

/// A number of threads. Converted to an [`Executor`](crate::Executor), it has a new pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Threads {
    /// Only the caller's thread.
    #[default]
    One,
    /// One for each processor that the process may use.
    Auto,
    /// At most this number, including the caller's.
    N(NonZeroUsize),
}

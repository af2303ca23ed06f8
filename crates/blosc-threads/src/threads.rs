//! A number of threads, before it is a pool.

use core::num::NonZeroUsize;

/// A number of threads. Made an [`Executor`](crate::Executor), it has a pool of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Threads {
    /// Only the caller's.
    #[default]
    One,
    /// As many as there are processors that the process may use.
    Auto,
    /// At most this number, the caller's among them.
    N(NonZeroUsize),
}

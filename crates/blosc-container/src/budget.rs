//! Threads and bytes that an operation may use.

use blosc_chunk::{Executor, Threads};

blosc_chunk::setters! {
/// Threads and memory of an operation on many chunks. Clones share their threads.
///
/// ```
/// use blosc_chunk::{Executor, Threads};
/// use blosc_container::Budget;
///
/// let budget = Budget::default().threads(Threads::One);
/// assert_eq!(budget.nworkers(), 1);
/// // Threads for operations of all kinds, which are kept between them.
/// let budget = Budget::default().threads(Executor::threads(4));
/// assert_eq!(budget.nworkers(), 4);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Bytes of chunks, compressed and not, that memory may hold at a time. Default: 128 MiB. One
    /// block is always allowed; some containers need a whole chunk, and document it.
    pub max_memory: u64,
    ;
    /// Threads that compress or decompress, including the caller's. Default: [`Threads::Auto`], of
    /// a pool that begins with this value.
    pub threads: Executor,
}
}

impl Default for Budget {
    fn default() -> Self {
        Self { threads: Threads::Auto.into(), max_memory: 128 << 20 }
    }
}

impl Budget {
    /// Sets [`threads`](Self#structfield.threads): their number, or an executor.
    #[must_use]
    pub fn threads(self, threads: impl Into<Executor>) -> Self {
        Self { threads: threads.into(), ..self }
    }

    /// Number of threads, including the caller's; at least 1.
    #[must_use]
    pub fn nworkers(&self) -> usize {
        self.threads.count()
    }

    /// Bytes for one of `njobs` jobs of each worker.
    #[must_use]
    pub fn share(&self, njobs: u64) -> u64 {
        let all = njobs.saturating_mul(self.nworkers() as u64);
        self.max_memory.checked_div(all).unwrap_or(self.max_memory)
    }

    /// This budget with at most `nworkers` threads.
    #[must_use]
    pub fn at_most(&self, nworkers: usize) -> Self {
        Self { threads: self.threads.at_most(nworkers), ..*self }
    }

    /// The number of workers whose jobs of `nbytes` bytes each fit into the memory, at least 1.
    #[must_use]
    pub fn nworkers_for(&self, nbytes: u64) -> usize {
        let fitting = self.max_memory.checked_div(nbytes).unwrap_or(u64::MAX);
        usize::try_from(fitting).unwrap_or(usize::MAX).min(self.nworkers()).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_shared_among_the_workers() {
        let budget = Budget { threads: Executor::threads(4), max_memory: 1000 };
        let nworkers = 4;
        assert_eq!(budget.nworkers(), nworkers);
        assert_eq!(budget.share(5), 1000 / 5 / nworkers as u64);
        assert_eq!(budget.share(0), 1000);
        assert_eq!(
            [0, 1, 2, 9].map(|n| budget.at_most(n).nworkers()),
            [1, 1, nworkers.min(2), nworkers]
        );
        assert_eq!(
            [0, 1, 400, 2000].map(|n| budget.nworkers_for(n)),
            [nworkers, nworkers, nworkers.min(2), 1]
        );
    }
}

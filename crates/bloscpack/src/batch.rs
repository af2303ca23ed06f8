//! Chunks that several threads process together in bounded memory. Input and output stay with the
//! caller.

use core::convert::Infallible;

use blosc_container::Budget;
use blosc_container::parallel::for_each;

/// Slots with buffers of their own, which the next chunks reuse.
#[derive(Debug)]
pub(crate) struct Batch<T> {
    budget: Budget,
    slots: Vec<T>,
    /// Slots that hold a chunk.
    nfilled: usize,
    /// Memory that their chunks and data take (bytes).
    nbytes: u64,
}

impl<T: Send> Batch<T> {
    pub(crate) fn new(budget: Budget) -> Self {
        Self { budget, slots: vec![], nfilled: 0, nbytes: 0 }
    }

    /// Whether another chunk of average size may be added. One chunk is always allowed, so the
    /// memory is exceeded by one chunk at most.
    pub(crate) fn has_room(&self) -> bool {
        let average = self.nbytes.checked_div(self.nfilled as u64).unwrap_or(0);
        let fits = self.nbytes.saturating_add(average) <= self.budget.max_memory;
        self.nfilled == 0 || self.nfilled < self.max_slots() && fits
    }

    /// The slot for a chunk that takes `nbytes` bytes of memory; `make` makes a new one.
    pub(crate) fn add_slot<E>(
        &mut self,
        nbytes: u64,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<Option<&mut T>, E> {
        if self.slots.len() == self.nfilled {
            self.slots.push(make()?);
        }
        self.nfilled = self.nfilled.saturating_add(1);
        self.nbytes = self.nbytes.saturating_add(nbytes);
        Ok(self.filled().last_mut())
    }

    /// Calls `work` on every slot that holds a chunk.
    pub(crate) fn for_each(&mut self, work: impl Fn(&mut T) + Sync) {
        let threads = self.budget.threads.clone();
        let done = for_each(
            (&threads, threads.count_for(self.nfilled)),
            self.filled().iter_mut(),
            || (),
            |(), slot| {
                work(slot);
                Ok::<(), Infallible>(())
            },
        );
        match done {
            Ok(()) => {}
            Err(error) => match error {},
        }
    }

    /// The slots that hold a chunk.
    pub(crate) fn filled(&mut self) -> &mut [T] {
        self.slots.split_at_mut(self.nfilled).0
    }

    /// Empties the slots, and drops the ones whose buffers `is_kept` finds too large.
    pub(crate) fn clear(&mut self, is_kept: impl Fn(&T, u64) -> bool) {
        let share = self.budget.share(SLOTS_PER_WORKER as u64);
        self.slots.retain(|slot| is_kept(slot, share));
        (self.nfilled, self.nbytes) = (0, 0);
    }

    /// All slots, for other work.
    pub(crate) fn take_slots(&mut self) -> Vec<T> {
        (self.nfilled, self.nbytes) = (0, 0);
        core::mem::take(&mut self.slots)
    }

    fn max_slots(&self) -> usize {
        match self.budget.nworkers() {
            1 => 1,
            nworkers => nworkers.saturating_mul(SLOTS_PER_WORKER),
        }
    }
}

/// More than one, since some chunks take longer than others. Memory that is touched for the first
/// time costs as much as a fast codec: see `docs/performance/bloscpack.md`.
pub(crate) const SLOTS_PER_WORKER: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use blosc_chunk::Threads;
    use core::num::NonZeroUsize;

    /// The number of chunks of `nbytes` bytes that are processed together.
    fn batch_len(threads: Threads, nbytes: u64) -> usize {
        let mut batch = Batch::new(Budget::default().threads(threads).max_memory(1000));
        while batch.has_room() {
            batch.add_slot(nbytes, || Ok::<(), ()>(())).unwrap();
        }
        batch.filled().len()
    }

    #[test]
    fn memory_bounds_the_batch() {
        assert_eq!(batch_len(Threads::One, 1), 1);
        let four = Threads::N(NonZeroUsize::new(4).unwrap());
        let expected = [8, 8, 1, 8];
        assert_eq!([1, 100, 5000, 0].map(|nbytes| batch_len(four, nbytes)), expected);
    }

    #[test]
    fn work_is_done_once_on_every_slot_and_slots_are_used_again() {
        for threads in [Threads::One, Threads::Auto, Threads::N(NonZeroUsize::new(3).unwrap())] {
            let mut batch = Batch::new(Budget::default().threads(threads));
            for round in 1..4 {
                for _ in 0..10 {
                    batch.add_slot(1, || Ok::<u32, ()>(0)).unwrap();
                }
                batch.for_each(|slot| *slot += 1);
                assert_eq!(batch.filled(), [round; 10]);
                batch.clear(|_, _| true);
            }
            batch.clear(|slot, _| *slot > 3);
            assert!(batch.take_slots().is_empty());
        }
    }
}

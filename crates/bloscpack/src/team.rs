//! Several chunks at once. Input and output stay with the caller; only decoding and encoding are
//! shared out.

use blosc_chunk::Threads;

/// How many chunks may be in work, by number and by memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Team {
    threads: Threads,
    max_memory: u64,
}

impl Team {
    pub(crate) const fn new(threads: Threads, max_memory: u64) -> Self {
        Self { threads, max_memory }
    }

    /// Whether to take another chunk to those `taken` ones that weigh `bytes` together, going by
    /// their average. One is always taken, and so memory is exceeded by one chunk at most.
    pub(crate) fn takes_more(&self, taken: usize, bytes: u64) -> bool {
        let average = bytes.checked_div(taken as u64).unwrap_or(0);
        taken == 0 || taken < self.most() && bytes.saturating_add(average) <= self.max_memory
    }

    /// Bytes of memory for each chunk, if there are as many as possible.
    pub(crate) fn share(&self) -> u64 {
        self.max_memory.checked_div(self.most() as u64).unwrap_or(0)
    }

    /// The most chunks to take together: more than there are workers, since some take longer than
    /// others.
    fn most(&self) -> usize {
        match self.workers() {
            1 => 1,
            workers => workers.saturating_mul(PER_WORKER),
        }
    }

    fn workers(&self) -> usize {
        match self.threads {
            _ if cfg!(not(feature = "rayon")) => 1,
            #[cfg(feature = "rayon")]
            Threads::Auto => rayon::current_num_threads(),
            Threads::N(n) => n.get(),
            _ => 1,
        }
    }

    /// How many workers have something to do if there are so many chunks, each of which takes so
    /// many bytes.
    pub(crate) fn fitting(&self, chunk_nbytes: u64, nchunks: u64) -> usize {
        let fitting = self.max_memory.checked_div(chunk_nbytes).unwrap_or(u64::MAX).min(nchunks);
        usize::try_from(fitting).unwrap_or(usize::MAX).min(self.workers()).max(1)
    }

    /// For each of two batches at once, half of the memory.
    pub(crate) const fn half(self) -> Self {
        Self { max_memory: self.max_memory / 2, ..self }
    }

    /// Whether something else can be done while others work.
    pub(crate) fn is_several(&self) -> bool {
        self.workers() > 1
    }

    /// Does `work` on every slot in other threads, and `meanwhile` in this one.
    pub(crate) fn each_while<T: Send, R>(
        &self,
        slots: &mut [T],
        work: impl Fn(&mut T) + Sync,
        meanwhile: impl FnOnce() -> R,
    ) -> R {
        #[cfg(feature = "rayon")]
        if !slots.is_empty() && self.is_several() {
            let (share, work) = (self.share_of(slots.len()), &work);
            return rayon::in_place_scope(|scope| {
                for slots in slots.chunks_mut(share) {
                    scope.spawn(move |_| slots.iter_mut().for_each(work));
                }
                meanwhile()
            });
        }
        let result = meanwhile();
        slots.iter_mut().for_each(work);
        result
    }

    /// With a given number of workers each gets one share of the slots, with all of them each takes
    /// what is next.
    #[cfg(feature = "rayon")]
    fn share_of(&self, nslots: usize) -> usize {
        match self.threads {
            Threads::N(n) => nslots.div_ceil(n.get()),
            _ => 1,
        }
    }

    /// Does `work` on every slot.
    pub(crate) fn each<T: Send>(&self, slots: &mut [T], work: impl Fn(&mut T) + Sync) {
        #[cfg(feature = "rayon")]
        if slots.len() > 1 && self.workers() > 1 {
            use rayon::prelude::*;
            return slots
                .par_chunks_mut(self.share_of(slots.len()))
                .for_each(|slots| slots.iter_mut().for_each(&work));
        }
        slots.iter_mut().for_each(work);
    }
}

/// Chunks for each worker in a batch. There are two batches, and memory that is touched for the
/// first time costs as much as a fast codec: with 4, a file of 64 MiB whose chunks hardly need time
/// took twice the processor time of the original.
const PER_WORKER: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use core::num::NonZeroUsize;

    /// How many chunks of `weight` bytes are taken together.
    fn batch(threads: Threads, weight: u64) -> u64 {
        let team = Team::new(threads, 1000);
        (0..)
            .find(|taken| !team.takes_more(usize::try_from(*taken).unwrap(), weight * taken))
            .unwrap()
    }

    #[test]
    fn memory_bounds_the_batch() {
        assert_eq!(batch(Threads::One, 1), 1);
        let four = Threads::N(NonZeroUsize::new(4).unwrap());
        let most = if cfg!(feature = "rayon") { [8, 8, 1, 8] } else { [1; 4] };
        assert_eq!([1, 100, 5000, 0].map(|weight| batch(four, weight)), most);
    }

    #[test]
    fn every_slot_is_worked_on_once() {
        for threads in [Threads::One, Threads::Auto, Threads::N(NonZeroUsize::new(3).unwrap())] {
            let mut slots: Vec<u32> = (0..10).collect();
            Team::new(threads, 0).each(&mut slots, |slot| *slot += 100);
            assert_eq!(slots, (100..110).collect::<Vec<u32>>());
            let mut here = 0;
            let add = |slot: &mut u32| *slot += 1000;
            let done = Team::new(threads, 0).each_while(&mut slots, add, || {
                here += 1;
                "done"
            });
            assert_eq!((slots, here, done), ((1100..1110).collect(), 1, "done"));
        }
    }
}

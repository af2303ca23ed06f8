//! Several chunks at once: each worker has scratch memory of its own, and nothing is shared but the reader.

use blosc_chunk::{DParams, Scratch, Threads};

/// What a worker needs to decode chunks.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) scratch: Scratch,
    /// The chunk as it lies in its file.
    pub(crate) packed: Vec<u8>,
}

impl Worker {
    pub(crate) fn new(dparams: &DParams) -> Self {
        Self { scratch: Scratch::new(dparams), packed: Vec::new() }
    }
}

/// How many workers there are.
pub(crate) fn workers(threads: Threads) -> usize {
    match threads {
        _ if cfg!(not(feature = "rayon")) => 1,
        #[cfg(feature = "rayon")]
        Threads::Auto => rayon::current_num_threads(),
        Threads::N(n) => n.get(),
        _ => 1,
    }
}

/// Does `work` on every item, with a worker of `make` for each share of them.
pub(crate) fn each<T: Send, W>(
    threads: Threads,
    items: &mut [T],
    make: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, &mut T) + Sync,
) {
    #[cfg(feature = "rayon")]
    if items.len() > 1 && workers(threads) > 1 {
        use rayon::prelude::*;
        // With a given number of workers each gets one share, with all of them each takes what is next.
        let share = match threads {
            Threads::N(n) => items.len().div_ceil(n.get()),
            _ => items.len().div_ceil(SHARES * workers(threads)),
        };
        return items.par_chunks_mut(share).for_each(|items| {
            let mut worker = make();
            items.iter_mut().for_each(|item| work(&mut worker, item));
        });
    }
    let _ = threads;
    let mut worker = make();
    items.iter_mut().for_each(|item| work(&mut worker, item));
}

/// Shares for each worker, since some take longer than others.
#[cfg(feature = "rayon")]
const SHARES: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use core::num::NonZeroUsize;

    #[test]
    fn every_item_is_worked_on_once() {
        for threads in [Threads::One, Threads::Auto, Threads::N(NonZeroUsize::new(3).unwrap())] {
            let mut items: Vec<u32> = (0..10).collect();
            each(threads, &mut items, || (), |(), item| *item += 100);
            assert_eq!(items, (100..110).collect::<Vec<u32>>());
        }
    }
}

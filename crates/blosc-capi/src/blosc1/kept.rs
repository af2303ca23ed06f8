//! Encoders and decoders, kept for the next call. Making their buffers costs more than a small
//! chunk.

use std::sync::{Mutex, MutexGuard, PoisonError};

use blosc_chunk::{CParams, DParams, Decoder, Encoder, Limits};

use crate::epoch::PerProcess;
use crate::pool;

static KEPT: PerProcess<Kept> = PerProcess::new();

#[derive(Default)]
struct Kept {
    encoders: Shelf<Setup, Encoder>,
    /// Decoders by number of threads.
    decoders: Shelf<usize, Decoder>,
}

/// Most that are kept of each: the likely number of threads that compress at a time.
const MAX_KEPT: usize = 8;

/// The parameters of an encoder that differ between calls.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Setup {
    pub(super) params: Params,
    pub(super) nthreads: usize,
}

/// The parameters in a form that is fast to compare.
pub(super) type Params = (u8, u8, usize, u8, Option<usize>, blosc_chunk::SplitMode);

/// Unused values, each with its key, the last used one at the end.
struct Shelf<K, V>(Mutex<Vec<(K, V)>>);

impl<K, V> Default for Shelf<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: PartialEq, V> Shelf<K, V> {
    fn take(&self, key: &K) -> Option<V> {
        let mut kept = self.lock();
        let at = kept.iter().rposition(|(other, _)| other == key)?;
        Some(kept.remove(at).1)
    }

    /// Keeps a value, and drops the least recently used one if there are too many.
    fn put_back(&self, key: K, value: V) {
        let mut kept = self.lock();
        let old = (kept.len() >= MAX_KEPT).then(|| kept.remove(0));
        kept.push((key, value));
        drop(kept);
        drop(old);
    }

    fn clear(&self) {
        let kept = core::mem::take(&mut *self.lock());
        drop(kept);
    }

    /// No code panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, Vec<(K, V)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Calls `f` with an encoder for this setup. If it panics, the encoder is not used again.
pub(super) fn with_encoder<T>(
    setup: Setup,
    params: impl FnOnce(&Setup) -> CParams,
    f: impl FnOnce(&mut Encoder) -> T,
) -> blosc_chunk::error::Result<T> {
    let shelf = &KEPT.get().encoders;
    let mut encoder = match shelf.take(&setup) {
        Some(encoder) => encoder,
        None => Encoder::new(params(&setup).threads(pool::executor(setup.nthreads)))?,
    };
    let result = f(&mut encoder);
    shelf.put_back(setup, encoder);
    Ok(result)
}

/// Calls `f` with a decoder that uses up to `nthreads` threads.
pub(super) fn with_decoder<T>(nthreads: usize, f: impl FnOnce(&mut Decoder) -> T) -> T {
    let shelf = &KEPT.get().decoders;
    let mut decoder = shelf.take(&nthreads).unwrap_or_else(|| {
        // The buffer of the caller is the limit.
        let params = DParams::default().limits(Limits::none());
        Decoder::new(params.threads(pool::executor(nthreads)))
    });
    let result = f(&mut decoder);
    shelf.put_back(nthreads, decoder);
    result
}

/// Frees threads and buffers. Calls that run in other threads continue with theirs.
pub(super) fn clear() {
    KEPT.get().encoders.clear();
    KEPT.get().decoders.clear();
    pool::end();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_taken_once_and_the_oldest_goes() {
        let shelf = Shelf::<usize, usize>::default();
        (0..=MAX_KEPT).for_each(|n| shelf.put_back(n, n));
        assert_eq!((shelf.take(&0), shelf.take(&1), shelf.take(&1)), (None, Some(1), None));
        shelf.clear();
        assert_eq!(shelf.take(&2), None);
    }
}

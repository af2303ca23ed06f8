//! Scratch buffers that wait for the next reader.
//!
//! New ones would cost more than the block of a small read: a context of Zstandard alone has some
//! hundred KiB. So a reader takes one that is left from before, and puts it back; there are as many
//! as there were readers at once.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

use core::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{SChunk, Scratch};

/// Buffers larger than this (bytes) are not kept.
const LARGE: usize = 8 << 20;
/// Most that are kept.
const MANY: usize = 64;

/// Scratch buffers for one thread each.
#[derive(Debug, Default)]
pub(crate) struct Pool(Mutex<Vec<Scratch>>);

impl Pool {
    fn lock(&self) -> MutexGuard<'_, Vec<Scratch>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Scratch buffers that go back when they are dropped.
#[derive(Debug)]
pub(crate) struct Pooled<'a> {
    pool: &'a Pool,
    scratch: Scratch,
}

impl SChunk {
    /// Buffers for a thread that is one of many: chunks are spread over threads, so blocks are not.
    pub(crate) fn pooled(&self) -> Pooled<'_> {
        let kept = self.pool.lock().pop();
        let scratch = kept.unwrap_or_else(|| Scratch::of_one_thread(self.dparams()));
        Pooled { pool: &self.pool, scratch }
    }
}

impl Deref for Pooled<'_> {
    type Target = Scratch;

    fn deref(&self) -> &Scratch {
        &self.scratch
    }
}

impl DerefMut for Pooled<'_> {
    fn deref_mut(&mut self) -> &mut Scratch {
        &mut self.scratch
    }
}

impl Drop for Pooled<'_> {
    fn drop(&mut self) {
        let scratch = core::mem::take(&mut self.scratch);
        let mut kept = self.pool.lock();
        if scratch.capacity() <= LARGE && kept.len() < MANY {
            kept.push(scratch);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FrameParams, to_cframe};

    #[test]
    fn buffers_are_used_again_unless_they_are_large() {
        let schunk =
            SChunk::from_cframe(to_cframe(&[1; 100], &FrameParams::default()).unwrap()).unwrap();
        let (one, two) = (schunk.pooled(), schunk.pooled());
        drop((one, two));
        assert_eq!(schunk.pool.lock().len(), 2);
        let mut one = schunk.pooled();
        assert_eq!(schunk.pool.lock().len(), 1);
        one.parts().bytes.reserve_exact(LARGE + 1);
        drop(one);
        assert_eq!(schunk.pool.lock().len(), 1);
    }
}

//! Buffers that are kept from call to call.
//!
//! A client that opens an array for each chunk, for example PyTables, would otherwise make the
//! system allocate new memory for each: that took twice as long as decompressing.

use core::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::epoch::PerProcess;

/// Most buffers that are kept.
const MAX_KEPT: usize = 8;
/// Longest buffer that is kept (bytes).
const MAX_NBYTES: usize = 16 << 20;

static KEPT: PerProcess<Mutex<Vec<Vec<u8>>>> = PerProcess::new();

fn lock() -> MutexGuard<'static, Vec<Vec<u8>>> {
    KEPT.get().lock().unwrap_or_else(PoisonError::into_inner)
}

/// A buffer with any content. Dropping it keeps it for later calls.
#[derive(Debug)]
pub(crate) struct Kept(Vec<u8>);

impl Kept {
    /// A buffer of an earlier call, if there is one.
    pub(crate) fn take() -> Self {
        Self(lock().pop().unwrap_or_default())
    }
}

impl Deref for Kept {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.0
    }
}

impl DerefMut for Kept {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if self.0.capacity() <= MAX_NBYTES {
            let mut kept = lock();
            if kept.len() < MAX_KEPT {
                kept.push(core::mem::take(&mut self.0));
            }
        }
    }
}

/// Frees all of them.
pub(crate) fn end() {
    let kept = core::mem::take(&mut *lock());
    drop(kept);
}

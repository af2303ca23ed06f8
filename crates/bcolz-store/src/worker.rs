//! The buffers that a thread needs to decode chunks.

use blosc_chunk::{DParams, Scratch};
use blosc_container::pool::Reusable;

/// Buffers of one thread.
#[derive(Debug, Default)]
pub(crate) struct Worker {
    pub(crate) scratch: Scratch,
    /// The compressed bytes of a chunk, or of a part of it.
    pub(crate) packed: Vec<u8>,
    /// Memory for the next block that the cache keeps.
    pub(crate) spare: Vec<u8>,
}

impl Worker {
    pub(crate) fn new(dparams: &DParams) -> Self {
        Self { scratch: Scratch::new(dparams), ..Self::default() }
    }
}

impl Reusable for Worker {
    /// Leaves out the buffers of `blosc-chunk`, which are as large as a block.
    fn held_nbytes(&self) -> usize {
        self.packed.capacity().saturating_add(self.spare.capacity())
    }
}

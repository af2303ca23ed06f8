//! The storage of a sparse frame that is edited: the files of its chunks, and that of the index.

use blosc_io::{Durability, MemStore};

use super::files::ChunkFiles;
use super::shared::Shared;
use super::turns::Turn;
use crate::error::Result;
use crate::sparse::{Folder, ReadOnly};

/// Where a sparse frame is written.
pub(super) struct FrameFolder {
    /// The file of the index, once there is one.
    pub(super) index: Shared,
    /// Whether there was no commit yet.
    pub(super) is_new: bool,
    pub(super) chunks: ChunkFiles,
    /// The last field: what was not committed is removed before the lock is.
    pub(super) turn: Turn,
}

impl FrameFolder {
    /// For a frame that is not there yet, in an empty folder.
    pub(super) fn new(folder: Folder, durability: Durability) -> Self {
        let index = Shared::new(Box::new(MemStore::default()));
        Self { is_new: true, ..Self::of_frame(index, folder, durability) }
    }

    /// For a frame with this index.
    pub(super) fn of_frame(index: Shared, folder: Folder, durability: Durability) -> Self {
        let chunks = ChunkFiles::new(folder, durability);
        Self { index, is_new: false, chunks, turn: Turn::default() }
    }

    /// Writes a chunk to a file of its own, and gives its number.
    pub(super) fn place(&mut self, chunk: &[u8]) -> Result<u64> {
        self.chunks.create(chunk).map(u64::from)
    }

    /// Notes that the chunk of a number is not wanted any more, and gives the length of its file,
    /// if it has one (bytes).
    pub(super) fn forget(&mut self, number: u64) -> u64 {
        u32::try_from(number).map_or(0, |id| self.chunks.forget(id))
    }

    /// Puts a new index in place of the old one, which refers to the chunks of these numbers.
    pub(super) fn publish(&mut self, index: &[u8], numbers: &[u64]) -> Result<()> {
        self.turn.forget_look();
        let store = self.chunks.commit(index)?;
        self.chunks.clean(numbers);
        self.index.replace(Box::new(ReadOnly(store)));
        self.is_new = false;
        Ok(())
    }
}

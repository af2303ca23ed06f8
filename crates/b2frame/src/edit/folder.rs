//! The storage of a sparse frame that is edited: the files of its chunks, and the file of its
//! index.

use blosc_io::{Durability, MemStore};

use super::files::ChunkFiles;
use super::shared::Shared;
use super::turns::Turn;
use crate::error::Result;
use crate::sparse::{Folder, ReadOnly};

/// The storage of a sparse frame.
pub(super) struct FrameFolder {
    /// The file of the index, after the first commit.
    pub(super) index: Shared,
    /// Whether the frame was never committed.
    pub(super) is_new: bool,
    pub(super) chunks: ChunkFiles,
    /// The last field: on drop, uncommitted files are removed before the lock is released.
    pub(super) turn: Turn,
}

impl FrameFolder {
    /// For a new frame, in an empty folder.
    pub(super) fn new(folder: Folder, durability: Durability) -> Self {
        let index = Shared::new(Box::new(MemStore::default()));
        Self { is_new: true, ..Self::of_frame(index, folder, durability) }
    }

    /// For a frame with this index.
    pub(super) fn of_frame(index: Shared, folder: Folder, durability: Durability) -> Self {
        let chunks = ChunkFiles::new(folder, durability);
        Self { index, is_new: false, chunks, turn: Turn::default() }
    }

    /// Writes a chunk to a file of its own, and returns its number.
    pub(super) fn place(&mut self, chunk: &[u8]) -> Result<u64> {
        self.chunks.create(chunk).map(u64::from)
    }

    /// Notes that the chunk of a number is no longer needed, and returns the length of its file, if
    /// it has one (bytes).
    pub(super) fn forget(&mut self, number: u64) -> u64 {
        u32::try_from(number).map_or(0, |id| self.chunks.forget(id))
    }

    /// Replaces the index by a new one, which refers to the chunks of these numbers.
    pub(super) fn publish(&mut self, index: &[u8], numbers: &[u64]) -> Result<()> {
        self.turn.forget_look();
        let store = self.chunks.commit(index)?;
        self.chunks.clean(numbers);
        self.index.replace(Box::new(ReadOnly(store)));
        self.is_new = false;
        Ok(())
    }
}

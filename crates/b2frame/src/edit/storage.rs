//! The storage of a frame that is edited, contiguous or sparse.
//!
//! | verb | contiguous ([`FrameFile`]) | sparse ([`FrameFolder`]) |
//! |---|---|---|
//! | place | after all bytes that readers see | a file of a new number |
//! | place instead | over a chunk that no reader has seen, or as above | a file of a new number |
//! | forget | the bytes stay unused | the file goes, one commit later |
//! | publish | the header, in one write | the index file, by a rename |
//! | discard (drop) | cuts off the bytes after the frame | removes the new files |
//!
//! No placed chunk counts before `commit.rs` publishes it.

use std::path::Path;
use std::sync::Arc;

use blosc_io::lock::FileId;
use blosc_io::{Durability, ReadAt as _};
use xxhash_rust::xxh3::xxh3_128;

use super::file::FrameFile;
use super::folder::FrameFolder;
use super::shared::Shared;
use super::turns::{Look, Turn};
use crate::error::Result;
use crate::header::FrameHeader;
use crate::lock::Held;
use crate::params::EditOptions;
use crate::schunk::{FrameState, SChunk};
use crate::source::Source;
use crate::sparse::Folder;
use crate::trailer;

/// The storage of a frame.
pub(super) enum Storage {
    /// One file, or another store.
    Contiguous(FrameFile),
    /// A file for each chunk, and one for the index.
    Sparse(FrameFolder),
}

/// The verbs.
impl Storage {
    /// Writes a chunk where readers do not look yet, and returns the number for the index.
    pub(super) fn place(&mut self, chunk: &[u8]) -> Result<u64> {
        match self {
            Self::Contiguous(file) => file.place(chunk),
            Self::Sparse(folder) => folder.place(chunk),
        }
    }

    /// As [`place`](Self::place), for a chunk that replaces the one of number `old`. The new chunk
    /// may get the same number.
    pub(super) fn place_instead(&mut self, old: Option<u64>, chunk: &[u8]) -> Result<u64> {
        match self {
            Self::Contiguous(file) => file.place_instead(old, chunk),
            Self::Sparse(folder) => folder.place(chunk),
        }
    }

    /// Adds `cbytes` bytes of placed chunks to the header.
    pub(super) fn count(&self, frame: &mut FrameState, cbytes: usize) -> Result<()> {
        match self {
            Self::Contiguous(file) => frame.set_cbytes(file.data_len()?),
            Self::Sparse(_) => {
                frame.add_file(cbytes as u64);
                Ok(())
            }
        }
    }

    /// Notes that the index no longer refers to the chunk of this number. Returns the bytes that
    /// the frame loses: in a contiguous one they stay, unused.
    pub(super) fn forget(&mut self, number: u64) -> u64 {
        match self {
            Self::Contiguous(_) => 0,
            Self::Sparse(folder) => folder.forget(number),
        }
    }
}

/// Facts.
impl Storage {
    /// Whether the frame was never committed.
    pub(super) fn is_new(&self) -> bool {
        match self {
            Self::Contiguous(file) => file.is_new(),
            Self::Sparse(folder) => folder.is_new,
        }
    }

    /// Whether each chunk has a file of its own.
    pub(super) fn is_sparse(&self) -> bool {
        matches!(self, Self::Sparse(_))
    }

    /// The files of a sparse frame.
    pub(super) fn folder(&self) -> Option<Folder> {
        match self {
            Self::Contiguous(_) => None,
            Self::Sparse(folder) => Some(folder.chunks.folder()),
        }
    }

    fn store(&self) -> &Shared {
        match self {
            Self::Contiguous(file) => &file.store,
            Self::Sparse(folder) => &folder.index,
        }
    }

    /// Header, index and trailer, for reading.
    pub(super) fn source(&self) -> Source {
        let base = match self {
            Self::Contiguous(file) => file.base,
            Self::Sparse(_) => 0,
        };
        Source::new(Arc::new(self.store().clone()), base)
    }

    /// The store with header, index and trailer, and their position in it (bytes).
    pub(super) fn into_store(self) -> (Shared, u64) {
        (self.store().clone(), self.source().base())
    }

    /// Gives the header another length, and returns whether that was possible: nothing lies after
    /// the header, or the numbers of chunks do not depend on its length.
    pub(super) fn fit_header(&mut self, header_len: u32) -> bool {
        match self {
            Self::Contiguous(file) => file.fit_header(header_len.into()),
            Self::Sparse(_) => true,
        }
    }

    pub(super) fn set_durability(&mut self, durability: Durability) {
        match self {
            Self::Contiguous(file) => file.durability = durability,
            Self::Sparse(folder) => folder.chunks.set_durability(durability),
        }
    }
}

/// Turns with other writers.
impl Storage {
    pub(super) fn turn(&self) -> &Turn {
        match self {
            Self::Contiguous(file) => &file.turn,
            Self::Sparse(folder) => &folder.turn,
        }
    }

    pub(super) fn turn_mut(&mut self) -> &mut Turn {
        match self {
            Self::Contiguous(file) => &mut file.turn,
            Self::Sparse(folder) => &mut folder.turn,
        }
    }

    /// Waits for the lock of the frame, which is at `path` if other programs can find it.
    pub(super) fn wait_for_lock(&self, path: Option<&Path>, options: &EditOptions) -> Result<Held> {
        let (locking, wait) = (options.open.locking, &options.lock);
        match (self, path) {
            (Self::Sparse(folder), path) => {
                Held::of_tree(folder.chunks.tree(), path, locking, wait)
            }
            (Self::Contiguous(_), Some(path)) => Held::of_file(path, locking, wait),
            (Self::Contiguous(_), None) => Ok(Held::default()),
        }
    }

    /// Prepares for changes of a frame that was locked just now.
    pub(super) fn prepare(&mut self, schunk: &SChunk) -> Result<()> {
        match self {
            Self::Contiguous(file) => file.sweep(),
            Self::Sparse(folder) => folder.chunks.prepare(&schunk.offsets()?)?,
        }
        Ok(())
    }

    /// Whether the frame still is as it was when the writer last looked.
    pub(super) fn is_known(&self, frame: &FrameState, held: &Held) -> bool {
        if !self.is_named(frame) {
            return true;
        }
        let is_other = matches!((held.id(), self.id()), (Some(a), Some(b)) if a != b);
        let known = self.turn().known();
        self.turn().is_next(held)
            && !is_other
            && known.is_some()
            && self.look(frame.header()).ok().as_ref() == known
    }

    /// Notes the present look of the frame, if other programs can find it.
    pub(super) fn note_look(&mut self, frame: &FrameState) {
        let look = if self.is_named(frame) { self.look(frame.header()).ok() } else { None };
        // A store whose length cannot be read gets an impossible one, so that no commit succeeds.
        let len = self.store().len().unwrap_or(0);
        self.turn_mut().note_look(look);
        self.turn_mut().note_len(len);
    }

    /// Whether other programs can find the frame.
    fn is_named(&self, frame: &FrameState) -> bool {
        self.is_sparse() || frame.path().is_some()
    }

    /// The identity of the file, if the store is a file.
    fn id(&self) -> Option<FileId> {
        match self {
            Self::Contiguous(file) => file.id,
            Self::Sparse(_) => None,
        }
    }

    /// Whether the store has its length under the lock plus the added bytes.
    pub(super) fn has_known_len(&self) -> Result<bool> {
        match self {
            Self::Contiguous(file) => file.has_known_len(),
            // The look of a sparse frame includes the length.
            Self::Sparse(_) => Ok(true),
        }
    }

    /// The look of a frame with this header.
    pub(super) fn look(&self, header: &FrameHeader) -> Result<Look> {
        match self {
            Self::Contiguous(_) => {
                let source = self.source();
                let end = header.frame_len().saturating_sub(trailer::END_LEN as u64);
                Ok(Look::Ends {
                    header: source.read_vec(0, header.header_len() as usize)?,
                    end: source.read_vec(end, trailer::END_LEN)?,
                })
            }
            Self::Sparse(folder) => {
                let index = folder.chunks.folder().open_index()?;
                let len = usize::try_from(index.available()?).unwrap_or(usize::MAX);
                Ok(Look::Index(xxh3_128(&index.read_vec(0, len)?)))
            }
        }
    }
}

//! Bytes after the last object of a file: usually none, else the rest of an interrupted write, or
//! another file.

use core::fmt;
use std::sync::Arc;

use b2frame::header::FrameHeader;
use b2frame::probe::{Kind, probe};
use blosc_io::ReadAt;
use bloscpack::BlpFile;

use crate::error::{Doing, Error, Result};
use crate::size::as_len;

/// Bytes that hold the length of a frame, and the magic of any format.
const HEAD_NBYTES: usize = 87;

/// Bytes after the last object of a file, which do not belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tail {
    /// Their number.
    pub nbytes: u64,
    /// The kind of object that they begin.
    kind: Kind,
    after: After,
}

/// The object before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    Frames,
    /// The last chunk of a Bloscpack file.
    Chunk,
    /// The array of a `.npy` file.
    Array,
}

impl Tail {
    /// No byte.
    pub const NONE: Self = Self { nbytes: 0, kind: Kind::Empty, after: After::Frames };

    /// `nbytes` bytes after the last frame; `head` are the first of them.
    #[must_use]
    pub fn of_frames(nbytes: u64, head: &[u8]) -> Self {
        Self { nbytes, kind: probe(head), after: After::Frames }
    }

    /// The bytes after the last chunk of a Bloscpack file.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or its last chunk is not found.
    pub fn of_blp(file: &BlpFile<Arc<dyn ReadAt>>) -> Result<Self> {
        let nbytes = file.trailing_bytes()?;
        let mut head = vec![0; as_len(nbytes).min(HEAD_NBYTES)];
        let len = file.read_trailing(&mut head)?;
        let kind = probe(head.get(..len).unwrap_or_default());
        Ok(Self { nbytes, kind, after: After::Chunk })
    }

    /// `nbytes` bytes after the array of a `.npy` file, at byte `at`. Items may look like many
    /// formats, so only another array, a frame or a Bloscpack file is recognised.
    #[must_use]
    pub fn of_npy(nbytes: u64, store: &dyn ReadAt, at: u64) -> Self {
        let mut head = vec![0; as_len(nbytes).min(HEAD_NBYTES)];
        // Later reads report the error.
        let found = store.read_exact_at(at, &mut head).map_or(Kind::Unknown, |()| probe(&head));
        let tail = Self { nbytes, kind: found, after: After::Array };
        let is_known = tail.is_ours() || found == Kind::Npy;
        if is_known { tail } else { Self { kind: Kind::Unknown, ..tail } }
    }

    /// The bytes after the frames or the Bloscpack file at the start of a file; none if their end
    /// is unknown.
    ///
    /// # Errors
    ///
    /// As [`of_blp`](Self::of_blp).
    pub fn of_file(store: &Arc<dyn ReadAt>) -> Result<Self> {
        let len = store.len().map_err(Error::io(Doing::Read))?;
        let (mut at, mut is_frame) = (0u64, false);
        loop {
            let left = len.saturating_sub(at);
            let mut head = vec![0; as_len(left).min(HEAD_NBYTES)];
            store.read_exact_at(at, &mut head).map_err(Error::io(Doing::Read))?;
            match (probe(&head), FrameHeader::parse(&head)) {
                (Kind::Frame, Ok(header)) => {
                    at = at.saturating_add(header.frame_len().max(1));
                    is_frame = true;
                }
                (Kind::Bloscpack, _) if at == 0 => {
                    return Self::of_blp(&BlpFile::new(Arc::clone(store))?);
                }
                _ if is_frame && left > 0 => return Ok(Self::of_frames(left, &head)),
                _ => return Ok(Self::NONE),
            }
        }
    }

    /// Their number, and the object before them, in words.
    #[must_use]
    pub fn name(&self) -> String {
        let before = match self.after {
            After::Frames => "last frame",
            After::Chunk => "last chunk",
            After::Array => "array",
        };
        format!("{} bytes after the {before}", self.nbytes)
    }

    /// Whether another file begins there, by its first bytes. An interrupted write leaves chunks,
    /// which begin otherwise.
    #[must_use]
    pub fn is_a_file(&self) -> bool {
        !matches!(self.kind, Kind::Empty | Kind::Unknown | Kind::Chunk)
    }

    /// Whether that file is a frame or a Bloscpack file, which may be in a sequence.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        matches!(self.kind, Kind::Frame | Kind::OlderFrame | Kind::Bloscpack)
    }
}

impl fmt::Display for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())?;
        match self.after {
            _ if self.is_a_file() => write!(f, ": {} begins there", self.kind),
            After::Frames => f.write_str(" are no frame"),
            After::Chunk => Ok(()),
            After::Array => {
                f.write_str(" are no part of it; they may be from an interrupted append")
            }
        }
    }
}

//! Several frames one after the other, in a file or in a stream.
//!
//! The format does not record sequences: a frame ends after `frame_len` bytes, and if another
//! header follows there, another frame begins.

use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;

use blosc_io::ReadAt;

use crate::error::{Corrupt, Error, Limited, Result};
use crate::header::{FIXED_LEN, FrameHeader};
use crate::legacy;
use crate::params::OpenOptions;
use crate::probe::Kind;
use crate::schunk::{SChunk, check_limit, open_file};

impl SChunk {
    /// The frames of a file, the first at its beginning.
    ///
    /// # Errors
    /// [`Error::Open`]. The error of a frame is reported in its turn.
    pub fn frames(path: impl AsRef<Path>) -> Result<Frames> {
        open_file(path.as_ref()).map(|store| Frames::new(store, &OpenOptions::default()))
    }
}

/// Iterates over frames that follow each other.
///
/// It ends after the last frame, or the first that cannot be opened. Other bytes after the last
/// frame are not an error, as after a single frame; [`position`](Self::position) returns their
/// position. The first frame must exist.
pub struct Frames {
    store: Arc<dyn ReadAt>,
    options: OpenOptions,
    first: u64,
    at: u64,
    is_done: bool,
}

impl Frames {
    /// The frames from [`OpenOptions::offset`] of a store on.
    #[must_use]
    pub fn new(store: Arc<dyn ReadAt>, options: &OpenOptions) -> Self {
        Self {
            store,
            options: options.clone(),
            first: options.offset,
            at: options.offset,
            is_done: false,
        }
    }

    /// Position where the next frame would begin (bytes).
    #[must_use]
    pub fn position(&self) -> u64 {
        self.at
    }

    /// Whether a frame begins where the last one ended.
    fn goes_on(&self) -> Result<bool> {
        let mut magic = [0; 10];
        match self.store.read_exact_at(self.at, &mut magic) {
            Ok(()) => Ok(matches!(Kind::recognize(&magic), Kind::Frame | Kind::OlderFrame)),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
            Err(source) => Err(Error::Io { at: self.at, len: magic.len() as u64, source }),
        }
    }

    fn open_next(&mut self) -> Result<Option<SChunk>> {
        if self.at != self.first && !self.goes_on()? {
            return Ok(None);
        }
        let options = self.options.clone().offset(self.at);
        let schunk = SChunk::from_store_with(Arc::clone(&self.store), &options)?;
        self.at = self.at.saturating_add(schunk.frame_len());
        Ok(Some(schunk))
    }
}

impl Iterator for Frames {
    type Item = Result<SChunk>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let next = self.open_next().transpose();
        self.is_done = !matches!(next, Some(Ok(_)));
        next
    }
}

impl core::fmt::Debug for Frames {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Frames").field("position", &self.at).finish_non_exhaustive()
    }
}

/// Reads one frame from a stream that cannot seek, such as a pipe; `None` at its end.
///
/// The whole frame is read into memory, if it has at most `max` bytes. Pass it to
/// [`SChunk::from_cframe`].
///
/// ```
/// use b2frame::{FrameParams, SChunk, to_cframe, frames::read_frame};
///
/// let params = FrameParams::default();
/// let both = [to_cframe(b"one", &params)?, to_cframe(b"two", &params)?].concat();
/// let mut stream = both.as_slice();
/// let mut frames = 0;
/// while let Some(frame) = read_frame(&mut stream, 1 << 20)? {
///     assert_eq!(SChunk::from_cframe(frame)?.nbytes(), 3);
///     frames += 1;
/// }
/// assert_eq!(frames, 2);
/// # Ok::<(), b2frame::Error>(())
/// ```
///
/// # Errors
/// [`Error::Input`], [`Error::Limit`], the error of the header, or [`Corrupt::FrameTruncated`].
pub fn read_frame(stream: &mut dyn Read, max: u64) -> Result<Option<Vec<u8>>> {
    let mut frame = vec![];
    read_up_to(stream, FIXED_LEN as u64, &mut frame)?;
    if frame.is_empty() {
        return Ok(None);
    }
    let frame_len = match legacy::frame_len(&frame)? {
        // The first read went beyond the end of the frame; only an empty frame of beta.1 is so
        // short.
        Some(frame_len) if frame_len < frame.len() as u64 => {
            return Err(Error::OlderLayout { first_byte: frame.first().copied().unwrap_or(0) });
        }
        Some(frame_len) => frame_len,
        None => FrameHeader::parse(&frame)?.frame_len(),
    };
    check_limit(Limited::Frame, frame_len, max)?;
    read_up_to(stream, frame_len.saturating_sub(FIXED_LEN as u64), &mut frame)?;
    let available = frame.len() as u64;
    if available < frame_len {
        return Err(Error::Corrupt {
            at: 0x10,
            what: Corrupt::FrameTruncated { frame_len, available },
        });
    }
    Ok(Some(frame))
}

/// Appends up to `len` bytes; the buffer grows with the bytes that arrive, not with the claimed
/// length.
fn read_up_to(stream: &mut dyn Read, len: u64, bytes: &mut Vec<u8>) -> Result<()> {
    let nbytes = bytes.len() as u64;
    stream.take(len).read_to_end(bytes).map_err(|source| Error::Input { nbytes, source })?;
    Ok(())
}

//! Writes to a sink without seeking, such as a pipe: frames one after the other.
//!
//! A frame begins with its length, so it must be complete before its first byte can be written.
//! Each frame is built in memory and sent when it is large enough;
//! [`Frames`](crate::frames::Frames) and [`read_frame`](crate::frames::read_frame) read the
//! sequence.

use std::io::{self, Write};

use blosc_io::MemStore;

use crate::error::{Error, Result};
use crate::params::FrameParams;
use crate::writer::FrameWriter;

/// Compresses the written data, and sends frames.
///
/// All frames have the same parameters, metalayers included. Only [`finish`](Self::finish) sends
/// the last one.
///
/// ```
/// use std::io::Write;
/// use b2frame::{FrameParams, FrameStream, SChunk, frames::read_frame};
///
/// let mut stream =
///     FrameStream::new(Vec::new(), FrameParams::default().chunksize(1 << 10), 4 << 10)?;
/// for n in 0..10_000_u64 {
///     stream.write_all(&(n * n * n).to_le_bytes())?;
/// }
/// let bytes = stream.finish()?;
/// let (mut rest, mut frames, mut nbytes) = (bytes.as_slice(), 0, 0);
/// while let Some(frame) = read_frame(&mut rest, 1 << 20)? {
///     (frames, nbytes) = (frames + 1, nbytes + SChunk::from_cframe(frame)?.nbytes());
/// }
/// assert!(frames > 1);
/// assert_eq!(nbytes, 80_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FrameStream<W> {
    out: W,
    params: FrameParams,
    /// A frame is sent when its chunks have this size (bytes).
    enough: u64,
    frame: FrameWriter<MemStore>,
    /// Data of a chunk that is still incomplete.
    data: Vec<u8>,
    is_begun: bool,
}

impl<W: Write> FrameStream<W> {
    /// Sends frames of about `frame_len` bytes, and at least one chunk, to `out`.
    ///
    /// # Errors
    /// As [`FrameWriter::new`].
    pub fn new(out: W, params: FrameParams, frame_len: u64) -> Result<Self> {
        let frame = FrameWriter::new(MemStore::default(), &params)?;
        Ok(Self { out, params, enough: frame_len, frame, data: vec![], is_begun: false })
    }

    /// Appends data.
    ///
    /// # Errors
    /// [`Error::Compress`], or [`Error::Output`].
    pub fn append(&mut self, mut data: &[u8]) -> Result<()> {
        let size = self.frame.chunksize();
        while !data.is_empty() {
            let (now, later) = data.split_at(data.len().min(size.saturating_sub(self.data.len())));
            self.data.extend_from_slice(now);
            if self.data.len() == size {
                self.end_chunk()?;
            }
            data = later;
        }
        Ok(())
    }

    /// Sends the remaining data, at least one frame in all, and returns the writer.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub fn finish(mut self) -> Result<W> {
        self.end_chunk()?;
        if self.frame.nchunks() > 0 || !self.is_begun {
            self.end_frame()?;
        }
        self.out.flush().map_err(|source| Error::Output { source })?;
        Ok(self.out)
    }

    fn end_chunk(&mut self) -> Result<()> {
        if !self.data.is_empty() {
            self.frame.append(&self.data)?;
            self.data.clear();
        }
        if self.frame.cbytes() >= self.enough { self.end_frame() } else { Ok(()) }
    }

    fn end_frame(&mut self) -> Result<()> {
        let next = FrameWriter::new(MemStore::default(), &self.params)?;
        let frame = core::mem::replace(&mut self.frame, next).finish()?.into_bytes();
        self.is_begun = true;
        self.out.write_all(&frame).map_err(|source| Error::Output { source })
    }
}

/// Writing appends. Flushing flushes the frames that were sent, and sends no part of a frame.
impl<W: Write> Write for FrameStream<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.append(data).map_err(io::Error::other)?;
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

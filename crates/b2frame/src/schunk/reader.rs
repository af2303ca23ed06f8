//! The data of a super-chunk as a stream with a position.

use std::io::{self, BufRead, Read, Seek, SeekFrom};

use super::SChunk;

/// The largest number of bytes that are decoded ahead.
const WINDOW: u64 = 1 << 20;

/// Reads the data of a super-chunk from any position on.
///
/// Short reads take bytes from a window of up to 1 MiB that is decoded ahead; long ones are decoded
/// right to their destination.
///
/// ```
/// use std::io::{BufRead, Read, Seek, SeekFrom};
/// use b2frame::{FrameParams, SChunk, to_cframe};
///
/// let text = "first line\nsecond line\nthird line\n";
/// let schunk =
///     SChunk::from_cframe(to_cframe(text.as_bytes(), &FrameParams::default().chunksize(16))?)?;
/// let mut reader = schunk.reader();
/// assert_eq!(reader.by_ref().lines().nth(1).transpose()?.as_deref(), Some("second line"));
/// reader.seek(SeekFrom::End(-5))?;
/// assert_eq!(std::io::read_to_string(reader)?, "line\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Reader<'a> {
    schunk: &'a SChunk,
    at: u64,
    /// Data from byte `start` on.
    window: Vec<u8>,
    start: u64,
}

impl SChunk {
    /// The data as a stream, from their beginning.
    #[must_use]
    pub fn reader(&self) -> Reader<'_> {
        Reader { schunk: self, at: 0, window: vec![], start: 0 }
    }
}

impl Reader<'_> {
    /// The bytes of the window from the position on.
    fn ready(&self) -> &[u8] {
        let from = self.at.checked_sub(self.start).and_then(|from| usize::try_from(from).ok());
        from.and_then(|from| self.window.get(from..)).unwrap_or_default()
    }

    /// Bytes from the position to the end of the data.
    fn left(&self) -> u64 {
        self.schunk.nbytes().saturating_sub(self.at)
    }

    fn decode(&self, dest: &mut [u8]) -> io::Result<()> {
        self.schunk.read_bytes(self.at, dest).map_err(io::Error::other)
    }

    /// The number of bytes worth decoding ahead: to the end of the chunk, if that is near.
    fn ahead(&self) -> io::Result<u64> {
        let (nchunk, from) = self.schunk.chunk_at(self.at).map_err(io::Error::other)?;
        let nbytes = self.schunk.chunk_nbytes(nchunk).map_err(io::Error::other)?;
        Ok((nbytes.saturating_sub(from) as u64).min(WINDOW).min(self.left()))
    }
}

impl Read for Reader<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let len = usize::try_from(self.left()).map_or(buf.len(), |left| left.min(buf.len()));
        if self.ready().is_empty() && len as u64 >= WINDOW {
            self.decode(buf.get_mut(..len).unwrap_or_default())?;
            self.at = self.at.saturating_add(len as u64);
            return Ok(len);
        }
        let n = self.fill_buf()?.read(buf)?;
        self.consume(n);
        Ok(n)
    }
}

impl BufRead for Reader<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.ready().is_empty() && self.left() > 0 {
            let ahead = usize::try_from(self.ahead()?).unwrap_or(usize::MAX);
            let mut window = core::mem::take(&mut self.window);
            window.resize(ahead, 0);
            self.decode(&mut window)?;
            (self.window, self.start) = (window, self.at);
        } else if self.left() == 0 {
            self.schunk.compare_if_read().map_err(io::Error::other)?;
        }
        Ok(self.ready())
    }

    fn consume(&mut self, n: usize) {
        self.at = self.at.saturating_add(n as u64);
    }
}

impl Seek for Reader<'_> {
    /// A position after the end is allowed, as in a file; a read there returns no data.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.schunk.nbytes().checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

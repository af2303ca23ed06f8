//! Adaptors that read: from a reader of chunks a reader of data, and the other way round.
//!
//! A stream is a plain sequence of chunks, one after another. It has no header of its own and no
//! end mark: a stream that is cut between two chunks looks whole. For files, a frame (`b2frame`) is
//! the better container.

use core::fmt;
use std::io::{self, BufRead, Read};

use crate::{CParams, ChunkHeader, DParams, Decoder, Encoder, Result, max_compressed_len, write};

/// Reads data out of a reader of chunks.
///
/// ```
/// use std::io::Read;
///
/// use blosc_chunk::{CParams, DParams, compress, read::ChunkDecoder};
///
/// let mut stream = compress(b"first, ", &CParams::default())?;
/// stream.extend(compress(b"second", &CParams::default())?);
/// let mut text = String::new();
/// ChunkDecoder::new(&stream[..], DParams::default()).read_to_string(&mut text)?;
/// assert_eq!(text, "first, second");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ChunkDecoder<R> {
    inner: R,
    decoder: Decoder,
    chunk: Vec<u8>,
    data: Vec<u8>,
    at: usize,
}

impl<R: Read> ChunkDecoder<R> {
    /// A decoder that takes chunks from `inner`.
    pub fn new(inner: R, params: DParams) -> Self {
        Self { inner, decoder: Decoder::new(params), chunk: Vec::new(), data: Vec::new(), at: 0 }
    }

    /// Fetches and decodes the next chunk; false at the end of the stream.
    fn next_chunk(&mut self) -> io::Result<bool> {
        self.chunk.clear();
        if self.fetch(ChunkHeader::MIN_LEN)? == 0 {
            return Ok(false);
        }
        let header_len = ChunkHeader::MAX_LEN.min(self.chunk_len()?);
        self.fetch(header_len)?;
        let header = ChunkHeader::parse(&self.chunk)?;
        self.decoder.params().limits.check(&header)?;
        self.fetch(header.cbytes())?;
        self.data = self.decoder.decode(&self.chunk)?;
        self.at = 0;
        Ok(true)
    }

    /// Has the chunk at hand up to `len` bytes, and returns how many are there: `len`, or 0 at the
    /// end of the stream.
    fn fetch(&mut self, len: usize) -> io::Result<usize> {
        let missing = len.saturating_sub(self.chunk.len());
        // The buffer grows with what arrives, not with what a header announces.
        self.inner.by_ref().take(missing as u64).read_to_end(&mut self.chunk)?;
        match self.chunk.len() {
            0 => Ok(0),
            there if there < len => Err(io::ErrorKind::UnexpectedEof.into()),
            there => Ok(there),
        }
    }

    /// `cbytes` of the chunk, of which 16 bytes are at hand.
    fn chunk_len(&self) -> io::Result<usize> {
        let cbytes = self.chunk.get(0xc..).and_then(|rest| rest.first_chunk());
        let cbytes = cbytes.map(|cbytes| i32::from_le_bytes(*cbytes));
        Ok(cbytes.and_then(|cbytes| usize::try_from(cbytes).ok()).unwrap_or(0))
    }
}

impl<R> ChunkDecoder<R> {
    /// The reader of chunks.
    pub const fn get_ref(&self) -> &R {
        &self.inner
    }

    /// The reader of chunks. Whoever reads from it makes the decoder lose its place.
    pub const fn get_mut(&mut self) -> &mut R {
        &mut self.inner
    }

    /// Gives the reader of chunks back. It stands behind the chunk whose data were read last.
    pub fn into_inner(self) -> R {
        self.inner
    }
}

impl<R: Read> BufRead for ChunkDecoder<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.at == self.data.len() && self.next_chunk()? {}
        Ok(&self.data[self.at..])
    }

    fn consume(&mut self, nbytes: usize) {
        self.at = (self.at + nbytes).min(self.data.len());
    }
}

impl<R: Read> Read for ChunkDecoder<R> {
    fn read(&mut self, dest: &mut [u8]) -> io::Result<usize> {
        let nbytes = self.fill_buf()?.read(dest)?;
        self.consume(nbytes);
        Ok(nbytes)
    }
}

impl<R> fmt::Debug for ChunkDecoder<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkDecoder")
            .field("buffered", &(self.data.len() - self.at))
            .finish_non_exhaustive()
    }
}

/// Reads chunks out of a reader of data.
///
/// ```
/// use std::io::Read;
///
/// use blosc_chunk::{CParams, read::ChunkEncoder};
///
/// let mut stream = Vec::new();
/// ChunkEncoder::new(&[7; 100_000][..], CParams::default(), 1 << 16)?.read_to_end(&mut stream)?;
/// assert_eq!(blosc_chunk::ChunkHeader::parse(&stream)?.nbytes(), 1 << 16);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ChunkEncoder<R> {
    inner: R,
    encoder: Encoder,
    chunksize: usize,
    data: Vec<u8>,
    chunk: Vec<u8>,
    at: usize,
}

impl<R: Read> ChunkEncoder<R> {
    /// An encoder that takes data from `inner`, `chunksize` bytes for each chunk.
    ///
    /// # Errors
    ///
    /// As [`Encoder::new`], and [`Error::Param`](crate::Error::Param) if a chunk cannot have this
    /// size.
    pub fn new(inner: R, params: CParams, chunksize: usize) -> Result<Self> {
        write::check_chunksize(&params, chunksize)?;
        let encoder = Encoder::new(params)?;
        Ok(Self { inner, encoder, chunksize, data: Vec::new(), chunk: Vec::new(), at: 0 })
    }

    /// Compresses the next chunk; false at the end of the data.
    fn next_chunk(&mut self) -> io::Result<bool> {
        self.data.clear();
        self.inner.by_ref().take(self.chunksize as u64).read_to_end(&mut self.data)?;
        if self.data.is_empty() {
            return Ok(false);
        }
        self.chunk.resize(max_compressed_len(self.data.len()), 0);
        let cbytes = self.encoder.encode_into(&self.data, &mut self.chunk)?;
        self.chunk.truncate(cbytes);
        self.at = 0;
        Ok(true)
    }
}

impl<R> ChunkEncoder<R> {
    /// The reader of data.
    pub const fn get_ref(&self) -> &R {
        &self.inner
    }

    /// The reader of data. What is read from it is missing in the chunks.
    pub const fn get_mut(&mut self) -> &mut R {
        &mut self.inner
    }

    /// Gives the reader of data back.
    pub fn into_inner(self) -> R {
        self.inner
    }
}

impl<R: Read> BufRead for ChunkEncoder<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.chunk.len() && !self.next_chunk()? {
            return Ok(&[]);
        }
        Ok(&self.chunk[self.at..])
    }

    fn consume(&mut self, nbytes: usize) {
        self.at = (self.at + nbytes).min(self.chunk.len());
    }
}

impl<R: Read> Read for ChunkEncoder<R> {
    fn read(&mut self, dest: &mut [u8]) -> io::Result<usize> {
        let nbytes = self.fill_buf()?.read(dest)?;
        self.consume(nbytes);
        Ok(nbytes)
    }
}

impl<R> fmt::Debug for ChunkEncoder<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkEncoder").field("chunksize", &self.chunksize).finish_non_exhaustive()
    }
}

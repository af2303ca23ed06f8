//! Adaptors that write: data to a writer that shall get chunks, and the other way round. See
//! [`crate::read`] for what such a stream is.

use core::fmt;
use std::io::{self, Write};

use crate::{
    CParams, ChunkHeader, DParams, Decoder, Encoder, Error, Param, Result, max_compressed_len,
};

/// Writes data as chunks.
///
/// The last chunk is written by [`finish`](Self::finish); an encoder that is dropped without it
/// loses data.
///
/// ```
/// use std::io::Write;
///
/// use blosc_chunk::{CParams, decompress, write::ChunkEncoder};
///
/// let mut encoder = ChunkEncoder::new(Vec::new(), CParams::default(), 1 << 20)?;
/// write!(encoder, "a few words")?;
/// assert_eq!(decompress(&encoder.finish()?)?, b"a few words");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ChunkEncoder<W> {
    inner: W,
    encoder: Encoder,
    chunksize: usize,
    data: Vec<u8>,
    chunk: Vec<u8>,
}

impl<W: Write> ChunkEncoder<W> {
    /// An encoder that gives chunks of `chunksize` bytes of data to `inner`; the last one may have
    /// less.
    ///
    /// # Errors
    ///
    /// As [`Encoder::new`], and [`Error::Param`] if a chunk cannot have this size.
    pub fn new(inner: W, params: CParams, chunksize: usize) -> Result<Self> {
        check_chunksize(&params, chunksize)?;
        Ok(Self {
            inner,
            encoder: Encoder::new(params)?,
            chunksize,
            data: Vec::new(),
            chunk: Vec::new(),
        })
    }

    /// Writes what is left as a last chunk and gives the writer back.
    ///
    /// # Errors
    ///
    /// What the writer says, or the encoder. The data are lost then;
    /// [`try_finish`](Self::try_finish) keeps them.
    pub fn finish(mut self) -> io::Result<W> {
        self.try_finish()?;
        Ok(self.inner)
    }

    /// Writes what is left as a last chunk. More may be written afterwards, to further chunks.
    ///
    /// # Errors
    ///
    /// What the writer says, or the encoder.
    pub fn try_finish(&mut self) -> io::Result<()> {
        if self.data.is_empty() {
            return Ok(());
        }
        self.chunk.resize(max_compressed_len(self.data.len()), 0);
        let cbytes = self.encoder.encode_into(&self.data, &mut self.chunk)?;
        self.inner.write_all(&self.chunk[..cbytes])?;
        self.data.clear();
        Ok(())
    }
}

impl<W> ChunkEncoder<W> {
    /// The writer of chunks.
    pub const fn get_ref(&self) -> &W {
        &self.inner
    }

    /// The writer of chunks. What is written to it stands between two chunks.
    pub const fn get_mut(&mut self) -> &mut W {
        &mut self.inner
    }

    /// Gives the writer back without writing what is left.
    pub fn into_inner(self) -> W {
        self.inner
    }
}

impl<W: Write> Write for ChunkEncoder<W> {
    fn write(&mut self, src: &[u8]) -> io::Result<usize> {
        if self.data.len() == self.chunksize {
            self.try_finish()?;
        }
        let nbytes = src.len().min(self.chunksize - self.data.len());
        self.data.extend_from_slice(&src[..nbytes]);
        Ok(nbytes)
    }

    /// Flushes the writer. Data of a chunk that is not full stay here: a shorter chunk is only for
    /// the end.
    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<W> fmt::Debug for ChunkEncoder<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkEncoder").field("buffered", &self.data.len()).finish_non_exhaustive()
    }
}

/// Writes chunks as data.
///
/// ```
/// use std::io::Write;
///
/// use blosc_chunk::{CParams, DParams, compress, write::ChunkDecoder};
///
/// let mut decoder = ChunkDecoder::new(Vec::new(), DParams::default());
/// decoder.write_all(&compress(b"a few words", &CParams::default())?)?;
/// assert_eq!(decoder.finish()?, b"a few words");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ChunkDecoder<W> {
    inner: W,
    decoder: Decoder,
    chunk: Vec<u8>,
}

impl<W: Write> ChunkDecoder<W> {
    /// A decoder that gives data to `inner`.
    pub fn new(inner: W, params: DParams) -> Self {
        Self { inner, decoder: Decoder::new(params), chunk: Vec::new() }
    }

    /// Gives the writer back.
    ///
    /// # Errors
    ///
    /// As [`try_finish`](Self::try_finish).
    pub fn finish(mut self) -> io::Result<W> {
        self.try_finish()?;
        Ok(self.inner)
    }

    /// Asserts that the last chunk is complete.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::UnexpectedEof`] if it is not.
    pub fn try_finish(&mut self) -> io::Result<()> {
        if self.chunk.is_empty() { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// How many bytes of the chunk are needed at least, as far as it tells already.
    fn needed(&self) -> Result<usize> {
        let Some(cbytes) = self.chunk.get(0xc..).and_then(|rest| rest.first_chunk()) else {
            return Ok(ChunkHeader::MIN_LEN);
        };
        let cbytes = usize::try_from(i32::from_le_bytes(*cbytes)).unwrap_or(0);
        let header_len = ChunkHeader::MAX_LEN.min(cbytes);
        if self.chunk.len() < header_len {
            return Ok(header_len);
        }
        let header = ChunkHeader::parse(&self.chunk)?;
        self.decoder.params().limits.check(&header)?;
        Ok(header.cbytes())
    }
}

impl<W> ChunkDecoder<W> {
    /// The writer of data.
    pub const fn get_ref(&self) -> &W {
        &self.inner
    }

    /// The writer of data. What is written to it stands between the data of two chunks.
    pub const fn get_mut(&mut self) -> &mut W {
        &mut self.inner
    }

    /// Gives the writer back, whether the last chunk is complete or not.
    pub fn into_inner(self) -> W {
        self.inner
    }
}

impl<W: Write> Write for ChunkDecoder<W> {
    fn write(&mut self, src: &[u8]) -> io::Result<usize> {
        let missing = self.needed()?.saturating_sub(self.chunk.len());
        let nbytes = src.len().min(missing);
        self.chunk.extend_from_slice(&src[..nbytes]);
        if self.needed()? == self.chunk.len() {
            self.inner.write_all(&self.decoder.decode(&self.chunk)?)?;
            self.chunk.clear();
        }
        Ok(nbytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<W> fmt::Debug for ChunkDecoder<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkDecoder").field("buffered", &self.chunk.len()).finish_non_exhaustive()
    }
}

/// Whether chunks can hold so much data.
pub(crate) fn check_chunksize(params: &CParams, chunksize: usize) -> Result<()> {
    let header_len =
        if params.target.is_blosc1() { ChunkHeader::MIN_LEN } else { ChunkHeader::MAX_LEN };
    let max = i32::MAX as usize - header_len;
    if (1..=max).contains(&chunksize) {
        return Ok(());
    }
    Err(Error::Param(Param::Nbytes { nbytes: chunksize, max }))
}

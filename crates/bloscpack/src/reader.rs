//! Reading forward, also from a pipe ("Reader algorithm" in the format document).

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "positions and sizes were compared with the bytes that came"
)]

use std::io::{self, Read};

use crate::chunk::{Expected, nbytes, read_chunk};
use crate::decoding::Decoding;
use crate::error::Bounded;
use crate::input::Input;
use crate::preamble::Preamble;
use crate::sizes::SizeCheck;
use crate::{Corrupt, Error, Header, Metadata, Offsets, PackedChunk, ReadOptions, Result};

/// Reads a file from front to back, without seeking.
///
/// It is an [`io::Read`] of the data. [`next_chunk`](Self::next_chunk) gives the stored chunks
/// instead; use one or the other. For random access see [`BlpFile`](crate::BlpFile).
///
/// ```
/// use std::io::Read;
/// use bloscpack::{Reader, WriteOptions, pack};
///
/// let blp = pack(&[7; 100_000], WriteOptions::default())?;
/// let mut data = vec![];
/// Reader::new(&blp[..])?.read_to_end(&mut data)?;
/// assert_eq!(data, [7; 100_000]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Reader<R> {
    walk: Walk<R>,
    decoding: Decoding,
    /// Data of the current chunk, and the number of bytes read from them.
    data: Vec<u8>,
    read: usize,
}

impl<R: Read> Reader<R> {
    /// Reads the parts before the chunks.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`], [`Error::UnknownVersion`] or [`Error::MetadataFormat`] if those parts
    /// are damaged or unknown, [`Error::Limit`] or [`Error::Io`].
    pub fn new(source: R) -> Result<Self> {
        Self::with_options(source, ReadOptions::default())
    }

    /// As [`new`](Self::new), with options.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with_options(source: R, options: ReadOptions) -> Result<Self> {
        let mut input = Input::new(source, 0, None);
        let preamble = Preamble::read(&mut input, &options)?;
        check_total(&preamble.header, &options)?;
        let decoding = Decoding::new(&options);
        Ok(Self { walk: Walk::new(input, preamble, options), decoding, data: vec![], read: 0 })
    }

    /// The header.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.walk.preamble.header
    }

    /// The metadata, unless there are none or they are ignored.
    #[must_use]
    pub const fn metadata(&self) -> Option<&Metadata> {
        self.walk.preamble.metadata.as_ref()
    }

    /// The offsets, if there are any.
    #[must_use]
    pub const fn offsets(&self) -> Option<&Offsets> {
        self.walk.preamble.offsets.as_ref()
    }

    /// The next chunk as stored in the file, its digest checked; `None` after the last one.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] or [`Error::Chunk`] if the chunk is cut or contradicts the file's header,
    /// [`Error::Limit`] or [`Error::Io`].
    pub fn next_chunk(&mut self) -> Result<Option<PackedChunk>> {
        self.walk.next()
    }

    /// The data of the next chunk; `None` after the last one.
    ///
    /// # Errors
    ///
    /// As [`next_chunk`](Self::next_chunk); also [`Error::Chunk`] if the chunk cannot be decoded.
    pub fn next_data(&mut self) -> Result<Option<&[u8]>> {
        let next = self.decoding.next(&mut || self.walk.next())?;
        Ok(next.map(|(_, data)| data))
    }

    /// Writes all remaining data to `to` and returns their length (bytes). Reads and decodes the
    /// next chunks meanwhile.
    ///
    /// # Errors
    ///
    /// As [`next_data`](Self::next_data); [`Error::Io`] also if writing fails.
    pub fn copy_to(&mut self, to: &mut dyn io::Write) -> Result<u64> {
        let mut written = 0;
        let mut write = |data: &[u8]| {
            to.write_all(data).map_err(|source| Error::io(written, source))?;
            written += data.len() as u64;
            Ok::<_, Error>(())
        };
        write(&self.data[self.read..])?;
        self.read = self.data.len();
        let Self { walk, decoding, .. } = self;
        decoding.for_each(&mut || walk.next(), &mut |_, data| write(data))?;
        Ok(written)
    }

    /// Position of the next byte to read (bytes from the start of the file). After the last chunk,
    /// any trailing bytes begin here.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.walk.input.position()
    }

    /// The source, at its present position.
    pub fn into_inner(self) -> R {
        self.walk.input.into_inner()
    }
}

impl<R: Read> Read for Reader<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while self.read == self.data.len() {
            let Some((_, data)) = self.decoding.next(&mut || self.walk.next())? else {
                return Ok(0);
            };
            self.data.clear();
            self.data.extend_from_slice(data);
            self.read = 0;
        }
        let n = (&self.data[self.read..]).read(buf)?;
        self.read += n;
        Ok(n)
    }
}

/// Goes from chunk to chunk and checks them against the header.
#[derive(Debug)]
pub(crate) struct Walk<R> {
    pub(crate) input: Input<R>,
    pub(crate) preamble: Preamble,
    options: ReadOptions,
    sizes: SizeCheck,
    /// Number of the next chunk.
    next: u64,
    /// Data of the chunk before (bytes).
    before: u32,
    /// Data so far (bytes).
    nbytes: u64,
}

impl<R: Read> Walk<R> {
    pub(crate) fn new(input: Input<R>, preamble: Preamble, options: ReadOptions) -> Self {
        let sizes = SizeCheck::new(preamble.header);
        Self { input, preamble, options, sizes, next: 0, before: 0, nbytes: 0 }
    }

    pub(crate) fn next(&mut self) -> Result<Option<PackedChunk>> {
        if self.preamble.header.nchunks == Some(self.next) {
            return Ok(None);
        }
        let at = self.input.position();
        check_position(&self.preamble, self.next, at)?;
        let expected = Expected {
            nchunk: self.next,
            header: &self.preamble.header,
            limits: &self.options.dparams.limits,
            mismatch: &self.options.mismatch,
        };
        let Some(chunk) = read_chunk(&mut self.input, expected)? else {
            return self.end(at).map(|()| None);
        };
        let corrupt = |what| Error::corrupt(at, what);
        self.before = nbytes(chunk.header());
        self.sizes.next(self.next, self.before).map_err(corrupt)?;
        self.nbytes = self.nbytes.saturating_add(self.before.into());
        within(self.nbytes, &self.options)?;
        self.next += 1;
        Ok(Some(chunk))
    }

    /// Checks the end of the file, at byte `at` after a chunk.
    fn end(&self, at: u64) -> Result<()> {
        let corrupt = |what| Error::corrupt(at, what);
        match (self.preamble.header.nchunks, self.next.checked_sub(1)) {
            (Some(nchunks), _) => {
                Err(corrupt(Corrupt::MissingChunks { nchunks, found: self.next }))
            }
            (None, Some(last)) => self.sizes.check_last(last, self.before).map_err(corrupt),
            (None, None) => Ok(()),
        }
    }
}

/// Checks that chunk `nchunk`, at byte `at`, is at its offset.
pub(crate) fn check_position(preamble: &Preamble, nchunk: u64, at: u64) -> Result<()> {
    match preamble.position(nchunk) {
        Some(offset) if offset != at => {
            Err(Error::corrupt(at, Corrupt::OffsetPosition { entry: nchunk, offset, position: at }))
        }
        _ => Ok(()),
    }
}

/// Checks that the caller allows all data that the header announces.
pub(crate) fn check_total(header: &Header, options: &ReadOptions) -> Result<()> {
    header.nbytes().map_or(Ok(()), |nbytes| within(nbytes, options))
}

fn within(needed: u64, options: &ReadOptions) -> Result<()> {
    let limit = options.limits.max_nbytes;
    if needed > limit {
        return Err(Error::Limit { what: Bounded::Data, needed, limit });
    }
    Ok(())
}

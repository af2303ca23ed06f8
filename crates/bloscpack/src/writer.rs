//! Writing a file, version 3, in one pass ("How a writer divides its input" in the format
//! document).

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "lengths are those of buffers in memory"
)]

mod output;
mod tally;

use std::io::{self, Read as _, Seek, Write};

use blosc_chunk::ChunkHeader;
use blosc_container::parallel::in_order_by_workers;
use blosc_io::AlignedBytes;

use crate::chunk::{self, CHUNK_VERSION};
use crate::encoding::{Encoded, Encoding, in_chunk};
use crate::header::MAX_CHUNKSIZE;
use crate::metadata::Section;
use crate::offsets::{self, UNSET_BYTE};
use crate::sizes::Division;
use crate::{Error, Header, Param, Result, Version, WriteOptions};

use output::Output;
pub(crate) use tally::{Tally, room_in};

/// Writes a file from front to back.
///
/// | made with | data announced | the file has |
/// |---|---|---|
/// | [`seekable`](Self::seekable) | yes | everything: sizes, number of chunks, offsets |
/// | [`seekable`](Self::seekable) | no | sizes and number of chunks, put in at the end; no offsets |
/// | [`new`](Self::new) | yes | sizes and number of chunks; no offsets |
/// | [`new`](Self::new) | no | the size of the chunks only. **Bloscpack 0.16.0 decodes such a file to nothing**; this crate reads it. |
///
/// Data are announced with [`WriteOptions::nbytes`].
///
/// ```
/// use std::io::{Cursor, Write};
/// use bloscpack::{WriteOptions, Writer, unpack};
///
/// let options = WriteOptions::default().nbytes(Some(5));
/// let mut writer = Writer::seekable(Cursor::new(vec![]), options)?;
/// writer.write_all(b"hello")?;
/// let blp = writer.finish()?.into_inner();
/// assert_eq!(unpack(&blp)?, b"hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Writer<W> {
    output: Output<W>,
    tally: Tally,
    encoding: Encoding,
    /// Room for the data of the next chunk, and the number of bytes in it.
    data: AlignedBytes,
    filled: usize,
    /// The position of the offsets, and the offsets of the chunks so far.
    offsets_at: u64,
    positions: Vec<u64>,
}

impl<W: Write> Writer<W> {
    /// Writes to a destination that cannot seek.
    ///
    /// # Errors
    ///
    /// [`Param`] for invalid options, or [`Error::Io`](crate::Error::Io).
    pub fn new(to: W, options: WriteOptions) -> Result<Self> {
        Self::begin(Output::new(to), options.offsets(false))
    }

    /// Writes to a destination that can seek. Positions count from its present one.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn seekable(to: W, options: WriteOptions) -> Result<Self>
    where
        W: Seek,
    {
        let offsets = options.offsets && options.nbytes.is_some();
        Self::begin(Output::seekable(to)?, options.offsets(offsets))
    }

    fn begin(output: Output<W>, options: WriteOptions) -> Result<Self> {
        let section = match &options.metadata {
            Some(value) => Section::new(value, &options.metadata_options)?,
            None => None,
        };
        let header = header_of(&options, section.is_some())?;
        let mut writer = Self::with_header(output, header, section.as_ref(), &options)?;
        writer.tally.announced = options.nbytes;
        Ok(writer)
    }

    /// Writes chunks of other files, or pieces of any size, after a known header.
    pub(crate) fn with_parts(
        to: W,
        header: Header,
        section: Option<&Section>,
        options: &WriteOptions,
    ) -> Result<Self>
    where
        W: Seek,
    {
        Self::with_header(Output::seekable(to)?, header, section, options)
    }

    /// Writes the parts before the chunks.
    fn with_header(
        mut output: Output<W>,
        header: Header,
        section: Option<&Section>,
        options: &WriteOptions,
    ) -> Result<Self> {
        let encoding = Encoding::new(&options.cparams, header.checksum, options.budget.clone())?;
        output.write(&header.to_bytes())?;
        if let Some(section) = section {
            output.write_with(section.len(), |to| section.write(to))?;
        }
        let offsets_at = output.position();
        let len = offsets::section_len(&header).unwrap_or(0);
        output
            .write_with(len, |to| io::copy(&mut io::repeat(UNSET_BYTE).take(len), to).map(drop))?;
        Ok(Self {
            output,
            tally: Tally::new(header),
            encoding,
            data: AlignedBytes::new(),
            filled: 0,
            offsets_at,
            positions: vec![],
        })
    }

    /// The header as written. Its unknown fields may be set at the end.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.tally.header
    }

    /// Adds a compressed chunk unchanged: a whole Blosc 1 buffer. The writer computes its digest.
    ///
    /// # Errors
    ///
    /// [`Param::ForeignChunk`] if it does not have the size of the next chunk,
    /// [`Param::ForeignVersion`] if it is not of Blosc 1, [`Error::Chunk`](crate::Error::Chunk) if
    /// it is no chunk, or [`Error::Io`](crate::Error::Io).
    pub fn push_chunk(&mut self, chunk: &[u8]) -> Result<()> {
        let header =
            ChunkHeader::parse(chunk).map_err(|source| in_chunk(self.tally.nchunks, 0, source))?;
        if header.version() != CHUNK_VERSION {
            return Err(Param::ForeignVersion { version: header.version() }.into());
        }
        if header.cbytes() != chunk.len() || self.filled > 0 {
            let (nbytes, expected) = (chunk.len() as u64, header.cbytes() as u64);
            return Err(Param::ForeignChunk { nbytes, expected }.into());
        }
        self.flush_chunks()?;
        self.tally.count(chunk::nbytes(&header))?;
        let digest = self.tally.header.checksum.digest(chunk);
        self.positions_push();
        self.output.write(chunk)?;
        self.output.write(digest.as_bytes())
    }

    /// Room for the next data, at least one byte, for callers that would otherwise copy them for
    /// [`write`](Write::write). Its content has no meaning.
    ///
    /// ```
    /// # use std::io::{Read, Result};
    /// # fn pack(mut source: impl Read, mut writer: bloscpack::Writer<Vec<u8>>) -> Result<()> {
    /// loop {
    ///     match source.read(writer.room())? {
    ///         0 => break,
    ///         len => writer.fill(len)?,
    ///     }
    /// }
    /// # writer.finish()?;
    /// # Ok(())
    /// # }
    /// # let writer = bloscpack::Writer::new(vec![], bloscpack::WriteOptions::default());
    /// # pack(&b"hello"[..], writer.unwrap()).unwrap();
    /// ```
    pub fn room(&mut self) -> &mut [u8] {
        // One byte too many makes `fill` fail.
        let size = self.tally.next_size(self.filled).unwrap_or(self.filled + 1);
        room_in(&mut self.data, self.filled, size)
    }

    /// Takes the first `len` bytes of [`room`](Self::room) as the next data.
    ///
    /// # Errors
    ///
    /// [`Param::DataSize`] for more data than announced, [`Param::Room`] for more than the room;
    /// [`Error::Chunk`](crate::Error::Chunk) or [`Error::Io`](crate::Error::Io).
    pub fn fill(&mut self, len: usize) -> Result<()> {
        if self.advance(len)? { self.flush_chunks() } else { Ok(()) }
    }

    /// Writes the rest of a source, and returns its length (bytes).
    ///
    /// Each thread reads the data of a chunk, compresses them while they are in its cache, and
    /// writes the chunk once the chunks before it are written; [`room`](Self::room) and
    /// [`fill`](Self::fill) do this one chunk at a time.
    ///
    /// ```
    /// let mut writer = bloscpack::Writer::new(vec![], bloscpack::WriteOptions::default())?;
    /// assert_eq!(writer.copy_from(&mut &b"some data"[..])?, 9);
    /// assert_eq!(bloscpack::unpack(&writer.finish()?)?, b"some data");
    /// # Ok::<(), bloscpack::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`fill`](Self::fill); [`Error::Io`](crate::Error::Io) also if reading fails.
    pub fn copy_from(&mut self, source: &mut (dyn io::Read + Send)) -> Result<u64>
    where
        W: Send,
    {
        let before = self.tally.nbytes + self.filled as u64;
        // First completes the chunk that was begun.
        while self.filled > 0 {
            let size = self.tally.next_size(self.filled).unwrap_or(self.filled + 1);
            match self.tally.read(source, room_in(&mut self.data, self.filled, size))? {
                0 => return Ok(self.tally.nbytes + self.filled as u64 - before),
                len => self.fill(len)?,
            }
        }
        self.flush_chunks()?;
        let slots = self.encoding.slots(self.tally.header.chunksize.unwrap_or(MAX_CHUNKSIZE))?;
        let Self { output, tally, data, filled, positions, .. } = self;
        let (checksum, offsets, mut written) =
            (tally.header.checksum, tally.header.offsets, tally.nchunks);
        in_order_by_workers(
            slots,
            |slot| {
                let is_whole = slot.read_chunk(tally, source)?;
                if !is_whole {
                    // The last bytes wait for more data, or for the end.
                    (*data, *filled) = slot.take();
                }
                Ok::<_, Error>(is_whole)
            },
            |slot| {
                slot.encode(checksum);
                Ok(())
            },
            |slot| {
                write_chunk(slot.encoded(), output, offsets.then_some(&mut *positions), written)?;
                written += 1;
                Ok(())
            },
        )?;
        Ok(self.tally.nbytes + self.filled as u64 - before)
    }

    /// Takes the first bytes of the room. Returns whether to compress the waiting chunks now.
    fn advance(&mut self, len: usize) -> Result<bool> {
        if len == 0 {
            return Ok(false);
        }
        let size = self.tally.next_size(self.filled)?;
        let room = size.min(self.data.len()).saturating_sub(self.filled);
        if len > room {
            return Err(Param::Room { room: room as u64, len: len as u64 }.into());
        }
        self.filled += len;
        if self.filled == size { self.end_chunk() } else { Ok(false) }
    }

    /// Writes the remaining data, completes header and offsets if the destination can seek, and
    /// returns the destination.
    ///
    /// # Errors
    ///
    /// [`Param::DataSize`] if fewer data came than announced; [`Error::Chunk`](crate::Error::Chunk)
    /// or [`Error::Io`](crate::Error::Io).
    pub fn finish(mut self) -> Result<W> {
        if self.filled > 0 || self.tally.nchunks == 0 && self.tally.header.nchunks != Some(0) {
            self.end_chunk()?;
        }
        self.flush_chunks()?;
        self.tally.check_end()?;
        self.complete()?;
        self.output.finish()
    }

    /// Takes as much of the data as fits.
    fn take(&mut self, data: &[u8]) -> Result<usize> {
        // Refuses excess data before any state changes.
        self.tally.next_size(self.filled)?;
        let room = self.room();
        let taken = room.len().min(data.len());
        room[..taken].copy_from_slice(&data[..taken]);
        self.fill(taken)?;
        Ok(taken)
    }

    /// Makes a chunk of the data so far. Returns whether to compress the waiting chunks now.
    fn end_chunk(&mut self) -> Result<bool> {
        let len = core::mem::take(&mut self.filled);
        self.tally.count(u32::try_from(len).unwrap_or(u32::MAX))?;
        self.encoding.push(&mut self.data, len)
    }

    /// Compresses and writes the waiting chunks.
    fn flush_chunks(&mut self) -> Result<()> {
        let Self { output, encoding, positions, tally, .. } = self;
        let (offsets, nchunks) = (tally.header.offsets, tally.nchunks);
        encoding
            .flush(|encoded| write_chunk(encoded, output, offsets.then_some(positions), nchunks))
    }

    fn positions_push(&mut self) {
        if self.tally.header.offsets {
            self.positions.push(self.output.position());
        }
    }

    /// Sets the fields that were unknown at the beginning.
    fn complete(&mut self) -> Result<()> {
        if !self.output.can_seek() {
            return Ok(());
        }
        if self.tally.complete() {
            self.output.write_at(0, &self.tally.header.to_bytes())?;
        }
        let entries: Vec<u8> = self.positions.iter().flat_map(|at| at.to_le_bytes()).collect();
        self.output.write_at(self.offsets_at, &entries)
    }
}

impl<W: Write> Write for Writer<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if data.is_empty() {
            return Ok(0);
        }
        Ok(self.take(data)?)
    }

    /// Flushes the destination. Data that do not fill a chunk stay here.
    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// Writes a chunk and its digest, and notes its position.
fn write_chunk<W: Write>(
    encoded: Encoded<'_>,
    output: &mut Output<W>,
    positions: Option<&mut Vec<u64>>,
    nchunks: u64,
) -> Result<()> {
    let (bytes, digest) = encoded.map_err(|source| in_chunk(nchunks, output.position(), source))?;
    if let Some(positions) = positions {
        positions.push(output.position());
    }
    output.write(bytes)?;
    output.write(digest.as_bytes())
}

/// The header for these options.
fn header_of(options: &WriteOptions, metadata: bool) -> Result<Header> {
    let typesize = options.cparams.typesize;
    // Wider items are compressed as bytes, also by C-Blosc.
    let typesize = u8::try_from(typesize).unwrap_or(1);
    let divided = Division::new(options.nbytes.unwrap_or(u64::MAX), options.chunksize)?;
    let known = options.nbytes.map(|_| divided);
    let header = Header {
        version: Version::V3,
        offsets: options.offsets,
        metadata,
        checksum: options.checksum,
        typesize: Some(typesize),
        chunksize: Some(divided.chunksize),
        last_chunk: known.map(|known| known.last_chunk),
        nchunks: known.map(|known| known.nchunks),
        max_app_chunks: if options.offsets { options.reserve.entries(divided.nchunks) } else { 0 },
        reserved_set: false,
    };
    let (nchunks, reserve) = (header.nchunks.unwrap_or(0), header.max_app_chunks);
    if i64::try_from(nchunks.saturating_add(reserve)).is_err() {
        return Err(Param::TooManyChunks { nchunks, reserve }.into());
    }
    Ok(header)
}

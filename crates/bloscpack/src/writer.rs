//! Writing a file, version 3, in one pass ("How a writer divides its input" in the format document).

mod output;

use std::io::{self, Read as _, Seek, Write};

use blosc_chunk::ChunkHeader;

use crate::chunk::{self, CHUNK_VERSION};
use crate::encoding::{Batch, Encoded, Encoding, in_chunk};
use crate::header::MAX_CHUNK_SIZE;
use crate::metadata::Section;
use crate::offsets::{self, UNSET_BYTE};
use crate::sizes::{Division, SizeCheck};
use crate::team::Team;
use crate::{Corrupt, Header, Param, Result, Version, WriteOptions};

use output::Output;

/// Writes a file from front to back.
///
/// | made with | data announced | the file has |
/// |---|---|---|
/// | [`seekable`](Self::seekable) | yes | everything: sizes, number of chunks, offsets |
/// | [`seekable`](Self::seekable) | no | sizes and number of chunks, put in at the end; no offsets |
/// | [`new`](Self::new) | yes | sizes and number of chunks; no offsets |
/// | [`new`](Self::new) | no | the size of the chunks only. **Release 0.16.0 of the original decodes such a file to nothing**; this crate reads it. |
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
    header: Header,
    sizes: SizeCheck,
    encoding: Encoding,
    /// Room for the data of the next chunk, and how many of them are there (bytes).
    data: Vec<u8>,
    filled: usize,
    /// Chunks written or waiting.
    nchunks: u64,
    /// Data written or waiting, but for `data` (bytes), and of the last chunk.
    nbytes: u64,
    last: u32,
    /// As announced.
    announced: Option<u64>,
    /// Where the offsets are, and those of the chunks so far.
    offsets_at: u64,
    positions: Vec<u64>,
}

impl<W: Write> Writer<W> {
    /// Writes to something that cannot seek.
    ///
    /// # Errors
    ///
    /// [`Param`] for options that cannot be had, or [`Error::Io`](crate::Error::Io).
    pub fn new(to: W, options: WriteOptions) -> Result<Self> {
        Self::begin(Output::new(to), options.offsets(false))
    }

    /// Writes to something that can seek. Positions count from where it stands now.
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
        writer.announced = options.nbytes;
        Ok(writer)
    }

    /// Writes chunks of other files, or pieces of any size, below a header that is known.
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

    /// Writes everything before the chunks.
    fn with_header(
        mut output: Output<W>,
        header: Header,
        section: Option<&Section>,
        options: &WriteOptions,
    ) -> Result<Self> {
        let team = Team::new(options.threads, options.max_memory);
        let encoding = Encoding::new(&options.cparams, header.checksum, team)?;
        output.write(&header.to_bytes())?;
        if let Some(section) = section {
            output.write_with(section.len(), |to| section.write(to))?;
        }
        let offsets_at = output.at();
        let len = offsets::section_len(&header).unwrap_or(0);
        output.write_with(len, |to| io::copy(&mut io::repeat(UNSET_BYTE).take(len), to).map(drop))?;
        Ok(Self {
            output,
            header,
            sizes: SizeCheck::new(header),
            encoding,
            data: vec![],
            filled: 0,
            nchunks: 0,
            nbytes: 0,
            last: 0,
            announced: None,
            offsets_at,
            positions: vec![],
        })
    }

    /// The header as it was written. What is unknown in it may be put in at the end.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Adds a chunk that is compressed already, as it is: a whole Blosc 1 buffer. Its digest is made here.
    ///
    /// # Errors
    ///
    /// [`Param::ForeignChunk`] if it does not have the size of the next chunk, [`Param::ForeignVersion`] if it is
    /// not of Blosc 1, [`Error::Chunk`](crate::Error::Chunk) if it is no chunk at all, or
    /// [`Error::Io`](crate::Error::Io).
    pub fn push_chunk(&mut self, chunk: &[u8]) -> Result<()> {
        let header = ChunkHeader::parse(chunk).map_err(|source| in_chunk(self.nchunks, 0, source))?;
        if header.version() != CHUNK_VERSION {
            return Err(Param::ForeignVersion { version: header.version() }.into());
        }
        if header.cbytes() != chunk.len() || self.filled > 0 {
            let (nbytes, expected) = (chunk.len() as u64, header.cbytes() as u64);
            return Err(Param::ForeignChunk { nbytes, expected }.into());
        }
        self.flush_chunks()?;
        self.count(chunk::nbytes(&header))?;
        let digest = self.header.checksum.digest(chunk);
        self.positions_push();
        self.output.write(chunk)?;
        self.output.write(digest.as_bytes())
    }

    /// Room for the next data, for those who would copy them only to [`write`](Write::write) them; at least one byte.
    /// What is there means nothing.
    ///
    /// ```
    /// # fn pack(mut source: impl std::io::Read, mut writer: bloscpack::Writer<Vec<u8>>) -> std::io::Result<()> {
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
        // Whoever has one byte too many learns it in `fill`.
        let size = self.next_size().unwrap_or(self.filled + 1);
        // Chunks of unknown size grow as data come.
        let end = size.min(self.filled + STEP);
        if self.data.is_empty() {
            // Unlike `resize`, this does not touch it.
            self.data = vec![0; end];
        } else if self.data.len() < end {
            self.data.resize(end, 0);
        }
        &mut self.data[self.filled..end]
    }

    /// The first `len` bytes of [`room`](Self::room) are the next data.
    ///
    /// # Errors
    ///
    /// [`Param::DataSize`] if they are more than were announced, [`Param::Room`] if there was not so much room;
    /// [`Error::Chunk`](crate::Error::Chunk) or [`Error::Io`](crate::Error::Io).
    pub fn fill(&mut self, len: usize) -> Result<()> {
        if self.advance(len)? { self.flush_chunks() } else { Ok(()) }
    }

    /// Writes all that a source has left, and returns how many bytes they are. It is read while what it gave before is
    /// compressed and written; [`room`](Self::room) and [`fill`](Self::fill) do one after another.
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
    pub fn copy_from(&mut self, source: &mut dyn io::Read) -> Result<u64> {
        let (mut written, mut is_more) = (0, true);
        let mut encoded = Batch::default();
        while is_more {
            let mut waiting = self.encoding.take();
            let (team, checksum) = (self.encoding.team(), self.header.checksum);
            let done = waiting.encode_while(team, checksum, || {
                self.write_batch(core::mem::take(&mut encoded))?;
                self.read_batch(source)
            });
            let (nbytes, more) = done?;
            (written, is_more) = (written + nbytes, more);
            encoded = waiting;
        }
        self.write_batch(encoded)?;
        Ok(written)
    }

    /// Reads until the chunks that wait should be compressed, or to the end. How many bytes, and whether there may be more.
    fn read_batch(&mut self, source: &mut dyn io::Read) -> Result<(u64, bool)> {
        let mut nbytes = 0;
        loop {
            match source.read(self.room()) {
                Ok(0) => return Ok((nbytes, false)),
                Ok(len) => {
                    nbytes += len as u64;
                    if self.advance(len)? {
                        return Ok((nbytes, true));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(crate::Error::io(self.nbytes + self.filled as u64, source)),
            }
        }
    }

    /// Takes the first bytes of the room. True if the chunks that wait should be compressed now.
    fn advance(&mut self, len: usize) -> Result<bool> {
        if len == 0 {
            return Ok(false);
        }
        let size = self.next_size()?;
        let room = size.min(self.data.len()).saturating_sub(self.filled);
        if len > room {
            return Err(Param::Room { room: room as u64, len: len as u64 }.into());
        }
        self.filled += len;
        if self.filled == size { self.end_chunk() } else { Ok(false) }
    }

    /// Writes what is left, completes header and offsets if the destination can seek, and returns the destination.
    ///
    /// # Errors
    ///
    /// [`Param::DataSize`] if fewer data came than were announced; [`Error::Chunk`](crate::Error::Chunk) or
    /// [`Error::Io`](crate::Error::Io).
    pub fn finish(mut self) -> Result<W> {
        if self.filled > 0 || self.nchunks == 0 && self.header.nchunks != Some(0) {
            self.end_chunk()?;
        }
        self.flush_chunks()?;
        self.check_end()?;
        self.complete()?;
        self.output.finish()
    }

    /// Takes data; as much as fits.
    fn take(&mut self, data: &[u8]) -> Result<usize> {
        // Nothing more may come: said before anything is touched.
        self.next_size()?;
        let room = self.room();
        let taken = room.len().min(data.len());
        room[..taken].copy_from_slice(&data[..taken]);
        self.fill(taken)?;
        Ok(taken)
    }

    /// Data of the chunk that is being filled (bytes); an error if nothing more may come.
    fn next_size(&self) -> Result<usize> {
        if let Some(announced) = self.announced
            && self.nbytes + self.filled as u64 >= announced
        {
            return Err(Param::DataSize { announced, found: announced.saturating_add(1) }.into());
        }
        let is_last = self.header.nchunks == Some(self.nchunks + 1);
        let size = if is_last { self.header.last_chunk } else { self.header.chunk_size };
        Ok(size.unwrap_or(MAX_CHUNK_SIZE) as usize)
    }

    /// The data so far are a chunk. True if the chunks that wait should be compressed now.
    fn end_chunk(&mut self) -> Result<bool> {
        let len = core::mem::take(&mut self.filled);
        self.count(u32::try_from(len).unwrap_or(u32::MAX))?;
        self.encoding.push(&mut self.data, len)
    }

    fn count(&mut self, nbytes: u32) -> Result<()> {
        let too_many = self.header.nchunks.is_some_and(|nchunks| self.nchunks >= nchunks);
        let sized = if too_many {
            Err(Corrupt::EmptyChunk { nchunk: self.nchunks })
        } else {
            self.sizes.next(self.nchunks, nbytes)
        };
        if sized.is_err() {
            return Err(self.misfit(nbytes));
        }
        self.nchunks += 1;
        self.nbytes += u64::from(nbytes);
        self.last = nbytes;
        Ok(())
    }

    /// A chunk does not fit: fewer or more data than announced, or a foreign chunk of another size.
    fn misfit(&self, nbytes: u32) -> crate::Error {
        let found = self.nbytes + u64::from(nbytes);
        match self.announced {
            Some(announced) if announced != found => Param::DataSize { announced, found }.into(),
            _ => {
                let expected = self.header.uniform_size().unwrap_or(0).into();
                Param::ForeignChunk { nbytes: nbytes.into(), expected }.into()
            }
        }
    }

    /// Compresses and writes the chunks that wait.
    fn flush_chunks(&mut self) -> Result<()> {
        let Self { output, encoding, positions, header, nchunks, .. } = self;
        encoding.flush(|encoded| put(encoded, output, header.offsets.then_some(positions), *nchunks))
    }

    /// Writes what was compressed; its buffers take the next data.
    fn write_batch(&mut self, mut batch: Batch) -> Result<()> {
        let Self { output, positions, header, nchunks, .. } = self;
        batch.write(|encoded| put(encoded, output, header.offsets.then_some(positions), *nchunks))?;
        self.encoding.reuse(batch);
        Ok(())
    }

    fn positions_push(&mut self) {
        if self.header.offsets {
            self.positions.push(self.output.at());
        }
    }

    fn check_end(&self) -> Result<()> {
        let found = self.nbytes;
        let missing = self.header.nchunks.is_some_and(|nchunks| nchunks != self.nchunks);
        match self.announced {
            Some(announced) if announced != found => Err(Param::DataSize { announced, found }.into()),
            _ if missing => {
                let announced = self.header.nbytes().unwrap_or(0);
                Err(Param::DataSize { announced, found }.into())
            }
            _ => Ok(()),
        }
    }

    /// Puts in what was not known at the beginning.
    fn complete(&mut self) -> Result<()> {
        if !self.output.can_seek() {
            return Ok(());
        }
        if self.header.nchunks.is_none() {
            self.header.nchunks = Some(self.nchunks);
            self.header.last_chunk = Some(self.last);
            if self.nchunks == 1 && self.header.chunk_size.is_some() {
                self.header.chunk_size = Some(self.last);
            }
            self.output.write_at(0, &self.header.to_bytes())?;
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

    /// Passes on to the destination what was written to it. Data that do not fill a chunk stay here.
    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// Writes a chunk and its digest, and notes where it is.
fn put<W: Write>(
    encoded: Encoded<'_>,
    output: &mut Output<W>,
    positions: Option<&mut Vec<u64>>,
    nchunks: u64,
) -> Result<()> {
    let (bytes, digest) = encoded.map_err(|source| in_chunk(nchunks, output.at(), source))?;
    if let Some(positions) = positions {
        positions.push(output.at());
    }
    output.write(bytes)?;
    output.write(digest.as_bytes())
}

/// Bytes by which the room for data grows.
const STEP: usize = 1 << 20;

/// The header for these options.
fn header_of(options: &WriteOptions, metadata: bool) -> Result<Header> {
    let typesize = options.cparams.typesize;
    // Wider items are compressed as bytes, also by the original library.
    let typesize = u8::try_from(typesize).unwrap_or(1);
    let divided = Division::new(options.nbytes.unwrap_or(u64::MAX), options.chunk_size)?;
    let known = options.nbytes.map(|_| divided);
    let header = Header {
        version: Version::V3,
        offsets: options.offsets,
        metadata,
        checksum: options.checksum,
        typesize: Some(typesize),
        chunk_size: Some(divided.chunk_size),
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

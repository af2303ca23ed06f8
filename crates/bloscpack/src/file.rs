//! Random access to the chunks and data of a file ("Reader algorithm" in the format document).

mod data;
mod index;
mod verify;

use core::ops::Range;
use std::io::{self, Read};
use std::path::Path;
use std::sync::OnceLock;

use blosc_chunk::{Chunk, Decoder, Scratch};
use blosc_io::{FileStore, ReadAt};

use crate::chunk::{Expected, read_chunk_to, read_header};
use crate::decoding::{Decoding, decode_into};
use crate::input::Input;
use crate::journal::Before;
use crate::preamble::Preamble;
use crate::reader::{check_position, check_total};
use crate::relay::relay;
use crate::team::Team;
use crate::{
    Blame, Corrupt, Error, Header, Metadata, MetadataHeader, Offsets, PackedChunk, Param, RcHeader,
    ReadOptions, Result,
};

pub use data::DataReader;
pub(crate) use index::Index;
pub use verify::{BadChunk, Note, Report};

/// A file with random access to its chunks and data.
///
/// Opening reads what stands before the chunks. Where the chunks are is taken from the offsets, or
/// found by a walk over the chunk headers when it is first needed. Reading needs `&self`.
///
/// If an append was interrupted, the file is seen as it was before.
///
/// ```
/// use blosc_io::MemStore;
/// use bloscpack::{BlpFile, WriteOptions, pack};
///
/// let data: Vec<u8> = (0..1000_u32).flat_map(u32::to_le_bytes).collect();
/// let blp = pack(&data, WriteOptions::default().chunk_size(1024))?;
///
/// let file = BlpFile::new(MemStore::new(blp))?;
/// assert_eq!((file.nchunks()?, file.nbytes()?), (4, 4000));
/// assert_eq!(file.chunk(3)?, data[3072..]);
///
/// let mut items = [0; 8];
/// file.read_at(2000, &mut items)?;
/// assert_eq!(items[..4], 500_u32.to_le_bytes());
/// # Ok::<(), bloscpack::Error>(())
/// ```
#[derive(Debug)]
pub struct BlpFile<S = FileStore> {
    store: Before<S>,
    preamble: Preamble,
    options: ReadOptions,
    /// Length of the file (bytes).
    len: u64,
    /// Made by a walk, if one was needed.
    index: OnceLock<Index>,
}

impl BlpFile {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, ReadOptions::default())
    }

    /// Opens a file with options.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn open_with(path: impl AsRef<Path>, options: ReadOptions) -> Result<Self> {
        let store = FileStore::open(path).map_err(|source| Error::io(0, source))?;
        Self::with_options(store, options)
    }
}

impl<S: ReadAt> BlpFile<S> {
    /// Takes a store that holds a file, and reads everything before the chunks.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`], [`Error::UnknownVersion`] or [`Error::MetadataFormat`] if that is not as
    /// it should be, [`Error::Limit`] or [`Error::Io`].
    pub fn new(store: S) -> Result<Self> {
        Self::with_options(store, ReadOptions::default())
    }

    /// The same with options.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with_options(store: S, options: ReadOptions) -> Result<Self> {
        let store = Before::new(store).map_err(|source| Error::io(0, source))?;
        let len = store.len().map_err(|source| Error::io(0, source))?;
        let mut file = match read_preamble(&store, len, &options) {
            Ok(preamble) => Self { store, preamble, options, len, index: OnceLock::new() },
            Err(error) => Self::detect_rc(store, len, options, error)?,
        };
        file.options.rc_header = RcHeader::Never;
        check_total(file.header(), &file.options)?;
        check_position(&file.preamble, 0, file.preamble.chunks_at)?;
        Ok(file)
    }

    /// What could not be opened may have the header of a release candidate: if all chunks are there
    /// and nothing else, it has.
    fn detect_rc(store: Before<S>, len: u64, options: ReadOptions, error: Error) -> Result<Self> {
        if options.rc_header != RcHeader::Detect || error.blame() == Blame::Io {
            return Err(error);
        }
        let options = options.rc_header(RcHeader::Assume);
        let Ok(preamble) = read_preamble(&store, len, &options) else { return Err(error) };
        let file = Self { store, preamble, options, len, index: OnceLock::new() };
        match file.index() {
            Ok(index) if index.end() == len && index.nchunks() > 0 => Ok(file),
            _ => Err(error),
        }
    }

    /// The header.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.preamble.header
    }

    /// How the metadata are stored, if there are any.
    #[must_use]
    pub const fn metadata_header(&self) -> Option<&MetadataHeader> {
        self.preamble.metadata_header.as_ref()
    }

    /// The metadata, if there are any and they are not ignored.
    #[must_use]
    pub const fn metadata(&self) -> Option<&Metadata> {
        self.preamble.metadata.as_ref()
    }

    /// The offsets, if there are any.
    #[must_use]
    pub const fn offsets(&self) -> Option<&Offsets> {
        self.preamble.offsets.as_ref()
    }

    /// Where the offsets section is (bytes from the start of the file), or would be.
    #[must_use]
    pub fn offsets_position(&self) -> u64 {
        self.preamble.offsets_at()
    }

    /// Length of the file (bytes). Before an interrupted append, if there was one.
    #[must_use]
    pub const fn file_len(&self) -> u64 {
        self.len
    }

    /// Whether a change was interrupted, so that the file is seen as it was before. The next append
    /// or [`recover`](crate::recover) restores it.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.store.is_interrupted()
    }

    /// Number of chunks.
    ///
    /// # Errors
    ///
    /// Those of a walk, if the header does not tell.
    pub fn nchunks(&self) -> Result<u64> {
        self.header().nchunks.map_or_else(|| Ok(self.index()?.nchunks()), Ok)
    }

    /// Bytes of data.
    ///
    /// # Errors
    ///
    /// Those of a walk, if the header does not tell.
    pub fn nbytes(&self) -> Result<u64> {
        self.header().nbytes().map_or_else(|| Ok(self.index()?.nbytes()), Ok)
    }

    /// Where a chunk begins (bytes from the start of the file).
    ///
    /// # Errors
    ///
    /// [`Param::NoChunk`] if there is none, or those of a walk.
    pub fn position(&self, nchunk: u64) -> Result<u64> {
        self.check_number(nchunk)?;
        match self.preamble.position(nchunk) {
            Some(at) => Ok(at),
            None => self.index()?.position(nchunk),
        }
    }

    /// Which of the data a chunk holds (bytes).
    ///
    /// # Errors
    ///
    /// As [`position`](Self::position).
    pub fn chunk_range(&self, nchunk: u64) -> Result<Range<u64>> {
        self.check_number(nchunk)?;
        let header = self.header();
        match (header.uniform_size(), header.nbytes()) {
            (Some(chunk_size), Some(nbytes)) if chunk_size > 0 => {
                let start = nchunk * u64::from(chunk_size);
                let end = if nchunk + 1 == self.nchunks()? {
                    nbytes
                } else {
                    start + u64::from(chunk_size)
                };
                Ok(start..end)
            }
            _ => self.index()?.range(nchunk),
        }
    }

    /// The chunk that holds the byte `at` of the data, which must be there.
    fn chunk_of(&self, at: u64) -> Result<u64> {
        match self.header().uniform_size() {
            Some(chunk_size) if chunk_size > 0 => {
                let last = self.nchunks()?.saturating_sub(1);
                Ok(at.checked_div(chunk_size.into()).unwrap_or(0).min(last))
            }
            _ => Ok(self.index()?.chunk_of(at)),
        }
    }

    /// A chunk as it stands in the file, its digest checked.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] or [`Error::Chunk`] if the chunk is not all there or not what the file's
    /// header and offsets say, [`Param::NoChunk`], [`Error::Limit`] or [`Error::Io`].
    pub fn packed_chunk(&self, nchunk: u64) -> Result<PackedChunk> {
        self.packed_chunk_in(vec![], nchunk)
    }

    /// The same in a buffer that is left from another chunk.
    fn packed_chunk_in(&self, buffer: Vec<u8>, nchunk: u64) -> Result<PackedChunk> {
        let at = self.position(nchunk)?;
        let missing = Corrupt::MissingChunks { nchunks: nchunk + 1, found: nchunk };
        let chunk = read_chunk_to(buffer, &mut self.input(at), self.expected(nchunk))?;
        let chunk = chunk.ok_or(Error::corrupt(at, missing))?;
        check_position(&self.preamble, nchunk + 1, chunk.end())?;
        Ok(chunk)
    }

    /// The data of a chunk.
    ///
    /// # Errors
    ///
    /// As [`packed_chunk`](Self::packed_chunk); also [`Error::Chunk`] if it cannot be decoded.
    pub fn chunk(&self, nchunk: u64) -> Result<Vec<u8>> {
        let mut data = vec![];
        self.chunk_into(nchunk, &mut data, &mut self.decoder())?;
        Ok(data)
    }

    /// The data of a chunk, in place of what was in `data`, with a decoder that can be used again.
    ///
    /// # Errors
    ///
    /// As [`chunk`](Self::chunk).
    pub fn chunk_into(&self, nchunk: u64, data: &mut Vec<u8>, decoder: &mut Decoder) -> Result<()> {
        decode_into(&self.packed_chunk(nchunk)?, data, decoder)
    }

    /// Fills `buf` with the bytes of the file itself from byte `at` on, as they were before an
    /// interrupted change.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], also if the file ends before.
    pub fn read_stored_at(&self, at: u64, buf: &mut [u8]) -> Result<()> {
        self.store.read_exact_at(at, buf).map_err(|source| Error::io(at, source))
    }

    /// Fills `buf` with the data from byte `at` on and returns how many bytes there were: fewer
    /// only at the end.
    ///
    /// # Errors
    ///
    /// As [`chunk`](Self::chunk).
    pub fn read_at(&self, at: u64, buf: &mut [u8]) -> Result<usize> {
        let nbytes = self.nbytes()?;
        let len = usize::try_from(nbytes.saturating_sub(at)).unwrap_or(usize::MAX).min(buf.len());
        let mut scratch = Scratch::new(&self.options.dparams);
        let mut done = 0;
        while done < len {
            let from = at + done as u64;
            done += self.read_part(from, &mut buf[done..len], &mut scratch)?;
        }
        Ok(len)
    }

    /// Data from byte `at` on, as far as they are in one chunk.
    fn read_part(&self, at: u64, buf: &mut [u8], scratch: &mut Scratch) -> Result<usize> {
        let nchunk = self.chunk_of(at)?;
        let range = self.chunk_range(nchunk)?;
        let packed = self.packed_chunk(nchunk)?;
        let len =
            usize::try_from(range.end.saturating_sub(at)).unwrap_or(usize::MAX).min(buf.len());
        // The range lies inside a chunk, so it fits.
        let start = usize::try_from(at.saturating_sub(range.start)).unwrap_or(usize::MAX);
        let chunk = Chunk::parse(packed.bytes());
        let read = chunk
            .and_then(|c| c.read_bytes(start..start.saturating_add(len), &mut buf[..len], scratch));
        read.map_err(|source| Error::Chunk { nchunk, at: packed.position(), source })?;
        Ok(len)
    }

    /// Hands the data of the chunks to `each` in order. Several chunks are decoded at once, while
    /// those before them are handed out and those behind them are read in this thread.
    ///
    /// # Errors
    ///
    /// As [`chunk`](Self::chunk), and whatever `each` returns. What comes after an error is not
    /// handed out, what comes before is.
    pub fn decode_ordered<E: From<Error>>(
        &self,
        chunks: Range<u64>,
        each: impl FnMut(u64, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.decode_ordered_with(chunks, &self.options, each)
    }

    /// The same with the `threads`, `max_memory` and `dparams` of other options.
    ///
    /// # Errors
    ///
    /// As [`decode_ordered`](Self::decode_ordered).
    pub fn decode_ordered_with<E: From<Error>>(
        &self,
        chunks: Range<u64>,
        options: &ReadOptions,
        mut each: impl FnMut(u64, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut next = chunks.start;
        let mut decoding = Decoding::new(options);
        let mut source = || {
            if next >= chunks.end {
                return Ok(None);
            }
            let chunk = self.packed_chunk(next)?;
            next += 1;
            Ok(Some(chunk))
        };
        decoding.rest(&mut source, &mut |chunk, data| each(chunk.nchunk(), data))
    }

    /// Writes the data of the chunks to `to`, in order, and returns how many bytes they are.
    ///
    /// Each thread reads a chunk, decodes it, and writes it when those before it are written, so
    /// that its data stay in the thread's cache. [`decode_ordered`](Self::decode_ordered) is
    /// for those who want all data in one thread.
    ///
    /// # Errors
    ///
    /// As [`chunk`](Self::chunk); [`Error::Io`] also if writing fails. What comes before an error
    /// is written, what comes after it is not.
    pub fn copy_to(&self, chunks: Range<u64>, to: &mut (dyn io::Write + Send)) -> Result<u64> {
        let mut written = 0;
        let mut write = |data: &[u8]| {
            to.write_all(data).map_err(|source| Error::io(written, source))?;
            written += data.len() as u64;
            Ok::<_, Error>(())
        };
        let Some(size) = self.header().uniform_size() else {
            self.decode_ordered(chunks, |_, data| write(data))?;
            return Ok(written);
        };
        let team = Team::new(self.options.threads, self.options.max_memory);
        let slots = team
            .fitting(u64::from(size).saturating_mul(2), chunks.end.saturating_sub(chunks.start));
        let slot = || Slot { nchunk: 0, packed: vec![], data: vec![], decoder: self.decoder() };
        let mut chunks = chunks;
        relay(
            (0..slots).map(|_| slot()).collect(),
            |slot| Ok(chunks.next().map(|nchunk| slot.nchunk = nchunk).is_some()),
            |slot| {
                let packed =
                    self.packed_chunk_in(core::mem::take(&mut slot.packed), slot.nchunk)?;
                decode_into(&packed, &mut slot.data, &mut slot.decoder)?;
                slot.packed = packed.into_bytes();
                Ok(())
            },
            |slot| write(&slot.data),
        )?;
        Ok(written)
    }

    fn decoder(&self) -> Decoder {
        Decoder::new(self.options.dparams.clone())
    }

    /// A cursor over the data.
    #[must_use]
    pub fn reader(&self) -> DataReader<'_, S> {
        DataReader::new(self)
    }

    /// Bytes behind the last chunk. An append by the original can leave some; they mean nothing.
    ///
    /// # Errors
    ///
    /// As [`packed_chunk`](Self::packed_chunk) of the last chunk, or those of a walk.
    pub fn trailing_bytes(&self) -> Result<u64> {
        Ok(self.len.saturating_sub(self.chunks_end()?))
    }

    /// How it is read.
    #[must_use]
    pub const fn options(&self) -> &ReadOptions {
        &self.options
    }

    /// Where the last chunk ends (bytes from the start of the file).
    pub(crate) fn chunks_end(&self) -> Result<u64> {
        match self.header().nchunks {
            Some(0) => Ok(self.preamble.chunks_at),
            Some(nchunks) if self.preamble.position(nchunks - 1).is_some() => {
                let at = self.position(nchunks - 1)?;
                let header = read_header(&mut self.input(at), self.expected(nchunks - 1))?;
                let cbytes = header.map_or(0, |(header, _)| header.cbytes() as u64);
                Ok(at + cbytes + self.header().checksum.digest_len() as u64)
            }
            _ => Ok(self.index()?.end()),
        }
    }

    /// The store.
    pub fn into_inner(self) -> S {
        self.store.into_inner()
    }

    pub(crate) fn preamble(&self) -> &Preamble {
        &self.preamble
    }

    /// The chunks as a walk finds them.
    pub(crate) fn index(&self) -> Result<&Index> {
        if let Some(index) = self.index.get() {
            return Ok(index);
        }
        let index = Index::walk(self)?;
        Ok(self.index.get_or_init(|| index))
    }

    pub(crate) fn input(&self, at: u64) -> Input<StoreReader<'_, Before<S>>> {
        Input::new(StoreReader::new(&self.store, at), at, Some(self.len))
    }

    pub(crate) fn expected(&self, nchunk: u64) -> Expected<'_> {
        Expected {
            nchunk,
            header: &self.preamble.header,
            limits: &self.options.dparams.limits,
            digests: self.options.digests,
        }
    }

    fn check_number(&self, nchunk: u64) -> Result<()> {
        let nchunks = self.nchunks()?;
        if nchunk < nchunks { Ok(()) } else { Err(Param::NoChunk { nchunk, nchunks }.into()) }
    }
}

/// What a thread needs to decode a chunk.
struct Slot {
    nchunk: u64,
    packed: Vec<u8>,
    data: Vec<u8>,
    decoder: Decoder,
}

fn read_preamble<S: ReadAt>(
    store: &Before<S>,
    len: u64,
    options: &ReadOptions,
) -> Result<Preamble> {
    let mut input = Input::new(StoreReader::new(store, 0), 0, Some(len));
    let preamble = Preamble::read(&mut input, options)?;
    input.check_chunks(&preamble)?;
    Ok(preamble)
}

/// A store, read from a position on.
#[derive(Debug)]
pub(crate) struct StoreReader<'a, S> {
    store: &'a S,
    at: u64,
}

impl<'a, S> StoreReader<'a, S> {
    pub(crate) const fn new(store: &'a S, at: u64) -> Self {
        Self { store, at }
    }
}

impl<S: ReadAt> Read for StoreReader<'_, S> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.store.read_at(self.at, buf)?;
        self.at += n as u64;
        Ok(n)
    }
}

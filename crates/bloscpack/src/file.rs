//! Random access to the chunks and data of a file ("Reader algorithm" in the format document).

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "positions and sizes were compared with the length of the file when they were read"
)]

mod data;
mod index;
mod stale;
mod verify;

use core::ops::Range;
use std::io::{self, Read};
use std::path::Path;
use std::sync::OnceLock;

use blosc_chunk::{Chunk, Decoder, Scratch};
use blosc_container::parallel::in_order_by_workers;
use blosc_container::{
    Budget,
    chunk_reader::{ChunkReader, ReadError},
};
use blosc_io::{FileStore, ReadAt, Stamp};

use crate::chunk::{Expected, read_chunk_to, read_header};
use crate::decoding::{Decoding, decode_into};
use crate::input::Input;
use crate::journal::Before;
use crate::preamble::Preamble;
use crate::reader::{check_position, check_total};
use crate::{
    Blame, Checksum, Corrupt, Error, Header, Metadata, MetadataHeader, Offsets, PackedChunk, Param,
    RcHeader, ReadOptions, Result,
};

pub use data::DataReader;
pub(crate) use index::Index;
pub use verify::{Note, Report};

/// Ranges up to this length (bytes) are read block by block, longer ones by all threads.
const MAX_BLOCKWISE_NBYTES: usize = 4 << 20;

/// A file with random access to its chunks and data.
///
/// Opening reads the parts before the chunks. The positions of the chunks come from the offsets;
/// without offsets, the first request walks over the chunk headers. Reading needs `&self`.
///
/// If an append was interrupted, the file shows its former state. If another program appends while
/// the file is open, the file keeps the data that it had when it was opened.
///
/// ```
/// use blosc_io::MemStore;
/// use bloscpack::{BlpFile, WriteOptions, pack};
///
/// let data: Vec<u8> = (0..1000_u32).flat_map(u32::to_le_bytes).collect();
/// let blp = pack(&data, WriteOptions::default().chunksize(1024))?;
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
    /// The stamp of the file when it was opened.
    stamp: Option<Stamp>,
    /// Made by a walk, when one is first needed.
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
        let path = path.as_ref();
        let store = FileStore::open(path).map_err(Error::open(path))?;
        Self::with_options(store, options)
    }
}

impl<S: ReadAt> BlpFile<S> {
    /// Takes a store that holds a file, and reads the parts before the chunks.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`], [`Error::UnknownVersion`] or [`Error::MetadataFormat`] if those parts
    /// are damaged or unknown, [`Error::Limit`] or [`Error::Io`].
    pub fn new(store: S) -> Result<Self> {
        Self::with_options(store, ReadOptions::default())
    }

    /// As [`new`](Self::new), with options.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with_options(store: S, options: ReadOptions) -> Result<Self> {
        let mut store = Before::unread(store);
        let (stamp, (len, read)) = stale::read_unchanged(&mut store, |store| {
            let len = store.len().map_err(|source| Error::io(0, source))?;
            match read_preamble(store, len, &options) {
                Err(error @ Error::Io { .. }) => Err(error),
                read => Ok((len, read)),
            }
        })?;
        let mut file = match read {
            Ok(preamble) => Self { store, preamble, options, len, stamp, index: OnceLock::new() },
            Err(error) => Self::detect_rc(store, (len, stamp), options, error)?,
        };
        file.options.rc_header = RcHeader::Never;
        check_total(file.header(), &file.options)?;
        check_position(&file.preamble, 0, file.preamble.chunks_at)?;
        Ok(file)
    }

    /// Tries the header of a release candidate on a file that cannot be opened otherwise. The file
    /// has that header if it consists of exactly the chunks that the header counts.
    fn detect_rc(
        store: Before<S>,
        (len, stamp): (u64, Option<Stamp>),
        options: ReadOptions,
        error: Error,
    ) -> Result<Self> {
        if options.rc_header != RcHeader::Detect || error.blame() == Blame::Io {
            return Err(error);
        }
        let options = options.rc_header(RcHeader::Assume);
        let Ok(preamble) = read_preamble(&store, len, &options) else { return Err(error) };
        let file = Self { store, preamble, options, len, stamp, index: OnceLock::new() };
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

    /// Storage of the metadata, if there are any.
    #[must_use]
    pub const fn metadata_header(&self) -> Option<&MetadataHeader> {
        self.preamble.metadata_header.as_ref()
    }

    /// The metadata, unless there are none or they are ignored.
    #[must_use]
    pub const fn metadata(&self) -> Option<&Metadata> {
        self.preamble.metadata.as_ref()
    }

    /// The offsets, if there are any.
    #[must_use]
    pub const fn offsets(&self) -> Option<&Offsets> {
        self.preamble.offsets.as_ref()
    }

    /// Position of the offsets section, or of the place for one (bytes from the start of the file).
    #[must_use]
    pub fn offsets_position(&self) -> u64 {
        self.preamble.offsets_at()
    }

    /// Length of the file (bytes); after an interrupted append, its former length.
    #[must_use]
    pub const fn file_len(&self) -> u64 {
        self.len
    }

    /// Whether a change was interrupted, so that the file shows its former state. The next append
    /// or [`recover`](crate::recover) restores it.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.store.is_interrupted()
    }

    /// Number of chunks.
    ///
    /// # Errors
    ///
    /// The errors of a walk, if the header does not tell the number.
    pub fn nchunks(&self) -> Result<u64> {
        self.header().nchunks.map_or_else(|| Ok(self.index()?.nchunks()), Ok)
    }

    /// Bytes of data.
    ///
    /// # Errors
    ///
    /// The errors of a walk, if the header does not tell the size.
    pub fn nbytes(&self) -> Result<u64> {
        self.header().nbytes().map_or_else(|| Ok(self.index()?.nbytes()), Ok)
    }

    /// Position of a chunk (bytes from the start of the file).
    ///
    /// # Errors
    ///
    /// [`Param::NoChunk`] if there is no such chunk, or the errors of a walk.
    pub fn position(&self, nchunk: u64) -> Result<u64> {
        self.check_number(nchunk)?;
        match self.preamble.position(nchunk) {
            Some(at) => Ok(at),
            None => self.index()?.position(nchunk),
        }
    }

    /// The range of the data that a chunk holds (bytes).
    ///
    /// # Errors
    ///
    /// As [`position`](Self::position).
    pub fn chunk_range(&self, nchunk: u64) -> Result<Range<u64>> {
        self.check_number(nchunk)?;
        let header = self.header();
        match (header.uniform_size(), header.nbytes()) {
            (Some(chunksize), Some(nbytes)) if chunksize > 0 => {
                let start = nchunk * u64::from(chunksize);
                let end = if nchunk + 1 == self.nchunks()? {
                    nbytes
                } else {
                    start + u64::from(chunksize)
                };
                Ok(start..end)
            }
            _ => self.index()?.range(nchunk),
        }
    }

    /// The chunk that holds the byte `at` of the data; the caller checked that there is one.
    fn chunk_of(&self, at: u64) -> Result<u64> {
        match self.header().uniform_size() {
            Some(chunksize) if chunksize > 0 => {
                let last = self.nchunks()?.saturating_sub(1);
                Ok(at.checked_div(chunksize.into()).unwrap_or(0).min(last))
            }
            _ => Ok(self.index()?.chunk_of(at)),
        }
    }

    /// A chunk as stored in the file, its digest checked.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] or [`Error::Chunk`] if the chunk is cut or contradicts the file's header
    /// and offsets, [`Param::NoChunk`], [`Error::Limit`] or [`Error::Io`].
    pub fn packed_chunk(&self, nchunk: u64) -> Result<PackedChunk> {
        self.packed_chunk_in(vec![], nchunk)
    }

    /// As [`packed_chunk`](Self::packed_chunk), in a buffer left from another chunk.
    fn packed_chunk_in(&self, buffer: Vec<u8>, nchunk: u64) -> Result<PackedChunk> {
        let at = self.position(nchunk)?;
        let read = self.read_packed(buffer, nchunk, at);
        if self.is_rewritten(nchunk) || read.is_err() && self.is_changed() {
            return self.reread(nchunk, at);
        }
        read
    }

    fn read_packed(&self, buffer: Vec<u8>, nchunk: u64, at: u64) -> Result<PackedChunk> {
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

    /// Replaces `data` by the data of a chunk, with a reusable decoder.
    ///
    /// # Errors
    ///
    /// As [`chunk`](Self::chunk).
    pub fn chunk_into(&self, nchunk: u64, data: &mut Vec<u8>, decoder: &mut Decoder) -> Result<()> {
        decode_into(&self.packed_chunk(nchunk)?, data, decoder)
    }

    /// Fills `buf` with the stored bytes of the file from byte `at` on, in their state before an
    /// interrupted change.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], also if the file ends too early.
    pub fn read_stored_at(&self, at: u64, buf: &mut [u8]) -> Result<()> {
        self.store.read_exact_at(at, buf).map_err(|source| Error::io(at, source))
    }

    /// Fills `buf` with the data from byte `at` on and returns their number: fewer than requested
    /// only at the end.
    ///
    /// Reads and decodes only the blocks of each chunk that hold these data. If the file has
    /// digests and they are checked, which is the default, reads whole chunks, since a digest
    /// covers a whole chunk; see [`Mismatch::Ignore`](crate::Mismatch::Ignore).
    ///
    /// # Errors
    ///
    /// As [`chunk`](Self::chunk). Damage in blocks that are not read stays unnoticed.
    pub fn read_at(&self, at: u64, buf: &mut [u8]) -> Result<usize> {
        let nbytes = self.nbytes()?;
        let len = usize::try_from(nbytes.saturating_sub(at)).unwrap_or(usize::MAX).min(buf.len());
        let mut scratch = Scratch::new(&self.options.dparams);
        let (mut stored, mut rest) = (vec![], buf.get_mut(..len).unwrap_or_default());
        let mut from = at;
        while !rest.is_empty() {
            let nchunk = self.chunk_of(from)?;
            let range = self.chunk_range(nchunk)?;
            let in_chunk = usize::try_from(range.end.saturating_sub(from)).unwrap_or(usize::MAX);
            let (part, after) = rest.split_at_mut(in_chunk.min(rest.len()));
            // A chunk has less than 2 GiB of data.
            let start = usize::try_from(from.saturating_sub(range.start)).unwrap_or(usize::MAX);
            self.read_part(nchunk, start, part, &mut stored, &mut scratch)?;
            from = from.saturating_add(part.len() as u64);
            rest = after;
        }
        Ok(len)
    }

    /// Fills `part` with the data of a chunk from byte `start` on. `stored` is a buffer for bytes
    /// of the file.
    fn read_part(
        &self,
        nchunk: u64,
        start: usize,
        part: &mut [u8],
        stored: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let at = self.position(nchunk)?;
        let range = start..start.saturating_add(part.len());
        let in_chunk = |source| Error::Chunk { nchunk, at, source };
        let is_checked = self.options.mismatch.is_compared();
        if !is_checked || self.header().checksum == Checksum::None {
            match self.open_chunk(nchunk, at, stored) {
                Ok(Some(mut chunk)) => {
                    let decoded = chunk.decode(range.clone(), part, scratch);
                    if !self.is_rewritten(nchunk) && (decoded.is_ok() || !self.is_changed()) {
                        return decoded.map_err(|error| match error {
                            ReadError::Io { at, source, .. } => Error::io(at, source),
                            ReadError::Chunk(source) => in_chunk(source),
                        });
                    }
                }
                Err(ReadError::Io { at, source, .. }) if !self.is_changed() => {
                    return Err(Error::io(at, source));
                }
                // Reading the whole chunk gives the right error.
                Ok(None) | Err(_) => {}
            }
        }
        let packed = self.packed_chunk_in(core::mem::take(stored), nchunk)?;
        let read = Chunk::parse(packed.bytes()).and_then(|c| c.read_bytes(range, part, scratch));
        *stored = packed.into_bytes();
        read.map_err(in_chunk)
    }

    /// The chunk at byte `at` of the file, to read blocks of it; `None` if its header cannot be
    /// that of chunk `nchunk`, or if it does not end at the next chunk.
    fn open_chunk<'a>(
        &'a self,
        nchunk: u64,
        at: u64,
        buffer: &'a mut Vec<u8>,
    ) -> Result<Option<ChunkReader<'a>>, ReadError> {
        let digest_len = self.header().checksum.digest_len() as u64;
        let available = self.len.saturating_sub(at).saturating_sub(digest_len);
        let chunk = ChunkReader::open(&self.store, at, available, buffer)?;
        let header = chunk.header();
        let end = at.saturating_add(header.cbytes() as u64).saturating_add(digest_len);
        let is_expected = self.expected(nchunk).check(header, at).is_ok()
            && check_position(&self.preamble, nchunk.saturating_add(1), end).is_ok();
        Ok(is_expected.then_some(chunk))
    }

    /// Passes the data of the chunks to `each` in order. Several chunks are decoded at a time,
    /// while this thread reads later ones and passes on earlier ones.
    ///
    /// # Errors
    ///
    /// As [`chunk`](Self::chunk), and the errors of `each`. Data before an error are passed on,
    /// data after it are not.
    pub fn decode_ordered<E: From<Error>>(
        &self,
        chunks: Range<u64>,
        budget: Budget,
        mut each: impl FnMut(u64, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut chunks = chunks;
        let options = self.options.clone().budget(budget);
        Decoding::new(&options).for_each(
            &mut || chunks.next().map(|nchunk| self.packed_chunk(nchunk)).transpose(),
            &mut |chunk, data| each(chunk.nchunk(), data),
        )
    }

    /// Passes the bytes `range` of the data to `each`, piece by piece in order. Up to 4 MiB are
    /// read block by block, as by [`read_at`](Self::read_at), longer ranges chunk by chunk.
    ///
    /// # Errors
    ///
    /// As [`chunk`](Self::chunk), also for bytes past the end, and the errors of `each`. Data
    /// before an error are passed on if the range exceeds 4 MiB or is all data.
    pub fn decode_range<E: From<Error>>(
        &self,
        range: Range<u64>,
        budget: Budget,
        mut each: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(last) = range.end.checked_sub(1).filter(|_| !range.is_empty()) else {
            return Ok(());
        };
        let inside = |at: u64, base: u64| usize::try_from(at.saturating_sub(base));
        let is_all = range == (0..self.nbytes()?);
        if let Ok(len @ ..=MAX_BLOCKWISE_NBYTES) = inside(range.end, range.start)
            && !is_all
        {
            let mut bytes = vec![0; len];
            let n = self.read_at(range.start, &mut bytes)?;
            return each(bytes.get(..n).unwrap_or_default());
        }
        let chunks = self.chunk_of(range.start)?..self.chunk_of(last)?.saturating_add(1);
        let mut at = self.chunk_range(chunks.start)?.start;
        self.decode_ordered(chunks, budget, |_, data| {
            let end = |position| inside(position, at).unwrap_or(usize::MAX).min(data.len());
            let piece = data.get(end(range.start)..end(range.end));
            at = at.saturating_add(data.len() as u64);
            piece.map_or(Ok(()), &mut each)
        })
    }

    /// Writes the data of the chunks to `to`, in order, and returns their length (bytes).
    ///
    /// Each thread reads a chunk, decodes it, and writes it once the chunks before it are written,
    /// so that its data stay in the thread's cache. With [`decode_ordered`](Self::decode_ordered)
    /// one thread sees all data.
    ///
    /// # Errors
    ///
    /// As [`chunk`](Self::chunk); [`Error::Io`] also if writing fails. Data before an error are
    /// written, data after it are not.
    pub fn copy_to(&self, chunks: Range<u64>, to: &mut (dyn io::Write + Send)) -> Result<u64> {
        let mut written = 0;
        let mut write = |data: &[u8]| {
            to.write_all(data).map_err(|source| Error::io(written, source))?;
            written += data.len() as u64;
            Ok::<_, Error>(())
        };
        let budget = &self.options.budget;
        let Some(size) = self.header().uniform_size() else {
            self.decode_ordered(chunks, budget.clone(), |_, data| write(data))?;
            return Ok(written);
        };
        let nchunks =
            usize::try_from(chunks.end.saturating_sub(chunks.start)).unwrap_or(usize::MAX);
        let nworkers = budget.nworkers_for(u64::from(size).saturating_mul(2)).min(nchunks);
        let state =
            || WorkerScratch { nchunk: 0, packed: vec![], data: vec![], decoder: self.decoder() };
        let mut chunks = chunks;
        in_order_by_workers(
            (0..nworkers).map(|_| state()).collect(),
            |state| Ok(chunks.next().map(|nchunk| state.nchunk = nchunk).is_some()),
            |state| {
                let packed =
                    self.packed_chunk_in(core::mem::take(&mut state.packed), state.nchunk)?;
                decode_into(&packed, &mut state.data, &mut state.decoder)?;
                state.packed = packed.into_bytes();
                Ok(())
            },
            |state| write(&state.data),
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

    /// Bytes after the last chunk. An append by Bloscpack 0.16.0 can leave some; they have no
    /// meaning.
    ///
    /// # Errors
    ///
    /// As [`packed_chunk`](Self::packed_chunk) of the last chunk, or the errors of a walk.
    pub fn trailing_bytes(&self) -> Result<u64> {
        Ok(self.len.saturating_sub(self.chunks_end()?))
    }

    /// Reads the first of these bytes, until `buf` is full or the file ends; returns their number.
    ///
    /// # Errors
    ///
    /// As [`trailing_bytes`](Self::trailing_bytes).
    pub fn read_trailing(&self, buf: &mut [u8]) -> Result<usize> {
        self.input(self.chunks_end()?).up_to(buf)
    }

    /// The options for reading the file.
    #[must_use]
    pub const fn options(&self) -> &ReadOptions {
        &self.options
    }

    /// End of the last chunk (bytes from the start of the file).
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

    /// The index of the chunks, made by a walk.
    pub(crate) fn index(&self) -> Result<&Index> {
        if let Some(index) = self.index.get() {
            return Ok(index);
        }
        let index = Index::walk(self).map_err(|error| match error {
            Error::Io { .. } => error,
            _ if self.is_changed() => Error::ChangedByOther { at: 0 },
            _ => error,
        })?;
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
            mismatch: &self.options.mismatch,
        }
    }

    fn check_number(&self, nchunk: u64) -> Result<()> {
        let nchunks = self.nchunks()?;
        if nchunk < nchunks { Ok(()) } else { Err(Param::NoChunk { nchunk, nchunks }.into()) }
    }
}

/// The buffers that a thread needs to decode a chunk.
struct WorkerScratch {
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

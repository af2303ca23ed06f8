//! A super-chunk that lies in a frame, for reading.
//!
//! Opening reads header, trailer and index, never a chunk ("Reader algorithm" in
//! `docs/formats/cframe.md`). What is read later is checked then: `schunk/locate.rs` finds a chunk,
//! `schunk/read.rs` decodes parts of the data, `schunk/ordered.rs` all of it in order,
//! `schunk/verify.rs` looks for damage.

mod fetch;
mod gather;
mod locate;
mod ordered;
mod parallel;
mod prefetch;
mod read;
mod reader;
mod refresh;
mod state;
mod usage;
mod verify;

use core::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use blosc_chunk::{
    CParams, Chunk, ChunkHeader, CodecId, DParams, Dict, Level, Pipeline, Registries, SplitMode,
    Target,
};
use blosc_container::pool::Pool;
use blosc_io::{FileStore, LockWait, MemStore, ReadAt, Tree};

use crate::error::{Corrupt, Error, Limited, Result};
use crate::header::{ChunkSize, FIXED_LEN, FrameHeader, FrameType};
use crate::legacy::{self, FrameLayout, Parts};
use crate::metalayers::{Metalayer, Metalayers, Section};
use crate::nd::NdMeta;
use crate::offsets::Index;
use crate::params::OpenOptions;
use crate::probe::Kind;
use crate::seal::{self, Mark};
use crate::source::Source;
use crate::sparse::Folder;
use crate::trailer::{self, TrailerEnd};

pub use locate::{ChunkBytes, ChunkInfo, StoredInfo};
pub use read::Scratch;
pub use reader::Reader;
pub use refresh::Locked;
pub use usage::Usage;
pub use verify::{BadChunk, Note, VerifyReport};

pub(crate) use fetch::{ChunkPart, Fetched, located};
pub(crate) use locate::Location;
pub(crate) use prefetch::ChunkRanges;
pub(crate) use read::Buffers;
pub(crate) use refresh::open_settled;
pub(crate) use state::FrameState;

/// A super-chunk in a frame: chunks of compressed data with a common type and metalayers.
///
/// It can be shared between threads; all reading takes `&self`. It is a snapshot: what happens to
/// the file after opening is not seen.
///
/// ```
/// use b2frame::{FrameParams, SChunk, to_cframe};
///
/// let frame = to_cframe(b"some data", &FrameParams::default())?;
/// let schunk = SChunk::from_cframe(frame)?;
/// assert_eq!((schunk.nchunks(), schunk.nbytes()), (1, 9));
/// let mut four = [0; 4];
/// schunk.read_bytes(5, &mut four)?;
/// assert_eq!(&four, b"data");
/// # Ok::<(), b2frame::Error>(())
/// ```
pub struct SChunk {
    state: FrameState,
    layout: FrameLayout,
    options: OpenOptions,
    /// Of a frame with variable chunk sizes: where each chunk begins in the data.
    starts: OnceLock<Result<Vec<u64>, Corrupt>>,
    /// Buffers of readers.
    pool: Pool<Scratch>,
    /// The name it was opened by.
    path: Option<PathBuf>,
}

impl SChunk {
    /// Opens the frame that a file begins with, or a sparse frame, which is a directory. What
    /// follows the frame in the file is ignored.
    ///
    /// # Errors
    /// [`Error::Open`], or why the frame cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &OpenOptions::default())
    }

    /// Opens a frame in a file, or a sparse frame.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        Self::open_as(path.as_ref(), options, Ok)
    }

    /// Opens a frame in a file as what `take` makes of it, again if either fails because the frame
    /// is being written.
    pub(crate) fn open_as<T>(
        path: &Path,
        options: &OpenOptions,
        take: impl Fn(Self) -> Result<T>,
    ) -> Result<T> {
        let _lock = options.locking.shared(path, &LockWait::default())?;
        open_settled(path, || {
            let mut schunk = match Folder::find(path) {
                Some(folder) => Self::in_folder(folder.open_index()?, folder, options.clone())?,
                None => Self::from_store_with(open_file(path)?, options)?,
            };
            schunk.set_path(path);
            take(schunk)
        })
    }

    /// Opens the frame that a store begins with.
    ///
    /// # Errors
    /// Why the frame cannot be read.
    pub fn from_store(store: Arc<dyn ReadAt>) -> Result<Self> {
        Self::from_store_with(store, &OpenOptions::default())
    }

    /// Opens a frame in a store.
    ///
    /// # Errors
    /// Why the frame cannot be read.
    pub fn from_store_with(store: Arc<dyn ReadAt>, options: &OpenOptions) -> Result<Self> {
        Self::from_source(Source::new(store, options.offset), options.clone())
    }

    /// Opens a sparse frame whose files are in a tree: in memory, or in storage of the caller.
    ///
    /// # Errors
    /// Why the frame cannot be read.
    pub fn from_tree(tree: Arc<dyn Tree>, options: &OpenOptions) -> Result<Self> {
        let folder = Folder { tree };
        Self::in_folder(folder.open_index()?, folder, options.clone())
    }

    /// Opens a contiguous frame.
    pub(crate) fn from_source(source: Source, options: OpenOptions) -> Result<Self> {
        open_frame(source, None, options)
    }

    /// Opens a sparse frame whose index is this.
    pub(crate) fn in_folder(index: Source, folder: Folder, options: OpenOptions) -> Result<Self> {
        open_frame(index, Some(folder), options)
    }

    /// A frame of the current layout whose parts are known.
    pub(crate) fn from_state(state: FrameState, options: OpenOptions) -> Self {
        Self {
            state,
            layout: FrameLayout::Current,
            options,
            starts: OnceLock::new(),
            pool: Pool::default(),
            path: None,
        }
    }

    /// The parts of the frame.
    pub(crate) fn state(&self) -> &FrameState {
        &self.state
    }

    /// The parts of the frame, out of their reader.
    pub(crate) fn into_state(self) -> FrameState {
        self.state
    }

    /// The parts of the frame, to be changed by its editor. What was computed from them is dropped.
    pub(crate) fn state_mut(&mut self) -> &mut FrameState {
        self.starts = OnceLock::new();
        &mut self.state
    }

    /// The name it was opened by, as an absolute path.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Notes the name by which the frame can be opened again.
    pub(crate) fn set_path(&mut self, path: &Path) {
        self.path = std::path::absolute(path).ok();
    }

    /// Position of the index chunk in the store (bytes).
    pub(crate) fn index_position(&self) -> u64 {
        self.state.source.position(self.state.index.position())
    }

    /// What it was opened with.
    pub(crate) fn open_options(&self) -> &OpenOptions {
        &self.options
    }

    /// Takes a buffer that is one frame and nothing else.
    ///
    /// # Errors
    /// Why the frame cannot be read; [`Corrupt::BytesAfterFrame`] if there is more than a frame.
    pub fn from_cframe(frame: Vec<u8>) -> Result<Self> {
        let available = frame.len() as u64;
        let schunk = Self::from_store(Arc::new(MemStore::new(frame)))?;
        let frame_len = schunk.state.header.frame_len();
        if frame_len != available {
            return Err(Error::Corrupt {
                at: 0x10,
                what: Corrupt::BytesAfterFrame { frame_len, available },
            });
        }
        Ok(schunk)
    }

    /// The layout of the frame. Those of the 2.0.0 betas are for reading only.
    #[must_use]
    pub fn layout(&self) -> FrameLayout {
        self.layout
    }

    /// The header; of an older layout in today's terms.
    #[must_use]
    pub fn header(&self) -> &FrameHeader {
        &self.state.header
    }

    /// Number of chunks.
    #[must_use]
    pub fn nchunks(&self) -> u64 {
        self.state.index.nchunks()
    }

    /// Uncompressed bytes of all chunks. Of an array this includes the padding of its chunks.
    #[must_use]
    pub fn nbytes(&self) -> u64 {
        self.state.header.nbytes()
    }

    /// Length of the data section (bytes): all chunks, and what they left behind when they were
    /// replaced. See [`usage`](Self::usage) for the chunks alone.
    #[must_use]
    pub fn cbytes(&self) -> u64 {
        self.state.header.cbytes()
    }

    /// Length of the whole frame (bytes).
    #[must_use]
    pub fn frame_len(&self) -> u64 {
        self.state.header.frame_len()
    }

    /// Position of the frame in its file (bytes).
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.state.source.base()
    }

    /// Length of the index chunk (bytes).
    #[must_use]
    pub fn index_len(&self) -> u64 {
        self.state.index.cbytes()
    }

    /// Length of the trailer (bytes).
    #[must_use]
    pub fn trailer_len(&self) -> u64 {
        self.state.trailer_len.into()
    }

    /// Bytes of an item.
    #[must_use]
    pub fn typesize(&self) -> usize {
        usize::try_from(self.state.header.typesize().get()).unwrap_or(usize::MAX)
    }

    /// Uncompressed bytes of a chunk.
    #[must_use]
    pub fn chunksize(&self) -> ChunkSize {
        self.state.header.chunksize()
    }

    /// The codecs and filters there are.
    pub(crate) fn registries(&self) -> &Registries {
        &self.options.dparams.registries
    }

    /// How chunks are decoded.
    pub(crate) fn dparams(&self) -> &DParams {
        &self.options.dparams
    }

    /// The parameters that the header gives for new chunks. Each chunk describes itself; see
    /// [`chunk_info`](Self::chunk_info).
    #[must_use]
    pub fn cparams(&self) -> CParams {
        let header = &self.state.header;
        let blocksize = header.blocksize().and_then(|size| usize::try_from(size.get()).ok());
        let split = match header.split_mode() {
            0 => SplitMode::Always,
            1 => SplitMode::Never,
            2 => SplitMode::Auto,
            _ => SplitMode::ForwardCompat,
        };
        let dict = if header.uses_dict() { Dict::Train { max: MAX_DICT } } else { Dict::None };
        CParams::default()
            .codec(CodecId(header.codec()))
            .codec_meta(header.codec_meta())
            .clevel(Level::try_from(header.clevel()).unwrap_or(Level::BEST))
            .typesize(self.typesize())
            .filters(Pipeline::from_slots(header.filters(), header.filters_meta()))
            .blocksize(blocksize)
            .split(split)
            .dict(dict)
    }

    /// The same for new chunks: with the codecs and filters there are, and for readers that know
    /// what the frame has.
    pub(crate) fn own_cparams(&self) -> CParams {
        for_its_readers(self.cparams().registries(self.registries().clone()))
    }

    /// The metalayers, contents as stored.
    #[must_use]
    pub fn meta(&self) -> &Metalayers {
        &self.state.meta
    }

    /// The vlmetalayers.
    #[must_use]
    pub fn vlmeta(&self) -> VlMeta<'_> {
        VlMeta { schunk: self }
    }
}

impl SChunk {
    /// Frames of beta.1 do not say how they were filtered, but chunks do.
    fn take_filters_of_first_chunk(&mut self) {
        // Damage is reported when the chunk is read.
        if let Ok(ChunkInfo { stored: Some(stored), .. }) = self.chunk_info(0) {
            self.state.header.set_filters(stored.pipeline.ids(), stored.pipeline.metas());
        }
    }
}

impl fmt::Debug for SChunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SChunk")
            .field("offset", &self.offset())
            .field("header", &self.state.header)
            .finish_non_exhaustive()
    }
}

/// The vlmetalayers of a super-chunk. Their contents are stored compressed.
#[derive(Clone, Copy, Debug)]
pub struct VlMeta<'a> {
    schunk: &'a SChunk,
}

impl<'a> VlMeta<'a> {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.stored().len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.stored().is_empty()
    }

    /// Names, with contents as stored: each is a chunk.
    #[must_use]
    pub fn stored(&self) -> &'a Metalayers {
        &self.schunk.state.vlmeta
    }

    /// The content of the first one of this name.
    ///
    /// # Errors
    /// Why it cannot be decoded.
    pub fn get(&self, name: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
        self.stored().get(name).map(|layer| self.decode(layer)).transpose()
    }

    /// Decodes the content of one of [`stored`](Self::stored).
    ///
    /// # Errors
    /// [`Error::VlMeta`], [`Error::Limit`], or [`Corrupt::VlMetaCbytes`].
    pub fn decode(&self, layer: Metalayer<'_>) -> Result<Vec<u8>> {
        let trailer = self.schunk.frame_len().saturating_sub(self.schunk.trailer_len());
        let at = self.schunk.state.source.position(trailer.saturating_add(layer.position));
        let vlmeta = |source| Error::VlMeta { name: layer.name_text().into_owned(), at, source };
        let header = ChunkHeader::parse(layer.content).map_err(vlmeta)?;
        let (cbytes, len) = (header.cbytes() as u64, layer.content.len() as u64);
        if cbytes != len {
            return Err(Error::Corrupt { at, what: Corrupt::VlMetaCbytes { cbytes, len } });
        }
        check_limit(Limited::VlMeta, header.nbytes() as u64, self.schunk.options.max_metadata)?;
        let mut content = vec![0; header.nbytes()];
        let chunk = Chunk::parse(layer.content).map_err(vlmeta)?;
        let mut scratch = blosc_chunk::Scratch::new(&self.schunk.options.dparams);
        chunk.decode_into(&mut content, &mut scratch).map_err(vlmeta)?;
        Ok(content)
    }
}

/// Parameters of a frame that is there. If they ask for what only newer readers know, those read
/// its other chunks, too.
pub(crate) fn for_its_readers(cparams: CParams) -> CParams {
    let newer = cparams.clone().target(Target::Blosc3_0);
    if cparams.check().is_err() && newer.check().is_ok() { newer } else { cparams }
}

/// Size of dictionaries that C-Blosc2 aims at (bytes); the header only says whether there are any.
const MAX_DICT: usize = 32 << 10;

/// Reads of a header whose length others change between any two of them.
const MAX_HEADER_READS: usize = 10;

/// Opens a file for reading.
pub(crate) fn open_file(path: &Path) -> Result<Arc<dyn ReadAt>> {
    match FileStore::open(path) {
        Ok(file) => Ok(Arc::new(file)),
        Err(source) => Err(Error::Open { source }),
    }
}

/// Header, trailer, index: in this order, since each needs the one before.
fn open_frame(source: Source, folder: Option<Folder>, options: OpenOptions) -> Result<SChunk> {
    let available = source.available()?;
    let (head, len) = source.read_head::<FIXED_LEN>(0, available)?;
    let head = head.get(..len).unwrap_or_default();
    let layout = FrameLayout::recognize(head, available)?;
    if source.prefetch_limit() > 0 {
        prefetch::announce_metadata(&source, head);
    }
    let parts = if layout == FrameLayout::Current {
        read_parts(&source, head, available, folder.is_some(), &options)?
    } else {
        legacy::read(&source, layout, head, available, &options)?
    };
    let Parts { header, meta, vlmeta, trailer_len, mark } = parts;
    let options = options.for_items_of(&header, &meta);
    check_type(&header, folder.is_some())?;
    let index = if header.nbytes() == 0 {
        Index::empty()
    } else {
        let end = header.frame_len().saturating_sub(trailer_len.into());
        Index::open(&source, &header, end, options.max_index, &options.dparams)?
    };
    let state = FrameState { source, folder, header, trailer_len, meta, vlmeta, mark, index };
    let mut schunk = SChunk { layout, ..SChunk::from_state(state, options) };
    if layout == FrameLayout::Beta1 {
        schunk.take_filters_of_first_chunk();
    }
    Ok(schunk)
}

/// Everything but index and chunks of a frame in the current layout.
fn read_parts(
    source: &Source,
    head: &[u8],
    available: u64,
    is_folder: bool,
    options: &OpenOptions,
) -> Result<Parts> {
    let (header, meta) = read_header(source, head, available, |header| {
        check_type(header, is_folder)?;
        check_limit(Limited::Metadata, header.header_len().into(), options.max_metadata)
    })?;
    let (trailer_len, vlmeta, mark) = read_trailer(source, &header, options.max_metadata)?;
    Ok(Parts { header, meta, vlmeta, trailer_len, mark })
}

impl OpenOptions {
    /// With what some codecs and filters must know of a frame to decode its chunks: the shape of
    /// blocks, and how wide items really are. What the caller chose is left.
    pub(crate) fn for_items_of(mut self, header: &FrameHeader, meta: &Metalayers) -> Self {
        let layer = meta.get(NdMeta::NAME).or_else(|| meta.get(NdMeta::OLD_NAME));
        // What is wrong with the description matters to those who want an array.
        let shapes = layer.and_then(|layer| NdMeta::parse(layer.content).ok());
        let dparams = &mut self.dparams;
        if let (None, Some(shapes)) = (&dparams.blockshape, shapes) {
            dparams.blockshape = Some(Arc::from(shapes.blockshape()));
        }
        dparams.schunk_typesize =
            dparams.schunk_typesize.or_else(|| usize::try_from(header.typesize().get()).ok());
        self
    }
}

/// A directory holds the index of a sparse frame, a file a contiguous one.
fn check_type(header: &FrameHeader, is_folder: bool) -> Result<()> {
    match header.frame_type() {
        FrameType::Contiguous if is_folder => Err(Error::corrupt(0x1a, Corrupt::NotSparse)),
        FrameType::Sparse if !is_folder => Err(Error::Sparse),
        _ => Ok(()),
    }
}

/// The header and its metalayers as one commit left them. A writer replaces both in one write, and
/// that may come after the read of `head`: what counts is the read of the whole.
fn read_header(
    source: &Source,
    head: &[u8],
    available: u64,
    check: impl Fn(&FrameHeader) -> Result<()>,
) -> Result<(FrameHeader, Metalayers)> {
    let mut header = parse_header(source, head, available)?;
    for _ in 0..MAX_HEADER_READS {
        check(&header)?;
        let len = header.header_len();
        let bytes = source.read_vec(0, usize::try_from(len).unwrap_or(usize::MAX))?;
        let now = bytes.get(..FIXED_LEN).unwrap_or_default();
        if now != head {
            header = parse_header(source, now, source.available()?)?;
        }
        if header.header_len() == len {
            let meta = Metalayers::parse(bytes, Section::HEADER);
            return Ok((header, meta.map_err(|error| error.moved(source.base()))?));
        }
    }
    Err(Error::ChangedByOther)
}

/// The fixed part of the header, checked against the length of the file.
fn parse_header(source: &Source, head: &[u8], available: u64) -> Result<FrameHeader> {
    if head.is_empty() {
        return Err(Error::NotAFrame { found: Kind::Empty });
    }
    let header = FrameHeader::parse(head).map_err(|error| error.moved(source.base()))?;
    let frame_len = header.frame_len();
    // It may have grown since `available` was looked up.
    if frame_len > available && frame_len > source.available()? {
        let what = Corrupt::FrameTruncated { frame_len, available };
        return Err(Error::Corrupt { at: source.position(0x10), what });
    }
    Ok(header)
}

/// The metalayers, with positions in the frame.
pub(crate) fn read_meta(source: &Source, header: &FrameHeader) -> Result<Metalayers> {
    let len = usize::try_from(header.header_len()).unwrap_or(usize::MAX);
    let mut bytes = vec![0; len];
    // The fixed part was read already; zeros stand in for it, since positions count from the
    // frame's start.
    source.read_into(FIXED_LEN as u64, bytes.get_mut(FIXED_LEN..).unwrap_or_default())?;
    Metalayers::parse(bytes, Section::HEADER).map_err(|error| error.moved(source.base()))
}

/// The length of the trailer and what is in it.
pub(crate) fn read_trailer(
    source: &Source,
    header: &FrameHeader,
    max: u64,
) -> Result<(u32, Metalayers, Mark)> {
    let (trailer_len, (kind, fingerprint), mut vlmeta) =
        read_trailer_as(source, header, max, trailer::parse, |end, room| {
            let TrailerEnd { trailer_len, kind, fingerprint } = TrailerEnd::parse(end, room)?;
            Ok((trailer_len, (kind, fingerprint)))
        })?;
    let layer = vlmeta.take(seal::LAYER);
    Ok((trailer_len, vlmeta, Mark { kind, fingerprint, layer }))
}

/// The length of a trailer of any layout, what its last bytes say, and what is in it. `parse_end`
/// takes the last bytes, and how many bytes may be trailer at most.
pub(crate) fn read_trailer_as<E>(
    source: &Source,
    header: &FrameHeader,
    max: u64,
    parse: impl FnOnce(Vec<u8>) -> Result<Metalayers>,
    parse_end: impl FnOnce([u8; trailer::END_LEN], u64) -> Result<(u32, E)>,
) -> Result<(u32, E, Metalayers)> {
    let frame_len = header.frame_len();
    let end_at = frame_len.saturating_sub(trailer::END_LEN as u64);
    let room = frame_len.saturating_sub(header.header_len().into());
    let mut end = [0; trailer::END_LEN];
    source.read_into(end_at, &mut end)?;
    let (trailer_len, end) =
        parse_end(end, room).map_err(|error| error.moved(source.position(end_at)))?;
    check_limit(Limited::Metadata, trailer_len.into(), max)?;
    let at = frame_len.saturating_sub(trailer_len.into());
    let bytes = source.read_vec(at, usize::try_from(trailer_len).unwrap_or(usize::MAX))?;
    let layers = parse(bytes).map_err(|error| error.moved(source.position(at)))?;
    Ok((trailer_len, end, layers))
}

/// Whether `nbytes` bytes may be allocated.
pub(crate) fn check_limit(what: Limited, nbytes: u64, limit: u64) -> Result<()> {
    if nbytes <= limit { Ok(()) } else { Err(Error::Limit { what, nbytes, limit }) }
}

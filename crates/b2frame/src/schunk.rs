//! A super-chunk in a frame, for reading.
//!
//! Opening reads header, trailer and index, never a chunk ("Reader algorithm" in
//! `docs/formats/cframe.md`): this is the state, in `schunk/state.rs`. A super-chunk never changes
//! its state; a `Draft` (`schunk/draft.rs`) owns and changes it. Later reads check their own data:
//! `schunk/locate.rs` finds a chunk, `schunk/read.rs` decodes parts of the data,
//! `schunk/ordered.rs` all of it in order, `schunk/verify.rs` looks for damage.

mod draft;
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
use core::sync::atomic::{AtomicBool, Ordering};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use blosc_chunk::{
    CParams, Chunk, ChunkHeader, CodecId, DParams, Dict, Level, Pipeline, Registries, SplitMode,
    Target,
};
use blosc_container::pool::Pool;
use blosc_io::{FileStore, LockWait, MemStore, ReadAt, Tree};

use crate::error::{Corrupt, Error, Limited, Result};
use crate::header::{ChunkSize, FrameHeader};
use crate::legacy::FrameLayout;
use crate::metalayers::{Metalayer, Metalayers};
use crate::params::OpenOptions;
use crate::seal::SealWatch;
use crate::source::Source;
use crate::sparse::Folder;

pub use locate::{ChunkBytes, ChunkInfo, StoredInfo};
pub use read::Scratch;
pub use reader::Reader;
pub use refresh::Locked;
pub use usage::Usage;
pub use verify::{BadChunk, Note, VerifyReport};

pub(crate) use draft::Draft;
pub(crate) use fetch::{ChunkPart, Fetched, located};
pub(crate) use locate::Location;
pub(crate) use prefetch::ChunkRanges;
pub(crate) use read::Buffers;
pub(crate) use refresh::open_settled;
pub(crate) use state::{FrameState, Parts, read_meta, read_trailer, read_trailer_as};

/// A super-chunk in a frame: chunks of compressed data with a common type and metalayers.
///
/// Threads can share it; all reading takes `&self`. It is a snapshot: later changes of the file are
/// invisible.
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
    state: Arc<FrameState>,
    context: Arc<ReadContext>,
    /// In a frame with variable chunk sizes: the position of each chunk in the data.
    starts: OnceLock<Result<Vec<u64>, Corrupt>>,
    /// Whether reads compare chunks with the seal.
    is_watched: bool,
    /// The comparison; contains `None` if there is no seal.
    watch: OnceLock<Option<SealWatch>>,
    /// Whether a frame without a seal was found to match its outer sum.
    is_outer_right: AtomicBool,
}

/// The context of reading beside the frame, which all snapshots of a frame share.
struct ReadContext {
    options: OpenOptions,
    /// Buffers for reading.
    pool: Pool<Scratch>,
}

impl SChunk {
    /// Opens the frame at the beginning of a file, or a sparse frame, which is a directory. Bytes
    /// after the frame are ignored.
    ///
    /// # Errors
    /// [`Error::Open`], or the error of reading the frame.
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

    /// Opens a frame in a file and lets `take` convert it. Tries again if either fails because the
    /// frame is being written.
    pub(crate) fn open_as<T>(
        path: &Path,
        options: &OpenOptions,
        take: impl Fn(Self) -> Result<T>,
    ) -> Result<T> {
        let _lock = options.locking.shared(path, &LockWait::default())?;
        open_settled(path, || {
            // Most frames are files: the index in a folder is looked for only if this fails.
            let (source, folder) = match open_file(path) {
                Ok(file) => (Source::new(file, options.offset), None),
                Err(error) => {
                    let folder = Folder::find(path)?.ok_or(error)?;
                    (folder.open_index()?, Some(folder))
                }
            };
            let mut draft = Draft::open(source, folder, options.clone())?;
            draft.change().set_path(path);
            take(draft.finish())
        })
    }

    /// Opens the frame at the beginning of a store.
    ///
    /// # Errors
    /// The error of reading the frame.
    pub fn from_store(store: Arc<dyn ReadAt>) -> Result<Self> {
        Self::from_store_with(store, &OpenOptions::default())
    }

    /// Opens a frame in a store.
    ///
    /// # Errors
    /// The error of reading the frame.
    pub fn from_store_with(store: Arc<dyn ReadAt>, options: &OpenOptions) -> Result<Self> {
        let source = Source::new(store, options.offset);
        Draft::open(source, None, options.clone()).map(Draft::finish)
    }

    /// Opens a sparse frame whose files are in a tree: in memory, or in the caller's storage.
    ///
    /// # Errors
    /// The error of reading the frame.
    pub fn from_tree(tree: Arc<dyn Tree>, options: &OpenOptions) -> Result<Self> {
        let folder = Folder { tree };
        let index = folder.open_index()?;
        Draft::open(index, Some(folder), options.clone()).map(Draft::finish)
    }

    fn new(state: Arc<FrameState>, context: Arc<ReadContext>) -> Self {
        Self {
            state,
            context,
            starts: OnceLock::new(),
            is_watched: true,
            watch: OnceLock::new(),
            is_outer_right: AtomicBool::new(false),
        }
    }

    /// The same frame without comparison with its seal: for code that reports damage itself.
    pub(crate) fn unwatched(&self) -> Self {
        let schunk = Self::new(Arc::clone(&self.state), Arc::clone(&self.context));
        Self { is_watched: false, ..schunk }
    }

    /// The comparison with the seal; `None` without a seal, and if comparison is off.
    pub(crate) fn watch(&self) -> Option<&SealWatch> {
        if !self.is_watched || !self.open_options().mismatch.is_compared() {
            return None;
        }
        self.watch.get_or_init(|| SealWatch::new(self)).as_ref()
    }

    /// Compares a frame without a seal with the sum in its container.
    pub(crate) fn compare_outer(&self) -> Result<()> {
        let OpenOptions { mismatch, outer_sum, .. } = self.open_options();
        let is_known = self.is_outer_right.load(Ordering::Relaxed);
        if !self.is_watched || !mismatch.is_compared() || is_known || self.is_sealed() {
            return Ok(());
        }
        let at = self.state.source().base();
        match outer_sum.compare() {
            Ok(None) => self.is_outer_right.store(true, Ordering::Relaxed),
            Ok(Some(why)) => {
                mismatch.found(Error::Corrupt { at, what: Corrupt::OuterSum { why } })?;
            }
            Err(source) => return Err(Error::Io { at, len: self.frame_len(), source }),
        }
        Ok(())
    }

    /// The parts of the frame.
    pub(crate) fn state(&self) -> &FrameState {
        &self.state
    }

    /// The path of the frame, as an absolute path.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.state.path()
    }

    /// Position of the index chunk in the store (bytes).
    pub(crate) fn index_position(&self) -> u64 {
        self.state.source().position(self.state.index().position())
    }

    /// The options of opening.
    pub(crate) fn open_options(&self) -> &OpenOptions {
        &self.context.options
    }

    /// Opens a frame in a buffer that holds only this frame.
    ///
    /// # Errors
    /// The error of reading the frame; [`Corrupt::BytesAfterFrame`] if other bytes follow the
    /// frame.
    pub fn from_cframe(frame: Vec<u8>) -> Result<Self> {
        let available = frame.len() as u64;
        let schunk = Self::from_store(Arc::new(MemStore::new(frame)))?;
        let frame_len = schunk.state.header().frame_len();
        if frame_len != available {
            return Err(Error::Corrupt {
                at: 0x10,
                what: Corrupt::BytesAfterFrame { frame_len, available },
            });
        }
        Ok(schunk)
    }

    /// The layout of the frame. Layouts of the 2.0.0 betas are read-only.
    #[must_use]
    pub fn layout(&self) -> FrameLayout {
        self.state.layout()
    }

    /// The header; an older layout is converted to today's fields.
    #[must_use]
    pub fn header(&self) -> &FrameHeader {
        self.state.header()
    }

    /// Number of chunks.
    #[must_use]
    pub fn nchunks(&self) -> u64 {
        self.state.nchunks()
    }

    /// Uncompressed bytes of all chunks. In an array this includes the padding of its chunks.
    #[must_use]
    pub fn nbytes(&self) -> u64 {
        self.state.header().nbytes()
    }

    /// Length of the data section (bytes): all chunks, and the unused bytes of chunks that were
    /// replaced. See [`usage`](Self::usage) for the chunks alone.
    #[must_use]
    pub fn cbytes(&self) -> u64 {
        self.state.header().cbytes()
    }

    /// Length of the whole frame (bytes).
    #[must_use]
    pub fn frame_len(&self) -> u64 {
        self.state.header().frame_len()
    }

    /// Position of the frame in its file (bytes).
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.state.source().base()
    }

    /// Length of the index chunk (bytes).
    #[must_use]
    pub fn index_len(&self) -> u64 {
        self.state.index().cbytes()
    }

    /// Length of the trailer (bytes).
    #[must_use]
    pub fn trailer_len(&self) -> u64 {
        self.state.trailer_len().into()
    }

    /// Bytes of an item.
    #[must_use]
    pub fn typesize(&self) -> usize {
        self.state.typesize()
    }

    /// Uncompressed bytes of a chunk.
    #[must_use]
    pub fn chunksize(&self) -> ChunkSize {
        self.state.header().chunksize()
    }

    /// The available codecs and filters.
    pub(crate) fn registries(&self) -> &Registries {
        &self.context.options.dparams.registries
    }

    /// Options for decoding chunks.
    pub(crate) fn dparams(&self) -> &DParams {
        &self.context.options.dparams
    }

    /// The parameters that the header gives for new chunks. Each chunk describes itself; see
    /// [`chunk_info`](Self::chunk_info).
    #[must_use]
    pub fn cparams(&self) -> CParams {
        let header = self.state.header();
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

    /// The parameters for new chunks, with the available codecs and filters, and for readers of the
    /// frame's other chunks.
    pub(crate) fn own_cparams(&self) -> CParams {
        for_its_readers(self.cparams().registries(self.registries().clone()))
    }

    /// The metalayers, contents as stored.
    #[must_use]
    pub fn meta(&self) -> &Metalayers {
        self.state.meta()
    }

    /// The vlmetalayers.
    #[must_use]
    pub fn vlmeta(&self) -> VlMeta<'_> {
        VlMeta { schunk: self }
    }
}

impl fmt::Debug for SChunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SChunk")
            .field("offset", &self.offset())
            .field("header", self.state.header())
            .finish_non_exhaustive()
    }
}

/// The vlmetalayers of a super-chunk. Their contents are stored compressed.
#[derive(Clone, Copy, Debug)]
pub struct VlMeta<'a> {
    schunk: &'a SChunk,
}

impl<'a> VlMeta<'a> {
    /// Number of vlmetalayers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.stored().len()
    }

    /// Whether there are no vlmetalayers.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.stored().is_empty()
    }

    /// Names, with contents as stored: each is a chunk.
    #[must_use]
    pub fn stored(&self) -> &'a Metalayers {
        self.schunk.state.vlmeta()
    }

    /// The content of the first vlmetalayer of this name.
    ///
    /// # Errors
    /// The error of decoding it.
    pub fn get(&self, name: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
        self.stored().get(name).map(|layer| self.decode(layer)).transpose()
    }

    /// Decodes the content of an entry of [`stored`](Self::stored).
    ///
    /// # Errors
    /// [`Error::VlMeta`], [`Error::Limit`], or [`Corrupt::VlMetaCbytes`].
    pub fn decode(&self, layer: Metalayer<'_>) -> Result<Vec<u8>> {
        let trailer = self.schunk.frame_len().saturating_sub(self.schunk.trailer_len());
        let at = self.schunk.state.source().position(trailer.saturating_add(layer.position));
        let vlmeta = |source| Error::VlMeta { name: layer.name_text().into_owned(), at, source };
        let header = ChunkHeader::parse(layer.content).map_err(vlmeta)?;
        let (cbytes, len) = (header.cbytes() as u64, layer.content.len() as u64);
        if cbytes != len {
            return Err(Error::Corrupt { at, what: Corrupt::VlMetaCbytes { cbytes, len } });
        }
        check_limit(
            Limited::VlMeta,
            header.nbytes() as u64,
            self.schunk.open_options().max_metadata,
        )?;
        let mut content = vec![0; header.nbytes()];
        let chunk = Chunk::parse(layer.content).map_err(vlmeta)?;
        let mut scratch = blosc_chunk::Scratch::new(self.schunk.dparams());
        chunk.decode_into(&mut content, &mut scratch).map_err(vlmeta)?;
        Ok(content)
    }
}

/// Parameters for an existing frame. If they need newer readers, its other chunks need them too,
/// and these readers are the target.
pub(crate) fn for_its_readers(cparams: CParams) -> CParams {
    let newer = cparams.clone().target(Target::Blosc3_0);
    if cparams.check().is_err() && newer.check().is_ok() { newer } else { cparams }
}

/// The size of dictionaries that C-Blosc2 aims at (bytes); the header only says whether they are
/// used.
const MAX_DICT: usize = 32 << 10;

/// Opens a file for reading.
pub(crate) fn open_file(path: &Path) -> Result<Arc<dyn ReadAt>> {
    Ok(Arc::new(FileStore::open(path).map_err(Error::open(path))?))
}

/// Whether `nbytes` bytes may be allocated.
pub(crate) fn check_limit(what: Limited, nbytes: u64, limit: u64) -> Result<()> {
    if nbytes <= limit { Ok(()) } else { Err(Error::Limit { what, nbytes, limit }) }
}

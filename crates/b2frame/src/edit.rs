//! Changing super-chunks: chunks and items added, replaced, moved and removed, and metadata.
//!
//! ```text
//!   SChunkWriter
//!     edit/items.rs    bytes of data: append, update, insert, write
//!     edit/chunks.rs   chunks: where they may go, special values, the table of the index
//!     edit/meta.rs     metalayers and vlmetalayers
//!     edit/commit.rs   the order of writes that commits all changes or none
//!     edit/sealing.rs  the seal of the frame, kept up change by change
//!     edit/storage.rs  the storage of the bytes, one of
//!       edit/file.rs     after a contiguous frame (edit/rooms.rs: or over unread chunks)
//!       edit/folder.rs   in files of a sparse one (edit/files.rs)
//!     edit/turns.rs    locks, and changes by other writers
//! ```
//!
//! The writer owns the state of the frame, with the changed index. A super-chunk reads and decodes
//! chunks for the writer: a snapshot of that state, which is dropped before each change.

mod chunks;
mod commit;
mod file;
mod files;
mod folder;
mod items;
mod meta;
mod rooms;
mod sealing;
mod shared;
mod storage;
mod turns;

use core::fmt;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use blosc_chunk::{CParams, Encoder};
use blosc_io::{Durability, FileStore, MemStore, Tree, WriteAt, look_at};

use crate::dest::Dest;
use crate::error::{Error, Param, Result};
use crate::header::FrameType;
use crate::legacy::FrameLayout;
use crate::lock::{FrameLock, Held};
use crate::params::{EditOptions, FrameParams};
use crate::schunk::{Draft, FrameState, Parts, SChunk, open_settled};
use crate::source::Source;
use crate::sparse::{Folder, INDEX_FILE, ReadOnly};
use crate::writer::Start;
pub(crate) use chunks::noted_run;
use file::FrameFile;
use folder::FrameFolder;
use sealing::KeptSeal;
use shared::Shared;
use storage::Storage;

/// Changes a super-chunk.
///
/// Changes are collected: chunks are written after the frame, some at a time, and readers see none
/// of them before [`commit`](Self::commit). A commit is all or nothing, also if the machine stops
/// in the middle of it. A writer that is dropped without a commit leaves the frame as it was.
/// Readers and the writer do not disturb each other.
///
/// Writers of one file or directory take turns: the first change locks it until the commit, and
/// reads the commits of others ([`lock`](Self::lock)). This holds for all programs that lock the
/// file, which C-Blosc2 does only on request. A change without a lock is noticed before the commit
/// ([`Error::ChangedByOther`]).
///
/// Chunks that were replaced or removed stay as unused bytes of the file until
/// [`compact`](Self::compact).
///
/// ```
/// use b2frame::{FrameParams, SChunkWriter};
///
/// let mut writer = SChunkWriter::in_memory(&FrameParams::default().chunksize(16))?;
/// writer.append(b"sixteen bytes...and five")?;
/// writer.write(1, b"twosixes")?; // items of 8 bytes
/// writer.delete(0)?;
/// let schunk = writer.finish()?;
/// assert_eq!(schunk.decode_chunk(0)?, b"and five");
/// # Ok::<(), b2frame::Error>(())
/// ```
pub struct SChunkWriter {
    /// The frame with all changes but `tail`.
    frame: Draft,
    storage: Storage,
    seal: KeptSeal,
    changed: Changed,
    compressor: Compressor,
    /// Data after the last chunk that is not a chunk yet.
    tail: Vec<u8>,
    options: EditOptions,
}

/// Makes new chunks.
struct Compressor {
    cparams: CParams,
    /// Made on first use: a frame of an unknown codec can still be edited otherwise.
    encoder: Option<Encoder>,
}

impl Compressor {
    fn new(cparams: CParams) -> Self {
        Self { cparams, encoder: None }
    }

    /// Compresses the data of chunk `nchunk`.
    fn encode(&mut self, nchunk: u64, data: &[u8]) -> Result<Vec<u8>> {
        let made = match &mut self.encoder {
            Some(encoder) => encoder.encode(data),
            None => Encoder::new(self.cparams.clone().in_schunk())
                .and_then(|encoder| self.encoder.insert(encoder).encode(data)),
        };
        made.map_err(|source| Error::Compress { nchunk, source })
    }
}

/// The parts that a commit has to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Changed {
    chunks: bool,
    meta: bool,
    vlmeta: bool,
}

impl SChunkWriter {
    /// Creates a file, or empties an existing one. The file holds a frame after the first commit.
    ///
    /// # Errors
    /// [`Error::Open`], or as [`create_in`](Self::create_in).
    pub fn create(path: impl AsRef<Path>, params: &FrameParams) -> Result<Self> {
        Self::in_file(path.as_ref(), Start::new(params)?, params.cparams.clone())
    }

    /// As [`create`](Self::create), but never empties an existing file. The file holds a frame
    /// after the first commit, and is empty before.
    ///
    /// # Errors
    /// [`Error::Open`], also if there is something of this name; or as
    /// [`create_in`](Self::create_in).
    pub fn create_new(path: impl AsRef<Path>, params: &FrameParams) -> Result<Self> {
        let start = Start::new(params)?;
        let made = OpenOptions::new().write(true).create_new(true).open(path.as_ref());
        made.map_err(Error::open(path.as_ref()))?;
        Self::in_file(path.as_ref(), start, params.cparams.clone())
    }

    /// Creates a sparse frame: a directory with one file for every chunk. The directory holds a
    /// frame after the first commit.
    ///
    /// # Errors
    /// [`Error::Open`], also if there is something of this name; or as
    /// [`create_in`](Self::create_in).
    pub fn create_sparse(path: impl AsRef<Path>, params: &FrameParams) -> Result<Self> {
        Self::sparse(path.as_ref(), Start::new(params)?, params.cparams.clone())
    }

    /// Creates a sparse frame in an empty tree of files. The tree holds a frame after the first
    /// commit.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use b2frame::{FrameParams, OpenOptions, SChunk, SChunkWriter};
    /// use blosc_io::tree::{MemTree, Tree};
    ///
    /// let tree: Arc<dyn Tree> = Arc::new(MemTree::new());
    /// let mut writer =
    ///     SChunkWriter::create_in_tree(tree.clone(), &FrameParams::default().chunksize(8))?;
    /// writer.append(b"12345678 and more")?;
    /// writer.commit()?;
    /// assert_eq!(tree.list("")?.len(), 1 + 3); // the index, and a file for each chunk
    /// let schunk = SChunk::from_tree(tree, &OpenOptions::default())?;
    /// assert_eq!(schunk.decode_chunk(1)?, b" and mor");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Open`], or as [`create_in`](Self::create_in).
    pub fn create_in_tree(tree: Arc<dyn Tree>, params: &FrameParams) -> Result<Self> {
        Self::sparse_in(Folder { tree }, Start::new(params)?, params.cparams.clone())
    }

    /// Starts a frame with these properties at the destination of a copy.
    pub(crate) fn start(dest: &Dest, start: Start, cparams: CParams) -> Result<Self> {
        match dest {
            Dest::Memory => Ok(Self::in_store(Box::new(MemStore::default()), start, cparams)),
            Dest::Contiguous(path) => Self::in_file(path, start, cparams),
            Dest::Sparse(path) => Self::sparse(path, start, cparams),
        }
    }

    fn in_file(path: &Path, start: Start, cparams: CParams) -> Result<Self> {
        let (store, held) = create_locked(path)?;
        let id = store.id();
        let mut file = new_file(Box::new(store), &start);
        file.set_file(id, whole_path(path, 0)?);
        file.turn.taken(held);
        let mut writer = Self::of_new(Storage::Contiguous(file), start, cparams);
        writer.frame.change().set_path(path);
        Ok(writer)
    }

    fn in_store(store: Box<dyn WriteAt>, start: Start, cparams: CParams) -> Self {
        Self::of_new(Storage::Contiguous(new_file(store, &start)), start, cparams)
    }

    fn sparse(path: &Path, start: Start, cparams: CParams) -> Result<Self> {
        std::fs::create_dir(path).map_err(Error::open(path))?;
        let mut writer = Self::sparse_in(Folder::in_dir(path), start, cparams)?;
        writer.frame.change().set_path(path);
        Ok(writer)
    }

    pub(crate) fn sparse_in(folder: Folder, start: Start, cparams: CParams) -> Result<Self> {
        let EditOptions { open, lock, durability, .. } = EditOptions::default();
        let held = Held::of_tree(&*folder.tree, None, open.locking, &lock)?;
        let mut folder = FrameFolder::new(folder, durability);
        folder.chunks.prepare(&[])?;
        folder.turn.taken(held);
        Ok(Self::of_new(Storage::Sparse(folder), start, cparams))
    }

    fn of_new(storage: Storage, mut start: Start, cparams: CParams) -> Self {
        let options = EditOptions::default();
        start.header.set_frame_type(match storage {
            Storage::Contiguous(_) => FrameType::Contiguous,
            Storage::Sparse(_) => FrameType::Sparse,
        });
        let seal = KeptSeal::new(start.checksums);
        let state = FrameState::new(storage.source(), storage.folder(), Parts::unwritten(start));
        let frame = Draft::new(state, options.open.clone());
        Self { seal, ..Self::over(frame, storage, cparams, options) }
    }

    /// A new frame in memory; get it from [`finish`](Self::finish) and [`SChunk::to_cframe`].
    ///
    /// # Errors
    /// As [`create_in`](Self::create_in).
    pub fn in_memory(params: &FrameParams) -> Result<Self> {
        Self::create_in(Box::new(MemStore::default()), params)
    }

    /// A new frame in a store, which should be empty.
    ///
    /// # Errors
    /// [`Error::Param`] when these parameters cannot be written.
    pub fn create_in(store: Box<dyn WriteAt>, params: &FrameParams) -> Result<Self> {
        Ok(Self::in_store(store, Start::new(params)?, params.cparams.clone()))
    }

    /// Opens the frame at the beginning of a file, or a sparse frame, which is a directory. Bytes
    /// after the frame are overwritten if an interrupted writer left them; another file there is
    /// not.
    ///
    /// # Errors
    /// [`Error::Open`], the error of reading the frame, or
    /// [`Param::NotLast`](crate::error::Param::NotLast).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &EditOptions::default())
    }

    /// Opens a frame in a file. At a position other than 0 it must be the last thing in the file.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, options: &EditOptions) -> Result<Self> {
        Self::open_as(path.as_ref(), options, Ok)
    }

    /// Opens a frame in a file and lets `take` convert it. Tries again if either fails because the
    /// frame is being written.
    pub(crate) fn open_as<T>(
        path: &Path,
        options: &EditOptions,
        take: impl Fn(Self) -> Result<T>,
    ) -> Result<T> {
        let lock = options.open.locking.shared(path, &options.lock)?;
        open_settled(path, || {
            let mut writer = Self::open_unlocked(path, options)?;
            let generation = lock.as_ref().map_or(0, FrameLock::generation);
            writer.storage.turn_mut().opened_at(generation);
            take(writer)
        })
    }

    fn open_unlocked(path: &Path, options: &EditOptions) -> Result<Self> {
        if let Some(folder) = Folder::find(path)? {
            let mut writer = Self::in_folder(folder, options)?;
            writer.frame.change().set_path(path);
            return Ok(writer);
        }
        let store = FileStore::open_rw(path).map_err(Error::open(path))?;
        let id = store.id();
        let (frame, mut file) = open_contiguous(Shared::new(Box::new(store)), options)?;
        file.check_end()?;
        file.set_file(id, whole_path(path, options.open.offset)?);
        let mut writer = Self::opened(frame, Storage::Contiguous(file), options);
        writer.frame.change().set_path(path);
        Ok(writer)
    }

    /// Opens a frame in a store. At a position other than 0 it must be the last thing in the store.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_in(store: Box<dyn WriteAt>, options: &EditOptions) -> Result<Self> {
        let (frame, file) = open_contiguous(Shared::new(store), options)?;
        file.check_end()?;
        Ok(Self::opened(frame, Storage::Contiguous(file), options))
    }

    /// Opens a sparse frame whose files are in a tree.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_in_tree(tree: Arc<dyn Tree>, options: &EditOptions) -> Result<Self> {
        Self::in_folder(Folder { tree }, options)
    }

    fn in_folder(folder: Folder, options: &EditOptions) -> Result<Self> {
        let store = folder.tree.open(INDEX_FILE).map_err(|source| Error::Open { source })?;
        let store = Shared::new(Box::new(ReadOnly(store)));
        let source = Source::new(Arc::new(store.clone()), 0);
        let frame = Draft::open(source, Some(folder.clone()), options.open.clone())?;
        let folder = FrameFolder::of_frame(store, folder, options.durability);
        Ok(Self::opened(frame, Storage::Sparse(folder), options))
    }

    /// Opens the committed frame of a store, regardless of the bytes after it.
    fn open_shared(store: Shared, options: &EditOptions) -> Result<Self> {
        let (frame, file) = open_contiguous(store, options)?;
        Ok(Self::opened(frame, Storage::Contiguous(file), options))
    }

    fn opened(frame: Draft, storage: Storage, options: &EditOptions) -> Self {
        let cparams = new_cparams(frame.snapshot(), options);
        Self::over(frame, storage, cparams, options.clone())
    }

    fn over(frame: Draft, storage: Storage, cparams: CParams, options: EditOptions) -> Self {
        Self {
            frame,
            storage,
            seal: KeptSeal::default(),
            changed: Changed::default(),
            compressor: Compressor::new(cparams),
            tail: vec![],
            options,
        }
    }

    /// Starts every change: takes the lock, and makes a chunk of data that were held back.
    fn begin(&mut self) -> Result<()> {
        self.take_lock()?;
        self.settle()
    }

    /// The super-chunk with all changes so far, committed or not.
    ///
    /// Data that [`append`](Self::append) holds back become a chunk first.
    ///
    /// # Errors
    /// [`Error::Compress`] or [`Error::Write`] for that chunk.
    pub fn schunk(&mut self) -> Result<&SChunk> {
        self.settle()?;
        Ok(self.frame.snapshot())
    }

    /// Number of chunks.
    #[must_use]
    pub fn nchunks(&self) -> u64 {
        self.frame.nchunks().saturating_add((!self.tail.is_empty()).into())
    }

    /// Uncompressed bytes of all chunks.
    #[must_use]
    pub fn nbytes(&self) -> u64 {
        self.frame.header().nbytes().saturating_add(self.tail.len() as u64)
    }

    /// How new chunks are compressed.
    #[must_use]
    pub fn cparams(&self) -> &CParams {
        &self.compressor.cparams
    }

    /// Compresses new chunks differently from now on. The typesize stays.
    pub fn set_cparams(&mut self, cparams: CParams) {
        self.compressor = Compressor::new(cparams.typesize(self.frame.typesize()));
    }

    /// As [`set_cparams`](Self::set_cparams), and stores them in the header with the next commit
    /// that changes something else: later writers of the frame compress new chunks in this way.
    ///
    /// # Errors
    /// As [`lock`](Self::lock).
    pub fn store_cparams(&mut self, cparams: CParams) -> Result<()> {
        self.begin()?;
        self.set_cparams(cparams);
        self.frame.change().set_cparams(&self.compressor.cparams)
    }

    /// Sets the durability of the next commits. The default for a new frame: commits survive a
    /// crash of the machine.
    pub fn set_durability(&mut self, durability: Durability) {
        self.options.durability = durability;
        self.storage.set_durability(durability);
    }

    /// Commits, and gives the super-chunk for reading.
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub fn finish(mut self) -> Result<SChunk> {
        self.commit()?;
        let Self { mut frame, storage, .. } = self;
        let (store, base) = storage.into_store();
        frame.change().replace_source(|| Source::new(store.into_store(), base));
        Ok(frame.finish())
    }
}

impl fmt::Debug for SChunkWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SChunkWriter")
            .field("schunk", self.frame.snapshot())
            .field("changed", &self.changed)
            .finish_non_exhaustive()
    }
}

/// How new chunks of an existing frame are compressed.
fn new_cparams(schunk: &SChunk, options: &EditOptions) -> CParams {
    match &options.cparams {
        Some(cparams) => cparams.clone().typesize(schunk.typesize()),
        None => schunk.own_cparams(),
    }
}

/// The file of a new frame.
fn new_file(store: Box<dyn WriteAt>, start: &Start) -> FrameFile {
    FrameFile::new(store, start.header.header_len(), EditOptions::default().durability)
}

/// Opens the frame at a position of a store.
fn open_contiguous(store: Shared, options: &EditOptions) -> Result<(Draft, FrameFile)> {
    let base = options.open.offset;
    let source = Source::new(Arc::new(store.clone()), base);
    let frame = Draft::open(source, None, options.open.clone())?;
    if frame.layout() != FrameLayout::Current {
        return Err(Param::OlderLayout { layout: frame.layout() }.into());
    }
    let file = FrameFile::of_frame(store, base, frame.header(), options.durability);
    Ok((frame, file))
}

/// Creates a file, or empties an existing one, under its lock.
pub(crate) fn create_locked(path: &Path) -> Result<(FileStore, Held)> {
    let open = |source| Error::open(path)(source);
    if look_at(path).map_err(open)?.is_some_and(|found| !found.is_file()) {
        return Ok((FileStore::create(path).map_err(open)?, Held::default()));
    }
    let mut create = OpenOptions::new();
    drop(create.write(true).create(true).truncate(false).open(path).map_err(open)?);
    let EditOptions { open: options, lock, .. } = EditOptions::default();
    let held = Held::of_file(path, options.locking, &lock)?;
    let mut store = FileStore::open_rw(path).map_err(open)?;
    store.set_len(0).map_err(open)?;
    Ok((store, held))
}

/// The path of a file that consists of the frame alone. Links are resolved, so that a new file
/// replaces the file and not the link.
fn whole_path(path: &Path, offset: u64) -> Result<Option<PathBuf>> {
    if offset > 0 {
        return Ok(None);
    }
    path.canonicalize().map(Some).map_err(Error::open(path))
}

/// Whether the parameters of two frames would compress chunks alike.
pub(crate) fn is_same_way(a: &CParams, b: &CParams) -> bool {
    let key = |p: &CParams| (p.codec, p.codec_meta, p.clevel, p.filters, p.dict.clone());
    key(a) == key(b)
}

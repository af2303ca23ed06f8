//! Making arrays and changing them.
//!
//! The order of writing keeps the files readable at any moment, for this crate and for bcolz.
//! Growing writes chunks first, then `meta/sizes`; until then readers do not see the rows after the
//! old length. Shrinking writes `meta/sizes` first, then chunks; until then the partial chunk is
//! longer than needed, which readers allow. Each file is replaced as a whole.
#![cfg_attr(
    not(test),
    expect(
        clippy::arithmetic_side_effects,
        reason = "rows and bytes that were compared with the layout"
    )
)]

mod append;
mod change;
mod encode;
mod undo;

use core::ops::Range;
use std::path::Path;
use std::sync::Arc;

use blosc_container::{Budget, checksums::Checksums};
use blosc_io::LockWait;
use blosc_io::tree::TreeLock;

use crate::carray::CArray;
use crate::create::CreateOptions;
use crate::error::{Error, Param, Result};
use crate::files::{is_missing, join, lock_exclusive, read_metadata};
use crate::layout::{Layout, chunk_path};
use crate::leftovers;
use crate::meta::{self, Attrs, Sizes, Storage};
use crate::params::OpenOptions;
use crate::sums::{FileSum, Found, Sums, sums_path};
use crate::tree::{DirTree, Tree};

use undo::Undo;

/// An array that is being written.
///
/// [`flush`](Self::flush) writes the rows of the partial chunk, which memory keeps until then. A
/// dropped writer loses the rows since the last flush, and the array on disk keeps the state of
/// that flush. The writer takes the directory's exclusive lock before it reads and keeps it until
/// it is dropped, so the next writer begins with its result. bcolz has no locks, but the next write
/// notices changes that bcolz made meanwhile.
///
/// ```
/// use bcolz_store::{CArray, CArrayWriter, CreateOptions, Dtype};
///
/// # let dir = tempfile::tempdir()?;
/// # let root = dir.path().join("squares");
/// let options = CreateOptions::new(Dtype::parse("int64")?).expectedlen(Some(1000));
/// let mut writer = CArrayWriter::create(&root, &options)?;
/// let squares: Vec<u8> = (0..1000_i64).flat_map(|n| (n * n).to_le_bytes()).collect();
/// writer.append(&squares)?;
/// writer.set_attr("unit", "m2")?;
/// writer.finish()?;
///
/// let array = CArray::open(&root)?;
/// assert_eq!(array.read_as::<i64>(30..32)?, [900, 961]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CArrayWriter {
    tree: Arc<dyn Tree>,
    path: String,
    storage: Storage,
    /// Its length includes the rows that were not flushed.
    layout: Layout,
    /// The current content of `meta/sizes`.
    committed: Sizes,
    /// Compressed bytes as bcolz counts them.
    cbytes: i128,
    /// The rows of the partial chunk.
    tail: Vec<u8>,
    /// Whether the file of the partial chunk differs from `tail`.
    tail_changed: bool,
    attrs: Attrs,
    /// Files written since the last sync.
    unsynced: Vec<String>,
    options: OpenOptions,
    /// `None` if the array has no sums.
    sums: Option<Sums>,
    /// Whether the sums on disk differ from these.
    sums_changed: bool,
    /// Whether the next flush removes the sums on disk: the partial chunk did not match its sum,
    /// and is written anew all the same.
    drops_sums: bool,
    /// The state before chunks that `meta/sizes` does not count yet.
    undo: Option<Undo>,
    /// `None` for a column, as its table is locked.
    lock: Option<Box<dyn TreeLock>>,
}

impl CArrayWriter {
    /// Makes a new, empty array in a new directory.
    ///
    /// # Errors
    ///
    /// [`Param`] where options do not go together, [`Param::Exists`], `Io`.
    pub fn create(rootdir: impl AsRef<Path>, options: &CreateOptions) -> Result<Self> {
        let tree = DirTree::new(rootdir.as_ref()).durability(options.durability);
        Self::create_in(Arc::new(tree), "", options)
    }

    /// Makes a new, empty array at `path` of a tree; the parent must exist.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn create_in(tree: Arc<dyn Tree>, path: &str, options: &CreateOptions) -> Result<Self> {
        let mut writer = Self::create_column(tree, path, options)?;
        writer.lock = lock_exclusive(&*writer.tree, path, &LockWait::default())?;
        Ok(writer)
    }

    /// Makes a new, empty array without a lock.
    pub(crate) fn create_column(
        tree: Arc<dyn Tree>,
        path: &str,
        options: &CreateOptions,
    ) -> Result<Self> {
        let (sizes, storage, layout) = options.to_metadata(path)?;
        create_dir(&*tree, path)?;
        create_dir(&*tree, &join(path, "data"))?;
        create_dir(&*tree, &join(path, "meta"))?;
        let open =
            OpenOptions::default().budget(Budget::default().threads(options.threads.clone()));
        let (found, attrs) = ((sizes, storage, layout), options.attrs.clone());
        let mut writer = Self::new(tree, path.to_owned(), open, found, attrs);
        if options.checksums != Checksums::None {
            let (sizes, storage) = (writer.committed.to_text(), writer.storage.to_text());
            writer.sums = Some(Sums::new(&sizes, &storage, &writer.attrs.to_text()));
            writer.sums_changed = true;
        }
        writer.write(meta::attrs_path(path), writer.attrs.to_text().as_bytes())?;
        writer.write(meta::storage_path(path), writer.storage.to_text().as_bytes())?;
        writer.sync()?;
        writer.commit_sizes(writer.sizes())?;
        writer.flush_sums()?;
        Ok(writer)
    }

    /// Opens an array to change it.
    ///
    /// # Errors
    ///
    /// As [`CArray::open`], and if the partial chunk cannot be read.
    pub fn open(rootdir: impl AsRef<Path>) -> Result<Self> {
        Self::open_in(Arc::new(DirTree::new(rootdir.as_ref())), "", &OpenOptions::default())
    }

    /// Opens the array at `path` of a tree to change it.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_in(tree: Arc<dyn Tree>, path: &str, options: &OpenOptions) -> Result<Self> {
        let lock = lock_exclusive(&*tree, path, &options.lock)?;
        let mut writer = Self::from_array(CArray::open_in(tree, path, options)?)?;
        writer.lock = lock;
        Ok(writer)
    }

    /// A writer of an array that was opened under a lock of the caller. Removes the leftovers of
    /// killed writers.
    pub(crate) fn from_array(array: CArray) -> Result<Self> {
        if array.is_object() {
            return Err(Param::NotWritten { dtype: array.dtype().to_string() }.into());
        }
        let tail = array.read(array.len() - array.nleftover()..array.len())?;
        let mut sums_changed = false;
        let drops_sums = array.options.mismatch.is_noted();
        let sums = match Sums::read(&*array.tree, &array.path)? {
            Found::Sums(mut sums) => {
                let mismatch = array.storage_mismatch(&sums)?;
                if let Some(what) = mismatch.filter(|_| array.options.mismatch.is_compared()) {
                    let error = Error::corrupt(meta::storage_path(&array.path), what);
                    array.options.mismatch.found(error)?;
                }
                let before = sums.clone();
                sums.update(&array)?;
                sums_changed = sums != before;
                Some(sums).filter(|_| !drops_sums)
            }
            Found::Missing | Found::Damaged => None,
        };
        let attrs = array.attrs()?;
        let CArray { tree, path, layout, storage, sizes, options, .. } = array;
        let mut writer = Self::new(tree, path, options, (sizes, storage, layout), attrs);
        (writer.tail, writer.sums, writer.sums_changed) = (tail, sums, sums_changed);
        writer.drops_sums = drops_sums;
        for inner in ["", "meta", "data"] {
            leftovers::remove_pending(&*writer.tree, &join(&writer.path, inner))?;
        }
        writer.remove_chunks(writer.layout.nchunks()..u64::MAX)?;
        Ok(writer)
    }

    /// A writer of the array on disk, with no lock, rows of a partial chunk or sums yet.
    fn new(
        tree: Arc<dyn Tree>,
        path: String,
        options: OpenOptions,
        (committed, storage, layout): (Sizes, Storage, Layout),
        attrs: Attrs,
    ) -> Self {
        Self {
            tree,
            path,
            storage,
            layout,
            cbytes: committed.cbytes.unwrap_or(0),
            committed,
            tail: Vec::new(),
            tail_changed: false,
            attrs,
            unsynced: Vec::new(),
            options,
            sums: None,
            sums_changed: false,
            drops_sums: false,
            undo: None,
            lock: None,
        }
    }

    /// Rows, including the ones that were not flushed.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.layout.len()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of a row.
    #[must_use]
    pub const fn rowsize(&self) -> usize {
        self.layout.rowsize
    }

    /// The type of an item, and items of a row in each further dimension.
    #[cfg(feature = "arrow")]
    pub(crate) fn items(&self) -> (&blosc_dtype::Dtype, &[u64]) {
        (&self.layout.dtype, self.layout.shape.get(1..).unwrap_or_default())
    }

    /// Rows of a full chunk.
    #[must_use]
    pub const fn chunklen(&self) -> u64 {
        self.layout.chunklen
    }

    /// The attributes.
    #[must_use]
    pub const fn attrs(&self) -> &Attrs {
        &self.attrs
    }

    /// Sets an attribute, on disk at once.
    ///
    /// # Errors
    ///
    /// `Io`; then the attribute keeps its old value.
    pub fn set_attr(&mut self, name: &str, value: impl Into<crate::Json>) -> Result<()> {
        let mut attrs = self.attrs.clone();
        attrs.set(name, value);
        self.replace_attrs(attrs)
    }

    /// Replaces all attributes, on disk at once.
    ///
    /// # Errors
    ///
    /// `Io`; then the attributes keep their old values.
    pub fn replace_attrs(&mut self, attrs: Attrs) -> Result<()> {
        let text = attrs.to_text();
        self.set_attrs_sum(FileSum::UNKNOWN)?;
        self.write(meta::attrs_path(&self.path), text.as_bytes())?;
        self.sync()?;
        self.attrs = attrs;
        self.set_attrs_sum(FileSum::of_file(text.as_bytes()))
    }

    /// Writes the sum of the attributes, if there are sums.
    fn set_attrs_sum(&mut self, attrs: FileSum) -> Result<()> {
        let Some(sums) = &mut self.sums else { return Ok(()) };
        sums.attrs = attrs;
        self.write_sums()
    }

    /// Writes the file of the sums, if there are sums.
    fn write_sums(&mut self) -> Result<()> {
        let Some(bytes) = self.sums.as_ref().map(Sums::to_bytes) else { return Ok(()) };
        self.write(sums_path(&self.path), &bytes)?;
        self.sync()
    }

    /// Whether the next flush removes the sums.
    pub(crate) const fn drops_sums(&self) -> bool {
        self.drops_sums
    }

    /// Writes all unsaved rows and the metadata to disk.
    ///
    /// # Errors
    ///
    /// `Io`; then everything flushed before is intact, and `flush` can be called again.
    pub fn flush(&mut self) -> Result<()> {
        self.flush_chunks()?;
        self.flush_sizes()?;
        self.flush_sums()
    }

    /// Flushes and closes the array.
    ///
    /// # Errors
    ///
    /// As [`flush`](Self::flush).
    pub fn finish(mut self) -> Result<()> {
        self.flush()
    }

    /// Notes that the directory has another path now; no write may be pending.
    pub(crate) fn moved(&mut self, path: String) {
        self.path = path;
    }

    /// The first half of a flush: writes the chunks that the new length needs.
    pub(crate) fn flush_chunks(&mut self) -> Result<()> {
        if self.tail_changed && !self.tail.is_empty() {
            self.check_unchanged()?;
            let nchunk = self.layout.nchunks() - 1;
            let chunk = self.encode(nchunk, &self.tail)?;
            self.replace_chunk(nchunk, &chunk)?;
        }
        self.tail_changed = false;
        self.sync()
    }

    /// The second half of a flush: writes the length.
    pub(crate) fn flush_sizes(&mut self) -> Result<()> {
        let sizes = self.sizes();
        if sizes == self.committed {
            self.undo = None;
            return Ok(());
        }
        self.check_unchanged()?;
        self.commit_sizes(sizes)
    }

    /// Whether the array has a file of checksums.
    pub(crate) const fn is_summed(&self) -> bool {
        self.sums.is_some()
    }

    /// The last step of a flush: writes the checksums of the committed state.
    pub(crate) fn flush_sums(&mut self) -> Result<()> {
        if core::mem::take(&mut self.drops_sums) {
            let path = sums_path(&self.path);
            let removed = self.tree.remove(&path);
            removed.or_else(|error| {
                if is_missing(&error) { Ok(()) } else { Err(Error::io(&path, error)) }
            })?;
        }
        if let Some(sums) = self.sums.as_mut().filter(|_| self.sums_changed) {
            sums.len = self.layout.len();
            sums.chunks.truncate(usize::try_from(self.layout.nchunks()).unwrap_or(usize::MAX));
            sums.sizes = FileSum::of_file(self.committed.to_text().as_bytes());
            self.write_sums()?;
            self.sums_changed = false;
        }
        Ok(())
    }

    /// Marks the sums on disk as unknown for chunks whose files are about to be replaced.
    fn mark_replaced(&mut self, nchunks: Range<u64>) -> Result<()> {
        let Some(sums) = &mut self.sums else { return Ok(()) };
        if !sums.forget_chunks(nchunks) {
            return Ok(());
        }
        self.sums_changed = true;
        self.write_sums()
    }

    /// Writes the file of a chunk that `meta/sizes` counts, or will count after a commit.
    fn replace_chunk(&mut self, nchunk: u64, file: &[u8]) -> Result<()> {
        self.keep_old(nchunk)?;
        self.mark_replaced(nchunk..nchunk + 1)?;
        self.write(chunk_path(&self.path, nchunk), file)?;
        self.note_replaced(nchunk);
        self.set_sum(nchunk, file);
        Ok(())
    }

    fn set_sum(&mut self, nchunk: u64, file: &[u8]) {
        if let Some(sums) = &mut self.sums {
            sums.set_chunk(nchunk, FileSum::of_file(file));
            self.sums_changed = true;
        }
    }

    /// The new content of `meta/sizes`.
    fn sizes(&self) -> Sizes {
        let nbytes = self.layout.nbytes_of(self.len());
        Sizes {
            shape: self.layout.shape.clone(),
            nbytes: Some(nbytes.into()),
            cbytes: Some(self.cbytes),
        }
    }

    /// Checks that the array on disk is the one that was opened or last written.
    fn check_unchanged(&self) -> Result<()> {
        let path = meta::sizes_path(&self.path);
        let found = read_metadata(&*self.tree, &path)?.and_then(|bytes| {
            let json = meta::parse_object(&path, &bytes).ok()?;
            Sizes::parse(&json, &path).ok()
        });
        if found.as_ref() == Some(&self.committed) {
            Ok(())
        } else {
            Err(Error::ChangedByOther { path })
        }
    }

    fn commit_sizes(&mut self, sizes: Sizes) -> Result<()> {
        self.write(meta::sizes_path(&self.path), sizes.to_text().as_bytes())?;
        self.committed = sizes;
        self.undo = None;
        self.sums_changed = self.sums.is_some();
        self.sync()
    }

    fn set_len(&mut self, len: u64) {
        if let Some(length) = self.layout.shape.first_mut() {
            *length = len;
        }
    }

    /// The array on disk, with this writer's length.
    fn reader(&self) -> Result<CArray> {
        let mut array = CArray::open_column(self.tree.clone(), &self.path, &self.options)?;
        array.layout = self.layout.clone();
        Ok(array)
    }

    fn write(&mut self, path: String, bytes: &[u8]) -> Result<()> {
        self.tree.write(&path, bytes).map_err(|source| Error::io(&path, source))?;
        self.unsynced.push(path);
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        self.tree.sync_all(&self.unsynced).map_err(|source| Error::io(&self.path, source))?;
        self.unsynced.clear();
        Ok(())
    }
}

/// Makes a directory at a path where nothing exists.
pub(crate) fn create_dir(tree: &dyn Tree, path: &str) -> Result<()> {
    let created =
        tree.create_dir(path).and_then(|()| tree.sync_names(blosc_io::tree::parent(path)));
    created.map_err(|source| match source.kind() {
        std::io::ErrorKind::AlreadyExists => Param::Exists { path: path.to_owned() }.into(),
        _ => Error::io(path, source),
    })
}

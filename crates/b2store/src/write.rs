//! Makes and changes stores ("Writing" in `docs/formats/store.md`).
//!
//! ```text
//!   StoreWriter     future keys, attributes, groups; no byte is written yet
//!        |  commit
//!   archive         the bytes of a zip archive, read from its members
//!   steps           the order of changes in a directory
//!   place           one rename, or one for each changed file of a directory
//! ```

mod archive;
mod attributes;
mod commit;
mod compact;
mod draft;
mod edit;
mod place;
mod steps;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use b2frame::lock::{FrameLock, Locking};
use b2frame::{NdArray, SChunk};
use blosc_io::lock::LockKind;
use blosc_io::replace::{self, is_temporary};
use blosc_io::tree::TreeLock;
use blosc_io::{Durability, FileStore, LockWait, MemStore, ReadAt, Tree, Windowed};

use crate::content::Content;
use crate::error::{Corrupt, Error, Param, Result};
use crate::files::Files;
use crate::key;
use crate::store::{EMBED_FILE, Location, OpenOptions, Store};
use crate::value::Value;
pub(crate) use archive::crc32_of;
pub use archive::joined_archive;
pub(crate) use draft::Draft;
use edit::edit_frame;
use place::Place;
#[cfg(feature = "arrow")]
pub(crate) use table::fixed_name;
pub(crate) use table::indexed_columns;
pub use table::{NewColumn, RowAppender, TableParams};

/// The form of a store on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreForm {
    /// A zip archive, `.b2z`.
    Zip,
    /// A directory, `.b2d`.
    Dir,
    /// One frame, `.b2e`.
    Embed,
}

blosc_chunk::setters! {
/// Options for making or changing a store.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct WriteOptions {
    /// The durability of a commit. Default: it survives a loss of power.
    pub durability: Durability,
    /// The wait for another writer.
    pub wait: LockWait,
    /// Whether to take the lock of python-blosc2 as well. Default: if that lock is in use.
    pub locking: Locking,
    /// Options for reading the store under change.
    pub open: OpenOptions,
    ;
    /// The form of a new store; `None` (the default) for the form of its suffix, otherwise a zip
    /// archive.
    pub form: Option<StoreForm>,
    /// Whether a new store is a flat map of keys, which python-blosc2 opens without groups.
    pub is_flat: bool,
    /// Whether a new archive or frame may replace a file.
    pub is_replacing: bool,
}
}

impl WriteOptions {
    /// The options with this form.
    #[must_use]
    pub fn form(self, form: StoreForm) -> Self {
        Self { form: Some(form), ..self }
    }

    /// The options for a flat map of keys, or a tree.
    #[must_use]
    pub fn flat(self, is_flat: bool) -> Self {
        Self { is_flat, ..self }
    }

    /// The options that allow or forbid replacing a file.
    #[must_use]
    pub fn replace(self, is_replacing: bool) -> Self {
        Self { is_replacing, ..self }
    }
}

/// Makes or changes a store. Only [`commit`](Self::commit) writes.
///
/// Values are contiguous frames and stay as they are. In a zip archive or a directory each value is
/// a file; in an embed store all lie in its frame. A writer that changes a store holds its lock
/// until it is dropped or committed.
///
/// ```
/// use b2store::{Content, Store, StoreWriter, Value};
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("x.b2z");
/// let mut writer = StoreWriter::create(&path)?;
/// let frame = b2frame::to_cframe(&[7; 1000], &b2frame::FrameParams::default())?;
/// writer.insert_cframe("/g/sevens", frame)?;
/// writer.set_attribute("/g", "unit", &Value::Str("m".into()))?;
/// let store = writer.commit()?;
/// assert!(matches!(store.get("/g/sevens")?, Content::Frame(frame) if frame.nbytes() == 1000));
///
/// let mut writer = StoreWriter::open(&path)?;
/// writer.remove("/g")?;
/// assert_eq!(writer.commit()?.keys().len(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct StoreWriter {
    form: StoreForm,
    place: Place,
    /// The store under change, or the source of a copy.
    base: Option<Store>,
    /// Whether `place` differs from the place of `base`.
    is_new: bool,
    options: WriteOptions,
    /// All files except `embed.b2e`; `None` for files of `base` that stay as they are.
    files: BTreeMap<String, Option<NewFile>>,
    keys: BTreeMap<String, At>,
    /// Files of the directory that get another suffix before new files replace them.
    renamed: Vec<(String, String)>,
    registry: BTreeMap<String, Value>,
    tables: BTreeSet<String>,
    /// Frames that are written before all others, instead of their entries in `files`.
    first: BTreeMap<String, NewFile>,
    is_changed: bool,
    /// Keys with new bytes that hold the same data as the old ones.
    same: BTreeSet<String>,
    /// Whether the embedded values are written anew, one after the other.
    is_embed_anew: bool,
    held: Option<Held>,
}

/// The bytes of a new value.
#[derive(Clone)]
struct NewFile(Arc<dyn ReadAt>);

impl core::fmt::Debug for NewFile {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("NewFile")
    }
}

/// The place of a key's value.
#[derive(Clone, Debug)]
enum At {
    /// In a file of the store.
    File(String),
    /// The frame of the base; its map has the range, if any.
    Base,
    /// The frame that will be written.
    New(NewFile),
}

/// The locks that keep other programs from changing the store.
#[derive(Debug)]
struct Held {
    /// The lock of python-blosc2. It is released first.
    sidecar: Option<FrameLock>,
    _lock: Box<dyn TreeLock>,
}

impl StoreWriter {
    /// Creates a store. Its suffix decides the form: `.b2d` a directory, `.b2e` one frame, any
    /// other a zip archive.
    ///
    /// # Errors
    ///
    /// [`Param::Exists`].
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        Self::create_with(path, &WriteOptions::default())
    }

    /// Creates a store with options.
    ///
    /// # Errors
    ///
    /// [`Param::Exists`]; an unreadable directory.
    pub fn create_with(path: impl AsRef<Path>, options: &WriteOptions) -> Result<Self> {
        let place = place_of(path.as_ref(), options)?;
        // Leftovers that cannot be removed are harmless.
        let _ = replace::sweep(path.as_ref());
        Self::create_at(place, options)
    }

    /// Creates a store in a tree.
    ///
    /// # Errors
    ///
    /// As [`create_with`](Self::create_with).
    pub fn create_in(tree: Arc<dyn Tree>, name: &str, options: &WriteOptions) -> Result<Self> {
        Self::create_at(Place { tree, name: name.to_owned(), dir: None }, options)
    }

    fn create_at(place: Place, options: &WriteOptions) -> Result<Self> {
        let by_suffix = match place.name.rsplit_once('.') {
            Some((_, "b2d")) => StoreForm::Dir,
            Some((_, "b2e")) => StoreForm::Embed,
            _ => StoreForm::Zip,
        };
        let form = options.form.unwrap_or(by_suffix);
        let exists = place.exists().map_err(|source| Error::io(&place.name, source))?;
        let may_replace = options.is_replacing && form != StoreForm::Dir && !place.is_dir()?;
        if exists && !may_replace {
            return Err(Param::Exists { name: place.name }.into());
        }
        Ok(Self::new(place, form, options))
    }

    fn new(place: Place, form: StoreForm, options: &WriteOptions) -> Self {
        Self {
            form,
            place,
            base: None,
            is_new: true,
            options: options.clone(),
            files: BTreeMap::new(),
            keys: BTreeMap::new(),
            renamed: Vec::new(),
            registry: BTreeMap::new(),
            tables: BTreeSet::new(),
            first: BTreeMap::new(),
            is_changed: true,
            same: BTreeSet::new(),
            is_embed_anew: false,
            held: None,
        }
    }

    /// Opens a store to change it, and locks it.
    ///
    /// # Errors
    ///
    /// As [`open_with`](Self::open_with).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &WriteOptions::default())
    }

    /// Opens a store with options to change it, and locks it.
    ///
    /// # Errors
    ///
    /// As [`Store::open_with`]; a lock that another program holds; compressed or encrypted members
    /// of an archive, since a new archive would not keep them as they are; bytes before or after
    /// the archive, which would be lost.
    pub fn open_with(path: impl AsRef<Path>, options: &WriteOptions) -> Result<Self> {
        let path = path.as_ref();
        let place = place_of(path, options)?;
        let file = if place.is_dir()? { path.join(EMBED_FILE) } else { path.to_path_buf() };
        let held = Held::take(&place, Some(&file), options)?;
        // Leftovers that cannot be removed are harmless.
        let _ = replace::sweep(path);
        Self::open_at(place, held, options)
    }

    /// Opens a store in a tree to change it.
    ///
    /// # Errors
    ///
    /// As [`open_with`](Self::open_with).
    pub fn open_in(tree: Arc<dyn Tree>, name: &str, options: &WriteOptions) -> Result<Self> {
        let place = Place { tree, name: name.to_owned(), dir: None };
        let held = Held::take(&place, None, options)?;
        Self::open_at(place, held, options)
    }

    fn open_at(place: Place, held: Held, options: &WriteOptions) -> Result<Self> {
        let base = open_store(&place, &options.open)?;
        let form = match base.files() {
            Files::None => StoreForm::Embed,
            Files::Tree(_) => StoreForm::Dir,
            Files::Zip { .. } => StoreForm::Zip,
        };
        let mut writer = Self::new(place, form, options);
        writer.is_new = false;
        writer.is_changed = false;
        writer.held = Some(held);
        writer.take_base(base)?;
        Ok(writer)
    }

    /// Starts with the content of a store.
    fn take_base(&mut self, base: Store) -> Result<()> {
        if let Some(member) = base.files().members().iter().find(|m| m.method != 0) {
            let what = Corrupt::Compressed { method: member.method };
            return Err(Error::corrupt(&member.name, what));
        }
        if let Some(member) = base.files().members().iter().find(|m| m.is_encrypted) {
            return Err(Error::corrupt(&member.name, Corrupt::Encrypted));
        }
        // A change writes the archive anew, without the bytes around it, and someone may need
        // those. A copy leaves them in the old file.
        let [before, after] = base.files().outside();
        if !self.is_new && (before > 0 || after > 0) {
            return Err(Param::Outside { before, after }.into());
        }
        for path in base.files().paths(base.options().max_files)? {
            // The list includes links; in another place they would point to other files.
            let is_kept = !self.is_new || !is_scrap(&path) && base.files().has(&path)?;
            if path != EMBED_FILE && is_kept {
                self.files.insert(path, None);
            }
        }
        for key in base.keys() {
            let at = match base.location(key) {
                Some(Location::File { path }) => At::File(path.clone()),
                _ => At::Base,
            };
            self.keys.insert(key.to_owned(), at);
        }
        self.registry = base.registry().clone();
        self.tables = base.tables().map(str::to_owned).collect();
        self.base = Some(base);
        Ok(())
    }

    /// The form of the store on disk.
    #[must_use]
    pub const fn form(&self) -> StoreForm {
        self.form
    }

    /// All keys that will have a value.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.keys.keys().map(String::as_str)
    }

    /// Whether the key will have a value.
    #[must_use]
    pub fn contains(&self, key: &str) -> bool {
        self.keys.contains_key(key)
    }

    /// The keys of all future tables.
    pub fn tables(&self) -> impl ExactSizeIterator<Item = &str> {
        self.tables.iter().map(String::as_str)
    }

    /// The future frame of a value.
    ///
    /// # Errors
    ///
    /// As [`Store::frame`].
    pub fn frame(&self, key: &str) -> Result<SChunk> {
        if let Some(NewFile(source)) = self.new_file(key) {
            return SChunk::from_store_with(Arc::clone(source), &self.options.open.frame)
                .map_err(|source| Error::frame(key, source));
        }
        match &self.base {
            Some(base) if self.contains(key) => base.frame(key),
            _ => Err(Error::no_key(key)),
        }
    }

    /// The future value of a key.
    ///
    /// # Errors
    ///
    /// As [`Store::get`].
    pub fn get(&self, key: &str) -> Result<Content> {
        Ok(Content::from_schunk(self.frame(key)?, key)?.budget(&self.options.open.budget))
    }

    /// The bytes of the frame of a value.
    fn source(&self, key: &str) -> Result<Arc<dyn ReadAt>> {
        match self.new_file(key) {
            Some(NewFile(source)) => Ok(Arc::clone(source)),
            None => match (&self.base, self.contains(key)) {
                (Some(base), true) => base.source(key).map(|(source, _)| source),
                _ => Err(Error::no_key(key)),
            },
        }
    }

    fn new_file(&self, key: &str) -> Option<&NewFile> {
        match self.keys.get(key)? {
            At::New(file) => Some(file),
            At::File(path) => self.files.get(path)?.as_ref(),
            At::Base => None,
        }
    }

    /// Adds or replaces an array.
    ///
    /// # Errors
    ///
    /// As [`insert_cframe`](Self::insert_cframe); unreadable chunks.
    pub fn insert_array(&mut self, key: &str, array: &NdArray) -> Result<()> {
        self.insert_schunk(key, array.schunk())
    }

    /// Adds or replaces a super-chunk, with its metalayers, which decide its kind.
    ///
    /// # Errors
    ///
    /// As [`insert_cframe`](Self::insert_cframe); unreadable chunks.
    pub fn insert_schunk(&mut self, key: &str, schunk: &SChunk) -> Result<()> {
        self.check_key(key)?;
        let frame = schunk.to_cframe().map_err(|source| Error::frame(key, source))?;
        self.insert_cframe(key, frame)
    }

    /// Adds or replaces a value by a contiguous frame.
    ///
    /// # Errors
    ///
    /// [`Param::Key`], [`Param::Occupied`]; bytes that are not a frame.
    pub fn insert_cframe(&mut self, key: &str, frame: Vec<u8>) -> Result<()> {
        self.insert_source(key, Arc::new(MemStore::new(frame)))
    }

    /// Adds or replaces a value by the contiguous frame in a file. [`commit`](Self::commit) copies
    /// the file, which must not change before.
    ///
    /// # Errors
    ///
    /// As [`insert_cframe`](Self::insert_cframe); an unreadable file.
    pub fn insert_file(&mut self, key: &str, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let store = FileStore::open(path)
            .map_err(|source| Error::io(path.display().to_string(), source))?;
        self.insert_source(key, Arc::new(store))
    }

    /// Adds or replaces a value by the contiguous frame at the beginning of a store.
    /// [`commit`](Self::commit) reads its bytes.
    ///
    /// # Errors
    ///
    /// As [`insert_cframe`](Self::insert_cframe).
    pub fn insert_source(&mut self, key: &str, source: Arc<dyn ReadAt>) -> Result<()> {
        self.check_key(key)?;
        let (source, suffix) = self.checked_frame(key, source)?;
        self.store_value(key, suffix, source);
        Ok(())
    }

    /// A frame without the bytes after it and without indexes, whose files are not copied.
    fn checked_frame(
        &self,
        key: &str,
        source: Arc<dyn ReadAt>,
    ) -> Result<(Arc<dyn ReadAt>, &'static str)> {
        let wrong = |source| Error::frame(key, source);
        let options = &self.options.open.frame;
        let schunk = SChunk::from_store_with(Arc::clone(&source), options).map_err(wrong)?;
        let suffix = suffix_of(&schunk);
        if schunk.vlmeta().stored().get(INDEXES_LAYER).is_some() {
            let source =
                edit_frame(source, key, |writer| writer.delete_vlmeta(INDEXES_LAYER).map(drop))?;
            return Ok((source, suffix));
        }
        let len = schunk.frame_len();
        drop(schunk);
        let found = source.len().map_err(|source| Error::io(key, source))?;
        if found < len {
            return Err(Error::corrupt(key, Corrupt::FrameLen { found: len, expected: found }));
        }
        if found == len {
            return Ok((source, suffix));
        }
        let window = Windowed::new(source, 0, len).map_err(|source| Error::io(key, source))?;
        Ok((Arc::new(window), suffix))
    }

    /// Checks that a value may have this key: case 39 of the format.
    fn check_key(&self, key: &str) -> Result<()> {
        key::check_new(key).map_err(|fault| Param::Key { key: key.to_owned(), fault })?;
        if self.tables.contains("/") || self.tables.contains(key) {
            let other = if self.tables.contains(key) { key } else { "/" };
            return Err(Error::occupied(key, other, "a table"));
        }
        for group in key::ancestors(key) {
            if self.tables.contains(group) {
                return Err(Error::occupied(key, group, "a table"));
            }
            if self.contains(group) {
                return Err(Error::occupied(key, group, "a value and no group"));
            }
        }
        match self.below(key).next() {
            Some(other) if !self.contains(key) => {
                Err(Error::occupied(key, other, "in the group of this name"))
            }
            _ => Ok(()),
        }
    }

    /// The table that contains a key.
    fn table_above<'a>(&self, key: &'a str) -> Option<&'a str> {
        key::ancestors(key).chain(["/"]).find(|group| self.tables.contains(*group))
    }

    /// The keys below a key.
    fn below<'a>(&'a self, key: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        let prefix = format!("{}/", key.trim_end_matches('/'));
        let keys = self.keys.range(prefix.clone()..).map(|(key, _)| key.as_str());
        keys.take_while(move |key| key.starts_with(&prefix))
    }

    /// Replaces the value of a key by a frame.
    fn store_value(&mut self, key: &str, suffix: &str, source: Arc<dyn ReadAt>) {
        self.is_changed = true;
        self.same.remove(key);
        if self.form == StoreForm::Embed {
            self.keys.insert(key.to_owned(), At::New(NewFile(source)));
            return;
        }
        let names = key.trim_start_matches('/');
        let path = format!("{names}{suffix}");
        if let Some(At::File(old)) = self.keys.get(key).cloned() {
            self.remove_indexes(&old);
            if old != path
                && self.files.remove(&old).is_some_and(|file| file.is_none() && !self.is_new)
            {
                self.renamed.push((old, path.clone()));
            }
        }
        self.files.insert(path.clone(), Some(NewFile(source)));
        self.keys.insert(key.to_owned(), At::File(path));
    }

    /// Removes a value, a table, or a group with its content.
    ///
    /// # Errors
    ///
    /// [`Param::NoKey`]; [`Param::Occupied`] for a part of a table.
    pub fn remove(&mut self, key: &str) -> Result<()> {
        if let Some(table) = self.table_above(key).filter(|table| *table != key) {
            return Err(Error::occupied(key, table, "a table"));
        }
        let mut gone: Vec<String> = self.below(key).map(str::to_owned).collect();
        gone.extend(self.contains(key).then(|| key.to_owned()));
        let prefix = format!("{}/", key.trim_end_matches('/'));
        let is_gone = |other: &String| other == key || other.starts_with(&prefix);
        if gone.is_empty() && !self.registry.keys().any(is_gone) {
            return Err(Error::no_key(key));
        }
        self.registry.retain(|other, _| !is_gone(other));
        self.tables.retain(|other| !is_gone(other));
        gone.iter().for_each(|key| self.remove_value(key));
        self.is_changed = true;
        Ok(())
    }

    /// Removes a value and the indexes on it.
    fn remove_value(&mut self, key: &str) {
        self.is_changed = true;
        if let Some(At::File(path)) = self.keys.remove(key) {
            self.files.remove(&path);
            self.remove_indexes(&path);
        }
    }

    /// Removes the files of indexes on the array in a file.
    fn remove_indexes(&mut self, path: &str) {
        let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
        let prefix = format!("{stem}{}", key::INDEX_MARK);
        let files = self.files.range(prefix.clone()..).map(|(path, _)| path);
        let gone: Vec<String> =
            files.take_while(|path| path.starts_with(&prefix)).cloned().collect();
        gone.iter().for_each(|path| drop(self.files.remove(path)));
    }

    /// Sets the entry of an object in the registry. It tells python-blosc2 the kind of a key that
    /// has other keys below. Entries of unknown kinds are kept like others.
    ///
    /// # Errors
    ///
    /// [`Param::Key`]; [`Param::Value`].
    pub fn register(&mut self, key: &str, entry: Value) -> Result<()> {
        key::check(key).map_err(|fault| Param::Key { key: key.to_owned(), fault })?;
        if entry.encode().is_none() {
            return Err(Param::Value { name: key.to_owned() }.into());
        }
        self.registry.insert(key.to_owned(), entry);
        self.is_changed = true;
        Ok(())
    }
}

/// Packs a store, usually a directory, into a new zip archive with the same keys and frames. Files
/// of locks and of interrupted writers are left out.
///
/// # Errors
///
/// As [`Store::open`] and [`StoreWriter::create`]; errors of writing.
pub fn pack(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<Store> {
    let options = WriteOptions::default().form(StoreForm::Zip);
    StoreWriter::copy(&Store::open(from)?, to, &options)?.commit()
}

/// Unpacks a store, usually a zip archive, into a new directory.
///
/// # Errors
///
/// As [`pack`]; [`Param::SamePath`], [`Param::Path`] for names that some system cannot have as
/// separate files.
pub fn unpack(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<Store> {
    let options = WriteOptions::default().form(StoreForm::Dir);
    StoreWriter::copy(&Store::open(from)?, to, &options)?.commit()
}

impl StoreWriter {
    /// Creates a store with the content of another one, perhaps in another form. Changes before the
    /// commit affect only the copy.
    ///
    /// # Errors
    ///
    /// As [`Store::check`], [`create_with`](Self::create_with) and
    /// [`open_with`](Self::open_with).
    pub fn copy(from: &Store, to: impl AsRef<Path>, options: &WriteOptions) -> Result<Self> {
        let mut writer = Self::create_with(to, options)?;
        writer.copy_all(from)?;
        Ok(writer)
    }

    /// As [`copy`](Self::copy), in a tree.
    ///
    /// # Errors
    ///
    /// As [`copy`](Self::copy).
    pub fn copy_in(
        from: &Store,
        tree: Arc<dyn Tree>,
        name: &str,
        options: &WriteOptions,
    ) -> Result<Self> {
        let mut writer = Self::create_in(tree, name, options)?;
        writer.copy_all(from)?;
        Ok(writer)
    }

    fn copy_all(&mut self, from: &Store) -> Result<()> {
        from.compare()?;
        let is_frame = matches!(from.files(), Files::None);
        if is_frame == (self.form == StoreForm::Embed) {
            self.take_base(from.clone())?;
            return self.compact_copy(from);
        }
        // Between one frame and files, every value moves.
        for key in from.keys() {
            let (source, _) = from.source(key)?;
            let (source, suffix) = self.checked_frame(key, source)?;
            self.store_value(key, suffix, source);
        }
        self.registry = from.registry().clone();
        self.tables = from.tables().map(str::to_owned).collect();
        self.compact_copy(from)
    }

    /// Drops unused bytes from the copy, unless damage is copied: then the bytes stay as they are.
    fn compact_copy(&mut self, from: &Store) -> Result<()> {
        if from.options().frame.mismatch.is_noted() { Ok(()) } else { self.compact() }
    }

    /// Replaces a value, or a part of a table, by a frame with the same data in another
    /// compression. Indexes on an array are removed.
    ///
    /// # Errors
    ///
    /// [`Param::NoKey`]; bytes that are not a frame.
    pub fn insert_recompressed(&mut self, key: &str, path: impl AsRef<Path>) -> Result<()> {
        if !self.contains(key) {
            return Err(Error::no_key(key));
        }
        let path = path.as_ref();
        let store = FileStore::open(path)
            .map_err(|source| Error::io(path.display().to_string(), source))?;
        let (source, _) = self.checked_frame(key, Arc::new(store))?;
        if let Some(At::File(path)) = self.keys.get(key).cloned() {
            self.remove_indexes(&path);
        }
        self.put_source(key, source);
        Ok(())
    }
}

impl Held {
    fn take(place: &Place, file: Option<&Path>, options: &WriteOptions) -> Result<Self> {
        let wrong = |source| Error::io(&place.name, source);
        let lock = place.tree.lock(&place.name, LockKind::Exclusive, &options.wait);
        let lock = lock.map_err(wrong)?;
        let sidecar = match file {
            Some(file) => options.locking.exclusive(file, &options.wait),
            None => Ok(None),
        };
        let sidecar = sidecar.map_err(|source| Error::frame(&place.name, source))?;
        Ok(Self { sidecar, _lock: lock })
    }
}

fn place_of(path: &Path, options: &WriteOptions) -> Result<Place> {
    Place::in_dir(path, options.durability)
        .map_err(|source| Error::io(path.display().to_string(), source))
}

fn open_store(place: &Place, options: &OpenOptions) -> Result<Store> {
    if place.is_dir()? {
        return Store::from_tree(place.files(), options);
    }
    let file = place.tree.open(&place.name).map_err(|source| Error::io(&place.name, source))?;
    Store::from_store(Arc::from(file), options)
}

/// The vlmetalayer that names the indexes on an array.
const INDEXES_LAYER: &str = "blosc2_indexes";

/// Whether a file does not belong to a store: files of locks and of interrupted writers.
fn is_scrap(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    [".b2lock", ".tmp"].iter().any(|suffix| path.ends_with(suffix)) || is_temporary(name)
}

/// The suffix of the file of a frame.
fn suffix_of(schunk: &SChunk) -> &'static str {
    let has = |layer: &str| schunk.meta().get(layer).is_some();
    if has("b2nd") || has("b2o") {
        ".b2nd"
    } else if has("batcharray") && !has("listarray") {
        ".b2b"
    } else {
        ".b2f"
    }
}

/// A new frame, in memory until it is written.
pub(crate) fn new_frame(
    params: &b2frame::FrameParams,
    name: &str,
    edit: impl FnOnce(&mut b2frame::SChunkWriter) -> Result<()>,
) -> Result<Arc<dyn ReadAt>> {
    let wrong = |source| Error::frame(name, source);
    let draft = Draft::empty();
    let store = Box::new(draft.clone());
    let mut writer = b2frame::SChunkWriter::create_in(store, params).map_err(wrong)?;
    edit(&mut writer)?;
    writer.commit().map_err(wrong)?;
    let len = writer.finish().map_err(wrong)?.frame_len();
    draft.into_frame(len, name)
}

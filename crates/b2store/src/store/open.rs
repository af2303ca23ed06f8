//! Recognises a store, and finds its keys.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use b2frame::probe::{Kind, PROBE_LEN, probe};
use b2frame::{Budget, SChunk};
use blosc_io::tree::DirTree;
use blosc_io::{FileStore, ReadAt, Tree, look_at};

use super::{Inner, Location, Note, Raw, Store, StoreKind};
use crate::content::{metalayer, vlmetalayer};
use crate::embed::embed_map;
use crate::error::{Blame, Corrupt, Error, Result};
use crate::files::Files;
use crate::key;
use crate::recipe::RecipeKind;
use crate::value::Value;

blosc_chunk::setters! {
/// Options for opening a store.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OpenOptions {
    /// The largest number of files in a directory, or of members in an archive. Default: 1,000,000.
    pub max_files: u64,
    /// The largest number of embedded values. Default: 1,000,000.
    pub max_embedded: u64,
    /// Options for opening frames.
    pub frame: b2frame::OpenOptions,
    /// Threads and memory for reading arrays, batches of objects and several columns.
    pub budget: Budget,
}
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            max_files: 1_000_000,
            max_embedded: 1_000_000,
            frame: b2frame::OpenOptions::default(),
            budget: Budget::default(),
        }
    }
}

/// The file by which a folder or an archive is recognised as a store; it holds the embedded values.
pub const EMBED_FILE: &str = "embed.b2e";

/// Whether the content of a file or directory is a store: a directory or zip archive with
/// `embed.b2e`, or a frame with the marker of an embed store.
#[must_use]
pub fn is_store(path: impl AsRef<Path>) -> bool {
    Store::open(path).is_ok()
}

/// Whether an archive has the member `embed.b2e`, or a frame the marker of an embed store. Cheaper
/// than [`is_store`], which opens the store. `None` if damage hides the answer; if only the
/// directory of an archive is damaged, the name of its first member may tell.
///
/// # Errors
///
/// The errors of the storage.
pub fn has_marker(store: Arc<dyn ReadAt>) -> io::Result<Option<bool>> {
    let mut head = [0; PROBE_LEN];
    let head_len = store.read_at(0, &mut head)?;
    if probe(head.get(..head_len).unwrap_or_default()) == Kind::Frame {
        let name = "the frame";
        let marker = SChunk::from_store_with(store, &b2frame::OpenOptions::default())
            .map_err(|source| Error::frame(name, source))
            .and_then(|schunk| marker(&schunk, name));
        return match marker {
            Ok(kind) => Ok(Some(kind == Some(StoreKind::Embed))),
            Err(Error::Recipe { .. }) => Ok(Some(true)),
            Err(error) => error.into_storage().map_or(Ok(None), Err),
        };
    }
    match Files::of_zip(Arc::clone(&store), OpenOptions::default().max_files) {
        Ok(files) => Ok(files.has(EMBED_FILE).ok()),
        Err(error) => match error.into_storage() {
            Some(error) => Err(error),
            None => Ok(starts_like_a_store(&*store)?.then_some(true)),
        },
    }
}

/// Whether the name of an archive's first member is like that of a value in a store.
fn starts_like_a_store(store: &dyn ReadAt) -> io::Result<bool> {
    let name = first_member(store)?;
    Ok(name.is_some_and(|name| name == EMBED_FILE || key::key_of_file(&name).is_some()))
}

/// The name of the first member of a zip archive, from its local header: enough to distinguish
/// kinds of archives without reading the directory. `None` if the archive does not begin with a
/// member.
///
/// # Errors
///
/// The errors of the storage.
pub fn first_member(store: &dyn ReadAt) -> io::Result<Option<String>> {
    let mut header = [0; LOCAL_HEADER_LEN];
    if !read_whole(store, 0, &mut header)? || !header.starts_with(b"PK\x03\x04") {
        return Ok(None);
    }
    let [.., low, high, _, _] = header;
    let mut name = vec![0; u16::from_le_bytes([low, high]).into()];
    let is_whole = read_whole(store, LOCAL_HEADER_LEN as u64, &mut name)?;
    Ok(is_whole.then(|| String::from_utf8_lossy(&name).into_owned()))
}

/// Reads bytes at a position; false if the store ends before.
fn read_whole(store: &dyn ReadAt, at: u64, bytes: &mut [u8]) -> io::Result<bool> {
    match store.read_exact_at(at, bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// Length of a local header before the name (bytes).
const LOCAL_HEADER_LEN: usize = 30;

impl Store {
    /// Opens a file or directory.
    ///
    /// # Errors
    ///
    /// See [`open_with`](Self::open_with).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &OpenOptions::default())
    }

    /// Opens a file or directory with options. Links out of a directory are not followed.
    ///
    /// # Errors
    ///
    /// [`Error::NotAStore`]; a damaged archive, or damaged metadata. Reading a damaged value
    /// reports its damage.
    pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        let path = path.as_ref();
        let name = || path.display().to_string();
        let found = look_at(path).map_err(|source| Error::io(name(), source))?;
        if found.is_some_and(|found| found.is_dir()) {
            return Self::from_tree(Arc::new(DirTree::new(path).follow_links(false)), options);
        }
        let store = FileStore::open(path).map_err(|source| Error::io(name(), source))?;
        Self::from_store(Arc::new(store), options)
    }

    /// Opens a store in a directory of any storage.
    ///
    /// # Errors
    ///
    /// As [`open_with`](Self::open_with).
    pub fn from_tree(tree: Arc<dyn Tree>, options: &OpenOptions) -> Result<Self> {
        Self::from_files(Files::Tree(tree), options)
    }

    /// Opens an archive, or the frame of an embed store.
    ///
    /// # Errors
    ///
    /// As [`open_with`](Self::open_with).
    pub fn from_store(store: Arc<dyn ReadAt>, options: &OpenOptions) -> Result<Self> {
        let len = store.len().map_err(|source| Error::io("the file", source))?;
        let mut head = [0; PROBE_LEN];
        let head_len = usize::try_from(len).unwrap_or(PROBE_LEN).min(PROBE_LEN);
        let head = head.get_mut(..head_len).unwrap_or_default();
        store.read_exact_at(0, head).map_err(|source| Error::io("the file", source))?;
        if probe(head) == Kind::Frame {
            let schunk = SChunk::from_store_with(Arc::clone(&store), &options.frame)
                .map_err(|source| Error::frame("the frame", source))?;
            let mut opened = Self::from_schunk(Arc::new(schunk), options)?;
            if let Some(inner) = Arc::get_mut(&mut opened.inner) {
                inner.raw = Some(Raw(store));
            }
            return Ok(opened);
        }
        // An archive may have bytes before it: it is found from its end.
        Self::from_files(Files::of_zip(store, options.max_files)?, options)
    }

    /// Opens an embed store.
    ///
    /// # Errors
    ///
    /// As [`open_with`](Self::open_with).
    pub fn from_schunk(schunk: Arc<SChunk>, options: &OpenOptions) -> Result<Self> {
        match marker(&schunk, "the frame")? {
            Some(StoreKind::Embed) => {
                Self::with_embed(Files::None, schunk, StoreKind::Embed, options)
            }
            _ => Err(Error::NotAStore { why: "a frame without the marker b2embed" }),
        }
    }

    fn from_files(files: Files, options: &OpenOptions) -> Result<Self> {
        files.prefetch_ends(options.max_files);
        if !files.has(EMBED_FILE)? {
            let is_table = matches!(files, Files::Tree(_)) && files.has("_meta.b2f")?;
            return Err(match is_table {
                true => Error::corrupt("/", Corrupt::Missing(EMBED_FILE.to_owned())),
                false => Error::NotAStore { why: "it has no embed.b2e" },
            });
        }
        let store = files.open(EMBED_FILE, EMBED_FILE)?;
        let len = store.len().map_err(|source| Error::io(EMBED_FILE, source))?;
        let schunk = SChunk::from_store_with(store, &options.frame)
            .map_err(|source| Error::frame(EMBED_FILE, source))?;
        let found = schunk.frame_len();
        if found > len {
            return Err(Error::corrupt(EMBED_FILE, Corrupt::FrameLen { found, expected: len }));
        }
        let kind = match marker(&schunk, EMBED_FILE)? {
            Some(StoreKind::Dict) => StoreKind::Dict,
            // Releases 3.7 to 4.0 wrote the marker of embed stores here.
            _ => StoreKind::Tree,
        };
        Self::with_embed(files, Arc::new(schunk), kind, options)
    }

    fn with_embed(
        files: Files,
        embed: Arc<SChunk>,
        kind: StoreKind,
        options: &OpenOptions,
    ) -> Result<Self> {
        let name = if kind == StoreKind::Embed { "the frame" } else { EMBED_FILE };
        let mut notes = header_notes(&files);
        let [before, after] = files.outside();
        notes.extend((before > 0 || after > 0).then_some(Note::Outside { before, after }));
        let mut locations = file_locations(&files, options.max_files, &mut notes)?;
        for (key, embedded) in embed_map(&embed, name, options.max_embedded)? {
            key::check_size(key.as_str().unwrap_or_default())?;
            insert_embedded(&mut locations, &key, embedded, &mut notes);
        }
        key::check_groups(locations.keys().map(String::as_str))?;
        let registry = match vlmetalayer(&embed, name, "_object_registry")? {
            None => BTreeMap::new(),
            Some(Value::Map(entries)) => {
                let named = |(key, value): (Value, Value)| match key {
                    Value::Str(key) if key::check(&key).is_ok() => Some((key, value)),
                    _ => None,
                };
                entries.into_iter().filter_map(named).collect()
            }
            Some(_) => {
                notes.push(Note::Registry);
                BTreeMap::new()
            }
        };
        let inner = Inner {
            kind,
            files,
            embed,
            raw: None,
            locations,
            registry,
            tables: BTreeSet::new(),
            notes,
            options: options.clone(),
        };
        Self { inner: Arc::new(inner) }.with_tables()
    }

    /// The store with its tables, which their manifests tell.
    fn with_tables(self) -> Result<Self> {
        let mut tables = BTreeSet::new();
        for key in self.keys() {
            let Some(root) = key.strip_suffix("/_meta") else { continue };
            if self.is_manifest(key)? {
                tables.insert(if root.is_empty() { "/" } else { root }.to_owned());
            }
        }
        let Some(mut inner) = Arc::into_inner(self.inner) else {
            return Err(Error::NotAStore { why: "it is in use" });
        };
        for (key, entry) in &inner.registry {
            let is_table = entry.get("kind").and_then(Value::as_str) == Some("ctable");
            if is_table && !tables.contains(key) {
                inner.notes.push(Note::NoData { key: key.clone() });
            }
        }
        for root in inner.locations.keys().filter_map(|key| key.strip_suffix("/_valid_rows")) {
            let key = if root.is_empty() { "/" } else { root };
            let columns = format!("{root}/_cols/");
            let next = inner.locations.range(columns.clone()..).next();
            let has_columns = next.is_some_and(|(key, _)| key.starts_with(&columns));
            // A manifest of another kind belongs to another program.
            let is_gone = !inner.locations.contains_key(&format!("{root}/_meta"));
            if has_columns && is_gone {
                inner.notes.push(Note::NoManifest { key: key.to_owned() });
            }
        }
        if tables.contains("/") {
            inner.kind = StoreKind::Table;
        }
        inner.tables = tables;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Whether a frame is the manifest of a table; false for a damaged frame. Fails if the storage
    /// cannot read it.
    fn is_manifest(&self, key: &str) -> Result<bool> {
        let kind = self.frame(key).and_then(|frame| vlmetalayer(&frame, key, "kind"));
        match kind {
            Ok(Some(Value::Str(kind))) => Ok(kind == "ctable"),
            Ok(Some(Value::Bytes(kind))) => Ok(kind == b"ctable"),
            Err(error) if error.blame() == Blame::Io => Err(error),
            _ => Ok(false),
        }
    }
}

/// The members of an archive whose local header and directory differ. For callers that read the
/// archive without a [`Store`]: other programs may read other bytes. Empty for an archive that is
/// refused.
#[must_use]
pub fn differing_headers(path: impl AsRef<Path>) -> Vec<Note> {
    let Ok(store) = FileStore::open(path.as_ref()) else { return Vec::new() };
    let files = Files::of_zip(Arc::new(store), OpenOptions::default().max_files);
    files.map_or_else(|_| Vec::new(), |files| header_notes(&files))
}

fn header_notes(files: &Files) -> Vec<Note> {
    let note = |(path, field): (&str, _)| Note::Header { path: path.to_owned(), field };
    files.differences().map(note).collect()
}

/// The kind of store that the marker of a frame names.
fn marker(schunk: &SChunk, name: &str) -> Result<Option<StoreKind>> {
    if schunk.meta().get("b2remote_store").is_some() {
        return Err(Error::Recipe { name: name.to_owned(), kind: RecipeKind::RemoteStore });
    }
    for (layer, kind) in
        [("b2embed", StoreKind::Embed), ("b2dict", StoreKind::Dict), ("b2tree", StoreKind::Tree)]
    {
        if let Some(found) = metalayer(schunk, name, layer)? {
            crate::content::check_version(&found, name, layer)?;
            return Ok(Some(kind));
        }
    }
    Ok(None)
}

/// The keys of all files.
fn file_locations(
    files: &Files,
    max_files: u64,
    notes: &mut Vec<Note>,
) -> Result<BTreeMap<String, Location>> {
    let mut locations: BTreeMap<String, Location> = BTreeMap::new();
    for path in files.paths(max_files)? {
        if path == EMBED_FILE {
            continue;
        }
        let Some(key) = key::key_of_file(&path) else {
            notes.push(Note::Ignored { path });
            continue;
        };
        key::check_size(&key)?;
        if let Err(fault) = key::check(&key) {
            return Err(Error::corrupt(path, Corrupt::Key { key, fault }));
        }
        if let Some(Location::File { path: other }) = locations.get(&key) {
            if is_dictionary_pair(&path, other) {
                // The words of a dictionary beside a column of that name: see `table`.
                notes.push(Note::Ignored { path });
                continue;
            }
            return Err(Error::corrupt(path, Corrupt::TwoPlaces { other: other.clone() }));
        }
        locations.insert(key, Location::File { path });
    }
    Ok(locations)
}

/// Whether two files of one key are the words of a dictionary column `d`, and a column `d_dict`.
fn is_dictionary_pair(path: &str, other: &str) -> bool {
    let is_words = |path: &str| path.ends_with("_dict.b2b");
    let is_column = |path: &str| path.ends_with("_dict.b2nd");
    (is_words(path) && is_column(other)) || (is_words(other) && is_column(path))
}

/// Adds an embedded value, unless a file of the same key hides it.
fn insert_embedded(
    locations: &mut BTreeMap<String, Location>,
    key: &Value,
    embedded: Location,
    notes: &mut Vec<Note>,
) {
    match key {
        Value::Str(key) if key::check(key).is_ok() => {
            locations.entry(key.clone()).or_insert(embedded);
        }
        Value::Str(key) => notes.push(Note::Key { key: key.clone() }),
        other => notes.push(Note::Key { key: other.type_name().to_owned() }),
    }
}

//! Stores: keys and their values.

mod open;
mod tree;

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use b2frame::{OuterSum, SChunk};
use blosc_chunk::Executor;
use blosc_io::{MemStore, ReadAt};

use crate::content::Content;
use crate::embed::EmbeddedFrame;
use crate::error::{Blame, Corrupt, Error, Param, Result};
use crate::files::Files;
use crate::recipe::RecipeKind;
use crate::table::Table;
use crate::value::Value;
use crate::write::crc32_of;
use crate::zip::ZipFault;

pub use open::{EMBED_FILE, OpenOptions, differing_headers, first_member, has_marker, is_store};
pub(crate) use tree::attributes_of;
pub use tree::{Child, ChildKind};

/// The kind of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreKind {
    /// One frame with all values inside.
    Embed,
    /// A flat map of keys.
    Dict,
    /// Keys as a tree, with groups that have attributes.
    Tree,
    /// A table.
    Table,
}

/// The location of a value's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Location {
    /// A file of the directory, or a member of the archive.
    File {
        /// Its path in the store.
        path: String,
    },
    /// Inside of the frame of the store.
    Embedded {
        /// Position in its content (bytes).
        offset: u64,
        /// Length (bytes).
        len: u64,
    },
    /// Another place; its bytes are not fetched.
    Remote {
        /// Its address.
        url: String,
    },
    /// Unknown: the entry of the key is damaged.
    Damaged(Corrupt),
}

/// An oddity of a readable store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// A file without a value.
    Ignored {
        /// Its path.
        path: String,
    },
    /// A member of an archive whose local header and directory differ in a field. The CRC-32 of its
    /// bytes matches one of the two, or the member is unreadable.
    Header {
        /// Its path.
        path: String,
        /// The field.
        field: &'static str,
    },
    /// Bytes of the file outside of the archive.
    Outside {
        /// The number of bytes before the archive.
        before: u64,
        /// The number of bytes after the archive.
        after: u64,
    },
    /// An embedded key that a store must not have.
    Key {
        /// The key, or a word for the value found.
        key: String,
    },
    /// An object of the registry without data.
    NoData {
        /// Its key.
        key: String,
    },
    /// Columns and rows of a table whose manifest `_meta` is lost.
    NoManifest {
        /// The key that the table had.
        key: String,
    },
    /// The registry is not a map.
    Registry,
}

impl Note {
    /// The damage that the note implies, if any.
    #[must_use]
    pub fn damage(&self) -> Option<Error> {
        match self {
            Self::Header { path, field } => {
                Some(ZipFault::Header { name: path.clone(), field }.into())
            }
            Self::NoManifest { key } => {
                let what = Corrupt::Missing("the manifest _meta of a table".to_owned());
                Some(Error::corrupt(key, what))
            }
            _ => None,
        }
    }
}

/// An open store. Clones share it.
///
/// ```no_run
/// use b2store::{Content, Store};
///
/// let store = Store::open("measurements.b2z")?;
/// for key in store.keys() {
///     if let Content::Array(array) = store.get(key)? {
///         println!("{key}: {:?} of {}", array.shape(), array.dtype());
///     }
/// }
/// # Ok::<(), b2store::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Store {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    kind: StoreKind,
    files: Files,
    /// The frame of `embed.b2e`, or the only frame.
    embed: Arc<SChunk>,
    /// The bytes of the only frame.
    raw: Option<Raw>,
    locations: BTreeMap<String, Location>,
    registry: BTreeMap<String, Value>,
    /// Keys of tables; `/` is the store itself.
    tables: BTreeSet<String>,
    notes: Vec<Note>,
    options: OpenOptions,
}

/// The bytes of a frame.
struct Raw(Arc<dyn ReadAt>);

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Raw")
    }
}

impl Store {
    /// The kind of the store.
    #[must_use]
    pub fn kind(&self) -> StoreKind {
        self.inner.kind
    }

    /// All keys with a value, sorted by bytes: including the keys of attributes, and of the parts
    /// of tables, which [`tree`](Self::tree) hides.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> + fmt::Debug {
        self.inner.locations.keys().map(String::as_str)
    }

    /// Whether the key has a value.
    #[must_use]
    pub fn contains(&self, key: &str) -> bool {
        self.inner.locations.contains_key(key)
    }

    /// The location of a value's bytes.
    #[must_use]
    pub fn location(&self, key: &str) -> Option<&Location> {
        self.inner.locations.get(key)
    }

    /// The oddities found when the store was opened.
    #[must_use]
    pub fn notes(&self) -> &[Note] {
        &self.inner.notes
    }

    /// The registered objects by their keys, with the descriptions in the store.
    #[must_use]
    pub fn registry(&self) -> &BTreeMap<String, Value> {
        &self.inner.registry
    }

    /// The files of the store.
    pub(crate) fn files(&self) -> &Files {
        &self.inner.files
    }

    pub(crate) fn options(&self) -> &OpenOptions {
        &self.inner.options
    }

    /// The frame with the marker of the store and its embedded values.
    #[must_use]
    pub fn embed_frame(&self) -> &Arc<SChunk> {
        &self.inner.embed
    }

    /// The threads that decode columns.
    pub(crate) fn threads(&self) -> &Executor {
        &self.inner.options.budget.threads
    }

    /// The frame of a value.
    ///
    /// # Errors
    ///
    /// [`Param::NoKey`]; a remote value; a location outside of the store, or without a frame.
    pub fn frame(&self, key: &str) -> Result<SChunk> {
        let inner = &self.inner;
        let (store, is_exact) = self.source(key)?;
        let len = store.len().map_err(|source| Error::io(key, source))?;
        let options = inner.options.frame.clone().outer_sum(self.outer_sum(key));
        let mismatch = options.mismatch.of_part(key);
        let options = options.mismatch(mismatch);
        let schunk =
            SChunk::from_store_with(store, &options).map_err(|source| Error::frame(key, source))?;
        let found = schunk.frame_len();
        if found > len || (is_exact && found != len) {
            return Err(Error::corrupt(key, Corrupt::FrameLen { found, expected: len }));
        }
        Ok(schunk)
    }

    /// The bytes of a value's frame, as stored.
    ///
    /// # Errors
    ///
    /// As [`frame`](Self::frame), except for errors inside of the frame.
    pub fn frame_bytes(&self, key: &str) -> Result<Arc<dyn ReadAt>> {
        self.source(key).map(|(source, _)| source)
    }

    /// The bytes of a value, and whether the frame must fill all of them.
    pub(crate) fn source(&self, key: &str) -> Result<(Arc<dyn ReadAt>, bool)> {
        let inner = &self.inner;
        let location = self.location(key);
        let location = location.ok_or_else(|| Param::NoKey { key: key.to_owned() })?;
        match location {
            Location::File { path } => Ok((inner.files.open(path, key)?, false)),
            Location::Embedded { offset, len } => {
                let frame = EmbeddedFrame::new(&inner.embed, *offset, *len, key)?;
                Ok((Arc::new(frame), true))
            }
            Location::Remote { .. } => {
                Err(Error::Recipe { name: key.to_owned(), kind: RecipeKind::RemoteArray })
            }
            Location::Damaged(what) => Err(Error::corrupt(key, what.clone())),
        }
    }

    /// The bytes of the frame of an embed store.
    pub(crate) fn raw_frame(&self) -> Result<Arc<dyn ReadAt>> {
        if let Some(Raw(raw)) = &self.inner.raw {
            return Ok(Arc::clone(raw));
        }
        let frame = self.inner.embed.to_cframe();
        let frame = frame.map_err(|source| Error::frame("the frame", source))?;
        Ok(Arc::new(MemStore::new(frame)))
    }

    /// The value of a key.
    ///
    /// # Errors
    ///
    /// As [`frame`](Self::frame) and [`Content::from_schunk`].
    pub fn get(&self, key: &str) -> Result<Content> {
        Ok(Content::from_schunk(self.frame(key)?, key)?.budget(&self.inner.options.budget))
    }

    /// The keys of all tables, sorted; `/` if the store itself is one.
    pub fn tables(&self) -> impl ExactSizeIterator<Item = &str> {
        self.inner.tables.iter().map(String::as_str)
    }

    /// The table of a key; `/` if the store itself is one.
    ///
    /// # Errors
    ///
    /// [`Param::NoTable`]; an unusable schema.
    pub fn table(&self, key: &str) -> Result<Table> {
        if !self.inner.tables.contains(key) {
            return Err(Param::NoTable { key: key.to_owned() }.into());
        }
        Table::open(self.clone(), key)
    }

    /// Looks for damage without decoding data. Every value must be a frame that fits its file or
    /// range, with chunks at their positions ([`SChunk::check`]); the member of an archive must
    /// have the CRC-32 in the archive; every table must have its manifest and its columns. Remote
    /// values are not checked.
    ///
    /// # Errors
    ///
    /// The first error found, with the key of the value.
    pub fn check(&self) -> Result<()> {
        self.check_embed()?;
        let is_here = |key: &&str| !matches!(self.location(key), Some(Location::Remote { .. }));
        self.keys().filter(is_here).try_for_each(|key| self.check_value(key))?;
        self.lost_table().map_or(Ok(()), Err)?;
        self.tables().try_for_each(|key| self.check_table(key))
    }

    /// The damage of a table without its manifest; its columns are now separate values.
    #[must_use]
    pub fn lost_table(&self) -> Option<Error> {
        let is_lost = |note: &&Note| matches!(note, Note::NoManifest { .. });
        self.notes().iter().filter(is_lost).find_map(Note::damage)
    }

    /// Looks for missing columns and rows of a table. A column of an unsupported kind may be sound.
    fn check_table(&self, key: &str) -> Result<()> {
        let opened = self.table(key).and_then(|table| {
            table.len()?;
            let mut specs = table.schema().columns.iter();
            specs.try_for_each(|spec| table.column(&spec.name).map(drop))
        });
        opened.or_else(|error| match error.blame() {
            Blame::Data | Blame::Io => Err(error),
            _ => Ok(()),
        })
    }

    /// Looks for damage of a value without decoding its data.
    fn check_value(&self, key: &str) -> Result<()> {
        self.frame(key)?.check().map_err(|source| Error::frame(key, source))?;
        self.check_crc(key).map(drop)
    }

    /// As [`check_value`](Self::check_value), before the bytes of the value are copied: damage
    /// fails, or is noted.
    pub(crate) fn compare_value(&self, key: &str) -> Result<()> {
        self.check_value(key).or_else(|error| self.found_in(key, error))
    }

    /// Compares the member of a value with the sum in the archive: a mismatch fails, or is noted.
    pub(crate) fn compare_crc(&self, key: &str) -> Result<()> {
        let compared = self.check_crc(key).map(drop);
        compared.or_else(|error| self.found_in(key, error))
    }

    fn found_in(&self, key: &str, error: Error) -> Result<()> {
        self.inner.options.frame.mismatch.of_part(key).found(error)
    }

    /// As [`compare_value`](Self::compare_value), before the bytes of all values are copied.
    pub(crate) fn compare(&self) -> Result<()> {
        self.check().or_else(|error| self.inner.options.frame.mismatch.found(error))
    }

    /// The sum in the archive of a value that is a member.
    fn outer_sum(&self, key: &str) -> OuterSum {
        if self.inner.files.members().is_empty() {
            return OuterSum::default();
        }
        let (store, key) = (self.clone(), key.to_owned());
        OuterSum::new(move || match store.check_crc(&key) {
            Ok(_) => Ok(None),
            Err(Error::Corrupt { what, .. }) => Ok(Some(what.to_string())),
            Err(error) => Err(io::Error::other(error)),
        })
    }

    /// The CRC-32 of a member, after comparing it with the one in the archive; `None` for values
    /// elsewhere.
    ///
    /// # Errors
    ///
    /// Reading the member; [`Corrupt::Crc`].
    pub fn check_crc(&self, key: &str) -> Result<Option<u32>> {
        match self.location(key) {
            Some(Location::File { path }) => self.check_member(path, key),
            _ => Ok(None),
        }
    }

    /// As [`check_crc`](Self::check_crc), for `embed.b2e`, whose frame is checked as in
    /// [`check`](Self::check).
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check).
    pub fn check_embed(&self) -> Result<Option<u32>> {
        let embed = self.embed_frame().check();
        embed.map_err(|source| Error::frame(EMBED_FILE, source))?;
        self.check_member(EMBED_FILE, EMBED_FILE)
    }

    fn check_member(&self, path: &str, key: &str) -> Result<Option<u32>> {
        let Some(stored) = self.inner.files.member(path).map(|member| member.crc32) else {
            return Ok(None);
        };
        let store = self.inner.files.open(path, key)?;
        let len = store.len().map_err(|source| Error::io(path, source))?;
        let crc = crc32_of(&*store, 0..len).map_err(|source| Error::io(path, source))?;
        if crc != stored {
            return Err(Error::corrupt(key, Corrupt::Crc { found: crc, stored }));
        }
        Ok(Some(crc))
    }
}

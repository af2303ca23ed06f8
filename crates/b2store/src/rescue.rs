//! Rescues a damaged store: every intact value, and of the others the parts that `b2frame::rescue`
//! saves from a frame.
//!
//! ```text
//!   archive     directory damaged or cut off: local headers give the members
//!   embed.b2e   damaged or missing: its values are lost, all others are files
//!   value       a chunk damaged: it becomes zeros; the others keep their positions
//!   table       a column lost: the others stay; no flags of deleted rows: all rows are alive;
//!               no manifest: a new one is made from arrays of one length
//! ```
//!
//! Rescue only reads the damaged store.

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use b2frame::SChunk;
use b2frame::probe::{Kind, PROBE_LEN, probe};
use b2frame::rescue::{
    ChunkState, Damage as FrameDamage, Fill, RescueOptions, Salvage as FrameSalvage,
};
use blosc_io::tree::DirTree;
use blosc_io::{FileStore, MemStore, ReadAt, Tree};

use crate::embed::{EmbeddedFrame, embed_map};
use crate::error::{Error, Result};
use crate::files::Files;
use crate::key;
use crate::store::{EMBED_FILE, Location, OpenOptions, Store};
use crate::value::Value;
use crate::write::{StoreWriter, WriteOptions, crc32_of};
use crate::zip;

/// The readable content of a damaged store.
#[derive(Debug)]
pub struct Salvage {
    /// Every value and every part of a table that was found, sorted by key.
    pub values: Vec<SavedValue>,
    /// Damage apart from values.
    pub damage: Vec<Damage>,
    frames: BTreeMap<String, Frame>,
    embedded: BTreeMap<String, Frame>,
    registry: BTreeMap<String, Value>,
    is_flat: bool,
    /// Number of chunks of all values.
    nchunks: u64,
}

/// The bytes of a saved frame.
#[derive(Clone)]
struct Frame(Arc<dyn ReadAt>);

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Frame")
    }
}

/// The state of a value, or of a part of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedValue {
    /// Its key.
    pub key: String,
    /// The states of its chunks; empty if the value is lost.
    pub chunks: Vec<ChunkState>,
    /// Damage of its frame apart from chunks.
    pub damage: Vec<FrameDamage>,
    /// Bytes of data in the saved value.
    pub nbytes: u64,
    /// Whether no part of the value is readable, so that the saved store lacks it.
    pub is_lost: bool,
    /// Whether the value is readable, but differs from the checksum of the archive, or was embedded
    /// in damaged chunks.
    pub is_changed: bool,
    /// Whether lost chunks are zeros because the requested fill does not fit the items of the
    /// value.
    pub is_zeroed: bool,
}

impl SavedValue {
    /// Whether the value is free of damage.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let is_good = |state: &ChunkState| *state == ChunkState::Good;
        !self.is_lost
            && !self.is_changed
            && self.damage.is_empty()
            && self.chunks.iter().all(is_good)
    }
}

/// A part of a store, other than a value, that could not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// The directory of the archive.
    #[error("the directory of the archive is damaged: members were found one after the other")]
    Directory,
    /// The local header of a member, which differs from the directory. The value is saved if its
    /// bytes can be found.
    #[error("member {path:?}: its local header has another {field} than the directory")]
    Header {
        /// The path of the member.
        path: String,
        /// The field that differs.
        field: &'static str,
    },
    /// The frame of the embedded values; its values are lost.
    #[error("{EMBED_FILE} is damaged or missing: values in it are lost")]
    Embedded,
    /// The manifest of a table; its columns are now separate values.
    #[error("table {table}: its manifest is lost, its columns are values now")]
    Manifest {
        /// The key of the table.
        table: String,
    },
    /// The manifest of a table, which was made anew from its columns.
    #[error("table {table}: its manifest is lost, and made of the columns: times are numbers now")]
    Restored {
        /// The key of the table.
        table: String,
    },
    /// A column; the table now lacks it.
    #[error("table {table}: column {name:?} is lost, the others are not")]
    Column {
        /// The key of the table.
        table: String,
        /// The name of the column.
        name: String,
    },
    /// The flags of deleted rows.
    #[error("table {table}: which rows are deleted is lost, so that all are alive")]
    Flags {
        /// The key of the table.
        table: String,
    },
}

impl Salvage {
    /// Reads all readable values of the store at `path`, an archive or a directory.
    ///
    /// # Errors
    ///
    /// [`Error::NotAStore`] if no value was found; limits; the error of the storage.
    pub fn open(
        path: impl AsRef<Path>,
        options: &OpenOptions,
        rescue: &RescueOptions,
    ) -> Result<Self> {
        let path = path.as_ref();
        if path.is_dir() {
            return Self::from_tree(Arc::new(DirTree::new(path)), options, rescue);
        }
        let file = FileStore::open(path);
        let file = file.map_err(|source| Error::io(path.display().to_string(), source))?;
        Self::from_store(Arc::new(file), options, rescue)
    }

    /// Reads all readable values of the archive, or of the frame of an embed store, in a storage.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn from_store(
        store: Arc<dyn ReadAt>,
        options: &OpenOptions,
        rescue: &RescueOptions,
    ) -> Result<Self> {
        let mut head = [0; PROBE_LEN];
        let nhead = store.read_at(0, &mut head).unwrap_or(0);
        if probe(head.get(..nhead).unwrap_or_default()) == Kind::Frame {
            let mut salvage = Self::empty(vec![]);
            salvage.embedded_values(Some(store), &Reader { options, rescue })?;
            return salvage.checked();
        }
        let (members, is_damaged) = zip::saved_members(&store, options.max_files)?;
        let files = Files::Zip { store, members: members.into(), outside: [0, 0] };
        let header = |(path, field): (&str, _)| Damage::Header { path: path.to_owned(), field };
        let directory = is_damaged.then_some(Damage::Directory);
        let damage = directory.into_iter().chain(files.differences().map(header)).collect();
        Self::of_files(&files, options, rescue, damage)
    }

    /// Reads all readable values of the store in a tree.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn from_tree(
        tree: Arc<dyn Tree>,
        options: &OpenOptions,
        rescue: &RescueOptions,
    ) -> Result<Self> {
        Self::of_files(&Files::Tree(tree), options, rescue, vec![])
    }

    /// The frame of a saved value, or of a part of a table.
    ///
    /// # Errors
    ///
    /// As [`SChunk::from_store_with`].
    pub fn schunk(
        &self,
        key: &str,
        options: &b2frame::OpenOptions,
    ) -> Option<b2frame::Result<SChunk>> {
        let is_named = |path: &&String| key::key_of_file(path).as_deref() == Some(key);
        let path = self.frames.keys().find(is_named);
        let frame = path.and_then(|path| self.frames.get(path)).or_else(|| self.embedded.get(key));
        frame.map(|Frame(source)| SChunk::from_store_with(Arc::clone(source), options))
    }

    /// Number of chunks of all values in this state.
    #[must_use]
    pub fn count(&self, state: ChunkState) -> u64 {
        let chunks = self.values.iter().flat_map(|value| &value.chunks);
        chunks.filter(|found| **found == state).count() as u64
    }

    fn of_files(
        files: &Files,
        options: &OpenOptions,
        rescue: &RescueOptions,
        damage: Vec<Damage>,
    ) -> Result<Self> {
        let mut salvage = Self::empty(damage);
        let reader = Reader { options, rescue };
        for path in files.paths(options.max_files)? {
            let Some(key) = key::key_of_file(&path).filter(|key| key::check(key).is_ok()) else {
                continue;
            };
            key::check_size(&key)?;
            let source = files.open(&path, &path);
            let member = files.member(&path);
            let is_changed = match (&source, member) {
                (Ok(source), Some(member)) => {
                    crc32_of(&**source, 0..member.nbytes).ok() != Some(member.crc32)
                }
                _ => false,
            };
            let saved = match source {
                Ok(source) => reader.frame(&key, source)?,
                Err(_) => None,
            };
            let frame = salvage.note(key, is_changed, saved, options.frame.max_index)?;
            salvage.frames.extend(frame.map(|frame| (path, frame)));
        }
        salvage.embedded_values(files.open(EMBED_FILE, EMBED_FILE).ok(), &reader)?;
        salvage.checked()
    }

    fn empty(damage: Vec<Damage>) -> Self {
        let (frames, embedded, registry) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { values: vec![], damage, frames, embedded, registry, is_flat: false, nchunks: 0 }
    }

    /// The salvage with sorted values, or an error if there are none.
    fn checked(mut self) -> Result<Self> {
        if self.frames.is_empty() && self.embedded.is_empty() {
            return Err(Error::NotAStore { why: "no value was found in it" });
        }
        self.values.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(self)
    }

    /// Notes the state of a value, and returns its bytes. A value of a few bytes may claim millions
    /// of chunks, so the number of chunks of all values together is limited.
    fn note(
        &mut self,
        key: String,
        is_changed: bool,
        saved: Option<(SavedValue, Frame)>,
        max_nchunks: u64,
    ) -> Result<Option<Frame>> {
        let lost = || SavedValue {
            key,
            chunks: vec![],
            damage: vec![],
            nbytes: 0,
            is_lost: true,
            is_changed: false,
            is_zeroed: false,
        };
        match saved {
            Some((value, frame)) => {
                self.nchunks = self.nchunks.saturating_add(value.chunks.len() as u64);
                if self.nchunks > max_nchunks {
                    let (name, needed, unit) = ("all values".to_owned(), self.nchunks, "chunks");
                    return Err(Error::Limit { name, needed, limit: max_nchunks, unit });
                }
                let is_changed = is_changed && value.is_complete();
                self.values.push(SavedValue { is_changed, ..value });
                Ok(Some(frame))
            }
            None => {
                self.values.push(lost());
                Ok(None)
            }
        }
    }

    /// The values in `embed.b2e`, and the registry and the kind of the store, which it also holds.
    fn embedded_values(
        &mut self,
        embed: Option<Arc<dyn ReadAt>>,
        reader: &Reader<'_>,
    ) -> Result<()> {
        let embed = embed.and_then(|source| reader.salvage(&source).ok());
        let Some((embed, _)) = embed else {
            self.damage.push(Damage::Embedded);
            return Ok(());
        };
        if !embed.is_complete() {
            self.damage.push(Damage::Embedded);
        }
        let (schunk, chunks): (Arc<SChunk>, _) = (Arc::new(embed.schunk), embed.chunks);
        self.is_flat = schunk.meta().get("b2dict").is_some();
        let registry = crate::content::vlmetalayer(&schunk, EMBED_FILE, "_object_registry");
        if let Ok(Some(Value::Map(entries))) = registry {
            let named = entries.into_iter().filter_map(|(key, value)| match key {
                Value::Str(key) if key::check(&key).is_ok() => Some((key, value)),
                _ => None,
            });
            self.registry.extend(named);
        }
        let map = embed_map(&schunk, EMBED_FILE, reader.options.max_embedded).unwrap_or_default();
        let mut known: BTreeSet<String> =
            self.values.iter().map(|value| value.key.clone()).collect();
        for (key, place) in map {
            let Value::Str(key) = key else { continue };
            key::check_size(&key)?;
            if key::check(&key).is_err() || !known.insert(key.clone()) {
                continue;
            }
            let (saved, is_changed) = match place {
                Location::Embedded { offset, len } => {
                    let frame = EmbeddedFrame::new(&schunk, offset, len, &key).ok();
                    let frame = frame.map(|frame| reader.frame(&key, Arc::new(frame)));
                    (frame.transpose()?.flatten(), is_over_damage(&schunk, &chunks, offset, len))
                }
                // A reference or a damaged entry has no bytes to save.
                _ => (None, false),
            };
            let max_nchunks = reader.options.frame.max_index;
            let frame = self.note(key.clone(), is_changed, saved, max_nchunks)?;
            self.embedded.extend(frame.map(|frame| (key, frame)));
        }
        Ok(())
    }

    /// Whether the store is free of damage.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.damage.is_empty() && self.values.iter().all(SavedValue::is_complete)
    }

    /// Writes a sound store. Tables without a column, or without flags of deleted rows, are
    /// repaired; [`damage`](Self::damage) then lists the repairs.
    ///
    /// # Errors
    ///
    /// As [`StoreWriter::create_with`] and [`StoreWriter::commit`].
    pub fn save(&mut self, path: impl AsRef<Path>, options: &WriteOptions) -> Result<Store> {
        let path = path.as_ref();
        let options = options.clone().flat(self.is_flat);
        let mut writer = StoreWriter::create_with(path, &options)?;
        for (path, Frame(source)) in &self.frames {
            writer.insert_part(path, Arc::clone(source));
        }
        for (key, Frame(source)) in &self.embedded {
            writer.insert_embedded(key, Arc::clone(source));
        }
        writer.restore_registry(&self.registry);
        let store = self.restore_manifests(writer.commit()?, path, &options)?;
        let without_flags = store.tables().filter(|key| !store.has_flags(key));
        let flags: Vec<Damage> =
            without_flags.map(|table| Damage::Flags { table: table.to_owned() }).collect();
        let store = self.mend(store, flags, path, &options)?;
        let mut columns = vec![];
        for table in store.tables() {
            let lost = store.lost_columns(table)?.into_iter();
            columns.extend(lost.map(|name| Damage::Column { table: table.to_owned(), name }));
        }
        self.mend(store, columns, path, &options)
    }

    /// Makes tables again whose manifest is lost.
    fn restore_manifests(
        &mut self,
        store: Store,
        path: &Path,
        options: &WriteOptions,
    ) -> Result<Store> {
        let has_none = |root: &&str| !store.contains(&format!("{root}/_meta"));
        let roots = store.keys().filter_map(|key| Some(key.split_once("/_cols/")?.0));
        let roots: BTreeSet<String> = roots.filter(has_none).map(str::to_owned).collect();
        if roots.is_empty() {
            return Ok(store);
        }
        drop(store);
        let mut writer = StoreWriter::open_with(path, options)?;
        for root in roots {
            let table = if root.is_empty() { "/" } else { &root }.to_owned();
            let is_made = writer.restore_manifest(&table)?;
            self.damage.push(match is_made {
                true => Damage::Restored { table },
                false => Damage::Manifest { table },
            });
        }
        writer.commit()
    }

    /// Repairs tables so that they are readable.
    fn mend(
        &mut self,
        store: Store,
        damage: Vec<Damage>,
        path: &Path,
        options: &WriteOptions,
    ) -> Result<Store> {
        if damage.is_empty() {
            return Ok(store);
        }
        drop(store);
        let mut writer = StoreWriter::open_with(path, options)?;
        for what in damage {
            match &what {
                Damage::Flags { table } => writer.restore_flags(table)?,
                Damage::Column { table, name } => writer.forget_column(table, name)?,
                Damage::Directory
                | Damage::Header { .. }
                | Damage::Manifest { .. }
                | Damage::Restored { .. }
                | Damage::Embedded => {}
            }
            self.damage.push(what);
        }
        writer.commit()
    }
}

/// Whether some bytes of the content of a frame lie in chunks that are not good.
fn is_over_damage(schunk: &SChunk, chunks: &[ChunkState], offset: u64, len: u64) -> bool {
    let is_bad = |state: &ChunkState| *state != ChunkState::Good;
    let Some(chunksize) = schunk.chunksize().fixed().filter(|size| *size > 0) else {
        return chunks.iter().any(is_bad);
    };
    let chunk_of = |at: u64| {
        let nchunk = at.checked_div(chunksize as u64).unwrap_or_default();
        usize::try_from(nchunk).unwrap_or(usize::MAX).min(chunks.len())
    };
    let end = chunk_of(offset.saturating_add(len).saturating_sub(1)).saturating_add(1);
    let touched = chunks.get(chunk_of(offset)..end.min(chunks.len()));
    touched.unwrap_or_default().iter().any(is_bad)
}

/// The options for reading frames.
struct Reader<'a> {
    options: &'a OpenOptions,
    rescue: &'a RescueOptions,
}

impl Reader<'_> {
    /// Salvages a frame. If the fill has items of another size, zeros replace it, so that the value
    /// is not lost; the flag says so.
    fn salvage(&self, source: &Arc<dyn ReadAt>) -> b2frame::Result<(FrameSalvage, bool)> {
        let salvage = |rescue: &RescueOptions| {
            FrameSalvage::from_store(Arc::clone(source), &self.options.frame, rescue)
        };
        match salvage(self.rescue) {
            Err(b2frame::Error::Param(_)) => {
                Ok((salvage(&self.rescue.clone().fill(Fill::Zeros))?, true))
            }
            saved => Ok((saved?, false)),
        }
    }

    /// The readable parts of a frame; `None` if there are none.
    fn frame(&self, key: &str, source: Arc<dyn ReadAt>) -> Result<Option<(SavedValue, Frame)>> {
        match self.salvage(&source) {
            // A limit of the caller does not make a value a lost one.
            Err(source @ b2frame::Error::Limit { what: b2frame::error::Limited::Data, .. }) => {
                Err(Error::frame(key, source))
            }
            saved => Ok(saved.ok().and_then(|saved| Self::saved(key, source, &saved))),
        }
    }

    fn saved(
        key: &str,
        source: Arc<dyn ReadAt>,
        (saved, is_zeroed): &(FrameSalvage, bool),
    ) -> Option<(SavedValue, Frame)> {
        let value = SavedValue {
            key: key.to_owned(),
            chunks: saved.chunks.clone(),
            damage: saved.damage.clone(),
            nbytes: saved.schunk.items_nbytes(),
            is_lost: false,
            is_changed: false,
            is_zeroed: *is_zeroed,
        };
        let frame = match saved.is_as_it_was() && source.len().ok()? == saved.schunk.frame_len() {
            true => source,
            false => Arc::new(MemStore::new(saved.to_cframe().ok()?)),
        };
        Some((value, Frame(frame)))
    }
}

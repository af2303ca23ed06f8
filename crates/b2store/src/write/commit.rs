//! From the future content of a store to the bytes of its files, which are written last.
//!
//! | store | written files | atomic unit |
//! |---|---|---|
//! | archive | `embed.b2e` and parts that make tables, then all others | one file, one rename |
//! | embed store | `embed.b2e` | one file, one rename |
//! | new directory | all files | one directory, one rename |
//! | directory | changed files | the steps of `steps.rs` |

use core::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use b2frame::{FrameParams, SChunk, SChunkWriter};
use blosc_chunk::CParams;
use blosc_io::ReadAt;

use super::archive::{NewMember, archive};
use super::edit::changed_frame;
use super::steps;
use super::{At, NewFile, StoreForm, StoreWriter, new_frame, open_store};
use crate::content::vlmetalayer;
use crate::error::{Error, Param, Result};
use crate::store::{EMBED_FILE, Store};
use crate::value::Value;

/// Chunk size of a new embed store (bytes).
const EMBED_CHUNKSIZE: usize = 8192;
/// Bytes of embedded frames that are read at a time.
const COPY_NBYTES: usize = 1 << 16;

const METADATA_LAYER: &str = "estore_metadata";
const REGISTRY_LAYER: &str = "_object_registry";
/// The layer that counts changes, for programs of python-blosc2 that have the store open.
const TICK_LAYER: &str = "dstore_tick";

impl StoreWriter {
    /// Writes the store. After a crash an archive, an embed store or a new directory is the old or
    /// the new one. In a changed directory each value, each new or removed group or table is old or
    /// new, and tables are readable at every step.
    ///
    /// # Errors
    ///
    /// Errors of the storage: the store is then as before, or for a directory, as after a crash.
    /// [`Param::SamePath`], [`Param::Path`] for a directory; unreadable frames.
    pub fn commit(self) -> Result<Store> {
        if self.is_changed || self.is_new {
            self.write()?;
        }
        open_store(&self.place, &self.options.open)
    }

    fn write(&self) -> Result<()> {
        let written = |source| Error::Write { name: self.place.name.clone(), source };
        let embed = self.embed_frame()?;
        match self.form {
            StoreForm::Embed => match embed {
                Some(frame) => self.place.write_file(&*frame).map_err(written),
                None => Ok(()),
            },
            StoreForm::Zip => {
                let archive = archive(self.members(embed)?)?;
                self.place.write_file(&archive).map_err(written)
            }
            StoreForm::Dir if self.is_new => {
                self.check_paths()?;
                let mut files = Vec::new();
                for (path, file) in &self.files {
                    files.push((path.clone(), self.file(path, file.as_ref())?));
                }
                files.push((EMBED_FILE.to_owned(), self.embed_or_kept(embed)?));
                self.place.write_dir(&files).map_err(written)
            }
            StoreForm::Dir => {
                self.check_new_paths()?;
                self.place.change_dir(&self.steps(embed)?).map_err(written)
            }
        }
    }

    /// The bytes of a file.
    fn file(&self, path: &str, file: Option<&NewFile>) -> Result<Arc<dyn ReadAt>> {
        match (file, &self.base) {
            (Some(NewFile(source)), _) => Ok(Arc::clone(source)),
            (None, Some(base)) => base.files().open(path, path),
            (None, None) => Err(Param::NoKey { key: path.to_owned() }.into()),
        }
    }

    /// The bytes of `embed.b2e`.
    fn embed_or_kept(&self, embed: Option<Arc<dyn ReadAt>>) -> Result<Arc<dyn ReadAt>> {
        embed.map_or_else(|| self.file(EMBED_FILE, None), Ok)
    }

    /// The members of the archive. First come the members that make the others a store and tables,
    /// so that a truncated archive keeps them; then the largest come first.
    fn members(&self, embed: Option<Arc<dyn ReadAt>>) -> Result<Vec<NewMember>> {
        let known: BTreeMap<&str, u32> = match &self.base {
            Some(base) => {
                let members = base.files().members().iter();
                members.map(|member| (member.name.as_str(), member.crc32)).collect()
            }
            None => BTreeMap::new(),
        };
        let mut members = Vec::with_capacity(self.files.len());
        for (path, file) in &self.files {
            let data = self.file(path, file.as_ref())?;
            let len = data.len().map_err(|source| Error::io(path, source))?;
            let crc32 = if file.is_none() { known.get(path.as_str()).copied() } else { None };
            members.push((len, NewMember { name: path.clone(), data, crc32 }));
        }
        let crc32 = if embed.is_none() { known.get(EMBED_FILE).copied() } else { None };
        let data = self.embed_or_kept(embed)?;
        members.push((u64::MAX, NewMember { name: EMBED_FILE.to_owned(), data, crc32 }));
        members.sort_by_key(|(len, member)| Reverse((steps::rank(&member.name), *len)));
        Ok(members.into_iter().map(|(_, member)| member).collect())
    }

    /// The frame with the marker and the embedded values, if it has changed.
    fn embed_frame(&self) -> Result<Option<Arc<dyn ReadAt>>> {
        let name = if self.form == StoreForm::Embed { &self.place.name } else { EMBED_FILE };
        match &self.base {
            None => self.new_embed(name).map(Some),
            Some(base) => self.changed_embed(base, name),
        }
    }

    /// The frame of a store without one.
    fn new_embed(&self, name: &str) -> Result<Arc<dyn ReadAt>> {
        let marker = match self.form {
            StoreForm::Embed => "b2embed",
            _ if self.options.is_flat => "b2dict",
            _ => "b2tree",
        };
        let version = Value::Map(vec![(text("version"), Value::Int(1))]).encode_as(name)?;
        let params = FrameParams::new(CParams::default().typesize(1))
            .chunksize(EMBED_CHUNKSIZE)
            .metalayer(marker, version);
        new_frame(&params, name, |writer| {
            let metadata = self.append_embedded(writer, name, Vec::new(), 0)?;
            let has_registry = !self.registry.is_empty();
            let registry = has_registry.then(|| self.encoded_registry(name)).transpose()?;
            set_layers(
                writer,
                name,
                &[(METADATA_LAYER, Some(metadata)), (REGISTRY_LAYER, registry)],
            )
        })
    }

    /// The frame of the base, if its content changes.
    fn changed_embed(&self, base: &Store, name: &str) -> Result<Option<Arc<dyn ReadAt>>> {
        let schunk = base.embed_frame();
        let metadata = vlmetalayer(schunk, name, METADATA_LAYER)?;
        let map = metadata.as_ref().and_then(|metadata| metadata.get("embed_map"));
        // A store without embedded values may lack the map.
        let map = map.and_then(Value::as_map).unwrap_or(&[]);
        let is_kept = |key: &Value| match key.as_str() {
            Some(key) => matches!(self.keys.get(key), Some(At::Base)),
            None => true,
        };
        let kept: Vec<(Value, Value)> =
            map.iter().filter(|(key, _)| is_kept(key)).cloned().collect();
        let is_other_map =
            kept.len() != map.len() || self.keys.values().any(|at| matches!(at, At::New(_)));
        let is_other_registry = *base.registry() != self.registry;
        let tick = self.next_tick(schunk, name)?;
        let is_changed = is_other_map || is_other_registry || tick.is_some() || self.is_embed_anew;
        if !is_changed && self.form != StoreForm::Embed {
            return Ok(None);
        }
        let source = self.raw_embed(base)?;
        if !is_changed {
            return Ok(Some(source));
        }
        let edited = changed_frame(source, name, |writer| {
            let mut end = schunk.nbytes();
            if self.is_embed_anew {
                let gone = (0..writer.nchunks()).rev().try_for_each(|nchunk| writer.delete(nchunk));
                gone.map_err(|source| Error::frame(name, source))?;
                end = 0;
            }
            let append = |writer| self.append_embedded(writer, name, kept, end);
            let metadata = is_other_map.then(|| append(&mut *writer)).transpose()?;
            let registry = is_other_registry.then(|| self.encoded_registry(name)).transpose()?;
            set_layers(
                writer,
                name,
                &[(METADATA_LAYER, metadata), (REGISTRY_LAYER, registry), (TICK_LAYER, tick)],
            )
        })?;
        let live =
            if self.is_embed_anew { self.live_bytes(name, Arc::clone(&edited))? } else { None };
        Ok(Some(live.unwrap_or(edited)))
    }

    /// The next count of changes, if programs of python-blosc2 may have the store open.
    fn next_tick(&self, schunk: &SChunk, name: &str) -> Result<Option<Vec<u8>>> {
        let tick = vlmetalayer(schunk, name, TICK_LAYER)?.and_then(|tick| tick.as_u64());
        let is_locked = self.held.as_ref().is_some_and(|held| held.sidecar.is_some());
        let has_tick = self.form == StoreForm::Dir && !self.is_new && (is_locked || tick.is_some());
        let next = Value::UInt(tick.map_or(1, |tick| tick.saturating_add(1)));
        has_tick.then(|| next.encode_as(name)).transpose()
    }

    fn encoded_registry(&self, name: &str) -> Result<Vec<u8>> {
        let registry = self.registry.iter().map(|(key, value)| (text(key), value.clone()));
        Value::Map(registry.collect()).encode_as(name)
    }

    /// The bytes of the frame of the base.
    fn raw_embed(&self, base: &Store) -> Result<Arc<dyn ReadAt>> {
        match base.files() {
            crate::files::Files::None => base.raw_frame(),
            files => files.open(EMBED_FILE, EMBED_FILE),
        }
    }

    /// Appends the new embedded values to a frame, after the kept ones, which end at `end`. Returns
    /// the metadata of all values.
    fn append_embedded(
        &self,
        writer: &mut SChunkWriter,
        name: &str,
        mut map: Vec<(Value, Value)>,
        mut end: u64,
    ) -> Result<Vec<u8>> {
        for (key, at) in &self.keys {
            let At::New(NewFile(source)) = at else { continue };
            let len = copy_into(writer, name, &**source, key)?;
            let entry =
                vec![(text("offset"), Value::count(end)), (text("length"), Value::count(len))];
            map.push((text(key), Value::Map(entry)));
            end = end.saturating_add(len);
        }
        let metadata = Value::Map(vec![
            (text("embed_map"), Value::Map(map)),
            (text("current_offset"), Value::count(end)),
        ]);
        metadata.encode_as(name)
    }

    /// Refuses new paths that this file system would treat as one.
    fn check_new_paths(&self) -> Result<()> {
        if self.files.values().all(Option::is_none) {
            return Ok(());
        }
        self.check_paths()
    }

    /// Refuses paths that are invalid here, and paths that are one file here.
    fn check_paths(&self) -> Result<()> {
        let mut alike = alike_names(self.files.keys())?;
        if alike.is_empty() {
            return Ok(());
        }
        let written = |source| Error::Write { name: self.place.name.clone(), source };
        let same = self.place.find_same(alike.keys()).map_err(written)?;
        match same.cloned().and_then(|names| alike.remove(&names)) {
            Some((path, other)) => Err(Param::SamePath { path, other }.into()),
            None => Ok(()),
        }
    }
}

/// Sets the layers of the frame `name` that have a new content.
fn set_layers(
    writer: &mut SChunkWriter,
    name: &str,
    layers: &[(&str, Option<Vec<u8>>)],
) -> Result<()> {
    for (layer, content) in layers {
        let Some(content) = content else { continue };
        writer.set_vlmeta(layer, content).map_err(|source| Error::frame(name, source))?;
    }
    Ok(())
}

/// Appends the bytes of the value `key` to the content of the frame `name`. Returns their number.
fn copy_into(writer: &mut SChunkWriter, name: &str, source: &dyn ReadAt, key: &str) -> Result<u64> {
    let unread = |source| Error::io(key, source);
    let len = source.len().map_err(unread)?;
    let (mut at, mut buffer) = (0_u64, Vec::new());
    while at < len {
        let left = usize::try_from(len.saturating_sub(at));
        buffer.resize(left.map_or(COPY_NBYTES, |left| left.min(COPY_NBYTES)), 0);
        source.read_exact_at(at, &mut buffer).map_err(unread)?;
        writer.append(&buffer).map_err(|source| Error::frame(name, source))?;
        at = at.saturating_add(buffer.len() as u64);
    }
    Ok(len)
}

/// Two names, or two paths.
type Pair = (String, String);

/// Refuses paths that are invalid, or of which one is a directory of another. Returns pairs of
/// names in one directory that differ only in case, each with the paths that end with them.
fn alike_names<'a>(paths: impl Iterator<Item = &'a String>) -> Result<BTreeMap<Pair, Pair>> {
    let mut alike = BTreeMap::new();
    let mut folded: BTreeMap<String, (&str, bool)> = BTreeMap::new();
    for path in paths {
        if path.contains('\\') || (cfg!(windows) && path.contains(':')) {
            return Err(Param::Path { path: path.clone() }.into());
        }
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        for part in ends.filter_map(|end| path.get(..end)) {
            let is_file = part.len() == path.len();
            match folded.insert(part.to_lowercase(), (part, is_file)) {
                Some((other, other_is_file)) if other == part && (is_file || other_is_file) => {
                    let (path, other) = (part.to_owned(), other.to_owned());
                    return Err(Param::SamePath { path, other }.into());
                }
                // Names above these were compared before.
                Some((other, _)) => {
                    if let Some(names) = differing_names(part, other) {
                        alike.entry(names).or_insert((part.to_owned(), other.to_owned()));
                    }
                }
                None => {}
            }
        }
    }
    Ok(alike)
}

/// The first names by which two paths differ.
fn differing_names(path: &str, other: &str) -> Option<Pair> {
    let mut names = path.split('/').zip(other.split('/'));
    let (name, other) = names.find(|(name, other)| name != other)?;
    Some((name.to_owned(), other.to_owned()))
}

fn text(text: &str) -> Value {
    Value::Str(text.to_owned())
}

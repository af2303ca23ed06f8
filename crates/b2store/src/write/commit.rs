//! From a store as it will be to the steps that make it so.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use b2frame::{FrameParams, SChunkWriter};
use blosc_chunk::CParams;
use blosc_io::ReadAt;

use super::archive::{NewMember, archive};
use super::place::Step;
use super::{At, NewFile, StoreForm, StoreWriter, edit_frame, new_frame, open_store};
use crate::content::vlmetalayer;
use crate::error::{Error, Param, Result};
use crate::store::{EMBED_PATH, Store};
use crate::value::Value;

/// Data of a chunk of a new embed store (bytes).
const EMBED_CHUNKSIZE: usize = 8192;
/// Bytes of embedded frames that are read at once.
const COPY_NBYTES: usize = 1 << 16;

const METADATA_LAYER: &str = "estore_metadata";
const REGISTRY_LAYER: &str = "_object_registry";
/// Counts the changes, for programs of python-blosc2 that have the store open.
const TICK_LAYER: &str = "dstore_tick";

/// The new files of a directory, by their names below it.
type NewFiles = Vec<(String, Arc<dyn ReadAt>)>;

impl StoreWriter {
    /// Writes the store. A crash leaves an archive, an embed store or a new directory as it was or
    /// as it will be. In a directory that is changed every value, every new group or table and
    /// every one that goes is as it was or as it will be, and tables can be read at every step.
    ///
    /// # Errors
    ///
    /// Those of the storage; then the store is as it was, or for a directory, as after a crash.
    /// [`Param::SamePath`], [`Param::Path`] for a directory; frames that cannot be read.
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
                check_paths(self.files.keys())?;
                let mut files = Vec::new();
                for (path, file) in &self.files {
                    files.push((path.clone(), self.file(path, file.as_ref())?));
                }
                files.push((EMBED_PATH.to_owned(), self.embed_or_kept(embed)?));
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
        embed.map_or_else(|| self.file(EMBED_PATH, None), Ok)
    }

    /// The members of the archive: the largest first, `embed.b2e` last, as python-blosc2 has them.
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
        members.sort_by(|(a, _), (b, _)| b.cmp(a));
        let mut members: Vec<NewMember> = members.into_iter().map(|(_, member)| member).collect();
        let crc32 = if embed.is_none() { known.get(EMBED_PATH).copied() } else { None };
        let data = self.embed_or_kept(embed)?;
        members.push(NewMember { name: EMBED_PATH.to_owned(), data, crc32 });
        Ok(members)
    }

    /// The changes of a directory in an order in which each state between them can be read:
    /// manifests without indexes, values, which rows are alive, manifests, the embedded values,
    /// and what goes.
    fn steps(&self, embed: Option<Arc<dyn ReadAt>>) -> Result<Vec<Step>> {
        let old = match &self.base {
            Some(base) => base.files().paths(base.options().max_files)?,
            None => Vec::new(),
        };
        let mut steps = Vec::new();
        steps.extend(self.first.iter().map(|(path, file)| write_step(path, file)));
        if !steps.is_empty() {
            steps.push(Step::Sync);
        }
        let renamed = self.renamed.iter().filter(|(_, to)| self.files.contains_key(to));
        let nsteps = steps.len();
        steps.extend(renamed.map(|(from, to)| Step::Rename(from.clone(), to.clone())));
        if steps.len() > nsteps {
            // Else the old file could be there beside the new one, which has the other suffix.
            steps.push(Step::Sync);
        }
        let new = self.files.iter().filter_map(|(path, file)| Some((path, file.as_ref()?)));
        let (in_new_dirs, mut new): (Vec<_>, Vec<_>) =
            new.partition(|(path, _)| self.new_dir(path, &old).is_some());
        let mut dirs: BTreeMap<&str, NewFiles> = BTreeMap::new();
        for (path, NewFile(source)) in in_new_dirs {
            let Some(dir) = self.new_dir(path, &old) else { continue };
            let below = path.get(dir.len().saturating_add(1)..).unwrap_or_default();
            dirs.entry(dir).or_default().push((below.to_owned(), Arc::clone(source)));
        }
        steps.extend(dirs.into_iter().map(|(dir, files)| Step::WriteDir(dir.to_owned(), files)));
        new.sort_by_key(|(path, _)| rank(path));
        let mut last = None;
        for (path, file) in new {
            // What makes other files visible comes after them on the medium, too.
            if last.is_some_and(|last| last < rank(path)) {
                steps.push(Step::Sync);
            }
            last = Some(rank(path));
            steps.push(write_step(path, file));
        }
        steps.extend(embed.map(|frame| Step::Write(EMBED_PATH.to_owned(), frame)));
        let is_renamed = |path: &String| {
            self.renamed.iter().any(|(from, to)| from == path && self.files.contains_key(to))
        };
        let is_gone = |path: &String| {
            path != EMBED_PATH && !self.files.contains_key(path) && !is_renamed(path)
        };
        let mut gone: Vec<&String> = old.iter().filter(|path| is_gone(path)).collect();
        if !gone.is_empty() && !steps.is_empty() {
            steps.push(Step::Sync);
        }
        // A table without its manifest is none any more.
        gone.sort_by_key(|path| core::cmp::Reverse(rank(path)));
        let mut removed: BTreeSet<&str> = BTreeSet::new();
        for path in gone {
            let is_kept = |other: &&String| self.files.contains_key(*other) || is_renamed(other);
            let has_kept = |dir: &str| {
                self.files.keys().any(|other| is_below(other, dir))
                    || old.iter().filter(is_kept).any(|other| is_below(other, dir))
            };
            match ancestors(path).find(|dir| !has_kept(dir)) {
                Some(dir) if removed.insert(dir) => steps.push(Step::RemoveDir(dir.to_owned())),
                Some(_) => {}
                None => steps.push(Step::Remove(path.clone())),
            }
        }
        Ok(steps)
    }

    /// The topmost directory of a path in which no file of the base is.
    fn new_dir<'a>(&self, path: &'a str, old: &[String]) -> Option<&'a str> {
        // What gets another name in it would need the directory before.
        let is_target = |dir: &str| self.renamed.iter().any(|(_, to)| is_below(to, dir));
        ancestors(path).find(|dir| !old.iter().any(|other| is_below(other, dir)) && !is_target(dir))
    }

    /// The frame with the marker and the embedded values, if it is another one than before.
    fn embed_frame(&self) -> Result<Option<Arc<dyn ReadAt>>> {
        let name = if self.form == StoreForm::Embed { &self.place.name } else { EMBED_PATH };
        let registry = Value::Map(
            self.registry.iter().map(|(key, value)| (text(key), value.clone())).collect(),
        );
        let Some(base) = &self.base else {
            let marker = match self.form {
                StoreForm::Embed => "b2embed",
                _ if self.options.is_flat => "b2dict",
                _ => "b2tree",
            };
            let version = encoded(&Value::Map(vec![(text("version"), Value::Int(1))]))?;
            let params = FrameParams::new(CParams::default().typesize(1))
                .chunksize(EMBED_CHUNKSIZE)
                .checksums(b2frame::Checksums::None)
                .metalayer(marker, version);
            return self.with_embedded(Vec::new(), 0, |append| {
                new_frame(&params, name, |writer| {
                    let metadata = append(writer)?;
                    writer.set_vlmeta(METADATA_LAYER, &metadata)?;
                    if !self.registry.is_empty() {
                        let content = registry.encode().unwrap_or_default();
                        writer.set_vlmeta(REGISTRY_LAYER, &content)?;
                    }
                    Ok(())
                })
            });
        };
        let schunk = base.embed_frame();
        let metadata = vlmetalayer(schunk, name, METADATA_LAYER)?;
        let map = metadata.as_ref().and_then(|metadata| metadata.get("embed_map"));
        let map = map.and_then(Value::as_map).unwrap_or_default();
        let is_kept = |key: &Value| match key.as_str() {
            Some(key) => matches!(self.keys.get(key), Some(At::Base)),
            None => true,
        };
        let kept: Vec<(Value, Value)> =
            map.iter().filter(|(key, _)| is_kept(key)).cloned().collect();
        let is_other_map =
            kept.len() != map.len() || self.keys.values().any(|at| matches!(at, At::New(_)));
        let is_other_registry = *base.registry() != self.registry;
        let tick = vlmetalayer(schunk, name, TICK_LAYER)?.and_then(|tick| tick.as_u64());
        let is_locked = self.held.as_ref().is_some_and(|held| held.sidecar.is_some());
        let has_tick = self.form == StoreForm::Dir && !self.is_new && (is_locked || tick.is_some());
        if !is_other_map && !is_other_registry && !has_tick {
            return if self.form == StoreForm::Embed {
                self.raw_embed(base).map(Some)
            } else {
                Ok(None)
            };
        }
        let tick = encoded(&Value::UInt(tick.unwrap_or_default().saturating_add(1)))?;
        let source = self.raw_embed(base)?;
        self.with_embedded(kept, schunk.nbytes(), |append| {
            edit_frame(source, name, |writer| {
                if is_other_map {
                    let metadata = append(writer)?;
                    writer.set_vlmeta(METADATA_LAYER, &metadata)?;
                }
                if is_other_registry {
                    let content = registry.encode().unwrap_or_default();
                    writer.set_vlmeta(REGISTRY_LAYER, &content)?;
                }
                if has_tick { writer.set_vlmeta(TICK_LAYER, &tick) } else { Ok(()) }
            })
        })
    }

    /// The bytes of the frame of the base.
    fn raw_embed(&self, base: &Store) -> Result<Arc<dyn ReadAt>> {
        match base.files() {
            crate::files::Files::None => base.raw_frame(),
            files => files.open(EMBED_PATH, EMBED_PATH),
        }
    }

    /// Makes a frame with the new embedded values after the others, which end at `end`.
    fn with_embedded(
        &self,
        kept: Vec<(Value, Value)>,
        end: u64,
        make: impl FnOnce(
            &mut dyn FnMut(&mut SChunkWriter) -> b2frame::Result<Vec<u8>>,
        ) -> Result<Arc<dyn ReadAt>>,
    ) -> Result<Option<Arc<dyn ReadAt>>> {
        let mut failed = None;
        let mut append = |writer: &mut SChunkWriter| {
            let (mut map, mut end) = (kept.clone(), end);
            for (key, at) in &self.keys {
                let At::New(NewFile(source)) = at else { continue };
                let start = end;
                let copied = copy_into(writer, &**source);
                let len = match copied {
                    Ok(len) => len?,
                    Err(source) => {
                        failed = Some(Error::io(key, source));
                        break;
                    }
                };
                end = end.saturating_add(len);
                let entry = vec![(text("offset"), number(start)), (text("length"), number(len))];
                map.push((text(key), Value::Map(entry)));
            }
            let metadata = Value::Map(vec![
                (text("embed_map"), Value::Map(map)),
                (text("current_offset"), number(end)),
            ]);
            Ok(metadata.encode().unwrap_or_default())
        };
        let frame = make(&mut append)?;
        failed.map_or(Ok(Some(frame)), Err)
    }

    /// Refuses new paths that some file systems do not tell from others.
    fn check_new_paths(&self) -> Result<()> {
        if self.files.values().all(Option::is_none) {
            return Ok(());
        }
        check_paths(self.files.keys())
    }
}

/// Appends a frame to the content of another one.
fn copy_into(
    writer: &mut SChunkWriter,
    source: &dyn ReadAt,
) -> std::io::Result<b2frame::Result<u64>> {
    let len = source.len()?;
    let (mut at, mut buffer) = (0_u64, vec![0; COPY_NBYTES]);
    while at < len {
        let left = usize::try_from(len.saturating_sub(at)).unwrap_or(usize::MAX);
        let count = left.min(COPY_NBYTES);
        let part = buffer.get_mut(..count).unwrap_or_default();
        source.read_exact_at(at, part)?;
        if let Err(error) = writer.append(part) {
            return Ok(Err(error));
        }
        at = at.saturating_add(count as u64);
    }
    Ok(Ok(len))
}

/// Refuses paths that are no files on every system, and those that are one file on some.
fn check_paths<'a>(paths: impl Iterator<Item = &'a String>) -> Result<()> {
    let mut folded: BTreeMap<String, (&str, bool)> = BTreeMap::new();
    for path in paths {
        if path.contains('\\') || (cfg!(windows) && path.contains(':')) {
            return Err(Param::Path { path: path.clone() }.into());
        }
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        for part in ends.filter_map(|end| path.get(..end)) {
            let is_file = part.len() == path.len();
            match folded.insert(part.to_lowercase(), (part, is_file)) {
                Some((other, other_is_file)) if other != part || is_file || other_is_file => {
                    let (path, other) = (part.to_owned(), other.to_owned());
                    return Err(Param::SamePath { path, other }.into());
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn write_step(path: &str, NewFile(source): &NewFile) -> Step {
    Step::Write(path.to_owned(), Arc::clone(source))
}

/// The directories of a path, from the topmost one.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(end, _)| path.get(..end))
}

fn is_below(path: &str, dir: &str) -> bool {
    path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'))
}

/// What makes a table visible is written last.
fn rank(path: &str) -> u8 {
    match path.rsplit('/').next() {
        Some("_meta.b2f") => 2,
        Some("_valid_rows.b2nd") => 1,
        _ => 0,
    }
}

fn text(text: &str) -> Value {
    Value::Str(text.to_owned())
}

fn number(number: u64) -> Value {
    i64::try_from(number).map_or(Value::UInt(number), Value::Int)
}

fn encoded(value: &Value) -> Result<Vec<u8>> {
    value.encode().ok_or_else(|| Param::Value { name: EMBED_PATH.to_owned() }.into())
}

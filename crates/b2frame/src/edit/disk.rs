//! What is done to the folder of a sparse frame: every change of it passes here, so that a test can
//! stop after any.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use blosc_io::{FileStore, WriteAt as _};

use crate::dest::sync_folder;
use crate::params::Durability;

/// A folder that is changed.
pub(super) struct Disk {
    folder: PathBuf,
    durability: Durability,
    #[cfg(test)]
    steps: std::sync::Arc<std::sync::Mutex<Vec<Step>>>,
}

impl Disk {
    pub(super) fn new(folder: &Path, durability: Durability) -> Self {
        Self {
            folder: folder.to_path_buf(),
            durability,
            #[cfg(test)]
            steps: std::sync::Arc::default(),
        }
    }

    pub(super) fn set_durability(&mut self, durability: Durability) {
        self.durability = durability;
    }

    /// Writes a file that must not be there yet: a link, or a file of somebody else, is not
    /// followed or overwritten.
    pub(super) fn create(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut options = fs::OpenOptions::new();
        let file = options.read(true).write(true).create_new(true).open(self.path(name));
        FileStore::from_file(file?).write_at(0, bytes)?;
        self.note(|| Step::Write(name.to_owned(), bytes.to_vec()));
        Ok(())
    }

    /// Writes a file, or another one in its place, and returns it.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> io::Result<FileStore> {
        let mut store = FileStore::create(self.path(name))?;
        store.write_at(0, bytes)?;
        self.note(|| Step::Write(name.to_owned(), bytes.to_vec()));
        Ok(store)
    }

    /// Makes the content of a file last.
    pub(super) fn sync(&self, name: &str) -> io::Result<()> {
        if self.durability == Durability::Machine {
            fs::File::open(self.path(name))?.sync_all()?;
            self.note(|| Step::Sync(name.to_owned()));
        }
        Ok(())
    }

    /// Makes names last that were given or taken.
    pub(super) fn sync_names(&self) -> io::Result<()> {
        if self.durability == Durability::Machine {
            sync_folder(&self.folder)?;
            self.note(|| Step::SyncNames);
        }
        Ok(())
    }

    /// Gives a file another name; what had it is gone.
    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path(from), self.path(to))?;
        self.note(|| Step::Rename(from.to_owned(), to.to_owned()));
        Ok(())
    }

    /// Removes a file, if it is there.
    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.path(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => self.note(|| Step::Remove(name.to_owned())),
        }
        Ok(())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    #[cfg(test)]
    fn note(&self, step: impl FnOnce() -> Step) {
        self.steps.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(step());
    }

    #[cfg(not(test))]
    fn note(&self, _: impl FnOnce() -> Step) {}
}

/// A change of the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Write(String, Vec<u8>),
    Sync(String),
    SyncNames,
    Rename(String, String),
    Remove(String),
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use blosc_testdata::data::XorShift32 as Rng;

    use super::*;
    use crate::edit::SChunkWriter;
    use crate::params::{EditOptions, FrameParams};
    use crate::schunk::SChunk;

    type Files = BTreeMap<String, Vec<u8>>;

    /// What a frame holds.
    type Content = (Vec<Vec<u8>>, Option<Vec<u8>>, Option<Vec<u8>>);

    #[test]
    fn every_interrupted_commit_of_a_directory_is_none_or_all() {
        let mut stops = 0;
        for seed in 0..4 {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("f");
            let mut rng = Rng::new(2000 + seed);
            let params = FrameParams::default().chunksize(16).metalayer("m", *b"old");
            let mut writer = SChunkWriter::create_sparse(&path, &params).unwrap();
            writer.append(&[1; 40]).unwrap();
            drop(writer.finish().unwrap());
            for _ in 0..4 {
                stops += interrupt(&path, &mut rng);
            }
        }
        assert!(stops > 100, "{stops}");
    }

    /// Changes a frame, and looks at what every interruption would have left. Says how many these
    /// were.
    fn interrupt(path: &Path, rng: &mut Rng) -> usize {
        let (files, before) = (files(path), content(path).unwrap());
        let mut writer = SChunkWriter::open_with(path, &EditOptions::default()).unwrap();
        let steps = writer.files.as_ref().unwrap().disk.steps.clone();
        for _ in 0..=rng.below(3) {
            change(&mut writer, rng);
        }
        match rng.below(6) {
            0 => drop(writer.compact().unwrap()),
            _ => writer.commit().unwrap(),
        }
        drop(writer);
        let after = content(path).unwrap();
        let steps = core::mem::take(&mut *steps.lock().unwrap());
        (0..=steps.len()).map(|stop| replay(&files, &steps, stop, &before, &after)).sum()
    }

    fn change(writer: &mut SChunkWriter, rng: &mut Rng) {
        let nchunks = writer.nchunks();
        let data: Vec<u8> = (0..16).map(|_| u8::try_from(rng.below(250)).unwrap()).collect();
        let nchunk = rng.below(nchunks.max(1));
        let is_whole = nchunk + 1 < nchunks;
        match rng.below(6) {
            0 => writer.append(&data[..1 + usize::try_from(rng.below(15)).unwrap()]).unwrap(),
            1 if is_whole => writer.update(nchunk, &data).unwrap(),
            2 if is_whole => writer.insert(nchunk, &data).unwrap(),
            3 if is_whole => writer.delete(nchunk).unwrap(),
            4 => writer.set_meta("m", &data[..3]).unwrap(),
            5 => writer.set_vlmeta("v", &data).unwrap(),
            _ => writer.append(&data).unwrap(),
        }
    }

    /// Stops after `stop` steps, and leaves out any of the last ones that a crash of the machine
    /// may undo.
    fn replay(
        files: &Files,
        steps: &[Step],
        stop: usize,
        before: &Content,
        after: &Content,
    ) -> usize {
        let steps = &steps[..stop];
        let open_ended: Vec<usize> = (0..stop).filter(|n| !lasts(steps, *n)).collect();
        // Of many, the last ones: the others are chunks, or their removal.
        let open_ended = &open_ended[open_ended.len().saturating_sub(4)..];
        let lost = |set: u32, n: usize| {
            open_ended.iter().position(|open| *open == n).is_some_and(|bit| set >> bit & 1 == 1)
        };
        for set in 0..1_u32 << open_ended.len() {
            let mut files = files.clone();
            for (n, step) in steps.iter().enumerate() {
                apply(&mut files, step, lost(set, n));
            }
            let dir = tempfile::tempdir().unwrap();
            for (name, bytes) in &files {
                fs::write(dir.path().join(name), bytes).unwrap();
            }
            let found = content(dir.path());
            let is_one_of_them =
                found.as_ref().is_some_and(|found| found == before || found == after);
            assert!(
                is_one_of_them,
                "{found:?} instead of\n{before:?} or\n{after:?}, lost {set:b} of {steps:?}"
            );
            if set > 0 {
                continue;
            }
            // Whatever was left there is in no later writer's way.
            let options = EditOptions::default().durability(Durability::Process);
            let mut writer = SChunkWriter::open_with(dir.path(), &options).unwrap();
            writer.set_vlmeta("later", b"x").unwrap();
            writer.commit().unwrap();
            assert_eq!(content(dir.path()), found);
        }
        1 << open_ended.len()
    }

    /// Whether a step is there after a crash of the machine behind the last one.
    fn lasts(steps: &[Step], n: usize) -> bool {
        let later = &steps[n + 1..];
        let is_named = later.contains(&Step::SyncNames);
        match &steps[n] {
            Step::Write(name, _) => is_named && later.contains(&Step::Sync(name.clone())),
            Step::Rename(..) | Step::Remove(_) => is_named,
            Step::Sync(_) | Step::SyncNames => true,
        }
    }

    /// Does a step, or what is left of it: of a file its name.
    fn apply(files: &mut Files, step: &Step, is_lost: bool) {
        match step {
            Step::Write(name, bytes) => {
                let bytes = if is_lost { &bytes[..bytes.len() / 2] } else { bytes };
                files.insert(name.clone(), bytes.to_vec());
            }
            Step::Rename(from, to) if !is_lost => {
                if let Some(bytes) = files.remove(from) {
                    files.insert(to.clone(), bytes);
                }
            }
            Step::Remove(name) if !is_lost => drop(files.remove(name)),
            _ => {}
        }
    }

    fn files(path: &Path) -> Files {
        let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
        let file = |entry: fs::DirEntry| {
            (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())
        };
        entries.map(file).collect()
    }

    fn content(path: &Path) -> Option<Content> {
        let schunk = SChunk::open(path).ok()?;
        let chunks: crate::Result<_> =
            (0..schunk.nchunks()).map(|n| schunk.decode_chunk(n)).collect();
        let meta = schunk.meta().get("m").map(|layer| layer.content.to_vec());
        Some((chunks.ok()?, meta, schunk.vlmeta().get("v").ok()?))
    }
}

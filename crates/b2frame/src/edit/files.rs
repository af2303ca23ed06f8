//! The storage of a sparse frame that is edited: every new chunk is a file of its own, under a
//! number that was never in use, and a new index takes the place of the old one.
//!
//! | step | does | a reader sees |
//! |---|---|---|
//! | 1 | writes and syncs new chunk files | the old frame |
//! | 2 | writes and syncs `chunks.b2frame.tmp`, syncs the folder | the old frame |
//! | 3 | renames it to `chunks.b2frame`, syncs the folder | the new frame |
//! | 4 | removes files that nothing refers to any more | the new frame |
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;

use blosc_io::FileStore;

use super::disk::Disk;
use crate::error::{Error, Param, Result};
use crate::params::Durability;
use crate::sparse::{Folder, INDEX_FILE, file_name, id_of};

/// The chunk files of a sparse frame.
pub(super) struct ChunkFiles {
    folder: Folder,
    pub(super) disk: Disk,
    /// Larger than all numbers in use.
    next: u32,
    /// Written since the last commit.
    new: Vec<u32>,
    /// No longer wanted after the next commit.
    dropped: Vec<u32>,
}

impl ChunkFiles {
    /// For a folder in which the index refers to these numbers.
    pub(super) fn new(
        folder: Folder,
        ids: impl Iterator<Item = u32>,
        durability: Durability,
    ) -> Result<Self> {
        let open = |source| Error::Open { source };
        let disk = Disk::new(folder.path(), durability);
        // It was never renamed, so it counts for nothing.
        disk.remove(&temporary_index()).map_err(open)?;
        let largest = files(folder.path()).map_err(open)?.into_iter().chain(ids).max();
        let next = largest.map_or(Some(0), |id| id.checked_add(1)).ok_or(Param::NoChunkId)?;
        Ok(Self { folder, disk, next, new: vec![], dropped: vec![] })
    }

    /// Writes a chunk to a file of its own and gives its number.
    pub(super) fn create(&mut self, chunk: &[u8]) -> Result<u32> {
        let id = self.next;
        let next = id.checked_add(1).ok_or(Param::NoChunkId)?;
        self.create_as(id, chunk)?;
        self.next = next;
        Ok(id)
    }

    /// Writes a chunk to the file of a number that is not in use.
    pub(super) fn create_as(&mut self, id: u32, chunk: &[u8]) -> Result<()> {
        let failed = |source| Error::Write { at: 0, len: chunk.len() as u64, source };
        self.new.push(id);
        self.disk.create(&file_name(id), chunk).map_err(failed)
    }

    /// Whether there is something under the name that goes with a number.
    pub(super) fn has(&self, id: u64) -> bool {
        u32::try_from(id).is_ok_and(|id| self.folder.chunk_path(id).symlink_metadata().is_ok())
    }

    /// Notes that a chunk is not wanted any more, and gives the length of its file (bytes).
    pub(super) fn forget(&mut self, id: u32) -> u64 {
        self.dropped.push(id);
        fs::symlink_metadata(self.folder.chunk_path(id)).map_or(0, |metadata| metadata.len())
    }

    /// Puts a new index in place of the old one. Returns the file of the index.
    pub(super) fn commit(&mut self, index: &[u8]) -> Result<FileStore> {
        let failed = |source| Error::Write { at: 0, len: index.len() as u64, source };
        for id in &self.new {
            self.disk.sync(&file_name(*id)).map_err(failed)?;
        }
        let temporary = temporary_index();
        let store = self.disk.write(&temporary, index).map_err(failed)?;
        self.disk.sync(&temporary).map_err(failed)?;
        self.disk.sync_names().map_err(failed)?;
        self.disk.rename(&temporary, INDEX_FILE).map_err(failed)?;
        self.disk.sync_names().map_err(failed)?;
        self.new.clear();
        Ok(store)
    }

    /// Removes the files that are not wanted, if the index does not refer to them otherwise.
    pub(super) fn clean(&mut self, wanted: &[u64]) {
        let wanted: HashSet<u64> =
            if self.dropped.is_empty() { HashSet::new() } else { wanted.iter().copied().collect() };
        for id in self.dropped.drain(..).filter(|id| !wanted.contains(&u64::from(*id))) {
            // A file that stays is in nobody's way.
            let _ = self.disk.remove(&file_name(id));
        }
    }

    /// Removes all files that the index does not refer to, and says how long they were (bytes).
    pub(super) fn sweep(&mut self, wanted: &[u64]) -> Result<u64> {
        let wanted: HashSet<u64> = wanted.iter().copied().collect();
        let unwanted = files(self.folder.path()).map_err(|source| Error::Open { source })?;
        let mut saved: u64 = 0;
        for id in unwanted.into_iter().filter(|id| !wanted.contains(&u64::from(*id))) {
            saved = saved.saturating_add(self.forget(id));
        }
        self.clean(&[]);
        Ok(saved)
    }
}

impl Drop for ChunkFiles {
    /// Removes what was not committed. What cannot be removed is in nobody's way.
    fn drop(&mut self) {
        for id in &self.new {
            let _ = self.disk.remove(&file_name(*id));
        }
    }
}

/// The numbers of all chunk files in a folder.
fn files(folder: &Path) -> io::Result<Vec<u32>> {
    let mut ids = vec![];
    for entry in fs::read_dir(folder)? {
        ids.extend(entry?.file_name().to_str().and_then(id_of));
    }
    Ok(ids)
}

fn temporary_index() -> String {
    format!("{INDEX_FILE}.tmp")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_never_used_again() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(file_name(7)), b"").unwrap();
        fs::write(dir.path().join("other.chunk"), b"").unwrap();
        let folder = Folder::new(dir.path());
        let mut files =
            ChunkFiles::new(folder.clone(), [3].into_iter(), Durability::Process).unwrap();
        assert_eq!(files.create(b"x").unwrap(), 8);
        assert_eq!(files.create(b"y").unwrap(), 9);
        drop(files);
        assert!(!folder.chunk_path(8).exists() && folder.chunk_path(7).exists());
        let full = ChunkFiles::new(folder, [u32::MAX].into_iter(), Durability::Process);
        assert!(matches!(full.err(), Some(Error::Param(Param::NoChunkId))));
    }
}

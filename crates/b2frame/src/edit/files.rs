//! The storage of a sparse frame that is edited: every new chunk is a file of its own, with a new
//! number, and a new index replaces the old one.
//!
//! | step | does | a reader sees |
//! |---|---|---|
//! | 1 | writes and syncs new chunk files | the old frame |
//! | 2 | writes and syncs a temporary index, syncs the folder | the old frame |
//! | 3 | renames it to `chunks.b2frame`, syncs the folder | the new frame |
//! | 4 | removes files that the previous index did not refer to either | the new frame |
//!
//! Files that the old index refers to stay until the next commit: a reader may need them. Leftovers
//! of killed writers go with them.

use std::collections::HashSet;
use std::io;

use blosc_io::replace::{sweep_in, temporary_path};
use blosc_io::{Durability, ReadAt, Tree};

use crate::error::{Error, Param, Result};
use crate::sparse::{Folder, INDEX_FILE, chunk_ids, file_name, unwanted_files};

/// The chunk files of a sparse frame.
pub(super) struct ChunkFiles {
    folder: Folder,
    durability: Durability,
    /// Larger than all numbers in use; `None` before the files were listed, and when all numbers
    /// are used.
    next: Option<u32>,
    is_listed: bool,
    /// Numbers from here on were free at the last commit.
    first_new: u32,
    /// Numbers of files written since the last commit.
    new: Vec<u32>,
    /// Numbers of files to remove after the next commit.
    dropped: Vec<u32>,
    /// Numbers of files that the last commit removed from the index. Readers of the previous index
    /// may need them.
    leftovers: Vec<u32>,
}

/// Attempts to find a number whose file no other program has created.
const TRIES: usize = 3;

impl ChunkFiles {
    /// For a folder.
    pub(super) fn new(folder: Folder, durability: Durability) -> Self {
        Self {
            folder,
            durability,
            next: None,
            is_listed: false,
            first_new: 0,
            new: vec![],
            dropped: vec![],
            leftovers: vec![],
        }
    }

    /// Lists the files; the index refers to the numbers in `wanted`. The folder is locked.
    pub(super) fn prepare(&mut self, wanted: &[u64]) -> Result<()> {
        if self.is_listed {
            return Ok(());
        }
        let open = |source| Error::Open { source };
        // A read-only tree fails here, before any change.
        self.tree().remove(&temporary_path(INDEX_FILE)).map_err(open)?;
        // An index that was never renamed has no effect.
        sweep_in(self.tree(), "", Some(INDEX_FILE)).map_err(open)?;
        let ids = self.list(wanted)?;
        let wanted: HashSet<u64> = wanted.iter().copied().collect();
        self.leftovers = ids.into_iter().filter(|id| !wanted.contains(&u64::from(*id))).collect();
        self.first_new = self.next.unwrap_or(u32::MAX);
        self.is_listed = true;
        Ok(())
    }

    pub(super) fn tree(&self) -> &dyn Tree {
        &*self.folder.tree
    }

    pub(super) fn folder(&self) -> Folder {
        self.folder.clone()
    }

    fn list(&mut self, wanted: &[u64]) -> Result<Vec<u32>> {
        let ids = chunk_ids(self.tree()).map_err(|source| Error::Open { source })?;
        let wanted = wanted.iter().filter_map(|number| u32::try_from(*number).ok());
        let largest = ids.iter().copied().chain(wanted).max();
        self.next = largest.map_or(Some(0), |id| id.checked_add(1)).max(self.next);
        Ok(ids)
    }

    pub(super) fn set_durability(&mut self, durability: Durability) {
        self.durability = durability;
    }

    /// Writes a chunk to a file of its own and gives its number.
    pub(super) fn create(&mut self, chunk: &[u8]) -> Result<u32> {
        for _ in 0..TRIES {
            let id = self.next.ok_or(Param::NoChunkId)?;
            let created = self.create_as(id, chunk);
            match &created {
                // A writer that was killed since the files were listed left this file.
                Err(Error::Write { source, .. })
                    if source.kind() == io::ErrorKind::AlreadyExists =>
                {
                    self.list(&[id.into()])?;
                }
                _ => {
                    self.next = id.checked_add(1);
                    return created.map(|()| id);
                }
            }
        }
        Err(Param::NoChunkId.into())
    }

    /// Writes a chunk to the file of a number that is not in use.
    pub(super) fn create_as(&mut self, id: u32, chunk: &[u8]) -> Result<()> {
        let failed = |source| Error::Write { at: 0, len: chunk.len() as u64, source };
        // Links are not followed, and files of other programs are not overwritten.
        let created = self.folder.tree.create_new(&file_name(id), chunk);
        let is_other = |error: &io::Error| error.kind() == io::ErrorKind::AlreadyExists;
        // After another failure a part of the file may exist.
        if !created.as_ref().is_err_and(is_other) {
            self.new.push(id);
        }
        created.map_err(failed)
    }

    /// Whether a file with this number exists.
    pub(super) fn has(&self, id: u64) -> bool {
        u32::try_from(id).is_ok_and(|id| match self.folder.tree.len_of(&file_name(id)) {
            Ok(_) => true,
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        })
    }

    /// Notes that a chunk is no longer needed, and returns the length of its file (bytes).
    pub(super) fn forget(&mut self, id: u32) -> u64 {
        // No reader has seen uncommitted chunks.
        if id >= self.first_new { &mut self.leftovers } else { &mut self.dropped }.push(id);
        self.folder.tree.len_of(&file_name(id)).unwrap_or(0)
    }

    /// Replaces the index by a new one. Returns the file of the new index.
    pub(super) fn commit(&mut self, index: &[u8]) -> Result<Box<dyn ReadAt>> {
        let failed = |source| Error::Write { at: 0, len: index.len() as u64, source };
        self.replace_index(index).map_err(failed)
    }

    fn replace_index(&mut self, index: &[u8]) -> io::Result<Box<dyn ReadAt>> {
        let (tree, temporary) = (&*self.folder.tree, temporary_path(INDEX_FILE));
        let syncs = self.durability.needs_sync();
        if syncs {
            self.new.iter().try_for_each(|id| tree.sync(&file_name(*id)))?;
        }
        let replaced = tree.create_new(&temporary, index).and_then(|()| {
            if syncs {
                tree.sync(&temporary)?;
                tree.sync_names("")?;
            }
            tree.rename(&temporary, INDEX_FILE)
        });
        if replaced.is_err() {
            // The first error says more than an error of cleaning up.
            let _ = tree.remove(&temporary);
        }
        replaced?;
        // From now on the index refers to the new files, whatever fails below.
        self.new.clear();
        if syncs {
            tree.sync_names("")?;
        }
        tree.open(INDEX_FILE)
    }

    /// Removes files that the index did not refer to before the last commit either. Files of the
    /// previous index stay for its readers until the next commit.
    pub(super) fn clean(&mut self, wanted: &[u64]) {
        if !self.leftovers.is_empty() {
            self.remove_leftovers(wanted);
        }
        self.leftovers = core::mem::take(&mut self.dropped);
        self.first_new = self.next.unwrap_or(u32::MAX);
    }

    fn remove_leftovers(&mut self, wanted: &[u64]) {
        let wanted: HashSet<u64> = wanted.iter().copied().collect();
        for id in self.leftovers.drain(..).filter(|id| !wanted.contains(&u64::from(*id))) {
            // A file that stays is harmless.
            let _ = self.folder.tree.remove(&file_name(id));
        }
    }

    /// Removes all files that the index does not refer to, and returns their total length (bytes).
    pub(super) fn sweep(&mut self, wanted: &[u64]) -> Result<u64> {
        let files = unwanted_files(self.tree(), wanted).map_err(|source| Error::Open { source })?;
        self.dropped.clear();
        self.leftovers = files.iter().map(|(id, _)| *id).collect();
        self.remove_leftovers(wanted);
        Ok(files.iter().fold(0, |saved: u64, (_, len)| saved.saturating_add(*len)))
    }
}

impl Drop for ChunkFiles {
    /// Removes uncommitted files. A file that stays is harmless.
    fn drop(&mut self) {
        for id in &self.new {
            let _ = self.folder.tree.remove(&file_name(*id));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use blosc_io::tree::MemTree;

    use super::*;

    #[test]
    fn numbers_are_never_used_again() {
        let tree = Arc::new(MemTree::new());
        tree.write(&file_name(7), b"").unwrap();
        tree.write("other.chunk", b"").unwrap();
        let folder = Folder { tree: tree.clone() };
        let mut files = ChunkFiles::new(folder.clone(), Durability::ProcessDeath);
        files.prepare(&[3]).unwrap();
        assert_eq!(files.create(b"x").unwrap(), 8);
        assert_eq!(files.create(b"y").unwrap(), 9);
        drop(files);
        assert!(tree.open(&file_name(8)).is_err() && tree.open(&file_name(7)).is_ok());
        let mut full = ChunkFiles::new(folder, Durability::ProcessDeath);
        full.prepare(&[u32::MAX.into()]).unwrap();
        assert!(matches!(full.create(b"z"), Err(Error::Param(Param::NoChunkId))));
    }
}

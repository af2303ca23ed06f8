//! The storage of a sparse frame that is edited: every new chunk is a file of its own, under a
//! number that was never in use, and a new index takes the place of the old one.
//!
//! | step | does | a reader sees |
//! |---|---|---|
//! | 1 | writes and syncs new chunk files | the old frame |
//! | 2 | writes and syncs `chunks.b2frame.tmp`, syncs the folder | the old frame |
//! | 3 | renames it to `chunks.b2frame`, syncs the folder | the new frame |
//! | 4 | removes files that nothing refers to any more | the new frame |

use std::collections::HashSet;
use std::io;

use blosc_io::{Durability, ReadAt, Tree};

use crate::error::{Error, Param, Result};
use crate::sparse::{Folder, INDEX_FILE, file_name, id_of};

/// The chunk files of a sparse frame.
pub(super) struct ChunkFiles {
    folder: Folder,
    durability: Durability,
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
        // It was never renamed, so it has no effect.
        folder.tree.remove(&temporary_index()).map_err(open)?;
        let largest = chunk_ids(&*folder.tree).map_err(open)?.into_iter().chain(ids).max();
        let next = largest.map_or(Some(0), |id| id.checked_add(1)).ok_or(Param::NoChunkId)?;
        Ok(Self { folder, durability, next, new: vec![], dropped: vec![] })
    }

    pub(super) fn set_durability(&mut self, durability: Durability) {
        self.durability = durability;
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
        // A link, or the file of another program, is not followed or overwritten.
        self.folder.tree.create_new(&file_name(id), chunk).map_err(failed)
    }

    /// Whether there is anything under the name of a number.
    pub(super) fn has(&self, id: u64) -> bool {
        u32::try_from(id).is_ok_and(|id| match self.folder.tree.len_of(&file_name(id)) {
            Ok(_) => true,
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        })
    }

    /// Notes that a chunk is not wanted any more, and gives the length of its file (bytes).
    pub(super) fn forget(&mut self, id: u32) -> u64 {
        self.dropped.push(id);
        self.folder.tree.len_of(&file_name(id)).unwrap_or(0)
    }

    /// Replaces the index by a new one. Returns the file of the new index.
    pub(super) fn commit(&mut self, index: &[u8]) -> Result<Box<dyn ReadAt>> {
        let failed = |source| Error::Write { at: 0, len: index.len() as u64, source };
        self.replace_index(index).map_err(failed)
    }

    fn replace_index(&mut self, index: &[u8]) -> io::Result<Box<dyn ReadAt>> {
        let (tree, temporary) = (&*self.folder.tree, temporary_index());
        let syncs = self.durability.needs_sync();
        if syncs {
            self.new.iter().try_for_each(|id| tree.sync(&file_name(*id)))?;
        }
        match tree.create_new(&temporary, index) {
            // A commit failed before.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                tree.remove(&temporary)?;
                tree.create_new(&temporary, index)?;
            }
            created => created?,
        }
        if syncs {
            tree.sync(&temporary)?;
            tree.sync_names("")?;
        }
        tree.rename(&temporary, INDEX_FILE)?;
        // From now on the index refers to them, whatever fails below.
        self.new.clear();
        if syncs {
            tree.sync_names("")?;
        }
        tree.open(INDEX_FILE)
    }

    /// Removes the files that are not wanted, if the index does not refer to them otherwise.
    pub(super) fn clean(&mut self, wanted: &[u64]) {
        let wanted: HashSet<u64> =
            if self.dropped.is_empty() { HashSet::new() } else { wanted.iter().copied().collect() };
        for id in self.dropped.drain(..).filter(|id| !wanted.contains(&u64::from(*id))) {
            // A file that stays is harmless.
            let _ = self.folder.tree.remove(&file_name(id));
        }
    }

    /// Removes all files that the index does not refer to, and says how long they were (bytes).
    pub(super) fn sweep(&mut self, wanted: &[u64]) -> Result<u64> {
        let wanted: HashSet<u64> = wanted.iter().copied().collect();
        let unwanted = chunk_ids(&*self.folder.tree).map_err(|source| Error::Open { source })?;
        let mut saved: u64 = 0;
        for id in unwanted.into_iter().filter(|id| !wanted.contains(&u64::from(*id))) {
            saved = saved.saturating_add(self.forget(id));
        }
        self.clean(&[]);
        Ok(saved)
    }
}

impl Drop for ChunkFiles {
    /// Removes what was not committed. What cannot be removed is harmless.
    fn drop(&mut self) {
        for id in &self.new {
            let _ = self.folder.tree.remove(&file_name(*id));
        }
    }
}

/// The numbers of all chunk files.
fn chunk_ids(tree: &dyn Tree) -> io::Result<Vec<u32>> {
    Ok(tree.list("")?.iter().filter_map(|entry| id_of(&entry.name)).collect())
}

fn temporary_index() -> String {
    format!("{INDEX_FILE}.tmp")
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
        let mut files =
            ChunkFiles::new(folder.clone(), [3].into_iter(), Durability::ProcessDeath).unwrap();
        assert_eq!(files.create(b"x").unwrap(), 8);
        assert_eq!(files.create(b"y").unwrap(), 9);
        drop(files);
        assert!(tree.open(&file_name(8)).is_err() && tree.open(&file_name(7)).is_ok());
        let full = ChunkFiles::new(folder, [u32::MAX].into_iter(), Durability::ProcessDeath);
        assert!(matches!(full.err(), Some(Error::Param(Param::NoChunkId))));
    }
}

//! Sparse frames: an index file and one file for every stored chunk, in a directory or another tree
//! of files.
//!
//! ```text
//! name.b2frame/
//!   chunks.b2frame    header, index chunk, trailer: a frame with an empty data section
//!   00000000.chunk    a chunk; its number in the index, in the name as upper-case hexadecimal
//!   00000001.chunk
//!   .b2lock           only with locking
//! ```
//!
//! Names are made from numbers only, and each must be an ordinary file, not a link: a directory
//! from a stranger cannot redirect reads.

use core::fmt;
use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

use blosc_io::tree::DirTree;
use blosc_io::{MemStore, ReadAt, Stamp, Sync, Tree, WriteAt, is_missing, look_at};

use crate::error::{Error, Result};
use crate::source::Source;

/// The file with header, index and trailer.
pub const INDEX_FILE: &str = "chunks.b2frame";

/// The files of a sparse frame.
#[derive(Clone)]
pub(crate) struct Folder {
    pub tree: Arc<dyn Tree>,
}

impl fmt::Debug for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tree.fmt(f)
    }
}

impl Folder {
    /// The directory at `path`, if it looks like a sparse frame.
    pub(crate) fn find(path: &Path) -> Result<Option<Self>> {
        let index = look_at(path.join(INDEX_FILE)).map_err(|source| Error::Open { source })?;
        Ok(index.is_some_and(|index| index.is_file()).then(|| Self::in_dir(path)))
    }

    /// A directory that is or becomes a sparse frame.
    pub(crate) fn in_dir(path: &Path) -> Self {
        Self { tree: Arc::new(DirTree::new(path).follow_links(false)) }
    }

    /// Opens the file of header, index and trailer.
    pub(crate) fn open_index(&self) -> Result<Source> {
        let file = self.tree.open(INDEX_FILE).map_err(|source| Error::Open { source })?;
        Ok(Source::new(Arc::from(file), 0))
    }

    /// As [`open_index`](Self::open_index); empty if the file is missing or not an ordinary file.
    pub(crate) fn open_index_if_any(&self) -> Result<Source> {
        match self.open_index() {
            Err(Error::Open { source })
                if is_missing(&source) || source.kind() == io::ErrorKind::InvalidInput =>
            {
                Ok(Source::new(Arc::new(MemStore::default()), 0))
            }
            opened => opened,
        }
    }

    /// Opens the file of a chunk.
    pub(crate) fn open_chunk(&self, nchunk: u64, id: u32) -> Result<Source> {
        let name = file_name(id);
        match self.tree.open(&name) {
            Ok(file) => Ok(Source::new(Arc::from(file), 0)),
            Err(source) => Err(Error::ChunkFile { nchunk, name, source }),
        }
    }
}

/// The name of a chunk's file.
pub(crate) fn file_name(id: u32) -> String {
    format!("{id:08X}.chunk")
}

/// The number in the name of a chunk's file.
pub(crate) fn id_of(name: &str) -> Option<u32> {
    let id = u32::from_str_radix(name.strip_suffix(".chunk")?, 16).ok()?;
    (file_name(id) == name).then_some(id)
}

/// The files of chunks that the index does not refer to: number and length (bytes).
pub(crate) fn unwanted_files(tree: &dyn Tree, wanted: &[u64]) -> io::Result<Vec<(u32, u64)>> {
    let wanted: HashSet<u64> = wanted.iter().copied().collect();
    let ids = chunk_ids(tree)?.into_iter().filter(|id| !wanted.contains(&u64::from(*id)));
    Ok(ids.map(|id| (id, tree.len_of(&file_name(id)).unwrap_or(0))).collect())
}

/// The numbers of all chunk files.
pub(crate) fn chunk_ids(tree: &dyn Tree) -> io::Result<Vec<u32>> {
    Ok(tree.list("")?.iter().filter_map(|entry| id_of(&entry.name)).collect())
}

/// The index file of a frame that is edited: it is replaced by another file, never written to.
pub(crate) struct ReadOnly(pub Box<dyn ReadAt>);

impl ReadAt for ReadOnly {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(at, buf)
    }

    fn stamp(&self) -> Option<Stamp> {
        self.0.stamp()
    }
}

impl WriteAt for ReadOnly {
    fn write_at(&mut self, _: u64, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn set_len(&mut self, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn sync(&mut self, _: Sync) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunk_files_have_eight_upper_case_digits() {
        assert_eq!(file_name(0), "00000000.chunk");
        assert_eq!(file_name(0x1ab), "000001AB.chunk");
        assert_eq!(file_name(u32::MAX), "FFFFFFFF.chunk");
        assert_eq!(id_of("000001AB.chunk"), Some(0x1ab));
        for other in ["000001ab.chunk", "1AB.chunk", "+00001AB.chunk", "000001AB"] {
            assert_eq!(id_of(other), None);
        }
    }

    #[test]
    fn a_directory_without_index_is_no_frame() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Folder::find(dir.path()).unwrap().is_none());
        std::fs::write(dir.path().join(INDEX_FILE), b"").unwrap();
        let folder = Folder::find(dir.path()).unwrap().unwrap();
        let missing = folder.open_chunk(7, 0xab).err().unwrap();
        assert_eq!(missing.to_string(), "chunk 7 in file 000000AB.chunk");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("secret"), b"secret").unwrap();
        std::fs::write(dir.path().join(INDEX_FILE), b"").unwrap();
        std::os::unix::fs::symlink(dir.path().join("secret"), dir.path().join(file_name(0)))
            .unwrap();
        let Err(Error::ChunkFile { source, .. }) =
            Folder::find(dir.path()).unwrap().unwrap().open_chunk(0, 0)
        else {
            panic!("a link was followed")
        };
        assert_eq!(source.kind(), io::ErrorKind::InvalidInput);
    }
}

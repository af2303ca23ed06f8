//! Sparse frames: a directory with an index file and one file for every stored chunk.
//!
//! ```text
//! name.b2frame/
//!   chunks.b2frame    header, index chunk, trailer: a frame with an empty data section
//!   00000000.chunk    a chunk; the index holds its number, in the name it is upper-case hexadecimal
//!   00000001.chunk
//!   .b2lock           only with locking
//! ```
//!
//! Names are made from numbers only, and what a name stands for must be a file of its own: a
//! directory from a stranger cannot make us read elsewhere.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use blosc_io::FileStore;

use crate::error::{Error, Result};
use crate::source::Source;

/// The file with header, index and trailer.
pub(crate) const INDEX_FILE: &str = "chunks.b2frame";

/// The directory of a sparse frame.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The directory at `path`, if it looks like a sparse frame.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        path.join(INDEX_FILE).is_file().then(|| Self { path: path.to_path_buf() })
    }

    /// A directory that is to become a sparse frame.
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_path_buf() }
    }

    /// The directory itself.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where a chunk's file is.
    pub(crate) fn chunk_path(&self, id: u32) -> PathBuf {
        self.path.join(file_name(id))
    }

    /// Opens the file of header, index and trailer.
    pub(crate) fn open_index(&self) -> Result<Source> {
        let file =
            open_file(&self.path.join(INDEX_FILE)).map_err(|source| Error::Open { source })?;
        Ok(Source::new(Arc::new(file), 0))
    }

    /// Opens the file of a chunk.
    pub(crate) fn open_chunk(&self, nchunk: u64, id: u32) -> Result<Source> {
        let file = open_file(&self.chunk_path(id)).map_err(|source| Error::ChunkFile {
            nchunk,
            name: file_name(id),
            source,
        })?;
        Ok(Source::new(Arc::new(file), 0))
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

/// Opens a file that is no link.
fn open_file(path: &Path) -> io::Result<FileStore> {
    if !path.symlink_metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    FileStore::open(path)
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
        assert!(Folder::at(dir.path()).is_none());
        std::fs::write(dir.path().join(INDEX_FILE), b"").unwrap();
        let folder = Folder::at(dir.path()).unwrap();
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
        let Err(Error::ChunkFile { source, .. }) = Folder::at(dir.path()).unwrap().open_chunk(0, 0)
        else {
            panic!("a link was followed")
        };
        assert_eq!(source.kind(), io::ErrorKind::InvalidInput);
    }
}

//! Dead bytes of files and folders: bytes that nothing refers to.

use std::path::Path;
use std::sync::Arc;

use b2frame::SChunk;
use b2store::{Store, StoreWriter, WriteOptions};
use bcolz_store::{CArrayWriter, CTableWriter, DataSet};
use blosc_io::LockWait;
use blosc_io::tree::{DirTree, Tree};
use bloscpack::LockedFile;

use crate::convert::nbytes_at;
use crate::error::Result;
use crate::formats::store::is_below;
use crate::params::OpenOptions;

/// Largest number of chunks of a frame for which dead bytes are counted.
const MAX_CHUNKS_LOOKED_AT: u64 = 4096;

/// Dead bytes that are too few for a note.
const LITTLE_WASTE: u64 = 16 << 10;

/// Bytes of a file or folder before repacking, and bytes that were freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repacked {
    /// All bytes before.
    pub file_bytes: u64,
    /// Bytes that were freed.
    pub freed: u64,
}

/// Writes a store again without its dead bytes, or the part at and below `key`. Chunks are copied,
/// and a crash leaves the old store or the new one.
///
/// # Errors
///
/// As [`StoreWriter::open_with`] and [`StoreWriter::compact`]; a missing key.
pub fn repack_store(path: &Path, key: Option<&str>, options: &WriteOptions) -> Result<Repacked> {
    let file_bytes = nbytes_at(path)?;
    let mut writer = StoreWriter::open_with(path, options)?;
    match key {
        None => writer.compact()?,
        Some(key) => {
            let is_meant = |found: &&str| is_below(key, found);
            let keys: Vec<String> = writer.keys().filter(is_meant).map(str::to_owned).collect();
            keys.iter().try_for_each(|key| writer.compact_value(key))?;
        }
    }
    drop(writer.commit()?);
    Ok(Repacked { file_bytes, freed: file_bytes.saturating_sub(nbytes_at(path)?) })
}

/// Removes the files that interrupted changes of a bcolz data set have left.
///
/// # Errors
///
/// As [`CTableWriter::open_in`]. Files that were removed before an error stay removed.
pub fn repack_bcolz(path: &Path, options: &bcolz_store::OpenOptions) -> Result<Repacked> {
    let file_bytes = nbytes_at(path)?;
    let tree: Arc<dyn Tree> = Arc::new(DirTree::new(path));
    // Opening for changes removes the rest of interrupted ones.
    match bcolz_store::open_in(Arc::clone(&tree), "", options)? {
        DataSet::CArray(_) => CArrayWriter::open_in(tree, "", options)?.finish()?,
        DataSet::CTable(_) => CTableWriter::open_in(tree, "", options)?.finish()?,
    }
    Ok(Repacked { file_bytes, freed: file_bytes.saturating_sub(nbytes_at(path)?) })
}

/// Cuts off the bytes after the last chunk of a Bloscpack file.
///
/// # Errors
///
/// As [`LockedFile::cut_tail`].
pub fn repack_blp(path: &Path, wait: &LockWait) -> Result<Repacked> {
    let file_bytes = nbytes_at(path)?;
    let freed = LockedFile::open(path, wait)?.cut_tail()?;
    Ok(Repacked { file_bytes, freed })
}

/// Dead bytes and all bytes of a frame in a file or a store, if more than half are dead. Each
/// change replaces incomplete chunks, the index and the trailer. Frames of many chunks waste
/// little, and are not counted.
///
/// # Errors
///
/// A frame or store that does not open, or whose chunks cannot be counted.
pub fn much_waste(
    path: &Path,
    is_store: bool,
    options: &OpenOptions,
) -> Result<Option<(u64, u64)>> {
    let dead = if is_store {
        Store::open_with(path, &options.store())?.dead_bytes()?
    } else {
        let schunk = SChunk::open_with(path, &options.frame())?;
        if schunk.nchunks() > MAX_CHUNKS_LOOKED_AT {
            return Ok(None);
        }
        schunk.usage()?.dead_bytes
    };
    let all = nbytes_at(path)?;
    let live = all.saturating_sub(dead);
    Ok((dead > live.max(LITTLE_WASTE)).then_some((dead, all)))
}

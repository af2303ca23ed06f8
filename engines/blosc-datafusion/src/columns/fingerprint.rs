//! What tells a table of this machine from one that was put in its place.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use xxhash_rust::xxh3::xxh3_64;

use super::split_key;
use crate::error::{Error, Result};

/// Ends the names of the chunks of bcolz and of sparse frames.
const CHUNKS: [&str; 2] = [".blp", ".chunk"];

/// The fingerprint of what is in a place now: of the lengths and the times of the last change of
/// all files but chunks, which are too many, and of the times of all directories. The inodes are no
/// part of it, so that a copy that keeps the times has the same.
pub(crate) fn fingerprint_now(location: &str) -> Result<u64> {
    let (path, _) = split_key(location);
    fingerprint(path).map_err(|cause| Error::Io { location: location.to_owned(), cause })
}

/// The same of some files, all of which have to be there.
pub(super) fn fingerprint_of(files: impl IntoIterator<Item = PathBuf>) -> io::Result<u64> {
    files.into_iter().try_fold(0_u64, |sum, file| {
        Ok(sum.wrapping_add(hash(&file.to_string_lossy(), &file.metadata()?)))
    })
}

fn fingerprint(path: &Path) -> io::Result<u64> {
    let metadata = path.metadata()?;
    let mut sum = hash("", &metadata);
    if metadata.is_dir() {
        add_entries(path, "", &mut sum)?;
    }
    Ok(sum)
}

/// Adds what is in a directory, in any order.
fn add_entries(directory: &Path, name: &str, sum: &mut u64) -> io::Result<()> {
    for entry in directory.read_dir()? {
        let entry = entry?;
        let name = format!("{name}/{}", entry.file_name().to_string_lossy());
        if CHUNKS.iter().any(|ending| name.ends_with(ending)) {
            continue;
        }
        let metadata = entry.metadata()?;
        *sum = sum.wrapping_add(hash(&name, &metadata));
        if metadata.is_dir() {
            add_entries(&entry.path(), &name, sum)?;
        }
    }
    Ok(())
}

fn hash(name: &str, metadata: &Metadata) -> u64 {
    // The length of a directory says nothing of what is in it.
    let len = if metadata.is_dir() { 0 } else { metadata.len() };
    let modified = metadata.modified().ok();
    let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    let mut bytes = name.as_bytes().to_vec();
    bytes.extend_from_slice(&len.to_le_bytes());
    bytes.extend_from_slice(&since.as_nanos().to_le_bytes());
    xxh3_64(&bytes)
}

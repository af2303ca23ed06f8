//! A fingerprint of a local table, which changes when another table replaces it.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use xxhash_rust::xxh3::xxh3_64;

use super::split_key;
use crate::error::{Error, Result};

/// The endings of chunk files of bcolz and of sparse frames.
const CHUNKS: [&str; 2] = [".blp", ".chunk"];

/// The fingerprint of a location now. It covers the lengths and modification times of all files but
/// chunks, which are too many, and the times of all directories. It does not cover inodes, so that
/// a copy that keeps the times has the same fingerprint.
pub(crate) fn fingerprint_now(location: &str) -> Result<u64> {
    let (path, _) = split_key(location);
    fingerprint(path).map_err(|cause| Error::Io { location: location.to_owned(), cause })
}

/// The fingerprint of some files, all of which must exist.
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

/// Adds the entries of a directory, in any order.
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
    // The length of a directory does not depend on its entries.
    let len = if metadata.is_dir() { 0 } else { metadata.len() };
    let modified = metadata.modified().ok();
    let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    let mut bytes = name.as_bytes().to_vec();
    bytes.extend_from_slice(&len.to_le_bytes());
    bytes.extend_from_slice(&since.as_nanos().to_le_bytes());
    xxh3_64(&bytes)
}

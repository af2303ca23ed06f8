//! The files of an array in the form in which zarrs reads them, and the metadata in them.

use std::io;
use std::sync::Arc;

use blosc_io::Tree;
use serde_json::{Map, Value};
use zarrs::storage::byte_range::ByteRangeIterator;
use zarrs::storage::{Bytes, MaybeBytesIterator, ReadableStorageTraits, StorageError, StoreKey};

use super::invalid;
use super::lenient;

/// A folder, or the members of an archive.
#[derive(Clone, Debug)]
pub(super) struct Files(pub(super) Arc<dyn Tree>);

/// The kind of a folder of Zarr, according to its metadata.
pub(super) enum Kind {
    Array,
    Group,
}

/// Most bytes of metadata that are read.
const MAX_METADATA_NBYTES: u64 = 64 << 20;

/// The files of metadata.
pub(super) const METADATA: [&str; 5] = ["zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata"];

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The path of a name in a folder.
pub(super) fn within(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

impl Files {
    /// The kind of a folder; `None` for a folder without metadata, and for a path that is not a
    /// folder.
    ///
    /// # Errors
    ///
    /// Damaged metadata.
    pub(super) fn kind_of(&self, folder: &str) -> io::Result<Option<Kind>> {
        if self.has(folder, ".zarray") {
            return Ok(Some(Kind::Array));
        }
        if self.has(folder, ".zgroup") {
            return Ok(Some(Kind::Group));
        }
        let Some(metadata) = self.json_of(folder, "zarr.json")? else { return Ok(None) };
        match metadata.get("node_type").and_then(Value::as_str) {
            Some("array") => Ok(Some(Kind::Array)),
            Some("group") => Ok(Some(Kind::Group)),
            _ => Err(invalid("zarr.json: node_type is neither array nor group")),
        }
    }

    pub(super) fn has(&self, folder: &str, name: &str) -> bool {
        self.0.len_of(&within(folder, name)).is_ok()
    }

    /// The content of a file of metadata, if it exists.
    fn json_of(&self, folder: &str, name: &str) -> io::Result<Option<Value>> {
        let file = match self.0.open(&within(folder, name)) {
            Ok(file) => file,
            Err(error) if is_missing(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        let len = file.len()?;
        if len > MAX_METADATA_NBYTES {
            return Err(invalid(format!("{name} is longer than any metadata")));
        }
        let mut bytes = vec![0; usize::try_from(len).map_err(invalid)?];
        file.read_exact_at(0, &mut bytes)?;
        lenient::parse(&bytes).map(Some).map_err(|error| invalid(format!("{name}: {error}")))
    }

    /// The metadata of an array, of either version.
    ///
    /// # Errors
    ///
    /// Damaged metadata.
    pub(super) fn metadata_of(&self, folder: &str) -> io::Result<Value> {
        let metadata = match self.json_of(folder, ".zarray")? {
            Some(metadata) => Some(metadata),
            None => self.json_of(folder, "zarr.json")?,
        };
        Ok(metadata.unwrap_or(Value::Null))
    }

    /// The attributes of an array or a group, of either version.
    ///
    /// # Errors
    ///
    /// Damaged metadata.
    pub(super) fn attributes_of(&self, folder: &str) -> io::Result<Map<String, Value>> {
        let attributes = match self.has(folder, "zarr.json") && !self.has(folder, ".zarray") {
            true => {
                self.json_of(folder, "zarr.json")?.and_then(|all| all.get("attributes").cloned())
            }
            false => self.json_of(folder, ".zattrs")?,
        };
        match attributes {
            None => Ok(Map::new()),
            Some(Value::Object(attributes)) => Ok(attributes),
            Some(_) => Err(invalid("the attributes are no object")),
        }
    }

    /// The folders in a folder, including links to folders.
    ///
    /// # Errors
    ///
    /// A folder that cannot be listed.
    pub(super) fn folders_in(&self, folder: &str) -> io::Result<Vec<String>> {
        let is_folder = |name: &str| self.0.list(&within(folder, name)).is_ok();
        let entries = self.0.list(folder)?.into_iter();
        let is_data = |name: &str| !METADATA.contains(&name);
        let folders = entries
            .filter(|entry| entry.is_dir || (is_data(&entry.name) && is_folder(&entry.name)));
        Ok(folders.map(|entry| entry.name).collect())
    }

    /// The paths and the lengths (bytes) of the files below a folder, without metadata.
    pub(super) fn chunks_below(&self, folder: &str) -> io::Result<Vec<(String, u64)>> {
        let (mut waiting, mut found) = (vec![folder.to_owned()], vec![]);
        while let Some(folder) = waiting.pop() {
            for entry in self.0.list(&folder)? {
                let path = within(&folder, &entry.name);
                if entry.is_dir {
                    waiting.push(path);
                } else if !METADATA.contains(&entry.name.as_str()) {
                    let len = self.0.len_of(&path)?;
                    found.push((path, len));
                }
            }
        }
        Ok(found)
    }
}

impl ReadableStorageTraits for Files {
    fn get_partial_many<'a>(
        &'a self,
        key: &StoreKey,
        byte_ranges: ByteRangeIterator<'a>,
    ) -> Result<MaybeBytesIterator<'a>, StorageError> {
        let file = match self.0.open(key.as_str()) {
            Ok(file) => file,
            Err(error) if is_missing(&error) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let len = file.len()?;
        let read = move |range: zarrs::storage::byte_range::ByteRange| {
            let range = range.to_range(len);
            let nbytes = range.end.checked_sub(range.start).filter(|_| range.end <= len);
            let nbytes = nbytes.and_then(|nbytes| usize::try_from(nbytes).ok());
            let nbytes = nbytes.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))?;
            let mut bytes = vec![0; nbytes];
            file.read_exact_at(range.start, &mut bytes)?;
            Ok(Bytes::from(bytes))
        };
        Ok(Some(Box::new(byte_ranges.map(read))))
    }

    fn size_key(&self, key: &StoreKey) -> Result<Option<u64>, StorageError> {
        match self.0.len_of(key.as_str()) {
            Ok(len) => Ok(Some(len)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn supports_get_partial(&self) -> bool {
        true
    }
}

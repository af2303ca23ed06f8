//! The metadata of a carray: `meta/sizes`, `meta/storage` and `__attrs__`, checked when they are
//! read.

mod attrs;
mod dtype;
mod sizes;
mod storage;

pub use attrs::Attrs;
pub(crate) use dtype::typesize;
pub(crate) use sizes::Sizes;
pub(crate) use storage::Storage;

use crate::error::{Corrupt, Error, Field, Result};
use crate::files::{join, read_metadata};
use crate::tree::Tree;
use blosc_dtype::json::{self, Json};

/// Parses a metadata file that must hold an object.
pub(crate) fn parse_object(path: &str, bytes: &[u8]) -> Result<Json> {
    let json = json::parse(bytes).map_err(|error| {
        let (at, expected) = (error.at, error.expected);
        Error::corrupt(path, Corrupt::Json { at, expected })
    })?;
    match json {
        Json::Object(_) => Ok(json),
        other => Err(wrong_type(path, "", "an object", &other)),
    }
}

/// Reads a metadata file that must exist.
pub(crate) fn read_object(tree: &dyn Tree, path: &str) -> Result<Json> {
    let bytes = read_metadata(tree, path)?.ok_or_else(|| Error::corrupt(path, Corrupt::Missing))?;
    parse_object(path, &bytes)
}

/// The value of a key that must exist.
pub(crate) fn need<'a>(json: &'a Json, path: &str, key: &'static str) -> Result<&'a Json> {
    json.get(key).ok_or_else(|| Error::corrupt(path, Corrupt::Key { key }))
}

pub(crate) fn wrong_type(
    path: &str,
    key: &'static str,
    expected: &'static str,
    found: &Json,
) -> Error {
    Error::corrupt(path, Corrupt::Type { key, expected, found: found.type_name() })
}

/// A number between two others.
pub(crate) fn in_range(path: &str, field: Field, value: i128, min: i128, max: i128) -> Result<u64> {
    match u64::try_from(value) {
        Ok(number) if (min..=max).contains(&value) => Ok(number),
        _ => Err(Error::corrupt(path, Corrupt::Range { field, value, min, max })),
    }
}

pub(crate) fn sizes_path(path: &str) -> String {
    join(path, "meta/sizes")
}

pub(crate) fn storage_path(path: &str) -> String {
    join(path, "meta/storage")
}

pub(crate) fn attrs_path(path: &str) -> String {
    join(path, "__attrs__")
}

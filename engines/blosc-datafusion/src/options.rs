//! How tables are opened.

use std::collections::HashMap;

use crate::error::{Error, Result};

/// How a table is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableOptions {
    /// Whether byte strings of NumPy (`S`) are text. Bytes that are no UTF-8 are then an error.
    /// Default: they are.
    pub bytes_as_text: bool,
    /// Whether text and bytes are views of Arrow (`Utf8View`, `BinaryView`), or else `Utf8` and
    /// `Binary`, as clusters want them. Default: they are views.
    pub views: bool,
}

impl Default for TableOptions {
    fn default() -> Self {
        Self { bytes_as_text: true, views: true }
    }
}

impl TableOptions {
    /// With byte strings as text, or as bytes.
    #[must_use]
    pub const fn bytes_as_text(self, bytes_as_text: bool) -> Self {
        Self { bytes_as_text, ..self }
    }

    /// With text and bytes as views, or not.
    #[must_use]
    pub const fn views(self, views: bool) -> Self {
        Self { views, ..self }
    }

    /// Reads the `OPTIONS` of `CREATE EXTERNAL TABLE`, whose names have the prefix `format.`.
    /// Options without a value there keep their value.
    pub(crate) fn parse(self, options: &HashMap<String, String>) -> Result<Self> {
        let mut parsed = self;
        for (name, value) in options {
            match (name.trim_start_matches("format."), value.parse()) {
                ("bytes_as_text", Ok(is_text)) => parsed.bytes_as_text = is_text,
                ("views", Ok(views)) => parsed.views = views,
                (name, _) => {
                    let (name, value) = (name.to_owned(), value.clone());
                    return Err(Error::NoOption { name, value });
                }
            }
        }
        Ok(parsed)
    }
}

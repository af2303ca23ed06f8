//! The metadata section ("Metadata section" in the format document).
//!
//! ```text
//! header  32 bytes
//! data    meta_comp_size bytes             the text, uncompressed or as a zlib stream
//! zeros   max_meta_size - meta_comp_size   room for longer metadata
//! digest  of the data, after the zeros
//! ```

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "lengths are those of a checked header"
)]

mod encode;
mod header;

use std::io::Read;

use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_zlib_with_limit};
use serde_json::Value;

use crate::error::Bounded;
use crate::input::Input;
use crate::{Corrupt, Error, FileLimits, Part, Result, json};

pub use crate::params::MetadataUse;
pub use crate::repack::NewMetadata;
#[allow(unused_imports)]
pub(crate) use encode::Section;
pub use encode::{MetadataOptions, Room};
pub use header::{MetadataCodec, MetadataHeader};

/// A file's description of its data: any JSON value, or bytes of another format.
#[derive(Clone, Debug, PartialEq)]
pub struct Metadata {
    header: MetadataHeader,
    /// The uncompressed text.
    text: Vec<u8>,
    value: Option<Value>,
    /// Position of the section.
    at: u64,
}

impl Metadata {
    /// The value, unless the metadata were read with [`MetadataUse::Raw`] and are not JSON.
    /// Python's tokens outside of JSON (`NaN`) are `null` here.
    #[must_use]
    pub const fn json(&self) -> Option<&Value> {
        self.value.as_ref()
    }

    /// The serialised text, uncompressed.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Storage of the metadata.
    #[must_use]
    pub const fn header(&self) -> &MetadataHeader {
        &self.header
    }

    /// Position of the section (bytes from the start of the file).
    #[must_use]
    pub const fn position(&self) -> u64 {
        self.at
    }

    /// Reads the section. `None` if it is skipped.
    pub(crate) fn read<R: Read>(
        input: &mut Input<R>,
        limits: &FileLimits,
        mode: MetadataUse,
    ) -> Result<(MetadataHeader, Option<Self>)> {
        let at = input.position();
        let mut raw = [0; MetadataHeader::LEN];
        input.exact(Part::MetadataHeader, &mut raw)?;
        let header = MetadataHeader::parse(&raw, at)?;
        input.check(Part::Metadata, header.section_len() - MetadataHeader::LEN as u64)?;
        if mode == MetadataUse::Ignore {
            input.skip(Part::Metadata, header.section_len() - MetadataHeader::LEN as u64)?;
            return Ok((header, None));
        }
        let stored = read_stored(input, &header, limits)?;
        let text = inflate(&header, stored, at)?;
        let value = match mode {
            MetadataUse::Parse => Some(parse(&header, &text, at)?),
            _ => parse(&header, &text, at).ok(),
        };
        Ok((header, Some(Self { header, text, value, at })))
    }
}

/// The data of the section, their digest checked.
fn read_stored<R: Read>(
    input: &mut Input<R>,
    header: &MetadataHeader,
    limits: &FileLimits,
) -> Result<Vec<u8>> {
    let at = input.position();
    let needed = u64::from(header.meta_size.max(header.meta_comp_size));
    if needed > limits.max_metadata {
        return Err(Error::Limit { what: Bounded::Metadata, needed, limit: limits.max_metadata });
    }
    let mut stored = vec![];
    input.append(Part::Metadata, header.meta_comp_size.into(), &mut stored)?;
    input.skip(Part::Metadata, header.zeros())?;
    let checksum = header.checksum;
    let mut digest = vec![0; checksum.digest_len()];
    input.exact(Part::Metadata, &mut digest)?;
    if checksum.digest(&stored).as_bytes() != digest {
        return Err(Error::corrupt(at, Corrupt::MetadataDigest { checksum }));
    }
    Ok(stored)
}

/// The text of the data, of exactly `meta_size` bytes.
fn inflate(header: &MetadataHeader, stored: Vec<u8>, at: u64) -> Result<Vec<u8>> {
    let meta_size = header.meta_size;
    let text = match header.codec {
        MetadataCodec::None => stored,
        MetadataCodec::Zlib => {
            // One byte more shows whether the stream goes on; it needs room even if the text is
            // empty.
            let limit = usize::try_from(meta_size).unwrap_or(usize::MAX).saturating_add(1);
            match decompress_to_vec_zlib_with_limit(&stored, limit) {
                Ok(text) => text,
                Err(error) if error.status == TINFLStatus::HasMoreOutput => {
                    return Err(Error::corrupt(at, Corrupt::MetadataBomb { meta_size }));
                }
                Err(_) => return Err(Error::corrupt(at, Corrupt::MetadataStream)),
            }
        }
    };
    match text.len() as u64 {
        found if found == u64::from(meta_size) => Ok(text),
        found if found > u64::from(meta_size) && header.codec == MetadataCodec::Zlib => {
            Err(Error::corrupt(at, Corrupt::MetadataBomb { meta_size }))
        }
        found => Err(Error::corrupt(at, Corrupt::MetadataSize { meta_size, found })),
    }
}

fn parse(header: &MetadataHeader, text: &[u8], at: u64) -> Result<Value> {
    if !header.is_json() {
        return Err(Error::MetadataFormat { magic_format: header.magic_format });
    }
    let text = core::str::from_utf8(text).map_err(|error| {
        Error::corrupt(at, Corrupt::MetadataUtf8 { valid: error.valid_up_to() as u64 })
    })?;
    json::from_text(text).map_err(|error| {
        let (line, column) = (error.line() as u64, error.column() as u64);
        Error::corrupt(at, Corrupt::MetadataJson { line, column })
    })
}

#[cfg(test)]
mod tests;

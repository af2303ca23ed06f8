//! The checked header of the metadata section.

#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

use zerocopy::{IntoBytes, transmute};

use crate::raw::RawMetadataHeader;
use crate::{Checksum, Corrupt, Error, Field, Result};

/// The storage of metadata.
///
/// Its invariant: the data are not longer than the room for them. The text may be longer, since
/// metadata can be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetadataHeader {
    pub(crate) magic_format: [u8; 8],
    pub(crate) checksum: Checksum,
    pub(crate) codec: MetadataCodec,
    pub(crate) clevel: u8,
    pub(crate) meta_size: u32,
    pub(crate) max_meta_size: u32,
    pub(crate) meta_comp_size: u32,
    pub(crate) user_codec: [u8; 8],
}

/// The codec of the text of metadata.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MetadataCodec {
    /// Not at all.
    None,
    /// As a zlib stream.
    #[default]
    Zlib,
}

impl MetadataCodec {
    /// The id in the file.
    #[must_use]
    pub const fn id(self) -> u8 {
        self as u8
    }

    /// The name that Bloscpack 0.16.0 uses: `None` or `zlib`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Zlib => "zlib",
        }
    }
}

impl MetadataHeader {
    /// Bytes of the header.
    pub(crate) const LEN: usize = size_of::<RawMetadataHeader>();

    /// The name of the only known format.
    pub(crate) const JSON: [u8; 8] = *b"JSON\0\0\0\0";

    /// Reads the header that begins at byte `at` of a file.
    pub(crate) fn parse(bytes: &[u8; Self::LEN], at: u64) -> Result<Self> {
        let raw: RawMetadataHeader = transmute!(*bytes);
        let corrupt = |offset: u64, what| Error::corrupt(at.saturating_add(offset), what);
        if raw.meta_options != 0 {
            return Err(corrupt(8, Corrupt::Options { options: raw.meta_options, known: 0 }));
        }
        let id = raw.meta_checksum;
        let header = Self {
            magic_format: raw.magic_format,
            checksum: Checksum::from_id(id).ok_or(corrupt(9, Corrupt::ChecksumId { id }))?,
            codec: codec_of(raw.meta_codec).map_err(|what| corrupt(10, what))?,
            clevel: raw.meta_level,
            meta_size: raw.meta_size.get(),
            max_meta_size: raw.max_meta_size.get(),
            meta_comp_size: raw.meta_comp_size.get(),
            user_codec: raw.user_codec,
        };
        header.check().map_err(|(offset, what)| corrupt(offset, what))?;
        Ok(header)
    }

    fn check(&self) -> Result<(), (u64, Corrupt)> {
        let Self { meta_size, max_meta_size, meta_comp_size, .. } = *self;
        if self.clevel > MAX_LEVEL {
            let (value, max) = (self.clevel.into(), MAX_LEVEL.into());
            return Err((11, Corrupt::Range { field: Field::MetaLevel, value, min: 0, max }));
        }
        if meta_comp_size > max_meta_size {
            return Err((20, Corrupt::MetadataRoom { meta_comp_size, max_meta_size }));
        }
        if self.codec == MetadataCodec::None && meta_comp_size != meta_size {
            return Err((12, Corrupt::MetadataSize { meta_size, found: meta_comp_size.into() }));
        }
        Ok(())
    }

    pub(crate) fn to_bytes(self) -> [u8; Self::LEN] {
        let raw = RawMetadataHeader {
            magic_format: self.magic_format,
            meta_options: 0,
            meta_checksum: self.checksum.id(),
            meta_codec: self.codec.id(),
            meta_level: self.clevel,
            meta_size: self.meta_size.into(),
            max_meta_size: self.max_meta_size.into(),
            meta_comp_size: self.meta_comp_size.into(),
            user_codec: self.user_codec,
        };
        let mut bytes = [0; Self::LEN];
        bytes.copy_from_slice(raw.as_bytes());
        bytes
    }

    /// The name of the serialisation, without the NULs around it.
    #[must_use]
    pub fn format_name(&self) -> &[u8] {
        let mut name = &self.magic_format[..];
        while let Some((0, rest)) = name.split_first() {
            name = rest;
        }
        while let Some((0, rest)) = name.split_last() {
            name = rest;
        }
        name
    }

    /// Whether the metadata are JSON.
    #[must_use]
    pub fn is_json(&self) -> bool {
        self.format_name() == b"JSON"
    }

    /// The checksum of the data.
    #[must_use]
    pub const fn checksum(&self) -> Checksum {
        self.checksum
    }

    /// How the text is compressed.
    #[must_use]
    pub const fn codec(&self) -> MetadataCodec {
        self.codec
    }

    /// The requested level, even if compression did not help and was dropped.
    #[must_use]
    pub const fn clevel(&self) -> u8 {
        self.clevel
    }

    /// Length of the text (bytes).
    #[must_use]
    pub const fn meta_size(&self) -> u32 {
        self.meta_size
    }

    /// Room for the data (bytes).
    #[must_use]
    pub const fn max_meta_size(&self) -> u32 {
        self.max_meta_size
    }

    /// Length of the data, which are the compressed text (bytes).
    #[must_use]
    pub const fn meta_comp_size(&self) -> u32 {
        self.meta_comp_size
    }

    /// Reserved bytes, all 0 so far.
    #[must_use]
    pub const fn user_codec(&self) -> [u8; 8] {
        self.user_codec
    }

    /// Unused room (bytes).
    pub(crate) fn zeros(&self) -> u64 {
        u64::from(self.max_meta_size.saturating_sub(self.meta_comp_size))
    }

    /// Length of the whole section (bytes).
    pub(crate) fn section_len(&self) -> u64 {
        (Self::LEN as u64)
            .saturating_add(self.max_meta_size.into())
            .saturating_add(self.checksum.digest_len() as u64)
    }
}

fn codec_of(codec: u8) -> Result<MetadataCodec, Corrupt> {
    match codec {
        0 => Ok(MetadataCodec::None),
        1 => Ok(MetadataCodec::Zlib),
        _ => Err(Corrupt::MetadataCodec { codec }),
    }
}

/// The greatest level.
pub(crate) const MAX_LEVEL: u8 = 9;

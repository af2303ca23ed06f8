//! The numbers by which a chunk names its codec ("Ids, names, versions" in the codec document).
//!
//! Three numberings exist, and mixing them up is the commonest mistake: the *codec* (LZ4HC is 2),
//! the *format* of its streams (LZ4HC writes format 1, as LZ4 does; it stands in three bits of the
//! chunk flags), and for plugins the registered id, which is a codec id of 32 or more under format
//! 6.

use core::fmt;

use crate::{Error, registry::KNOWN};

/// A codec: one way to *make* streams. Ids below 32 are Blosc's own, 32 to 159 are registered
/// plugins, the rest is for users.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct CodecId(pub u8);

impl CodecId {
    /// BloscLZ, the LZ77 codec that Blosc started with.
    pub const BLOSCLZ: Self = Self(0);
    /// LZ4 with an acceleration that the level sets.
    pub const LZ4: Self = Self(1);
    /// The LZ4 format, made by a thorough search.
    pub const LZ4HC: Self = Self(2);
    /// Snappy; Blosc 1 only.
    pub const SNAPPY: Self = Self(3);
    /// Deflate in a zlib wrapper.
    pub const ZLIB: Self = Self(4);
    /// Zstandard.
    pub const ZSTD: Self = Self(5);
    /// Lizard; alphas and betas of C-Blosc2 only.
    pub const LIZARD: Self = Self(6);
    /// NDLZ: LZ over the cells of a 2-D array of bytes.
    pub const NDLZ: Self = Self(32);
    /// ZFP with a bound on the absolute error.
    pub const ZFP_ACC: Self = Self(33);
    /// ZFP with a bound on the number of bit planes.
    pub const ZFP_PREC: Self = Self(34);
    /// ZFP with a fixed number of bits per value.
    pub const ZFP_RATE: Self = Self(35);
    /// HTJ2K through the OpenHTJ2K library.
    pub const OPENHTJ2K: Self = Self(36);
    /// JPEG 2000 through the Grok library.
    pub const GROK: Self = Self(37);
    /// OpenZL.
    pub const OPENZL: Self = Self(38);
    /// JPEG 2000 part 1.
    pub const J2K: Self = Self(39);
    /// High-throughput JPEG 2000.
    pub const HTJ2K: Self = Self(40);

    /// The name in the API of C-Blosc and C-Blosc2; `None` for ids without one.
    pub fn name(self) -> Option<&'static str> {
        KNOWN.iter().find(|known| known.id == self).map(|known| known.name)
    }

    /// The codec of this name.
    ///
    /// ```
    /// use blosc_codecs::CodecId;
    ///
    /// assert_eq!(CodecId::from_name("lz4hc"), Some(CodecId::LZ4HC));
    /// assert_eq!(CodecId::from_name("LZ4HC"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Self> {
        KNOWN.iter().find(|known| known.name == name).map(|known| known.id)
    }

    /// The format of the streams that this codec writes.
    pub fn format(self) -> FormatId {
        match self {
            Self::BLOSCLZ => FormatId::BLOSCLZ,
            Self::LZ4 | Self::LZ4HC => FormatId::LZ4,
            Self::SNAPPY => FormatId::SNAPPY,
            Self::ZLIB => FormatId::ZLIB,
            Self::ZSTD => FormatId::ZSTD,
            Self::LIZARD => FormatId::LIZARD,
            _ => FormatId::USER,
        }
    }
}

impl fmt::Display for CodecId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.pad(name),
            None => fmt::Display::fmt(&self.0, f),
        }
    }
}

/// The format of a stream: bits 5 to 7 of the chunk flags. It decides which decoder is used.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct FormatId(pub u8);

impl FormatId {
    /// BloscLZ.
    pub const BLOSCLZ: Self = Self(0);
    /// An LZ4 block, written by LZ4 or LZ4HC.
    pub const LZ4: Self = Self(1);
    /// Raw Snappy.
    pub const SNAPPY: Self = Self(2);
    /// zlib.
    pub const ZLIB: Self = Self(3);
    /// Zstandard frames.
    pub const ZSTD: Self = Self(4);
    /// Lizard.
    pub const LIZARD: Self = Self(5);
    /// The codec id is elsewhere in the header (plugins and user codecs).
    pub const USER: Self = Self(6);
}

impl fmt::Display for FormatId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// The compression level, 0 to 9. Level 0 means "do not compress", which is up to the chunk: an
/// encoder treats it as level 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct Level(u8);

impl Level {
    /// 0: store.
    pub const NONE: Self = Self(0);
    /// 1: the least effort.
    pub const FAST: Self = Self(1);
    /// 5: the default of C-Blosc and C-Blosc2.
    pub const DEFAULT: Self = Self(5);
    /// 9: the most effort.
    pub const BEST: Self = Self(9);

    /// The level as a number, 0 to 9.
    pub fn get(self) -> u8 {
        self.0
    }

    /// The level that an encoder works with, 1 to 9.
    pub(crate) fn effective(self) -> u8 {
        self.0.max(1)
    }
}

impl Default for Level {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl TryFrom<u8> for Level {
    type Error = Error;

    fn try_from(clevel: u8) -> Result<Self, Error> {
        if clevel <= Self::BEST.0 { Ok(Self(clevel)) } else { Err(Error::Level { clevel }) }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Description;
    use alloc::string::ToString;

    #[test]
    fn every_name_leads_back_to_its_id() {
        for Description { id, name, .. } in KNOWN {
            assert_eq!(CodecId::from_name(name), Some(id));
            assert_eq!(id.name(), Some(name));
            assert_eq!(id.to_string(), name);
        }
        assert_eq!(CodecId(200).to_string(), "200");
    }

    #[test]
    fn codec_and_format_are_two_numberings() {
        assert_eq!(CodecId::LZ4HC.format(), FormatId(1));
        assert_eq!(CodecId::ZLIB.format(), FormatId(3));
        assert_eq!(CodecId::ZSTD.format(), FormatId(4));
        assert_eq!(CodecId::ZFP_RATE.format(), FormatId::USER);
        assert_eq!(CodecId(255).format(), FormatId::USER);
    }

    #[test]
    fn levels_end_at_nine() {
        assert_eq!(Level::try_from(9), Ok(Level::BEST));
        assert_eq!(Level::try_from(10), Err(Error::Level { clevel: 10 }));
        assert_eq!(Level::NONE.effective(), 1);
        assert_eq!(Level::default().get(), 5);
    }
}

//! The three bit fields of a chunk header, each a newtype that keeps unknown bits.

use blosc_codecs::FormatId;

/// The `flags` byte (0x02).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Flags(pub u8);

impl Flags {
    /// Short header: the blocks are byte-shuffled. Extended header: half of the marker.
    pub const SHUFFLE: u8 = 0x01;
    /// The body is the uncompressed data.
    pub const MEMCPYED: u8 = 0x02;
    /// Short header: the blocks are bit-shuffled. Extended header: half of the marker.
    pub const BITSHUFFLE: u8 = 0x04;
    /// Both halves of the marker: the header has 32 bytes.
    pub const EXTENDED: u8 = Self::SHUFFLE | Self::BITSHUFFLE;
    /// A delta filter is in the pipeline.
    pub const DELTA: u8 = 0x08;
    /// The blocks are *not* split into streams.
    pub const UNSPLIT: u8 = 0x10;

    /// Whether any bit of `mask` is set.
    #[must_use]
    pub const fn has(self, mask: u8) -> bool {
        self.0 & mask != 0
    }

    /// Whether the header has 32 bytes, which bits 0 and 2 together mark.
    #[must_use]
    pub const fn is_extended(self) -> bool {
        self.0 & Self::EXTENDED == Self::EXTENDED
    }

    /// The three-bit format code of the streams.
    #[must_use]
    pub const fn format(self) -> FormatId {
        FormatId(self.0 >> 5)
    }

    /// These flags with the format code replaced.
    #[must_use]
    pub const fn with_format(self, format: FormatId) -> Self {
        Self(self.0 & 0x1f | format.0 << 5)
    }

    /// These flags with the bits of `mask` set.
    #[must_use]
    pub const fn with(self, mask: u8) -> Self {
        Self(self.0 | mask)
    }
}

/// The `blosc2_flags` byte (0x1f).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Blosc2Flags(pub u8);

impl Blosc2Flags {
    /// A dictionary section follows the block starts.
    pub const DICT: u8 = 0x01;
    /// The writer ran on a big-endian machine; the chunk is little-endian all the same.
    pub const BIG_ENDIAN: u8 = 0x02;
    /// A lazy chunk: in memory only, for a chunk on disk; never stored.
    pub const LAZY: u8 = 0x08;
    /// The three bits that hold the special kind.
    pub const SPECIAL: u8 = 0x70;
    /// The content is statistics about a compression, not data.
    pub const INSTRUMENTED: u8 = 0x80;

    /// Whether any bit of `mask` is set.
    #[must_use]
    pub const fn has(self, mask: u8) -> bool {
        self.0 & mask != 0
    }

    /// The code of the special kind; 0 for an ordinary chunk.
    #[must_use]
    pub const fn special_code(self) -> u8 {
        (self.0 & Self::SPECIAL) >> 4
    }

    /// These flags with the bits of `mask` cleared.
    #[must_use]
    pub const fn without(self, mask: u8) -> Self {
        Self(self.0 & !mask)
    }

    /// These flags with the bits of `mask` set.
    #[must_use]
    pub const fn with(self, mask: u8) -> Self {
        Self(self.0 | mask)
    }
}

/// The `blosc2_flags2` byte (0x1e).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Blosc2Flags2(pub u8);

impl Blosc2Flags2 {
    /// The blocks have individual sizes.
    pub const VL: u8 = 0x01;

    /// Whether any bit of `mask` is set.
    #[must_use]
    pub const fn has(self, mask: u8) -> bool {
        self.0 & mask != 0
    }
}

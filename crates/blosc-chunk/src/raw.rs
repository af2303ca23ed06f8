//! The chunk header as it lies in memory ("Header" in the format document): definitions only, no
//! logic.
//!
//! Every chunk begins with a [`RawHeader`]. If bits 0 and 2 of its `flags` are both set, a
//! [`RawExtension`] follows. All integers are little-endian and signed, as the format says.

use zerocopy::little_endian::I32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Bytes 0..16 of every chunk.
#[derive(
    FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, Debug, PartialEq, Eq,
)]
#[repr(C)]
pub struct RawHeader {
    /// 0x00  Version of the chunk format.
    pub version: u8,
    /// 0x01  Version of the codec's own stream format; 1 for every built-in codec.
    pub versionlz: u8,
    /// 0x02  See [`crate::Flags`].
    pub flags: u8,
    /// 0x03  Size of one item (bytes).
    pub typesize: u8,
    /// 0x04  Size of the data (bytes).
    pub nbytes: I32,
    /// 0x08  Size of a block (bytes); in a VL-block chunk the number of blocks.
    pub blocksize: I32,
    /// 0x0c  Size of the chunk, header included (bytes).
    pub cbytes: I32,
}
const _: () = assert!(size_of::<RawHeader>() == 16);

/// Bytes 16..32 of a chunk with an extended header.
#[derive(
    FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, Debug, PartialEq, Eq,
)]
#[repr(C)]
pub struct RawExtension {
    /// 0x10  Filter ids, one byte for each slot; 0 is an empty slot.
    pub filters: [u8; 6],
    /// 0x16  Codec id; decides only if the format code in `flags` is 6.
    pub udcodec: u8,
    /// 0x17  Parameter of the codec.
    pub compcode_meta: u8,
    /// 0x18  Parameters of the filters, one byte for each slot.
    pub filters_meta: [u8; 6],
    /// 0x1e  See [`crate::Blosc2Flags2`].
    pub blosc2_flags2: u8,
    /// 0x1f  See [`crate::Blosc2Flags`].
    pub blosc2_flags: u8,
}
const _: () = assert!(size_of::<RawExtension>() == 16);

//! The headers of the older layouts, byte by byte. All integers are big-endian; `swap.rs` turns the
//! others round.

use zerocopy::big_endian::{I16, I32, I64, U64};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

/// Bytes 0..64: the whole header of beta.1 without metalayers, and the first part of all later
/// ones.
#[derive(FromBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct RawBase {
    /// 0x00  Array of 11 or 12 elements (beta.1), or 13.
    pub array: u8,
    /// 0x01
    pub magic_marker: u8,
    /// 0x02  `b2frame` and a NUL.
    pub magic: [u8; 8],
    /// 0x0a
    pub header_len_marker: u8,
    /// 0x0b  Bytes of the header, metalayers included.
    pub header_len: I32,
    /// 0x0f
    pub frame_len_marker: u8,
    /// 0x10  Bytes of the whole frame.
    pub frame_len: U64,
    /// 0x18  A string of the next four bytes.
    pub flags_marker: u8,
    /// 0x19 Version and width of offsets. Tells the layout.
    pub general_flags: u8,
    /// 0x1a  Meaningless in beta.1, reserved in beta.2, the frame type in sources of February
    /// 2021.
    pub frame_type: u8,
    /// 0x1b  Codec (low half) and level (high half).
    pub codec: u8,
    /// 0x1c
    pub reserved: u8,
    /// 0x1d
    pub nbytes_marker: u8,
    /// 0x1e  Uncompressed bytes of all chunks.
    pub nbytes: I64,
    /// 0x26
    pub cbytes_marker: u8,
    /// 0x27  Bytes of the data section.
    pub cbytes: I64,
    /// 0x2f
    pub typesize_marker: u8,
    /// 0x30  Bytes of an item.
    pub typesize: I32,
    /// 0x34
    pub chunksize_marker: u8,
    /// 0x35 Uncompressed bytes of a chunk, at the position of the block size in today's header; 0
    /// while unset.
    pub chunksize: I32,
    /// 0x39
    pub cthreads_marker: u8,
    /// 0x3a
    pub cthreads: I16,
    /// 0x3c
    pub dthreads_marker: u8,
    /// 0x3d
    pub dthreads: I16,
    /// 0x3f Whether metalayers exist (beta.1); in later layouts a flag that is mostly wrong.
    pub has_meta: u8,
}

const _: () = assert!(size_of::<RawBase>() == 64);

/// Bytes 64..82 of all layouts except beta.1.
#[derive(FromBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct RawPipeline {
    /// 0x40  A fixext of 16 bytes.
    pub marker: u8,
    /// 0x41  Its type byte: the number of filters.
    pub nfilters: u8,
    /// 0x42  Filter ids, without gaps.
    pub filters: [u8; 8],
    /// 0x4a  Filter metas, without gaps.
    pub filters_meta: [u8; 8],
}

const _: () = assert!(size_of::<RawPipeline>() == 18);

/// Whether the integers of a header with 13 elements are big-endian: `header_len` and `frame_len`
/// must fit each other and the file. `None` if they fit in neither byte order.
pub(super) fn is_big_endian(head: &[u8], available: u64) -> Option<bool> {
    let header_len: [u8; 4] = *head.get(0x0b..)?.first_chunk()?;
    let frame_len: [u8; 8] = *head.get(0x10..)?.first_chunk()?;
    let fits = |header_len: u32, frame_len: u64| {
        (super::header::MIN_BETA2..=frame_len).contains(&header_len.into())
            && frame_len <= available
    };
    let (big, little) = (u64::from_be_bytes(frame_len), u64::from_le_bytes(frame_len));
    let is_big = fits(u32::from_be_bytes(header_len), big);
    let is_little = fits(u32::from_le_bytes(header_len), little);
    // Both orders fit only if the length of the file is unknown. The wrong one is then absurdly
    // long.
    (is_big || is_little).then_some(is_big && (!is_little || big <= little))
}

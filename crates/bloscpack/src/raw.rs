//! The fixed parts of a file as structs, field by field as in the format document; no logic. Each
//! struct lists its fields in a table of [`Field`]s, for programs that print them.

use blosc_chunk::raw::Field;
use zerocopy::byteorder::little_endian::{I32, I64, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Bytes 0..4 of every file.
pub const MAGIC: [u8; 4] = *b"blpk";

/// Bytes 0..8 of every file but those of the first release candidates.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, Debug)]
#[repr(C)]
pub struct RawPrefix {
    /// 0x0  `blpk`.
    pub magic: [u8; 4],
    /// 0x4  1, 2 or 3.
    pub format_version: u8,
    /// 0x5  See the header of the version.
    pub rest: [u8; 3],
}
const _: () = assert!(size_of::<RawPrefix>() == 8);

/// The header of the release candidates of 0.1.0, which had no version.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, Debug)]
#[repr(C)]
pub struct RawHeaderRc {
    /// 0x0  `blpk`.
    pub magic: [u8; 4],
    /// 0x4  Number of chunks.
    pub nchunks: U32,
}
const _: () = assert!(size_of::<RawHeaderRc>() == 8);

impl RawHeaderRc {
    /// The fields, with offsets from the start of the struct.
    pub const FIELDS: &[Field] = blosc_chunk::raw_fields!(Self, 0 => {
        magic: Text,
        nchunks: Unsigned,
    });
}

/// The header of version 1.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, Debug)]
#[repr(C)]
pub struct RawHeader1 {
    /// 0x0  `blpk`.
    pub magic: [u8; 4],
    /// 0x4  1.
    pub format_version: u8,
    /// 0x5  0.
    pub reserved: [u8; 3],
    /// 0x8  Number of chunks, or -1.
    pub nchunks: I64,
}
const _: () = assert!(size_of::<RawHeader1>() == 16);

impl RawHeader1 {
    /// The fields, with offsets from the start of the struct.
    pub const FIELDS: &[Field] = blosc_chunk::raw_fields!(Self, 0 => {
        magic: Text,
        format_version: Unsigned,
        reserved: Bytes,
        nchunks: Signed,
    });
}

/// The header of versions 2 and 3.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, Debug)]
#[repr(C)]
pub struct RawHeader {
    /// 0x00  `blpk`.
    pub magic: [u8; 4],
    /// 0x04  2 or 3.
    pub format_version: u8,
    /// 0x05  Bit 0: offsets; bit 1 (version 3): metadata.
    pub options: u8,
    /// 0x06  Id of the checksum of the chunks.
    pub checksum: u8,
    /// 0x07  Bytes of an item, as the writer was told.
    pub typesize: u8,
    /// 0x08  Data in each chunk but the last (bytes), or -1.
    pub chunk_size: I32,
    /// 0x0c  Data in the last chunk (bytes), or -1.
    pub last_chunk: I32,
    /// 0x10  Number of chunks, or -1.
    pub nchunks: I64,
    /// 0x18  Number of reserved offsets; version 2: reserved, 0.
    pub max_app_chunks: I64,
}
const _: () = assert!(size_of::<RawHeader>() == 32);

impl RawHeader {
    /// The fields, with offsets from the start of the struct.
    pub const FIELDS: &[Field] = blosc_chunk::raw_fields!(Self, 0 => {
        magic: Text,
        format_version: Unsigned,
        options: Code,
        checksum: Code,
        typesize: Unsigned,
        chunk_size: Signed,
        last_chunk: Signed,
        nchunks: Signed,
        max_app_chunks: Signed,
    });
}

/// The header of the metadata section.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, Debug)]
#[repr(C)]
pub struct RawMetadataHeader {
    /// 0x00  `JSON`, padded with NUL.
    pub magic_format: [u8; 8],
    /// 0x08  0.
    pub meta_options: u8,
    /// 0x09  Id of the checksum of the stored text.
    pub meta_checksum: u8,
    /// 0x0a  0: as it is; 1: zlib.
    pub meta_codec: u8,
    /// 0x0b  Requested level, 0 to 9.
    pub meta_level: u8,
    /// 0x0c  Length of the text (bytes).
    pub meta_size: U32,
    /// 0x10  Room for the stored text (bytes).
    pub max_meta_size: U32,
    /// 0x14  Length of the stored text (bytes).
    pub meta_comp_size: U32,
    /// 0x18  Reserved, 0.
    pub user_codec: [u8; 8],
}
const _: () = assert!(size_of::<RawMetadataHeader>() == 32);

impl RawMetadataHeader {
    /// The fields, with offsets from the start of the struct.
    pub const FIELDS: &[Field] = blosc_chunk::raw_fields!(Self, 0 => {
        magic_format: Text,
        meta_options: Unsigned,
        meta_checksum: Code,
        meta_codec: Code,
        meta_level: Unsigned,
        meta_size: Unsigned,
        max_meta_size: Unsigned,
        meta_comp_size: Unsigned,
        user_codec: Bytes,
    });
}

/// The end of a journal, which is at the end of a file whose change was interrupted.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, Debug)]
#[repr(C)]
pub struct RawJournalFooter {
    /// 0x00  `blpkundo`.
    pub magic: [u8; 8],
    /// 0x08  Where the entries begin.
    pub start: U64,
    /// 0x10  Length of the file before the change.
    pub len_before: U64,
    /// 0x18  Number of entries.
    pub nentries: U64,
    /// 0x20  CRC-32 of the entries.
    pub crc_entries: U32,
    /// 0x24  CRC-32 of the 36 bytes before.
    pub crc_footer: U32,
}
const _: () = assert!(size_of::<RawJournalFooter>() == 40);

impl RawJournalFooter {
    /// The fields, with offsets from the start of the struct.
    pub const FIELDS: &[Field] = blosc_chunk::raw_fields!(Self, 0 => {
        magic: Text,
        start: Unsigned,
        len_before: Unsigned,
        nentries: Unsigned,
        crc_entries: Unsigned,
        crc_footer: Unsigned,
    });
}

/// An entry of a journal; the overwritten bytes follow.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, Debug)]
#[repr(C)]
pub struct RawJournalEntry {
    /// 0x0  Where the bytes were.
    pub at: U64,
    /// 0x8  Number of bytes.
    pub len: U64,
}
const _: () = assert!(size_of::<RawJournalEntry>() == 16);

impl RawJournalEntry {
    /// The fields, with offsets from the start of the struct.
    pub const FIELDS: &[Field] = blosc_chunk::raw_fields!(Self, 0 => {
        at: Unsigned,
        len: Unsigned,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_cover_the_structs_without_a_gap() {
        for (fields, len) in [
            (RawHeaderRc::FIELDS, 8),
            (RawHeader1::FIELDS, 16),
            (RawHeader::FIELDS, 32),
            (RawMetadataHeader::FIELDS, 32),
            (RawJournalFooter::FIELDS, 40),
            (RawJournalEntry::FIELDS, 16),
        ] {
            let end = fields.iter().fold(0, |end, field| {
                assert_eq!(field.offset, end, "{}", field.name);
                end + field.size
            });
            assert_eq!(end, len);
        }
    }
}

//! The fixed parts of a file as structs, field by field as in the format document; no logic. Each
//! struct lists its fields in a table of [`Field`](blosc_chunk::raw::Field)s, for programs that
//! print them.

use zerocopy::byteorder::little_endian::{I32, I64, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Bytes 0..4 of every file.
pub const MAGIC: [u8; 4] = *b"blpk";

/// Bytes 0..8 of every file except those of the first release candidates.
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

blosc_chunk::raw_struct! {
    8 bytes, offsets from 0 at the start of "the file";

    /// The header of the release candidates of 0.1.0, which had no version.
    pub struct RawHeaderRc {
        /// 0x0  `blpk`.
        pub magic: [u8; 4] => Text,
        /// 0x4  Number of chunks.
        pub nchunks: U32 => Unsigned,
    }
}

blosc_chunk::raw_struct! {
    16 bytes, offsets from 0 at the start of "the file";

    /// The header of version 1.
    pub struct RawHeader1 {
        /// 0x0  `blpk`.
        pub magic: [u8; 4] => Text,
        /// 0x4  1.
        pub format_version: u8 => Unsigned,
        /// 0x5  0.
        pub reserved: [u8; 3] => Bytes,
        /// 0x8  Number of chunks, or -1.
        pub nchunks: I64 => Signed,
    }
}

blosc_chunk::raw_struct! {
    32 bytes, offsets from 0 at the start of "the file";

    /// The header of versions 2 and 3.
    pub struct RawHeader {
        /// 0x00  `blpk`.
        pub magic: [u8; 4] => Text,
        /// 0x04  2 or 3.
        pub format_version: u8 => Unsigned,
        /// 0x05  Bit 0: offsets; bit 1 (version 3): metadata.
        pub options: u8 => Code,
        /// 0x06  Id of the checksum of the chunks.
        pub checksum: u8 => Code,
        /// 0x07  Bytes of an item, by the writer's option.
        pub typesize: u8 => Unsigned,
        /// 0x08  Data in each chunk but the last (bytes), or -1.
        pub chunk_size: I32 => Signed,
        /// 0x0c  Data in the last chunk (bytes), or -1.
        pub last_chunk: I32 => Signed,
        /// 0x10  Number of chunks, or -1.
        pub nchunks: I64 => Signed,
        /// 0x18  Number of reserved offsets; version 2: reserved, 0.
        pub max_app_chunks: I64 => Signed,
    }
}

blosc_chunk::raw_struct! {
    32 bytes, offsets from 0 at the start of "the struct";

    /// The header of the metadata section.
    pub struct RawMetadataHeader {
        /// 0x00  `JSON`, padded with NUL.
        pub magic_format: [u8; 8] => Text,
        /// 0x08  0.
        pub meta_options: u8 => Unsigned,
        /// 0x09  Id of the checksum of the stored text.
        pub meta_checksum: u8 => Code,
        /// 0x0a  0: uncompressed; 1: zlib.
        pub meta_codec: u8 => Code,
        /// 0x0b  Requested level, 0 to 9.
        pub meta_level: u8 => Unsigned,
        /// 0x0c  Length of the text (bytes).
        pub meta_size: U32 => Unsigned,
        /// 0x10  Room for the stored text (bytes).
        pub max_meta_size: U32 => Unsigned,
        /// 0x14  Length of the stored text (bytes).
        pub meta_comp_size: U32 => Unsigned,
        /// 0x18  Reserved, 0.
        pub user_codec: [u8; 8] => Bytes,
    }
}

blosc_chunk::raw_struct! {
    40 bytes, offsets from 0 at the start of "the struct";

    /// The end of a journal, which ends a file whose change was interrupted.
    pub struct RawJournalFooter {
        /// 0x00  `blpkundo`.
        pub magic: [u8; 8] => Text,
        /// 0x08  Position of the entries.
        pub start: U64 => Unsigned,
        /// 0x10  Length of the file before the change.
        pub len_before: U64 => Unsigned,
        /// 0x18  Number of entries.
        pub nentries: U64 => Unsigned,
        /// 0x20  CRC-32 of the entries.
        pub crc_entries: U32 => Unsigned,
        /// 0x24  CRC-32 of the 36 bytes before.
        pub crc_footer: U32 => Unsigned,
    }
}

blosc_chunk::raw_struct! {
    16 bytes, offsets from 0 at the start of "the struct";

    /// An entry of a journal; the overwritten bytes follow.
    pub struct RawJournalEntry {
        /// 0x0  Former position of the bytes.
        pub at: U64 => Unsigned,
        /// 0x8  Number of bytes.
        pub len: U64 => Unsigned,
    }
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

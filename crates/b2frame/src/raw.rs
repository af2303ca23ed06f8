//! The fixed parts of a frame as structs, byte by byte ("Header" and "Trailer" in
//! `docs/formats/cframe.md`).
//!
//! MessagePack marker bytes are fields like any other, since writers always use the same marker for
//! a field. All integers are big-endian here. Definitions only, no logic. Each struct lists its
//! fields in a table of [`Field`](blosc_chunk::raw::Field)s, for programs that print them.

use blosc_chunk::raw_struct;
use zerocopy::big_endian::{I16, I32, I64, U32, U64};

raw_struct! {
    87 bytes, offsets from 0 at the start of "the frame";

    /// Bytes 0..87 of every frame of format version 2 and 3.
    #[derive(PartialEq, Eq)]
    pub struct RawHeader {
        /// 0x00  Array of 14 elements; older layouts have fewer.
        pub array: u8 => Code,
        /// 0x01
        pub magic_marker: u8 => Marker,
        /// 0x02  `b2frame` and a NUL.
        pub magic: [u8; 8] => Text,
        /// 0x0a
        pub header_len_marker: u8 => Marker,
        /// 0x0b  Bytes of the header, metalayers included.
        pub header_len: I32 => Signed,
        /// 0x0f
        pub frame_len_marker: u8 => Marker,
        /// 0x10  Bytes of the whole frame.
        pub frame_len: U64 => Unsigned,
        /// 0x18  A string of the next four bytes.
        pub flags_marker: u8 => Marker,
        /// 0x19  Format version, width of offsets, variable chunks, VL-blocks.
        pub general_flags: u8 => Code,
        /// 0x1a  0 contiguous, 1 sparse.
        pub frame_type: u8 => Code,
        /// 0x1b  Codec (low half) and level (high half) for new chunks.
        pub codec: u8 => Code,
        /// 0x1c  Split mode minus one.
        pub other_flags: u8 => Code,
        /// 0x1d
        pub nbytes_marker: u8 => Marker,
        /// 0x1e  Uncompressed bytes of all chunks.
        pub nbytes: I64 => Signed,
        /// 0x26
        pub cbytes_marker: u8 => Marker,
        /// 0x27  Bytes of the data section, dead ones included.
        pub cbytes: I64 => Signed,
        /// 0x2f
        pub typesize_marker: u8 => Marker,
        /// 0x30  Bytes of an item.
        pub typesize: I32 => Signed,
        /// 0x34
        pub blocksize_marker: u8 => Marker,
        /// 0x35  Block size for new chunks, 0 for automatic (bytes).
        pub blocksize: I32 => Signed,
        /// 0x39
        pub chunksize_marker: u8 => Marker,
        /// 0x3a Uncompressed bytes of a chunk; 0 variable, -1 unset.
        pub chunksize: I32 => Signed,
        /// 0x3e
        pub cthreads_marker: u8 => Marker,
        /// 0x3f Threads that the writer compressed with.
        pub cthreads: I16 => Signed,
        /// 0x41
        pub dthreads_marker: u8 => Marker,
        /// 0x42 Threads that the writer decompressed with.
        pub dthreads: I16 => Signed,
        /// 0x44 `c3` when there are vlmetalayers, else `c2`; not reliable.
        pub has_vlmeta: u8 => Code,
        /// 0x45  A fixext of the 16 bytes from 0x47 on.
        pub pipeline_marker: u8 => Marker,
        /// 0x46  Its type byte: the number of filter slots.
        pub nfilters: u8 => Unsigned,
        /// 0x47  Filter ids, slot 0 first.
        pub filters: [u8; 6] => Code,
        /// 0x4d  The codec's id in full.
        pub udcodec: u8 => Code,
        /// 0x4e  A parameter of the codec.
        pub codec_meta: u8 => Unsigned,
        /// 0x4f  Filter metas, slot 0 first.
        pub filters_meta: [u8; 6] => Bytes,
        /// 0x55  Bit 0: new chunks use a dictionary.
        pub other_flags2: u8 => Code,
        /// 0x56
        pub reserved: u8 => Bytes,
    }
}

raw_struct! {
    23 bytes, offsets from 0 at the start of "the struct";

    /// The last 23 bytes of a frame, which give the position of the trailer.
    #[derive(PartialEq, Eq)]
    pub struct RawTrailerEnd {
        /// end - 23
        pub trailer_len_marker: u8 => Marker,
        /// end - 22  Bytes of the whole trailer.
        pub trailer_len: U32 => Unsigned,
        /// end - 18
        pub fingerprint_marker: u8 => Marker,
        /// end - 17 Kind of the fingerprint; 0 for none, the only one in use.
        pub fingerprint_type: u8 => Code,
        /// end - 16
        pub fingerprint: [u8; 16] => Bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_cover_the_structs_without_a_gap() {
        for (fields, len) in [(RawHeader::FIELDS, 87), (RawTrailerEnd::FIELDS, 23)] {
            let mut end = 0;
            for field in fields {
                assert_eq!(field.offset, end, "{}", field.name);
                end += field.size;
            }
            assert_eq!(end, len);
        }
    }
}

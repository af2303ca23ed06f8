//! The memory layout of the chunk header ("Header" in the format document): definitions only, no
//! logic.
//!
//! Every chunk begins with a [`RawHeader`]. If bits 0 and 2 of its `flags` are both set, a
//! [`RawExtension`] follows. All integers are little-endian and signed, as the format defines. Each
//! struct lists its fields in a table of [`Field`]s, for programs that print them.

use zerocopy::little_endian::I32;

pub use blosc_codecs::FormatId;

pub use crate::flags::{Blosc2Flags, Blosc2Flags2, Flags};

crate::raw_struct! {
    16 bytes, offsets from 0 at the start of "the chunk";

    /// Bytes 0..16 of every chunk.
    #[derive(PartialEq, Eq)]
    pub struct RawHeader {
        /// 0x00  Version of the chunk format.
        pub version: u8 => Unsigned,
        /// 0x01  Version of the codec's own stream format; 1 for every built-in codec.
        pub versionlz: u8 => Unsigned,
        /// 0x02  See [`Flags`].
        pub flags: u8 => Code,
        /// 0x03  Size of one item (bytes).
        pub typesize: u8 => Unsigned,
        /// 0x04  Size of the data (bytes).
        pub nbytes: I32 => Signed,
        /// 0x08  Size of a block (bytes); in a VL-block chunk the number of blocks.
        pub blocksize: I32 => Signed,
        /// 0x0c  Size of the chunk, header included (bytes).
        pub cbytes: I32 => Signed,
    }
}

crate::raw_struct! {
    16 bytes, offsets from 16 at the start of "the chunk";

    /// Bytes 16..32 of a chunk with an extended header.
    #[derive(PartialEq, Eq)]
    pub struct RawExtension {
        /// 0x10  Filter ids, one byte for each slot; 0 is an empty slot.
        pub filters: [u8; 6] => Code,
        /// 0x16  Codec id; decides only if the format code in `flags` is 6.
        pub udcodec: u8 => Code,
        /// 0x17  Parameter of the codec.
        pub compcode_meta: u8 => Unsigned,
        /// 0x18  Parameters of the filters, one byte for each slot.
        pub filters_meta: [u8; 6] => Bytes,
        /// 0x1e  See [`Blosc2Flags2`].
        pub blosc2_flags2: u8 => Code,
        /// 0x1f  See [`Blosc2Flags`].
        pub blosc2_flags: u8 => Code,
    }
}

/// A field of a raw layout, as in the tables of the format documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name in the document.
    pub name: &'static str,
    /// Where it starts (bytes), from the origin that the table names.
    pub offset: usize,
    /// Its length (bytes).
    pub size: usize,
    /// The type of its bytes.
    pub kind: FieldKind,
}

/// The type of the bytes of a [`Field`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldKind {
    /// Neither a number nor text: reserved bytes, parameters, digests.
    Bytes,
    /// Text in ASCII.
    Text,
    /// An unsigned integer, in the byte order of the format.
    Unsigned,
    /// A signed integer, in the byte order of the format.
    Signed,
    /// Flags or ids, whose meaning depends on the field.
    Code,
    /// A marker byte of MessagePack, alone or before the value.
    Marker,
}

/// Declares a raw struct, and the table of its fields: the kind of each field follows its type. The
/// compiler checks the size.
#[doc(hidden)]
#[macro_export]
macro_rules! raw_struct {
    (
        $len:literal bytes, offsets from $start:literal at the start of $origin:literal;

        $(#[$attribute:meta])*
        pub struct $Raw:ident {
            $( $(#[$doc:meta])* pub $field:ident: $Type:ty => $kind:ident, )+
        }
    ) => {
        $(#[$attribute])*
        #[derive(zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::KnownLayout)]
        #[derive(zerocopy::Immutable, zerocopy::Unaligned, Clone, Copy, Debug)]
        #[repr(C)]
        pub struct $Raw {
            $( $(#[$doc])* pub $field: $Type, )+
        }
        const _: () = assert!(size_of::<$Raw>() == $len);

        impl $Raw {
            #[doc = concat!("The fields, with offsets from the start of ", $origin, ".")]
            pub const FIELDS: &[$crate::raw::Field] = &[$($crate::raw::Field {
                name: stringify!($field),
                offset: usize::saturating_add($start, core::mem::offset_of!($Raw, $field)),
                size: $crate::raw::size_of_field(|raw: &$Raw| &raw.$field),
                kind: $crate::raw::FieldKind::$kind,
            }),+];
        }
    };
}

/// The size of what a function returns a reference to (bytes).
#[doc(hidden)]
#[must_use]
pub const fn size_of_field<T, F>(_: fn(&T) -> &F) -> usize {
    size_of::<F>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_cover_the_header_without_a_gap() {
        let mut end = 0;
        for field in RawHeader::FIELDS.iter().chain(RawExtension::FIELDS) {
            assert_eq!(field.offset, end, "{}", field.name);
            end += field.size;
        }
        assert_eq!(end, crate::header::ChunkHeader::MAX_LEN);
        assert_eq!(RawHeader::FIELDS[6].name, "cbytes");
        assert_eq!((RawHeader::FIELDS[6].offset, RawHeader::FIELDS[6].size), (0xc, 4));
    }
}

//! The header of a frame: checked, with ordinary integers ("Header" in `docs/formats/cframe.md`).
//!
//! A reader needs only a few fields. The others are defaults for further chunks; they are kept as
//! they are, so that a header that is parsed and encoded again has the same bytes.

mod change;

use core::num::NonZeroU32;

use blosc_chunk::ChunkHeader;
use zerocopy::FromBytes as _;

use crate::error::{Corrupt, Error, Result};
pub use crate::legacy::FrameLayout;
use crate::metalayers::Metalayers;
use crate::msgpack::{FALSE, FIXARRAY, FIXEXT16, FIXSTR, INT16, INT32, INT64, TRUE, UINT64};
use crate::probe::Kind;
use crate::raw::RawHeader;
use crate::trailer;

pub(crate) use change::OlderFields;

/// The largest uncompressed size of a chunk (bytes).
pub(crate) const MAX_CHUNK: usize = i32::MAX as usize - ChunkHeader::MAX_LEN;
/// Length of the fixed part of a header (bytes).
pub(crate) const FIXED_LEN: usize = size_of::<RawHeader>();
/// Length of a header without metalayers (bytes).
pub(crate) const MIN_LEN: u64 = 97;
/// Bytes 2..10 of every frame.
pub(crate) const MAGIC: [u8; 8] = *b"b2frame\0";
/// First byte of the current layout: an array of 14.
const ARRAY: u8 = FIXARRAY | 14;
/// Slots in a pipeline.
const SLOTS: u8 = 6;

/// The header of a frame of format version 2 or 3.
///
/// Invariants: `97 <= header_len <= frame_len - 35`; `typesize >= 1`; a frame with data (`nbytes >
/// 0`) has a chunk size that is fixed or variable, and a data section that fits between header and
/// trailer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    header_len: u32,
    frame_len: u64,
    flags: GeneralFlags,
    frame_type: FrameType,
    codec_and_level: u8,
    other_flags: u8,
    nbytes: u64,
    cbytes: i64,
    typesize: NonZeroU32,
    blocksize: u32,
    chunksize: ChunkSize,
    threads: [i16; 2],
    has_vlmeta: bool,
    nfilters: u8,
    filters: [u8; 6],
    filters_meta: [u8; 6],
    udcodec: u8,
    codec_meta: u8,
    other_flags2: u8,
    reserved: u8,
}

/// The byte at 0x19: format version and features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeneralFlags(pub u8);

impl GeneralFlags {
    /// Version 2 with offsets of 64 bits: the flags of a frame that uses no newer feature.
    pub const VERSION_2: Self = Self(0x12);

    /// Format version: 2, or 3 when a newer feature is used.
    #[must_use]
    pub fn version(self) -> u8 {
        self.0 & 0x0f
    }

    /// Width of the offsets: 1 stands for 64 bits and is the only one in use.
    #[must_use]
    pub fn offset_width(self) -> u8 {
        self.0 >> 4 & 3
    }

    /// Whether every chunk has blocks of different sizes (VL-blocks).
    #[must_use]
    pub fn vl_blocks(self) -> bool {
        self.0 & 0x80 != 0
    }
}

/// The layout of a frame in storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameType {
    /// One string of bytes: a cframe.
    Contiguous,
    /// A directory with one file for every chunk: an sframe.
    Sparse,
}

/// Uncompressed bytes of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkSize {
    /// Every chunk has this size, only the last may be shorter.
    Fixed(NonZeroU32),
    /// Each chunk has its own size.
    Variable,
    /// No chunk was appended yet.
    Unset,
}

impl ChunkSize {
    /// The size, if all chunks share one (bytes).
    #[must_use]
    pub fn fixed(self) -> Option<u32> {
        match self {
            Self::Fixed(size) => Some(size.get()),
            Self::Variable | Self::Unset => None,
        }
    }
}

impl FrameHeader {
    /// Parses the first bytes of a frame; only the first 87 matter.
    ///
    /// The header is checked only in itself. Opening the frame compares it with the file.
    ///
    /// # Errors
    /// [`Error::NotAFrame`], [`Error::OlderLayout`], [`Error::UnknownVersion`], or
    /// [`Error::Corrupt`] with a position in `bytes`.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        check_magic(bytes)?;
        let (raw, _) = RawHeader::ref_from_prefix(bytes)
            .map_err(|_| Error::corrupt(0, Corrupt::HeaderTruncated { len: bytes.len() as u64 }))?;
        let flags = GeneralFlags(raw.general_flags);
        if !matches!(flags.version(), 2 | 3) {
            return Err(Error::UnknownVersion { version: flags.version() });
        }
        check_markers(raw)?;
        let header = Self {
            header_len: parse_header_len(raw)?,
            frame_len: raw.frame_len.get(),
            flags,
            frame_type: parse_frame_type(raw.frame_type)?,
            codec_and_level: raw.codec,
            other_flags: raw.other_flags,
            nbytes: parse_nbytes(raw.nbytes.get())?,
            cbytes: raw.cbytes.get(),
            typesize: parse_typesize(raw.typesize.get())?,
            blocksize: parse_blocksize(raw.blocksize.get())?,
            chunksize: parse_chunksize(raw)?,
            threads: [raw.cthreads.get(), raw.dthreads.get()],
            has_vlmeta: raw.has_vlmeta == TRUE,
            nfilters: parse_nfilters(raw.nfilters)?,
            filters: raw.filters,
            filters_meta: raw.filters_meta,
            udcodec: raw.udcodec,
            codec_meta: raw.codec_meta,
            other_flags2: raw.other_flags2,
            reserved: raw.reserved,
        };
        header.check_sections()?;
        Ok(header)
    }

    /// The 87 bytes of the fixed part.
    #[must_use]
    pub fn encode(&self) -> [u8; FIXED_LEN] {
        zerocopy::transmute!(RawHeader::from(self))
    }

    /// The whole header, with these metalayers.
    pub(crate) fn encode_with(&self, meta: &Metalayers) -> Result<Vec<u8>> {
        let mut bytes = meta.bytes().to_vec();
        if bytes.len() as u64 != u64::from(self.header_len) {
            return Err(Error::internal("the metalayers do not fit the header"));
        }
        let fixed = bytes.first_chunk_mut::<FIXED_LEN>();
        *fixed.ok_or(Error::internal("a header without its fixed part"))? = self.encode();
        Ok(bytes)
    }

    /// Length of header and metalayers together (bytes).
    #[must_use]
    pub fn header_len(&self) -> u32 {
        self.header_len
    }

    /// Length of the whole frame (bytes).
    #[must_use]
    pub fn frame_len(&self) -> u64 {
        self.frame_len
    }

    /// Version and features.
    #[must_use]
    pub fn flags(&self) -> GeneralFlags {
        self.flags
    }

    /// Contiguous or sparse.
    #[must_use]
    pub fn frame_type(&self) -> FrameType {
        self.frame_type
    }

    /// Uncompressed bytes of all chunks.
    #[must_use]
    pub fn nbytes(&self) -> u64 {
        self.nbytes
    }

    /// Length of the data section, unused bytes included; 0 when the frame has no data (bytes).
    ///
    /// If all chunks of a frame were deleted, the field keeps its old value, which has no meaning.
    #[must_use]
    pub fn cbytes(&self) -> u64 {
        if self.nbytes == 0 { 0 } else { self.cbytes.unsigned_abs() }
    }

    /// Bytes of an item.
    #[must_use]
    pub fn typesize(&self) -> NonZeroU32 {
        self.typesize
    }

    /// Block size for new chunks (bytes), unless each chunk gets its own.
    #[must_use]
    pub fn blocksize(&self) -> Option<NonZeroU32> {
        NonZeroU32::new(self.blocksize)
    }

    /// Uncompressed bytes of a chunk.
    #[must_use]
    pub fn chunksize(&self) -> ChunkSize {
        self.chunksize
    }

    /// Id of the codec for new chunks. This is a codec id, not the codec format of chunk headers.
    #[must_use]
    pub fn codec(&self) -> u8 {
        match self.codec_and_level & 0x0f {
            6 => self.udcodec,
            id => id,
        }
    }

    /// Parameter of the codec for new chunks.
    #[must_use]
    pub fn codec_meta(&self) -> u8 {
        self.codec_meta
    }

    /// Compression level for new chunks: 0 to 9 in files of C-Blosc2.
    #[must_use]
    pub fn clevel(&self) -> u8 {
        self.codec_and_level >> 4
    }

    /// Split mode for new chunks, as stored: 0 always, 1 never, 2 automatic, 3 forward compatible.
    #[must_use]
    pub fn split_mode(&self) -> u8 {
        self.other_flags & 3
    }

    /// Whether new chunks use a dictionary.
    #[must_use]
    pub fn uses_dict(&self) -> bool {
        self.other_flags2 & 1 != 0
    }

    /// Filter ids for new chunks, slot 0 first, 0 for an empty slot.
    #[must_use]
    pub fn filters(&self) -> [u8; 6] {
        in_use(self.filters, self.nfilters)
    }

    /// Filter parameters for new chunks, slot 0 first.
    #[must_use]
    pub fn filters_meta(&self) -> [u8; 6] {
        in_use(self.filters_meta, self.nfilters)
    }

    /// Whether the header says that vlmetalayers exist. Old files can be wrong here; the trailer is
    /// right.
    #[must_use]
    pub fn has_vlmeta(&self) -> bool {
        self.has_vlmeta
    }

    /// The field `cbytes` as stored: also of a frame without data.
    pub(crate) fn stored_cbytes(&self) -> i64 {
        self.cbytes
    }

    /// Number of chunks, from `nbytes` and a fixed chunk size.
    pub(crate) fn nchunks(&self) -> Option<u64> {
        match self.chunksize {
            _ if self.nbytes == 0 => Some(0),
            ChunkSize::Fixed(size) => Some(self.nbytes.div_ceil(size.get().into())),
            ChunkSize::Variable | ChunkSize::Unset => None,
        }
    }

    /// Position of the index chunk in a frame that has one.
    pub(crate) fn index_position(&self) -> u64 {
        let stored = if self.frame_type == FrameType::Sparse { 0 } else { self.cbytes() };
        u64::from(self.header_len).saturating_add(stored)
    }

    /// Checks that the parts fit into the frame, one after the other.
    fn check_sections(&self) -> Result<()> {
        let header_len = u64::from(self.header_len);
        let min = header_len.saturating_add(trailer::MIN_LEN);
        if self.frame_len < min || i64::try_from(self.frame_len).is_err() {
            return Err(Error::corrupt(0x10, Corrupt::FrameLen { frame_len: self.frame_len, min }));
        }
        if self.nbytes == 0 || self.frame_type == FrameType::Sparse {
            return Ok(());
        }
        let room = self.frame_len.saturating_sub(min);
        match u64::try_from(self.cbytes) {
            Ok(cbytes) if cbytes <= room => Ok(()),
            _ => Err(Error::corrupt(0x27, Corrupt::Cbytes { cbytes: self.cbytes, room })),
        }
    }
}

impl From<&FrameHeader> for RawHeader {
    fn from(h: &FrameHeader) -> Self {
        Self {
            array: ARRAY,
            magic_marker: FIXSTR | 8,
            magic: MAGIC,
            header_len_marker: INT32,
            header_len: h.header_len.cast_signed().into(),
            frame_len_marker: UINT64,
            frame_len: h.frame_len.into(),
            flags_marker: FIXSTR | 4,
            general_flags: h.flags.0,
            frame_type: u8::from(h.frame_type == FrameType::Sparse),
            codec: h.codec_and_level,
            other_flags: h.other_flags,
            nbytes_marker: INT64,
            nbytes: h.nbytes.cast_signed().into(),
            cbytes_marker: INT64,
            cbytes: h.cbytes.into(),
            typesize_marker: INT32,
            typesize: h.typesize.get().cast_signed().into(),
            blocksize_marker: INT32,
            blocksize: h.blocksize.cast_signed().into(),
            chunksize_marker: INT32,
            chunksize: h.chunksize.stored().into(),
            cthreads_marker: INT16,
            cthreads: h.threads[0].into(),
            dthreads_marker: INT16,
            dthreads: h.threads[1].into(),
            has_vlmeta: if h.has_vlmeta { TRUE } else { FALSE },
            pipeline_marker: FIXEXT16,
            nfilters: h.nfilters,
            filters: h.filters,
            udcodec: h.udcodec,
            codec_meta: h.codec_meta,
            filters_meta: h.filters_meta,
            other_flags2: h.other_flags2,
            reserved: h.reserved,
        }
    }
}

impl ChunkSize {
    /// The value of the header field.
    fn stored(self) -> i32 {
        match self {
            Self::Fixed(size) => size.get().cast_signed(),
            Self::Variable => 0,
            Self::Unset => -1,
        }
    }
}

/// Checks byte 0 and the magic, which tell frames from other files, and this layout from older
/// ones.
fn check_magic(bytes: &[u8]) -> Result<()> {
    match *bytes {
        [first, 0xa8, ref rest @ ..] if rest.starts_with(&MAGIC) => match first {
            ARRAY => Ok(()),
            0x9b..=0x9d => Err(Error::OlderLayout { first_byte: first }),
            found => {
                Err(Error::corrupt(0, Corrupt::Marker { field: "header", found, expected: ARRAY }))
            }
        },
        _ => Err(Error::NotAFrame { found: Kind::recognize(bytes) }),
    }
}

/// Checks all markers that never change.
fn check_markers(raw: &RawHeader) -> Result<()> {
    // The first byte, checked before this, tells the layout with 13 elements.
    expect_markers(&[
        (0x0a, "header_len", raw.header_len_marker, INT32),
        (0x0f, "frame_len", raw.frame_len_marker, UINT64),
        (0x18, "flags", raw.flags_marker, FIXSTR | 4),
        (0x1d, "nbytes", raw.nbytes_marker, INT64),
        (0x26, "cbytes", raw.cbytes_marker, INT64),
        (0x2f, "typesize", raw.typesize_marker, INT32),
        (0x34, "blocksize", raw.blocksize_marker, INT32),
        (0x39, "chunk_size", raw.chunksize_marker, INT32),
        (0x3e, "compression threads", raw.cthreads_marker, INT16),
        (0x41, "decompression threads", raw.dthreads_marker, INT16),
        (
            0x44,
            "has_vlmetalayers",
            if raw.has_vlmeta == FALSE { TRUE } else { raw.has_vlmeta },
            TRUE,
        ),
        (0x45, "filter pipeline", raw.pipeline_marker, FIXEXT16),
    ])?;
    let width = GeneralFlags(raw.general_flags).offset_width();
    if width != 1 {
        return Err(Error::corrupt(0x19, Corrupt::OffsetWidth { width }));
    }
    Ok(())
}

/// Checks markers of MessagePack, each given by its position, the field after it, the byte found
/// and the byte expected.
pub(crate) fn expect_markers(markers: &[(usize, &'static str, u8, u8)]) -> Result<()> {
    match markers.iter().find(|(.., found, expected)| found != expected) {
        Some(&(at, field, found, expected)) => {
            Err(Error::corrupt(at, Corrupt::Marker { field, found, expected }))
        }
        None => Ok(()),
    }
}

fn parse_header_len(raw: &RawHeader) -> Result<u32> {
    let header_len = raw.header_len.get();
    match u32::try_from(header_len) {
        Ok(len) if u64::from(len) >= MIN_LEN => Ok(len),
        _ => Err(Error::corrupt(0x0b, Corrupt::HeaderLen { header_len })),
    }
}

fn parse_frame_type(byte: u8) -> Result<FrameType> {
    match byte {
        0 => Ok(FrameType::Contiguous),
        1 => Ok(FrameType::Sparse),
        found => Err(Error::corrupt(0x1a, Corrupt::FrameType { found })),
    }
}

pub(crate) fn parse_nbytes(nbytes: i64) -> Result<u64> {
    u64::try_from(nbytes).map_err(|_| Error::corrupt(0x1e, Corrupt::Nbytes { nbytes }))
}

pub(crate) fn parse_typesize(typesize: i32) -> Result<NonZeroU32> {
    let checked = u32::try_from(typesize).ok().and_then(NonZeroU32::new);
    checked.ok_or_else(|| Error::corrupt(0x30, Corrupt::Typesize { typesize }))
}

fn parse_blocksize(blocksize: i32) -> Result<u32> {
    u32::try_from(blocksize).map_err(|_| Error::corrupt(0x35, Corrupt::Blocksize { blocksize }))
}

fn parse_chunksize(raw: &RawHeader) -> Result<ChunkSize> {
    let chunksize = raw.chunksize.get();
    let fixed = u32::try_from(chunksize).ok().and_then(NonZeroU32::new);
    match (fixed, chunksize) {
        (Some(size), _) => Ok(ChunkSize::Fixed(size)),
        (None, 0) => Ok(ChunkSize::Variable),
        (None, -1) if raw.nbytes.get() == 0 => Ok(ChunkSize::Unset),
        _ => Err(Error::corrupt(0x3a, Corrupt::ChunkSize { chunksize })),
    }
}

fn parse_nfilters(nfilters: u8) -> Result<u8> {
    if nfilters <= SLOTS {
        Ok(nfilters)
    } else {
        Err(Error::corrupt(0x46, Corrupt::Nfilters { nfilters }))
    }
}

/// The slots that are in use, the others empty.
fn in_use(mut slots: [u8; 6], nfilters: u8) -> [u8; 6] {
    slots.iter_mut().skip(nfilters.into()).for_each(|slot| *slot = 0);
    slots
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The fixed part of the header of the annotated sample.
    fn tiny() -> [u8; FIXED_LEN] {
        let bytes = include_bytes!("../../../conformance/samples/frames/tiny.b2frame");
        *bytes.first_chunk().unwrap()
    }

    #[test]
    fn the_annotated_header_is_read() {
        let header = FrameHeader::parse(&tiny()).unwrap();
        assert_eq!((header.header_len(), header.frame_len()), (117, 369));
        assert_eq!((header.nbytes(), header.cbytes()), (148, 111));
        assert_eq!((header.flags().version(), header.flags().offset_width()), (2, 1));
        assert_eq!((header.codec(), header.clevel(), header.split_mode()), (1, 5, 3));
        assert_eq!((header.typesize().get(), header.blocksize()), (4, None));
        assert_eq!(header.chunksize().fixed(), Some(64));
        assert_eq!(header.nchunks(), Some(3));
        assert_eq!(header.filters(), [0, 0, 0, 0, 0, 1]);
        assert!(header.has_vlmeta() && !header.uses_dict());
        assert_eq!(header.encode(), tiny());
    }

    #[test]
    fn contradictions_are_errors_before_anything_is_written() {
        use crate::metalayers::Section;

        let header = FrameHeader::parse(&tiny()).unwrap();
        let longer = Metalayers::build([(&b"name"[..], &[0; 99][..])], Section::HEADER).unwrap();
        let changed = |change: fn(&mut FrameHeader) -> Result<()>| change(&mut header.clone());
        let cases = [
            ("metalayers of another length", header.encode_with(&longer).map(drop)),
            ("no metalayers", header.encode_with(&Metalayers::default()).map(drop)),
            ("a data section of 2^63 bytes", changed(|header| header.set_cbytes(1 << 63))),
            ("a chunk larger than the frame", changed(|header| header.replace_nbytes(149, 0))),
        ];
        for (what, found) in cases {
            assert!(matches!(found, Err(Error::Internal { .. })), "{what}: {found:?}");
        }
    }

    #[test]
    fn fewer_slots_leave_the_rest_empty() {
        let mut bytes = tiny();
        bytes[0x46] = 5;
        assert_eq!(FrameHeader::parse(&bytes).unwrap().filters(), [0; 6]);
    }

    #[test]
    fn the_full_codec_id_counts_when_the_short_one_says_so() {
        let mut bytes = tiny();
        (bytes[0x1b], bytes[0x4d], bytes[0x4e]) = (0x96, 35, 7);
        let header = FrameHeader::parse(&bytes).unwrap();
        assert_eq!((header.codec(), header.clevel(), header.codec_meta()), (35, 9, 7));
    }

    proptest! {
        #[test]
        fn parsing_and_encoding_gives_the_same_bytes(
            at in 10usize..FIXED_LEN,
            byte: u8,
            more in 0usize..FIXED_LEN,
            other: u8,
        ) {
            let mut bytes = tiny();
            (bytes[at], bytes[more]) = (byte, other);
            if let Ok(header) = FrameHeader::parse(&bytes) {
                prop_assert_eq!(header.encode(), bytes);
            }
        }

        #[test]
        fn any_bytes_are_parsed_or_refused(
            bytes in proptest::collection::vec(any::<u8>(), 0..100),
        ) {
            let mut framed = bytes.clone();
            framed.splice(0..bytes.len().min(10), *b"\x9e\xa8b2frame\0");
            prop_assert!(FrameHeader::parse(&bytes).is_err());
            let _ = FrameHeader::parse(&framed);
        }
    }
}

//! The checked chunk header, made from 16 or 32 bytes, short and extended alike ("Header" in the format document).

#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]

use core::num::{NonZeroU8, NonZeroU32};

use blosc_codecs::{CodecId, FormatId};
use blosc_filters::{BitshuffleRule, FilterId, Pipeline};
use zerocopy::{FromBytes, IntoBytes};

use crate::blocksize::MIN_BUFFER_2;
use crate::raw::{RawExtension, RawHeader};
use crate::{Blosc2Flags, Blosc2Flags2, Corrupt, Error, Flags, Result, SpecialKind};

/// The header of a chunk.
///
/// Whoever holds one knows that
/// * the version is 2 to 6, and a version-2 header is a short one without Blosc2 flags;
/// * `typesize` is 1..=255, `nbytes` not negative, `blocksize` at least 1, `cbytes` at least the header's length;
/// * at most one of memcpyed, special and VL-block is set;
/// * a memcpyed chunk is exactly as long as header and data, and a special one has a width that fits its data.
///
/// What it does not know is whether the body is there, and what is in it; see [`Chunk`](crate::Chunk).
///
/// ```
/// use blosc_chunk::{ChunkHeader, CParams, Kind, compress};
///
/// let chunk = compress(&[7; 4000], &CParams::default().typesize(4))?;
/// let header = ChunkHeader::parse(&chunk)?;
/// assert_eq!((header.nbytes(), header.cbytes(), header.typesize()), (4000, chunk.len(), 4));
/// assert_eq!(header.kind(), Kind::Regular);
/// # Ok::<(), blosc_chunk::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkHeader {
    pub(crate) version: u8,
    pub(crate) versionlz: u8,
    pub(crate) flags: Flags,
    pub(crate) typesize: NonZeroU8,
    pub(crate) nbytes: u32,
    pub(crate) blocksize: NonZeroU32,
    pub(crate) cbytes: u32,
    /// Zeros if the header is short.
    pub(crate) extension: Extension,
}

/// The second half of an extended header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extension {
    /// All six slots as stored, also for version 3, which has five.
    pub(crate) pipeline: Pipeline,
    pub(crate) udcodec: CodecId,
    pub(crate) compcode_meta: u8,
    pub(crate) flags2: Blosc2Flags2,
    pub(crate) blosc2_flags: Blosc2Flags,
}

/// How the data of a chunk are kept, which decides how the body is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A run: no data at all, or one item.
    Special(SpecialKind),
    /// The plain data follow the header.
    Memcpyed,
    /// No data.
    Empty,
    /// Blocks of individual sizes.
    Vl,
    /// Block starts, then blocks.
    Regular,
}

impl ChunkHeader {
    /// Bytes that are always enough for [`parse`](Self::parse).
    pub const MAX_LEN: usize = 32;
    /// Bytes of the shortest header.
    pub const MIN_LEN: usize = 16;

    /// Reads the header at the start of `bytes`, of which no more than [`MAX_LEN`](Self::MAX_LEN) are looked at.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownVersion`], or [`Error::Corrupt`] for whatever contradicts the invariants above.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        Ok(Self::parse_with_kind(bytes)?.0)
    }

    /// The same, with the [`kind`](Self::kind), which is known by then.
    #[inline]
    pub(crate) fn parse_with_kind(bytes: &[u8]) -> Result<(Self, Kind)> {
        let (raw, rest) = RawHeader::ref_from_prefix(bytes).map_err(|_| too_short(bytes, Self::MIN_LEN))?;
        check_version(raw)?;
        let flags = Flags(raw.flags);
        let extension = if flags.is_extended() { Extension::parse(bytes, rest)? } else { Extension::NONE };
        let typesize = NonZeroU8::new(raw.typesize).ok_or_else(|| Error::corrupt(3, Corrupt::Typesize))?;
        let nbytes = raw.nbytes.get();
        let header = Self {
            version: raw.version,
            versionlz: raw.versionlz,
            flags,
            typesize,
            nbytes: u32::try_from(nbytes).map_err(|_| Error::corrupt(4, Corrupt::Nbytes { nbytes }))?,
            blocksize: parse_blocksize(raw.blocksize.get())?,
            cbytes: parse_cbytes(raw.cbytes.get(), header_len(flags))?,
            extension,
        };
        let kind = header.check_kind()?;
        Ok((header, kind))
    }

    /// The header as it is stored: [`header_len`](Self::header_len) bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.to_raw().as_bytes().to_vec();
        if self.is_extended() {
            bytes.extend_from_slice(self.extension.to_raw().as_bytes());
        }
        bytes
    }

    /// The version of the chunk format: 2 for Blosc 1, 3 to 6 for Blosc2.
    #[must_use]
    pub const fn version(&self) -> u8 {
        self.version
    }

    /// The version of the codec's own stream format; 1 for every built-in codec.
    #[must_use]
    pub const fn versionlz(&self) -> u8 {
        self.versionlz
    }

    /// The flags byte. In a memcpyed chunk most bits are leftovers without meaning.
    #[must_use]
    pub const fn flags(&self) -> Flags {
        self.flags
    }

    /// The `blosc2_flags` byte; 0 in a short header.
    #[must_use]
    pub const fn blosc2_flags(&self) -> Blosc2Flags {
        self.extension.blosc2_flags
    }

    /// The `blosc2_flags2` byte; 0 in a short header.
    #[must_use]
    pub const fn blosc2_flags2(&self) -> Blosc2Flags2 {
        self.extension.flags2
    }

    /// Bytes of an item; 1 if the items are wider than 255 bytes.
    #[must_use]
    pub const fn typesize(&self) -> usize {
        self.typesize.get() as usize
    }

    /// Bytes of data.
    #[must_use]
    pub const fn nbytes(&self) -> usize {
        self.nbytes as usize
    }

    /// The block size as stored (bytes); in a VL-block chunk the number of blocks. The blocks of a
    /// [`Chunk`](crate::Chunk) may be smaller: see [`Chunk::blocksize`](crate::Chunk::blocksize).
    #[must_use]
    pub const fn blocksize(&self) -> usize {
        self.blocksize.get() as usize
    }

    /// Bytes of the chunk, header included.
    #[must_use]
    pub const fn cbytes(&self) -> usize {
        self.cbytes as usize
    }

    /// Bytes of the header: 16 or 32.
    #[must_use]
    pub const fn header_len(&self) -> usize {
        header_len(self.flags)
    }

    /// Whether the header has 32 bytes.
    #[must_use]
    pub const fn is_extended(&self) -> bool {
        self.flags.is_extended()
    }

    /// The filters to undo, in a short header made from the flag bits.
    #[must_use]
    pub fn pipeline(&self) -> Pipeline {
        match self.is_extended() {
            true if self.version == 3 => without_slot_5(&self.extension.pipeline),
            true => self.extension.pipeline,
            false => self.short_pipeline(),
        }
    }

    /// The format of the streams.
    #[must_use]
    pub fn format(&self) -> FormatId {
        if self.is_mislabelled() { self.extension.udcodec.format() } else { self.flags.format() }
    }

    /// The codec that wrote the streams, as far as the header tells: a short one does not tell LZ4 from LZ4HC.
    #[must_use]
    pub fn codec_id(&self) -> CodecId {
        let (stored, format) = (self.extension.udcodec, self.format());
        let tells = self.is_extended() && (format == FormatId::USER || stored.format() == format);
        if tells { stored } else { codec_of(format) }
    }

    /// The parameter of the codec.
    #[must_use]
    pub const fn codec_meta(&self) -> u8 {
        self.extension.compcode_meta
    }

    /// How the data are kept.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self.special() {
            Some(kind) => Kind::Special(kind),
            None if self.is_memcpyed() => Kind::Memcpyed,
            None if self.nbytes == 0 => Kind::Empty,
            None if self.is_vl() => Kind::Vl,
            None => Kind::Regular,
        }
    }

    /// The kind of run, if the chunk is one.
    #[must_use]
    pub fn special(&self) -> Option<SpecialKind> {
        SpecialKind::from_code(self.blosc2_flags().special_code())
    }

    /// Whether the plain data follow the header.
    #[must_use]
    pub fn is_memcpyed(&self) -> bool {
        self.flags.has(Flags::MEMCPYED) && !self.is_mislabelled()
    }

    /// Whether the blocks have individual sizes.
    #[must_use]
    pub fn is_vl(&self) -> bool {
        self.blosc2_flags2().has(Blosc2Flags2::VL)
    }

    /// Whether the flags say that blocks are split into streams. Version 2 has further conditions, and leftover
    /// blocks are never split.
    #[must_use]
    pub const fn is_split(&self) -> bool {
        !self.flags.has(Flags::UNSPLIT)
    }

    /// Whether a dictionary follows the block starts.
    #[must_use]
    pub fn has_dict(&self) -> bool {
        self.blosc2_flags().has(Blosc2Flags::DICT) && matches!(self.kind(), Kind::Regular | Kind::Vl)
    }

    /// Whether the chunk is an in-memory stand-in without data.
    #[must_use]
    pub fn is_lazy(&self) -> bool {
        self.blosc2_flags().has(Blosc2Flags::LAZY)
    }

    /// Whether the content is statistics instead of data.
    #[must_use]
    pub fn is_instrumented(&self) -> bool {
        self.blosc2_flags().has(Blosc2Flags::INSTRUMENTED)
    }

    /// How many blocks the data have, going by the stored block size.
    #[must_use]
    pub fn nblocks(&self) -> usize {
        if self.is_vl() { self.blocksize() } else { self.nbytes().div_ceil(self.blocksize()) }
    }

    /// Whether the flags are those of a copy, and the rest is none. C-Blosc2 to 3.3.5 sets them for data that are too few
    /// to be worth it, but compresses them all the same if a dictionary was asked for; always split, as the flags say.
    /// Where the sizes happen to be those of a copy, nothing tells.
    pub(crate) fn is_mislabelled(&self) -> bool {
        let up_front = self.flags.0 == Flags::EXTENDED | Flags::MEMCPYED;
        up_front && self.version > 3 && self.is_small() && self.may_have_dict() && !self.is_copy()
    }

    fn is_small(&self) -> bool {
        (1..MIN_BUFFER_2).contains(&self.nbytes())
    }

    /// Whether the codec is one that dictionaries are made for.
    fn may_have_dict(&self) -> bool {
        matches!(self.extension.udcodec, CodecId::LZ4 | CodecId::LZ4HC | CodecId::ZSTD)
    }

    /// Whether the chunk is as long as header and data.
    fn is_copy(&self) -> bool {
        self.cbytes() == self.nbytes().saturating_add(self.header_len())
    }

    /// Bytes of the repeated value of a special chunk.
    pub(crate) fn value_len(&self) -> usize {
        self.cbytes().saturating_sub(Self::MAX_LEN)
    }

    pub(crate) const fn bitshuffle_rule(&self) -> BitshuffleRule {
        if self.version == 2 { BitshuffleRule::Blosc1 } else { BitshuffleRule::Blosc2 }
    }

    fn short_pipeline(&self) -> Pipeline {
        let id = |bit, id: FilterId| if self.flags.has(bit) { id.0 } else { 0 };
        let delta = id(Flags::DELTA, FilterId::DELTA);
        let last = id(Flags::SHUFFLE, FilterId::SHUFFLE) | id(Flags::BITSHUFFLE, FilterId::BITSHUFFLE);
        Pipeline::from_slots([0, 0, 0, 0, delta, last], [0; 6])
    }

    fn check_kind(&self) -> Result<Kind> {
        let code = self.blosc2_flags().special_code();
        if code > SpecialKind::Uninit.code() {
            return Err(Error::corrupt(0x1f, Corrupt::SpecialKind { code }));
        }
        let kind = self.kind();
        // C-Blosc2 turns empty data into a memcpyed chunk, and with a dictionary into one of zeros as well.
        let has_two = match kind {
            Kind::Special(_) => self.is_memcpyed() || self.is_vl(),
            Kind::Memcpyed => self.is_vl(),
            Kind::Empty | Kind::Vl | Kind::Regular => false,
        };
        if has_two && self.nbytes > 0 {
            return Err(self.kinds_exclude());
        }
        match kind {
            Kind::Memcpyed => self.check_memcpyed()?,
            Kind::Special(kind) if self.nbytes > 0 => self.check_special(kind)?,
            Kind::Regular | Kind::Vl => self.check_blocksize()?,
            _ => {}
        }
        Ok(kind)
    }

    fn kinds_exclude(&self) -> Error {
        let (flags2, blosc2_flags) = (self.blosc2_flags2().0, self.blosc2_flags().0);
        Error::corrupt(2, Corrupt::Kinds { flags: self.flags.0, flags2, blosc2_flags })
    }

    fn check_memcpyed(&self) -> Result<()> {
        let (cbytes, expected) = (self.cbytes(), self.nbytes().saturating_add(self.header_len()));
        if cbytes == expected {
            return Ok(());
        }
        Err(Error::corrupt(0xc, Corrupt::MemcpyedSize { cbytes, expected }))
    }

    fn check_special(&self, kind: SpecialKind) -> Result<()> {
        let (nbytes, typesize, width) = (self.nbytes(), self.typesize(), self.value_len());
        let fills = |width: usize| nbytes.checked_rem(width) == Some(0);
        match kind {
            SpecialKind::Nans if !matches!(typesize, 4 | 8) || !fills(typesize) => {
                Err(Error::corrupt(3, Corrupt::Nans { typesize, nbytes }))
            }
            SpecialKind::Value if !fills(width) => {
                Err(Error::corrupt(0xc, Corrupt::ValueWidth { width, nbytes }))
            }
            _ => Ok(()),
        }
    }

    /// Refuses what C-Blosc refuses, but for a block size that is really used: C-Blosc2 writes such chunks.
    fn check_blocksize(&self) -> Result<()> {
        let max = if self.version == 2 { MAX_BLOCKSIZE_1 } else { MAX_BLOCKSIZE_2 };
        let used = !self.is_vl() && self.blocksize() <= self.nbytes();
        if self.blocksize.get() <= max || used {
            return Ok(());
        }
        Err(Error::corrupt(8, Corrupt::Blocksize { blocksize: signed(self.blocksize.get()), max }))
    }

    fn to_raw(self) -> RawHeader {
        RawHeader {
            version: self.version,
            versionlz: self.versionlz,
            flags: self.flags.0,
            typesize: self.typesize.get(),
            nbytes: signed(self.nbytes).into(),
            blocksize: signed(self.blocksize.get()).into(),
            cbytes: signed(self.cbytes).into(),
        }
    }
}

impl Extension {
    /// That of a short header.
    pub(crate) const NONE: Self = Self {
        pipeline: Pipeline::EMPTY,
        udcodec: CodecId(0),
        compcode_meta: 0,
        flags2: Blosc2Flags2(0),
        blosc2_flags: Blosc2Flags(0),
    };

    fn parse(bytes: &[u8], rest: &[u8]) -> Result<Self> {
        let (raw, _) =
            RawExtension::ref_from_prefix(rest).map_err(|_| too_short(bytes, ChunkHeader::MAX_LEN))?;
        Ok(Self {
            pipeline: Pipeline::from_slots(raw.filters, raw.filters_meta),
            udcodec: CodecId(raw.udcodec),
            compcode_meta: raw.compcode_meta,
            flags2: Blosc2Flags2(raw.blosc2_flags2),
            blosc2_flags: Blosc2Flags(raw.blosc2_flags),
        })
    }

    fn to_raw(self) -> RawExtension {
        RawExtension {
            filters: self.pipeline.ids(),
            udcodec: self.udcodec.0,
            compcode_meta: self.compcode_meta,
            filters_meta: self.pipeline.metas(),
            blosc2_flags2: self.flags2.0,
            blosc2_flags: self.blosc2_flags.0,
        }
    }
}

/// Version 2 also fixes what the other bytes may be: C-Blosc 1.14 and later refuse the rest.
fn check_version(raw: &RawHeader) -> Result<()> {
    match raw.version {
        2 => check_blosc1(raw),
        3..=6 => Ok(()),
        version => Err(Error::UnknownVersion { version }),
    }
}

fn check_blosc1(raw: &RawHeader) -> Result<()> {
    let flags = Flags(raw.flags);
    if flags.is_extended() || flags.has(Flags::DELTA) {
        return Err(Error::corrupt(2, Corrupt::Blosc1Flags { flags: flags.0 }));
    }
    if raw.versionlz != 1 && !flags.has(Flags::MEMCPYED) && raw.nbytes.get() != 0 {
        return Err(Error::corrupt(1, Corrupt::VersionLz { versionlz: raw.versionlz }));
    }
    Ok(())
}

fn parse_blocksize(blocksize: i32) -> Result<NonZeroU32> {
    let what = Corrupt::Blocksize { blocksize, max: MAX_BLOCKSIZE_2 };
    let blocksize = u32::try_from(blocksize).ok().and_then(NonZeroU32::new);
    blocksize.ok_or_else(|| Error::corrupt(8, what))
}

fn parse_cbytes(cbytes: i32, header_len: usize) -> Result<u32> {
    let what = Corrupt::Cbytes { cbytes, header_len };
    let value = u32::try_from(cbytes).ok().filter(|&value| value as usize >= header_len);
    value.ok_or_else(|| Error::corrupt(0xc, what))
}

fn too_short(bytes: &[u8], needed: usize) -> Error {
    Error::corrupt(bytes.len(), Corrupt::TooShort { len: bytes.len(), needed })
}

const fn header_len(flags: Flags) -> usize {
    if flags.is_extended() { ChunkHeader::MAX_LEN } else { ChunkHeader::MIN_LEN }
}

/// Version 3 has five slots; what stands in the sixth is not a filter.
fn without_slot_5(pipeline: &Pipeline) -> Pipeline {
    let (mut ids, mut metas) = (pipeline.ids(), pipeline.metas());
    ids[5] = 0;
    metas[5] = 0;
    Pipeline::from_slots(ids, metas)
}

/// The codec that a format code stands for.
const fn codec_of(format: FormatId) -> CodecId {
    match format {
        FormatId::BLOSCLZ => CodecId::BLOSCLZ,
        FormatId::LZ4 => CodecId::LZ4,
        FormatId::SNAPPY => CodecId::SNAPPY,
        FormatId::ZLIB => CodecId::ZLIB,
        FormatId::ZSTD => CodecId::ZSTD,
        FormatId::LIZARD => CodecId::LIZARD,
        FormatId(other) => CodecId(other),
    }
}

/// A field that was parsed from an `i32`, or checked to fit one.
fn signed(field: u32) -> i32 {
    i32::try_from(field).unwrap_or(i32::MAX)
}

/// Greatest block size (bytes) that readers of Blosc 1 accept.
pub(crate) const MAX_BLOCKSIZE_1: u32 = 715_827_542;
/// Greatest block size (bytes) that readers of Blosc2 accept, and greatest number of VL-blocks.
pub(crate) const MAX_BLOCKSIZE_2: u32 = 536_866_816;

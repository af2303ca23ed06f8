//! The checked chunk header, made from 16 or 32 bytes, short and extended alike ("Header" in the
//! format document).

use blosc_codecs::{CodecId, FormatId};
use blosc_filters::{BitshuffleRule, FilterId, Pipeline};
use zerocopy::{FromBytes, IntoBytes, transmute};

use crate::error::{Corrupt, Error, Result};
use crate::flags::{Blosc2Flags, Blosc2Flags2, Flags};
use crate::raw::{RawExtension, RawHeader};
use crate::special::SpecialKind;

/// The header of a chunk.
///
/// Its invariants:
/// * the version is 1 to 6, and a header of version 1 or 2 is a short one without Blosc2 flags;
/// * `typesize` is 1..=255, `nbytes` not negative, `blocksize` at least 1, `cbytes` at least the
///   header's length;
/// * at most one of memcpyed, special and VL-block is set;
/// * a memcpyed chunk is exactly as long as header and data, and a special one has a width that
///   fits its data.
///
/// It does not tell whether the body is complete or valid; see [`Chunk`](crate::Chunk).
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
///
/// The fields stay together in their stored form, since a copy of the whole does not wait for a
/// field that was just written alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(8))]
pub struct ChunkHeader {
    raw: RawHeader,
    /// Zeros if the header is short.
    extension: RawExtension,
}

/// The storage of a chunk's data, which decides how the body is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A run: its body is empty, or one item.
    Special(SpecialKind),
    /// The uncompressed data follow the header.
    Memcpyed,
    /// No data.
    Empty,
    /// Blocks of individual sizes.
    Vl,
    /// Block starts, then blocks.
    Regular,
}

impl ChunkHeader {
    /// Number of bytes that always suffices for [`parse`](Self::parse).
    pub const MAX_LEN: usize = 32;
    /// Bytes of the shortest header.
    pub const MIN_LEN: usize = 16;

    /// Reads the header at the start of `bytes`, at most [`MAX_LEN`](Self::MAX_LEN) bytes.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownVersion`], or [`Error::Corrupt`] for a violation of the invariants above.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        Self::check(bytes)?;
        Self::load(bytes).ok_or_else(|| too_short(bytes))
    }

    /// Takes the bytes unchecked; `None` if they are too few.
    #[inline(always)]
    pub(crate) fn load(bytes: &[u8]) -> Option<Self> {
        // The flags are read from `bytes`, so that the copy stays whole.
        let is_extended = Flags(*bytes.get(2)?).is_extended();
        let raw: RawHeader = transmute!(*bytes.first_chunk::<16>()?);
        let extension = if is_extended {
            transmute!(*bytes.get(16..)?.first_chunk::<16>()?)
        } else {
            RawExtension::NONE
        };
        Some(Self { raw, extension })
    }

    /// Checks the header at the start of `bytes`, and returns its [`kind`](Self::kind), which the
    /// checks determine.
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse).
    #[inline]
    pub(crate) fn check(bytes: &[u8]) -> Result<Kind> {
        // Errors in the fast path would take as long as the checks: a second run makes them, on the
        // cold path.
        match Self::run_checks(bytes) {
            Ok(kind) => Ok(kind),
            Err(_) => Self::run_checks_again(bytes),
        }
    }

    #[inline(always)]
    fn run_checks(bytes: &[u8]) -> Result<Kind> {
        let Some(header) = Self::load(bytes) else { return Err(too_short(bytes)) };
        check_version(&header.raw)?;
        header.check_sizes()?;
        header.check_kind()
    }

    #[cold]
    #[inline(never)]
    fn run_checks_again(bytes: &[u8]) -> Result<Kind> {
        Self::run_checks(bytes)
    }

    /// A header from fields of the format. The caller must ensure the invariants above.
    pub(crate) const fn new(raw: RawHeader, extension: RawExtension) -> Self {
        Self { raw, extension }
    }

    /// The header as it is stored: [`header_len`](Self::header_len) bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.raw.as_bytes().to_vec();
        if self.is_extended() {
            bytes.extend_from_slice(self.extension.as_bytes());
        }
        bytes
    }

    /// The version of the chunk format: 1 before Blosc 1.0, 2 for Blosc 1, 3 to 6 for Blosc2.
    #[must_use]
    pub const fn version(&self) -> u8 {
        self.raw.version
    }

    /// Whether the version is 1 or 2.
    #[must_use]
    pub const fn is_blosc1(&self) -> bool {
        self.version() <= 2
    }

    /// The version of the codec's own stream format; 1 for every built-in codec.
    #[must_use]
    pub const fn versionlz(&self) -> u8 {
        self.raw.versionlz
    }

    /// The flags byte. In a memcpyed chunk most bits are leftovers without meaning.
    #[must_use]
    pub const fn flags(&self) -> Flags {
        Flags(self.raw.flags)
    }

    /// The `blosc2_flags` byte; 0 in a short header.
    #[must_use]
    pub const fn blosc2_flags(&self) -> Blosc2Flags {
        Blosc2Flags(self.extension.blosc2_flags)
    }

    /// The `blosc2_flags2` byte; 0 in a short header.
    #[must_use]
    pub const fn blosc2_flags2(&self) -> Blosc2Flags2 {
        Blosc2Flags2(self.extension.blosc2_flags2)
    }

    /// Bytes of an item; 1 if the items are wider than 255 bytes.
    #[must_use]
    pub const fn typesize(&self) -> usize {
        self.raw.typesize as usize
    }

    /// Bytes of data.
    #[must_use]
    pub const fn nbytes(&self) -> usize {
        self.raw.nbytes.get().cast_unsigned() as usize
    }

    /// The block size as stored (bytes); in a VL-block chunk the number of blocks. The blocks of a
    /// [`Chunk`](crate::Chunk) may be smaller: see [`Chunk::blocksize`](crate::Chunk::blocksize).
    #[must_use]
    pub const fn blocksize(&self) -> usize {
        self.raw.blocksize.get().cast_unsigned() as usize
    }

    /// Bytes of the chunk, header included.
    #[must_use]
    pub const fn cbytes(&self) -> usize {
        self.raw.cbytes.get().cast_unsigned() as usize
    }

    /// Bytes of the header: 16 or 32.
    #[must_use]
    pub const fn header_len(&self) -> usize {
        header_len(self.flags())
    }

    /// Whether the header has 32 bytes.
    #[must_use]
    pub const fn is_extended(&self) -> bool {
        self.flags().is_extended()
    }

    /// The filters to undo, in a short header made from the flag bits.
    #[must_use]
    pub fn pipeline(&self) -> Pipeline {
        match self.is_extended() {
            true if self.version() == 3 => without_slot_5(&self.extension.pipeline()),
            true => self.extension.pipeline(),
            false => self.short_pipeline(),
        }
    }

    /// The format of the streams.
    #[must_use]
    pub fn format(&self) -> FormatId {
        if self.is_mislabelled() {
            CodecId(self.extension.udcodec).format()
        } else {
            self.flags().format()
        }
    }

    /// The codec that wrote the streams, as far as the header tells: a short one does not
    /// distinguish LZ4 from LZ4HC.
    #[must_use]
    pub fn codec_id(&self) -> CodecId {
        let (stored, format) = (CodecId(self.extension.udcodec), self.format());
        let is_known =
            self.is_extended() && (format == FormatId::USER || stored.format() == format);
        if is_known { stored } else { codec_of(format) }
    }

    /// The parameter of the codec.
    #[must_use]
    pub const fn codec_meta(&self) -> u8 {
        self.extension.compcode_meta
    }

    /// The storage of the data.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self.special() {
            Some(kind) => Kind::Special(kind),
            None if self.is_memcpyed() => Kind::Memcpyed,
            None if self.nbytes() == 0 => Kind::Empty,
            None if self.is_vl() => Kind::Vl,
            None => Kind::Regular,
        }
    }

    /// The kind of the run, if the chunk is one.
    #[must_use]
    pub fn special(&self) -> Option<SpecialKind> {
        SpecialKind::from_code(self.blosc2_flags().special_code())
    }

    /// Whether the uncompressed data follow the header.
    #[must_use]
    pub fn is_memcpyed(&self) -> bool {
        self.flags().has(Flags::MEMCPYED) && !self.is_mislabelled()
    }

    /// Whether the blocks have individual sizes.
    #[must_use]
    pub fn is_vl(&self) -> bool {
        self.blosc2_flags2().has(Blosc2Flags2::VL)
    }

    /// Whether the flags state that blocks are split into streams. Version 2 has further
    /// conditions, and leftover blocks are never split.
    #[must_use]
    pub const fn is_split(&self) -> bool {
        !self.flags().has(Flags::UNSPLIT)
    }

    /// Whether a dictionary follows the block starts.
    #[must_use]
    pub fn has_dict(&self) -> bool {
        self.blosc2_flags().has(Blosc2Flags::DICT)
            && matches!(self.kind(), Kind::Regular | Kind::Vl)
    }

    /// Whether the chunk is a lazy one: in memory only, without data.
    #[must_use]
    pub fn is_lazy(&self) -> bool {
        self.blosc2_flags().has(Blosc2Flags::LAZY)
    }

    /// Whether the content is statistics instead of data.
    #[must_use]
    pub fn is_instrumented(&self) -> bool {
        self.blosc2_flags().has(Blosc2Flags::INSTRUMENTED)
    }

    /// Number of blocks of the data, according to the stored block size.
    #[must_use]
    pub fn nblocks(&self) -> usize {
        if self.is_vl() { self.blocksize() } else { self.nbytes().div_ceil(self.blocksize()) }
    }

    /// The first half.
    pub(crate) const fn raw(&self) -> &RawHeader {
        &self.raw
    }

    /// The same with another version.
    pub(crate) const fn with_version(mut self, version: u8) -> Self {
        self.raw.version = version;
        self
    }

    /// The same with another version of the streams.
    pub(crate) const fn with_versionlz(mut self, versionlz: u8) -> Self {
        self.raw.versionlz = versionlz;
        self
    }

    /// The same with other flags.
    pub(crate) const fn with_flags(mut self, flags: Flags) -> Self {
        self.raw.flags = flags.0;
        self
    }

    /// The same with another block size (bytes), which is at least 1.
    pub(crate) fn with_blocksize(mut self, blocksize: usize) -> Self {
        self.raw.blocksize = field(blocksize.max(1)).into();
        self
    }

    /// The same with another size of the chunk (bytes).
    pub(crate) fn with_cbytes(mut self, cbytes: usize) -> Self {
        self.raw.cbytes = field(cbytes).into();
        self
    }

    /// The same with another second half.
    pub(crate) const fn with_extension(mut self, extension: RawExtension) -> Self {
        self.extension = extension;
        self
    }

    /// The same with other flags in the second half.
    pub(crate) const fn with_blosc2_flags(mut self, flags: Blosc2Flags) -> Self {
        self.extension.blosc2_flags = flags.0;
        self
    }

    /// The second half; zeros in a short header.
    pub(crate) const fn extension(&self) -> &RawExtension {
        &self.extension
    }

    /// Whether a copy's flags are set, but the body is no copy. C-Blosc2 to 3.3.5 sets them for
    /// data that are too short to compress, but compresses them anyway if a dictionary was
    /// requested; always split, as the flags state. If the sizes happen to be those of a copy, it
    /// cannot be detected.
    pub(crate) fn is_mislabelled(&self) -> bool {
        let up_front = self.flags().0 == Flags::EXTENDED | Flags::MEMCPYED;
        up_front && self.version() > 3 && self.is_small() && self.may_have_dict() && !self.is_copy()
    }

    fn is_small(&self) -> bool {
        (1..MIN_BUFFER_2).contains(&self.nbytes())
    }

    /// Whether dictionaries exist for the codec.
    fn may_have_dict(&self) -> bool {
        matches!(CodecId(self.extension.udcodec), CodecId::LZ4 | CodecId::LZ4HC | CodecId::ZSTD)
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
        if self.is_blosc1() { BitshuffleRule::Blosc1 } else { BitshuffleRule::Blosc2 }
    }

    fn short_pipeline(&self) -> Pipeline {
        let id = |bit, id: FilterId| if self.flags().has(bit) { id.0 } else { 0 };
        let delta = id(Flags::DELTA, FilterId::DELTA);
        let last =
            id(Flags::SHUFFLE, FilterId::SHUFFLE) | id(Flags::BITSHUFFLE, FilterId::BITSHUFFLE);
        Pipeline::from_slots([0, 0, 0, 0, delta, last], [0; 6])
    }

    #[inline(always)]
    fn check_kind(&self) -> Result<Kind> {
        let code = self.blosc2_flags().special_code();
        if code > SpecialKind::Uninit.code() {
            return Err(Error::corrupt(0x1f, Corrupt::SpecialKind { code }));
        }
        let kind = self.kind();
        // C-Blosc2 turns empty data into a memcpyed chunk, and with a dictionary also into one of
        // zeros.
        let has_two = match kind {
            Kind::Special(_) => self.is_memcpyed() || self.is_vl(),
            Kind::Memcpyed => self.is_vl(),
            Kind::Empty | Kind::Vl | Kind::Regular => false,
        };
        if has_two && self.nbytes() > 0 {
            return Err(self.kinds_exclude());
        }
        match kind {
            Kind::Memcpyed => self.check_memcpyed()?,
            Kind::Special(kind) if self.nbytes() > 0 => self.check_special(kind)?,
            Kind::Regular | Kind::Vl => self.check_blocksize()?,
            _ => {}
        }
        Ok(kind)
    }

    #[cold]
    fn kinds_exclude(&self) -> Error {
        let (flags2, blosc2_flags) = (self.blosc2_flags2().0, self.blosc2_flags().0);
        Error::corrupt(2, Corrupt::Kinds { flags: self.flags().0, flags2, blosc2_flags })
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

    /// Refuses the block sizes that C-Blosc refuses, except for one that is really used: C-Blosc2
    /// writes these chunks.
    fn check_blocksize(&self) -> Result<()> {
        let max = if self.is_blosc1() { MAX_BLOCKSIZE_1 } else { MAX_BLOCKSIZE_2 };
        let used = !self.is_vl() && self.blocksize() <= self.nbytes();
        if self.blocksize() <= max as usize || used {
            return Ok(());
        }
        Err(Error::corrupt(8, Corrupt::Blocksize { blocksize: self.raw.blocksize.get(), max }))
    }

    /// Checks the fields that have a range of their own.
    #[inline(always)]
    fn check_sizes(&self) -> Result<()> {
        let RawHeader { typesize, nbytes, blocksize, cbytes, .. } = &self.raw;
        let (nbytes, blocksize, cbytes) = (nbytes.get(), blocksize.get(), cbytes.get());
        if *typesize == 0 {
            return Err(Error::corrupt(3, Corrupt::Typesize));
        }
        if nbytes < 0 {
            return Err(Error::corrupt(4, Corrupt::Nbytes { nbytes }));
        }
        if blocksize < 1 {
            return Err(Error::corrupt(8, Corrupt::Blocksize { blocksize, max: MAX_BLOCKSIZE_2 }));
        }
        let header_len = self.header_len();
        if cbytes < 0 || self.cbytes() < header_len {
            return Err(Error::corrupt(0xc, Corrupt::Cbytes { cbytes, header_len }));
        }
        Ok(())
    }
}

impl RawExtension {
    /// The second half of a short header.
    pub(crate) const NONE: Self = Self {
        filters: [0; 6],
        udcodec: 0,
        compcode_meta: 0,
        filters_meta: [0; 6],
        blosc2_flags2: 0,
        blosc2_flags: 0,
    };

    /// All six slots in their stored form, also for version 3, which has five.
    const fn pipeline(&self) -> Pipeline {
        Pipeline::from_slots(self.filters, self.filters_meta)
    }

    /// The same with other filters.
    pub(crate) const fn with_pipeline(self, pipeline: Pipeline) -> Self {
        Self { filters: pipeline.ids(), filters_meta: pipeline.metas(), ..self }
    }
}

/// Versions 1 and 2 also restrict the other bytes. C-Blosc 1.14 and later refuse the rest, and
/// version 1, which releases before 1.0 wrote and those up to 1.13 read as 2.
fn check_version(raw: &RawHeader) -> Result<()> {
    match raw.version {
        1 | 2 => check_blosc1(raw),
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

/// The reason why fewer than 16 bytes, or fewer than the flags require, are no header.
#[cold]
pub(crate) fn too_short(bytes: &[u8]) -> Error {
    let len = bytes.len();
    let too_short = |needed| Error::corrupt(len, Corrupt::TooShort { len, needed });
    match RawHeader::ref_from_prefix(bytes) {
        Ok((raw, _)) => check_version(raw).err().unwrap_or_else(|| too_short(ChunkHeader::MAX_LEN)),
        Err(_) => too_short(ChunkHeader::MIN_LEN),
    }
}

const fn header_len(flags: Flags) -> usize {
    if flags.is_extended() { ChunkHeader::MAX_LEN } else { ChunkHeader::MIN_LEN }
}

/// Version 3 has five slots; the sixth byte is not a filter.
fn without_slot_5(pipeline: &Pipeline) -> Pipeline {
    let (mut ids, mut metas) = (pipeline.ids(), pipeline.metas());
    ids[5] = 0;
    metas[5] = 0;
    Pipeline::from_slots(ids, metas)
}

/// The codec of a format code.
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

/// The size of a chunk or of its data, which fits a header field.
pub(crate) fn field(size: usize) -> i32 {
    i32::try_from(size).unwrap_or(i32::MAX)
}

/// Greatest block size (bytes) that readers of Blosc 1 accept.
pub(crate) const MAX_BLOCKSIZE_1: u32 = 715_827_542;
/// Greatest block size (bytes) that readers of Blosc2 accept, and greatest number of VL-blocks.
pub(crate) const MAX_BLOCKSIZE_2: u32 = 536_866_816;
/// Shortest stream (bytes) that Blosc 1 splits a block into; also the shortest data that it
/// compresses.
pub(crate) const MIN_BUFFER_1: usize = 128;
/// The same for Blosc2.
pub(crate) const MIN_BUFFER_2: usize = 32;

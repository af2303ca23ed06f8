//! The checked header, one for all versions ("Header" in the format document).

use zerocopy::{FromBytes, IntoBytes};

use crate::raw::{MAGIC, RawHeader, RawHeader1, RawHeaderRc, RawPrefix};
use crate::{Checksum, Corrupt, Error, Field, Part, Result};

/// The most data of a chunk (bytes): the limit of Blosc 1.
pub const MAX_CHUNKSIZE: u32 = i32::MAX as u32 - 16;

/// The header of a file.
///
/// Its invariants:
/// * sizes are at most [`MAX_CHUNKSIZE`], `nchunks + max_app_chunks` fits an `i64`;
/// * a file with offsets has a known number of chunks, and only such a file has reserved offsets;
/// * in version 3, `last_chunk` is not larger than `chunk_size` if both are known.
///
/// Fields that a version lacks have the value for unknown or empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub(crate) version: Version,
    pub(crate) offsets: bool,
    pub(crate) metadata: bool,
    pub(crate) checksum: Checksum,
    pub(crate) typesize: Option<u8>,
    pub(crate) chunksize: Option<u32>,
    pub(crate) last_chunk: Option<u32>,
    pub(crate) nchunks: Option<u64>,
    pub(crate) max_app_chunks: u64,
    /// Whether reserved bytes are set, in a version where that is no error.
    pub(crate) reserved_set: bool,
}

/// The version of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Version {
    /// The 8-byte header of the release candidates of 0.1.0, which had no version.
    Rc,
    /// Version 1: a number of chunks and the chunks. Releases up to 0.1.1, and bcolz.
    V1,
    /// Version 2: with checksums and offsets. Releases up to 0.2.1.
    V2,
    /// Version 3: with metadata and reserved offsets. All later releases.
    V3,
}

impl Version {
    /// The number in the file; 0 where there is none.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Bytes of the header.
    #[must_use]
    pub const fn header_len(self) -> usize {
        match self {
            Self::Rc => size_of::<RawHeaderRc>(),
            Self::V1 => size_of::<RawHeader1>(),
            Self::V2 | Self::V3 => size_of::<RawHeader>(),
        }
    }
}

impl Header {
    /// Bytes that are always enough for [`parse`](Self::parse).
    pub const MAX_LEN: usize = size_of::<RawHeader>();

    /// Bytes that determine the length of the header.
    pub(crate) const PREFIX_LEN: usize = size_of::<RawPrefix>();

    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownVersion`], or [`Error::Corrupt`] for a contradiction to the invariants
    /// above.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let version = Self::version_of(bytes)?;
        let bytes = bytes
            .get(..version.header_len())
            .ok_or_else(|| too_short(bytes, version.header_len()))?;
        match version {
            Version::V1 => parse_1(bytes),
            _ => parse_2_or_3(bytes, version),
        }
    }

    /// Reads the header of a release candidate, which only the caller can distinguish from the
    /// others.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the bytes are too few or do not begin with `blpk`.
    pub fn parse_rc(bytes: &[u8]) -> Result<Self> {
        let len = Version::Rc.header_len();
        let (raw, _) = RawHeaderRc::ref_from_prefix(bytes).map_err(|_| too_short(bytes, len))?;
        check_magic(raw.magic)?;
        Ok(Self { nchunks: Some(raw.nchunks.get().into()), ..Self::bare(Version::Rc) })
    }

    /// The version, and thus the length of the header, from its first eight bytes.
    pub(crate) fn version_of(bytes: &[u8]) -> Result<Version> {
        let (raw, _) =
            RawPrefix::ref_from_prefix(bytes).map_err(|_| too_short(bytes, Self::PREFIX_LEN))?;
        check_magic(raw.magic)?;
        match raw.format_version {
            1 => Ok(Version::V1),
            2 => Ok(Version::V2),
            3 => Ok(Version::V3),
            version => Err(Error::UnknownVersion { version }),
        }
    }

    /// The header in the form of version 3, the only one that is written.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::MAX_LEN] {
        let raw = RawHeader {
            magic: MAGIC,
            format_version: Version::V3.number(),
            options: if self.offsets { OFFSETS_FLAG } else { 0 }
                | if self.metadata { METADATA_FLAG } else { 0 },
            checksum: self.checksum.id(),
            typesize: self.typesize.unwrap_or(1),
            chunk_size: to_i32(self.chunksize).into(),
            last_chunk: to_i32(self.last_chunk).into(),
            nchunks: self.nchunks.map_or(-1, to_i64).into(),
            max_app_chunks: to_i64(self.max_app_chunks).into(),
        };
        let mut bytes = [0; Self::MAX_LEN];
        bytes.copy_from_slice(raw.as_bytes());
        bytes
    }

    /// The version of the format.
    #[must_use]
    pub const fn version(&self) -> Version {
        self.version
    }

    /// Whether there is an offsets section.
    #[must_use]
    pub const fn has_offsets(&self) -> bool {
        self.offsets
    }

    /// Whether there is a metadata section.
    #[must_use]
    pub const fn has_metadata(&self) -> bool {
        self.metadata
    }

    /// The checksum of the chunks.
    #[must_use]
    pub const fn checksum(&self) -> Checksum {
        self.checksum
    }

    /// Bytes of an item by the writer's option, for information: the chunks have their own
    /// typesize, and 0 to 255 occur. `None` in versions that do not store it.
    #[must_use]
    pub const fn typesize(&self) -> Option<u8> {
        self.typesize
    }

    /// Data in each chunk but the last (bytes), as stored: `None` if unknown. In version 2 it is 0
    /// for a single chunk.
    #[must_use]
    pub const fn chunksize(&self) -> Option<u32> {
        self.chunksize
    }

    /// Data in the last chunk (bytes); `None` if unknown. In version 2 it can be larger than
    /// `chunk_size`.
    #[must_use]
    pub const fn last_chunk(&self) -> Option<u32> {
        self.last_chunk
    }

    /// Number of chunks; `None` if unknown, which means all up to the end of the file.
    #[must_use]
    pub const fn nchunks(&self) -> Option<u64> {
        self.nchunks
    }

    /// Number of chunks that can be appended before the offsets are used up.
    #[must_use]
    pub const fn max_app_chunks(&self) -> u64 {
        self.max_app_chunks
    }

    /// Bytes of data in the whole file, if the header tells and they are less than 2^64.
    #[must_use]
    pub fn nbytes(&self) -> Option<u64> {
        let before_last = match self.nchunks? {
            0 => return Some(0),
            n => n.saturating_sub(1),
        };
        let before_last = match before_last {
            0 => 0,
            n => n.checked_mul(self.uniform_size()?.into())?,
        };
        before_last.checked_add(self.last_chunk?.into())
    }

    /// Bytes of data in every chunk but the last, if the header tells.
    pub(crate) fn uniform_size(&self) -> Option<u32> {
        // A version 2 file with one chunk stores 0.
        self.chunksize.filter(|_| self.version != Version::V2 || self.nchunks != Some(1))
    }

    /// A header of a version that stores only a number of chunks.
    pub(crate) const fn bare(version: Version) -> Self {
        Self {
            version,
            offsets: false,
            metadata: false,
            checksum: Checksum::None,
            typesize: None,
            chunksize: None,
            last_chunk: None,
            nchunks: None,
            max_app_chunks: 0,
            reserved_set: false,
        }
    }
}

fn parse_1(bytes: &[u8]) -> Result<Header> {
    let raw =
        RawHeader1::ref_from_bytes(bytes).map_err(|_| too_short(bytes, size_of::<RawHeader1>()))?;
    Ok(Header {
        nchunks: count_or_unknown(8, raw.nchunks.get())?,
        reserved_set: raw.reserved != [0; 3],
        ..Header::bare(Version::V1)
    })
}

fn parse_2_or_3(bytes: &[u8], version: Version) -> Result<Header> {
    let raw =
        RawHeader::ref_from_bytes(bytes).map_err(|_| too_short(bytes, size_of::<RawHeader>()))?;
    let known = if version == Version::V2 { OFFSETS_FLAG } else { OFFSETS_FLAG | METADATA_FLAG };
    if raw.options & !known != 0 {
        return Err(Error::corrupt(5, Corrupt::Options { options: raw.options, known }));
    }
    let id = raw.checksum;
    let header = Header {
        version,
        offsets: raw.options & OFFSETS_FLAG != 0,
        metadata: raw.options & METADATA_FLAG != 0,
        checksum: Checksum::from_id(id).ok_or(Error::corrupt(6, Corrupt::ChecksumId { id }))?,
        typesize: Some(raw.typesize),
        chunksize: size_or_unknown(8, Field::ChunkSize, raw.chunk_size.get())?,
        last_chunk: size_or_unknown(0xc, Field::LastChunk, raw.last_chunk.get())?,
        nchunks: count_or_unknown(0x10, raw.nchunks.get())?,
        max_app_chunks: max_app_chunks(raw, version)?,
        reserved_set: version == Version::V2 && raw.max_app_chunks.get() != 0,
    };
    check_sizes(&header)?;
    check_counts(&header)?;
    Ok(header)
}

/// Version 2 had reserved bytes there and no reserved offsets.
fn max_app_chunks(raw: &RawHeader, version: Version) -> Result<u64> {
    if version == Version::V2 {
        return Ok(0);
    }
    let value = raw.max_app_chunks.get();
    let range = Corrupt::Range { field: Field::MaxAppChunks, value, min: 0, max: i64::MAX };
    u64::try_from(value).map_err(|_| Error::corrupt(0x18, range))
}

/// Writers of version 2 could make the last chunk the largest.
fn check_sizes(header: &Header) -> Result<()> {
    match (header.chunksize, header.last_chunk) {
        (Some(chunksize), Some(last_chunk))
            if header.version == Version::V3 && last_chunk > chunksize =>
        {
            Err(Error::corrupt(0xc, Corrupt::LastLarger { last_chunk, chunksize }))
        }
        _ => Ok(()),
    }
}

fn check_counts(header: &Header) -> Result<()> {
    let max_app_chunks = header.max_app_chunks;
    let Some(nchunks) = header.nchunks else {
        return if header.offsets || max_app_chunks != 0 {
            Err(Error::corrupt(0x10, Corrupt::CountUnknown { max_app_chunks }))
        } else {
            Ok(())
        };
    };
    match nchunks.checked_add(max_app_chunks) {
        Some(sum) if i64::try_from(sum).is_ok() => Ok(()),
        _ => Err(Error::corrupt(0x10, Corrupt::ChunkCount { nchunks, max_app_chunks })),
    }
}

fn size_or_unknown(at: u64, field: Field, value: i32) -> Result<Option<u32>> {
    match u32::try_from(value) {
        Ok(size) if size <= MAX_CHUNKSIZE => Ok(Some(size)),
        _ if value == -1 => Ok(None),
        _ => {
            let (value, max) = (value.into(), MAX_CHUNKSIZE.into());
            Err(Error::corrupt(at, Corrupt::Range { field, value, min: -1, max }))
        }
    }
}

fn count_or_unknown(at: u64, value: i64) -> Result<Option<u64>> {
    let range = Corrupt::Range { field: Field::Nchunks, value, min: -1, max: i64::MAX };
    match u64::try_from(value) {
        Ok(count) => Ok(Some(count)),
        Err(_) if value == -1 => Ok(None),
        Err(_) => Err(Error::corrupt(at, range)),
    }
}

fn check_magic(found: [u8; 4]) -> Result<()> {
    if found == MAGIC { Ok(()) } else { Err(Error::corrupt(0, Corrupt::Magic { found })) }
}

fn too_short(bytes: &[u8], needed: usize) -> Error {
    // Says that the file is not Bloscpack, rather than that it is too short.
    match bytes.first_chunk::<4>() {
        Some(&found) if found != MAGIC => Error::corrupt(0, Corrupt::Magic { found }),
        _ => {
            let (needed, left) = (needed as u64, bytes.len() as u64);
            Error::corrupt(0, Corrupt::Truncated { part: Part::Header, needed, left })
        }
    }
}

fn to_i32(size: Option<u32>) -> i32 {
    size.and_then(|size| i32::try_from(size).ok()).unwrap_or(-1)
}

fn to_i64(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Option bit: there is an offsets section.
const OFFSETS_FLAG: u8 = 1;
/// Option bit: there is a metadata section.
const METADATA_FLAG: u8 = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A valid header of version 3, with one byte or more changed.
    fn changed(changes: &[(usize, &[u8])]) -> Vec<u8> {
        let mut bytes =
            b"blpk\x03\x01\x01\x08\0\x10\0\0\0\x01\0\0\x05\0\0\0\0\0\0\0\x32\0\0\0\0\0\0\0"
                .to_vec();
        for (at, new) in changes {
            bytes[*at..at + new.len()].copy_from_slice(new);
        }
        bytes
    }

    fn error(bytes: &[u8]) -> (u64, Corrupt) {
        match Header::parse(bytes) {
            Err(Error::Corrupt { at, what }) => (at, what),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn version_3_has_all_fields() {
        let header = Header::parse(&changed(&[])).unwrap();
        assert_eq!((header.version(), header.version().number()), (Version::V3, 3));
        assert_eq!((header.has_offsets(), header.has_metadata()), (true, false));
        assert_eq!((header.checksum(), header.typesize()), (Checksum::Adler32, Some(8)));
        assert_eq!((header.chunksize(), header.last_chunk()), (Some(4096), Some(256)));
        assert_eq!((header.nchunks(), header.max_app_chunks()), (Some(5), 50));
        assert_eq!(header.nbytes(), Some(4 * 4096 + 256));
    }

    #[test]
    fn version_2_knows_no_reserve_and_no_order_of_sizes() {
        let bytes = changed(&[(4, &[2]), (12, &[1, 0x10]), (24, &[9])]);
        let header = Header::parse(&bytes).unwrap();
        assert_eq!((header.last_chunk(), header.max_app_chunks()), (Some(4097), 0));
        assert!(header.reserved_set);
        let single = Header::parse(&changed(&[(4, &[2]), (8, &[0, 0]), (16, &[1])])).unwrap();
        assert_eq!((single.nbytes(), single.uniform_size()), (Some(256), None));
        assert_eq!(
            error(&changed(&[(4, &[2]), (5, &[3])])),
            (5, Corrupt::Options { options: 3, known: 1 })
        );
    }

    #[test]
    fn version_1_and_rc_have_a_count_only() {
        let header = Header::parse(b"blpk\x01\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff").unwrap();
        assert_eq!((header.version(), header.nchunks()), (Version::V1, None));
        assert_eq!(
            (header.checksum(), header.typesize(), header.nbytes()),
            (Checksum::None, None, None)
        );
        let header = Header::parse_rc(b"blpk\x03\0\0\0").unwrap();
        assert_eq!((header.version().number(), header.nchunks()), (0, Some(3)));
    }

    #[test]
    fn too_few_bytes_are_truncated_unless_they_are_foreign() {
        let cut = |needed, left| Corrupt::Truncated { part: Part::Header, needed, left };
        assert_eq!(error(b""), (0, cut(8, 0)));
        assert_eq!(error(&changed(&[])[..31]), (0, cut(32, 31)));
        assert_eq!(error(b"blpk\x01\0\0\0"), (0, cut(16, 8)));
        assert_eq!(error(b"PK\x03\x04"), (0, Corrupt::Magic { found: *b"PK\x03\x04" }));
        assert_eq!(error(&changed(&[(3, b"X")])), (0, Corrupt::Magic { found: *b"blpX" }));
    }

    #[test]
    fn other_versions_are_unknown() {
        for version in [0, 4, 255] {
            let result = Header::parse(&changed(&[(4, &[version])]));
            assert!(matches!(result, Err(Error::UnknownVersion { version: v }) if v == version));
        }
    }

    #[test]
    fn ids_and_options_without_meaning_are_refused() {
        assert_eq!(error(&changed(&[(5, &[5])])), (5, Corrupt::Options { options: 5, known: 3 }));
        assert_eq!(
            error(&changed(&[(5, &[0x81])])),
            (5, Corrupt::Options { options: 0x81, known: 3 })
        );
        assert_eq!(error(&changed(&[(6, &[9])])), (6, Corrupt::ChecksumId { id: 9 }));
    }

    #[test]
    fn sizes_and_counts_have_ranges() {
        let size = |field, value| Corrupt::Range { field, value, min: -1, max: 2_147_483_631 };
        let minus_2 = (-2_i64).to_le_bytes();
        assert_eq!(error(&changed(&[(8, &minus_2[..4])])), (8, size(Field::ChunkSize, -2)));
        let large = 2_147_483_632_i32.to_le_bytes();
        assert_eq!(error(&changed(&[(12, &large)])), (12, size(Field::LastChunk, 2_147_483_632)));
        let larger = Corrupt::LastLarger { last_chunk: 4097, chunksize: 4096 };
        assert_eq!(error(&changed(&[(12, &[1, 0x10])])), (12, larger));
        let count = |field, min| Corrupt::Range { field, value: -2, min, max: i64::MAX };
        assert_eq!(error(&changed(&[(16, &minus_2)])), (16, count(Field::Nchunks, -1)));
        assert_eq!(error(&changed(&[(24, &minus_2)])), (24, count(Field::MaxAppChunks, 0)));
        let (nchunks, max_app_chunks) = (5, i64::MAX as u64);
        let sum = Corrupt::ChunkCount { nchunks, max_app_chunks };
        assert_eq!(error(&changed(&[(24, &i64::MAX.to_le_bytes())])), (16, sum));
    }

    #[test]
    fn an_unknown_count_allows_no_offsets() {
        let unknown = (-1_i64).to_le_bytes();
        assert_eq!(
            error(&changed(&[(16, &unknown)])),
            (16, Corrupt::CountUnknown { max_app_chunks: 50 })
        );
        let zero = [0; 8];
        assert_eq!(
            error(&changed(&[(5, &[0]), (16, &unknown)])),
            (16, Corrupt::CountUnknown { max_app_chunks: 50 })
        );
        let streamed = changed(&[(5, &[0]), (8, &[0xff; 8]), (16, &unknown), (24, &zero)]);
        let header = Header::parse(&streamed).unwrap();
        assert_eq!((header.nchunks(), header.chunksize(), header.last_chunk()), (None, None, None));
        assert_eq!(header.to_bytes()[..], streamed);
    }

    #[test]
    fn sizes_that_cannot_be_counted_are_unknown() {
        let header = Header::parse(&changed(&[(16, &[0xff; 7]), (24, &[0; 8])])).unwrap();
        assert_eq!(header.nbytes(), None);
    }

    proptest! {
        #[test]
        fn what_parses_is_written_back(bytes in prop::array::uniform32(any::<u8>()), small in any::<bool>()) {
            let mut bytes = bytes;
            bytes[..5].copy_from_slice(b"blpk\x03");
            bytes[5] &= 3;
            bytes[6] %= 9;
            if small {
                for at in [11, 15, 23, 31] {
                    bytes[at] = 0;
                }
            }
            if let Ok(header) = Header::parse(&bytes) {
                prop_assert_eq!(header.to_bytes(), bytes);
            }
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..40), blpk in any::<bool>()) {
            let mut bytes = bytes;
            if blpk && bytes.len() > 4 {
                bytes[..4].copy_from_slice(b"blpk");
                bytes[4] %= 4;
            }
            let _ = Header::parse(&bytes);
            let _ = Header::parse_rc(&bytes);
        }
    }
}

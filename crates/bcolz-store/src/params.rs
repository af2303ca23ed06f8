//! Options for reading data sets, and compression parameters of arrays.

use blosc_chunk::{CodecId, DParams, Level, Pipeline, Target, setters};
use blosc_container::{Budget, checksums::Mismatch};
use blosc_io::LockWait;

setters! {
/// How to read a data set.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OpenOptions {
    /// Parameters for decoding chunks. Their default refuses chunks of more than 1 GiB of data.
    pub dparams: DParams,
    /// The number of chunks to decode at once if several are requested, and of bytes to decode
    /// ahead. Default: as many chunks as processors, 64 MiB.
    pub budget: Budget,
    /// Bytes of decoded blocks that each array keeps, for rows that are read one by one. Default: 4
    /// MiB. A changed file is read again.
    pub cache: u64,
    /// The most bytes that one call may return in a new buffer. Default: no limit; the buffer grows
    /// only as chunks are found.
    pub max_nbytes: u64,
    /// The treatment of a table with columns that cannot be used.
    pub broken_columns: BrokenColumns,
    /// How a writer waits for another one. Default: 60 seconds.
    pub lock: LockWait,
    /// The result of reading a file that does not match its checksum (`docs/formats/bcolz.md`,
    /// "Checksums"). Default: an error.
    pub mismatch: Mismatch,
}
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            dparams: DParams::default(),
            budget: Budget::default().max_memory(64 << 20),
            cache: 4 << 20,
            max_nbytes: u64::MAX,
            broken_columns: BrokenColumns::default(),
            lock: LockWait::default(),
            mismatch: Mismatch::default(),
        }
    }
}

/// The treatment of a table with columns that cannot be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BrokenColumns {
    /// Opening fails with the error of the first one.
    #[default]
    Refuse,
    /// They are left out, with a note.
    Skip,
}

setters! {
/// Compression of an array. The defaults are those of bcolz since 1.1.0: LZ4 at level 5 with
/// shuffle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StorageParams {
    /// 0 to 9.
    pub clevel: u8,
    /// The filter.
    pub shuffle: Shuffle,
    /// The codec.
    pub cname: Cname,
    /// Significant decimal digits to keep of floats; 0 for all.
    pub quantize: u8,
}
}

impl Default for StorageParams {
    fn default() -> Self {
        Self { clevel: 5, shuffle: Shuffle::Byte, cname: Cname::Lz4, quantize: 0 }
    }
}

impl StorageParams {
    /// The parameters of chunks with items of `typesize` bytes.
    pub(crate) fn to_chunk(self, typesize: usize) -> blosc_chunk::CParams {
        let filters = match self.shuffle {
            Shuffle::None => Pipeline::EMPTY,
            Shuffle::Byte => Pipeline::SHUFFLE,
            Shuffle::Bit => Pipeline::from_slots([0, 0, 0, 0, 0, 2], [0; 6]),
        };
        blosc_chunk::CParams::default()
            .target(Target::Blosc1_14)
            .codec(self.cname.codec())
            .clevel(Level::try_from(self.clevel).unwrap_or_default())
            .filters(filters)
            .typesize(typesize)
    }
}

/// The filter before the codec.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shuffle {
    /// None.
    None,
    /// Bytes of equal significance side by side.
    #[default]
    Byte,
    /// Bits of equal significance side by side. Releases before 1.0.0 return wrong data for it.
    Bit,
}

impl Shuffle {
    /// The number in `meta/storage`.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Byte => 1,
            Self::Bit => 2,
        }
    }
}

/// The codecs of bcolz.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cname {
    /// `blosclz`
    BloscLz,
    /// `lz4`
    #[default]
    Lz4,
    /// `lz4hc`
    Lz4Hc,
    /// `snappy`: missing in builds of the fork.
    Snappy,
    /// `zlib`
    Zlib,
    /// `zstd`: since 1.1.2.
    Zstd,
}

impl Cname {
    /// The codec of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        CNAMES.iter().find(|(_, known, _)| *known == name).map(|(cname, ..)| *cname)
    }

    /// Its name in `meta/storage`.
    #[must_use]
    pub fn name(self) -> &'static str {
        CNAMES.iter().find(|(cname, ..)| *cname == self).map_or("lz4", |(_, name, _)| name)
    }

    /// The name of a chunk's codec; a chunk does not distinguish LZ4HC from LZ4.
    pub(crate) fn of_codec(codec: CodecId) -> Option<Self> {
        CNAMES.iter().find(|(_, _, known)| *known == codec).map(|(cname, ..)| *cname)
    }

    fn codec(self) -> CodecId {
        CNAMES
            .iter()
            .find(|(cname, ..)| *cname == self)
            .map_or(CodecId::LZ4, |(_, _, codec)| *codec)
    }
}

const CNAMES: [(Cname, &str, CodecId); 6] = [
    (Cname::BloscLz, "blosclz", CodecId::BLOSCLZ),
    (Cname::Lz4, "lz4", CodecId::LZ4),
    (Cname::Lz4Hc, "lz4hc", CodecId::LZ4HC),
    (Cname::Snappy, "snappy", CodecId::SNAPPY),
    (Cname::Zlib, "zlib", CodecId::ZLIB),
    (Cname::Zstd, "zstd", CodecId::ZSTD),
];

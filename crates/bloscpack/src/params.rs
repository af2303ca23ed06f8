//! What callers may choose: how a file is read, written and appended to.

use blosc_chunk::{CParams, DParams, Level, Target, Threads};
use serde_json::Value;

use crate::Checksum;
use crate::metadata::MetadataOptions;

/// Upper bounds that are checked before memory is allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of data in the whole file. Default: any; one chunk at a time is held.
    pub max_nbytes: u64,
    /// Bytes of metadata, stored or inflated. Default: 64 MiB.
    pub max_metadata: u64,
    /// Chunks whose positions are held in memory, at 8 or 16 bytes each. Default: 2^26.
    pub max_chunks: u64,
}

impl Limits {
    /// No limits but those of the format.
    #[must_use]
    pub const fn none() -> Self {
        Self { max_nbytes: u64::MAX, max_metadata: u64::MAX, max_chunks: u64::MAX }
    }

    /// With another bound for the data (bytes).
    #[must_use]
    pub const fn max_nbytes(self, max_nbytes: u64) -> Self {
        Self { max_nbytes, ..self }
    }

    /// With another bound for metadata (bytes).
    #[must_use]
    pub const fn max_metadata(self, max_metadata: u64) -> Self {
        Self { max_metadata, ..self }
    }

    /// With another bound for the number of positions in memory.
    #[must_use]
    pub const fn max_chunks(self, max_chunks: u64) -> Self {
        Self { max_chunks, ..self }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_nbytes: u64::MAX, max_metadata: 64 << 20, max_chunks: 1 << 26 }
    }
}

/// How to read a file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Bounds for the file; those for a chunk are in `dparams`.
    pub limits: Limits,
    /// How chunks are decoded. Its default refuses chunks of more than 1 GiB of data.
    pub dparams: DParams,
    /// Whether digests are checked.
    pub digests: Digests,
    /// What to do with metadata.
    pub metadata: MetadataUse,
    /// What to do with offsets.
    pub offsets: OffsetsUse,
    /// Whether the header may be that of a release candidate.
    pub rc_header: RcHeader,
    /// How many chunks are decoded at once where several are asked for. Default: as many as there
    /// are processors.
    pub threads: Threads,
    /// Bytes of chunks and data to hold at once, if several chunks are decoded at once. Default:
    /// 256 MiB.
    pub max_memory: u64,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            dparams: DParams::default(),
            digests: Digests::default(),
            metadata: MetadataUse::default(),
            offsets: OffsetsUse::default(),
            rc_header: RcHeader::default(),
            threads: Threads::Auto,
            max_memory: DEFAULT_MEMORY,
        }
    }
}

/// One method for each field, to be chained.
impl ReadOptions {
    /// With other bounds.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// With other parameters for decoding chunks.
    #[must_use]
    pub fn dparams(self, dparams: DParams) -> Self {
        Self { dparams, ..self }
    }

    /// With or without a check of the digests.
    #[must_use]
    pub fn digests(self, digests: Digests) -> Self {
        Self { digests, ..self }
    }

    /// With another use of metadata.
    #[must_use]
    pub fn metadata(self, metadata: MetadataUse) -> Self {
        Self { metadata, ..self }
    }

    /// With another use of offsets.
    #[must_use]
    pub fn offsets(self, offsets: OffsetsUse) -> Self {
        Self { offsets, ..self }
    }

    /// With another idea of release candidates.
    #[must_use]
    pub fn rc_header(self, rc_header: RcHeader) -> Self {
        Self { rc_header, ..self }
    }

    /// With another number of chunks at once.
    #[must_use]
    pub fn threads(self, threads: Threads) -> Self {
        Self { threads, ..self }
    }

    /// With another bound for the chunks held at once (bytes).
    #[must_use]
    pub fn max_memory(self, max_memory: u64) -> Self {
        Self { max_memory, ..self }
    }
}

/// Whether digests are checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Digests {
    /// They are, before anything is decoded.
    #[default]
    Check,
    /// They are not.
    Ignore,
}

/// What to do with the metadata section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MetadataUse {
    /// It must be whole and JSON.
    #[default]
    Parse,
    /// It must be whole, and may be of any format: [`Metadata::text`](crate::Metadata::text).
    Raw,
    /// It is skipped.
    Ignore,
}

/// What to do with the offsets section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OffsetsUse {
    /// The chunks must be where it says, unless all of it is unset.
    #[default]
    Check,
    /// It is skipped: all chunks are found by walking, as the original does.
    Ignore,
}

/// Whether a file may begin with the 8-byte header of the release candidates of 0.1.0. It looks
/// like that of a later version if there are fewer than four chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RcHeader {
    /// If the file cannot be opened otherwise and is whole when seen as such. Needs random access;
    /// forward readers take it as `Never`.
    #[default]
    Detect,
    /// It does.
    Assume,
    /// It does not.
    Never,
}

/// How to write a file. The default is that of the original program: chunks of 1 MiB, Adler-32,
/// offsets with a tenfold reserve; BloscLZ at level 7 with shuffle and items of 8 bytes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WriteOptions {
    /// Data of a chunk (bytes). A single smaller chunk sets the size for chunks to be appended.
    pub chunk_size: u32,
    /// The checksum of the chunks.
    pub checksum: Checksum,
    /// Whether to write offsets. They need a destination that can seek and a known `nbytes`.
    pub offsets: bool,
    /// How many offsets to keep free for appending.
    pub reserve: Reserve,
    /// The metadata, if any. `null` means none, as in the original.
    pub metadata: Option<Value>,
    /// How metadata are stored.
    pub metadata_options: MetadataOptions,
    /// How chunks are compressed: codec, level, filters, typesize. The target must be one of Blosc
    /// 1.
    pub cparams: CParams,
    /// Bytes of data that will be written, if known.
    pub nbytes: Option<u64>,
    /// How many chunks are compressed at once. The bytes do not depend on it. Default: as many as
    /// there are processors.
    pub threads: Threads,
    /// Bytes of chunks and data to hold at once, if several chunks are compressed at once.
    /// Default: 256 MiB.
    pub max_memory: u64,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            chunk_size: DEFAULT_CHUNK_SIZE,
            checksum: Checksum::default(),
            offsets: true,
            reserve: Reserve::default(),
            metadata: None,
            metadata_options: MetadataOptions::default(),
            cparams: default_cparams(),
            nbytes: None,
            threads: Threads::Auto,
            max_memory: DEFAULT_MEMORY,
        }
    }
}

/// One method for each field, to be chained.
impl WriteOptions {
    /// With chunks of another size (bytes of data).
    #[must_use]
    pub fn chunk_size(self, chunk_size: u32) -> Self {
        Self { chunk_size, ..self }
    }

    /// With another checksum.
    #[must_use]
    pub fn checksum(self, checksum: Checksum) -> Self {
        Self { checksum, ..self }
    }

    /// With or without offsets.
    #[must_use]
    pub fn offsets(self, offsets: bool) -> Self {
        Self { offsets, ..self }
    }

    /// With another reserve of offsets.
    #[must_use]
    pub fn reserve(self, reserve: Reserve) -> Self {
        Self { reserve, ..self }
    }

    /// With or without metadata.
    #[must_use]
    pub fn metadata(self, metadata: Option<Value>) -> Self {
        Self { metadata, ..self }
    }

    /// With metadata stored otherwise.
    #[must_use]
    pub fn metadata_options(self, metadata_options: MetadataOptions) -> Self {
        Self { metadata_options, ..self }
    }

    /// With other parameters of compression.
    #[must_use]
    pub fn cparams(self, cparams: CParams) -> Self {
        Self { cparams, ..self }
    }

    /// For so many bytes of data, or an unknown number.
    #[must_use]
    pub fn nbytes(self, nbytes: Option<u64>) -> Self {
        Self { nbytes, ..self }
    }

    /// With another number of chunks at once.
    #[must_use]
    pub fn threads(self, threads: Threads) -> Self {
        Self { threads, ..self }
    }

    /// With another bound for the chunks held at once (bytes).
    #[must_use]
    pub fn max_memory(self, max_memory: u64) -> Self {
        Self { max_memory, ..self }
    }
}

/// How many offsets to keep free for appending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reserve {
    /// So many times the number of chunks.
    Times(u64),
    /// So many.
    Entries(u64),
}

impl Default for Reserve {
    fn default() -> Self {
        Self::Times(10)
    }
}

impl Reserve {
    /// The reserve for `nchunks` chunks, cut where the sum would not fit an `i64`.
    pub(crate) fn entries(self, nchunks: u64) -> u64 {
        let wanted = match self {
            Self::Times(factor) => nchunks.saturating_mul(factor),
            Self::Entries(entries) => entries,
        };
        wanted.min((i64::MAX as u64).saturating_sub(nchunks))
    }
}

/// The compression that the original program uses if nothing else is said.
#[must_use]
pub fn default_cparams() -> CParams {
    let level = Level::try_from(7).unwrap_or_default();
    CParams::default().target(Target::Blosc1_14).clevel(level)
}

/// Data of a chunk unless something else is said: 1 MiB.
pub const DEFAULT_CHUNK_SIZE: u32 = 1 << 20;

const DEFAULT_MEMORY: u64 = 256 << 20;

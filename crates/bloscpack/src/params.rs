//! What callers may choose: how a file is read, written and appended to.

use blosc_chunk::{CParams, DParams, Level, Target};
use blosc_container::{Budget, checksums::Mismatch};
use serde_json::Value;

use crate::Checksum;

pub use crate::header::MAX_CHUNKSIZE;
use crate::metadata::MetadataOptions;

blosc_chunk::setters! {
    /// Upper bounds that are checked before memory is allocated.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct FileLimits {
        /// Bytes of data in the whole file. Default: any; one chunk at a time is held.
        pub max_nbytes: u64,
        /// Bytes of metadata, stored or inflated. Default: 64 MiB.
        pub max_metadata: u64,
        /// Chunks whose positions are held in memory, at 8 or 16 bytes each. Default: 2^26.
        pub max_chunks: u64,
    }
}

impl FileLimits {
    /// No limits but those of the format.
    #[must_use]
    pub const fn none() -> Self {
        Self { max_nbytes: u64::MAX, max_metadata: u64::MAX, max_chunks: u64::MAX }
    }
}

impl Default for FileLimits {
    fn default() -> Self {
        Self { max_nbytes: u64::MAX, max_metadata: 64 << 20, max_chunks: 1 << 26 }
    }
}

blosc_chunk::setters! {
    /// How to read a file.
    #[derive(Clone, Debug, Default)]
    #[non_exhaustive]
    pub struct ReadOptions {
        /// Bounds for the file; those for a chunk are in `dparams`.
        pub limits: FileLimits,
        /// How chunks are decoded. Its default refuses chunks of more than 1 GiB of data.
        pub dparams: DParams,
        /// How a read ends where a chunk is not the one that its digest was taken of. With
        /// [`Mismatch::Ignore`], [`BlpFile::read_at`](crate::BlpFile::read_at) reads no more than
        /// the blocks that it needs. Default: reading fails.
        pub mismatch: Mismatch,
        /// What to do with metadata.
        pub metadata: MetadataUse,
        /// What to do with offsets.
        pub offsets: OffsetsUse,
        /// Whether the header may be that of a release candidate.
        pub rc_header: RcHeader,
        /// Threads that decode, and bytes of chunks and data that are in memory at a time. A single
        /// chunk is always allowed.
        pub budget: Budget,
    }
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
    /// It is skipped: all chunks are found by walking, as Bloscpack 0.16.0 does.
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

blosc_chunk::setters! {
    /// How to write a file. The default is that of Bloscpack 0.16.0: chunks of 1 MiB, Adler-32,
    /// offsets with a tenfold reserve; BloscLZ at level 7 with shuffle and items of 8 bytes.
    #[derive(Clone, Debug)]
    #[non_exhaustive]
    pub struct WriteOptions {
        /// Data of a chunk (bytes). A single smaller chunk sets the size for chunks to be appended.
        pub chunksize: u32,
        /// The checksum of the chunks.
        pub checksum: Checksum,
        /// Whether to write offsets. They need a destination that can seek and a known `nbytes`.
        pub offsets: bool,
        /// How many offsets to keep free for appending.
        pub reserve: Reserve,
        /// The metadata, if any. `null` means none, as in Bloscpack 0.16.0.
        pub metadata: Option<Value>,
        /// How metadata are stored.
        pub metadata_options: MetadataOptions,
        /// How chunks are compressed: codec, level, filters, typesize; by default as Bloscpack
        /// 0.16.0 does. The target must be one of Blosc 1.
        pub cparams: CParams,
        /// Bytes of data that will be written, if known.
        pub nbytes: Option<u64>,
        /// Threads that compress, and bytes of chunks and data that are in memory at a time. The
        /// bytes of the file do not depend on it.
        pub budget: Budget,
    }
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            chunksize: DEFAULT_CHUNKSIZE,
            checksum: Checksum::default(),
            offsets: true,
            reserve: Reserve::default(),
            metadata: None,
            metadata_options: MetadataOptions::default(),
            cparams: default_cparams(),
            nbytes: None,
            budget: Budget::default(),
        }
    }
}

/// How many offsets to keep free for appending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reserve {
    /// A multiple of the number of chunks.
    Times(u64),
    /// A number of entries.
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

/// The compression that Bloscpack 0.16.0 uses by default.
pub(crate) fn default_cparams() -> CParams {
    let level = Level::try_from(7).unwrap_or_default();
    CParams::default().target(Target::Blosc1_14).clevel(level)
}

/// Data of a chunk unless something else is said: 1 MiB.
pub const DEFAULT_CHUNKSIZE: u32 = 1 << 20;

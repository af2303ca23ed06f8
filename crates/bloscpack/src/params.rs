//! Options for reading, writing and appending.

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
        /// Bytes of data in the whole file. Default: no limit; memory holds one chunk at a time.
        pub max_nbytes: u64,
        /// Bytes of metadata, stored or inflated. Default: 64 MiB.
        pub max_metadata: u64,
        /// Chunks whose positions are held in memory, at 8 or 16 bytes each. Default: 2^26.
        pub max_chunks: u64,
    }
}

impl FileLimits {
    /// No limits except those of the format.
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
    /// Options for reading a file.
    #[derive(Clone, Debug, Default)]
    #[non_exhaustive]
    pub struct ReadOptions {
        /// Limits for the file; the limits for a chunk are in `dparams`.
        pub limits: FileLimits,
        /// Parameters for decoding chunks. Their default refuses chunks of more than 1 GiB of data.
        pub dparams: DParams,
        /// The result of reading a chunk that does not match its digest. With [`Mismatch::Ignore`],
        /// [`BlpFile::read_at`](crate::BlpFile::read_at) reads only the blocks that it needs.
        /// Default: an error.
        pub mismatch: Mismatch,
        /// The treatment of metadata.
        pub metadata: MetadataUse,
        /// The treatment of offsets.
        pub offsets: OffsetsUse,
        /// Whether the header may be that of a release candidate.
        pub rc_header: RcHeader,
        /// Threads that decode, and bytes of chunks and data that memory may hold at a time. One
        /// chunk is always allowed.
        pub budget: Budget,
    }
}

/// The treatment of the metadata section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MetadataUse {
    /// It must be complete and JSON.
    #[default]
    Parse,
    /// It must be complete, and may be of any format: [`Metadata::text`](crate::Metadata::text).
    Raw,
    /// It is skipped.
    Ignore,
}

/// The treatment of the offsets section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OffsetsUse {
    /// The chunks must be at its positions, unless all of it is unset.
    #[default]
    Check,
    /// It is skipped: a walk finds all chunks, as in Bloscpack 0.16.0.
    Ignore,
}

/// Whether a file may begin with the 8-byte header of the release candidates of 0.1.0. That header
/// looks like one of a later version if there are fewer than four chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RcHeader {
    /// A file that cannot be opened otherwise is tried with this header, and must be complete.
    /// Needs random access; forward readers take it as `Never`.
    #[default]
    Detect,
    /// The file has this header.
    Assume,
    /// The file has another header.
    Never,
}

blosc_chunk::setters! {
    /// Options for writing a file. The defaults are those of Bloscpack 0.16.0: chunks of 1 MiB,
    /// Adler-32, offsets with a tenfold reserve; BloscLZ at level 7 with shuffle and items of 8
    /// bytes.
    #[derive(Clone, Debug)]
    #[non_exhaustive]
    pub struct WriteOptions {
        /// Data of a chunk (bytes). A single smaller chunk determines the size of appended chunks.
        pub chunksize: u32,
        /// The checksum of the chunks.
        pub checksum: Checksum,
        /// Whether to write offsets. They need a destination that can seek and a known `nbytes`.
        pub offsets: bool,
        /// The number of offsets to keep free for appending.
        pub reserve: Reserve,
        /// The metadata, if any. `null` means none, as in Bloscpack 0.16.0.
        pub metadata: Option<Value>,
        /// Options for storing the metadata.
        pub metadata_options: MetadataOptions,
        /// Compression of chunks: codec, level, filters, typesize; by default those of
        /// Bloscpack 0.16.0. The target must be one of Blosc 1.
        pub cparams: CParams,
        /// Bytes of data that will be written, if known.
        pub nbytes: Option<u64>,
        /// Threads that compress, and bytes of chunks and data that memory may hold at a time. The
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

/// The number of offsets to keep free for appending.
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
    /// The reserve for `nchunks` chunks, limited so that the sum fits an `i64`.
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

/// Default data of a chunk: 1 MiB.
pub const DEFAULT_CHUNKSIZE: u32 = 1 << 20;

//! What callers may choose: how a frame is opened, read, checked and written.

use core::fmt;
use std::{io, sync::Arc};

use blosc_chunk::{CParams, DParams};
use blosc_container::Budget;
pub use blosc_container::checksums::{Checksums, Mismatch, MismatchLog};
use blosc_io::{Durability, LockWait};

use crate::lock::Locking;

blosc_chunk::setters! {
/// How to open a frame.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OpenOptions {
    /// Position of the frame's first byte in the file. Default: 0.
    pub offset: u64,
    /// Most bytes of a header or trailer with its metalayers, and of a vlmetalayer. Default: 64
    /// MiB.
    pub max_metadata: u64,
    /// Most bytes of an index, 8 for a chunk. An index that is one repeated value counts as
    /// nothing. Default: 64 MiB.
    pub max_index: u64,
    /// How chunks are decoded: limits, codecs and filters.
    pub dparams: DParams,
    /// Whether to ask for the lock beside the frame, too. Default: where it is in use.
    pub locking: Locking,
    /// A sum that something around the frame has of its bytes. Default: none.
    pub outer_sum: OuterSum,
    /// How a read ends where a sealed frame has other bytes than those that were sealed
    /// (`docs/formats/seal.md`, "Readers"). Default: reading fails.
    pub mismatch: Mismatch,
}
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            offset: 0,
            max_metadata: 64 << 20,
            max_index: 64 << 20,
            dparams: DParams::default(),
            locking: Locking::default(),
            mismatch: Mismatch::default(),
            outer_sum: OuterSum::default(),
        }
    }
}

/// A sum that something around a frame has of its bytes, as an archive has of its members: a frame
/// without a seal is compared with it where all of it is read.
#[derive(Clone, Default)]
pub struct OuterSum(Option<Arc<CompareOuter>>);

/// Compares the bytes: the text tells what is wrong with them.
type CompareOuter = dyn Fn() -> io::Result<Option<String>> + Send + Sync;

impl OuterSum {
    /// A sum that `compare` compares with; the text that it returns tells what is wrong.
    pub fn new(compare: impl Fn() -> io::Result<Option<String>> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(compare)))
    }

    /// The difference, if there is a sum.
    pub(crate) fn compare(&self) -> io::Result<Option<String>> {
        self.0.as_ref().map_or(Ok(None), |compare| compare())
    }
}

impl fmt::Debug for OuterSum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OuterSum").field(&self.0.is_some()).finish()
    }
}

blosc_chunk::setters! {
/// How to edit a frame.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EditOptions {
    /// How it is opened.
    pub open: OpenOptions,
    /// What commits survive. Default: a loss of power.
    pub durability: Durability,
    /// How to wait for another writer of the frame. Default: 60 seconds.
    pub lock: LockWait,
    ;
    /// How new chunks are compressed; `None` (the default) for the parameters in the header. The
    /// typesize is that of the frame.
    pub cparams: Option<CParams>,
}
}

impl Default for EditOptions {
    fn default() -> Self {
        Self {
            open: OpenOptions::default(),
            durability: Durability::PowerLoss,
            cparams: None,
            lock: LockWait::default(),
        }
    }
}

impl EditOptions {
    /// With other parameters for new chunks.
    #[must_use]
    pub fn cparams(self, cparams: CParams) -> Self {
        Self { cparams: Some(cparams), ..self }
    }
}

blosc_chunk::setters! {
    /// How to compress a stream.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct CompressOptions {
        /// Threads and memory. One chunk must fit. The bytes written do not depend on it.
        pub budget: Budget,
        /// Stop after this number of bytes of data, rounded up to whole chunks; `None` (the
        /// default) for all data.
        pub max_nbytes: Option<u64>,
    }
}

blosc_chunk::setters! {
/// How to copy a super-chunk.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CopyOptions {
    /// Threads that decode and compress, and their working memory.
    pub budget: Budget,
    ;
    /// How chunks of the copy are compressed; `None` (the default) for what the header says, and
    /// as they are if their size stays. The typesize is that of the super-chunk, the block
    /// shape that of an array.
    pub cparams: Option<CParams>,
    /// Data of a chunk of the copy (bytes), rounded down to whole items; `None` (the default) for
    /// the sizes that chunks have.
    pub chunksize: Option<usize>,
    /// By which sums damage of the copy is noticed; `None` (the default) for those that the
    /// super-chunk has, or [`Checksums::Body`] if it has none.
    pub checksums: Option<Checksums>,
}
}

impl CopyOptions {
    /// With chunks compressed like this.
    #[must_use]
    pub fn cparams(self, cparams: CParams) -> Self {
        Self { cparams: Some(cparams), ..self }
    }

    /// With chunks of this size (bytes).
    #[must_use]
    pub fn chunksize(self, chunksize: usize) -> Self {
        Self { chunksize: Some(chunksize), ..self }
    }

    /// With these sums.
    #[must_use]
    pub fn checksums(self, checksums: Checksums) -> Self {
        Self { checksums: Some(checksums), ..self }
    }
}

blosc_chunk::setters! {
/// What a new frame is like.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FrameParams {
    /// Data of a chunk (bytes), rounded down to whole items; at least one. Default: 4 MiB.
    pub chunksize: usize,
    /// By which sums damage is noticed.
    pub checksums: Checksums,
    ;
    /// How chunks are compressed. Also written to the header, as defaults for appending.
    pub cparams: CParams,
    /// Names and contents of metalayers.
    pub metalayers: Vec<(String, Vec<u8>)>,
    /// Names and contents of vlmetalayers, not compressed.
    pub vlmetalayers: Vec<(String, Vec<u8>)>,
}
}

impl Default for FrameParams {
    fn default() -> Self {
        Self::new(CParams::default())
    }
}

impl FrameParams {
    /// A frame of chunks compressed like this, without metalayers.
    #[must_use]
    pub fn new(cparams: CParams) -> Self {
        Self {
            cparams,
            chunksize: 4 << 20,
            metalayers: vec![],
            vlmetalayers: vec![],
            checksums: Checksums::default(),
        }
    }

    /// With a further metalayer.
    #[must_use]
    pub fn metalayer(mut self, name: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        self.metalayers.push((name.into(), content.into()));
        self
    }

    /// With a further vlmetalayer.
    #[must_use]
    pub fn vlmetalayer(mut self, name: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        self.vlmetalayers.push((name.into(), content.into()));
        self
    }
}

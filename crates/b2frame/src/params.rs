//! Options of callers: how a frame is opened, read, checked and written.

use core::fmt;
use std::{io, sync::Arc};

use blosc_chunk::{CParams, DParams};
use blosc_container::Budget;
pub use blosc_container::checksums::{Checksums, Mismatch, MismatchLog};
use blosc_io::{Durability, LockWait};

use crate::lock::Locking;

blosc_chunk::setters! {
/// Options for opening a frame.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OpenOptions {
    /// Position of the frame's first byte in the file. Default: 0.
    pub offset: u64,
    /// The largest length of a header or trailer with its metalayers, and of a vlmetalayer (bytes).
    /// Default: 64 MiB.
    pub max_metadata: u64,
    /// The largest size of an index, 8 bytes for each chunk. An index that is one repeated value
    /// has size 0. Default: 64 MiB.
    pub max_index: u64,
    /// Options for decoding chunks: limits, codecs and filters.
    pub dparams: DParams,
    /// Whether to take the lock beside the frame as well. Default: if that lock is in use.
    pub locking: Locking,
    /// A sum of the frame's bytes in the container of the frame. Default: none.
    pub outer_sum: OuterSum,
    /// The result of a read if bytes of a sealed frame were changed (`docs/formats/seal.md`,
    /// "Readers"). Default: reading fails.
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

/// A sum of a frame's bytes in its container, as an archive has for its members. If all of a frame
/// without a seal is read, it is compared with this sum.
#[derive(Clone, Default)]
pub struct OuterSum(Option<Arc<CompareOuter>>);

/// Compares the bytes; the text describes a difference.
type CompareOuter = dyn Fn() -> io::Result<Option<String>> + Send + Sync;

impl OuterSum {
    /// A sum that `compare` checks; the text that it returns describes a difference.
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
/// Options for editing a frame.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EditOptions {
    /// Options for opening the frame.
    pub open: OpenOptions,
    /// The durability of commits. Default: they survive a loss of power.
    pub durability: Durability,
    /// The wait for another writer of the frame. Default: 60 seconds.
    pub lock: LockWait,
    ;
    /// Compression of new chunks; `None` (the default) for the parameters in the header. The frame
    /// sets the typesize.
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
    /// The options with other parameters for new chunks.
    #[must_use]
    pub fn cparams(self, cparams: CParams) -> Self {
        Self { cparams: Some(cparams), ..self }
    }
}

blosc_chunk::setters! {
    /// Options for compressing a stream.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct CompressOptions {
        /// Threads and memory. One chunk must fit. The written bytes do not depend on the budget.
        pub budget: Budget,
        /// Stop after this number of bytes of data, rounded up to whole chunks; `None` (the
        /// default) for all data.
        pub max_nbytes: Option<u64>,
    }
}

blosc_chunk::setters! {
/// Options for copying a super-chunk.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CopyOptions {
    /// Threads that decode and compress, and their working memory.
    pub budget: Budget,
    ;
    /// Compression of the copy's chunks. With `None` (the default), chunks stay as they are if
    /// their size stays, and otherwise the parameters in the header count. The super-chunk sets the
    /// typesize; an array sets the block shape.
    pub cparams: Option<CParams>,
    /// Uncompressed size of the copy's chunks (bytes), rounded down to whole items; `None` (the
    /// default) for the present sizes.
    pub chunksize: Option<usize>,
    /// The checksums that detect damage of the copy; `None` (the default) for the super-chunk's
    /// own, or [`Checksums::Body`] if it has none.
    pub checksums: Option<Checksums>,
}
}

impl CopyOptions {
    /// The options with this compression.
    #[must_use]
    pub fn cparams(self, cparams: CParams) -> Self {
        Self { cparams: Some(cparams), ..self }
    }

    /// The options with chunks of this size (bytes).
    #[must_use]
    pub fn chunksize(self, chunksize: usize) -> Self {
        Self { chunksize: Some(chunksize), ..self }
    }

    /// The options with these checksums.
    #[must_use]
    pub fn checksums(self, checksums: Checksums) -> Self {
        Self { checksums: Some(checksums), ..self }
    }
}

blosc_chunk::setters! {
/// Parameters of a new frame.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FrameParams {
    /// Uncompressed size of a chunk (bytes), rounded down to whole items; at least one item.
    /// Default: 4 MiB.
    pub chunksize: usize,
    /// The checksums that detect damage.
    pub checksums: Checksums,
    ;
    /// Compression of chunks. Also written to the header, as defaults for appending.
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
    /// A frame with this compression of chunks, without metalayers.
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

    /// The parameters with a further metalayer.
    #[must_use]
    pub fn metalayer(mut self, name: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        self.metalayers.push((name.into(), content.into()));
        self
    }

    /// The parameters with a further vlmetalayer.
    #[must_use]
    pub fn vlmetalayer(mut self, name: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        self.vlmetalayers.push((name.into(), content.into()));
        self
    }
}

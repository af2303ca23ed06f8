//! Functions of the caller that run before the first filter and after the last one.
//!
//! A hook belongs to one call, so that it can borrow anything: the number of the chunk, other
//! arrays, settings. Its errors are returned as [`Error::Hook`](crate::Error::Hook). With one
//! thread every hook runs in the caller's thread, and holds no lock that another hook could wait
//! for.

use core::error::Error as StdError;
use core::fmt;
use std::sync::Arc;

/// The result of a hook. Any error is accepted, also a text.
pub type HookResult<T = ()> = Result<T, Box<dyn StdError + Send + Sync>>;

/// The block that a hook works on.
#[derive(Debug)]
#[non_exhaustive]
pub struct BlockCx<'a> {
    /// The number of the block.
    pub nblock: usize,
    /// Where it starts (bytes from the start of the chunk's data).
    pub at: usize,
    /// Bytes of a block of this chunk. The last block may have less; blocks of individual sizes
    /// each have their own size here.
    pub blocksize: usize,
    /// The input of the hook. For a prefilter it is a part of the [`Source`], empty if that has no
    /// data; for a postfilter the decoded data. Otherwise it is as long as the destination.
    pub input: &'a [u8],
    /// The number of the worker: calls with the same number never run at the same time. It is below
    /// the number of threads, and 0 in the caller's thread.
    pub worker: usize,
    /// Memory of this worker, kept from call to call. Initially empty.
    pub scratch: &'a mut Vec<u8>,
}

/// The input of a prefilter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source<'a> {
    /// No data: the prefilter makes this number of bytes.
    Nothing(usize),
    /// Data, which the prefilter gets block by block.
    Data(&'a [u8]),
}

impl From<usize> for Source<'_> {
    fn from(nbytes: usize) -> Self {
        Self::Nothing(nbytes)
    }
}

impl<'a> From<&'a [u8]> for Source<'a> {
    fn from(data: &'a [u8]) -> Self {
        Self::Data(data)
    }
}

impl Source<'_> {
    /// Bytes of data that the chunk will have.
    #[must_use]
    pub const fn nbytes(&self) -> usize {
        match self {
            Self::Nothing(nbytes) => *nbytes,
            Self::Data(data) => data.len(),
        }
    }
}

/// The content that a prefilter gave to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Made {
    /// The bytes of the destination.
    Data,
    /// Zeros; the destination is ignored.
    Zeros,
}

/// Makes the data of a chunk while it is compressed, block by block.
///
/// Blocks are requested in any order, by several threads, and some more than once; a block must be
/// the same each time.
///
/// ```
/// use blosc_chunk::{CParams, Encoder, decompress, hooks::{BlockCx, Made}};
///
/// let squares = |cx: BlockCx<'_>, dest: &mut [u8]| {
///     for (i, item) in dest.chunks_exact_mut(8).enumerate() {
///         item.copy_from_slice(&((cx.at / 8 + i) as u64).pow(2).to_le_bytes());
///     }
///     Ok(Made::Data)
/// };
/// let mut encoder = Encoder::new(CParams::default())?;
/// let chunk = encoder.encode_with(800, &squares)?;
/// assert_eq!(decompress(&chunk)?[8 * 7..8 * 8], 49u64.to_le_bytes());
///
/// let upper = |cx: BlockCx<'_>, dest: &mut [u8]| {
///     dest.copy_from_slice(&str::from_utf8(cx.input)?.as_bytes().to_ascii_uppercase());
///     Ok(Made::Data)
/// };
/// assert_eq!(decompress(&encoder.encode_with(&b"text"[..], &upper)?)?, b"TEXT");
/// assert!(encoder.encode_with(&b"\xff"[..], &upper).is_err());
/// # Ok::<(), blosc_chunk::Error>(())
/// ```
pub trait Prefilter: Sync {
    /// Writes a block to `dest`, which initially holds anything.
    ///
    /// # Errors
    ///
    /// Any error; no chunk is made then.
    fn fill(&self, cx: BlockCx<'_>, dest: &mut [u8]) -> HookResult<Made>;
}

impl<F: Fn(BlockCx<'_>, &mut [u8]) -> HookResult<Made> + Sync> Prefilter for F {
    fn fill(&self, cx: BlockCx<'_>, dest: &mut [u8]) -> HookResult<Made> {
        self(cx, dest)
    }
}

/// Changes data after they are decoded, block by block and in several threads.
///
/// It gets whole blocks, even for a partial read. Runs and stored data have blocks of the size in
/// the header.
///
/// ```
/// use blosc_chunk::{CParams, Chunk, Scratch, compress, hooks::BlockCx};
///
/// let chunk = compress(b"some text, more text", &CParams::default().typesize(1))?;
/// let upper = |cx: BlockCx<'_>, dest: &mut [u8]| {
///     dest.copy_from_slice(&cx.input.to_ascii_uppercase());
///     Ok(())
/// };
/// let mut part = [0; 4];
/// Chunk::parse(&chunk)?.read_bytes_with(5..9, &mut part, &mut Scratch::default(), &upper)?;
/// assert_eq!(&part, b"TEXT");
/// # Ok::<(), blosc_chunk::Error>(())
/// ```
pub trait Postfilter: Sync {
    /// Writes the block for the caller to `dest`, which initially holds anything.
    ///
    /// # Errors
    ///
    /// Any error; the data of the chunk hold anything then.
    fn apply(&self, cx: BlockCx<'_>, dest: &mut [u8]) -> HookResult;
}

impl<F: Fn(BlockCx<'_>, &mut [u8]) -> HookResult + Sync> Postfilter for F {
    fn apply(&self, cx: BlockCx<'_>, dest: &mut [u8]) -> HookResult {
        self(cx, dest)
    }
}

/// The error of a hook. Copies of one error are equal.
#[derive(Clone)]
pub struct HookError(Arc<dyn StdError + Send + Sync>);

impl HookError {
    /// The error that the hook returned.
    #[must_use]
    pub fn get(&self) -> &(dyn StdError + Send + Sync + 'static) {
        &*self.0
    }
}

impl From<Box<dyn StdError + Send + Sync>> for HookError {
    fn from(error: Box<dyn StdError + Send + Sync>) -> Self {
        Self(Arc::from(error))
    }
}

impl PartialEq for HookError {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for HookError {}

impl fmt::Debug for HookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for HookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl StdError for HookError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source()
    }
}

/// Memory of a worker for hooks.
#[derive(Debug, Default)]
pub(crate) struct HookWorker {
    /// The number of the worker.
    pub(crate) number: usize,
    scratch: Vec<u8>,
}

impl HookWorker {
    /// Calls a hook for a block.
    pub(crate) fn call<T>(
        &mut self,
        (nblock, at, blocksize): (usize, usize, usize),
        input: &[u8],
        hook: impl FnOnce(BlockCx<'_>) -> HookResult<T>,
    ) -> Result<T, crate::Error> {
        let Self { number: worker, scratch } = self;
        hook(BlockCx { nblock, at, blocksize, input, worker: *worker, scratch })
            .map_err(|error| crate::Error::Hook { nblock: nblock as u64, source: error.into() })
    }
}

//! From data to a chunk ("Compressing a chunk" in the format document).
//!
//! The bytes depend on the data and the parameters only: every stream is compressed as if there were room for all of
//! it, blocks are stored in order, and whether the chunk fits is decided by the sum.

mod blocks;
mod plan;
mod special;
mod worker;

use crate::{CParams, ChunkHeader, Error, Result};

use blocks::Fit;
use plan::Plan;
use worker::Worker;

pub use special::special_chunk;

/// Compresses data to a chunk.
///
/// ```
/// use blosc_chunk::{CParams, compress, decompress};
///
/// let data: Vec<u8> = (0..1000u32).flat_map(u32::to_le_bytes).collect();
/// let chunk = compress(&data, &CParams::default().typesize(4))?;
/// assert!(chunk.len() < data.len() / 2);
/// assert_eq!(decompress(&chunk)?, data);
/// # Ok::<(), blosc_chunk::Error>(())
/// ```
///
/// # Errors
///
/// As [`Encoder::new`] and [`Encoder::encode`].
pub fn compress(src: &[u8], params: &CParams) -> Result<Vec<u8>> {
    Encoder::new(params.clone())?.encode(src)
}

/// Compresses data to a chunk at the start of `dest` and returns its size (bytes).
///
/// # Errors
///
/// As [`Encoder::new`] and [`Encoder::encode_into`].
pub fn compress_into(src: &[u8], dest: &mut [u8], params: &CParams) -> Result<usize> {
    Encoder::new(params.clone())?.encode_into(src, dest)
}

/// The greatest size (bytes) of a chunk with `len` bytes of data, but for VL-block chunks.
#[must_use]
pub const fn max_compressed_len(len: usize) -> usize {
    len.saturating_add(ChunkHeader::MAX_LEN)
}

/// Makes the data of a chunk while it is compressed, block by block.
///
/// Blocks are asked for in any order, by several threads, and some more than once; a block must be the same each time.
///
/// ```
/// use blosc_chunk::{CParams, Encoder, decompress};
///
/// let squares = |at: usize, dest: &mut [u8]| {
///     for (i, item) in dest.chunks_exact_mut(8).enumerate() {
///         item.copy_from_slice(&((at / 8 + i) as u64).pow(2).to_le_bytes());
///     }
/// };
/// let chunk = Encoder::new(CParams::default())?.encode_with(800, &squares)?;
/// assert_eq!(decompress(&chunk)?[8 * 7..8 * 8], 49u64.to_le_bytes());
/// # Ok::<(), blosc_chunk::Error>(())
/// ```
pub trait Prefilter: Sync {
    /// Writes the bytes from `at` on of the chunk's data, as many as `dest` has.
    fn fill(&self, at: usize, dest: &mut [u8]);
}

impl<F: Fn(usize, &mut [u8]) + Sync> Prefilter for F {
    fn fill(&self, at: usize, dest: &mut [u8]) {
        self(at, dest);
    }
}

/// Compresses chunks one after another with the same parameters and buffers.
///
/// ```
/// use blosc_chunk::{CParams, CodecId, Encoder};
///
/// let mut encoder = Encoder::new(CParams::default().codec(CodecId::LZ4).typesize(2))?;
/// let first = encoder.encode(&[1, 0, 2, 0, 3, 0, 4, 0])?;
/// let second = encoder.encode(&[0; 1 << 20])?;
/// assert_eq!((first.len(), second.len()), (8 + 32, 32)); // too few to compress, and a run of zeros
/// # Ok::<(), blosc_chunk::Error>(())
/// ```
#[derive(Debug)]
pub struct Encoder {
    params: CParams,
    workers: Vec<Worker>,
}

impl Encoder {
    /// An encoder with these parameters.
    ///
    /// # Errors
    ///
    /// As [`CParams::check`].
    pub fn new(params: CParams) -> Result<Self> {
        params.check()?;
        Ok(Self { params, workers: Vec::new() })
    }

    /// The parameters.
    #[must_use]
    pub const fn params(&self) -> &CParams {
        &self.params
    }

    /// Compresses data to a chunk.
    ///
    /// # Errors
    ///
    /// [`Error::Param`] if the data are more than a chunk can hold, [`Error::Codec`] and [`Error::Filter`] if a codec
    /// or filter does not work with its parameters or the data.
    pub fn encode(&mut self, src: &[u8]) -> Result<Vec<u8>> {
        let mut chunk = vec![0; max_compressed_len(src.len())];
        let cbytes = self.encode_into(src, &mut chunk)?;
        chunk.truncate(cbytes);
        chunk.shrink_to_fit();
        Ok(chunk)
    }

    /// Compresses data to a chunk at the start of `dest` and returns its size (bytes). [`max_compressed_len`] bytes
    /// are always enough, and more than that are never used.
    ///
    /// # Errors
    ///
    /// [`Error::Dest`] if the chunk does not fit, and otherwise as [`encode`](Self::encode); `dest` then holds
    /// anything.
    pub fn encode_into(&mut self, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        self.encode_input(Input::Slice(src), dest)
    }

    /// Compresses `nbytes` bytes that are made on the way.
    ///
    /// # Errors
    ///
    /// As [`encode`](Self::encode).
    pub fn encode_with(&mut self, nbytes: usize, prefilter: &dyn Prefilter) -> Result<Vec<u8>> {
        let mut chunk = vec![0; max_compressed_len(nbytes)];
        let cbytes = self.encode_input(Input::Made { nbytes, prefilter }, &mut chunk)?;
        chunk.truncate(cbytes);
        chunk.shrink_to_fit();
        Ok(chunk)
    }

    fn encode_input(&mut self, input: Input<'_>, dest: &mut [u8]) -> Result<usize> {
        let plan = Plan::new(&self.params, input.nbytes(), dest.len())?;
        let max = plan.header.header_len() + input.nbytes();
        let room = dest.len();
        let dest = if room < max { dest } else { &mut dest[..max] };
        let (Fit::Chunk(header) | Fit::Memcpyed(header)) = self.encode_body(&plan, input, dest)?;
        let (head, body) =
            dest.split_at_mut_checked(header.header_len()).ok_or(Error::Dest { needed: max, room })?;
        if header.is_memcpyed() {
            let data = body.get_mut(..input.nbytes()).ok_or(Error::Dest { needed: max, room })?;
            input.read(0, data);
        }
        head.copy_from_slice(&header.to_bytes());
        Ok(header.cbytes())
    }

    fn encode_body(&mut self, plan: &Plan, input: Input<'_>, dest: &mut [u8]) -> Result<Fit> {
        if plan.header.is_memcpyed() {
            return Ok(Fit::Memcpyed(plan.header));
        }
        blocks::encode(&self.params, plan, input, &mut self.workers, dest)
    }
}

/// Where the data come from.
#[derive(Clone, Copy)]
pub(crate) enum Input<'a> {
    Slice(&'a [u8]),
    Made { nbytes: usize, prefilter: &'a dyn Prefilter },
}

impl<'a> Input<'a> {
    fn nbytes(&self) -> usize {
        match self {
            Self::Slice(src) => src.len(),
            Self::Made { nbytes, .. } => *nbytes,
        }
    }

    fn read(&self, at: usize, dest: &mut [u8]) {
        match self {
            Self::Slice(src) => dest.copy_from_slice(&src[at..at + dest.len()]),
            Self::Made { prefilter, .. } => prefilter.fill(at, dest),
        }
    }

    /// Bytes of the data: in place, or made in the buffer.
    fn get<'b>(&self, range: core::ops::Range<usize>, buffer: &'b mut Vec<u8>) -> &'b [u8]
    where
        'a: 'b,
    {
        match self {
            Self::Slice(src) => &src[range],
            Self::Made { prefilter, .. } => {
                buffer.resize(range.len(), 0);
                prefilter.fill(range.start, buffer);
                buffer
            }
        }
    }
}

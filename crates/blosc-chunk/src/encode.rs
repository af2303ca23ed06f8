//! From data to a chunk ("Compressing a chunk" in the format document).
//!
//! The bytes depend only on the data and the parameters: every stream is compressed as if there
//! were space for all of it, blocks are stored in order, and the sum of the sizes decides whether
//! the chunk fits.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "works on the data of the caller and on sizes that `Plan` made from them"
)]

mod blocks;
mod dict;
mod plan;
mod slots;
mod special;
mod worker;

use crate::error::{Error, Result};
use crate::header::ChunkHeader;
use crate::hooks::{HookWorker, Made, Prefilter, Source};
use crate::jobs;
use crate::memory;
use crate::params::CParams;
use crate::tuner::ThreadTuner;

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

/// The greatest size (bytes) of a chunk with `len` bytes of data, except for VL-block chunks.
#[must_use]
pub const fn max_compressed_len(len: usize) -> usize {
    len.saturating_add(ChunkHeader::MAX_LEN)
}

/// Compresses chunks one after another with the same parameters and buffers.
///
/// ```
/// use blosc_chunk::{CParams, CodecId, Encoder};
///
/// let mut encoder = Encoder::new(CParams::default().codec(CodecId::LZ4).typesize(2))?;
/// let first = encoder.encode(&[1, 0, 2, 0, 3, 0, 4, 0])?;
/// let second = encoder.encode(&[0; 1 << 20])?;
/// // Too few to compress, and a run of zeros.
/// assert_eq!((first.len(), second.len()), (8 + 32, 32));
/// # Ok::<(), blosc_chunk::Error>(())
/// ```
#[derive(Debug)]
pub struct Encoder {
    params: CParams,
    workers: Vec<Worker>,
    tuner: ThreadTuner,
}

impl Encoder {
    /// An encoder with these parameters.
    ///
    /// # Errors
    ///
    /// As [`CParams::check`].
    pub fn new(params: CParams) -> Result<Self> {
        params.check()?;
        let mut params = params;
        if params.schunk_typesize.is_none() {
            params.filters = params.filters.with_typesize(params.stored_typesize().into());
        }
        Ok(Self { params, workers: Vec::new(), tuner: ThreadTuner::default() })
    }

    /// The parameters.
    #[must_use]
    pub const fn params(&self) -> &CParams {
        &self.params
    }

    /// Uses all threads of the parameters, even for short data: for tests.
    #[doc(hidden)]
    pub fn use_all_threads(&mut self) {
        self.tuner.use_all_threads();
    }

    /// Compresses data to a chunk.
    ///
    /// # Errors
    ///
    /// [`Error::Param`] if the data exceed a chunk, [`Error::Codec`] and [`Error::Filter`] if a
    /// codec or filter refuses its parameters or the data.
    pub fn encode(&mut self, src: &[u8]) -> Result<Vec<u8>> {
        let mut chunk = memory::zeros(max_compressed_len(src.len()))?;
        let cbytes = self.encode_into(src, &mut chunk)?;
        chunk.truncate(cbytes);
        chunk.shrink_to_fit();
        Ok(chunk)
    }

    /// Compresses data to a chunk at the start of `dest` and returns its size (bytes).
    /// [`max_compressed_len`] bytes always suffice, and no more are ever used.
    ///
    /// # Errors
    ///
    /// [`Error::Dest`] if the chunk does not fit, and otherwise as [`encode`](Self::encode); `dest`
    /// then holds anything.
    pub fn encode_into(&mut self, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        self.encode_input(Input::Slice(src), dest)
    }

    /// Compresses data that a prefilter makes from `source`: a slice, or the number of bytes to
    /// make. See [`Prefilter`] for an example.
    ///
    /// # Errors
    ///
    /// As [`encode`](Self::encode), and [`Error::Hook`] if the prefilter fails.
    pub fn encode_with<'s>(
        &mut self,
        source: impl Into<Source<'s>>,
        prefilter: &dyn Prefilter,
    ) -> Result<Vec<u8>> {
        let source = source.into();
        let mut chunk = memory::zeros(max_compressed_len(source.nbytes()))?;
        let cbytes = self.encode_with_into(source, prefilter, &mut chunk)?;
        chunk.truncate(cbytes);
        chunk.shrink_to_fit();
        Ok(chunk)
    }

    /// The same to a chunk at the start of `dest`; returns its size (bytes), as
    /// [`encode_into`](Self::encode_into) does.
    ///
    /// # Errors
    ///
    /// As [`encode_into`](Self::encode_into), and [`Error::Hook`] if the prefilter fails.
    pub fn encode_with_into<'s>(
        &mut self,
        source: impl Into<Source<'s>>,
        prefilter: &dyn Prefilter,
        dest: &mut [u8],
    ) -> Result<usize> {
        self.encode_input(Input::Made { source: source.into(), prefilter }, dest)
    }

    /// Compresses blocks of individual sizes to a VL-block chunk. They stay separate, and each can
    /// be read alone.
    ///
    /// ```
    /// use blosc_chunk::{CParams, Chunk, Encoder, Scratch, Target};
    ///
    /// let mut encoder = Encoder::new(CParams::default().typesize(1).target(Target::Blosc3_0))?;
    /// let bytes = encoder.encode_vl(&[b"variable", &[b'a'; 32], b"x"])?;
    /// let blocks = Chunk::parse(&bytes)?.as_vl()?;
    /// assert_eq!(blocks.read(1, &mut Scratch::default())?, [b'a'; 32]);
    /// # Ok::<(), blosc_chunk::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Param`] if the target is not [`Target::Blosc3_0`](crate::Target::Blosc3_0), if
    /// there are no blocks, if one is empty, or if they exceed a chunk; otherwise as
    /// [`encode`](Self::encode).
    pub fn encode_vl(&mut self, blocks: &[&[u8]]) -> Result<Vec<u8>> {
        require_write(&self.params)?;
        let plan = Plan::new_vl(&self.params, blocks)?;
        let (input, workers, tuner) = (Input::Blocks(blocks), &mut self.workers, &mut self.tuner);
        let dict = dict::choose(&self.params, &plan, input, workers)?;
        let plan = plan.with_dict(dict);
        let mut chunk = memory::zeros(plan.table_end() + 4 * blocks.len() + input.nbytes())?;
        let header = match blocks::encode(&self.params, &plan, input, workers, tuner, &mut chunk)? {
            Fit::Chunk(header) => header,
            // Stored blocks always fit.
            Fit::Memcpyed(_) => {
                return Err(Error::Dest { needed: chunk.len() + 1, room: chunk.len() });
            }
        };
        chunk.truncate(header.cbytes());
        chunk[..ChunkHeader::MAX_LEN].copy_from_slice(&header.to_bytes());
        chunk.shrink_to_fit();
        Ok(chunk)
    }

    /// The same for blocks that a prefilter changes; their lengths stay the same.
    ///
    /// # Errors
    ///
    /// As [`encode_vl`](Self::encode_vl), and [`Error::Hook`] if the prefilter fails.
    pub fn encode_vl_with(
        &mut self,
        blocks: &[&[u8]],
        prefilter: &dyn Prefilter,
    ) -> Result<Vec<u8>> {
        let hook = jobs::first_worker(&mut self.workers).hook();
        let mut changed = Vec::new();
        memory::reserve(&mut changed, blocks.len())?;
        let mut at = 0;
        for (nblock, block) in blocks.iter().enumerate() {
            let mut dest = memory::zeros(block.len())?;
            fill((nblock, at, block.len()), block, prefilter, hook, &mut dest)?;
            changed.push(dest);
            at += block.len();
        }
        let changed: Vec<&[u8]> = changed.iter().map(Vec::as_slice).collect();
        self.encode_vl(&changed)
    }

    fn encode_input(&mut self, input: Input<'_>, dest: &mut [u8]) -> Result<usize> {
        require_write(&self.params)?;
        let plan = Plan::new(&self.params, input.nbytes(), dest.len())?;
        let max = plan.header.header_len() + input.nbytes();
        let room = dest.len();
        let dest = if room < max { dest } else { &mut dest[..max] };
        let (Fit::Chunk(header) | Fit::Memcpyed(header)) = self.encode_body(&plan, input, dest)?;
        let (head, body) = dest
            .split_at_mut_checked(header.header_len())
            .ok_or(Error::Dest { needed: max, room })?;
        if header.is_memcpyed() {
            let data = body.get_mut(..input.nbytes()).ok_or(Error::Dest { needed: max, room })?;
            input.read_all(&self.params, &plan, &mut self.workers, data)?;
        }
        head.copy_from_slice(&header.to_bytes());
        Ok(header.cbytes())
    }

    fn encode_body(&mut self, plan: &Plan, input: Input<'_>, dest: &mut [u8]) -> Result<Fit> {
        if plan.header.is_memcpyed() {
            return Ok(Fit::Memcpyed(plan.header));
        }
        let dict = dict::choose(&self.params, plan, input, &mut self.workers)?;
        let plan = plan.clone().with_dict(dict);
        blocks::encode(&self.params, &plan, input, &mut self.workers, &mut self.tuner, dest)
    }
}

/// The check of builds that only read: all code after it is left out there.
#[inline(always)]
fn require_write(params: &CParams) -> Result<()> {
    let source = blosc_codecs::Error::Unsupported {
        id: params.codec,
        name: "compressing",
        needs: "the feature `write` of blosc-chunk",
    };
    if cfg!(feature = "write") { Ok(()) } else { Err(Error::Codec { at: 0, source }) }
}

/// The source of the data.
#[derive(Clone, Copy)]
pub(crate) enum Input<'a> {
    /// One piece, cut into blocks by the plan.
    Slice(&'a [u8]),
    /// Bytes that a prefilter makes when they are needed.
    Made { source: Source<'a>, prefilter: &'a dyn Prefilter },
    /// The blocks of a VL-block chunk.
    Blocks(&'a [&'a [u8]]),
}

impl<'a> Input<'a> {
    fn nbytes(&self) -> usize {
        match self {
            Self::Slice(src) => src.len(),
            Self::Made { source, .. } => source.nbytes(),
            Self::Blocks(blocks) => blocks.iter().map(|block| block.len()).sum(),
        }
    }

    /// Bytes of one block.
    fn block_nbytes(&self, plan: &Plan, nblock: usize) -> usize {
        match self {
            Self::Blocks(blocks) => blocks[nblock].len(),
            _ => plan.grid.range(nblock).len(),
        }
    }

    /// One block: a part of the input, or made in the buffer.
    fn block<'b>(&self, plan: &Plan, nblock: usize, made: &'b mut MadeBlock) -> Result<&'b [u8]>
    where
        'a: 'b,
    {
        Ok(match self {
            Self::Slice(src) => &src[plan.grid.range(nblock)],
            Self::Blocks(blocks) => blocks[nblock],
            Self::Made { source, prefilter } => {
                let MadeBlock { data, hook } = made;
                memory::resize(data, plan.grid.range(nblock).len())?;
                make(plan, nblock, (*source, *prefilter), hook, data)?;
                data
            }
        })
    }

    /// All data; not for blocks, which are never stored in one piece.
    fn read_all(
        &self,
        params: &CParams,
        plan: &Plan,
        workers: &mut Vec<Worker>,
        dest: &mut [u8],
    ) -> Result<()> {
        match self {
            Self::Slice(src) => {
                let jobs = jobs::jobs_for_nbytes(
                    params.threads.count_for(usize::MAX),
                    src.len(),
                    MIN_COPY_JOB_NBYTES,
                );
                jobs::copy(
                    (&params.threads, jobs),
                    params.registries.simd,
                    src.chunks(COPY_NBYTES).zip(dest.chunks_mut(COPY_NBYTES)),
                )?;
            }
            Self::Made { source, prefilter } => {
                let hook = jobs::first_worker(workers).hook();
                for (nblock, dest) in dest.chunks_mut(plan.grid.blocksize.max(1)).enumerate() {
                    make(plan, nblock, (*source, *prefilter), hook, dest)?;
                }
            }
            Self::Blocks(_) => {}
        }
        Ok(())
    }
}

/// A block that a prefilter made.
#[derive(Debug, Default)]
struct MadeBlock {
    data: Vec<u8>,
    hook: HookWorker,
}

/// Calls a prefilter to make a block.
fn make(
    plan: &Plan,
    nblock: usize,
    (source, prefilter): (Source<'_>, &dyn Prefilter),
    hook: &mut HookWorker,
    dest: &mut [u8],
) -> Result<()> {
    let range = plan.grid.range(nblock);
    let input = match source {
        Source::Nothing(_) => &[],
        Source::Data(data) => &data[range.clone()],
    };
    fill((nblock, range.start, plan.grid.blocksize), input, prefilter, hook, dest)
}

/// Calls a prefilter to fill the block with this number, start and block size.
fn fill(
    place: (usize, usize, usize),
    input: &[u8],
    prefilter: &dyn Prefilter,
    hook: &mut HookWorker,
    dest: &mut [u8],
) -> Result<()> {
    let made = hook.call(place, input, |cx| prefilter.fill(cx, dest))?;
    if made == Made::Zeros {
        dest.fill(0);
    }
    Ok(())
}

/// Bytes to copy that justify a separate thread.
const MIN_COPY_JOB_NBYTES: usize = 1 << 20;
/// Bytes that a thread copies at a time.
const COPY_NBYTES: usize = 128 << 10;

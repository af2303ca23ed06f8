//! New chunks from old ones and items: the work of a writer's threads.

use core::sync::atomic::{AtomicBool, Ordering};
use std::collections::HashMap;

use blosc_chunk::{
    CParams, Encoder,
    hooks::{BlockCx, HookResult, Made, Prefilter},
    max_compressed_len,
};
use blosc_container::{
    buffer::resized,
    pool::{Pool, Pooled, Reusable},
};
use blosc_io::zeroed;

use super::Geometry;
use super::axis::{Parts, Product, Span, Spans, for_each_row};
use super::geometry::{as_len, ravel, strides, unravel};
use super::rows::{Reach, Rows};
use crate::error::{Error, Param, Result};
use crate::schunk::{SChunk, Scratch};

/// The items to write.
#[derive(Clone, Copy, Debug)]
pub(super) enum Items<'a> {
    Bytes(&'a [u8]),
    Zeros,
}

impl Items<'_> {
    pub(super) fn check_len(&self, expected: u64) -> Result<()> {
        match self {
            Self::Bytes(items) if items.len() as u64 != expected => {
                Err(Param::BufferLen { len: items.len() as u64, expected }.into())
            }
            _ => Ok(()),
        }
    }

    fn copy_part(&self, at: u64, dest: &mut [u8]) {
        match self {
            Self::Bytes(items) => {
                let at = as_len(at);
                let items = items.get(at..at.saturating_add(dest.len()));
                items.into_iter().for_each(|items| dest.copy_from_slice(items));
            }
            Self::Zeros => dest.fill(0),
        }
    }
}

/// Memory for the data of a chunk or for a compressed chunk, which several chunks use in turn.
#[derive(Debug, Default)]
pub(super) struct Buffer(Vec<u8>);

impl Reusable for Buffer {
    /// Chunks of every size are written; [`KEPT_NBYTES`] bounds the memory that is kept.
    const MAX_KEPT_NBYTES: usize = usize::MAX;

    fn held_nbytes(&self) -> usize {
        self.0.capacity()
    }
}

/// Memory that is kept between calls (bytes).
pub(super) const KEPT_NBYTES: usize = 16 << 20;

/// The buffers and the encoder of a thread.
pub(super) struct Bench<'a> {
    scratch: Pooled<'a, Scratch>,
    /// The data of a chunk, if needed.
    data: Option<Pooled<'a, Buffer>>,
    /// The destination of compression.
    dest: Option<Pooled<'a, Buffer>>,
    encoder: Option<Encoder>,
}

/// A new chunk.
pub(super) struct NewChunk<'a> {
    pub nchunk: u64,
    bytes: Compressed<'a>,
}

/// A compressed chunk, or zeros.
enum Compressed<'a> {
    Zeros,
    /// At the start of a buffer, with its length (bytes).
    Start(Pooled<'a, Buffer>, usize),
    Copy(Vec<u8>),
}

/// A chunk shorter than its buffer divided by this is copied out of it.
const MAX_COPIED: usize = 4;

impl NewChunk<'_> {
    const fn zeros(nchunk: u64) -> Self {
        Self { nchunk, bytes: Compressed::Zeros }
    }

    /// The chunk; `None` for zeros.
    pub(super) fn bytes(&self) -> Result<Option<&[u8]>> {
        match &self.bytes {
            Compressed::Zeros => Ok(None),
            Compressed::Start(buffer, cbytes) => start_of(buffer, *cbytes).map(Some),
            Compressed::Copy(bytes) => Ok(Some(bytes)),
        }
    }
}

/// Makes new chunks of old ones.
pub(super) struct Patch<'a> {
    pub schunk: &'a SChunk,
    /// The sum of each old chunk by its number, if the seal has them.
    pub old_sums: Option<&'a HashMap<u64, u64>>,
    pub geometry: &'a Geometry,
    pub cparams: CParams,
    pub items: Items<'a>,
    /// Bytes from one item to the next in each dimension of the items.
    pub in_items: Vec<u64>,
    pub buffers: &'a Pool<Buffer>,
    /// Whether other chunks are made while a chunk waits for its write.
    pub is_parallel: bool,
}

impl<'a> Patch<'a> {
    /// Memory for making a chunk: the old data, the new data, and the compressed chunk (bytes).
    pub(super) fn weight(geometry: &Geometry) -> u64 {
        (chunk_nbytes(geometry) as u64).saturating_mul(3).max(1)
    }

    /// The buffers and the encoder of a thread.
    pub(super) fn bench(&self) -> Bench<'a> {
        Bench { scratch: self.schunk.pooled(), data: None, dest: None, encoder: None }
    }

    /// Writes these spans into a chunk and compresses it.
    pub(super) fn make_chunk(
        &self,
        spans: &[Span<'_>],
        bench: &mut Bench<'a>,
    ) -> Result<NewChunk<'a>> {
        let numbers: Vec<u64> = spans.iter().map(|span| span.number).collect();
        let nchunk = ravel(&numbers, self.geometry.grid());
        let nbytes = chunk_nbytes(self.geometry);
        let failed = |source| Error::Compress { nchunk, source };
        let Bench { scratch, data, dest, encoder } = bench;
        let is_covered = self.is_covered(spans);
        if is_covered && matches!(self.items, Items::Zeros) {
            return Ok(NewChunk::zeros(nchunk));
        }
        let mut dest = dest.take().unwrap_or_else(|| self.check_out(max_compressed_len(nbytes)));
        let cbytes = if is_covered {
            let made = MadeBlocks::new(self, spans);
            let cbytes = self
                .encoder(encoder)
                .and_then(|it| it.encode_with_into(nbytes, &made, &mut dest.0))
                .map_err(failed)?;
            if made.are_zeros.into_inner() {
                return Ok(NewChunk::zeros(nchunk));
            }
            cbytes
        } else {
            let data = data.get_or_insert_with(|| self.check_out(max_compressed_len(nbytes)));
            let data = resized(&mut data.0, nbytes);
            self.old_sums.map_or(Ok(()), |sums| self.schunk.compare_with(sums, nchunk))?;
            self.schunk.decode_chunk_into(nchunk, data, scratch)?;
            self.write_spans(spans, data)?;
            if data.iter().all(|byte| *byte == 0) {
                return Ok(NewChunk::zeros(nchunk));
            }
            self.encoder(encoder)
                .and_then(|it| it.encode_into(data, &mut dest.0))
                .map_err(failed)?
        };
        // Otherwise each waiting chunk would hold a buffer of its own, and the system has to clear
        // new memory for a whole chunk.
        let is_copied = self.is_parallel && cbytes < dest.0.len() / MAX_COPIED;
        let bytes = if is_copied {
            let copy = start_of(&dest, cbytes)?.to_vec();
            bench.dest = Some(dest);
            Compressed::Copy(copy)
        } else {
            Compressed::Start(dest, cbytes)
        };
        Ok(NewChunk { nchunk, bytes })
    }

    /// A buffer of at least `nbytes` bytes, whose content is unspecified.
    fn check_out(&self, nbytes: usize) -> Pooled<'a, Buffer> {
        let mut buffer = self.buffers.check_out(Buffer::default);
        if buffer.0.len() < nbytes {
            buffer.0 = zeroed(nbytes);
        }
        buffer
    }

    /// The encoder of a thread, made on first use.
    fn encoder<'e>(
        &self,
        encoder: &'e mut Option<Encoder>,
    ) -> blosc_chunk::error::Result<&'e mut Encoder> {
        Ok(match encoder {
            Some(encoder) => encoder,
            None => encoder.insert(Encoder::new(self.cparams.clone().in_schunk())?),
        })
    }

    /// Whether every item of the chunk, except padding, is written.
    fn is_covered(&self, spans: &[Span<'_>]) -> bool {
        let lens = self.geometry.chunkshape().iter().zip(self.geometry.shape());
        spans.iter().zip(lens).all(|(span, (chunk, len))| {
            let inside = len.saturating_sub(span.origin).min(*chunk);
            span.axis.count_distinct() == inside
        })
    }

    /// The written positions in the blocks of a chunk along each dimension.
    fn block_spans<'s>(&self, chunk: &[Span<'s>]) -> Vec<Spans<'s>> {
        let blocks = chunk.iter().zip(self.geometry.blockshape());
        blocks.map(|(span, len)| Spans::new(span.axis, span.origin, *len)).collect()
    }

    /// Copies items to the data of a chunk.
    fn write_spans(&self, spans: &[Span<'_>], data: &mut [u8]) -> Result<()> {
        let block_nbytes = self.geometry.block_nbytes();
        for spans in Product::new(self.block_spans(spans)) {
            let numbers: Vec<u64> = spans.iter().map(|span| span.number).collect();
            let start =
                as_len(ravel(&numbers, self.geometry.blocks()).saturating_mul(block_nbytes));
            let block = data.get_mut(start..);
            let block = block.ok_or(Error::internal("a block lies outside of its chunk"))?;
            self.write_block(&spans, block);
        }
        Ok(())
    }

    /// Copies items to the data of a block.
    fn write_block(&self, spans: &[Span<'_>], block: &mut [u8]) {
        let in_block = strides(self.geometry.blockshape(), self.geometry.typesize());
        let parts = Parts { spans, in_block: &in_block, in_wanted: &self.in_items };
        match (self.items, Rows::new(parts)) {
            (Items::Bytes(items), Some(rows)) => {
                let reach = Reach::for_nbytes(items.len(), self.cparams.registries.simd);
                rows.write(block, items, reach);
            }
            _ => for_each_row(parts, &mut |to, from, len| {
                let row = block.get_mut(as_len(to)..as_len(to.saturating_add(len)));
                row.into_iter().for_each(|row| self.items.copy_part(from, row));
            }),
        }
    }
}

/// The data of a chunk whose items are all written. Each block is filled just before it is
/// compressed, while it stays in the nearest caches.
struct MadeBlocks<'a> {
    patch: &'a Patch<'a>,
    /// The blocks along each dimension that have items.
    spans: Vec<Vec<Span<'a>>>,
    /// Whether all blocks so far are zeros.
    are_zeros: AtomicBool,
}

impl<'a> MadeBlocks<'a> {
    fn new(patch: &'a Patch<'a>, chunk: &[Span<'a>]) -> Self {
        let spans = patch.block_spans(chunk).into_iter().map(Iterator::collect).collect();
        Self { patch, spans, are_zeros: AtomicBool::new(true) }
    }

    fn make(&self, nblock: u64, block: &mut [u8]) {
        let geometry = self.patch.geometry;
        let numbers = unravel(nblock, geometry.blocks());
        let spans = numbers.iter().zip(&self.spans);
        let spans =
            spans.map(|(number, spans)| spans.iter().find(|span| span.number == *number).copied());
        let spans: Vec<_> = spans.flatten().collect();
        let mut lens = spans.iter().zip(geometry.blockshape());
        if spans.len() < numbers.len() {
            return block.fill(0);
        }
        if lens.any(|(span, len)| span.axis.count_distinct() != *len) {
            block.fill(0);
        }
        self.patch.write_block(&spans, block);
        if self.are_zeros.load(Ordering::Relaxed) && block.iter().any(|byte| *byte != 0) {
            self.are_zeros.store(false, Ordering::Relaxed);
        }
    }
}

impl Prefilter for MadeBlocks<'_> {
    fn fill(&self, cx: BlockCx<'_>, mut dest: &mut [u8]) -> HookResult<Made> {
        let mut at = cx.at;
        let len = as_len(self.patch.geometry.block_nbytes()).max(1);
        while !dest.is_empty() {
            let (nblock, start) = ((at / len) as u64, at % len);
            let (part, rest) = dest.split_at_mut(dest.len().min(len - start));
            if part.len() == len {
                self.make(nblock, part);
            } else {
                let mut block = vec![0; len];
                self.make(nblock, &mut block);
                block
                    .get(start..start + part.len())
                    .into_iter()
                    .for_each(|from| part.copy_from_slice(from));
            }
            at += part.len();
            dest = rest;
        }
        Ok(Made::Data)
    }
}

/// The first bytes of a buffer.
fn start_of(buffer: &Buffer, len: usize) -> Result<&[u8]> {
    buffer.0.get(..len).ok_or(Error::internal("a chunk is longer than its buffer"))
}

/// Uncompressed size of a chunk, padding included (bytes).
fn chunk_nbytes(geometry: &Geometry) -> usize {
    let nblocks: u64 = geometry.blocks().iter().product();
    as_len(nblocks.saturating_mul(geometry.block_nbytes()))
}

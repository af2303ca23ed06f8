//! New chunks out of old ones and items: what the threads of a writer do.

use std::sync::{Mutex, MutexGuard, PoisonError};

use blosc_chunk::{CParams, Encoder, max_compressed_len};
use blosc_io::zeroed;

use super::Geometry;
use super::axis::{Product, Span, Spans, for_each_row};
use super::geometry::{as_len, ravel, strides};
use super::rows::Rows;
use crate::error::{Error, Param, Result};
use crate::schunk::{Pooled, SChunk, room};

/// What is written.
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

    fn put(&self, at: u64, dest: &mut [u8]) {
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

/// Memory for the data of chunks and for compressed chunks, from one to the next.
#[derive(Debug, Default)]
pub(super) struct Buffers(Mutex<Vec<Vec<u8>>>);

impl Buffers {
    /// What is kept from one call to the next (bytes).
    const MAX_KEPT: usize = 16 << 20;

    /// So many bytes, with whatever is in them.
    fn take(&self, nbytes: usize) -> Vec<u8> {
        let kept = self.lock().pop();
        kept.filter(|buffer| buffer.len() >= nbytes).unwrap_or_else(|| zeroed(nbytes))
    }

    pub(super) fn give(&self, buffer: Vec<u8>) {
        self.lock().push(buffer);
    }

    /// Leaves what is to be kept.
    pub(super) fn shrink(&mut self) {
        let mut room = Self::MAX_KEPT;
        self.lock().retain(|buffer| {
            let fits = (1..=room).contains(&buffer.len());
            room -= if fits { buffer.len() } else { 0 };
            fits
        });
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a thread makes chunks with.
pub(super) struct Bench<'a> {
    scratch: Pooled<'a>,
    /// The data of a chunk.
    data: Vec<u8>,
    encoder: Option<Encoder>,
    buffers: &'a Buffers,
}

impl Drop for Bench<'_> {
    fn drop(&mut self) {
        self.buffers.give(core::mem::take(&mut self.data));
    }
}

/// A compressed chunk at the start of a buffer, of no bytes for zeros.
pub(super) struct NewChunk {
    pub nchunk: u64,
    pub chunk: Vec<u8>,
    pub cbytes: usize,
}

/// Makes new chunks of old ones.
pub(super) struct Patch<'a> {
    pub schunk: &'a SChunk,
    pub geometry: &'a Geometry,
    pub cparams: CParams,
    pub items: Items<'a>,
    /// Bytes from one item to the next in each dimension of the items.
    pub in_items: Vec<u64>,
    pub buffers: &'a Buffers,
}

impl Patch<'_> {
    /// Bytes of memory for a chunk while it is made: as it was, as it will be, and the latter compressed.
    pub(super) fn weight(geometry: &Geometry) -> u64 {
        (chunk_nbytes(geometry) as u64).saturating_mul(3).max(1)
    }

    /// What a thread works with.
    pub(super) fn bench(&self) -> Bench<'_> {
        let (schunk, buffers) = (self.schunk, self.buffers);
        let data = buffers.take(max_compressed_len(chunk_nbytes(self.geometry)));
        Bench { scratch: schunk.pooled(), data, encoder: None, buffers }
    }

    /// The chunk with these spans written, compressed.
    pub(super) fn one_chunk(&self, spans: &[Span<'_>], bench: &mut Bench<'_>) -> Result<NewChunk> {
        let numbers: Vec<u64> = spans.iter().map(|span| span.number).collect();
        let nchunk = ravel(&numbers, self.geometry.grid());
        let Bench { scratch, data, encoder, .. } = bench;
        let data = room(data, chunk_nbytes(self.geometry));
        if !self.is_covered(spans) {
            self.schunk.decode_chunk_into(nchunk, data, scratch)?;
        } else if self.is_padded(spans) {
            data.fill(0);
        }
        self.put(spans, data);
        if data.iter().all(|byte| *byte == 0) {
            return Ok(NewChunk { nchunk, chunk: vec![], cbytes: 0 });
        }
        let failed = |source| Error::Compress { nchunk, source };
        let encoder = match encoder {
            Some(encoder) => encoder,
            None => encoder.insert(Encoder::new(self.cparams.clone()).map_err(failed)?),
        };
        let mut chunk = self.buffers.take(max_compressed_len(data.len()));
        let cbytes = encoder.encode_into(data, &mut chunk).map_err(failed)?;
        Ok(NewChunk { nchunk, chunk, cbytes })
    }

    /// Whether a chunk of which every item is written has bytes that are no items.
    fn is_padded(&self, spans: &[Span<'_>]) -> bool {
        let lens = self.geometry.chunkshape().iter().zip(self.geometry.blockshape());
        let mut lens = spans.iter().zip(lens);
        lens.any(|(span, (chunk, block))| span.axis.count_distinct() != *chunk || chunk % block != 0)
    }

    /// Whether every item of the chunk that is not padding is written.
    fn is_covered(&self, spans: &[Span<'_>]) -> bool {
        let lens = self.geometry.chunkshape().iter().zip(self.geometry.shape());
        spans.iter().zip(lens).all(|(span, (chunk, len))| {
            let inside = len.saturating_sub(span.origin).min(*chunk);
            span.axis.count_distinct() == inside
        })
    }

    /// Copies items to the data of a chunk.
    fn put(&self, spans: &[Span<'_>], data: &mut [u8]) {
        let block_nbytes = self.geometry.block_nbytes();
        let in_block = strides(self.geometry.blockshape(), self.geometry.typesize());
        let blocks = spans.iter().zip(self.geometry.blockshape());
        let blocks = blocks.map(|(span, len)| Spans::new(span.axis, span.origin, *len));
        for spans in Product::new(blocks.collect()) {
            let numbers: Vec<u64> = spans.iter().map(|span| span.number).collect();
            let start = as_len(ravel(&numbers, self.geometry.blocks()).saturating_mul(block_nbytes));
            let block = data.get_mut(start..).unwrap_or_default();
            match (self.items, Rows::new(&spans, &in_block, &self.in_items)) {
                (Items::Bytes(items), Some(rows)) => rows.write(block, items),
                _ => for_each_row(&spans, &in_block, &self.in_items, &mut |to, from, len| {
                    let row = block.get_mut(as_len(to)..as_len(to.saturating_add(len)));
                    row.into_iter().for_each(|row| self.items.put(from, row));
                }),
            }
        }
    }
}

/// Data of a chunk, padding and all (bytes).
fn chunk_nbytes(geometry: &Geometry) -> usize {
    let nblocks: u64 = geometry.blocks().iter().product();
    as_len(nblocks.saturating_mul(geometry.block_nbytes()))
}

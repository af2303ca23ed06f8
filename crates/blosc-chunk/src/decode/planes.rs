//! Shuffled blocks with one byte plane per stream.
//!
//! A shuffle moves byte `i` of every item to plane `i`. A block that is split into `typesize`
//! streams has one plane in each, so the planes need not be copied to one buffer before the shuffle
//! is undone: a stored plane is read from the chunk. The result is that of
//! [`Worker::decode_block`](super::Worker), since `unshuffle_planes` undoes the shuffle of separate
//! planes.

use core::ops::Range;

use blosc_filters::{
    FilterCx, FilterId, FilterSlot, Reference,
    internal::{StoreHint, unshuffle_planes},
};

use super::Job;
use super::worker::{Worker, nstreams, resized};
use crate::error::Result;
use crate::source::{Blocks, StoredBlock};
use crate::stream::Payload;

/// The filter whose planes are streams.
pub(super) const SHUFFLE: FilterSlot = FilterSlot { id: FilterId::SHUFFLE, meta: 0 };
/// Blocks of wider items are not split.
const MAX_PLANES: usize = 16;

/// Whether shuffle is the only filter of a block of `len` bytes, and each plane is a stream.
pub(super) fn are_streams<B: Blocks>(job: &Job<'_, B>, block: StoredBlock<'_>, len: usize) -> bool {
    let layout = job.blocks.layout();
    let nplanes = layout.header.typesize();
    (2..=MAX_PLANES).contains(&nplanes)
        && len > 0
        && len.is_multiple_of(nplanes)
        && !layout.header.is_vl()
        && nstreams(layout, &block.streams(layout), block.bytes.len(), len) == nplanes
        && job.undo.only() == Some(SHUFFLE)
}

impl Worker {
    /// Undoes a shuffle whose planes are streams: stored planes are read from the chunk, the others
    /// are decoded to `filtered`. Same result as `decode_block`: see the head of this module.
    pub(super) fn unshuffle_streams<B: Blocks>(
        &mut self,
        job: &Job<'_, B>,
        block: StoredBlock<'_>,
        cx: &FilterCx<'_>,
        (filtered, dest): (&mut [u8], &mut [u8]),
    ) -> Result<()> {
        let mut planes: [&[u8]; MAX_PLANES] = [&[]; MAX_PLANES];
        let typesize = job.blocks.layout().header.typesize();
        if self.decode_planes(job, block, filtered, &mut planes[..typesize])? {
            unshuffle_planes(cx.simd, cx.stores, &planes[..typesize], dest);
            return Ok(());
        }
        Ok(job.undo.apply(cx, filtered, dest)?)
    }

    /// Finds the planes of a block, or decodes them to `filtered`; returns whether one of them is
    /// stored.
    fn decode_planes<'p, B: Blocks>(
        &mut self,
        job: &Job<'_, B>,
        block: StoredBlock<'p>,
        filtered: &'p mut [u8],
        planes: &mut [&'p [u8]],
    ) -> Result<bool> {
        let mut streams = block.streams(job.blocks.layout());
        let (width, mut is_any_stored) = (filtered.len() / planes.len(), false);
        for (plane, dest) in planes.iter_mut().zip(filtered.chunks_exact_mut(width)) {
            let (at, payload) = (streams.at, streams.next(width)?);
            is_any_stored |= matches!(payload, Payload::Stored(_));
            *plane = self.decode_plane(job, (payload, at), dest)?;
        }
        Ok(is_any_stored)
    }

    /// A plane: in the chunk if it is stored, or else decoded to `dest`.
    #[inline]
    pub(super) fn decode_plane<'p, B: Blocks>(
        &mut self,
        job: &Job<'_, B>,
        (payload, at): (Payload<'p>, usize),
        dest: &'p mut [u8],
    ) -> Result<&'p [u8]> {
        if let Payload::Stored(plane) = payload {
            return Ok(plane);
        }
        let all = 0..dest.len();
        self.decode_stream(job, (payload, at), dest, all, StoreHint::Cached)?;
        Ok(dest)
    }

    /// Decodes the streams of a shuffled block and passes the planes to `show`, which assembles the
    /// items itself; false if the block is not in planes.
    pub(super) fn show_planes<B: Blocks>(
        &mut self,
        job: &Job<'_, B>,
        nblock: usize,
        show: impl FnOnce(&[&[u8]]),
    ) -> Result<bool> {
        let nbytes = job.map.range(nblock).len();
        let typesize = job.blocks.layout().header.typesize();
        let is_shuffled = job.undo.only() == Some(SHUFFLE) && (2..=MAX_PLANES).contains(&typesize);
        if !is_shuffled || nbytes == 0 || !nbytes.is_multiple_of(typesize) {
            return Ok(false);
        }
        job.params.limits.check_nbytes(nbytes)?;
        let block = job.blocks.block(nblock)?;
        let mut filtered = core::mem::take(&mut self.filtered);
        let src = resized(&mut filtered, nbytes)?;
        let mut planes: [&[u8]; MAX_PLANES] = [&[]; MAX_PLANES];
        let planes = &mut planes[..typesize];
        let result = if are_streams(job, block, nbytes) {
            self.decode_planes(job, block, src, planes).map(drop)
        } else {
            self.decode_streams(job, block, src, StoreHint::Cached).map(|()| {
                let parts = src.chunks_exact(nbytes / typesize);
                planes.iter_mut().zip(parts).for_each(|(plane, part)| *plane = part);
            })
        };
        if result.is_ok() {
            show(planes);
        }
        self.filtered = filtered;
        result.map(|()| true).map_err(|error| error.in_block(nblock, block.at))
    }

    /// Decodes fields of all items of a shuffled block, each to its destination, and skips streams
    /// without a plane of these fields. False if the block is not in planes.
    pub(super) fn read_fields<B: Blocks>(
        &mut self,
        job: &Job<'_, B>,
        nblock: usize,
        fields: &[Range<usize>],
        dests: &mut [&mut [u8]],
    ) -> Result<bool> {
        let nbytes = job.map.range(nblock).len();
        let typesize = job.blocks.layout().header.typesize();
        if job.undo.only() != Some(SHUFFLE) || nbytes == 0 || !nbytes.is_multiple_of(typesize) {
            return Ok(false);
        }
        job.params.limits.check_nbytes(nbytes)?;
        let block = job.blocks.block(nblock)?;
        let width = nbytes / typesize;
        let planes = |field: &Range<usize>| field.start * width..field.end * width;
        let mut filtered = core::mem::take(&mut self.filtered);
        let src = resized(&mut filtered, nbytes)?;
        // From the first to the last byte of a field.
        let span = |stream: Range<usize>| {
            let inside = fields.iter().map(planes).map(|planes| {
                planes.start.max(stream.start)..planes.end.min(stream.end).max(stream.start)
            });
            let inside = inside.filter(|part| !part.is_empty());
            let whole = inside.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end));
            whole.map_or(0..0, |whole| whole.start - stream.start..whole.end - stream.start)
        };
        let decoded = self.decode_spans(job, block, src, StoreHint::Cached, span);
        let result = decoded.and_then(|()| {
            for (field, dest) in fields.iter().zip(dests) {
                // The planes of a field are a shuffled block whose items are only this field.
                let cx = job.filter_cx(Reference::FirstBlock, StoreHint::Cached);
                let cx = FilterCx { typesize: field.len(), ..cx };
                job.undo.apply(&cx, &mut src[planes(field)], dest)?;
            }
            Ok(true)
        });
        self.filtered = filtered;
        result.map_err(|error| error.in_block(nblock, block.at))
    }
}

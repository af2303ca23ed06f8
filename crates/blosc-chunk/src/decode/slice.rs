//! Decodes a part of a block without the rest: finds the bytes of the streams that contain it, and
//! undoes the filter for these bytes only.
//!
//! The result is the same part of the output of [`Worker::decode_block`](super::Worker). Without a
//! filter the part is one run of bytes. A shuffle or bitshuffle moves the items of the part to the
//! same bytes of every plane, so that these are a smaller shuffled block.

use core::ops::Range;

use blosc_filters::{
    BitshuffleRule, FilterCx, FilterId, Reference,
    internal::{StoreHint, Undo},
};

use super::Job;
use super::worker::{Worker, resized};
use crate::error::{Error, Result};
use crate::source::Blocks;

impl Worker {
    /// Decodes `part` of a block; `dest` is as long. If the filters allow it, only the necessary
    /// bytes of the streams are decoded.
    pub(super) fn read_part<B: Blocks>(
        &mut self,
        job: &Job<'_, B>,
        nblock: usize,
        reference: Reference<'_>,
        part: &Range<usize>,
        dest: &mut [u8],
    ) -> Result<()> {
        let nbytes = job.map.range(nblock).len();
        let cx = job.filter_cx(reference, StoreHint::Cached);
        if let Some(slice) = Slice::new(&job.undo, &cx, nbytes, part) {
            let mut filtered = core::mem::take(&mut self.filtered);
            let src = resized(&mut filtered, nbytes)?;
            let result = self.read_slice(job, nblock, &cx, &slice, (src, dest));
            self.filtered = filtered;
            return result;
        }
        let mut block = core::mem::take(&mut self.block);
        let whole = resized(&mut block, nbytes)?;
        let result = self.read_block(job, nblock, reference, whole, StoreHint::Cached);
        if result.is_ok() {
            dest.copy_from_slice(&block[part.clone()]);
        }
        self.block = block;
        result
    }

    /// Decodes a slice of a block. `filtered` is as long as the block.
    fn read_slice<B: Blocks>(
        &mut self,
        job: &Job<'_, B>,
        nblock: usize,
        cx: &FilterCx<'_>,
        slice: &Slice,
        (filtered, dest): (&mut [u8], &mut [u8]),
    ) -> Result<()> {
        let block = job.blocks.block(nblock)?;
        let in_block = |error: Error| error.in_block(nblock, block.at);
        let span = |stream: Range<usize>| slice.span(&stream);
        self.decode_spans(job, block, filtered, StoreHint::Cached, span).map_err(in_block)?;
        if job.undo.is_nothing() {
            slice.gather(filtered, dest);
            return Ok(());
        }
        let len = slice.nbytes();
        let (planes, items) = resized(&mut self.block, 2 * len)?.split_at_mut(len);
        slice.gather(filtered, planes);
        job.undo.apply(cx, planes, items).map_err(|source| in_block(source.into()))?;
        dest.copy_from_slice(&items[slice.part()]);
        Ok(())
    }
}

/// The bytes of a filtered block that contain a part of its data: the same bytes of each of its
/// planes. Without a filter the block is one plane.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Slice {
    nplanes: usize,
    /// Bytes of a plane.
    width: usize,
    /// The first byte within each plane; `to` is the end.
    from: usize,
    to: usize,
    /// The range of the part within the data of these bytes.
    part: Range<usize>,
}

impl Slice {
    /// A slice for a part of a block of `nbytes` bytes; `None` if the filters need the whole block.
    fn new(undo: &Undo<'_>, cx: &FilterCx<'_>, nbytes: usize, part: &Range<usize>) -> Option<Self> {
        if part.is_empty() {
            return None;
        }
        if undo.is_nothing() {
            let Range { start: from, end: to } = *part;
            return Some(Self { nplanes: 1, width: nbytes, from, to, part: 0..to - from });
        }
        let slot = undo.only()?;
        match slot.id {
            FilterId::SHUFFLE if slot.meta == 0 => Self::in_planes(cx.typesize, 1, nbytes, part),
            FilterId::BITSHUFFLE if cx.bitshuffle == BitshuffleRule::Blosc2 => {
                Self::in_planes(cx.typesize, 8, nbytes, part)
            }
            _ => None,
        }
    }

    /// For items with each byte spread over `nbits` planes: `nbits` items share a byte of each
    /// plane. The items after the last shared byte are not in planes.
    fn in_planes(
        typesize: usize,
        nbits: usize,
        nbytes: usize,
        part: &Range<usize>,
    ) -> Option<Self> {
        let nplanes = typesize * nbits;
        let width = nbytes / nplanes;
        let (from, to) = (part.start / nplanes, part.end.div_ceil(nplanes));
        let start = part.start - from * nplanes;
        let slice = Self { nplanes, width, from, to, part: start..start + part.len() };
        (to <= width).then_some(slice)
    }

    /// Number of bytes of all planes.
    const fn nbytes(&self) -> usize {
        self.nplanes * (self.to - self.from)
    }

    /// The range of the part within the data of the slice.
    fn part(&self) -> Range<usize> {
        self.part.clone()
    }

    /// The range from the first to the last byte of the slice in a stream, which is this part of
    /// the block. It counts from the start of the stream.
    fn span(&self, stream: &Range<usize>) -> Range<usize> {
        let Self { nplanes, width, from, to, .. } = *self;
        // The first plane that does not end before the stream, and the last one that begins in it.
        let first =
            if stream.start % width < to { stream.start / width } else { stream.start / width + 1 };
        let last = ((stream.end - 1) / width).min(nplanes - 1);
        let last = if last * width + from < stream.end { Some(last) } else { last.checked_sub(1) };
        let Some(last) = last.filter(|&last| first <= last) else { return 0..0 };
        let start = (first * width + from).max(stream.start) - stream.start;
        start..(last * width + to).min(stream.end) - stream.start
    }

    /// Puts the bytes of the planes side by side: a smaller block.
    fn gather(&self, block: &[u8], dest: &mut [u8]) {
        let len = self.to - self.from;
        for (plane, dest) in block.chunks_exact(self.width).zip(dest.chunks_exact_mut(len)) {
            dest.copy_from_slice(&plane[self.from..self.to]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_reaches_from_the_first_to_the_last_byte() {
        for (planes, width) in [(1, 12), (3, 4), (4, 3), (12, 1), (2, 5)] {
            for from in 0..width {
                for to in from + 1..=width {
                    let slice = Slice { nplanes: planes, width, from, to, part: 0..0 };
                    let is_in =
                        |at: usize| at / width < planes && (from..to).contains(&(at % width));
                    for start in 0..12 {
                        for end in start + 1..=12 {
                            let first = (start..end).find(|&at| is_in(at));
                            let last = (start..end).rev().find(|&at| is_in(at));
                            let expected =
                                first.zip(last).map_or(0..0, |(a, b)| a - start..b + 1 - start);
                            let span = slice.span(&(start..end));
                            assert_eq!(span, expected, "{slice:?} in {start}..{end}");
                        }
                    }
                }
            }
        }
    }
}

//! The content of a frame or a chunk: the bytes that were compressed, or of an array its items in C
//! order without padding. That of a table of bcolz are its rows, as NumPy's structured arrays have
//! them.

use core::ops::Range;
use std::sync::Arc;

use b2frame::{Budget, NdArray, SChunk, header::ChunkSize};

use crate::{
    args::LimitArgs,
    error::{Error, Result},
    formats::{
        opened_array,
        stored_array::{RowMajor, count, selection},
    },
    inputs::{Object, frame_bytes},
    memory,
    render::ByteSize,
};

/// Ranges up to this length (bytes) are read block by block; longer ones chunk by chunk, with all
/// threads.
const MAX_BLOCKWISE_NBYTES: u64 = 4 << 20;

/// Where pieces of content go.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(&[u8]) -> Result<()>;

/// Bytes of the content.
///
/// # Errors
///
/// When the frame says that it is an array, and cannot be one.
pub(crate) fn nbytes(object: &Object) -> Result<u64> {
    match object {
        Object::Frame(schunk) => frame_nbytes(schunk),
        Object::Chunk(_) | Object::Blp(_) | Object::Opened(_) => Ok(object.nbytes()),
        Object::Bcolz(set) => set.content_nbytes(),
        Object::Table(rows) => rows.content_nbytes(),
    }
}

/// Hands the content to `sink`, piece by piece in order.
///
/// # Errors
///
/// Damage, after all data before it; or the error of `sink`.
pub(crate) fn all(object: &Object, options: &Budget, sink: Sink<'_>) -> Result<()> {
    match object {
        Object::Frame(schunk) => frame_all(schunk, options, sink),
        _ => part(object, 0..nbytes(object)?, options, sink),
    }
}

/// Hands the bytes `range` of the content to `sink`, piece by piece in order.
///
/// # Errors
///
/// As [`all`]; a range beyond the end is the caller's fault.
pub(crate) fn part(
    object: &Object,
    range: Range<u64>,
    options: &Budget,
    sink: Sink<'_>,
) -> Result<()> {
    match object {
        Object::Frame(schunk) => frame_part(schunk, range, options, sink),
        Object::Chunk(chunk) => chunk.part(range, options, sink),
        Object::Blp(blp) => blp.part(range, options, sink),
        Object::Bcolz(set) => set.part(range, options, sink),
        Object::Table(rows) => {
            let is_all = range == (0..rows.content_nbytes()?);
            rows.part(range, sink)?;
            if is_all { rows.compare_seals() } else { Ok(()) }
        }
        Object::Opened(array) => opened_array::part(&**array, range, options, sink),
    }
}

/// Hands over the content of the first `ngood` chunks; of an array the rows that are whole.
///
/// # Errors
///
/// As [`all`].
pub(crate) fn first_chunks(
    schunk: &Arc<SChunk>,
    ngood: u64,
    options: &Budget,
    sink: Sink<'_>,
) -> Result<()> {
    let Some(array) = schunk.nd_array()? else {
        return schunk.decode_ordered(0..ngood, options, |_, bytes| sink(bytes));
    };
    let (grid, chunkshape) = (array.meta().grid(), array.chunkshape());
    let chunks_of_row = memory::nbytes(1, grid.iter().skip(1)).max(1);
    let rows =
        (ngood / chunks_of_row).saturating_mul(chunkshape.first().map_or(1, |len| (*len).into()));
    let nrows = array.shape().first().copied().unwrap_or(1);
    let row = array.nbytes() / nrows.max(1);
    array_part(
        &array.budget(options.clone()),
        0..rows.min(nrows).saturating_mul(row),
        options,
        sink,
    )
}

fn frame_nbytes(schunk: &Arc<SChunk>) -> Result<u64> {
    Ok(schunk.nd_array()?.map_or(schunk.nbytes(), |array| array.nbytes()))
}

fn frame_all(schunk: &Arc<SChunk>, options: &Budget, sink: Sink<'_>) -> Result<()> {
    match schunk.nd_array()? {
        Some(array) => array.budget(options.clone()).for_each_band(sink),
        None => schunk.decode_ordered(0..schunk.nchunks(), options, |_, bytes| sink(bytes)),
    }
}

fn frame_part(
    schunk: &Arc<SChunk>,
    range: Range<u64>,
    options: &Budget,
    sink: Sink<'_>,
) -> Result<()> {
    if range.is_empty() {
        return Ok(());
    }
    if range == (0..frame_nbytes(schunk)?) {
        return frame_all(schunk, options, sink);
    }
    if let Some(array) = schunk.nd_array()? {
        return array_part(&array.budget(options.clone()), range, options, sink);
    }
    if range.end - range.start <= MAX_BLOCKWISE_NBYTES {
        let mut bytes = vec![0; usize::try_from(range.end - range.start).unwrap_or_default()];
        schunk.read_bytes(range.start, &mut bytes)?;
        return sink(&bytes);
    }
    let (nchunks, at) = chunks_of(schunk, &range)?;
    let mut cut = cut(range, at, sink);
    schunk.decode_ordered(nchunks, options, |_, bytes| cut(bytes))
}

/// Only the blocks that hold the range are decoded, box by box of the array.
fn array_part(array: &NdArray, range: Range<u64>, options: &Budget, sink: Sink<'_>) -> Result<()> {
    let grid = (array.shape(), &array.chunkshape()[..], array.typesize());
    boxes(grid, range, options, sink, |bounds, bytes| {
        Ok(array.read_bytes(selection(bounds), bytes)?)
    })
}

/// Hands the bytes `range` of the items of an array to `sink`, in boxes that `read` gives. The
/// grid is the shape, the shape of a chunk and the bytes of an item.
///
/// # Errors
///
/// The error of `read` or of `sink`.
pub(crate) fn boxes(
    (shape, chunkshape, itemsize): (&[u64], &[u32], usize),
    range: Range<u64>,
    options: &Budget,
    sink: Sink<'_>,
    mut read: impl FnMut(&[Range<u64>], &mut [u8]) -> Result<()>,
) -> Result<()> {
    let itemsize = itemsize.max(1) as u64;
    let items = range.start / itemsize..range.end.div_ceil(itemsize);
    let max_items = (options.max_memory / 4 / itemsize).max(1);
    let mut cut = cut(range, items.start.saturating_mul(itemsize), sink);
    let mut bytes = vec![];
    for bounds in RowMajor::new(shape, chunkshape, items, max_items) {
        bytes.resize(memory::as_len(count(&bounds).saturating_mul(itemsize)), 0);
        read(&bounds, &mut bytes)?;
        cut(&bytes)?;
    }
    Ok(())
}

/// The chunks that hold the bytes `range`, and where the first of them starts in the content.
fn chunks_of(schunk: &SChunk, range: &Range<u64>) -> Result<(Range<u64>, u64)> {
    if let ChunkSize::Fixed(size) = schunk.chunksize() {
        let size = u64::from(size.get());
        let first = range.start / size;
        return Ok((first..range.end.div_ceil(size), first * size));
    }
    let (mut nchunk, mut at) = (0, 0);
    let mut first = None;
    while at < range.end && nchunk < schunk.nchunks() {
        let end = at + schunk.chunk_nbytes(nchunk)? as u64;
        if end > range.start {
            first = first.or(Some((nchunk, at)));
        }
        (nchunk, at) = (nchunk + 1, end);
    }
    let (first, start) = first.unwrap_or((nchunk, at));
    Ok((first..nchunk, start))
}

/// Takes pieces of content from byte `at` on, and hands what lies in `range` to `sink`.
pub(crate) fn cut<'a, E>(
    range: Range<u64>,
    mut at: u64,
    sink: &'a mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> impl FnMut(&[u8]) -> Result<(), E> + use<'a, E> {
    move |bytes| {
        let piece = intersection(bytes, at, &range);
        at = at.saturating_add(bytes.len() as u64);
        if piece.is_empty() { Ok(()) } else { sink(piece) }
    }
}

/// The part of `bytes`, which start at `at`, that lies in `range`.
fn intersection<'a>(bytes: &'a [u8], at: u64, range: &Range<u64>) -> &'a [u8] {
    let inside = |end: u64| memory::as_len(end.saturating_sub(at)).min(bytes.len());
    &bytes[inside(range.start)..inside(range.end).max(inside(range.start))]
}

/// Guards one input against decompressing to more than its user allows: what the options say, or,
/// without any of them, more than any data that are not made to do harm.
#[derive(Debug)]
pub(crate) struct Guard {
    limits: LimitArgs,
    /// Bytes from which on the ratio counts without an option.
    free: u64,
    nbytes: u64,
    stored: u64,
}

/// How many times its size an input may give without an option, once that is a lot.
const MAX_UNASKED_RATIO: u64 = 10_000;

impl Guard {
    /// A guard for one input whose content is decoded: written, or only read, which takes as long.
    pub(crate) fn new(limits: LimitArgs) -> Self {
        Self { limits, free: 16 << 30, nbytes: 0, stored: 0 }
    }

    /// A guard for one input of which only the options limit what is read.
    pub(crate) fn for_looking(limits: LimitArgs) -> Self {
        Self { free: u64::MAX, ..Self::new(limits) }
    }

    /// The most bytes of data that may come out of `stored` bytes.
    pub(crate) fn allowance(limits: LimitArgs, stored: u64) -> u64 {
        let of_ratio = |ratio: u64| stored.saturating_mul(ratio);
        match (limits.max_output, limits.max_ratio) {
            (None, None) => of_ratio(MAX_UNASKED_RATIO).max(Self::new(limits).free),
            (output, ratio) => {
                let output = output.map_or(u64::MAX, |ByteSize(limit)| limit);
                output.min(ratio.map_or(u64::MAX, of_ratio))
            }
        }
    }

    /// Adds an object, before anything of it is decoded.
    ///
    /// # Errors
    ///
    /// When the objects so far are too much.
    pub(crate) fn admit(&mut self, object: &Object) -> Result<()> {
        self.admit_bytes(object.nbytes(), object.stored())
    }

    /// Adds a frame that is verified: without an option, only what has to be decoded for it counts.
    ///
    /// # Errors
    ///
    /// As [`admit`](Self::admit).
    pub(crate) fn admit_to_verify(&mut self, schunk: &SChunk) -> Result<()> {
        let is_asked = self.limits.max_output.is_some() || self.limits.max_ratio.is_some();
        let nbytes = if is_asked { schunk.nbytes() } else { schunk.nbytes_to_verify() };
        self.admit_bytes(nbytes, frame_bytes(schunk))
    }

    /// Adds `nbytes` bytes of data that are decoded from `stored` bytes.
    ///
    /// # Errors
    ///
    /// As [`admit`](Self::admit).
    pub(crate) fn admit_bytes(&mut self, nbytes: u64, stored: u64) -> Result<()> {
        self.nbytes = self.nbytes.saturating_add(nbytes);
        self.stored = self.stored.saturating_add(stored);
        let (nbytes, from) = (self.nbytes, self.stored);
        match self.limits {
            LimitArgs { max_output: Some(ByteSize(limit)), .. } if nbytes > limit => {
                Err(Error::MaxOutput { nbytes, limit })
            }
            LimitArgs { max_ratio: Some(limit), .. } if nbytes > from.saturating_mul(limit) => {
                Err(Error::MaxRatio { nbytes, from, limit })
            }
            LimitArgs { max_output: None, max_ratio: None }
                if nbytes > self.free && nbytes > from.saturating_mul(MAX_UNASKED_RATIO) =>
            {
                Err(Error::MaxRatio { nbytes, from, limit: MAX_UNASKED_RATIO })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use b2frame::{FrameParams, to_cframe};
    use std::sync::Arc;

    #[test]
    fn intersection_has_the_common_bytes() {
        let cut = |at, range| intersection(b"abcdef", at, &range).to_vec();
        assert_eq!(cut(0, 1..3), b"bc");
        assert_eq!(cut(10, 0..12), b"ab");
        assert_eq!(cut(10, 14..99), b"ef");
        assert_eq!(cut(10, 0..10), b"");
        assert_eq!(cut(10, 16..20), b"");
    }

    #[test]
    fn only_a_lot_out_of_little_is_refused_unasked() {
        let admit = |mut guard: Guard, nbytes, stored| guard.admit_bytes(nbytes, stored).is_ok();
        let unasked = LimitArgs::default;
        assert!(admit(Guard::new(unasked()), 16 << 30, 100));
        assert!(!admit(Guard::new(unasked()), (16 << 30) + 1, 100));
        assert!(admit(Guard::new(unasked()), 100 << 30, 11 << 20));
        assert!(admit(Guard::for_looking(unasked()), 1 << 62, 100));
        assert_eq!(Guard::allowance(unasked(), 100), 16 << 30);
        assert_eq!(Guard::allowance(unasked(), 1 << 30), 10_000 << 30);
        let asked = LimitArgs { max_output: Some(ByteSize(9)), max_ratio: Some(2) };
        assert_eq!((Guard::allowance(asked, 4), Guard::allowance(asked, 5)), (8, 9));
        let asked = LimitArgs { max_output: Some(ByteSize(1 << 50)), max_ratio: None };
        assert!(admit(Guard::new(asked), 1 << 50, 100));
        assert!(!admit(Guard::for_looking(asked), (1 << 50) + 1, 100));
    }

    #[test]
    fn parts_of_arrays_are_slices_of_their_items() {
        let data: Vec<u8> = (0..7 * 50 * 60_u16).flat_map(u16::to_le_bytes).collect();
        let shape = [7, 50, 60];
        for (chunks, blocks) in [([2, 20, 30], [1, 10, 30]), ([7, 50, 60], [7, 50, 60])] {
            let params = b2frame::NdParams::new(&shape, "<u2".parse().unwrap());
            let params = params.chunkshape(&chunks).blockshape(&blocks);
            let mut writer = b2frame::NdWriter::in_memory(&params).unwrap();
            writer.write_bytes(b2frame::nd::Selection::ALL, &data).unwrap();
            let array = writer.finish().unwrap();
            let object = Object::Frame(Arc::clone(array.schunk()));
            for range in [0..1, 119..121, 6_001..29_999, 41_990..42_000, 3..41_999, 0..42_000] {
                let mut found = Vec::new();
                let mut sink = |bytes: &[u8]| {
                    found.extend_from_slice(bytes);
                    Ok(())
                };
                let budget = Budget::default().max_memory(200_000);
                part(&object, range.clone(), &budget, &mut sink).unwrap();
                let expected = &data
                    [usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()];
                assert!(found == expected, "{range:?}");
            }
        }
    }

    #[test]
    fn parts_are_slices_of_the_whole() {
        let data: Vec<u8> = (0..1_500_000u32).flat_map(u32::to_le_bytes).collect();
        let frame = to_cframe(&data, &FrameParams::default().chunksize(1_000_000)).unwrap();
        let object = Object::Frame(Arc::new(SChunk::from_cframe(frame).unwrap()));
        for range in [
            0..6_000_000,
            0..1,
            17..999_999,
            999_999..1_000_001,
            3..5_999_999,
            5_999_999..6_000_000,
            5..5,
        ] {
            let mut found = Vec::new();
            let mut sink = |bytes: &[u8]| {
                found.extend_from_slice(bytes);
                Ok(())
            };
            part(&object, range.clone(), &Budget::default(), &mut sink).unwrap();
            let expected =
                &data[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()];
            assert!(found == expected, "{range:?}");
        }
    }
}

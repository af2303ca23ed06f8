//! The content of a frame or a chunk: the bytes that were compressed, or of an array its items in C
//! order without padding. That of a table of bcolz are its rows, as NumPy's structured arrays have
//! them.

use core::ops::Range;
use std::sync::Arc;

use b2frame::{Budget, ChunkSize, SChunk};

use crate::{
    args::LimitArgs,
    error::{Error, Result},
    inputs::object::Object,
    render::size::ByteSize,
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
        Object::Chunk(_) | Object::Blp(_) => Ok(object.nbytes()),
        Object::Bcolz(set) => set.content_nbytes(),
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
        Object::Chunk(chunk) => chunk.part(0..object.nbytes(), options, sink),
        Object::Blp(blp) => blp.part(0..blp.nbytes(), options, sink),
        Object::Bcolz(set) => set.part(0..set.content_nbytes()?, options, sink),
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
    }
}

fn frame_nbytes(schunk: &Arc<SChunk>) -> Result<u64> {
    Ok(schunk.nd_array()?.map_or(schunk.nbytes(), |array| array.nbytes()))
}

fn frame_all(schunk: &Arc<SChunk>, options: &Budget, sink: Sink<'_>) -> Result<()> {
    match schunk.nd_array()? {
        Some(array) => array.budget(*options).for_each_band(sink),
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
    if range.end - range.start <= MAX_BLOCKWISE_NBYTES && schunk.nd_meta()?.is_none() {
        let mut bytes = vec![0; usize::try_from(range.end - range.start).unwrap_or_default()];
        schunk.read_bytes(range.start, &mut bytes)?;
        return sink(&bytes);
    }
    // Arrays are cut after they were put in order: their chunks know nothing of C order.
    let (nchunks, mut at) =
        if schunk.nd_meta()?.is_some() { (0..0, 0) } else { chunks_of(schunk, &range)? };
    let mut cut = |bytes: &[u8]| {
        let piece = intersection(bytes, at, &range);
        at += bytes.len() as u64;
        if piece.is_empty() { Ok(()) } else { sink(piece) }
    };
    if nchunks.is_empty() {
        return frame_all(schunk, options, &mut cut);
    }
    schunk.decode_ordered(nchunks, options, |_, bytes| cut(bytes))
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

/// The part of `bytes`, which start at `at`, that lies in `range`.
fn intersection<'a>(bytes: &'a [u8], at: u64, range: &Range<u64>) -> &'a [u8] {
    let inside =
        |end: u64| usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX).min(bytes.len());
    &bytes[inside(range.start)..inside(range.end).max(inside(range.start))]
}

/// Guards one input against decompressing to more than its user allows.
#[derive(Debug)]
pub(crate) struct Guard {
    limits: LimitArgs,
    nbytes: u64,
    stored: u64,
}

impl Guard {
    /// A guard for one input.
    pub(crate) fn new(limits: LimitArgs) -> Self {
        Self { limits, nbytes: 0, stored: 0 }
    }

    /// Adds an object, before anything of it is decoded.
    ///
    /// # Errors
    ///
    /// When the objects so far are too much.
    pub(crate) fn admit(&mut self, object: &Object) -> Result<()> {
        self.nbytes = self.nbytes.saturating_add(object.nbytes());
        self.stored = self.stored.saturating_add(object.stored());
        let (nbytes, from) = (self.nbytes, self.stored);
        match self.limits {
            LimitArgs { max_output: Some(ByteSize(limit)), .. } if nbytes > limit => {
                Err(Error::MaxOutput { nbytes, limit })
            }
            LimitArgs { max_ratio: Some(limit), .. } if nbytes > from.saturating_mul(limit) => {
                Err(Error::MaxRatio { nbytes, from, limit })
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

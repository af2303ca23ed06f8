//! Arrays whose chunks lie outside of frames: in memory, in a database, or computed on demand.

use core::ops::Range;

use blosc_chunk::Simd;
use blosc_container::buffer::resized;

use super::axis::{Axis, Parts, Product, Span, Spans, Steps};
use super::blocks::{BoxBlocks, Wanted};
use super::geometry::{Geometry, as_len, ravel, strides, unravel};
use super::rows::{Reach, Rows, read_rows};
use super::{NdMeta, NdParam};
use crate::error::{Error, Param, Result};

/// The positions of the items of an array in its chunks, wherever the chunks are kept.
///
/// The chunks of [`NdArray`](super::NdArray) and [`NdWriter`](super::NdWriter) lie in a frame. With
/// this type a program keeps chunks in its own way: the type fills the data of each chunk for
/// compression, and reads any part through a function that decompresses blocks.
///
/// ```
/// use b2frame::nd::{ArrayLayout, NdMeta};
/// use blosc_chunk::{CParams, compress, decompress};
///
/// let items: Vec<u8> = (0..70).collect(); // 7 rows of 10
/// let layout = ArrayLayout::new(&NdMeta::new(&[7, 10], &[4, 6], &[2, 3], "|u1")?, 1)?;
///
/// let mut data = vec![0; layout.chunk_nbytes()];
/// let mut chunks = vec![];
/// for nchunk in 0..layout.nchunks() {
///     layout.fill_chunk(nchunk, &items, &mut data)?;
///     chunks.push(compress(&data, &CParams::default().typesize(1))?);
/// }
///
/// let mut dest = [0; 3 * 2];
/// let mut scratch = vec![];
/// layout.read(&[2..5, 5..7], &mut dest, &[3, 2], &mut scratch, |part| {
///     let chunk = decompress(&chunks[part.nchunk as usize]).expect("made above");
///     part.data.copy_from_slice(&chunk);
///     Ok::<(), b2frame::Error>(())
/// })?;
/// assert_eq!(dest, [25, 26, 35, 36, 45, 46]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ArrayLayout {
    geometry: Geometry,
    nchunks: u64,
    chunk_nbytes: usize,
}

/// The wanted part of a chunk.
#[derive(Debug)]
pub struct ChunkPart<'a> {
    /// The number of the chunk.
    pub nchunk: u64,
    /// The numbers of its selected blocks, ascending.
    pub blocks: &'a [u64],
    /// The buffer for all data of the chunk: only the bytes of these blocks are read.
    pub data: &'a mut [u8],
}

impl ArrayLayout {
    /// The layout of an array with items of `typesize` bytes.
    ///
    /// # Errors
    /// [`Param::ChunkSize`] if the data are too long for a chunk.
    pub fn new(meta: &NdMeta, typesize: usize) -> Result<Self> {
        let nbytes = meta.chunk_items().saturating_mul(typesize as u64);
        let max = super::meta::MAX_CHUNK;
        if typesize == 0 || nbytes > max {
            let typesize = typesize as u64;
            return Err(Param::ChunkSize { chunksize: nbytes, typesize, max }.into());
        }
        let nchunks = meta.nchunks();
        Ok(Self { geometry: Geometry::new(meta, typesize), nchunks, chunk_nbytes: as_len(nbytes) })
    }

    /// Number of chunks; 0 if the array has no items.
    #[must_use]
    pub fn nchunks(&self) -> u64 {
        self.nchunks
    }

    /// Uncompressed size of a chunk, with the padding at the edges (bytes).
    #[must_use]
    pub fn chunk_nbytes(&self) -> usize {
        self.chunk_nbytes
    }

    /// Fills the data of a chunk with its part of `items`, the items of the whole array in C order.
    /// Padding is zeros.
    ///
    /// # Errors
    /// [`Param::ChunkNumber`]; [`Param::BufferLen`] if a buffer has another length.
    pub fn fill_chunk(&self, nchunk: u64, items: &[u8], data: &mut [u8]) -> Result<()> {
        let shape = self.geometry.shape();
        if nchunk >= self.nchunks {
            return Err(Param::ChunkNumber { nchunk, nchunks: self.nchunks }.into());
        }
        check_len(items.len(), nbytes_of(shape, self.geometry.typesize()))?;
        check_len(data.len(), Some(self.chunk_nbytes as u64))?;
        let numbers = unravel(nchunk, self.geometry.grid());
        let lens = numbers.iter().zip(shape).zip(self.geometry.chunkshape());
        let axes: Vec<_> = lens
            .map(|((number, len), chunk)| {
                let start = number * chunk;
                let count = len.saturating_sub(start).min(*chunk);
                Axis::Steps(Steps { to: start, ..Steps::run(start, count) })
            })
            .collect();
        let is_full = axes.iter().zip(self.geometry.blocks()).zip(self.geometry.blockshape());
        if !is_full.into_iter().all(|((axis, n), len)| axis.count() == n * len) {
            data.fill(0);
        }
        let in_items = strides(shape, self.geometry.typesize());
        self.write_blocks(&numbers, &axes, items, &in_items, data);
        Ok(())
    }

    fn write_blocks(
        &self,
        numbers: &[u64],
        axes: &[Axis<'_>],
        items: &[u8],
        in_items: &[u64],
        data: &mut [u8],
    ) {
        let geometry = &self.geometry;
        let in_block = strides(geometry.blockshape(), geometry.typesize());
        let lens = numbers.iter().zip(geometry.chunkshape()).zip(geometry.blockshape()).zip(axes);
        let spans =
            lens.map(|(((number, chunk), block), axis)| Spans::new(*axis, number * chunk, *block));
        let reach = Reach::for_nbytes(items.len(), Simd::detect());
        for spans in Product::new(spans.collect()) {
            let start = as_len(self.nblock(&spans).saturating_mul(geometry.block_nbytes()));
            let parts = Parts { spans: &spans, in_block: &in_block, in_wanted: in_items };
            if let (Some(block), Some(rows)) = (data.get_mut(start..), Rows::new(parts)) {
                rows.write(block, items, reach);
            }
        }
    }

    /// The number of a block in its chunk.
    fn nblock(&self, spans: &[Span<'_>]) -> u64 {
        let numbers: Vec<u64> = spans.iter().map(|span| span.number).collect();
        ravel(&numbers, self.geometry.blocks())
    }

    /// Fills a part of `dest` with a part of the array. `dest` is an array of the shape
    /// `dest_shape`, at least as long as the part in each dimension. The part goes to its start;
    /// `dest` may end after the last item of the part. `decode` fills blocks of one chunk after the
    /// other: in `dest` where they fit as they are, or else in `scratch`, which grows as needed and
    /// may be kept for the next call.
    ///
    /// # Errors
    /// [`Param::Nd`] if the part is outside of the array, [`Param::BufferLen`], or the error of
    /// `decode`.
    pub fn read<E: From<Error>>(
        &self,
        region: &[Range<u64>],
        dest: &mut [u8],
        dest_shape: &[u64],
        scratch: &mut Vec<u8>,
        mut decode: impl FnMut(ChunkPart<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let axes = self.axes(region, dest_shape).map_err(Error::from)?;
        let typesize = self.geometry.typesize();
        if axes.iter().any(|axis| axis.count() == 0) {
            return Ok(());
        }
        let wide = if region.is_empty() { &[1][..] } else { dest_shape };
        check_room(dest.len(), &axes, wide, typesize)?;
        let strides = Strides {
            block: strides(self.geometry.blockshape(), typesize),
            dest: strides(wide, typesize),
        };
        let reach = Reach::for_nbytes(dest.len(), Simd::detect());
        for wanted in BoxBlocks::new(&self.geometry, &axes, u64::MAX) {
            let nchunk = wanted.nchunk;
            let blocks: Vec<u64> = wanted.blocks.iter().map(|(nblock, _)| *nblock).collect();
            if let Some(at) = self.run(&wanted, &strides) {
                let end = at.saturating_add(self.chunk_nbytes);
                if let Some(data) = dest.get_mut(at..end) {
                    decode(ChunkPart { nchunk, blocks: &blocks, data })?;
                    continue;
                }
            }
            let data = resized(scratch, self.chunk_nbytes);
            decode(ChunkPart { nchunk, blocks: &blocks, data })?;
            let len = as_len(self.geometry.block_nbytes());
            for (nblock, spans) in &wanted.blocks {
                let start = as_len(*nblock).saturating_mul(len);
                let block = data.get(start..start.saturating_add(len)).unwrap_or_default();
                let parts = strides.parts(spans);
                match Rows::new(parts) {
                    Some(rows) => rows.read(block, 0, dest, reach),
                    None => read_rows(parts, block, dest),
                }
            }
        }
        Ok(())
    }

    /// The position in the destination of a chunk whose data are one run there, in the same order.
    fn run(&self, wanted: &Wanted<Vec<Span<'_>>>, strides: &Strides) -> Option<usize> {
        let len = as_len(self.geometry.block_nbytes());
        let mut start = None;
        for (nblock, spans) in &wanted.blocks {
            let (from, to) = Rows::new(strides.parts(spans))?.single()?;
            let at = as_len(*nblock).saturating_mul(len);
            if from != (0..len) || to.start != start.get_or_insert(to.start).saturating_add(at) {
                return None;
            }
        }
        let nblocks = self.chunk_nbytes.checked_div(len)?;
        start.filter(|_| wanted.blocks.len() == nblocks)
    }

    fn axes(
        &self,
        region: &[Range<u64>],
        dest_shape: &[u64],
    ) -> Result<Vec<Axis<'static>>, NdParam> {
        let shape = self.geometry.shape();
        if region.is_empty() && shape == [1] {
            // An array without dimensions is one item.
            return Ok(vec![Axis::Steps(Steps::run(0, 1))]);
        }
        for given in [region.len(), dest_shape.len()] {
            if given != shape.len() {
                return Err(NdParam::Dims { given, ndim: shape.len() });
            }
        }
        let axis = |(dim, ((range, len), room)): (usize, ((&Range<u64>, &u64), &u64))| {
            let count = range.end.saturating_sub(range.start);
            let outside = if range.start > range.end || count > *room {
                Some(range.start)
            } else {
                (range.end > *len).then_some(range.end)
            };
            let index = |at: u64| i64::try_from(at).unwrap_or(i64::MAX);
            match outside {
                Some(at) => Err(NdParam::Index { dim, index: index(at), len: *len }),
                None => Ok(Axis::Steps(Steps::run(range.start, count))),
            }
        };
        region.iter().zip(shape).zip(dest_shape).enumerate().map(axis).collect()
    }
}

/// The source or destination of a copy: an array in C order, and the position of the box in it.
#[derive(Clone, Copy, Debug)]
pub struct BoxAt<'a> {
    /// Items per dimension of the whole array.
    pub shape: &'a [u64],
    /// The first item of the box per dimension.
    pub start: &'a [u64],
}

/// Copies a box of `lens` items per dimension from one array in C order to another. Items have
/// `typesize` bytes. Items outside of the box stay as they are.
///
/// ```
/// use b2frame::nd::{BoxAt, copy_box};
///
/// let src = *b"abcdef"; // 2 rows of 3
/// let mut dest = *b"........"; // 2 rows of 4
/// let from = BoxAt { shape: &[2, 3], start: &[0, 1] };
/// let to = BoxAt { shape: &[2, 4], start: &[0, 2] };
/// copy_box(1, &[2, 2], (&src, from), (&mut dest, to))?;
/// assert_eq!(&dest, b"..bc..ef");
/// # Ok::<(), b2frame::Error>(())
/// ```
///
/// # Errors
/// [`Param::Nd`] if the box is outside of an array, [`Param::BufferLen`] if an array is shorter
/// than its shape.
pub fn copy_box(
    typesize: usize,
    lens: &[u64],
    (src, from): (&[u8], BoxAt<'_>),
    (dest, to): (&mut [u8], BoxAt<'_>),
) -> Result<()> {
    let typesize = typesize as u64;
    for (side, len) in [(&from, src.len()), (&to, dest.len())] {
        check_box(lens, side)?;
        match nbytes_of(side.shape, typesize) {
            Some(nbytes) if nbytes <= len as u64 => {}
            nbytes => check_len(len, nbytes)?,
        }
    }
    if lens.contains(&0) {
        return Ok(());
    }
    // An array without dimensions is one item.
    let (from, to, lens) = if lens.is_empty() {
        let item = BoxAt { shape: &[1], start: &[0] };
        (item, item, &[1][..])
    } else {
        (from, to, lens)
    };
    let dims = from.start.iter().zip(to.start).zip(lens);
    let axes = dims.map(|((start, to), count)| Steps { to: *to, ..Steps::run(*start, *count) });
    let spans: Vec<_> =
        axes.map(|steps| Span { number: 0, origin: 0, axis: Axis::Steps(steps) }).collect();
    let (in_block, in_wanted) = (strides(from.shape, typesize), strides(to.shape, typesize));
    let parts = Parts { spans: &spans, in_block: &in_block, in_wanted: &in_wanted };
    match Rows::new(parts) {
        Some(rows) => rows.read(src, 0, dest, Reach::for_nbytes(dest.len(), Simd::detect())),
        None => read_rows(parts, src, dest),
    }
    Ok(())
}

fn check_box(lens: &[u64], side: &BoxAt<'_>) -> Result<(), NdParam> {
    let ndim = lens.len();
    for given in [side.shape.len(), side.start.len()] {
        if given != ndim || ndim > super::MAX_NDIM {
            return Err(NdParam::Dims { given, ndim });
        }
    }
    for (dim, ((count, start), len)) in lens.iter().zip(side.start).zip(side.shape).enumerate() {
        if start.checked_add(*count).is_none_or(|end| end > *len) {
            let index = i64::try_from(*start).unwrap_or(i64::MAX);
            return Err(NdParam::Index { dim, index, len: *len });
        }
    }
    Ok(())
}

/// Bytes from one item to the next in each dimension.
struct Strides {
    block: Vec<u64>,
    dest: Vec<u64>,
}

impl Strides {
    fn parts<'a>(&'a self, spans: &'a [Span<'a>]) -> Parts<'a> {
        Parts { spans, in_block: &self.block, in_wanted: &self.dest }
    }
}

fn nbytes_of(shape: &[u64], typesize: u64) -> Option<u64> {
    shape.iter().try_fold(typesize, |nbytes, len| nbytes.checked_mul(*len))
}

/// Checks that the last item of a part lies inside a destination of `len` bytes.
fn check_room(len: usize, axes: &[Axis<'_>], shape: &[u64], typesize: u64) -> Result<()> {
    let last = axes.iter().zip(shape).try_fold(0_u64, |last, (axis, len)| {
        last.checked_mul(*len)?.checked_add(axis.count().checked_sub(1)?)
    });
    let end = last.and_then(|last| last.checked_add(1)?.checked_mul(typesize));
    match end {
        Some(end) if end <= len as u64 => Ok(()),
        end => check_len(len, Some(end.unwrap_or(u64::MAX))),
    }
}

fn check_len(len: usize, expected: Option<u64>) -> Result<()> {
    let (len, expected) = (len as u64, expected.unwrap_or(u64::MAX));
    if len == expected { Ok(()) } else { Err(Param::BufferLen { len, expected }.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An array of 16-bit numbers in C order, in uncompressed chunks.
    fn array(
        shape: &[u64],
        chunks: &[u32],
        blocks: &[u32],
    ) -> (ArrayLayout, Vec<u8>, Vec<Vec<u8>>) {
        let meta = NdMeta::new(shape, chunks, blocks, "<u2").unwrap();
        let layout = ArrayLayout::new(&meta, 2).unwrap();
        let nitems: u64 = shape.iter().product();
        let items: Vec<u8> =
            (0..nitems).flat_map(|n| u16::try_from(n).unwrap().to_le_bytes()).collect();
        let chunks = (0..layout.nchunks())
            .map(|nchunk| {
                let mut data = vec![0xee; layout.chunk_nbytes()];
                layout.fill_chunk(nchunk, &items, &mut data).unwrap();
                data
            })
            .collect();
        (layout, items, chunks)
    }

    fn read(
        (layout, _, chunks): &(ArrayLayout, Vec<u8>, Vec<Vec<u8>>),
        region: &[Range<u64>],
        shape: &[u64],
    ) -> Result<Vec<u8>> {
        let mut dest = vec![0xee; usize::try_from(shape.iter().product::<u64>()).unwrap() * 2];
        let len = usize::try_from(layout.geometry.block_nbytes()).unwrap();
        layout.read(region, &mut dest, shape, &mut vec![], |part| -> Result<()> {
            let chunk = &chunks[usize::try_from(part.nchunk).unwrap()];
            for nblock in part.blocks {
                let at = usize::try_from(*nblock).unwrap() * len;
                part.data[at..at + len].copy_from_slice(&chunk[at..at + len]);
            }
            Ok(())
        })?;
        Ok(dest)
    }

    #[test]
    fn all_items_come_back_whatever_the_shapes() {
        let shapes: [(&[u64], &[u32], &[u32]); 7] = [
            (&[], &[], &[]),
            (&[100], &[32], &[8]),
            (&[100], &[100], &[30]),
            (&[10, 12], &[5, 12], &[1, 12]),
            (&[10, 12], &[4, 5], &[3, 2]),
            (&[7, 5, 9], &[3, 5, 4], &[2, 2, 4]),
            (&[2, 3, 4, 5], &[2, 2, 2, 2], &[1, 2, 1, 2]),
        ];
        for (shape, chunks, blocks) in shapes {
            let made = array(shape, chunks, blocks);
            let region: Vec<_> = shape.iter().map(|len| 0..*len).collect();
            assert_eq!(read(&made, &region, shape).unwrap(), made.1, "{shape:?}");
        }
    }

    #[test]
    fn a_part_goes_to_the_start_of_a_larger_array() {
        let made = array(&[10, 12], &[4, 5], &[3, 2]);
        let dest = read(&made, &[3..5, 4..7], &[3, 4]).unwrap();
        let items: Vec<u16> =
            dest.as_chunks().0.iter().map(|item| u16::from_le_bytes(*item)).collect();
        let x = 0xeeee;
        assert_eq!(items, [40, 41, 42, x, 52, 53, 54, x, x, x, x, x]);
        assert!(read(&made, &[3..3, 4..7], &[0, 3]).unwrap().is_empty());
    }

    #[test]
    fn padding_is_zeros() {
        let (_, _, chunks) = array(&[3], &[4], &[4]);
        assert_eq!(chunks, [[0, 0, 1, 0, 2, 0, 0, 0]]);
    }

    #[test]
    fn parts_that_are_not_there_are_refused() {
        let made = array(&[10, 12], &[4, 5], &[3, 2]);
        let backwards = [Range { start: 5, end: 4 }, 0..1];
        let bad: [(&[Range<u64>], &[u64]); 5] = [
            (&[0..11, 0..1], &[11, 1]),
            (&[0..2, 0..2], &[1, 2]),
            (&[], &[]),
            (&backwards, &[1, 1]),
            (&[0..1, 0..1], &[1]),
        ];
        for (region, shape) in bad {
            assert!(matches!(read(&made, region, shape), Err(Error::Param(_))), "{region:?}");
        }
        let decode = |_: ChunkPart<'_>| -> Result<()> { Ok(()) };
        let read = |shape: &[u64], room: usize| {
            made.0.read(&[0..2, 0..3], &mut vec![0; room], shape, &mut vec![], decode).is_ok()
        };
        assert_eq!(
            [read(&[4, 5], 16), read(&[4, 5], 15), read(&[4, u64::MAX], 16)],
            [true, false, false]
        );
        let layout = &made.0;
        assert!(layout.fill_chunk(9, &made.1, &mut vec![0; layout.chunk_nbytes()]).is_err());
        assert!(layout.fill_chunk(0, &made.1[1..], &mut vec![0; layout.chunk_nbytes()]).is_err());
        assert!(layout.fill_chunk(0, &made.1, &mut []).is_err());
    }

    #[test]
    fn a_box_is_copied_where_both_arrays_have_it() {
        let copy = |lens: &[u64], from: (&[u64], &[u64]), to: (&[u64], &[u64]), room: usize| {
            let (src, mut dest) = ((0..48).collect::<Vec<u8>>(), vec![0xee; room]);
            let [from, to] = [from, to].map(|(shape, start)| BoxAt { shape, start });
            copy_box(2, lens, (&src, from), (&mut dest, to)).map(|()| dest)
        };
        let all = copy(&[4, 6], (&[4, 6], &[0, 0]), (&[4, 6], &[0, 0]), 48).unwrap();
        assert_eq!(all, (0..48).collect::<Vec<u8>>());
        assert_eq!(copy(&[], (&[], &[]), (&[], &[]), 2).unwrap(), [0, 1]);
        assert_eq!(copy(&[0], (&[3], &[3]), (&[1], &[1]), 2).unwrap(), [0xee; 2]);
        let item = copy(&[1, 1], (&[4, 6], &[3, 5]), (&[1, 2], &[0, 1]), 4).unwrap();
        assert_eq!(item, [0xee, 0xee, 46, 47]);
        assert!(copy(&[1, 2], (&[4, 6], &[3, 5]), (&[1, 2], &[0, 0]), 4).is_err());
        assert!(copy(&[1], (&[24], &[0]), (&[1], &[u64::MAX]), 2).is_err());
        assert!(copy(&[1], (&[25], &[0]), (&[1], &[0]), 2).is_err());
        assert!(copy(&[1], (&[24], &[0]), (&[2], &[0]), 2).is_err());
        assert!(copy(&[1; 17], (&[1; 17], &[0; 17]), (&[1; 17], &[0; 17]), 2).is_err());
    }

    #[test]
    fn what_decoding_says_is_told() {
        let (layout, ..) = array(&[4], &[2], &[2]);
        let failed =
            layout.read(core::slice::from_ref(&(0..4)), &mut [0; 8], &[4], &mut vec![], |part| {
                if part.nchunk == 1 { Err(Error::internal("of the caller")) } else { Ok(()) }
            });
        assert!(failed.is_err());
    }
}

//! Items of other arrays: copies with other shapes or compression, and arrays appended to others.
//!
//! Chunks that have the same position in both arrays are moved as they are. Other items are read
//! and written, as many rows of chunks at a time as memory allows.

use core::ops::Range;

use super::geometry::{Odometer, ravel};
use super::writer::NdWriter;
use super::{NdArray, NdMeta, NdParam, NdParams, Pick};
use crate::dest::Dest;
use crate::edit::is_same_way;
use crate::error::Result;
use crate::schunk::ChunkBytes;

impl NdArray {
    /// The parameters for a copy of this array: shapes, type, compression, metalayers and
    /// vlmetalayers. C-Blosc2 makes blocks of some arrays larger than their chunks; these are cut
    /// to chunks.
    ///
    /// # Errors
    /// The error of a vlmetalayer.
    pub fn params(&self) -> Result<NdParams> {
        let schunk = self.schunk();
        let is_ours =
            |name: &[u8]| name == NdMeta::NAME.as_bytes() || name == NdMeta::OLD_NAME.as_bytes();
        let (chunkshape, mut blockshape) = (self.chunkshape(), self.blockshape());
        for (block, chunk) in blockshape.iter_mut().zip(&chunkshape) {
            *block = (*chunk).min(*block);
        }
        let params = NdParams::new(self.shape(), self.dtype().clone())
            .chunkshape(&chunkshape)
            .blockshape(&blockshape)
            .cparams(schunk.cparams())
            .checksums(schunk.checksums().unwrap_or_default());
        let layers = schunk.meta().iter().filter(|layer| !is_ours(layer.name));
        let params =
            layers.fold(params, |params, layer| params.metalayer(layer.name_text(), layer.content));
        schunk.vlmeta().stored().iter().try_fold(params, |params, layer| {
            Ok(params.vlmetalayer(layer.name_text(), schunk.vlmeta().decode(layer)?))
        })
    }
}

impl NdArray {
    /// Copies the array, or the part that a view shows, to an array with these parameters;
    /// [`params`](Self::params) returns the present ones. With the same shapes and compression
    /// chunks are not compressed anew.
    ///
    /// ```
    /// # use b2frame::{NdParams, NdWriter};
    /// use b2frame::Dest;
    ///
    /// # let array = NdWriter::in_memory(&NdParams::new(&[20, 30], "<f4".parse()?))?.finish()?;
    /// let copy = array.copy(&Dest::Memory,
    ///     &array.params()?.chunkshape(&[5, 30]).blockshape(&[1, 30]))?;
    /// assert_eq!((copy.shape(), copy.chunkshape()), (&[20, 30][..], vec![5, 30]));
    ///
    /// // Blocks as python-blosc2 would choose them for these chunks.
    /// let mut params = array.params()?.chunkshape(&[10, 10]);
    /// params.blockshape = None;
    /// assert_eq!(array.copy(&Dest::Memory, &params)?.blockshape(), [10, 10]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`NdParam::Outside`] for another shape than the array's, [`NdParam::Dtype`] for another
    /// type, [`NdParam::Shapes`] for impossible chunks and blocks; as
    /// [`SChunk::copy`](crate::SChunk::copy).
    pub fn copy(&self, dest: &Dest, params: &NdParams) -> Result<Self> {
        let at = vec![0; self.ndim()];
        if params.shape != self.shape() {
            let (shape, whole) = (self.shape().to_vec(), params.shape.clone());
            return Err(NdParam::Outside { shape, at, whole }.into());
        }
        let schunk = dest.write(|dest| {
            let writer = match dest {
                Dest::Memory => NdWriter::in_memory(params)?,
                Dest::Contiguous(path) => NdWriter::create(path, params)?,
                Dest::Sparse(path) => NdWriter::create_sparse(path, params)?,
            };
            let mut writer = writer.budget(self.options.clone());
            writer.write_array(&at, self)?;
            writer.writer.finish()
        })?;
        Self::from_schunk(schunk)
    }
}

impl NdWriter {
    /// Writes all items of an array at a position. Chunks that have the same position and the same
    /// compression in both arrays are moved without decoding them.
    ///
    /// # Errors
    /// [`NdParam::Outside`], [`NdParam::Dtype`], or the error of a chunk of either array.
    pub fn write_array(&mut self, at: &[u64], array: &NdArray) -> Result<()> {
        self.lock()?;
        let bounds = self.place_of(at, array.shape())?;
        if array.dtype() != self.dtype() {
            let (dtype, wanted) = (self.dtype().to_string(), array.dtype().to_string());
            return Err(NdParam::Dtype { dtype, wanted }.into());
        }
        if bounds.iter().any(Range::is_empty) {
            return Ok(());
        }
        if self.has_alike(self.shape(), &bounds, array) {
            self.move_chunks(&bounds, array)?;
        } else {
            self.copy_items(&bounds, array)?;
        }
        self.writer.compare_source(array.schunk())
    }

    /// Appends an array to this one along a dimension. The other dimensions have the same lengths.
    ///
    /// # Errors
    /// [`NdParam::Axis`]; as [`resize`](Self::resize) and [`write_array`](Self::write_array).
    pub fn append_array(&mut self, axis: usize, array: &NdArray) -> Result<()> {
        self.lock()?;
        let mut at = vec![0; self.shape().len()];
        let mut shape = self.shape().to_vec();
        let is_alike = |(dim, (a, b)): (usize, (&u64, &u64))| dim == axis || a == b;
        let fits = shape.len() == array.ndim()
            && shape.iter().zip(array.shape()).enumerate().all(is_alike);
        let (Some(start), Some(len), Some(more)) =
            (at.get_mut(axis), shape.get_mut(axis), array.shape().get(axis))
        else {
            let what = "there is none of this number";
            return Err(NdParam::Axis { axis, ndim: shape.len(), what }.into());
        };
        if !fits {
            return Err(NdParam::Outside { shape: array.shape().to_vec(), at, whole: shape }.into());
        }
        *start = *len;
        *len = len.saturating_add(*more);
        self.grow(&shape)?;
        self.write_array(&at, array)
    }

    /// The region of an array of this shape at a position.
    fn place_of(&self, at: &[u64], shape: &[u64]) -> Result<Vec<Range<u64>>> {
        let whole = self.shape();
        let end = |(at, len): (&u64, &u64)| at.checked_add(*len).map(|end| *at..end);
        let bounds: Option<Vec<_>> = at.iter().zip(shape).map(end).collect();
        let is_inside = at.len() == whole.len() && shape.len() == whole.len();
        match bounds {
            Some(bounds) if is_inside && bounds.iter().zip(whole).all(|(b, len)| b.end <= *len) => {
                Ok(bounds)
            }
            _ => {
                let (shape, at, whole) = (shape.to_vec(), at.to_vec(), whole.to_vec());
                Err(NdParam::Outside { shape, at, whole }.into())
            }
        }
    }

    /// Whether [`append_array`](Self::append_array) moves the chunks of the array without decoding
    /// them: both have the same type, chunks, blocks and pipeline, and the seam is a border of
    /// chunks.
    #[must_use]
    pub fn is_alike(&self, axis: usize, array: &NdArray) -> bool {
        let mut whole = self.shape().to_vec();
        let mut bounds: Vec<Range<u64>> = array.shape().iter().map(|len| 0..*len).collect();
        let (Some(len), Some(part)) = (whole.get_mut(axis), bounds.get_mut(axis)) else {
            return false;
        };
        let end = len.saturating_add(part.end);
        *part = core::mem::replace(len, end)..end;
        let fits = array.ndim() == whole.len() && array.dtype() == self.dtype();
        fits && self.has_alike(&whole, &bounds, array)
    }

    /// Whether each chunk of the array is a chunk of this array, of the shape `whole`, padding
    /// included.
    fn has_alike(&self, whole: &[u64], bounds: &[Range<u64>], array: &NdArray) -> bool {
        let lens = self.geometry.chunkshape().iter().zip(whole);
        // A chunk that ends at the edge of one array must end at the edge of the other: its padding
        // must not show.
        let mut places = bounds.iter().zip(lens);
        array.is_whole()
            && array.meta().chunkshape() == self.meta.chunkshape()
            && array.meta().blockshape() == self.meta.blockshape()
            && is_same_way(&array.schunk().cparams(), self.cparams())
            && places.all(|(b, (chunk, len))| {
                b.start % chunk == 0 && (b.end == *len || (b.end - b.start) % chunk == 0)
            })
    }

    fn move_chunks(&mut self, bounds: &[Range<u64>], array: &NdArray) -> Result<()> {
        let (from, to) = (array.meta().grid(), self.meta.grid());
        let first: Vec<u64> = bounds
            .iter()
            .zip(self.geometry.chunkshape())
            .map(|(b, chunk)| b.start / chunk)
            .collect();
        for index in Odometer::new(from.iter().map(|len| 0..*len).collect()) {
            let place: Vec<u64> = index.iter().zip(&first).map(|(at, first)| at + first).collect();
            let nchunk = ravel(&place, &to);
            match array.schunk().chunk(ravel(&index, &from))? {
                ChunkBytes::Stored(chunk) => self.writer.update_chunk(nchunk, &chunk)?,
                ChunkBytes::Special { kind, .. } => self.writer.update_special(nchunk, kind)?,
            }
        }
        Ok(())
    }

    fn copy_items(&mut self, bounds: &[Range<u64>], array: &NdArray) -> Result<()> {
        let pieces = self.pieces(bounds);
        let mut items = vec![];
        for piece in pieces {
            let picks = |base: bool| -> Vec<Pick> {
                let start = |b: &Range<u64>| if base { b.start } else { 0 };
                piece
                    .iter()
                    .zip(bounds)
                    .map(|(p, b)| Pick::from(p.start - start(b)..p.end - start(b)))
                    .collect()
            };
            let nitems: u64 = piece.iter().map(|range| range.end - range.start).product();
            let nbytes = nitems.saturating_mul(self.geometry.typesize());
            items.resize(super::geometry::as_len(nbytes), 0);
            array.read_bytes(picks(true), &mut items)?;
            self.write_bytes(picks(false), &items)?;
        }
        Ok(())
    }

    /// Cuts a box at borders of chunks: into rows of chunks if one fits the memory, or else into
    /// chunks.
    fn pieces(&self, bounds: &[Range<u64>]) -> Vec<Vec<Range<u64>>> {
        let chunkshape = self.geometry.chunkshape();
        let lens = bounds.iter().map(|range| range.end - range.start);
        let row =
            lens.skip(1).fold(self.geometry.typesize(), |nbytes, len| nbytes.saturating_mul(len));
        let row = row.saturating_mul(chunkshape.first().copied().unwrap_or(1));
        let cut_all = row > self.max_memory() / 2;
        let cuts = bounds.iter().zip(chunkshape).enumerate();
        let numbers = cuts.map(|(dim, (range, chunk))| {
            if dim == 0 || cut_all { range.start / chunk..range.end.div_ceil(*chunk) } else { 0..1 }
        });
        let piece = |numbers: Vec<u64>| {
            let cut = |(dim, ((number, range), chunk)): (usize, ((u64, &Range<u64>), &u64))| {
                if dim == 0 || cut_all {
                    return range.start.max(number * chunk)..range.end.min((number + 1) * chunk);
                }
                range.clone()
            };
            numbers.into_iter().zip(bounds).zip(chunkshape).enumerate().map(cut).collect()
        };
        Odometer::new(numbers.collect()).map(piece).collect()
    }
}

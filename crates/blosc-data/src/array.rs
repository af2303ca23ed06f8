//! Arrays of any format.

use core::{fmt::Debug, ops::Range};
use std::sync::Arc;

use b2frame::SChunk;
use b2frame::error::NdParam;
use b2frame::nd::{Element, Pick, Selection};
use blosc_dtype::Dtype;
use serde_json::{Map, Value};

use crate::boxes::count;
use crate::chunks::Chunks;
use crate::error::{Param, Result};
use crate::size::{check_range, nbytes, reserved, zeroed};
use crate::verify::{self, OnProgress, Report, VerifyOptions};
use crate::{Budget, by_boxes};

/// An array: items of one type in any number of dimensions.
///
/// A format must give its description and [`read_box`](Self::read_box). Selections, lists of
/// positions and bounded iteration have default methods, which a faster format overrides.
pub trait Array: Debug + Send + Sync {
    /// The name of the format: `b2nd`, `npy`, `carray`, `zarr2`.
    fn format(&self) -> &'static str;

    /// Type of the items.
    fn dtype(&self) -> &Dtype;

    /// Items per dimension; empty for a single item.
    fn shape(&self) -> &[u64];

    /// Items per dimension of a chunk; empty for an array without chunks.
    fn chunkshape(&self) -> &[u64] {
        &[]
    }

    /// Items per dimension of a block, the part of a chunk that is decoded alone; empty if chunks
    /// have no blocks.
    fn blockshape(&self) -> &[u64] {
        &[]
    }

    /// The filters and the codec in the words of the format; empty if the array is uncompressed or
    /// they are unknown.
    fn pipeline(&self) -> String {
        String::new()
    }

    /// Stored bytes of the array, if they are known.
    fn stored_nbytes(&self) -> Option<u64> {
        None
    }

    /// The attributes, as far as JSON can hold them. `_ARRAY_DIMENSIONS` lists the names of the
    /// dimensions.
    ///
    /// # Errors
    ///
    /// Attributes that are damaged.
    fn attributes(&self) -> Result<Map<String, Value>> {
        Ok(Map::new())
    }

    /// Attributes that could not be read, in words for a list: "the attribute `x`".
    fn lost(&self) -> Vec<String> {
        vec![]
    }

    /// Fills `dest` with the items of a box in C order: one range for each dimension, all of them
    /// within the shape and none empty. [`read`](Self::read) checks that for its callers.
    ///
    /// # Errors
    ///
    /// Items that cannot be read.
    fn read_box(&self, bounds: &[Range<u64>], dest: &mut [u8]) -> Result<()>;

    /// Fills `dest` with the items at all combinations of positions, in C order. Each dimension has
    /// one list, within the shape.
    ///
    /// # Errors
    ///
    /// Items that cannot be read.
    fn read_at(&self, positions: &[&[u64]], dest: &mut [u8]) -> Result<()> {
        by_boxes::read_at(self, positions, dest)
    }

    /// Fills `dest` with single items, by their numbers in C order. Numbers may come in any order,
    /// and repeat.
    ///
    /// # Errors
    ///
    /// [`Param::Range`] for a number beyond the last item; a buffer of another length; items that
    /// cannot be read.
    fn gather(&self, items: &[u64], dest: &mut [u8]) -> Result<()> {
        check_len(self.dtype(), &[items.len() as u64], dest)?;
        by_boxes::gather(self, items, dest)
    }

    /// Fills `dest` with a part as NumPy selects it, in C order.
    ///
    /// # Errors
    ///
    /// A selection that does not fit the array; a buffer of another length; items that cannot be
    /// read.
    fn read(&self, selection: &Selection, dest: &mut [u8]) -> Result<()> {
        let shape = selection.shape(self.shape()).map_err(b2frame::Error::from)?;
        check_len(self.dtype(), &shape, dest)?;
        if dest.is_empty() {
            return Ok(());
        }
        let positions = selection.positions(self.shape()).map_err(b2frame::Error::from)?;
        let mut lens = shape.iter();
        let mut picks = selection.picks().iter().copied().chain(core::iter::repeat(Pick::ALL));
        let axes: Vec<Axis> = positions
            .into_iter()
            .map(|positions| match picks.next() {
                Some(Pick::Index(_)) => Axis::run(positions, 1),
                Some(Pick::Slice { step: 1, .. }) => {
                    Axis::run(positions, lens.next().copied().unwrap_or(0))
                }
                _ => {
                    lens.next();
                    Axis::List(positions.collect())
                }
            })
            .collect();
        if let Some(bounds) = axes.iter().map(Axis::as_run).collect::<Option<Vec<_>>>() {
            return self.read_box(&bounds, dest);
        }
        let lists: Vec<Vec<u64>> = axes.into_iter().map(Axis::into_list).collect();
        self.read_at(&lists.iter().map(Vec::as_slice).collect::<Vec<_>>(), dest)
    }

    /// Hands the bytes `range` of the items in C order to `sink`, in pieces, within the memory of
    /// `budget`.
    ///
    /// # Errors
    ///
    /// [`Param::Range`] for a range beyond the end; damage, after all items before it; the error of
    /// `sink`.
    fn stream(
        &self,
        range: Range<u64>,
        budget: &Budget,
        sink: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        check_range(&range, nbytes(self.dtype().itemsize() as u64, self.shape()))?;
        by_boxes::part(self, range, budget, sink)
    }

    /// The same array, read with the threads and the memory of `budget`; `None` if the format does
    /// not use them.
    fn within(&self, budget: &Budget) -> Option<Arc<dyn Array>> {
        let _ = budget;
        None
    }

    /// The stored chunks, to be moved without decoding; `None` if they are not of the Blosc family.
    fn chunks(&self) -> Option<&dyn Chunks> {
        None
    }

    /// The frame that holds the array, if there is one.
    fn frame(&self) -> Option<&Arc<SChunk>> {
        None
    }

    /// Compares the data read with the seals of the file. Callers do this after reading, before
    /// they use the data.
    ///
    /// # Errors
    ///
    /// Bytes that differ from the sealed ones.
    fn compare_seals(&self) -> Result<()> {
        Ok(())
    }

    /// Decodes all items and compares checksums; see [`verify`](crate::verify::verify).
    ///
    /// # Errors
    ///
    /// When the system refuses to read at all. Damage is in the report instead.
    fn verify(&self, options: &VerifyOptions, progress: OnProgress<'_>) -> Result<Report> {
        let _ = progress;
        Ok(verify::by_reading(self, options))
    }
}

impl dyn Array + '_ {
    /// Number of items.
    #[must_use]
    pub fn nitems(&self) -> u64 {
        nbytes(1, self.shape())
    }

    /// Bytes of all items.
    #[must_use]
    pub fn nbytes(&self) -> u64 {
        nbytes(self.dtype().itemsize() as u64, self.shape())
    }

    /// Number of chunks; 1 for an array without chunks.
    #[must_use]
    pub fn nchunks(&self) -> u64 {
        let lens = self.shape().iter().zip(self.chunkshape());
        lens.fold(1, |n, (len, chunk)| n.saturating_mul(len.div_ceil((*chunk).max(1))))
    }

    /// The items of a part in C order, as bytes.
    ///
    /// # Errors
    ///
    /// As [`Array::read`]; [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn to_bytes(&self, selection: impl Into<Selection>) -> Result<Vec<u8>> {
        let selection = selection.into();
        let shape = selection.shape(self.shape()).map_err(b2frame::Error::from)?;
        let mut bytes = zeroed(nbytes(self.dtype().itemsize() as u64, &shape))?;
        self.read(&selection, &mut bytes)?;
        Ok(bytes)
    }

    /// The items of a part in C order.
    ///
    /// ```
    /// let dir = tempfile::tempdir()?;
    /// let path = dir.path().join("grid.b2nd");
    /// let params = b2frame::NdParams::new(&[3, 4], "<i4".parse()?);
    /// let mut writer = b2frame::NdWriter::create(&path, &params)?;
    /// writer.write_slice((.., ..), &(0..12_i32).collect::<Vec<_>>())?;
    /// writer.finish()?;
    ///
    /// let grid = blosc_data::open(&path)?.into_array()?;
    /// assert_eq!(grid.to_vec::<i32>((1.., 2))?, [6, 10]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As `to_bytes`; items of another type.
    pub fn to_vec<T: Element>(&self, selection: impl Into<Selection>) -> Result<Vec<T>> {
        let dtype = self.dtype();
        if !T::accepts(dtype) {
            let (dtype, wanted) = (dtype.to_string(), T::dtype().to_string());
            return Err(b2frame::Error::from(NdParam::Dtype { dtype, wanted }).into());
        }
        let bytes = self.to_bytes(selection)?;
        let items = bytes.chunks_exact(dtype.itemsize().max(1));
        let mut decoded = reserved(items.len() as u64)?;
        decoded.extend(items.map(|item| T::decode(dtype, item)));
        Ok(decoded)
    }
}

/// The positions of a selection along one dimension.
enum Axis {
    /// Consecutive positions, which need no list.
    Run(Range<u64>),
    List(Vec<u64>),
}

impl Axis {
    fn run(mut positions: impl Iterator<Item = u64>, len: u64) -> Self {
        let start = positions.next().unwrap_or(0);
        Self::Run(start..start.saturating_add(len))
    }

    fn as_run(&self) -> Option<Range<u64>> {
        match self {
            Self::Run(run) => Some(run.clone()),
            Self::List(_) => None,
        }
    }

    fn into_list(self) -> Vec<u64> {
        match self {
            Self::Run(run) => run.collect(),
            Self::List(list) => list,
        }
    }
}

/// Refuses a buffer whose length differs from the items of a shape.
pub(crate) fn check_len(dtype: &Dtype, shape: &[u64], dest: &[u8]) -> Result<()> {
    let (len, expected) = (dest.len() as u64, nbytes(dtype.itemsize() as u64, shape));
    if len == expected { Ok(()) } else { Err(Param::BufferLen { len, expected }.into()) }
}

/// Refuses a box that does not fit the array, or a buffer that does not fit the box.
///
/// # Errors
///
/// [`Param::Dimensions`], [`Param::Bounds`], [`Param::BufferLen`].
pub fn check_box(array: &dyn Array, bounds: &[Range<u64>], dest: &[u8]) -> Result<()> {
    let (given, ndim) = (bounds.len(), array.shape().len());
    if given != ndim {
        return Err(Param::Dimensions { given, ndim }.into());
    }
    for (dim, (range, len)) in bounds.iter().zip(array.shape()).enumerate() {
        if range.start > range.end || range.end > *len {
            return Err(Param::Bounds { dim, start: range.start, end: range.end, len: *len }.into());
        }
    }
    let expected = count(bounds).saturating_mul(array.dtype().itemsize() as u64);
    let len = dest.len() as u64;
    if len == expected { Ok(()) } else { Err(Param::BufferLen { len, expected }.into()) }
}

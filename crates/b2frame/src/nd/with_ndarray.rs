//! Parts of an array as arrays of the crate `ndarray` (feature `ndarray`).

use ndarray::{Array, ArrayD, ArrayView, Dimension, IxDyn};

use super::array::NdArray;
use super::geometry::as_len;
use super::writer::NdWriter;
use super::{Element, NdParam, Selection};
use crate::error::Result;

impl NdArray {
    /// Reads a part as an array of the crate `ndarray`; indexes leave out their dimensions.
    ///
    /// ```
    /// # use b2frame::{FrameParams, NdArray, to_cframe, nd::NdMeta};
    /// # use blosc_chunk::CParams;
    /// # let meta = NdMeta::new(&[2, 3], &[2, 3], &[1, 3], "|u1")?;
    /// # let params = FrameParams::new(CParams::default().typesize(1)).chunksize(6)
    /// #     .metalayer("b2nd", meta.encode());
    /// let array = NdArray::from_cframe(to_cframe(&[1, 2, 3, 4, 5, 6], &params)?)?;
    /// let columns: ndarray::Array2<u8> = array.read_ndarray((.., 1..))?;
    /// assert_eq!(columns, ndarray::array![[2, 3], [5, 6]]);
    /// # Ok::<(), b2frame::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`NdParam::Dims`] if the part has another number of dimensions than `D`, or as
    /// [`read_slice`](Self::read_slice).
    pub fn read_ndarray<T: Element, D: Dimension>(
        &self,
        selection: impl Into<Selection>,
    ) -> Result<Array<T, D>> {
        let selection = selection.into();
        let shape: Vec<usize> = selection.shape(self.shape())?.into_iter().map(as_len).collect();
        let wrong = |ndim| NdParam::Dims { given: D::NDIM.unwrap_or(0), ndim };
        if D::NDIM.is_some_and(|ndim| ndim != shape.len()) {
            return Err(wrong(shape.len()).into());
        }
        let ndim = shape.len();
        let items = self.read_slice(selection)?;
        let array = ArrayD::from_shape_vec(IxDyn(&shape), items).map_err(|_| wrong(ndim))?;
        Ok(array.into_dimensionality().map_err(|_| wrong(ndim))?)
    }
}

impl NdWriter {
    /// Writes an array of the crate `ndarray`; its items may have any order in memory.
    ///
    /// ```
    /// # use b2frame::{NdParams, NdWriter};
    /// let mut writer = NdWriter::in_memory(&NdParams::new(&[2, 3], "<i4".parse()?))?;
    /// let items = ndarray::array![[1, 2], [3, 4]];
    /// writer.write_ndarray((.., 1..), items.t())?;
    /// assert_eq!(writer.finish()?.read::<i32>()?, [0, 1, 3, 0, 2, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`NdParam::Shape`] if the part has another shape, or as [`write_slice`](Self::write_slice).
    pub fn write_ndarray<T: Element, D: Dimension>(
        &mut self,
        selection: impl Into<Selection>,
        items: ArrayView<'_, T, D>,
    ) -> Result<()> {
        let selection = selection.into();
        let expected = selection.shape(self.shape())?;
        let shape: Vec<u64> = items.shape().iter().map(|len| *len as u64).collect();
        if shape != expected {
            return Err(NdParam::Shape { shape, expected }.into());
        }
        match items.as_slice() {
            Some(items) => self.write_slice(selection, items),
            None => self.write_slice(selection, &items.iter().copied().collect::<Vec<T>>()),
        }
    }
}

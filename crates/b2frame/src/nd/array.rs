//! An n-dimensional array: shapes, type, and views that leave out or add dimensions.
//!
//! The array without reading, which is in `nd/read.rs`. A view shares the super-chunk with its
//! array. The two differ in the list of dimensions that are shown: hidden ones have length 1, added
//! ones are not stored.

use std::path::Path;
use std::sync::Arc;

use blosc_container::Budget;
use blosc_dtype::{ByteOrder, Dtype, Kind, Scalar};

use super::{Geometry, NdMeta, NdParam};
use crate::error::{Corrupt, Error, Param, Result};
use crate::params::OpenOptions;
use crate::schunk::SChunk;

/// An n-dimensional array in a super-chunk, for reading.
///
/// It can be shared between threads; all reading takes `&self`. Clones and views share one
/// super-chunk.
///
/// ```no_run
/// use b2frame::{NdArray, nd::Pick};
///
/// let array = NdArray::open("temperature.b2nd")?;
/// println!("{:?} {}", array.shape(), array.dtype());
/// // NumPy: a[3, 10:20, ::-1]. Only the blocks that hold these items are read and decoded.
/// let items: Vec<f32> = array.read_slice((3, 10..20, Pick::ALL.step(-1)))?;
/// # Ok::<(), b2frame::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct NdArray {
    pub(super) schunk: Arc<SChunk>,
    pub(super) meta: Arc<NdMeta>,
    pub(super) geometry: Arc<Geometry>,
    dtype: Dtype,
    pub(super) options: Budget,
    /// The dimensions that are shown: numbers of stored ones, or `None` for an added one.
    pub(super) dims: Vec<Option<usize>>,
    shape: Vec<u64>,
}

impl NdArray {
    /// Opens the array in a file.
    ///
    /// # Errors
    /// As [`SChunk::open`], and [`from_schunk`](Self::from_schunk).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &OpenOptions::default())
    }

    /// Opens an array in a file, at a position or with limits of the caller.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        SChunk::open_as(path.as_ref(), options, Self::from_schunk)
    }

    /// Opens a frame in a buffer that holds only this frame, with an array.
    ///
    /// # Errors
    /// As [`SChunk::from_cframe`], and [`from_schunk`](Self::from_schunk).
    pub fn from_cframe(frame: Vec<u8>) -> Result<Self> {
        Self::from_schunk(SChunk::from_cframe(frame)?)
    }

    /// The array in a super-chunk.
    ///
    /// # Errors
    /// [`Param::NotAnArray`], or the error of its description.
    pub fn from_schunk(schunk: impl Into<Arc<SChunk>>) -> Result<Self> {
        let schunk = schunk.into();
        schunk.nd_array()?.ok_or_else(|| Param::NotAnArray.into())
    }

    /// `meta` must be checked against `schunk`.
    fn new(schunk: Arc<SChunk>, meta: NdMeta) -> Self {
        Self {
            geometry: Arc::new(Geometry::new(&meta, schunk.typesize())),
            dtype: item_dtype(&meta, schunk.typesize()),
            options: Budget::default(),
            dims: (0..meta.ndim()).map(Some).collect(),
            shape: meta.shape().to_vec(),
            schunk,
            meta: Arc::new(meta),
        }
    }

    /// The array with other threads and working memory for reading. One thread reads small parts in
    /// any case.
    #[must_use]
    pub fn budget(self, options: Budget) -> Self {
        Self { options, ..self }
    }

    /// Looks whether another program has changed the array, and reloads it then: see
    /// [`SChunk::refresh`]. Returns whether the array changed. The dimensions that a view hides
    /// must still have length 1.
    ///
    /// # Errors
    /// As [`SChunk::refresh`]; [`Param::NotAnArray`] if the frame holds no array any more;
    /// [`NdParam::Axis`]. The array then stays as it was.
    pub fn refresh(&mut self) -> Result<bool> {
        let Some(schunk) = self.schunk.refreshed()? else { return Ok(false) };
        let new = Self::from_schunk(schunk)?.budget(self.options.clone());
        let old = self.meta.ndim();
        if new.meta.ndim() != old {
            let what = "the array has another number of them now";
            return Err(Param::from(NdParam::Axis { axis: old, ndim: new.ndim(), what }).into());
        }
        for (axis, len) in new.meta.shape().iter().enumerate() {
            if *len != 1 && !self.dims.contains(&Some(axis)) {
                let what = "its length is not 1";
                return Err(Param::from(NdParam::Axis { axis, ndim: old, what }).into());
            }
        }
        *self = new.view(self.dims.clone());
        Ok(true)
    }

    /// The super-chunk with the data.
    #[must_use]
    pub fn schunk(&self) -> &Arc<SChunk> {
        &self.schunk
    }

    /// The description as stored; a view has that of its array.
    #[must_use]
    pub fn meta(&self) -> &NdMeta {
        &self.meta
    }

    /// Number of dimensions.
    #[must_use]
    pub fn ndim(&self) -> usize {
        self.shape.len()
    }

    /// Length in each dimension (items).
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Length of a chunk in each dimension (items).
    #[must_use]
    pub fn chunkshape(&self) -> Vec<u32> {
        self.shown(self.meta.chunkshape())
    }

    /// Length of a block in each dimension (items).
    #[must_use]
    pub fn blockshape(&self) -> Vec<u32> {
        self.shown(self.meta.blockshape())
    }

    /// Number of items.
    #[must_use]
    pub fn nitems(&self) -> u64 {
        self.meta.nitems()
    }

    /// Bytes of the items, without the padding of chunks.
    #[must_use]
    pub fn nbytes(&self) -> u64 {
        self.nitems().saturating_mul(self.typesize() as u64)
    }

    /// Bytes of an item.
    #[must_use]
    pub fn typesize(&self) -> usize {
        self.schunk.typesize()
    }

    /// The type of the items.
    ///
    /// If the stored description is not NumPy's, or has items of another size, the items are raw
    /// bytes (`|V8`); [`NdMeta::dtype_text`] returns the stored text.
    #[must_use]
    pub fn dtype(&self) -> &Dtype {
        &self.dtype
    }

    /// A view without some dimensions of length 1.
    ///
    /// ```
    /// # use b2frame::{FrameParams, NdArray, to_cframe, nd::NdMeta};
    /// # use blosc_chunk::CParams;
    /// # let meta = NdMeta::new(&[1, 3], &[1, 3], &[1, 3], "|u1")?;
    /// # let params = FrameParams::new(CParams::default().typesize(1)).chunksize(3)
    /// #     .metalayer("b2nd", meta.encode());
    /// let array = NdArray::from_cframe(to_cframe(&[7, 8, 9], &params)?)?;
    /// assert_eq!(array.shape(), [1, 3]);
    /// let row = array.squeeze(&[0])?;
    /// assert_eq!(row.shape(), [3]);
    /// assert_eq!(row.get::<u8>(&[2])?, 9);
    /// assert_eq!(row.expand_dims(&[1])?.shape(), [3, 1]);
    /// # Ok::<(), b2frame::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`NdParam::Axis`].
    pub fn squeeze(&self, axes: &[usize]) -> Result<Self> {
        let ndim = self.ndim();
        for &axis in axes {
            let what = match self.shape.get(axis) {
                Some(1) => continue,
                Some(_) => "its length is not 1",
                None => "there is none of this number",
            };
            return Err(Param::from(NdParam::Axis { axis, ndim, what }).into());
        }
        let kept = |axis: &usize| !axes.contains(axis);
        let dims = (0..ndim).filter(kept).filter_map(|axis| self.dims.get(axis).copied());
        Ok(self.view(dims.collect()))
    }

    /// A view with further dimensions of length 1. `axes` are their numbers in the view.
    ///
    /// # Errors
    /// [`NdParam::Axis`]; [`NdParam::Dims`] for more than 16 dimensions.
    pub fn expand_dims(&self, axes: &[usize]) -> Result<Self> {
        let ndim = self.ndim().saturating_add(axes.len());
        if ndim > super::MAX_NDIM {
            return Err(Param::from(NdParam::Dims { given: ndim, ndim: super::MAX_NDIM }).into());
        }
        let is_twice = |n: usize| axes.iter().take(n).any(|axis| Some(axis) == axes.get(n));
        for (n, &axis) in axes.iter().enumerate() {
            if axis >= ndim || is_twice(n) {
                let what = if axis >= ndim {
                    "there is none of this number"
                } else {
                    "it was named before"
                };
                return Err(Param::from(NdParam::Axis { axis, ndim, what }).into());
            }
        }
        let mut stored = self.dims.iter().copied();
        let dims =
            (0..ndim).map(|axis| if axes.contains(&axis) { None } else { stored.next().flatten() });
        Ok(self.view(dims.collect()))
    }

    /// Whether this is the array as stored, not a view.
    pub(super) fn is_whole(&self) -> bool {
        self.dims.len() == self.meta.ndim()
            && self.dims.iter().enumerate().all(|(n, dim)| *dim == Some(n))
    }

    fn view(&self, dims: Vec<Option<usize>>) -> Self {
        let shape = dims.iter().map(|dim| self.stored(*dim, self.meta.shape())).collect();
        Self { dims, shape, ..self.clone() }
    }

    fn shown(&self, lens: &[u32]) -> Vec<u32> {
        self.dims.iter().map(|dim| self.stored(*dim, lens)).collect()
    }

    /// The length of a stored dimension; an added one has length 1.
    fn stored<T: Copy + From<u8>>(&self, dim: Option<usize>, lens: &[T]) -> T {
        dim.and_then(|dim| lens.get(dim).copied()).unwrap_or_else(|| T::from(1))
    }
}

impl SChunk {
    /// Description of the n-dimensional array, if the frame holds an array.
    ///
    /// # Errors
    /// The description is invalid, in itself or for this frame.
    pub fn nd_meta(&self) -> Result<Option<NdMeta>> {
        let layer = self.meta().get(NdMeta::NAME).or_else(|| self.meta().get(NdMeta::OLD_NAME));
        let Some(layer) = layer else { return Ok(None) };
        let at = self.offset().saturating_add(layer.position);
        let meta = NdMeta::parse(layer.content).map_err(|error| error.moved(at))?;
        let (typesize, chunksize) = (self.header().typesize().get(), self.chunksize().fixed());
        meta.check_frame(typesize, chunksize, self.nchunks(), self.nbytes())
            .map_err(|what| Error::Corrupt { at, what: Corrupt::from(what) })?;
        Ok(Some(meta))
    }

    /// Uncompressed bytes: in an array, those of its items, without the padding of chunks; in any
    /// other frame [`nbytes`](Self::nbytes).
    #[must_use]
    pub fn items_nbytes(&self) -> u64 {
        match self.nd_meta() {
            Ok(Some(meta)) => meta.nitems().saturating_mul(self.typesize() as u64),
            _ => self.nbytes(),
        }
    }

    /// The n-dimensional array, if the frame holds one. The array shares the super-chunk.
    ///
    /// # Errors
    /// As [`nd_meta`](Self::nd_meta).
    pub fn nd_array(self: &Arc<Self>) -> Result<Option<NdArray>> {
        Ok(self.nd_meta()?.map(|meta| NdArray::new(Arc::clone(self), meta)))
    }
}

impl TryFrom<SChunk> for NdArray {
    type Error = Error;

    fn try_from(schunk: SChunk) -> Result<Self> {
        Self::from_schunk(schunk)
    }
}

/// The type of items of `typesize` bytes; raw bytes if the description does not fit. Caterva stores
/// no type, and C programs that name no type store one of another size.
pub fn item_dtype(meta: &NdMeta, typesize: usize) -> Dtype {
    let text = meta.dtype_bytes().filter(|_| meta.dtype_format() == 0);
    let parsed = text.and_then(|text| Dtype::parse(&String::from_utf8_lossy(text)).ok());
    parsed.filter(|dtype| dtype.itemsize() == typesize).unwrap_or_else(|| raw(typesize))
}

/// The type of items that are raw bytes.
pub(super) fn raw(typesize: usize) -> Dtype {
    let size = u32::try_from(typesize).unwrap_or(u32::MAX);
    match Scalar::new(Kind::Void, ByteOrder::NotApplicable, size) {
        Ok(scalar) => scalar.into(),
        // Unreachable: raw items may have any size.
        Err(_) => Dtype::packed([]).unwrap_or_else(|_| raw(1)),
    }
}

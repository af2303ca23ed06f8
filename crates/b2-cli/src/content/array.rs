//! Arrays of all kinds, read in parts.

use core::ops::Deref;
use std::sync::Arc;

use bcolz_store::CArray;
use bloscpack::numpy::Order;

use crate::{context::Context, error::Result, inputs::Object};

/// An array, and the boxes that are fast to read.
pub(crate) struct Array {
    array: Arc<dyn blosc_data::Array>,
    /// Lengths of a box; larger boxes should be multiples.
    pub(crate) box_lens: Vec<u64>,
}

impl Deref for Array {
    type Target = dyn blosc_data::Array;

    fn deref(&self) -> &Self::Target {
        &*self.array
    }
}

impl Array {
    fn new(array: Arc<dyn blosc_data::Array>, has_chunks: bool) -> Self {
        let box_lens = match array.chunkshape() {
            lens if has_chunks && !lens.is_empty() => lens.to_vec(),
            _ => vec![1; array.shape().len()],
        };
        Self { array, box_lens }
    }

    /// The array of an object; an object without an array comes back.
    ///
    /// # Errors
    ///
    /// When the metadata describe an array that the object cannot be.
    pub(crate) fn from_object(object: Object, cx: &Context) -> Result<Result<Self, Object>> {
        let has_chunks = matches!(object, Object::Frame(_) | Object::Opened(_));
        let is_fortran = match &object {
            Object::Blp(blp) => blp.file.array_info()?.is_some_and(|info| info.order() == Order::F),
            _ => false,
        };
        let array = match object.into_array(&cx.read_options())? {
            Ok(array) => array,
            Err(object) => return Ok(Err(object)),
        };
        let mut array = Self::new(array, has_chunks);
        if is_fortran {
            array.box_lens = columns_first(array.shape());
        }
        Ok(Ok(array))
    }

    /// An array of bcolz.
    pub(crate) fn of_bcolz(array: CArray) -> Self {
        Self::new(blosc_data::formats::bcolz_array(array), false)
    }

    /// Bytes of an item.
    pub(crate) fn itemsize(&self) -> usize {
        self.dtype().itemsize()
    }
}

/// Boxes for an array whose first dimension varies fastest.
pub(crate) fn columns_first(shape: &[u64]) -> Vec<u64> {
    let mut lens = vec![1; shape.len()];
    lens.iter_mut().zip(shape).take(1).for_each(|(to, len)| *to = (*len).clamp(1, 4096));
    lens
}

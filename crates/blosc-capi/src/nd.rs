//! Arrays on super-chunks.
//!
//! C sees a struct that mirrors the array; the valid shapes are kept beside it.
#![allow(unsafe_code, reason = "arrays, shapes and buffers come from C as pointers")]
#![allow(non_camel_case_types, reason = "the names of the header")]

mod create;
mod fields;
mod indexes;
mod slice;

use core::ffi::c_int;
use std::ffi::CString;

use b2frame::nd::{ArrayLayout, NdMeta};

use crate::errors::{INVALID_PARAM, NULL_POINTER};
use crate::places::{self, Freed, Place};
use crate::types::{b2nd_array_t, blosc2_cparams, blosc2_dparams, blosc2_io, blosc2_schunk};

pub use create::{
    Shapes, create_ctx, free, free_ctx, from_cbuffer, from_cframe, from_schunk, open_offset,
    to_cframe,
};
pub use indexes::{multidim_to_unidim, unidim_to_multidim};
pub use slice::{Side, copy_buffer, get_slice_cbuffer, to_cbuffer};

/// The fields of the parameters of new arrays that C sees.
pub type b2nd_context_t = Place<(), Params>;
type ArrayPlace = Place<b2nd_array_t, Array>;

static PARAMS: Freed<(), Params> = Freed::new(64);
static ARRAYS: Freed<b2nd_array_t, Array> = Freed::new(64);

/// The parameters of new arrays.
#[derive(Debug)]
pub struct Params {
    is_contiguous: bool,
    urlpath: Option<CString>,
    cparams: blosc2_cparams,
    dparams: blosc2_dparams,
    io: Option<blosc2_io>,
    /// The shapes, or the code of their defect.
    meta: Result<NdMeta, c_int>,
    /// Names and contents of further metalayers.
    metalayers: Vec<(Vec<u8>, Vec<u8>)>,
}

/// The state of an array, which its public fields repeat.
pub(crate) struct Array {
    schunk: *mut blosc2_schunk,
    layout: ArrayLayout,
    /// Items per dimension.
    shape: Vec<u64>,
    blocks_in_chunk: usize,
    typesize: usize,
}

/// The private part of an array, or a code for NULL and for a recently freed array.
///
/// # Safety
///
/// NULL, or an array of this library, which nobody frees during `'a`.
unsafe fn find<'a>(array: *const b2nd_array_t) -> Result<&'a Array, c_int> {
    if array.is_null() {
        return Err(NULL_POINTER);
    }
    // SAFETY: the caller promises it.
    unsafe { places::find(array.cast::<ArrayPlace>()) }.ok_or(INVALID_PARAM)
}

/// A number for C: 0, or a code.
fn code(result: Result<(), c_int>) -> c_int {
    result.err().unwrap_or(0)
}

/// `ndim` numbers of C, at most as many as an array can have dimensions.
///
/// # Safety
///
/// `numbers` is NULL or has as many.
unsafe fn numbers<'a, T>(numbers: *const T, ndim: i8) -> Result<&'a [T], c_int> {
    let len = usize::try_from(ndim).ok().filter(|ndim| *ndim <= crate::types::MAX_DIM);
    let len = len.ok_or(INVALID_PARAM)?;
    if len == 0 {
        return Ok(&[]);
    }
    if numbers.is_null() {
        return Err(NULL_POINTER);
    }
    // SAFETY: the caller promises it.
    Ok(unsafe { core::slice::from_raw_parts(numbers, len) })
}

//! The fields of an array that C sees.

use core::ffi::{CStr, c_char, c_int};
use core::ptr;
use std::ffi::CString;

use b2frame::nd::NdMeta;

use crate::errors::{FAILURE, MEMORY_ALLOC};
use crate::memory;
use crate::types::{MAX_DIM, b2nd_array_t, blosc2_schunk};

/// Writes all fields.
///
/// # Safety
///
/// The struct is new: all zeros, and nobody else knows it.
pub(super) unsafe fn fill(
    array: *mut b2nd_array_t,
    schunk: *mut blosc2_schunk,
    meta: &NdMeta,
) -> Result<(), c_int> {
    // SAFETY: the caller promises a struct that is ours alone so far.
    let fields = unsafe { &mut *array };
    let wide = |lens: &[u32]| -> Vec<i64> { lens.iter().map(|len| i64::from(*len)).collect() };
    let shape: Vec<i64> = meta.shape().iter().map(|len| len.cast_signed()).collect();
    let (chunk, block) = (wide(meta.chunkshape()), wide(meta.blockshape()));
    let extended = |lens: &[i64], units: &[i64]| -> Vec<i64> {
        let up = |(len, unit): (&i64, &i64)| {
            len.unsigned_abs().next_multiple_of(unit.unsigned_abs().max(1))
        };
        lens.iter().zip(units).map(|pair| up(pair).cast_signed()).collect()
    };
    let (ext, extchunk) = (extended(&shape, &chunk), extended(&chunk, &block));
    fields.sc = schunk;
    fields.shape = padded(&shape);
    fields.chunkshape = narrow(&chunk);
    fields.extshape = padded(&ext);
    fields.blockshape = narrow(&block);
    fields.extchunkshape = padded(&extchunk);
    fields.nitems = shape.iter().product();
    fields.chunknitems = count(&chunk)?;
    fields.extnitems = ext.iter().product();
    fields.blocknitems = count(&block)?;
    fields.extchunknitems = extchunk.iter().product();
    fields.ndim = i8::try_from(shape.len()).map_err(|_| FAILURE)?;
    fields.chunk_cache = crate::types::chunk_cache_s { data: ptr::null_mut(), nchunk: -1 };
    let counts = |lens: &[i64], units: &[i64]| -> Vec<i64> {
        lens.iter().zip(units).map(|(len, unit)| len.checked_div(*unit).unwrap_or(0)).collect()
    };
    fields.item_array_strides = strides(&shape);
    fields.item_chunk_strides = strides(&chunk);
    fields.item_extchunk_strides = strides(&extchunk);
    fields.item_block_strides = strides(&block);
    fields.block_chunk_strides = strides(&counts(&extchunk, &block));
    fields.chunk_array_strides = strides(&counts(&ext, &chunk));
    fields.dtype = dtype(meta)?;
    fields.dtype_format = meta.dtype_format().cast_signed();
    Ok(())
}

/// Stores the number of the last change of the frame that the array has seen.
///
/// # Safety
///
/// As [`fill`]; the super-chunk is one of this library.
#[cfg(not(feature = "soname-7"))]
pub(super) unsafe fn note_tick(array: *mut b2nd_array_t, schunk: *const blosc2_schunk) {
    // SAFETY: the caller promises it.
    let has_frame = unsafe { !(*schunk).frame.is_null() };
    // SAFETY: the caller promises it.
    let has_chunks = unsafe { (*schunk).nchunks > 0 };
    // SAFETY: the caller promises it.
    let tick = unsafe { (*schunk).change_tick };
    if has_frame && has_chunks {
        // SAFETY: the caller promises it.
        unsafe { (*array).last_tick = tick.cast_signed() };
    }
}

/// The older structs lack this field.
///
/// # Safety
///
/// None.
#[cfg(feature = "soname-7")]
pub(super) unsafe fn note_tick(_: *mut b2nd_array_t, _: *const blosc2_schunk) {}

/// The type as text; NULL if the metalayer has none.
fn dtype(meta: &NdMeta) -> Result<*mut c_char, c_int> {
    let Some(bytes) = meta.dtype_bytes() else { return Ok(ptr::null_mut()) };
    let text = CString::new(bytes).map_err(|_| FAILURE)?;
    let place = memory::text(CStr::from_bytes_with_nul(text.as_bytes_with_nul()).unwrap_or(c""));
    if place.is_null() { Err(MEMORY_ALLOC) } else { Ok(place) }
}

/// Frees the memory of the fields.
///
/// # Safety
///
/// An array of this library that nobody uses any more.
pub(super) unsafe fn end(array: *mut b2nd_array_t) {
    // SAFETY: the caller promises it.
    let dtype = unsafe { (*array).dtype };
    // SAFETY: `fill` made it, and no client has reason to change it.
    unsafe { memory::free(dtype) };
    // SAFETY: nobody else has it.
    unsafe { (*array).dtype = ptr::null_mut() };
}

fn padded(lens: &[i64]) -> [i64; MAX_DIM] {
    let mut all = [1; MAX_DIM];
    all.iter_mut().zip(lens).for_each(|(place, len)| *place = *len);
    all
}

fn narrow(lens: &[i64]) -> [i32; MAX_DIM] {
    padded(lens).map(|len| i32::try_from(len).unwrap_or(i32::MAX))
}

fn count(lens: &[i64]) -> Result<i32, c_int> {
    i32::try_from(lens.iter().product::<i64>()).map_err(|_| FAILURE)
}

/// Distance between neighbours per dimension (items); 0 for missing dimensions.
fn strides(lens: &[i64]) -> [i64; MAX_DIM] {
    let mut strides = [0; MAX_DIM];
    let mut stride = 1_i64;
    for (place, len) in strides.iter_mut().take(lens.len()).zip(lens).rev() {
        *place = stride;
        stride = stride.saturating_mul(*len);
    }
    strides
}

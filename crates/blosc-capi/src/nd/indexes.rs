//! Converts between numbers of items and their positions per dimension.

use crate::types::MAX_DIM;

/// The position of item `i` of an array in C order, per dimension.
///
/// # Safety
///
/// `shape` and `index` are NULL or have `ndim` numbers.
pub unsafe fn unidim_to_multidim(ndim: u8, shape: *const i64, i: i64, index: *mut i64) {
    let ndim = usize::from(ndim);
    if ndim == 0 || ndim > MAX_DIM || shape.is_null() || index.is_null() {
        return;
    }
    // SAFETY: not NULL; the caller promises the length.
    let shape = unsafe { core::slice::from_raw_parts(shape, ndim) };
    let mut strides = [1_i64; MAX_DIM];
    let mut stride = 1_i64;
    for (place, len) in strides.iter_mut().take(ndim).zip(shape).rev() {
        *place = stride;
        stride = stride.wrapping_mul(*len);
    }
    let mut rest = i;
    for (dim, stride) in strides.iter().take(ndim).enumerate() {
        let at = rest.checked_div(*stride).unwrap_or(0);
        rest = rest.checked_rem(*stride).unwrap_or(rest);
        let place = index.wrapping_add(dim);
        // SAFETY: as above.
        unsafe { place.write(at) };
    }
}

/// The number of the item at a position, of an array with these strides.
///
/// # Safety
///
/// `index` and `strides` are NULL or have `ndim` numbers; `i` is NULL or can be written to.
pub unsafe fn multidim_to_unidim(index: *const i64, ndim: i8, strides: *const i64, i: *mut i64) {
    // SAFETY: the caller promises it.
    let index = unsafe { super::numbers(index, ndim) };
    // SAFETY: the caller promises it.
    let strides = unsafe { super::numbers(strides, ndim) };
    let (Ok(index), Ok(strides)) = (index, strides) else { return };
    let dims = index.iter().zip(strides);
    let sum = dims.fold(0_i64, |sum, (at, step)| sum.wrapping_add(at.wrapping_mul(*step)));
    // SAFETY: the caller promises it.
    unsafe { crate::guard::put_out(i, sum) };
}

//! The calls with the interface of C-Blosc and the behaviour of C-Blosc2.
#![allow(unsafe_code, reason = "buffers come from C as pointers")]

use core::ffi::{c_int, c_void};

use super::calls;
use super::header::{read, sizes};
use crate::guard::put_out;

pub use super::settings::{
    get_blocksize, get_compressor, set_blocksize, set_compressor, set_splitmode,
};

/// Compresses data with the settings of the process.
///
/// # Safety
///
/// `src` has `nbytes` bytes and `dest` has `destsize`.
pub unsafe fn compress(
    clevel: c_int,
    doshuffle: c_int,
    typesize: usize,
    nbytes: usize,
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
) -> c_int {
    let [typesize, nbytes, destsize] = [typesize, nbytes, destsize].map(lower);
    // SAFETY: the caller promises it.
    unsafe { calls::compress((clevel, doshuffle, typesize), (src, nbytes), (dest, destsize)) }
}

/// A size in C-Blosc2, which counts in 32 bits.
fn lower(size: usize) -> i32 {
    i32::try_from(size).unwrap_or(i32::MAX)
}

/// Decompresses a chunk, which is as long as its header states.
///
/// # Safety
///
/// `src` is a chunk and `dest` has `destsize` bytes.
pub unsafe fn decompress(src: *const c_void, dest: *mut c_void, destsize: usize) -> c_int {
    // SAFETY: the caller promises it.
    match unsafe { read(src) } {
        // SAFETY: the caller promises as many bytes as the header says.
        Ok(header) => unsafe {
            calls::decompress((src, lower(header.cbytes())), (dest, lower(destsize)))
        },
        Err(code) => code,
    }
}

/// Decompresses items of a chunk, which is as long as its header states; returns their number of
/// bytes.
///
/// # Safety
///
/// `src` is a chunk and `dest` has room for the items.
pub unsafe fn getitem(src: *const c_void, start: c_int, nitems: c_int, dest: *mut c_void) -> c_int {
    // SAFETY: the caller promises it.
    match unsafe { read(src) } {
        // SAFETY: the caller promises as many bytes as the header says.
        Ok(header) => unsafe {
            let src = (src, lower(header.cbytes()));
            calls::getitem(src, (start, nitems), (dest, lower(header.nbytes())))
        },
        Err(code) => code,
    }
}

/// Writes the sizes of data, chunk and blocks: zeros if the chunk is damaged.
///
/// # Safety
///
/// `cbuffer` is NULL or a chunk; the others are NULL or can be written to.
pub unsafe fn cbuffer_sizes(
    cbuffer: *const c_void,
    nbytes: *mut usize,
    cbytes: *mut usize,
    blocksize: *mut usize,
) {
    // SAFETY: the caller promises it.
    let (_, [n, c, b]) = unsafe { sizes(cbuffer) };
    for (place, size) in [(nbytes, n), (cbytes, c), (blocksize, b)] {
        // SAFETY: the caller promises it.
        unsafe { put_out(place, size) };
    }
}

/// Whether a chunk has this size and a valid header; writes the size of its data.
///
/// # Safety
///
/// `cbuffer` is NULL or has `cbytes` bytes; `nbytes` is NULL or can be written to.
pub unsafe fn cbuffer_validate(cbuffer: *const c_void, cbytes: usize, nbytes: *mut usize) -> c_int {
    let (code, size) = match cbytes {
        ..16 => (crate::errors::WRITE_BUFFER, 0),
        // SAFETY: the caller promises it.
        _ => match unsafe { read(cbuffer) } {
            Ok(header) if header.cbytes() != cbytes => (crate::errors::INVALID_HEADER, 0),
            Ok(header) => (0, header.nbytes()),
            Err(code) => (code, 0),
        },
    };
    // SAFETY: the caller promises it.
    unsafe { put_out(nbytes, size) };
    code
}

/// Writes the typesize and the flags: zeros if the chunk is damaged.
///
/// # Safety
///
/// `cbuffer` is NULL or a chunk; the others are NULL or can be written to.
pub unsafe fn cbuffer_metainfo(cbuffer: *const c_void, typesize: *mut usize, flags: *mut c_int) {
    // SAFETY: the caller promises it.
    let found = unsafe { read(cbuffer) }.ok();
    let (size, bits) = found.map_or((0, 0), |header| (header.typesize(), header.flags().0));
    // SAFETY: the caller promises it.
    unsafe { put_out(typesize, size) };
    // SAFETY: the caller promises it.
    unsafe { put_out(flags, c_int::from(bits)) };
}

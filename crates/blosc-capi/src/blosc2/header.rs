//! Fields of the header of a chunk, for callers that do not give its length.
#![allow(unsafe_code, reason = "chunks come from C as pointers")]

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;

use blosc_chunk::error::Corrupt;
use blosc_chunk::{ChunkHeader, Error};

use super::names;
use crate::errors;
use crate::guard::{bytes, put_out};

/// The header of a chunk.
///
/// # Safety
///
/// `cbuffer` is NULL or a chunk: it has the bytes of its header.
pub(super) unsafe fn read(cbuffer: *const c_void) -> Result<ChunkHeader, c_int> {
    // SAFETY: the caller promises that.
    let short = unsafe { bytes(cbuffer, ChunkHeader::MIN_LEN) }.ok_or(errors::INVALID_PARAM)?;
    match ChunkHeader::parse(short) {
        Err(Error::Corrupt { what: Corrupt::TooShort { .. }, .. }) => {}
        other => return other.map_err(|error| errors::read(&error)),
    }
    // SAFETY: the flags say that the header has 32 bytes.
    let long = unsafe { bytes(cbuffer, ChunkHeader::MAX_LEN) }.ok_or(errors::INVALID_PARAM)?;
    ChunkHeader::parse(long).map_err(|error| errors::read(&error))
}

/// Writes the sizes of data, chunk and blocks; returns 0 or a code.
///
/// # Safety
///
/// `cbuffer` is NULL or a chunk; the others are NULL or can be written to.
pub unsafe fn cbuffer_sizes(
    cbuffer: *const c_void,
    nbytes: *mut i32,
    cbytes: *mut i32,
    blocksize: *mut i32,
) -> c_int {
    // SAFETY: the caller promises it.
    let (code, sizes) = unsafe { sizes(cbuffer) };
    let [n, c, b] = sizes.map(|size| i32::try_from(size).unwrap_or(0));
    for (place, size) in [(nbytes, n), (cbytes, c), (blocksize, b)] {
        // SAFETY: the caller promises it.
        unsafe { put_out(place, size) };
    }
    code
}

/// A code, and the sizes of data, chunk and blocks: zeros if the chunk is damaged.
///
/// # Safety
///
/// As [`read`].
pub(super) unsafe fn sizes(cbuffer: *const c_void) -> (c_int, [usize; 3]) {
    // SAFETY: the caller promises it.
    match unsafe { read(cbuffer) } {
        Ok(header) => (0, [header.nbytes(), header.cbytes(), header.blocksize()]),
        Err(code) => (code, [0; 3]),
    }
}

/// Writes the versions of the format and of the codec's format.
///
/// # Safety
///
/// `cbuffer` is NULL or a chunk; the others are NULL or can be written to.
pub unsafe fn cbuffer_versions(cbuffer: *const c_void, version: *mut c_int, lz: *mut c_int) {
    // SAFETY: the caller promises it.
    let first = unsafe { bytes(cbuffer, 2) };
    let &[format, codec] = first.and_then(<[u8]>::first_chunk).unwrap_or(&[0, 0]);
    // SAFETY: the caller promises it.
    unsafe { put_out(version, format.into()) };
    // SAFETY: the caller promises it.
    unsafe { put_out(lz, codec.into()) };
}

/// The name of the library of the streams; NULL if there is none.
///
/// # Safety
///
/// `cbuffer` is NULL or a chunk.
#[must_use]
pub unsafe fn cbuffer_complib(cbuffer: *const c_void) -> *const c_char {
    // SAFETY: the caller promises it.
    let flags = unsafe { bytes(cbuffer, 3) }.and_then(|bytes| bytes.last().copied());
    let library = flags.and_then(|flags| names::library(c_int::from(flags >> 5)));
    library.map_or(ptr::null(), CStr::as_ptr)
}

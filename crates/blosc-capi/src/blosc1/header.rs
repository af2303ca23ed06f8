//! Fields of the header of a chunk, which C-Blosc trusts without a check.
#![allow(unsafe_code, reason = "chunks come from C")]

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;

use crate::blosc1::decompress::VERSION;
use crate::blosc1::{MAX_NBYTES, compressor};
use crate::codes::FAILURE;
use crate::guard;

/// Bytes of the header.
pub(super) const LEN: usize = 16;

/// The header of a chunk.
///
/// # Safety
///
/// `chunk` is NULL or has 16 bytes.
pub(super) unsafe fn head<'a>(chunk: *const c_void) -> Option<&'a [u8; LEN]> {
    // SAFETY: as the caller promises.
    unsafe { guard::bytes(chunk, LEN) }.and_then(<[u8]>::first_chunk)
}

/// A field of 32 bits (bytes). Negative values become 0.
pub(super) fn field(head: &[u8; LEN], at: usize) -> usize {
    usize::try_from(signed(head, at)).unwrap_or(0)
}

fn signed(head: &[u8; LEN], at: usize) -> i32 {
    let bytes = head.get(at..).and_then(<[u8]>::first_chunk);
    bytes.map_or(0, |bytes| i32::from_le_bytes(*bytes))
}

/// Converts an `int` to a `size_t` as C does.
#[allow(clippy::cast_sign_loss, reason = "C-Blosc does the same")]
fn widened(head: &[u8; LEN], at: usize) -> usize {
    signed(head, at) as isize as usize
}

/// The sizes in the header; zeros for versions other than 2.
///
/// # Safety
///
/// `chunk` is NULL or has 16 bytes; the others are NULL or can be written to.
pub unsafe fn cbuffer_sizes(
    chunk: *const c_void,
    nbytes: *mut usize,
    cbytes: *mut usize,
    blocksize: *mut usize,
) {
    // SAFETY: as the caller promises.
    let head = unsafe { head(chunk) }.filter(|head| head.first() == Some(&VERSION));
    let size = |at| head.map_or(0, |head| widened(head, at));
    // SAFETY: as the caller promises.
    unsafe { guard::put_out(nbytes, size(4)) };
    // SAFETY: as the caller promises.
    unsafe { guard::put_out(blocksize, size(8)) };
    // SAFETY: as the caller promises.
    unsafe { guard::put_out(cbytes, size(12)) };
}

/// 0 if a chunk of `cbytes` bytes has a valid header, else -1. The size of the data is written in
/// either case.
///
/// # Safety
///
/// `chunk` is NULL or has `cbytes` bytes; `nbytes` is NULL or can be written to.
pub unsafe fn cbuffer_validate(chunk: *const c_void, cbytes: usize, nbytes: *mut usize) -> c_int {
    if cbytes < LEN {
        return FAILURE;
    }
    let (mut found_nbytes, mut found_cbytes) = (0, 0);
    let (nbytes_out, cbytes_out) = (&raw mut found_nbytes, &raw mut found_cbytes);
    // SAFETY: the places are local ones, and the chunk is as the caller promises.
    unsafe { cbuffer_sizes(chunk, nbytes_out, cbytes_out, ptr::null_mut()) };
    // SAFETY: as the caller promises.
    unsafe { guard::put_out(nbytes, found_nbytes) };
    if found_cbytes == cbytes && found_nbytes <= MAX_NBYTES { 0 } else { FAILURE }
}

/// The size of items, and the flags of shuffle, memcpyed and bitshuffle; zeros for versions other
/// than 2.
///
/// # Safety
///
/// `chunk` is NULL or has 16 bytes; the others are NULL or can be written to.
pub unsafe fn cbuffer_metainfo(chunk: *const c_void, typesize: *mut usize, flags: *mut c_int) {
    // SAFETY: as the caller promises.
    let head = unsafe { head(chunk) }.filter(|head| head.first() == Some(&VERSION));
    let byte = |at: usize| head.and_then(|head| head.get(at)).copied().unwrap_or(0);
    // SAFETY: as the caller promises.
    unsafe { guard::put_out(typesize, byte(3).into()) };
    // SAFETY: as the caller promises.
    unsafe { guard::put_out(flags, (byte(2) & 7).into()) };
}

/// The versions of the chunk and of its codec's format.
///
/// # Safety
///
/// As for [`cbuffer_metainfo`].
pub unsafe fn cbuffer_versions(chunk: *const c_void, version: *mut c_int, versionlz: *mut c_int) {
    // SAFETY: as the caller promises.
    let head = unsafe { head(chunk) }.copied().unwrap_or_default();
    let [first, second, ..] = head;
    // SAFETY: as the caller promises.
    unsafe { guard::put_out(version, first.into()) };
    // SAFETY: as the caller promises.
    unsafe { guard::put_out(versionlz, second.into()) };
}

/// The library of the codec; NULL for codecs that C-Blosc never had.
///
/// # Safety
///
/// `chunk` is NULL or has 16 bytes.
#[must_use]
pub unsafe fn cbuffer_complib(chunk: *const c_void) -> *const c_char {
    // SAFETY: as the caller promises.
    let Some([_, _, flags, ..]) = (unsafe { head(chunk) }) else { return ptr::null() };
    compressor::library(flags >> 5).map_or(ptr::null(), CStr::as_ptr)
}

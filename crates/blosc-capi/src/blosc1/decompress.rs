//! Decompresses a chunk.
#![allow(unsafe_code, reason = "buffers come from C")]

use core::ffi::{c_int, c_void};

use blosc_chunk::{Chunk, ChunkHeader, Decoder};

use crate::blosc1::compress::{MAX_NTHREADS, needs_threads};
use crate::blosc1::{header, kept, settings};
use crate::codes::{self, FAILURE, VERSION_SUPPORT};
use crate::env::Variables;
use crate::guard;

/// Decompresses with the number of threads of the process, which `BLOSC_NTHREADS` changes.
///
/// # Safety
///
/// `src` is NULL or a chunk: as many bytes as its header says, and 16 at least. `dest` is NULL or
/// has `destsize` bytes.
pub unsafe fn decompress(src: *const c_void, dest: *mut c_void, destsize: usize) -> c_int {
    settings::init();
    if let Err(code) = settings::apply_threads(&Variables::read()) {
        return code;
    }
    // SAFETY: as the caller promises.
    unsafe { decompress_ctx(src, dest, destsize, settings::get_nthreads()) }
}

/// Decompresses with this number of threads.
///
/// # Safety
///
/// As for [`decompress`].
pub unsafe fn decompress_ctx(
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
    nthreads: c_int,
) -> c_int {
    // SAFETY: as the caller promises.
    let Some(chunk) = (unsafe { chunk(src) }) else { return FAILURE };
    let Ok(header) = ChunkHeader::parse(chunk) else { return code_of(chunk) };
    let nbytes = header.nbytes();
    if header.version() != VERSION || nbytes > 0 && has_long_blocks(&header) {
        return FAILURE;
    }
    if nbytes > destsize || !(1..=MAX_NTHREADS).contains(&nthreads) && needs_threads(chunk) {
        return FAILURE;
    }
    // SAFETY: as the caller promises; `nbytes` is not more.
    let Some(dest) = (unsafe { guard::bytes_mut(dest, nbytes) }) else {
        return if nbytes == 0 { 0 } else { FAILURE };
    };
    let nthreads = usize::try_from(nthreads.clamp(1, MAX_NTHREADS)).unwrap_or(1);
    let read = kept::with_decoder(nthreads, |decoder| decoder.decode_into(chunk, dest));
    match read {
        Ok(nbytes) => c_int::try_from(nbytes).unwrap_or(FAILURE),
        Err(error) => codes::blosc1_read(&error),
    }
}

/// The version of all chunks of C-Blosc 1.
pub(super) const VERSION: u8 = 2;

/// Whether blocks are longer than the data: C-Blosc never writes this, and treats it as damage.
fn has_long_blocks(header: &ChunkHeader) -> bool {
    header.blocksize() > header.nbytes()
}

/// The code for a chunk with a damaged header.
fn code_of(chunk: &[u8]) -> c_int {
    match ChunkHeader::parse(chunk) {
        Err(error) if chunk.first() == Some(&VERSION) => codes::blosc1_read(&error),
        _ => FAILURE,
    }
}

/// The bytes of a chunk, as many as its header states. C-Blosc trusts that number too.
///
/// # Safety
///
/// `src` is NULL, or a chunk with all bytes that its header announces.
unsafe fn chunk<'a>(src: *const c_void) -> Option<&'a [u8]> {
    // SAFETY: as the caller promises.
    let head = unsafe { header::head(src) }?;
    let cbytes = header::field(head, 12).max(header::LEN);
    // SAFETY: as the caller promises.
    unsafe { guard::bytes(src, cbytes) }
}

/// Decompresses `nitems` items from `start` on; returns their number of bytes.
///
/// # Safety
///
/// `src` is NULL or a chunk; `dest` is NULL or has room for the items.
pub unsafe fn getitem(src: *const c_void, start: c_int, nitems: c_int, dest: *mut c_void) -> c_int {
    // SAFETY: as the caller promises.
    let Some(chunk) = (unsafe { chunk(src) }) else { return FAILURE };
    if chunk.first() != Some(&VERSION) {
        return VERSION_SUPPORT;
    }
    let parsed = match Chunk::parse(chunk) {
        Ok(parsed) => parsed,
        Err(error) => return codes::blosc1_read(&error),
    };
    if has_long_blocks(parsed.header()) {
        return FAILURE;
    }
    let typesize = parsed.header().typesize();
    let Some(range) = range(start, nitems, parsed.header()) else { return FAILURE };
    let nbytes = range.len().saturating_mul(typesize);
    if nbytes == 0 {
        return 0;
    }
    // SAFETY: as the caller promises.
    let Some(dest) = (unsafe { guard::bytes_mut(dest, nbytes) }) else { return FAILURE };
    let read = |decoder: &mut Decoder| parsed.read_items(range, dest, decoder.scratch());
    // C-Blosc uses one thread here.
    match kept::with_decoder(1, read) {
        Ok(()) => c_int::try_from(nbytes).unwrap_or(FAILURE),
        Err(error) => codes::blosc1_read(&error),
    }
}

/// The items, or `None` if some are missing. A negative number means no items, if `start` is large
/// enough.
fn range(start: c_int, nitems: c_int, header: &ChunkHeader) -> Option<core::ops::Range<usize>> {
    let total = header.nbytes().checked_div(header.typesize())?;
    let first = usize::try_from(start).ok().filter(|first| *first <= total)?;
    let end = usize::try_from(i64::from(start).checked_add(i64::from(nitems))?).ok()?;
    (end <= total).then(|| first..end.max(first))
}

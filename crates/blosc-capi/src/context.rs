//! Contexts: the parameters of compressing or decompressing, and memory that is kept between
//! chunks.
//!
//! Several threads may use a context, and also a function of the client inside of a call with the
//! same context. So a call takes memory out of the context and puts it back at its end, and holds
//! no lock in the meantime.
#![allow(unsafe_code, reason = "contexts, parameters and buffers come from C as pointers")]

mod compress;
mod decompress;
mod hooks;
mod params;
mod special;
mod vl;

use core::ffi::{c_int, c_void};
use core::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use blosc_chunk::{CParams, Decoder, Encoder};

use crate::errors::{INVALID_PARAM, MEMORY_ALLOC};
use crate::guard::put_out;
use crate::places::{Freed, Place, find};
use crate::pool;
use crate::types::{
    blosc2_cparams, blosc2_dparams, blosc2_postfilter_params, blosc2_prefilter_params,
};

pub use compress::compress;
pub use decompress::{decompress, getitem, getitem_bytes};
pub use params::{CPARAMS_DEFAULTS, DPARAMS_DEFAULTS};
pub(crate) use params::{FORWARD_COMPAT_SPLIT, settings as settings_of};
pub(crate) use special::noted_run;
pub use special::{chunk_nans, chunk_repeatval, chunk_uninit, chunk_zeros};
pub use vl::{vlchunk_get_nblocks, vlcompress, vldecompress, vldecompress_block};

/// The fields of a context that C sees.
#[allow(non_camel_case_types, reason = "the name of the header")]
pub type blosc2_context = Place<(), Context>;

/// A context.
#[derive(Debug)]
pub struct Context {
    is_compressor: bool,
    /// The parameters as given, with the block size of the last chunk.
    cparams: Mutex<blosc2_cparams>,
    dparams: blosc2_dparams,
    preparams: Option<blosc2_prefilter_params>,
    postparams: Option<blosc2_postfilter_params>,
    /// The parameters of compressing, or the code of their defect.
    settings: Result<CParams, c_int>,
    encoder: Mutex<Option<Encoder>>,
    decoder: Mutex<Option<Decoder>>,
    /// The blocks that the next call skips.
    mask: Mutex<Option<Vec<bool>>>,
}

// SAFETY: the pointers in the parameters are the client's. The header lets threads share a context,
// and so the client answers for what its pointers lead to.
unsafe impl Send for Context {}
// SAFETY: the same.
unsafe impl Sync for Context {}

/// A destination of C: a pointer and a number of bytes.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// NULL means that there is no destination.
    pub dest: *mut c_void,
    /// Bytes; below 0 means that there is no destination.
    pub destsize: i32,
}

static FREED: Freed<(), Context> = Freed::new(256);

fn place(context: Context) -> *mut blosc2_context {
    // SAFETY: there is nothing that zeros could be no value of.
    unsafe { FREED.place(context) }
}

/// A context that compresses; NULL for an unknown filter or tuner.
///
/// # Safety
///
/// `preparams` is NULL or can be read; `schunk` is NULL or a super-chunk.
#[must_use]
pub unsafe fn create_cctx(cparams: blosc2_cparams) -> *mut blosc2_context {
    let cparams = params::with_environment(cparams);
    if !params::are_possible(&cparams) {
        return ptr::null_mut();
    }
    // SAFETY: the caller promises it.
    let preparams = unsafe { cparams.preparams.as_ref() }.copied();
    // SAFETY: the caller promises it.
    let context = unsafe { Context::compressor(cparams) };
    place(Context { preparams, ..context })
}

/// A context that decompresses.
///
/// # Safety
///
/// `postparams` is NULL or can be read; `schunk` is NULL or a super-chunk.
#[must_use]
pub unsafe fn create_dctx(dparams: blosc2_dparams) -> *mut blosc2_context {
    let dparams = params::with_nthreads_of_environment(dparams);
    // SAFETY: the caller promises it.
    let postparams = unsafe { dparams.postparams.as_ref() }.copied();
    let context = Context::decompressor(dparams.nthreads);
    place(Context { postparams, dparams, ..context })
}

/// Frees a context, once.
///
/// # Safety
///
/// As for every function that takes a context: the pointer is NULL or comes from this library.
/// Nobody uses the context at the same time.
pub unsafe fn free(handle: *mut blosc2_context) {
    // SAFETY: the caller promises it.
    drop(unsafe { FREED.take(handle) });
    pool::end_unused();
}

/// The parameters of a context that compresses.
///
/// # Safety
///
/// As [`free`]; `out` is NULL or can be written to.
pub unsafe fn get_cparams(handle: *const blosc2_context, out: *mut blosc2_cparams) -> c_int {
    // SAFETY: the caller promises it.
    let Some(context) = (unsafe { find(handle) }) else { return INVALID_PARAM };
    if out.is_null() {
        return INVALID_PARAM;
    }
    let cparams = *lock(&context.cparams);
    // SAFETY: the caller promises it.
    unsafe { put_out(out, cparams) };
    0
}

/// The parameters of a context that decompresses.
///
/// # Safety
///
/// As [`free`]; `out` is NULL or can be written to.
pub unsafe fn get_dparams(handle: *const blosc2_context, out: *mut blosc2_dparams) -> c_int {
    // SAFETY: the caller promises it.
    let Some(context) = (unsafe { find(handle) }) else { return INVALID_PARAM };
    if out.is_null() {
        return INVALID_PARAM;
    }
    // SAFETY: the caller promises it.
    unsafe { put_out(out, context.dparams) };
    0
}

/// Sets the blocks that the next decompression skips.
///
/// # Safety
///
/// As [`free`]; `mask` is NULL or has `nblocks` bytes.
pub unsafe fn set_maskout(handle: *mut blosc2_context, mask: *const u8, nblocks: c_int) -> c_int {
    // SAFETY: the caller promises it.
    let Some(context) = (unsafe { find(handle) }) else { return INVALID_PARAM };
    let Ok(len) = usize::try_from(nblocks) else { return MEMORY_ALLOC };
    // SAFETY: the caller promises it.
    let Some(mask) = (unsafe { crate::guard::bytes(mask.cast(), len) }) else {
        return INVALID_PARAM;
    };
    let mut blocks = Vec::new();
    if blocks.try_reserve_exact(len).is_err() {
        return MEMORY_ALLOC;
    }
    blocks.extend(mask.iter().map(|left_out| *left_out != 0));
    *lock(&context.mask) = Some(blocks);
    0
}

impl Context {
    /// A context that compresses.
    ///
    /// # Safety
    ///
    /// `schunk` is NULL or a super-chunk.
    pub(crate) unsafe fn compressor(cparams: blosc2_cparams) -> Self {
        // SAFETY: the caller promises it.
        let settings = unsafe { params::settings(&cparams) };
        let dparams = blosc2_dparams { nthreads: cparams.nthreads, ..DPARAMS_DEFAULTS };
        Self { settings, ..Self::new(true, cparams, dparams) }
    }

    /// A context that decompresses with this number of threads.
    pub(crate) fn decompressor(nthreads: i16) -> Self {
        let cparams = blosc2_cparams { nthreads, ..params::NO_CPARAMS };
        Self::new(false, cparams, blosc2_dparams { nthreads, ..DPARAMS_DEFAULTS })
    }

    /// Changes the parameters of compressing.
    pub(crate) fn change(&mut self, f: impl FnOnce(CParams) -> CParams) {
        self.settings = core::mem::replace(&mut self.settings, Err(INVALID_PARAM)).map(f);
    }

    fn new(is_compressor: bool, cparams: blosc2_cparams, dparams: blosc2_dparams) -> Self {
        Self {
            is_compressor,
            cparams: Mutex::new(cparams),
            dparams,
            preparams: None,
            postparams: None,
            settings: Err(INVALID_PARAM),
            encoder: Mutex::new(None),
            decoder: Mutex::new(None),
            mask: Mutex::new(None),
        }
    }
}

/// Locks a value that a panic cannot leave half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes a value out of a context for a call, or makes one, and puts it back afterwards.
fn with_kept<T, R>(
    kept: &Mutex<Option<T>>,
    make: impl FnOnce() -> T,
    f: impl FnOnce(&mut T) -> R,
) -> R {
    let taken = lock(kept).take();
    let mut value = taken.unwrap_or_else(make);
    let result = f(&mut value);
    *lock(kept) = Some(value);
    result
}

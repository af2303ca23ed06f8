//! The settings of the process. A child of `fork` keeps them.
#![allow(unsafe_code, reason = "texts come from C and go there")]

use core::ffi::{CStr, c_char, c_int};
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use blosc_chunk::SplitMode;

use crate::blosc1::{compressor, kept};
use crate::codes::FAILURE;
use crate::env::{self, Variables};
use crate::guard;
use crate::warning::warn;

static SETTINGS: Settings = Settings {
    compressor: AtomicI32::new(0),
    nthreads: AtomicI32::new(1),
    blocksize: AtomicI32::new(0),
    splitmode: AtomicI32::new(FORWARD_COMPAT),
    is_initialised: AtomicBool::new(false),
};

/// The numbers of the last call, valid or not.
struct Settings {
    /// -1 after a call with an unknown name.
    compressor: AtomicI32,
    nthreads: AtomicI32,
    /// Bytes; 0 for the automatic choice.
    blocksize: AtomicI32,
    splitmode: AtomicI32,
    /// True from [`init`] to [`destroy`]. Only the code of [`free_resources`] depends on it.
    is_initialised: AtomicBool,
}

const ALWAYS: c_int = 1;
const NEVER: c_int = 2;
const AUTO: c_int = 3;
const FORWARD_COMPAT: c_int = 4;

/// The settings of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chosen {
    pub(super) compressor: c_int,
    pub(super) nthreads: c_int,
    pub(super) blocksize: c_int,
}

/// The current settings.
pub(super) fn now() -> Chosen {
    Chosen {
        compressor: SETTINGS.compressor.load(Ordering::Relaxed),
        nthreads: get_nthreads(),
        blocksize: get_blocksize(),
    }
}

/// The split mode. For an unknown number C-Blosc always splits.
pub(super) fn split() -> SplitMode {
    match SETTINGS.splitmode.load(Ordering::Relaxed) {
        NEVER => SplitMode::Never,
        AUTO => SplitMode::Auto,
        FORWARD_COMPAT => SplitMode::ForwardCompat,
        _ => SplitMode::Always,
    }
}

/// Takes the settings of the environment over for the process. An unknown word fails the call.
pub(super) fn apply(variables: &Variables) -> Result<(), c_int> {
    if let Some(name) = &variables.compressor
        && choose(compressor::compcode(name)) < 0
    {
        return Err(FAILURE);
    }
    if let Some(blocksize) = positive(variables.blocksize) {
        SETTINGS.blocksize.store(blocksize, Ordering::Relaxed);
    }
    apply_threads(variables)?;
    match variables.splitmode {
        Some(Ok(mode)) => set_splitmode(mode),
        Some(Err(())) => {
            warn(variables.warn, "BLOSC_SPLITMODE is ALWAYS, NEVER, AUTO or FORWARD_COMPAT");
            return Err(FAILURE);
        }
        None => {}
    }
    Ok(())
}

/// The same for calls that decompress. A negative former number is a failure in C-Blosc.
pub(super) fn apply_threads(variables: &Variables) -> Result<(), c_int> {
    match positive(variables.nthreads).map(set_nthreads) {
        Some(former) if former < 0 => Err(former),
        _ => Ok(()),
    }
}

/// Stores a `long` in an `int` as C does.
fn positive(value: Option<i64>) -> Option<c_int> {
    value.filter(|value| *value > 0).map(env::lower)
}

fn choose(compcode: c_int) -> c_int {
    SETTINGS.compressor.store(compcode, Ordering::Relaxed);
    compcode
}

/// Initialises. Calls without a context, and those that set threads or a codec, also do that.
pub fn init() {
    SETTINGS.is_initialised.store(true, Ordering::Relaxed);
}

/// Frees threads and buffers; settings stay. The library can be used again at once.
pub fn destroy() {
    SETTINGS.is_initialised.store(false, Ordering::Relaxed);
    kept::clear();
}

/// Frees threads and buffers; -1 if there cannot be any.
pub fn free_resources() -> c_int {
    if !SETTINGS.is_initialised.load(Ordering::Relaxed) {
        return FAILURE;
    }
    kept::clear();
    0
}

/// The number of threads of calls without a context.
#[must_use]
pub fn get_nthreads() -> c_int {
    SETTINGS.nthreads.load(Ordering::Relaxed)
}

/// Sets the number of threads; returns the former one. Any number is accepted, but calls with more
/// than one block fail unless it is 1 to 256.
pub fn set_nthreads(nthreads: c_int) -> c_int {
    init();
    SETTINGS.nthreads.swap(nthreads, Ordering::Relaxed)
}

/// The name of the codec; NULL after a call of [`set_compressor`] with an unknown name.
#[must_use]
pub fn get_compressor() -> *const c_char {
    let compcode = SETTINGS.compressor.load(Ordering::Relaxed);
    compressor::name(compcode).map_or(ptr::null(), CStr::as_ptr)
}

/// Sets the codec; returns its number. An unknown name gives -1, and then compressing fails.
///
/// # Safety
///
/// `compname` is NULL, which changes nothing, or a text.
pub unsafe fn set_compressor(compname: *const c_char) -> c_int {
    init();
    // SAFETY: as the caller promises.
    let name = unsafe { guard::text(compname) };
    name.map_or(FAILURE, |name| choose(compressor::compcode(name.to_bytes())))
}

/// Bytes of a block, 0 for the automatic choice.
#[must_use]
pub fn get_blocksize() -> c_int {
    SETTINGS.blocksize.load(Ordering::Relaxed)
}

/// Sets the bytes of a block. Like C-Blosc, it keeps the lower 32 bits.
pub fn set_blocksize(blocksize: usize) {
    if let Some(low) = blocksize.to_le_bytes().first_chunk() {
        SETTINGS.blocksize.store(c_int::from_le_bytes(*low), Ordering::Relaxed);
    }
}

/// Sets the split mode: 1 always, 2 never, 3 for some codecs, 4 as in older releases.
pub fn set_splitmode(mode: c_int) {
    let known = [ALWAYS, NEVER, AUTO, FORWARD_COMPAT].contains(&mode);
    SETTINGS.splitmode.store(if known { mode } else { ALWAYS }, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_kept_as_c_keeps_them() {
        assert_eq!([Some(0), Some(-5), None].map(positive), [None; 3]);
        assert_eq!(positive(Some(7)), Some(7));
        assert_eq!(positive(Some((1 << 32) + 5)), Some(5));
    }
}

//! Settings of all calls without a context.
#![allow(unsafe_code, reason = "texts come from C")]

use core::ffi::{c_char, c_int};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::names;
use crate::context::FORWARD_COMPAT_SPLIT;
use crate::epoch::PerProcess;
use crate::errors::{CODEC_SUPPORT, FAILURE, INVALID_PARAM};
use crate::guard;

/// The settings of a process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) compcode: u8,
    pub(super) has_delta: bool,
    pub(super) nthreads: i16,
    pub(super) blocksize: i32,
    pub(super) splitmode: i32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            compcode: 0,
            has_delta: false,
            nthreads: 1,
            blocksize: 0,
            splitmode: FORWARD_COMPAT_SPLIT,
        }
    }
}

static SETTINGS: PerProcess<Mutex<Settings>> = PerProcess::new();

/// Changes them, and returns the result of the change. The environment changes them too:
/// C-Blosc2 keeps its values for later calls.
pub(super) fn change<R>(f: impl FnOnce(&mut Settings) -> R) -> R {
    f(&mut lock())
}

fn lock() -> MutexGuard<'static, Settings> {
    SETTINGS.get().lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of threads.
#[must_use]
pub fn get_nthreads() -> i16 {
    lock().nthreads
}

/// Sets the number of threads, and returns the former one.
#[must_use]
pub fn set_nthreads(nthreads: i16) -> i16 {
    if nthreads <= 0 {
        return i16::try_from(INVALID_PARAM).unwrap_or(-1);
    }
    core::mem::replace(&mut lock().nthreads, nthreads)
}

/// Switches the filter delta on or off.
pub fn set_delta(has_delta: c_int) {
    lock().has_delta = has_delta != 0;
}

/// The name of the codec.
#[must_use]
pub fn get_compressor() -> *const c_char {
    names::name(c_int::from(lock().compcode)).map_or(core::ptr::null(), core::ffi::CStr::as_ptr)
}

/// Sets the codec by its name, and returns its number.
///
/// # Safety
///
/// `compname` is NULL or a text.
pub unsafe fn set_compressor(compname: *const c_char) -> c_int {
    // SAFETY: the caller promises it.
    let name = unsafe { guard::text(compname) };
    let code = name.map_or(-1, |name| names::compcode(name.to_bytes()));
    match u8::try_from(code) {
        Ok(compcode) if code < names::FIRST_PLUGIN => {
            lock().compcode = compcode;
            code
        }
        Ok(_) => CODEC_SUPPORT,
        Err(_) => FAILURE,
    }
}

/// Bytes of a block; 0 for the automatic choice.
#[must_use]
pub fn get_blocksize() -> c_int {
    lock().blocksize
}

/// Sets the bytes of a block.
pub fn set_blocksize(blocksize: usize) {
    // C-Blosc2 takes the lower half of the number.
    let [a, b, c, d, ..] = (blocksize as u64).to_le_bytes();
    lock().blocksize = i32::from_le_bytes([a, b, c, d]);
}

/// Sets the split mode.
pub fn set_splitmode(splitmode: c_int) {
    lock().splitmode = splitmode;
}

//! Compressing and decompressing with the settings of the process.
//!
//! A context is kept from call to call, as long as the settings stay the same. Several threads use
//! it in parallel.
#![allow(unsafe_code, reason = "buffers come from C as pointers")]

use core::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use blosc_chunk::{CParams, Dict, Pipeline, SplitMode, Target};

use super::settings::{self, Settings};
use crate::context::{Context, Room};
use crate::env::{self, Variables, positive};
use crate::epoch::PerProcess;
use crate::errors::{CODEC_PARAM, CODEC_SUPPORT};
use crate::types::blosc2_cparams;

/// The contexts of the last calls.
#[derive(Default)]
struct Kept {
    compressor: Option<(Key, Arc<Context>)>,
    decompressor: Option<(i16, Arc<Context>)>,
}

/// The parameters of a compression context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    compcode: u8,
    clevel: u8,
    typesize: i32,
    blocksize: i32,
    splitmode: i32,
    nthreads: i16,
    filters: [u8; 6],
    is_blosc1: bool,
}

static KEPT: PerProcess<Mutex<Kept>> = PerProcess::new();

fn lock() -> MutexGuard<'static, Kept> {
    KEPT.get().lock().unwrap_or_else(PoisonError::into_inner)
}

/// Frees all memory that is kept from call to call; returns 0.
pub fn free_resources() -> c_int {
    let kept = core::mem::take(&mut *lock());
    drop(kept);
    crate::buffers::end();
    crate::pool::end();
    0
}

/// Compresses data with the settings of the process and of the environment; returns the size of the
/// chunk, or 0 if it does not fit.
///
/// # Safety
///
/// Source and destination have as many bytes as their numbers say.
pub unsafe fn compress(
    (clevel, doshuffle, typesize): (c_int, c_int, i32),
    (src, srcsize): (*const c_void, i32),
    (dest, destsize): (*mut c_void, i32),
) -> c_int {
    let key = match key(clevel, doshuffle, typesize) {
        Ok(key) => key,
        Err(code) => return code,
    };
    let context = compressor(key);
    // SAFETY: the caller promises it.
    unsafe { context.compress_as_made((src, srcsize), Room { dest, destsize }) }
}

/// Combines the settings, the environment and the arguments of a call.
fn key(clevel: c_int, doshuffle: c_int, typesize: i32) -> Result<Key, c_int> {
    let set = Variables::read();
    let clevel = set.clevel.filter(|level| *level >= 0).map_or(clevel, env::lower);
    let shuffle = set.shuffle.unwrap_or(doshuffle);
    let now = settings::change(|now| {
        now.has_delta = set.delta.unwrap_or(now.has_delta);
        let named = set.compressor.as_ref().map(|name| super::names::compcode(name));
        let known = named.filter(|code| (0..super::names::FIRST_PLUGIN).contains(code));
        let compcode = known.and_then(|code| u8::try_from(code).ok());
        now.compcode = compcode.unwrap_or(now.compcode);
        now.blocksize = positive(set.blocksize).unwrap_or(now.blocksize);
        let nthreads = positive(set.nthreads).unwrap_or(now.nthreads.into());
        now.nthreads = i16::try_from(nthreads).unwrap_or(i16::MAX);
        now.splitmode = set.splitmode.and_then(Result::ok).unwrap_or(now.splitmode);
        // The others stay set for later calls all the same.
        if named.is_some() && known.is_none() { Err(CODEC_SUPPORT) } else { Ok(*now) }
    })?;
    let Settings { compcode, has_delta, nthreads, blocksize, splitmode } = now;
    let typesize = positive(set.typesize).unwrap_or(typesize);
    // A shuffle of single bytes changes nothing.
    let shuffle = if shuffle == 1 && typesize == 1 { 0 } else { shuffle };
    Ok(Key {
        compcode,
        clevel: u8::try_from(clevel).map_err(|_| CODEC_PARAM)?,
        typesize,
        blocksize,
        splitmode,
        nthreads,
        filters: filters(shuffle, has_delta),
        is_blosc1: set.blosc1_compat,
    })
}

/// The filters of a call: shuffle or bitshuffle in the last slot, delta before it.
fn filters(shuffle: i32, delta: bool) -> [u8; 6] {
    let last = u8::try_from(shuffle).ok().filter(|id| *id <= 2).unwrap_or(0);
    [0, 0, 0, 0, if delta { 3 } else { 0 }, last]
}

fn compressor(key: Key) -> Arc<Context> {
    let kept = lock().compressor.clone().filter(|(other, _)| *other == key);
    if let Some((_, context)) = kept {
        return context;
    }
    let cparams = blosc2_cparams {
        compcode: key.compcode,
        clevel: key.clevel,
        typesize: key.typesize,
        nthreads: key.nthreads,
        blocksize: key.blocksize,
        splitmode: key.splitmode,
        filters: key.filters,
        ..crate::context::CPARAMS_DEFAULTS
    };
    // SAFETY: there is no super-chunk.
    let mut context = unsafe { Context::compressor(cparams) };
    if key.is_blosc1 {
        context.change(for_blosc1);
    }
    let context = Arc::new(context);
    lock().compressor = Some((key, Arc::clone(&context)));
    context
}

/// Parameters for chunks that C-Blosc reads, if the given ones allow it.
fn for_blosc1(params: CParams) -> CParams {
    let [.., last] = params.filters.ids();
    let filters = Pipeline::from_slots([0, 0, 0, 0, 0, last], [0; 6]);
    let params = params.target(Target::Blosc1_14).filters(filters).dict(Dict::None);
    if params.split == SplitMode::Always { params.split(SplitMode::ForwardCompat) } else { params }
}

/// The context of calls that read; `set` is the number of threads in the environment.
fn decompressor(set: Option<i64>) -> Arc<Context> {
    let nthreads = set.and_then(|n| i16::try_from(n).ok()).filter(|n| *n > 0);
    let nthreads = settings::change(|now| {
        now.nthreads = nthreads.unwrap_or(now.nthreads);
        now.nthreads
    });
    let mut kept = lock();
    if let Some((_, context)) = kept.decompressor.as_ref().filter(|(n, _)| *n == nthreads) {
        return Arc::clone(context);
    }
    let context = Arc::new(Context::decompressor(nthreads));
    kept.decompressor = Some((nthreads, Arc::clone(&context)));
    context
}

/// Decompresses a chunk; returns the size of its data.
///
/// # Safety
///
/// Source and destination have as many bytes as their numbers say.
pub unsafe fn decompress(
    (src, srcsize): (*const c_void, i32),
    (dest, destsize): (*mut c_void, i32),
) -> c_int {
    // SAFETY: the caller promises it.
    unsafe {
        decompressor(Variables::read().nthreads).decompress((src, srcsize), Room { dest, destsize })
    }
}

/// Decompresses items; returns their number of bytes.
///
/// # Safety
///
/// Source and destination have as many bytes as their numbers say.
pub unsafe fn getitem(
    (src, srcsize): (*const c_void, i32),
    items: (c_int, c_int),
    (dest, destsize): (*mut c_void, i32),
) -> c_int {
    // Items are read with the threads of earlier calls, as in C-Blosc2.
    // SAFETY: the caller promises it.
    unsafe { decompressor(None).getitem((src, srcsize), items, Room { dest, destsize }) }
}

//! Compresses data to a chunk.
#![allow(unsafe_code, reason = "buffers come from C")]

use core::ffi::{c_char, c_int, c_void};

use blosc_chunk::{CParams, ChunkHeader, CodecId, Encoder, FilterId, Level, Pipeline, Target};

use crate::blosc1::kept::{self, Setup};
use crate::blosc1::settings::{self, Chosen};
use crate::blosc1::{MAX_NBYTES, OVERHEAD, compressor};
use crate::codes::{self, CODEC_SUPPORT, FAILURE, INVALID_PARAM};
use crate::env::{self, Variables};
use crate::guard;
use crate::warning::warn;

/// The buffers and the numbers of a call.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The level, 0 to 9.
    pub clevel: c_int,
    /// 0 for none, 1 for shuffle, 2 for bitshuffle.
    pub doshuffle: c_int,
    /// Bytes of an item.
    pub typesize: usize,
    /// Bytes of data.
    pub nbytes: usize,
    /// The data.
    pub src: *const c_void,
    /// The destination of the chunk.
    pub dest: *mut c_void,
    /// Bytes of the destination.
    pub destsize: usize,
}

/// Compresses with the settings of the process, which variables of the environment change.
///
/// # Safety
///
/// `src` is NULL or has `nbytes` bytes; `dest` is NULL or has `destsize` bytes.
pub unsafe fn compress(call: Call) -> c_int {
    settings::init();
    let variables = Variables::read();
    if let Err(code) = settings::apply(&variables) {
        return code;
    }
    let call = changed(call, &variables);
    // SAFETY: as the caller promises; the buffers are the same.
    unsafe { run(call, settings::now(), variables.warn) }
}

/// Compresses with the settings of the call. The split mode is that of the process.
///
/// # Safety
///
/// As for [`compress`]; `compressor` is NULL or a text.
pub unsafe fn compress_ctx(
    call: Call,
    compressor: *const c_char,
    blocksize: usize,
    nthreads: c_int,
) -> c_int {
    // SAFETY: as the caller promises.
    let compressor = unsafe { compressor::compname_to_compcode(compressor) };
    // As in C-Blosc: a number that is too large for an `int` means the automatic choice or wraps
    // around.
    let low = blocksize.to_le_bytes().first_chunk().map_or(0, |low| c_int::from_le_bytes(*low));
    let chosen = Chosen { compressor, nthreads, blocksize: low };
    // SAFETY: as the caller promises.
    unsafe { run(call, chosen, Variables::read().warn) }
}

/// The arguments, changed by the environment.
fn changed(call: Call, variables: &Variables) -> Call {
    let level = variables.clevel.filter(|level| *level >= 0);
    let typesize = variables.typesize.filter(|typesize| *typesize > 0);
    Call {
        clevel: level.map_or(call.clevel, env::lower),
        doshuffle: variables.shuffle.unwrap_or(call.doshuffle),
        typesize: typesize
            .map_or(call.typesize, |n| usize::try_from(env::lower(n)).unwrap_or(usize::MAX)),
        ..call
    }
}

/// # Safety
///
/// As for [`compress`].
unsafe fn run(call: Call, chosen: Chosen, is_warned: bool) -> c_int {
    let setup = match check(&call, chosen, is_warned) {
        Ok(setup) => setup,
        Err(code) => return code,
    };
    // SAFETY: as the caller promises.
    let src = unsafe { guard::bytes(call.src, call.nbytes) };
    let room = call.destsize.min(call.nbytes.saturating_add(OVERHEAD));
    // SAFETY: as the caller promises; `room` is not more.
    let dest = unsafe { guard::bytes_mut(call.dest, room) };
    let (Some(src), Some(dest)) = (src.or(empty(call.nbytes)), dest) else { return FAILURE };
    let is_stored = call.clevel == 0 || call.nbytes < MIN_COMPRESSED;
    let write = |encoder: &mut Encoder| {
        if !(1..=MAX_NTHREADS).contains(&chosen.nthreads) {
            // C-Blosc checks the destination first only if the data are stored at once.
            if is_stored {
                encoder.encode_into(src, dest)?;
            }
            if needs_threads(&encoder.encode(src)?) {
                return Ok(None);
            }
        }
        encoder.encode_into(src, dest).map(Some)
    };
    match kept::with_encoder(setup, params, write).flatten() {
        Ok(None) => FAILURE,
        Ok(Some(cbytes)) => c_int::try_from(cbytes).unwrap_or(FAILURE),
        Err(error) => codes::blosc1_write(&error),
    }
}

/// Empty data may be NULL.
fn empty(nbytes: usize) -> Option<&'static [u8]> {
    (nbytes == 0).then_some(&[])
}

/// The most threads of C-Blosc.
pub(super) const MAX_NTHREADS: c_int = 256;

/// Whether C-Blosc would use its threads: a chunk of two whole blocks or more.
pub(super) fn needs_threads(chunk: &[u8]) -> bool {
    ChunkHeader::parse(chunk).is_ok_and(|header| {
        header.nbytes().checked_div(header.blocksize()).is_some_and(|nblocks| nblocks > 1)
    })
}

/// Checks the arguments, in the order of C-Blosc.
fn check(call: &Call, chosen: Chosen, is_warned: bool) -> Result<Setup, c_int> {
    if call.destsize < OVERHEAD {
        warn(is_warned, "blosc: the destination has less than the 16 bytes of a header");
        return Err(0);
    }
    if call.nbytes > MAX_NBYTES {
        warn(is_warned, "blosc: a chunk has at most 2147483631 bytes of data");
        return Err(0);
    }
    let clevel = u8::try_from(call.clevel).ok().filter(|level| *level <= Level::BEST.get());
    let Some(clevel) = clevel else {
        warn(is_warned, "blosc: the level is none of 0 to 9");
        return Err(INVALID_PARAM);
    };
    let Some(shuffle) = u8::try_from(call.doshuffle).ok().filter(|shuffle| *shuffle <= 2) else {
        warn(is_warned, "blosc: the shuffle is none of 0, 1 and 2");
        return Err(INVALID_PARAM);
    };
    if call.typesize == 0 {
        warn(is_warned, "blosc: items have no bytes");
        return Err(INVALID_PARAM);
    }
    let Some(codec) = compressor::codec(chosen.compressor) else {
        warn(is_warned, "blosc: there is no codec of this name");
        return Err(CODEC_SUPPORT);
    };
    let typesize = if call.typesize > MAX_TYPESIZE { 1 } else { call.typesize };
    let params =
        (clevel, shuffle, typesize, codec.0, blocksize(chosen.blocksize), settings::split());
    let nthreads = usize::try_from(chosen.nthreads.clamp(1, MAX_NTHREADS)).unwrap_or(1);
    Ok(Setup { params, nthreads })
}

/// Shorter data are stored at once (bytes).
const MIN_COMPRESSED: usize = 128;
/// Wider items are treated as bytes.
const MAX_TYPESIZE: usize = 255;
/// Shortest block that a caller may choose (bytes).
const MIN_BLOCKSIZE: usize = 128;
/// The longest block that a reader accepts (bytes).
const MAX_BLOCKSIZE: usize = 715_827_542;

/// `None` for the automatic choice.
fn blocksize(blocksize: c_int) -> Option<usize> {
    let bytes = usize::try_from(blocksize).unwrap_or(MIN_BLOCKSIZE);
    (blocksize != 0).then(|| bytes.clamp(MIN_BLOCKSIZE, MAX_BLOCKSIZE))
}

fn params(setup: &Setup) -> CParams {
    let (clevel, shuffle, typesize, codec, blocksize, split) = setup.params;
    let filters = match shuffle {
        1 => Pipeline::SHUFFLE,
        2 => Pipeline::from_slots([0, 0, 0, 0, 0, FilterId::BITSHUFFLE.0], [0; 6]),
        _ => Pipeline::EMPTY,
    };
    let params = CParams::default().target(Target::Blosc1_14).codec(CodecId(codec));
    let params = params.clevel(Level::try_from(clevel).unwrap_or_default()).typesize(typesize);
    params.filters(filters).blocksize(blocksize).split(split)
}

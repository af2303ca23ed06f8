//! Chunks that are a run: 32 bytes, and the value.
#![allow(unsafe_code, reason = "buffers come from C as pointers")]

use core::ffi::{c_int, c_void};

use blosc_chunk::{
    CParams, ChunkHeader, CodecId, Dict, FilterId, Pipeline, Special, SpecialKind, special_chunk,
};

use super::params;
use crate::errors::{self, DATA, FAILURE, INVALID_PARAM, NULL_POINTER};
use crate::guard::{bytes, bytes_mut};
use crate::types::blosc2_cparams;

/// The kinds, with their numbers in the header.
const ZEROS: u8 = 1;
const NANS: u8 = 2;
const VALUE: u8 = 3;
const UNINIT: u8 = 4;

/// A chunk of zeros.
///
/// # Safety
///
/// `dest` has `destsize` bytes.
pub unsafe fn chunk_zeros(
    cparams: &blosc2_cparams,
    nbytes: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    // SAFETY: the caller promises it.
    unsafe { chunk(cparams, nbytes, (dest, destsize), ZEROS, Some(&[])) }
}

/// A chunk of NaN.
///
/// # Safety
///
/// As [`chunk_zeros`].
pub unsafe fn chunk_nans(
    cparams: &blosc2_cparams,
    nbytes: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    // SAFETY: the caller promises it.
    unsafe { chunk(cparams, nbytes, (dest, destsize), NANS, Some(&[])) }
}

/// A chunk whose data were never set.
///
/// # Safety
///
/// As [`chunk_zeros`].
pub unsafe fn chunk_uninit(
    cparams: &blosc2_cparams,
    nbytes: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    // SAFETY: the caller promises it.
    unsafe { chunk(cparams, nbytes, (dest, destsize), UNINIT, Some(&[])) }
}

/// A chunk of one repeated value.
///
/// # Safety
///
/// As [`chunk_zeros`]; `value` is as long as an item.
pub unsafe fn chunk_repeatval(
    cparams: &blosc2_cparams,
    nbytes: i32,
    dest: *mut c_void,
    destsize: i32,
    value: *const c_void,
) -> c_int {
    let width = usize::try_from(cparams.typesize).unwrap_or(0);
    // SAFETY: the caller promises it.
    let value = unsafe { bytes(value, width) };
    // SAFETY: the caller promises it.
    unsafe { chunk(cparams, nbytes, (dest, destsize), VALUE, value) }
}

/// # Safety
///
/// The destination has as many bytes as its number says.
unsafe fn chunk(
    cparams: &blosc2_cparams,
    nbytes: i32,
    (dest, destsize): (*mut c_void, i32),
    kind: u8,
    value: Option<&[u8]>,
) -> c_int {
    let cparams = params::with_environment(*cparams);
    if !params::are_possible(&cparams) {
        return NULL_POINTER;
    }
    // SAFETY: the caller promises that `schunk` is NULL or a super-chunk.
    let settings = match unsafe { params::settings(&cparams) } {
        Ok(settings) => settings,
        Err(code) => return code,
    };
    let (Some(value), Ok(nbytes)) = (value, usize::try_from(nbytes)) else { return INVALID_PARAM };
    let cbytes = ChunkHeader::MAX_LEN.saturating_add(value.len());
    let fits = usize::try_from(destsize).is_ok_and(|room| cbytes <= room);
    if !fits || !nbytes.is_multiple_of(settings.typesize) {
        return DATA;
    }
    // SAFETY: the caller promises it.
    let Some(dest) = (unsafe { bytes_mut(dest, cbytes) }) else { return INVALID_PARAM };
    match header(&settings, nbytes, cbytes, kind) {
        Ok(header) => {
            for (dest, byte) in dest.iter_mut().zip(header.iter().chain(value)) {
                *dest = *byte;
            }
            c_int::try_from(cbytes).unwrap_or(FAILURE)
        }
        Err(code) => code,
    }
}

/// A run that is stored only in an index, as a chunk of 32 bytes.
///
/// # Safety
///
/// `schunk` of the parameters is NULL or a super-chunk.
pub(crate) unsafe fn noted_run(
    cparams: &blosc2_cparams,
    nbytes: usize,
    kind: SpecialKind,
) -> Result<[u8; ChunkHeader::MAX_LEN], c_int> {
    // SAFETY: the caller promises it.
    let settings = unsafe { params::settings(cparams) }?;
    let kind = match kind {
        SpecialKind::Zeros => ZEROS,
        SpecialKind::Nans => NANS,
        SpecialKind::Uninit => UNINIT,
        SpecialKind::Value => return Err(FAILURE),
    };
    header(&settings, nbytes, ChunkHeader::MAX_LEN, kind)
}

/// The header of a run. NaN of items that are no floats, and runs without bytes, are written as in
/// C-Blosc2.
fn header(settings: &CParams, nbytes: usize, cbytes: usize, kind: u8) -> Result<[u8; 32], c_int> {
    // A run needs no codec and no filter, but the size of its blocks depends on them.
    let is_known = settings.registries.codecs.get(settings.codec).is_some();
    let codec = if is_known { settings.codec } else { CodecId::BLOSCLZ };
    let filters = settings.filters.ids().map(|id| if id == FilterId::SHUFFLE.0 { id } else { 0 });
    let filters = Pipeline::from_slots(filters, [0; 6]);
    let params = settings.clone().dict(Dict::None).codec(codec).filters(filters);
    let run = special_chunk(Special::Zeros, nbytes.max(settings.typesize), &params);
    let chunk = run.map_err(|error| errors::write(&error))?;
    let mut header: [u8; 32] = chunk.first_chunk().copied().ok_or(FAILURE)?;
    let field = |n: usize| i32::try_from(n).map(i32::to_le_bytes).map_err(|_| INVALID_PARAM);
    if let Some(place) = header.get_mut(4..8) {
        place.copy_from_slice(&field(nbytes)?);
    }
    if let Some(place) = header.get_mut(8..12).filter(|_| nbytes == 0) {
        place.copy_from_slice(&field(1)?);
    }
    if let Some(place) = header.get_mut(12..16) {
        place.copy_from_slice(&field(cbytes)?);
    }
    if let Some(place) = header.get_mut(31) {
        *place = kind << 4;
    }
    Ok(header)
}

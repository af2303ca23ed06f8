//! Converts the parameters of C to ours.
#![allow(unsafe_code, reason = "a super-chunk comes from C as a pointer")]

use core::ffi::c_int;
use core::ptr;

use alloc::sync::Arc;

use b2frame::nd::NdMeta;
use blosc_chunk::{
    CParams, CodecId, DParams, Dict, FilterId, Level, Limits, Pipeline, SplitMode, Target,
};

use crate::env::{Variables, positive};
use crate::errors::{CODEC_PARAM, INVALID_PARAM};
use crate::guard;
use crate::pool;
use crate::types::{MAX_FILTERS, blosc2_cparams, blosc2_dparams, blosc2_schunk};

/// The longest block (bytes).
const MAX_BLOCKSIZE: i32 = 536_866_816;
/// The longest dictionary (bytes).
const MAX_DICT_NBYTES: usize = 32 << 10;
/// The default split mode.
pub(crate) const FORWARD_COMPAT_SPLIT: i32 = 4;

/// Parameters without any setting.
pub(super) const NO_CPARAMS: blosc2_cparams = blosc2_cparams {
    compcode: 0,
    compcode_meta: 0,
    clevel: 0,
    use_dict: 0,
    typesize: 0,
    nthreads: 1,
    blocksize: 0,
    splitmode: 0,
    schunk: ptr::null_mut(),
    filters: [0; MAX_FILTERS],
    filters_meta: [0; MAX_FILTERS],
    prefilter: None,
    preparams: ptr::null_mut(),
    tuner_params: ptr::null_mut(),
    tuner_id: 0,
    instr_codec: 0,
    codec_params: ptr::null_mut(),
    filter_params: [ptr::null_mut(); MAX_FILTERS],
};

/// The values of `BLOSC2_CPARAMS_DEFAULTS` in the header.
pub const CPARAMS_DEFAULTS: blosc2_cparams = blosc2_cparams {
    clevel: 5,
    typesize: 8,
    splitmode: FORWARD_COMPAT_SPLIT,
    filters: [0, 0, 0, 0, 0, FilterId::SHUFFLE.0],
    ..NO_CPARAMS
};

/// The values of `BLOSC2_DPARAMS_DEFAULTS` in the header.
pub const DPARAMS_DEFAULTS: blosc2_dparams = blosc2_dparams {
    nthreads: 1,
    schunk: ptr::null_mut(),
    postfilter: None,
    postparams: ptr::null_mut(),
    #[cfg(not(feature = "soname-7"))]
    typesize: 8,
};

/// Whether these filters and this tuner exist; ids of clients count as filters.
pub(super) fn are_possible(cparams: &blosc2_cparams) -> bool {
    let known = blosc_filters::Registry::builtin();
    let is_known =
        |id: &u8| *id == 0 || *id >= FIRST_OF_CLIENTS || known.get(FilterId(*id)).is_some();
    cparams.tuner_id == 0 && cparams.filters.iter().all(is_known)
}

/// The filter bytedelta, old and new.
const BYTEDELTAS: [FilterId; 2] = [FilterId::BYTEDELTA_LEGACY, FilterId::BYTEDELTA];
/// A number without a codec.
const NO_CODEC: u8 = u8::MAX;
/// The first filter id of clients.
const FIRST_OF_CLIENTS: u8 = 160;

/// Whether bytedelta does not know the size of an item. A super-chunk would tell it.
pub(super) fn lacks_width(cparams: &blosc2_cparams) -> bool {
    let lacks = |(id, meta): (&u8, &u8)| BYTEDELTAS.contains(&FilterId(*id)) && *meta == 0;
    let mut slots = cparams.filters.iter().zip(&cparams.filters_meta);
    cparams.schunk.is_null() && slots.any(lacks)
}

/// Applies the variables of the environment to parameters.
pub(super) fn with_environment(mut cparams: blosc2_cparams) -> blosc2_cparams {
    let set = Variables::read();
    // C-Blosc2 takes the lowest byte.
    let level = set.clevel.filter(|level| *level >= 0).map(|level| level.to_le_bytes()[0]);
    cparams.clevel = level.unwrap_or(cparams.clevel);
    if let Some(shuffle) = set.shuffle.and_then(|shuffle| u8::try_from(shuffle).ok()) {
        let [.., last] = &mut cparams.filters;
        *last = shuffle;
    }
    cparams.typesize = positive(set.typesize).unwrap_or(cparams.typesize);
    cparams.blocksize = positive(set.blocksize).unwrap_or(cparams.blocksize);
    if let Some(name) = &set.compressor {
        let known = str::from_utf8(name).ok().and_then(CodecId::from_name);
        cparams.compcode = known.map_or(NO_CODEC, |CodecId(code)| code);
    }
    if set.delta == Some(true) {
        let [.., delta, _] = &mut cparams.filters;
        *delta = FilterId::DELTA.0;
    }
    if let Some(nthreads) = nthreads(&set) {
        cparams.nthreads = nthreads;
    }
    if let Some(Ok(mode)) = set.splitmode {
        cparams.splitmode = mode;
    }
    cparams
}

fn nthreads(set: &Variables) -> Option<i16> {
    set.nthreads.and_then(|n| i16::try_from(n).ok()).filter(|n| *n > 0)
}

/// Applies the number of threads of the environment.
pub(super) fn with_nthreads_of_environment(dparams: blosc2_dparams) -> blosc2_dparams {
    let nthreads = nthreads(&Variables::read()).unwrap_or(dparams.nthreads);
    blosc2_dparams { nthreads, ..dparams }
}

/// The parameters of compressing, or a code.
///
/// # Safety
///
/// `schunk` is NULL or a super-chunk.
pub(crate) unsafe fn settings(cparams: &blosc2_cparams) -> Result<CParams, c_int> {
    let level = Level::try_from(cparams.clevel).map_err(|_| CODEC_PARAM)?;
    let typesize = usize::try_from(cparams.typesize).map_err(|_| INVALID_PARAM)?;
    let blocksize = usize::try_from(cparams.blocksize.min(MAX_BLOCKSIZE));
    let blocksize = blocksize.map_err(|_| INVALID_PARAM)?;
    if typesize == 0 || cparams.typesize > MAX_BLOCKSIZE || cparams.instr_codec != 0 {
        return Err(INVALID_PARAM);
    }
    let split = match cparams.splitmode {
        1 => SplitMode::Always,
        2 => SplitMode::Never,
        3 => SplitMode::Auto,
        _ => SplitMode::ForwardCompat,
    };
    let is_stored = cparams.clevel == 0;
    let has_dict = cparams.use_dict != 0 && !is_stored;
    let params = CParams::default()
        .codec(CodecId(cparams.compcode))
        .codec_meta(cparams.compcode_meta)
        .clevel(level)
        .typesize(typesize)
        .filters(Pipeline::from_slots(cparams.filters, cparams.filters_meta))
        .blocksize((blocksize > 0).then_some(blocksize))
        .split(split)
        .dict(if has_dict { Dict::Train { max: MAX_DICT_NBYTES } } else { Dict::None })
        .target(Target::Blosc3_0)
        // SAFETY: the caller promises it.
        .schunk_typesize(unsafe { typesize_of(cparams.schunk.cast()) })
        // SAFETY: the caller promises it.
        .blockshape(unsafe { blockshape_of(cparams.schunk.cast()) })
        .threads(pool::executor(usize::try_from(cparams.nthreads).unwrap_or(1)));
    Ok(params)
}

/// The shape of a block, if the super-chunk is an array: some filters need it.
///
/// # Safety
///
/// `schunk` is NULL or a super-chunk.
unsafe fn blockshape_of(schunk: *const blosc2_schunk) -> Option<Arc<[u32]>> {
    if schunk.is_null() {
        return None;
    }
    // SAFETY: the caller promises it.
    let layers = unsafe { (*schunk).metalayers };
    // SAFETY: the caller promises it.
    let count = unsafe { (*schunk).nmetalayers };
    for layer in layers.into_iter().take(count.into()) {
        // SAFETY: metalayers are NULL or can be read.
        let Some(layer) = (unsafe { layer.as_ref() }) else { continue };
        // SAFETY: the name of a metalayer is a text.
        let is_array = unsafe { guard::text(layer.name) } == Some(c"b2nd");
        let len = usize::try_from(layer.content_len).unwrap_or(0);
        // SAFETY: the content has as many bytes.
        let content = unsafe { guard::bytes(layer.content.cast(), len) };
        if let (true, Some(content)) = (is_array, content) {
            return NdMeta::parse(content).ok().map(|meta| Arc::from(meta.blockshape()));
        }
    }
    None
}

/// The parameters of decompressing.
///
/// # Safety
///
/// `schunk` is NULL or a super-chunk.
pub(super) unsafe fn decoding(dparams: &blosc2_dparams) -> DParams {
    DParams::default()
        .limits(Limits::none())
        .instrumented(true)
        // SAFETY: the caller promises it.
        .schunk_typesize(unsafe { typesize_of(dparams.schunk.cast()) })
        // SAFETY: the caller promises it.
        .blockshape(unsafe { blockshape_of(dparams.schunk.cast()) })
        .threads(pool::executor(usize::try_from(dparams.nthreads).unwrap_or(1)))
}

/// # Safety
///
/// `schunk` is NULL or a super-chunk.
unsafe fn typesize_of(schunk: *const blosc2_schunk) -> Option<usize> {
    // SAFETY: the caller promises it.
    let typesize = (!schunk.is_null()).then(|| unsafe { (*schunk).typesize })?;
    usize::try_from(typesize).ok().filter(|typesize| *typesize > 0)
}

/// The number of the current chunk of a super-chunk; -1 without one.
///
/// # Safety
///
/// `schunk` is NULL or a super-chunk.
pub(super) unsafe fn current_nchunk(schunk: *const blosc2_schunk) -> i64 {
    if schunk.is_null() {
        return -1;
    }
    // SAFETY: the caller promises it.
    unsafe { (*schunk).current_nchunk }
}

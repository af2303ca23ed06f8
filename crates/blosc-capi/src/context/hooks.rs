//! Functions of the client that make or change blocks.
//!
//! Each call gets a copy of the arguments that the context was made with, and the library holds no
//! lock in the meantime: a function may call the library, also with the same context.
#![allow(unsafe_code, reason = "calls functions of C")]

use core::ptr;

use blosc_chunk::hooks::{BlockCx, HookResult, Made, Postfilter, Prefilter};

use super::blosc2_context;
use crate::types::{
    blosc2_postfilter_fn, blosc2_postfilter_params, blosc2_prefilter_fn, blosc2_prefilter_params,
};

/// The properties of a chunk for both kinds of function.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) handle: *mut blosc2_context,
    pub(super) nchunk: i64,
    /// Bytes of an item.
    pub(super) typesize: usize,
}

impl Place {
    /// Bytes of memory for each thread: four blocks with the sizes of their streams, as in
    /// C-Blosc2.
    fn ttmp_nbytes(&self, blocksize: usize) -> usize {
        blocksize.saturating_add(self.typesize.saturating_mul(4)).saturating_mul(4)
    }
}

/// A prefilter of C.
pub(super) struct Before {
    pub(super) function: blosc2_prefilter_fn,
    pub(super) params: blosc2_prefilter_params,
    pub(super) place: Place,
    /// Whether the data are stored as they are. The output of a disposable block counts then.
    pub(super) is_stored: bool,
}

// SAFETY: the header says that several threads call the function, if the context has several.
unsafe impl Sync for Before {}

impl Prefilter for Before {
    fn fill(&self, cx: BlockCx<'_>, dest: &mut [u8]) -> HookResult<Made> {
        let Some(function) = self.function else { return Ok(Made::Zeros) };
        let Place { handle, nchunk, typesize, .. } = self.place;
        let given = usize::try_from(self.params.output_typesize).ok().filter(|size| *size > 0);
        let output_typesize = given.unwrap_or(typesize);
        let wanted = dest.len().saturating_mul(output_typesize);
        let output_nbytes = wanted.checked_div(typesize).unwrap_or(0);
        let is_disposable = is_disposable(&self.params);
        // Items may be wider than those of the chunk: then they do not fit into its block.
        let ttmp_nbytes = self.place.ttmp_nbytes(cx.blocksize);
        let wide = if output_nbytes > dest.len() { output_nbytes } else { 0 };
        let scratch = zeroed(cx.scratch, ttmp_nbytes, wide)?;
        let (ttmp, apart) = scratch.split_at_mut(ttmp_nbytes.min(scratch.len()));
        if !is_disposable || self.is_stored {
            dest.fill(0);
        }
        let output = if wide > 0 { apart.as_mut_ptr() } else { dest.as_mut_ptr() };
        let mut params = blosc2_prefilter_params {
            input: if cx.input.is_empty() { ptr::null() } else { cx.input.as_ptr() },
            output,
            output_size: i32::try_from(output_nbytes)?,
            output_typesize: i32::try_from(output_typesize)?,
            output_offset: i32::try_from(cx.at)?,
            nchunk,
            nblock: i32::try_from(cx.nblock)?,
            tid: i32::try_from(cx.worker)?,
            ttmp: ttmp.as_mut_ptr(),
            ttmp_nbytes,
            ctx: handle,
            ..self.params
        };
        // SAFETY: the client gave the function for these arguments, whose memory lives on.
        let code = unsafe { function(&raw mut params) };
        if is_disposable && (code != 0 || !self.is_stored) {
            return Ok(Made::Zeros);
        }
        if code != 0 {
            return Err(format!("the prefilter returned {code}").into());
        }
        if wide > 0 {
            let fits = apart.get(..dest.len()).ok_or("a block is longer than its memory")?;
            dest.copy_from_slice(fits);
        }
        Ok(Made::Data)
    }
}

#[cfg(not(feature = "soname-7"))]
fn is_disposable(params: &blosc2_prefilter_params) -> bool {
    params.output_is_disposable != 0
}

#[cfg(feature = "soname-7")]
fn is_disposable(_: &blosc2_prefilter_params) -> bool {
    false
}

/// Memory of a thread: `kept` bytes that keep their content, and `cleared` bytes of zeros.
fn zeroed(memory: &mut Vec<u8>, kept: usize, cleared: usize) -> HookResult<&mut [u8]> {
    memory.truncate(kept);
    let len = kept.saturating_add(cleared);
    memory.try_reserve(len.saturating_sub(memory.len()))?;
    memory.resize(len, 0);
    Ok(memory)
}

/// A postfilter of C.
pub(super) struct After {
    pub(super) function: blosc2_postfilter_fn,
    pub(super) params: blosc2_postfilter_params,
    pub(super) place: Place,
}

// SAFETY: the header says that several threads call the function, if the context has several.
unsafe impl Sync for After {}

impl Postfilter for After {
    fn apply(&self, cx: BlockCx<'_>, dest: &mut [u8]) -> HookResult {
        let Some(function) = self.function else {
            dest.copy_from_slice(cx.input);
            return Ok(());
        };
        let Place { handle, nchunk, typesize, .. } = self.place;
        // If a function writes only a part of its output, the rest must not leak earlier content.
        dest.fill(0);
        let ttmp_nbytes = self.place.ttmp_nbytes(cx.blocksize);
        let ttmp = zeroed(cx.scratch, ttmp_nbytes, 0)?;
        let mut params = blosc2_postfilter_params {
            input: cx.input.as_ptr(),
            output: dest.as_mut_ptr(),
            size: i32::try_from(cx.input.len())?,
            typesize: i32::try_from(typesize)?,
            offset: i32::try_from(cx.at)?,
            nchunk,
            nblock: i32::try_from(cx.nblock)?,
            tid: i32::try_from(cx.worker)?,
            ttmp: ttmp.as_mut_ptr(),
            ttmp_nbytes,
            ctx: handle,
            ..self.params
        };
        // SAFETY: the client gave the function for these arguments, whose memory lives on.
        let code = unsafe { function(&raw mut params) };
        if code == 0 { Ok(()) } else { Err(format!("the postfilter returned {code}").into()) }
    }
}

/// Default arguments of a prefilter.
pub(super) const NO_PREPARAMS: blosc2_prefilter_params = blosc2_prefilter_params {
    user_data: ptr::null_mut(),
    input: ptr::null(),
    output: ptr::null_mut(),
    output_size: 0,
    output_typesize: 0,
    output_offset: 0,
    nchunk: -1,
    nblock: 0,
    tid: 0,
    ttmp: ptr::null_mut(),
    ttmp_nbytes: 0,
    ctx: ptr::null_mut(),
    #[cfg(not(feature = "soname-7"))]
    output_is_disposable: 0,
};

/// Default arguments of a postfilter.
pub(super) const NO_POSTPARAMS: blosc2_postfilter_params = blosc2_postfilter_params {
    user_data: ptr::null_mut(),
    input: ptr::null(),
    output: ptr::null_mut(),
    size: 0,
    typesize: 0,
    offset: 0,
    nchunk: -1,
    nblock: 0,
    tid: 0,
    ttmp: ptr::null_mut(),
    ttmp_nbytes: 0,
    ctx: ptr::null_mut(),
};

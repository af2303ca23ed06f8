//! Compresses data with a context.
#![allow(unsafe_code, reason = "contexts and buffers come from C as pointers")]

use core::ffi::{c_int, c_void};

use blosc_chunk::hooks::Source;
use blosc_chunk::{CParams, ChunkHeader, Encoder, Error};

use super::hooks::{Before, NO_PREPARAMS, Place};
use super::{Context, Room, blosc2_context, lock, params};
use crate::errors::{self, FAILURE, FILTER_PIPELINE, INVALID_PARAM, MAX_BUFSIZE_EXCEEDED};
use crate::guard::{bytes, bytes_mut};
use crate::places::find;

/// Fewer bytes are stored as they are, without filters.
const MIN_COMPRESSED: usize = 32;

/// Compresses data to a chunk; returns its size, or 0 if it does not fit.
///
/// # Safety
///
/// `handle` is NULL or a context; `src` has `srcsize` bytes, unless a prefilter does without, and
/// `dest` has `destsize`.
pub unsafe fn compress(
    handle: *mut blosc2_context,
    src: *const c_void,
    srcsize: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    // SAFETY: the caller promises it.
    let Some(context) = (unsafe { find(handle) }) else { return INVALID_PARAM };
    let sticky = usize::try_from(lock(&context.cparams).blocksize).ok().filter(|size| *size > 0);
    let room = Room { dest, destsize };
    // SAFETY: the caller promises it.
    unsafe { context.compress(handle, (src, srcsize), room, sticky) }
}

/// The bytes of a destination, which must have space for a header.
pub(super) fn room(destsize: i32) -> Result<usize, c_int> {
    usize::try_from(destsize)
        .ok()
        .filter(|room| *room >= ChunkHeader::MAX_LEN)
        .ok_or(MAX_BUFSIZE_EXCEEDED)
}

impl Context {
    /// The same with the initial block size of the context, and without a prefilter.
    ///
    /// # Safety
    ///
    /// As [`compress`].
    pub(crate) unsafe fn compress_as_made(&self, src: (*const c_void, i32), room: Room) -> c_int {
        // SAFETY: the caller promises it.
        unsafe { self.compress(core::ptr::null_mut(), src, room, None) }
    }

    /// # Safety
    ///
    /// As [`compress`].
    unsafe fn compress(
        &self,
        handle: *mut blosc2_context,
        (src, srcsize): (*const c_void, i32),
        Room { dest, destsize }: Room,
        blocksize: Option<usize>,
    ) -> c_int {
        let Some(nbytes) = usize::try_from(srcsize).ok().filter(|_| self.is_compressor) else {
            return INVALID_PARAM;
        };
        let room = match room(destsize) {
            Ok(room) => room,
            Err(code) => return code,
        };
        // SAFETY: the caller promises it.
        let src = unsafe { bytes(src, nbytes) };
        // SAFETY: the caller promises it.
        let dest = unsafe { bytes_mut(dest, room) };
        let has_prefilter = lock(&self.cparams).prefilter.is_some();
        let (Some(dest), true) = (dest, src.is_some() || has_prefilter || nbytes == 0) else {
            return INVALID_PARAM;
        };
        let settings = match self.settings(blocksize) {
            Ok(settings) => settings,
            Err(code) => return code,
        };
        let is_stored = settings.clevel.get() == 0 || nbytes < MIN_COMPRESSED;
        if !is_stored && params::lacks_width(&lock(&self.cparams)) {
            return FILTER_PIPELINE;
        }
        let source = src.map_or(Source::Nothing(nbytes), Source::Data);
        let result = self.encode(settings, |encoder| {
            if has_prefilter {
                let before = self.before(handle, encoder, is_stored);
                return encoder.encode_with_into(source, &before, dest);
            }
            encoder.encode_into(src.unwrap_or_default(), dest)
        });
        match result {
            Ok(Ok(cbytes)) => {
                self.remember(dest);
                c_int::try_from(cbytes).unwrap_or(FAILURE)
            }
            Ok(Err(error)) | Err(error) => errors::write(&error),
        }
    }

    /// The current parameters. C-Blosc2 continues with the block size of the last chunk, which the
    /// caller gives.
    pub(super) fn settings(&self, blocksize: Option<usize>) -> Result<CParams, c_int> {
        let settings = self.settings.clone()?;
        let blocksize = blocksize.or(settings.blocksize);
        // In a chunk, wide items are bytes. C-Blosc2 uses their size only if it chooses the block
        // size itself.
        let is_wide = settings.typesize > usize::from(u8::MAX) && blocksize.is_some();
        let typesize = if is_wide { 1 } else { settings.typesize };
        Ok(settings.blocksize(blocksize).typesize(typesize))
    }

    /// Calls `f` with an encoder of these parameters, which may be the one of the last call.
    pub(super) fn encode<R>(
        &self,
        settings: CParams,
        f: impl FnOnce(&mut Encoder) -> R,
    ) -> Result<R, Error> {
        let kept = lock(&self.encoder).take();
        let kept = kept.filter(|encoder| encoder.params().blocksize == settings.blocksize);
        let mut encoder = match kept {
            Some(encoder) => encoder,
            None => Encoder::new(settings)?,
        };
        let result = f(&mut encoder);
        *lock(&self.encoder) = Some(encoder);
        Ok(result)
    }

    /// Keeps the properties of the last chunk for `ctx_get_cparams`.
    pub(super) fn remember(&self, chunk: &[u8]) {
        let Ok(header) = ChunkHeader::parse(chunk) else { return };
        let mut cparams = lock(&self.cparams);
        if cparams.clevel == 0 {
            cparams.use_dict = 0;
        }
        if cparams.typesize > 255 {
            cparams.typesize = 1;
        }
        if !header.is_vl() {
            cparams.blocksize = i32::try_from(header.blocksize()).unwrap_or(0);
        }
    }

    pub(super) fn before(
        &self,
        handle: *mut blosc2_context,
        encoder: &Encoder,
        is_stored: bool,
    ) -> Before {
        let cparams = *lock(&self.cparams);
        // SAFETY: the maker of the context promised that `schunk` is NULL or a super-chunk.
        let nchunk = unsafe { params::current_nchunk(cparams.schunk.cast()) };
        let params = self.preparams.unwrap_or(NO_PREPARAMS);
        let place = Place { handle, nchunk, typesize: encoder.params().typesize };
        Before { function: cparams.prefilter, params, place, is_stored }
    }
}

//! Decompresses chunks with a context.
#![allow(unsafe_code, reason = "contexts and buffers come from C as pointers")]

use core::ffi::{c_int, c_void};
use core::ops::Range;

use blosc_chunk::{Chunk, ChunkHeader, Decoder, Error, Kind, Scratch};

use super::hooks::{After, NO_POSTPARAMS, Place};
use super::{Context, Room, blosc2_context, lock, params, with_kept};
use crate::errors::{
    self, DATA, FAILURE, INVALID_HEADER, INVALID_PARAM, READ_BUFFER, WRITE_BUFFER,
};
use crate::guard::{bytes, bytes_mut};
use crate::places::find;
use crate::schunk::{self, Stored};
use crate::types::blosc2_schunk;

/// Decompresses a chunk; returns the size of its data. Blocks in the mask do not change in the
/// destination.
///
/// # Safety
///
/// `handle` is NULL or a context; `src` has `srcsize` bytes and `dest` has `destsize`.
pub unsafe fn decompress(
    handle: *mut blosc2_context,
    src: *const c_void,
    srcsize: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    // SAFETY: the caller promises it.
    let Some(context) = (unsafe { find(handle) }) else { return INVALID_PARAM };
    // SAFETY: the caller promises it.
    unsafe { context.decompress_by(handle, (src, srcsize), Room { dest, destsize }) }
}

/// Decompresses all data except the blocks of a mask.
fn read(
    chunk: &Chunk<'_>,
    dest: &mut [u8],
    scratch: &mut Scratch,
    mask: Option<&[bool]>,
    after: Option<&After>,
) -> Result<(), c_int> {
    let code = |error: Error| errors::read(&error);
    let header = chunk.header();
    let Some(mask) = mask else {
        return match after {
            None => chunk.decode_into(dest, scratch).map(drop).map_err(code),
            Some(after) => {
                chunk.read_bytes_with(0..header.nbytes(), dest, scratch, after).map_err(code)
            }
        };
    };
    if mask.len() != header.nblocks() {
        return Err(DATA);
    }
    let is_chosen = |nblock: usize| !mask.get(nblock).copied().unwrap_or_default();
    if chunk.nblocks() > 0 {
        return match after {
            None => chunk.read_blocks(is_chosen, dest, scratch),
            Some(after) => chunk.read_blocks_with(is_chosen, dest, scratch, after),
        }
        .map_err(code);
    }
    // Runs and stored data have blocks only for masks and postfilters.
    let blocksize = header.blocksize();
    let (dest, _) = dest.split_at_mut_checked(header.nbytes()).ok_or(WRITE_BUFFER)?;
    for (nblock, part) in dest.chunks_mut(blocksize).enumerate().filter(|(n, _)| is_chosen(*n)) {
        let start = nblock.saturating_mul(blocksize);
        let range = start..start.saturating_add(part.len());
        match after {
            None => chunk.read_bytes(range, part, scratch),
            Some(after) => chunk.read_bytes_with(range, part, scratch, after),
        }
        .map_err(code)?;
    }
    Ok(())
}

/// Decompresses `nitems` items of a chunk from item `start` on; returns their number of bytes.
///
/// # Safety
///
/// As [`decompress`].
pub unsafe fn getitem(
    handle: *mut blosc2_context,
    src: *const c_void,
    srcsize: i32,
    (start, nitems): (c_int, c_int),
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    // SAFETY: the caller promises it.
    let Some(context) = (unsafe { find(handle) }) else { return INVALID_PARAM };
    // SAFETY: the caller promises it.
    unsafe { context.getitem_by(handle, (src, srcsize), (start, nitems), Room { dest, destsize }) }
}

/// The same for bytes, which must be whole items.
///
/// # Safety
///
/// As [`decompress`].
pub unsafe fn getitem_bytes(
    handle: *mut blosc2_context,
    src: *const c_void,
    srcsize: i32,
    (start, nbytes): (i32, i32),
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    // SAFETY: the caller promises it.
    let Some(context) = (unsafe { find(handle) }) else { return INVALID_PARAM };
    // SAFETY: the caller promises it.
    let src = match unsafe { source(src, srcsize) } {
        Ok(src) => src,
        Err(code) => return code,
    };
    let whole = match context.whole(src) {
        Ok(whole) => whole,
        Err(code) => return code,
    };
    let src = whole.bytes();
    let typesize = match items_of(src) {
        Ok(typesize) => typesize,
        Err(code) => return code,
    };
    let (Ok(start), Ok(nbytes)) = (usize::try_from(start), usize::try_from(nbytes)) else {
        return INVALID_PARAM;
    };
    if !start.is_multiple_of(typesize) || !nbytes.is_multiple_of(typesize) {
        return INVALID_PARAM;
    }
    if nbytes == 0 {
        return 0;
    }
    // SAFETY: the caller promises it.
    match unsafe { destination(Room { dest, destsize }, nbytes) } {
        Ok(dest) => context.read_part(handle, src, start..start.saturating_add(nbytes), dest),
        Err(code) => code,
    }
}

/// The bytes of a chunk that comes from C.
///
/// # Safety
///
/// `src` is NULL or has `srcsize` bytes.
pub(crate) unsafe fn source<'a>(src: *const c_void, srcsize: i32) -> Result<&'a [u8], c_int> {
    let len = usize::try_from(srcsize).ok().filter(|len| *len >= ChunkHeader::MIN_LEN);
    // SAFETY: the caller promises it.
    unsafe { bytes(src, len.ok_or(READ_BUFFER)?) }.ok_or(INVALID_PARAM)
}

/// A whole chunk, given by C or found for a lazy one.
enum Whole<'a> {
    Given(&'a [u8]),
    Found(Stored),
}

impl Whole<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Given(bytes) => bytes,
            // SAFETY: who decompresses a lazy chunk promises that nobody changes its super-chunk.
            Self::Found(stored) => unsafe { stored.bytes() },
        }
    }
}

/// The header of a chunk, which must be complete.
pub(crate) fn header(src: &[u8]) -> Result<ChunkHeader, c_int> {
    ChunkHeader::parse(src).map_err(|error| errors::read(&error))
}

/// Bytes of an item of a chunk with items.
fn items_of(src: &[u8]) -> Result<usize, c_int> {
    let header = header(src)?;
    if header.cbytes() > src.len() {
        return Err(INVALID_HEADER);
    }
    if header.is_vl() { Err(INVALID_PARAM) } else { Ok(header.typesize()) }
}

/// The first `nbytes` bytes of a destination.
///
/// # Safety
///
/// `dest` is NULL or has `destsize` bytes.
unsafe fn destination<'a>(
    Room { dest, destsize }: Room,
    nbytes: usize,
) -> Result<&'a mut [u8], c_int> {
    if usize::try_from(destsize).is_ok_and(|room| nbytes <= room) {
        // SAFETY: the caller promises it.
        return unsafe { bytes_mut(dest, nbytes) }.ok_or(INVALID_PARAM);
    }
    Err(WRITE_BUFFER)
}

impl Context {
    /// [`decompress`] without a place in C.
    ///
    /// # Safety
    ///
    /// As [`decompress`].
    pub(crate) unsafe fn decompress(&self, src: (*const c_void, i32), room: Room) -> c_int {
        // SAFETY: the caller promises it.
        unsafe { self.decompress_by(core::ptr::null_mut(), src, room) }
    }

    /// [`getitem`] without a place in C.
    ///
    /// # Safety
    ///
    /// As [`decompress`].
    pub(crate) unsafe fn getitem(
        &self,
        src: (*const c_void, i32),
        items: (c_int, c_int),
        room: Room,
    ) -> c_int {
        // SAFETY: the caller promises it.
        unsafe { self.getitem_by(core::ptr::null_mut(), src, items, room) }
    }

    /// The chunk itself, if C gives a lazy one: the super-chunk of the context has it.
    fn whole<'a>(&self, src: &'a [u8]) -> Result<Whole<'a>, c_int> {
        if !header(src)?.is_lazy() {
            return Ok(Whole::Given(src));
        }
        let schunk: *mut blosc2_schunk = self.dparams.schunk.cast();
        if schunk.is_null() {
            return Err(INVALID_PARAM);
        }
        // SAFETY: who made the context promised that it is NULL or a super-chunk.
        unsafe { schunk::of_lazy(schunk, src) }.map(Whole::Found)
    }

    /// Decompresses the blocks of a chunk that are not in a mask.
    ///
    /// # Safety
    ///
    /// `handle` is NULL or a context of this library.
    pub(crate) unsafe fn read_blocks(
        handle: *mut blosc2_context,
        src: &[u8],
        mask: &[bool],
        dest: &mut [u8],
    ) -> Result<(), c_int> {
        // SAFETY: the caller promises it.
        let context = unsafe { find(handle) }.ok_or(INVALID_PARAM)?;
        if context.is_compressor {
            return Err(INVALID_PARAM);
        }
        let chunk = Chunk::parse(src).map_err(|error| errors::read(&error))?;
        if chunk.header().nbytes() != dest.len() {
            return Err(DATA);
        }
        let mask = mask.contains(&true).then_some(mask);
        context.decode(|scratch| {
            let after = context.after(handle, &chunk);
            read(&chunk, dest, scratch, mask, after.as_ref())
        })
    }

    /// # Safety
    ///
    /// As [`decompress`].
    unsafe fn decompress_by(
        &self,
        handle: *mut blosc2_context,
        (src, srcsize): (*const c_void, i32),
        Room { dest, destsize }: Room,
    ) -> c_int {
        if self.is_compressor {
            return INVALID_PARAM;
        }
        let mask = lock(&self.mask).take();
        // SAFETY: the caller promises it.
        let src = match unsafe { source(src, srcsize) } {
            Ok(src) => src,
            Err(code) => return code,
        };
        let whole = match self.whole(src) {
            Ok(whole) => whole,
            Err(code) => return code,
        };
        let src = whole.bytes();
        let nbytes = match header(src) {
            Ok(header) => header.nbytes(),
            Err(code) => return code,
        };
        let Some(room) = usize::try_from(destsize).ok().filter(|room| nbytes <= *room) else {
            return WRITE_BUFFER;
        };
        // SAFETY: the caller promises it.
        let Some(dest) = (unsafe { bytes_mut(dest, room) }) else { return INVALID_PARAM };
        let chunk = match Chunk::parse(src) {
            Ok(chunk) => chunk,
            Err(error) => return errors::read(&error),
        };
        let done = self.decode(|scratch| {
            let after = self.after(handle, &chunk);
            read(&chunk, dest, scratch, mask.as_deref(), after.as_ref())
        });
        match done {
            Ok(()) => c_int::try_from(nbytes).unwrap_or(FAILURE),
            Err(code) => code,
        }
    }

    /// # Safety
    ///
    /// As [`decompress`].
    unsafe fn getitem_by(
        &self,
        handle: *mut blosc2_context,
        (src, srcsize): (*const c_void, i32),
        (start, nitems): (c_int, c_int),
        room: Room,
    ) -> c_int {
        // SAFETY: the caller promises it.
        let src = match unsafe { source(src, srcsize) } {
            Ok(src) => src,
            Err(code) => return code,
        };
        let whole = match self.whole(src) {
            Ok(whole) => whole,
            Err(code) => return code,
        };
        let src = whole.bytes();
        let typesize = match items_of(src) {
            Ok(typesize) => typesize,
            Err(code) => return code,
        };
        let Ok(nitems) = usize::try_from(nitems) else { return INVALID_PARAM };
        if nitems == 0 {
            return 0;
        }
        // SAFETY: the caller promises it.
        let dest = match unsafe { destination(room, nitems.saturating_mul(typesize)) } {
            Ok(dest) => dest,
            Err(code) => return code,
        };
        let Ok(start) = usize::try_from(start) else { return INVALID_PARAM };
        let end = start.saturating_add(nitems).saturating_mul(typesize);
        self.read_part(handle, src, start.saturating_mul(typesize)..end, dest)
    }

    /// Calls `f` with the buffers of the last call.
    pub(super) fn decode<R>(&self, f: impl FnOnce(&mut Scratch) -> R) -> R {
        // SAFETY: who made the context promised that `schunk` is NULL or a super-chunk.
        let make = || Decoder::new(unsafe { params::decoding(&self.dparams) });
        with_kept(&self.decoder, make, |decoder| f(decoder.scratch()))
    }

    /// The postfilter of the client, if there is one.
    pub(super) fn after(&self, handle: *mut blosc2_context, chunk: &Chunk<'_>) -> Option<After> {
        let function = self.dparams.postfilter;
        function?;
        // SAFETY: who made the context promised that `schunk` is NULL or a super-chunk.
        let nchunk = unsafe { params::current_nchunk(self.dparams.schunk.cast()) };
        let place = Place { handle, nchunk, typesize: chunk.header().typesize() };
        Some(After { function, params: self.postparams.unwrap_or(NO_POSTPARAMS), place })
    }

    /// Decompresses bytes of the data; `dest` is as long. Returns their number.
    fn read_part(
        &self,
        handle: *mut blosc2_context,
        src: &[u8],
        range: Range<usize>,
        dest: &mut [u8],
    ) -> c_int {
        let chunk = match Chunk::parse(src) {
            Ok(chunk) if chunk.header().kind() != Kind::Vl => chunk,
            Ok(_) => return INVALID_PARAM,
            Err(error) => return errors::read(&error),
        };
        let done = self.decode(|scratch| match self.after(handle, &chunk) {
            None => chunk.read_bytes(range, dest, scratch),
            Some(after) => chunk.read_bytes_with(range, dest, scratch, &after),
        });
        match done {
            Ok(()) => c_int::try_from(dest.len()).unwrap_or(FAILURE),
            Err(error) => errors::read(&error),
        }
    }
}

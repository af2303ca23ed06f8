//! Chunks of blocks with individual sizes.
#![allow(unsafe_code, reason = "contexts and buffers come from C as pointers")]

use core::ffi::{c_int, c_void};
use core::ptr::NonNull;
use core::slice;

use blosc_chunk::{Chunk, Scratch, block::VlChunk};

use super::compress::room;
use super::decompress::{header, source};
use super::hooks::After;
use super::{Context, blosc2_context, lock};
use crate::errors::{self, FAILURE, INVALID_HEADER, INVALID_PARAM, MEMORY_ALLOC};
use crate::guard::{bytes, bytes_mut, put_out};
use crate::memory::zeros;
use crate::places::find;

/// Compresses blocks to a chunk that keeps them separate; returns its size, or 0 if it does not
/// fit.
///
/// # Safety
///
/// `handle` is NULL or a context; `srcs` and `srcsizes` have `nblocks` entries, each pointer as
/// many bytes as its size says, and `dest` has `destsize`.
pub unsafe fn vlcompress(
    handle: *mut blosc2_context,
    srcs: *const *const c_void,
    srcsizes: *const i32,
    nblocks: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    // SAFETY: the caller promises it.
    let context = unsafe { find(handle) }.filter(|context| context.is_compressor);
    // SAFETY: the caller promises it.
    let blocks = unsafe { blocks(srcs, srcsizes, nblocks) };
    let (Some(context), Some(blocks)) = (context, blocks) else { return INVALID_PARAM };
    let room = match room(destsize) {
        Ok(room) => room,
        Err(code) => return code,
    };
    // SAFETY: the caller promises it.
    let Some(dest) = (unsafe { bytes_mut(dest, room) }) else { return INVALID_PARAM };
    let settings = match context.settings(None) {
        Ok(settings) => settings,
        Err(code) => return code,
    };
    let result = context.encode(settings, |encoder| {
        if lock(&context.cparams).prefilter.is_none() {
            return encoder.encode_vl(&blocks);
        }
        let is_stored = encoder.params().clevel.get() == 0;
        let before = context.before(handle, encoder, is_stored);
        encoder.encode_vl_with(&blocks, &before)
    });
    let chunk = match result {
        Ok(Ok(chunk)) => chunk,
        Ok(Err(error)) | Err(error) => return errors::write(&error),
    };
    let Some(place) = dest.get_mut(..chunk.len()) else { return 0 };
    place.copy_from_slice(&chunk);
    context.remember(&chunk);
    c_int::try_from(chunk.len()).unwrap_or(FAILURE)
}

/// The blocks at some pointers; `None` if one of them is empty.
///
/// # Safety
///
/// Both lists have `nblocks` entries, and each pointer as many bytes as its size says.
unsafe fn blocks<'a>(
    srcs: *const *const c_void,
    srcsizes: *const i32,
    nblocks: i32,
) -> Option<Vec<&'a [u8]>> {
    let nblocks = usize::try_from(nblocks).ok().filter(|nblocks| *nblocks > 0)?;
    if srcs.is_null() || srcsizes.is_null() {
        return None;
    }
    // SAFETY: the caller promises it.
    let srcs = unsafe { slice::from_raw_parts(srcs, nblocks) };
    // SAFETY: the caller promises it.
    let sizes = unsafe { slice::from_raw_parts(srcsizes, nblocks) };
    let block = |(src, size): (&*const c_void, &i32)| {
        let size = usize::try_from(*size).ok().filter(|size| *size > 0)?;
        // SAFETY: the caller promises it.
        unsafe { bytes(*src, size) }
    };
    srcs.iter().zip(sizes).map(block).collect()
}

/// Writes the number of blocks of a chunk.
///
/// # Safety
///
/// `src` has `srcsize` bytes; `nblocks` is NULL or can be written to.
pub unsafe fn vlchunk_get_nblocks(src: *const c_void, srcsize: i32, nblocks: *mut i32) -> c_int {
    if src.is_null() || nblocks.is_null() {
        return INVALID_PARAM;
    }
    // SAFETY: the caller promises it.
    let header = match unsafe { source(src, srcsize) }.and_then(header) {
        Ok(header) if header.is_vl() => header,
        Ok(_) => return INVALID_PARAM,
        Err(code) => return code,
    };
    let count = i32::try_from(header.nblocks()).unwrap_or(i32::MAX);
    // SAFETY: the caller promises it.
    unsafe { put_out(nblocks, count) };
    0
}

/// Decompresses all blocks, each to memory that the caller frees; returns their number.
///
/// # Safety
///
/// As [`vlchunk_get_nblocks`]; `handle` is NULL or a context, and `dests` and `destsizes` have
/// `maxblocks` entries.
pub unsafe fn vldecompress(
    handle: *mut blosc2_context,
    src: *const c_void,
    srcsize: i32,
    dests: *mut *mut c_void,
    destsizes: *mut i32,
    maxblocks: i32,
) -> c_int {
    let maxblocks = usize::try_from(maxblocks).ok().filter(|max| *max > 0);
    // SAFETY: the caller promises it.
    let context = unsafe { find(handle) }.filter(|context| !context.is_compressor);
    let (Some(context), Some(maxblocks)) = (context, maxblocks) else { return INVALID_PARAM };
    if dests.is_null() || destsizes.is_null() {
        return INVALID_PARAM;
    }
    // SAFETY: the caller promises it.
    let src = match unsafe { source(src, srcsize) } {
        Ok(src) => src,
        Err(code) => return code,
    };
    let blocks = context.decode_vl(handle, src, |reader| {
        let nblocks = reader.blocks.nblocks();
        if nblocks > maxblocks {
            return Err(INVALID_PARAM);
        }
        (0..nblocks).map(|nblock| reader.read(nblock)).collect()
    });
    let blocks: Vec<Block> = match blocks {
        Ok(blocks) => blocks,
        Err(code) => return code,
    };
    let count = c_int::try_from(blocks.len()).unwrap_or(FAILURE);
    for (nblock, block) in blocks.into_iter().enumerate() {
        let (memory, nbytes) = block.hand_over();
        // SAFETY: the caller promises entries for as many blocks as there are.
        let place = unsafe { dests.add(nblock) };
        // SAFETY: the same.
        unsafe { put_out(place, memory) };
        // SAFETY: the same.
        let place = unsafe { destsizes.add(nblock) };
        // SAFETY: the same.
        unsafe { put_out(place, nbytes) };
    }
    count
}

/// Decompresses one block to memory that the caller frees; returns its size.
///
/// # Safety
///
/// As [`vlchunk_get_nblocks`]; `handle` is NULL or a context, `dest` and `destsize` are NULL or can
/// be written to.
pub unsafe fn vldecompress_block(
    handle: *mut blosc2_context,
    src: *const c_void,
    srcsize: i32,
    nblock: i32,
    dest: *mut *mut u8,
    destsize: *mut i32,
) -> c_int {
    // SAFETY: the caller promises it.
    let context = unsafe { find(handle) }.filter(|context| !context.is_compressor);
    let (Some(context), false) = (context, dest.is_null() || destsize.is_null()) else {
        return INVALID_PARAM;
    };
    // SAFETY: the caller promises it.
    let src = match unsafe { source(src, srcsize) } {
        Ok(src) => src,
        Err(code) => return code,
    };
    let block = context.decode_vl(handle, src, |reader| {
        let nblocks = reader.blocks.nblocks();
        let nblock = usize::try_from(nblock).ok().filter(|nblock| *nblock < nblocks);
        reader.read(nblock.ok_or(INVALID_PARAM)?)
    });
    match block {
        Ok(block) => {
            let (memory, nbytes) = block.hand_over();
            // SAFETY: the caller promises it.
            unsafe { put_out(dest, memory.cast()) };
            // SAFETY: the caller promises it.
            unsafe { put_out(destsize, nbytes) };
            nbytes
        }
        Err(code) => code,
    }
}

impl Context {
    fn decode_vl<R>(
        &self,
        handle: *mut blosc2_context,
        src: &[u8],
        f: impl FnOnce(&mut Reader<'_, '_>) -> Result<R, c_int>,
    ) -> Result<R, c_int> {
        if !header(src)?.is_vl() {
            return Err(INVALID_PARAM);
        }
        let chunk = Chunk::parse(src).map_err(|error| errors::read(&error))?;
        let blocks = chunk.as_vl().map_err(|_| INVALID_HEADER)?;
        let after = self.after(handle, &chunk);
        self.decode(|scratch| f(&mut Reader { chunk: &chunk, blocks, after, scratch }))
    }
}

/// The blocks of a chunk, and the memory for reading them.
struct Reader<'c, 's> {
    chunk: &'c Chunk<'c>,
    blocks: VlChunk<'c>,
    after: Option<After>,
    scratch: &'s mut Scratch,
}

impl Reader<'_, '_> {
    fn read(&mut self, nblock: usize) -> Result<Block, c_int> {
        let data = match &self.after {
            None => self.blocks.read(nblock, self.scratch),
            Some(after) => {
                let range = self.blocks.range(nblock);
                let mut data = zeros(range.len()).ok_or(MEMORY_ALLOC)?;
                let done = self.chunk.read_bytes_with(range, &mut data, self.scratch, after);
                done.map(|()| data)
            }
        };
        let data = data.map_err(|error| errors::read(&error))?;
        Block::copy_of(&data).ok_or(MEMORY_ALLOC)
    }
}

/// Memory of C's allocator, freed unless it is passed to C.
struct Block {
    memory: NonNull<c_void>,
    nbytes: i32,
}

impl Block {
    fn copy_of(data: &[u8]) -> Option<Self> {
        let nbytes = i32::try_from(data.len()).ok()?;
        // SAFETY: asks for as many bytes as are written then.
        let memory = NonNull::new(unsafe { libc::malloc(data.len().max(1)) })?;
        // SAFETY: the new memory has that length, and is nobody else's.
        unsafe {
            memory.cast::<u8>().copy_from_nonoverlapping(NonNull::from(data).cast(), data.len())
        };
        Some(Self { memory, nbytes })
    }

    /// Memory and size, for C to free.
    fn hand_over(self) -> (*mut c_void, i32) {
        let result = (self.memory.as_ptr(), self.nbytes);
        core::mem::forget(self);
        result
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: it comes from `malloc` and was not handed over.
        unsafe { libc::free(self.memory.as_ptr()) };
    }
}

//! Parts of arrays, and boxes of buffers.

use core::ffi::{c_int, c_void};
use core::ops::Range;

use b2frame::nd::{BoxAt, ChunkPart, copy_box};

use super::{Array, code, find, numbers};
use crate::buffers::Kept;
use crate::context::Context;
use crate::errors::{self, FAILURE, INVALID_PARAM, MEMORY_ALLOC, NULL_POINTER};
use crate::guard::{bytes, bytes_mut};
use crate::schunk;
use crate::types::b2nd_array_t;

/// Reads the items from `start` to `stop` to the start of a buffer of this shape. Its rest becomes
/// zeros, and positions after the end of the array are skipped.
///
/// # Safety
///
/// NULL or an array of this library; shapes have as many numbers as dimensions, and the buffer has
/// `buffersize` bytes.
pub unsafe fn get_slice_cbuffer(
    array: *const b2nd_array_t,
    start: *const i64,
    stop: *const i64,
    buffer: *mut c_void,
    buffershape: *const i64,
    buffersize: i64,
) -> c_int {
    // SAFETY: the caller promises it.
    let array = match unsafe { find(array) } {
        Ok(array) => array,
        Err(code) => return code,
    };
    // SAFETY: the caller promises it.
    code(unsafe { array.read(start, stop, buffer, buffershape, buffersize) })
}

/// Reads all items to a buffer.
///
/// # Safety
///
/// NULL or an array of this library; the buffer has `buffersize` bytes.
pub unsafe fn to_cbuffer(
    array: *const b2nd_array_t,
    buffer: *mut c_void,
    buffersize: i64,
) -> c_int {
    // SAFETY: the caller promises it.
    let array = match unsafe { find(array) } {
        Ok(array) => array,
        Err(code) => return code,
    };
    let stop: Vec<i64> = array.shape.iter().map(|len| len.cast_signed()).collect();
    let start = vec![0; stop.len()];
    // SAFETY: the caller promises it; shapes are as long as the array has dimensions.
    code(unsafe { array.read(start.as_ptr(), stop.as_ptr(), buffer, stop.as_ptr(), buffersize) })
}

/// An error of a partial read: ours, or that of a chunk.
enum Failed {
    Frame(b2frame::Error),
    Code(c_int),
}

impl From<b2frame::Error> for Failed {
    fn from(error: b2frame::Error) -> Self {
        Self::Frame(error)
    }
}

impl Array {
    /// # Safety
    ///
    /// As [`get_slice_cbuffer`].
    unsafe fn read(
        &self,
        start: *const i64,
        stop: *const i64,
        buffer: *mut c_void,
        buffershape: *const i64,
        buffersize: i64,
    ) -> Result<(), c_int> {
        let ndim = i8::try_from(self.shape.len()).map_err(|_| FAILURE)?;
        // SAFETY: the caller promises it.
        let start = unsafe { numbers(start, ndim) }?;
        // SAFETY: the caller promises it.
        let stop = unsafe { numbers(stop, ndim) }?;
        // SAFETY: the caller promises it.
        let room = unsafe { numbers(buffershape, ndim) }?;
        let (region, wanted) = self.region(start, stop, room)?;
        let buffersize = u64::try_from(buffersize).map_err(|_| INVALID_PARAM)?;
        let room: Vec<u64> = room.iter().map(|len| len.unsigned_abs()).collect();
        let product =
            |lens: &[u64]| lens.iter().try_fold(self.typesize as u64, |n, len| n.checked_mul(*len));
        if product(&wanted).is_none_or(|nbytes| nbytes > buffersize) {
            return Err(INVALID_PARAM);
        }
        let len = product(&room).ok_or(INVALID_PARAM)?.min(buffersize);
        let len = usize::try_from(len).map_err(|_| INVALID_PARAM)?;
        if len == 0 {
            return Ok(());
        }
        // SAFETY: the caller promises it.
        let dest = unsafe { bytes_mut(buffer, len) }.ok_or(NULL_POINTER)?;
        let is_whole = region.iter().zip(&room).all(|(range, len)| range.end == *len)
            && region.iter().all(|range| range.start == 0);
        if !is_whole {
            dest.fill(0);
        }
        let read = |part: ChunkPart<'_>| self.decode(part).map_err(Failed::Code);
        match self.layout.read(&region, dest, &room, &mut Kept::take(), read) {
            Ok(()) => Ok(()),
            Err(Failed::Frame(error)) => Err(errors::frame(&error)),
            Err(Failed::Code(code)) => Err(code),
        }
    }

    /// The existing part, and the requested length per dimension.
    fn region(
        &self,
        start: &[i64],
        stop: &[i64],
        room: &[i64],
    ) -> Result<(Vec<Range<u64>>, Vec<u64>), c_int> {
        let (mut region, mut wanted) = (Vec::new(), Vec::new());
        for (((start, stop), room), len) in start.iter().zip(stop).zip(room).zip(&self.shape) {
            let (Ok(start), Ok(stop)) = (u64::try_from(*start), u64::try_from(*stop)) else {
                return Err(FAILURE);
            };
            let count = stop.saturating_sub(start);
            if u64::try_from(*room).map_err(|_| INVALID_PARAM)? < count {
                return Err(INVALID_PARAM);
            }
            let start = start.min(*len);
            region.push(start..stop.min(*len).max(start));
            wanted.push(count);
        }
        Ok((region, wanted))
    }

    /// Decompresses blocks of a chunk with the current context of the super-chunk.
    fn decode(&self, part: ChunkPart<'_>) -> Result<(), c_int> {
        let ChunkPart { nchunk, blocks, data } = part;
        // SAFETY: an array has a super-chunk of this library, which lives as long.
        let stored = unsafe { schunk::stored(self.schunk, nchunk) }?;
        let mut mask = Vec::new();
        mask.try_reserve_exact(self.blocks_in_chunk).map_err(|_| MEMORY_ALLOC)?;
        mask.resize(self.blocks_in_chunk, true);
        for nblock in blocks {
            let place = usize::try_from(*nblock).ok().and_then(|n| mask.get_mut(n));
            *place.ok_or(FAILURE)? = false;
        }
        // Functions of the client read the number of the chunk from this field.
        // SAFETY: as above.
        unsafe { (*self.schunk).current_nchunk = nchunk.cast_signed() };
        // SAFETY: as above.
        let dctx = unsafe { (*self.schunk).dctx };
        // SAFETY: who reads an array promises that nobody changes it meanwhile.
        let bytes = unsafe { stored.bytes() };
        // SAFETY: the context is NULL or of this library.
        unsafe { Context::read_blocks(dctx, bytes, &mask, data) }
    }
}

/// One side of [`copy_buffer`], as given by C.
#[derive(Clone, Copy, Debug)]
pub struct Side<P> {
    /// The first byte.
    pub place: P,
    /// Items per dimension.
    pub shape: *const i64,
    /// The first item of the box per dimension.
    pub start: *const i64,
}

/// Copies the items of a box from one buffer in C order to another.
///
/// # Safety
///
/// Shapes and positions have `ndim` numbers, and buffers as many items as their shapes say.
pub unsafe fn copy_buffer(
    (ndim, itemsize): (i8, i32),
    src: Side<*const c_void>,
    stop: *const i64,
    dst: Side<*mut c_void>,
) -> c_int {
    // SAFETY: the caller promises it.
    code(unsafe { copy((ndim, itemsize), src, stop, dst) })
}

/// # Safety
///
/// As [`copy_buffer`].
unsafe fn copy(
    (ndim, itemsize): (i8, i32),
    src: Side<*const c_void>,
    stop: *const i64,
    dst: Side<*mut c_void>,
) -> Result<(), c_int> {
    // SAFETY: the caller promises it.
    let read = |numbers| unsafe { lens(numbers, ndim) };
    let (src_shape, src_start, src_stop) = (read(src.shape)?, read(src.start)?, read(stop)?);
    let (dst_shape, dst_start) = (read(dst.shape)?, read(dst.start)?);
    let counts = src_start.iter().zip(&src_stop);
    let counts: Option<Vec<u64>> = counts.map(|(start, stop)| stop.checked_sub(*start)).collect();
    let counts = counts.ok_or(INVALID_PARAM)?;
    let itemsize = usize::try_from(itemsize).map_err(|_| INVALID_PARAM)?;
    let nbytes = |shape: &[u64]| {
        let nbytes = shape.iter().try_fold(itemsize as u64, |n, len| n.checked_mul(*len));
        nbytes.and_then(|n| usize::try_from(n).ok()).ok_or(INVALID_PARAM)
    };
    // SAFETY: the caller promises it.
    let from = unsafe { bytes(src.place, nbytes(&src_shape)?) }.ok_or(NULL_POINTER)?;
    // SAFETY: the caller promises it.
    let to = unsafe { bytes_mut(dst.place, nbytes(&dst_shape)?) }.ok_or(NULL_POINTER)?;
    let src = BoxAt { shape: &src_shape, start: &src_start };
    let dst = BoxAt { shape: &dst_shape, start: &dst_start };
    copy_box(itemsize, &counts, (from, src), (to, dst)).map_err(|error| errors::frame(&error))
}

/// # Safety
///
/// `lens` is NULL or has `ndim` numbers.
unsafe fn lens(lens: *const i64, ndim: i8) -> Result<Vec<u64>, c_int> {
    // SAFETY: the caller promises it.
    let lens = unsafe { numbers(lens, ndim) }?;
    lens.iter().map(|len| u64::try_from(*len).map_err(|_| INVALID_PARAM)).collect()
}

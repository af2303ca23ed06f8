//! Making and freeing arrays.

use core::ffi::{c_char, c_int, c_void};
use core::ptr;

use b2frame::nd::{ArrayLayout, NdMeta};

use super::{
    ARRAYS, Array, ArrayPlace, PARAMS, Params, b2nd_context_t, code, fields, find, numbers,
};
use crate::context::{CPARAMS_DEFAULTS, DPARAMS_DEFAULTS};
use crate::errors::{
    self, FAILURE, INVALID_PARAM, MEMORY_ALLOC, METALAYER_NOT_FOUND, NULL_POINTER,
};
use crate::guard::{self, bytes, put_out};
use crate::memory::zeros;
use crate::places;
use crate::schunk::{self, New};
use crate::types::{
    MAX_METALAYERS, b2nd_array_t, blosc2_cparams, blosc2_metalayer, blosc2_schunk, blosc2_storage,
};

/// The shapes of a new array, and the type of its items, as C gives them.
#[derive(Clone, Copy, Debug)]
pub struct Shapes {
    /// Number of dimensions.
    pub ndim: i8,
    /// Items per dimension.
    pub shape: *const i64,
    /// Items of a chunk, per dimension.
    pub chunkshape: *const i32,
    /// Items of a block, per dimension.
    pub blockshape: *const i32,
    /// The type of an item, as text.
    pub dtype: *const c_char,
    /// The kind of that text.
    pub dtype_format: i8,
}

/// Parameters of new arrays; NULL if the parameters are invalid.
///
/// # Safety
///
/// `storage` is NULL or a storage whose pointers are NULL or can be read; shapes have as many
/// numbers as dimensions, and there are as many metalayers as `nmetalayers` says.
#[must_use]
pub unsafe fn create_ctx(
    storage: *const blosc2_storage,
    shapes: Shapes,
    metalayers: *const blosc2_metalayer,
    nmetalayers: i32,
) -> *mut b2nd_context_t {
    // SAFETY: the caller promises it.
    match unsafe { params(storage, shapes, metalayers, nmetalayers) } {
        // SAFETY: C sees no fields of it.
        Ok(params) => unsafe { PARAMS.place(params) },
        Err(_) => ptr::null_mut(),
    }
}

/// # Safety
///
/// As [`create_ctx`].
unsafe fn params(
    storage: *const blosc2_storage,
    shapes: Shapes,
    metalayers: *const blosc2_metalayer,
    nmetalayers: i32,
) -> Result<Params, c_int> {
    // SAFETY: the caller promises it.
    let storage = unsafe { storage.as_ref() }.copied().unwrap_or(crate::storage::STORAGE_DEFAULTS);
    // SAFETY: the caller promises it.
    let cparams = unsafe { storage.cparams.as_ref() }.copied().unwrap_or(CPARAMS_DEFAULTS);
    // SAFETY: the caller promises it.
    let dparams = unsafe { storage.dparams.as_ref() }.copied().unwrap_or(DPARAMS_DEFAULTS);
    let len = usize::try_from(nmetalayers).map_err(|_| INVALID_PARAM)?;
    if len >= MAX_METALAYERS || (len > 0 && metalayers.is_null()) {
        return Err(INVALID_PARAM);
    }
    let given = match len {
        0 => &[],
        // SAFETY: the caller promises as many.
        _ => unsafe { core::slice::from_raw_parts(metalayers, len) },
    };
    // SAFETY: the caller promises it.
    let layer = |layer: &blosc2_metalayer| unsafe { layer_of(layer) };
    Ok(Params {
        is_contiguous: storage.contiguous != 0,
        // SAFETY: the caller promises it.
        urlpath: unsafe { guard::text(storage.urlpath) }.map(Into::into),
        cparams,
        dparams,
        // SAFETY: the caller promises it.
        io: unsafe { storage.io.as_ref() }.copied(),
        // SAFETY: the caller promises it.
        meta: unsafe { meta(&cparams, shapes) }?,
        metalayers: given.iter().map(layer).collect::<Result<_, _>>()?,
    })
}

/// # Safety
///
/// Name and content are NULL or can be read.
unsafe fn layer_of(layer: &blosc2_metalayer) -> Result<(Vec<u8>, Vec<u8>), c_int> {
    // SAFETY: the caller promises it.
    let name = unsafe { guard::text(layer.name) }.ok_or(NULL_POINTER)?;
    let len = usize::try_from(layer.content_len).map_err(|_| INVALID_PARAM)?;
    // SAFETY: the caller promises it.
    let content = unsafe { bytes(layer.content.cast(), len) }.ok_or(NULL_POINTER)?;
    Ok((name.to_bytes().to_vec(), content.to_vec()))
}

/// The metalayer for these shapes. As in C-Blosc2, invalid shapes give a code only when an array is
/// made.
///
/// # Safety
///
/// As [`create_ctx`].
unsafe fn meta(cparams: &blosc2_cparams, shapes: Shapes) -> Result<Result<NdMeta, c_int>, c_int> {
    let Shapes { ndim, dtype, dtype_format, .. } = shapes;
    // SAFETY: the caller promises it.
    let shape = unsafe { numbers(shapes.shape, ndim) }?;
    // SAFETY: the caller promises it.
    let chunkshape = unsafe { numbers(shapes.chunkshape, ndim) }?;
    // SAFETY: the caller promises it.
    let blockshape = unsafe { numbers(shapes.blockshape, ndim) }?;
    let lens = |lens: &[i32]| -> Result<Vec<u32>, c_int> {
        lens.iter().map(|len| u32::try_from(*len).map_err(|_| INVALID_PARAM)).collect()
    };
    let shape: Result<Vec<u64>, c_int> =
        shape.iter().map(|len| u64::try_from(*len).map_err(|_| INVALID_PARAM)).collect();
    let (shape, chunkshape, blockshape) = (shape?, lens(chunkshape)?, lens(blockshape)?);
    let dims = blockshape.iter().zip(&chunkshape);
    if dims.into_iter().any(|(block, chunk)| *block == 0 && *chunk > 0) {
        return Err(INVALID_PARAM);
    }
    // SAFETY: the caller promises it.
    let dtype = match unsafe { guard::text(dtype) } {
        Some(text) => text.to_str().map_err(|_| INVALID_PARAM)?.to_owned(),
        None => format!("|S{}", cparams.typesize),
    };
    let meta = NdMeta::new(&shape, &chunkshape, &blockshape, &dtype).map_err(|_| INVALID_PARAM);
    // The field is a positive fixed number of MessagePack.
    let format = u8::try_from(dtype_format).map_err(|_| FAILURE);
    Ok(format.and_then(|format| Ok(meta?.with_dtype_format(format))))
}

/// Frees parameters; returns 0.
///
/// # Safety
///
/// NULL, or parameters of this library that nobody uses any more.
pub unsafe fn free_ctx(ctx: *mut b2nd_context_t) -> c_int {
    // SAFETY: the caller promises it.
    match unsafe { PARAMS.take(ctx) } {
        Some(params) => {
            drop(params);
            0
        }
        None if ctx.is_null() => NULL_POINTER,
        None => INVALID_PARAM,
    }
}

/// Makes an array from the items of a buffer in C order.
///
/// # Safety
///
/// NULL or parameters of this library; `buffer` has `buffersize` bytes; `array` is NULL or can be
/// written to.
pub unsafe fn from_cbuffer(
    ctx: *mut b2nd_context_t,
    array: *mut *mut b2nd_array_t,
    buffer: *const c_void,
    buffersize: i64,
) -> c_int {
    if ctx.is_null() || array.is_null() {
        return NULL_POINTER;
    }
    // SAFETY: the caller promises it.
    let made = match unsafe { places::find(ctx) } {
        // SAFETY: the caller promises it.
        Some(params) => unsafe { compressed(params, buffer, buffersize) },
        None => Err(INVALID_PARAM),
    };
    // SAFETY: the caller promises it.
    unsafe { put_array(made, array) }
}

/// Passes an array to C, or NULL and a code.
///
/// # Safety
///
/// `array` can be written to.
unsafe fn put_array(
    made: Result<*mut b2nd_array_t, c_int>,
    array: *mut *mut b2nd_array_t,
) -> c_int {
    // SAFETY: the caller promises it.
    unsafe { put_out(array, made.unwrap_or(ptr::null_mut())) };
    code(made.map(|_| ()))
}

/// # Safety
///
/// `buffer` has `buffersize` bytes.
unsafe fn compressed(
    params: &Params,
    buffer: *const c_void,
    buffersize: i64,
) -> Result<*mut b2nd_array_t, c_int> {
    let meta = params.meta.as_ref().map_err(|code| *code)?;
    let typesize = usize::try_from(params.cparams.typesize).map_err(|_| INVALID_PARAM)?;
    let layout = ArrayLayout::new(meta, typesize).map_err(|error| errors::frame(&error))?;
    let nbytes = meta.nitems().checked_mul(typesize as u64).ok_or(INVALID_PARAM)?;
    let nbytes = usize::try_from(nbytes).map_err(|_| INVALID_PARAM)?;
    if usize::try_from(buffersize).map_err(|_| INVALID_PARAM)? < nbytes {
        return Err(INVALID_PARAM);
    }
    // SAFETY: the caller promises it.
    let items = unsafe { bytes(buffer, nbytes) };
    let items = if nbytes == 0 { &[] } else { items.ok_or(NULL_POINTER)? };
    // SAFETY: the pointers in the parameters are the caller's.
    let schunk = unsafe { empty(params, meta, &layout) }?;
    // SAFETY: the super-chunk was made above.
    let filled = unsafe { fill(schunk, &layout, items) };
    // SAFETY: the super-chunk was made above.
    let array = filled.and_then(|()| unsafe { array_of(schunk, meta, layout) });
    array.inspect_err(|_| {
        // SAFETY: nobody else knows the super-chunk.
        let _freed = unsafe { schunk::free(schunk) };
    })
}

/// The super-chunk of an array, without chunks.
///
/// # Safety
///
/// The pointers in the parameters are NULL or can be read.
unsafe fn empty(
    params: &Params,
    meta: &NdMeta,
    layout: &ArrayLayout,
) -> Result<*mut blosc2_schunk, c_int> {
    let typesize = usize::try_from(params.cparams.typesize).unwrap_or(1);
    let block = usize::try_from(meta.block_items()).ok().and_then(|n| n.checked_mul(typesize));
    let blocksize = block.and_then(|nbytes| i32::try_from(nbytes).ok()).ok_or(INVALID_PARAM)?;
    let mut cparams = blosc2_cparams { blocksize, ..params.cparams };
    let (mut dparams, mut io) = (params.dparams, params.io);
    let storage = blosc2_storage {
        contiguous: u8::from(params.is_contiguous),
        urlpath: params.urlpath.as_ref().map_or(ptr::null_mut(), |path| path.as_ptr().cast_mut()),
        cparams: &raw mut cparams,
        dparams: &raw mut dparams,
        io: io.as_mut().map_or(ptr::null_mut(), ptr::from_mut),
    };
    let layer = (NdMeta::NAME.as_bytes().to_vec(), meta.encode());
    let metalayers = core::iter::once(layer).chain(params.metalayers.iter().cloned()).collect();
    let chunksize = i32::try_from(layout.chunk_nbytes()).map_err(|_| INVALID_PARAM)?;
    // SAFETY: all pointers are to values above, or NULL.
    unsafe { schunk::create(&storage, New { chunksize: Some(chunksize), metalayers }) }
}

/// Compresses the chunks of an array.
///
/// # Safety
///
/// A super-chunk of this library.
unsafe fn fill(
    schunk: *mut blosc2_schunk,
    layout: &ArrayLayout,
    items: &[u8],
) -> Result<(), c_int> {
    let len = if layout.nchunks() == 0 { 0 } else { layout.chunk_nbytes() };
    let nbytes = i32::try_from(len).map_err(|_| INVALID_PARAM)?;
    let mut data = zeros(len).ok_or(MEMORY_ALLOC)?;
    for nchunk in 0..layout.nchunks() {
        let filled = layout.fill_chunk(nchunk, items, &mut data);
        filled.map_err(|error| errors::frame(&error))?;
        // SAFETY: the caller promises it; the data are as long as it is told.
        let appended = unsafe { schunk::append_buffer(schunk, data.as_ptr().cast(), nbytes) };
        if appended < 0 {
            return Err(c_int::try_from(appended).unwrap_or(FAILURE));
        }
    }
    Ok(())
}

/// The struct for an array.
///
/// # Safety
///
/// A super-chunk of this library.
unsafe fn array_of(
    schunk: *mut blosc2_schunk,
    meta: &NdMeta,
    layout: ArrayLayout,
) -> Result<*mut b2nd_array_t, c_int> {
    // SAFETY: the caller promises it.
    let typesize = unsafe { (*schunk).typesize };
    let blocks: u64 = meta.blocks_in_chunk().iter().product();
    let private = Array {
        schunk,
        layout,
        shape: meta.shape().to_vec(),
        blocks_in_chunk: usize::try_from(blocks).map_err(|_| INVALID_PARAM)?,
        typesize: usize::try_from(typesize).map_err(|_| INVALID_PARAM)?,
    };
    // SAFETY: zeros are a value of all fields.
    let array: *mut b2nd_array_t = unsafe { ARRAYS.place(private) }.cast();
    // SAFETY: nobody else knows the place.
    match unsafe { fields::fill(array, schunk, meta) } {
        Ok(()) => {
            // SAFETY: nobody else knows the place, and the super-chunk is one of this library.
            unsafe { fields::note_tick(array, schunk) };
            Ok(array)
        }
        Err(code) => {
            // SAFETY: nobody else knows the place.
            drop(unsafe { ARRAYS.take(array.cast::<ArrayPlace>()) });
            Err(code)
        }
    }
}

/// The array in a super-chunk, according to its metalayer. The array then owns the super-chunk.
///
/// # Safety
///
/// NULL or a super-chunk of this library; `array` is NULL or can be written to.
pub unsafe fn from_schunk(schunk: *mut blosc2_schunk, array: *mut *mut b2nd_array_t) -> c_int {
    if schunk.is_null() || array.is_null() {
        return NULL_POINTER;
    }
    // SAFETY: the caller promises it.
    let made = unsafe { of_schunk(schunk) };
    // SAFETY: the caller promises it.
    unsafe { put_array(made, array) }
}

/// # Safety
///
/// A super-chunk of this library.
unsafe fn of_schunk(schunk: *mut blosc2_schunk) -> Result<*mut b2nd_array_t, c_int> {
    // SAFETY: the caller promises it.
    let (content, typesize) = unsafe { schunk::array_facts(schunk) }?;
    let meta = NdMeta::parse(&content.ok_or(METALAYER_NOT_FOUND)?);
    let meta = meta.map_err(|error| errors::frame(&error))?;
    let layout = ArrayLayout::new(&meta, typesize).map_err(|error| errors::frame(&error))?;
    // SAFETY: the caller promises it.
    unsafe { array_of(schunk, &meta, layout) }
}

/// The array of a frame that begins at byte `offset` of a file.
///
/// # Safety
///
/// `urlpath` is NULL or a text; `array` is NULL or can be written to.
pub unsafe fn open_offset(
    urlpath: *const c_char,
    array: *mut *mut b2nd_array_t,
    offset: i64,
) -> c_int {
    if array.is_null() {
        return NULL_POINTER;
    }
    // SAFETY: the caller promises it.
    let schunk = unsafe { schunk::open_offset(urlpath, offset) };
    // SAFETY: NULL or made above.
    unsafe { owned(schunk, array) }
}

/// The array of a frame in a buffer, which [`schunk::from_buffer`] opens.
///
/// # Safety
///
/// `cframe` is NULL or has `len` bytes; `array` is NULL or can be written to.
pub unsafe fn from_cframe(
    cframe: *mut u8,
    len: i64,
    copy: bool,
    array: *mut *mut b2nd_array_t,
) -> c_int {
    if array.is_null() || cframe.is_null() {
        return NULL_POINTER;
    }
    // SAFETY: the caller promises it.
    let schunk = unsafe { schunk::from_buffer(cframe, len, copy) };
    if schunk.is_null() {
        return FAILURE;
    }
    // SAFETY: made above.
    unsafe { owned(schunk, array) }
}

/// The array of a super-chunk, which is freed if it is no array.
///
/// # Safety
///
/// NULL or a super-chunk that nobody else knows; `array` can be written to.
unsafe fn owned(schunk: *mut blosc2_schunk, array: *mut *mut b2nd_array_t) -> c_int {
    // SAFETY: the caller promises it.
    let opened = unsafe { from_schunk(schunk, array) };
    if opened < 0 && !schunk.is_null() {
        // SAFETY: the caller promises it.
        let _freed = unsafe { schunk::free(schunk) };
    }
    opened
}

/// Shows the frame of an array; C has to free it unless the array owns it.
///
/// # Safety
///
/// NULL or an array of this library; the other pointers are NULL or can be written to.
pub unsafe fn to_cframe(
    array: *const b2nd_array_t,
    cframe: *mut *mut u8,
    cframe_len: *mut i64,
    needs_free: *mut bool,
) -> c_int {
    if cframe.is_null() || cframe_len.is_null() || needs_free.is_null() {
        return NULL_POINTER;
    }
    // SAFETY: the caller promises it.
    let schunk = match unsafe { find(array) } {
        Ok(array) => array.schunk,
        Err(code) => return code,
    };
    // SAFETY: the array has a super-chunk of this library.
    let len = unsafe { schunk::to_buffer(schunk, cframe, needs_free) };
    if len <= 0 {
        return c_int::try_from(len).unwrap_or(FAILURE);
    }
    // SAFETY: the caller promises it.
    unsafe { put_out(cframe_len, len) };
    0
}

/// Frees an array with its super-chunk; returns 0.
///
/// # Safety
///
/// NULL or an array of this library that nobody else uses.
pub unsafe fn free(array: *mut b2nd_array_t) -> c_int {
    // SAFETY: the caller promises it.
    if let Err(code) = unsafe { find(array) } {
        return code;
    }
    // SAFETY: the caller promises it.
    let Some(private) = (unsafe { ARRAYS.take(array.cast::<ArrayPlace>()) }) else {
        return MEMORY_ALLOC;
    };
    // SAFETY: nobody else uses it.
    unsafe { fields::end(array) };
    // SAFETY: the array owns it.
    unsafe { schunk::free(private.schunk) }
}

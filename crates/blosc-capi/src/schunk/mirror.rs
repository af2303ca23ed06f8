//! The fields of a super-chunk that C sees.
//!
//! The library writes them through pointers, one by one: a client may read them at any time.

use core::ffi::{CStr, c_int, c_void};
use core::ptr;

use super::{Inner, Layer};
use crate::context;
use crate::errors::{INVALID_PARAM, MEMORY_ALLOC};
use crate::memory::{self, CBytes, boxed};
use crate::types::{
    MAX_METALAYERS, MAX_VLMETALAYERS, blosc2_cparams, blosc2_dparams, blosc2_io, blosc2_metalayer,
    blosc2_schunk, blosc2_storage,
};

/// Bytes by which the table of chunks grows.
const TABLE_NBYTES: usize = 4096;

/// The storage of a super-chunk, as values.
pub(super) struct Facts<'a> {
    pub(super) is_contiguous: bool,
    pub(super) urlpath: Option<&'a CStr>,
    pub(super) cparams: blosc2_cparams,
    pub(super) dparams: blosc2_dparams,
    pub(super) io: blosc2_io,
}

/// Copies the parameters of a new super-chunk into its fields.
///
/// # Safety
///
/// The struct is new: all zeros, and nobody else knows it.
pub(super) unsafe fn begin(schunk: *mut blosc2_schunk, facts: &Facts<'_>) -> Result<(), c_int> {
    let cparams = blosc2_cparams { schunk: schunk.cast(), ..facts.cparams };
    let dparams = blosc2_dparams { schunk: schunk.cast(), ..facts.dparams };
    let storage = boxed(blosc2_storage {
        contiguous: u8::from(facts.is_contiguous),
        urlpath: facts.urlpath.map_or(ptr::null_mut(), memory::text),
        cparams: boxed(cparams),
        dparams: boxed(dparams),
        io: boxed(facts.io),
    });
    if storage.is_null() {
        return Err(MEMORY_ALLOC);
    }
    // SAFETY: the caller promises a struct that is ours alone so far.
    let fields = unsafe { &mut *schunk };
    fields.storage = storage;
    fields.compcode = cparams.compcode;
    fields.compcode_meta = cparams.compcode_meta;
    fields.clevel = cparams.clevel;
    fields.splitmode = u8::try_from(cparams.splitmode).unwrap_or(0);
    fields.typesize = cparams.typesize;
    fields.blocksize = cparams.blocksize;
    fields.filters = cparams.filters;
    fields.filters_meta = cparams.filters_meta;
    fields.tuner_params = cparams.tuner_params;
    fields.tuner_id = cparams.tuner_id;
    #[cfg(not(feature = "soname-7"))]
    {
        fields.use_dict = u8::from(cparams.use_dict != 0);
    }
    fields.chunksize = -1;
    if facts.is_contiguous || facts.urlpath.is_some() {
        // Clients only test whether there is a frame.
        fields.frame = schunk.cast();
    }
    // SAFETY: the storage was made above.
    let made = unsafe { *storage };
    let is_whole = !made.cparams.is_null() && !made.dparams.is_null() && !made.io.is_null();
    if is_whole { Ok(()) } else { Err(MEMORY_ALLOC) }
}

/// The current parameters of compressing: clients change them.
///
/// # Safety
///
/// A super-chunk of this library.
pub(super) unsafe fn cparams(schunk: *const blosc2_schunk) -> Option<blosc2_cparams> {
    // SAFETY: the caller promises it.
    let storage = unsafe { (*schunk).storage };
    // SAFETY: NULL, or the storage that `begin` made.
    let storage = unsafe { storage.as_ref() }?;
    // SAFETY: NULL, or parameters that `begin` made.
    unsafe { storage.cparams.as_ref() }.copied()
}

/// The parameters for the header of a frame. As in C-Blosc2, the fields of the super-chunk decide
/// if it is a frame; otherwise its context does. Clients change both.
///
/// # Safety
///
/// A super-chunk of this library.
pub(super) unsafe fn of_header(schunk: *const blosc2_schunk) -> Option<blosc2_cparams> {
    // SAFETY: the caller promises it.
    let stored = unsafe { cparams(schunk) }?;
    // SAFETY: the caller promises it.
    if unsafe { (*schunk).frame.is_null() } {
        // SAFETY: the caller promises it.
        let cctx = unsafe { (*schunk).cctx };
        let mut own = stored;
        // SAFETY: NULL or a context of this library.
        let code = unsafe { context::get_cparams(cctx, &raw mut own) };
        return Some(if code < 0 { stored } else { with_way_of(stored, &own) });
    }
    // SAFETY: the caller promises it.
    let fields = unsafe { &*schunk };
    let own = blosc2_cparams {
        compcode: fields.compcode,
        compcode_meta: fields.compcode_meta,
        clevel: fields.clevel,
        splitmode: fields.splitmode.into(),
        filters: fields.filters,
        filters_meta: fields.filters_meta,
        #[cfg(not(feature = "soname-7"))]
        use_dict: fields.use_dict.into(),
        ..stored
    };
    Some(blosc2_cparams { blocksize: fields.blocksize, ..with_way_of(stored, &own) })
}

/// The parameters with codec and filters of others.
const fn with_way_of(cparams: blosc2_cparams, other: &blosc2_cparams) -> blosc2_cparams {
    blosc2_cparams {
        compcode: other.compcode,
        compcode_meta: other.compcode_meta,
        clevel: other.clevel,
        use_dict: other.use_dict,
        splitmode: other.splitmode,
        filters: other.filters,
        filters_meta: other.filters_meta,
        ..cparams
    }
}

/// Shows the numbers of chunks and bytes.
///
/// # Safety
///
/// A super-chunk of this library.
pub(super) unsafe fn show(schunk: *mut blosc2_schunk, inner: &Inner) {
    let super::Sizes { nbytes, cbytes, chunksize, .. } = inner.sizes;
    // SAFETY: the caller promises it.
    unsafe { (*schunk).nchunks = inner.nchunks().cast_signed() };
    // SAFETY: the same.
    unsafe { (*schunk).nbytes = nbytes };
    // SAFETY: the same.
    unsafe { (*schunk).cbytes = cbytes };
    // SAFETY: the same.
    unsafe { (*schunk).chunksize = chunksize };
}

/// Shows the addresses of chunks that are in memory one by one.
///
/// # Safety
///
/// A super-chunk of this library.
pub(super) unsafe fn show_table(
    schunk: *mut blosc2_schunk,
    chunks: &[CBytes],
) -> Result<(), c_int> {
    let nbytes = chunks.len().saturating_mul(size_of::<*mut u8>());
    // SAFETY: the caller promises it.
    let old = unsafe { (*schunk).data };
    // SAFETY: the caller promises it.
    let room = unsafe { (*schunk).data_len };
    let mut table = old;
    if nbytes > room {
        let room = nbytes.max(room.saturating_mul(2)).next_multiple_of(TABLE_NBYTES);
        // SAFETY: NULL or memory of this allocator.
        table = unsafe { libc::realloc(old.cast(), room) }.cast();
        if table.is_null() {
            return Err(MEMORY_ALLOC);
        }
        // SAFETY: as above.
        unsafe { (*schunk).data = table };
        // SAFETY: as above.
        unsafe { (*schunk).data_len = room };
    }
    if let Some((last, before)) = chunks.split_last() {
        let place = table.wrapping_add(before.len());
        // SAFETY: the table has room for as many. Earlier calls wrote the chunks before.
        unsafe { place.write(last.as_ptr()) };
    }
    Ok(())
}

/// A metalayer in C's memory.
fn metalayer(name: &[u8], content: &[u8]) -> Option<*mut blosc2_metalayer> {
    let content_len = i32::try_from(content.len()).ok()?;
    let mut text = CBytes::with_capacity(name.len().saturating_add(1))?;
    if !(text.extend(name) && text.extend(&[0])) {
        return None;
    }
    let bytes = CBytes::copy(content)?.into_raw();
    let name = text.into_raw().cast();
    Some(boxed(blosc2_metalayer { name, content: bytes, content_len }))
        .filter(|layer| !layer.is_null())
}

/// Shows the metalayers for the first time.
///
/// # Safety
///
/// As [`begin`].
pub(super) unsafe fn show_layers(
    schunk: *mut blosc2_schunk,
    fixed: &[Layer],
    variable: &[Layer],
) -> Result<(), c_int> {
    if fixed.len() > MAX_METALAYERS || variable.len() > MAX_VLMETALAYERS {
        return Err(INVALID_PARAM);
    }
    // SAFETY: the caller promises a struct that is ours alone so far.
    let fields = unsafe { &mut *schunk };
    for (place, (name, content)) in fields.metalayers.iter_mut().zip(fixed) {
        *place = metalayer(name, content).ok_or(MEMORY_ALLOC)?;
        fields.nmetalayers = fields.nmetalayers.saturating_add(1);
    }
    for (place, (name, content)) in fields.vlmetalayers.iter_mut().zip(variable) {
        *place = metalayer(name, content).ok_or(MEMORY_ALLOC)?;
        fields.nvlmetalayers = fields.nvlmetalayers.saturating_add(1);
    }
    Ok(())
}

/// Frees all memory of the fields.
///
/// # Safety
///
/// A super-chunk of this library that nobody uses any more.
pub(super) unsafe fn end(schunk: *mut blosc2_schunk) {
    // SAFETY: the caller promises that nobody else has it.
    let fields = unsafe { &mut *schunk };
    for layer in fields.metalayers.iter_mut().chain(&mut fields.vlmetalayers) {
        // SAFETY: NULL or a metalayer in C's memory.
        if let Some(found) = unsafe { layer.as_ref() } {
            // SAFETY: both come from C's allocator.
            unsafe { memory::free(found.name) };
            // SAFETY: the same.
            unsafe { memory::free(found.content) };
            // SAFETY: the same.
            unsafe { memory::free(*layer) };
        }
        *layer = ptr::null_mut();
    }
    // SAFETY: NULL or the storage that `begin` made.
    if let Some(storage) = unsafe { fields.storage.as_ref() } {
        let parts: [*mut c_void; 4] = [
            storage.urlpath.cast(),
            storage.cparams.cast(),
            storage.dparams.cast(),
            storage.io.cast(),
        ];
        for part in parts {
            // SAFETY: `begin` made all of them.
            unsafe { memory::free(part) };
        }
        // SAFETY: the same.
        unsafe { memory::free(fields.storage) };
    }
    // SAFETY: NULL, or the table that `show_table` made.
    unsafe { memory::free(fields.data) };
    (fields.storage, fields.data) = (ptr::null_mut(), ptr::null_mut());
    (fields.nmetalayers, fields.nvlmetalayers) = (0, 0);
}

//! Making and freeing super-chunks.

use core::ffi::{CStr, c_char, c_int};
use core::ptr;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use b2frame::SChunkWriter;
use blosc_io::Durability;

use super::mirror::{self, Facts};
use super::{Chunks, FREED, Foreign, Inner, Layer, Private, SChunkPlace, Sizes, find};
use crate::context::{self, CPARAMS_DEFAULTS, DPARAMS_DEFAULTS};
use crate::errors::{self, FILE_OPEN, MEMORY_ALLOC, PLUGIN_IO};
use crate::guard;
use crate::storage::IO_DEFAULTS;
use crate::types::{blosc2_cparams, blosc2_dparams, blosc2_schunk, blosc2_storage};

/// A super-chunk without chunks.
///
/// # Safety
///
/// `storage` is NULL or a storage whose pointers are NULL or can be read.
#[must_use]
pub unsafe fn new(storage: *const blosc2_storage) -> *mut blosc2_schunk {
    // SAFETY: the caller promises it.
    let Some(storage) = (unsafe { storage.as_ref() }) else { return ptr::null_mut() };
    // SAFETY: the caller promises it.
    unsafe { create(storage, New::default()) }.unwrap_or(ptr::null_mut())
}

/// The parts of a new super-chunk besides its storage.
#[derive(Default)]
pub(crate) struct New {
    /// Bytes of data in each chunk, if it is known before the first.
    pub(crate) chunksize: Option<i32>,
    pub(crate) metalayers: Vec<Layer>,
}

/// A super-chunk without chunks, or the code of an error.
///
/// # Safety
///
/// The pointers of the storage are NULL or can be read.
pub(crate) unsafe fn create(
    storage: &blosc2_storage,
    new: New,
) -> Result<*mut blosc2_schunk, c_int> {
    // SAFETY: the caller promises it.
    let facts = unsafe { facts(storage) };
    if facts.io.id != 0 {
        return Err(PLUGIN_IO);
    }
    let sizes = Sizes { chunksize: new.chunksize.unwrap_or(-1), ..Sizes::NONE };
    #[cfg(not(feature = "soname-7"))]
    let nlayers = new.metalayers.len() as u64;
    let inner = Inner {
        chunks: Chunks::Memory(Vec::new()),
        is_contiguous: facts.is_contiguous,
        sizes,
        metalayers: new.metalayers,
        vlmetalayers: Vec::new(),
        frame: None,
        given: None,
    };
    // SAFETY: the pointers in the parameters are the caller's.
    let schunk = unsafe { start(&facts, inner, Contexts::Both) }?;
    #[cfg(not(feature = "soname-7"))]
    {
        // Each metalayer is a change.
        // SAFETY: nobody else knows it.
        unsafe { (*schunk).change_tick = nlayers };
    }
    if let Some(path) = facts.urlpath.map(path_of) {
        // SAFETY: the super-chunk was made above.
        if let Err(code) = unsafe { begin_files(schunk, path) } {
            // SAFETY: nobody else knows it.
            let _freed = unsafe { free(schunk) };
            return Err(code);
        }
    }
    Ok(schunk)
}

/// Writes the first state of a frame; an existing path is left alone.
///
/// # Safety
///
/// A super-chunk of this library.
unsafe fn begin_files(schunk: *mut blosc2_schunk, path: PathBuf) -> Result<(), c_int> {
    if fs::symlink_metadata(&path).is_ok() {
        return Err(FILE_OPEN);
    }
    // SAFETY: the caller promises it.
    let private = unsafe { find(schunk) }?;
    let mut inner = private.lock()?;
    // SAFETY: the caller promises it.
    let writer = unsafe { writer_of(schunk, &inner, &path) }?;
    inner.chunks = Chunks::Files { writer: Box::new(writer), path };
    Ok(())
}

/// Writes a frame without chunks. Its header has the chunk size, which is unknown before the first
/// chunk: that chunk makes the frame be rewritten.
///
/// # Safety
///
/// A super-chunk of this library.
pub(super) unsafe fn writer_of(
    schunk: *const blosc2_schunk,
    inner: &Inner,
    path: &Path,
) -> Result<SChunkWriter, c_int> {
    // SAFETY: the caller promises it.
    let params = unsafe { super::frame::params(schunk, inner) }?;
    let made = if inner.is_contiguous {
        SChunkWriter::create(path, &params)
    } else {
        SChunkWriter::create_sparse(path, &params)
    };
    let mut writer = made.map_err(|error| errors::frame(&error))?;
    // C-Blosc2 does not wait for a disk either.
    writer.set_durability(Durability::ProcessDeath);
    writer.commit().map_err(|error| errors::frame(&error))?;
    Ok(writer)
}

/// The path for a text.
pub(super) fn path_of(text: &CStr) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(text.to_bytes()))
}

/// # Safety
///
/// The pointers of the storage are NULL or can be read.
unsafe fn facts(storage: &blosc2_storage) -> Facts<'_> {
    // SAFETY: the caller promises it.
    let cparams = unsafe { storage.cparams.as_ref() }.copied();
    // SAFETY: the caller promises it.
    let dparams = unsafe { storage.dparams.as_ref() }.copied();
    // SAFETY: the caller promises it.
    let io = unsafe { storage.io.as_ref() }.copied();
    let urlpath: *const c_char = storage.urlpath;
    Facts {
        is_contiguous: storage.contiguous != 0,
        // SAFETY: the caller promises it.
        urlpath: unsafe { guard::text(urlpath) },
        cparams: cparams.unwrap_or(CPARAMS_DEFAULTS),
        dparams: dparams.unwrap_or(DPARAMS_DEFAULTS),
        io: io.unwrap_or(IO_DEFAULTS),
    }
}

/// The contexts that a super-chunk must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contexts {
    Both,
    /// One that decompresses; the other only if our codecs and filters suffice.
    Reading,
}

/// The struct with its fields and contexts.
///
/// # Safety
///
/// The pointers in the parameters are NULL or can be read.
pub(super) unsafe fn start(
    facts: &Facts<'_>,
    inner: Inner,
    contexts: Contexts,
) -> Result<*mut blosc2_schunk, c_int> {
    // SAFETY: zeros are a value of all fields.
    let schunk: *mut blosc2_schunk = unsafe { FREED.place(Private::new(inner)) }.cast();
    // SAFETY: nobody else knows the place.
    let begun = unsafe { fill(schunk, facts, contexts) };
    if let Err(code) = begun {
        // SAFETY: nobody else knows the place.
        let _freed = unsafe { free(schunk) };
        return Err(code);
    }
    Ok(schunk)
}

/// # Safety
///
/// The super-chunk is new, and nobody else knows it.
unsafe fn fill(
    schunk: *mut blosc2_schunk,
    facts: &Facts<'_>,
    contexts: Contexts,
) -> Result<(), c_int> {
    // SAFETY: the caller promises it.
    unsafe { mirror::begin(schunk, facts) }?;
    // SAFETY: the caller promises it.
    let private = unsafe { find(schunk) }?;
    let inner = private.lock()?;
    // SAFETY: the caller promises it.
    unsafe { mirror::show(schunk, &inner) };
    // Contexts read the block shape of an array from its metalayer.
    // SAFETY: the caller promises it.
    unsafe { mirror::show_layers(schunk, &inner.metalayers, &inner.vlmetalayers) }?;
    drop(inner);
    let cparams = blosc2_cparams { schunk: schunk.cast(), ..facts.cparams };
    let dparams = blosc2_dparams { schunk: schunk.cast(), ..facts.dparams };
    // SAFETY: the caller promises it.
    let cctx = unsafe { context::create_cctx(cparams) };
    // SAFETY: the caller promises it.
    let dctx = unsafe { context::create_dctx(dparams) };
    // SAFETY: the caller promises it.
    unsafe { (*schunk).cctx = cctx };
    // SAFETY: the caller promises it.
    unsafe { (*schunk).dctx = dctx };
    let is_short = dctx.is_null() || (contexts == Contexts::Both && cctx.is_null());
    if is_short { Err(MEMORY_ALLOC) } else { Ok(()) }
}

/// Frees a super-chunk with its contexts; returns 0.
///
/// # Safety
///
/// NULL or a super-chunk of this library, which nobody else uses.
pub unsafe fn free(schunk: *mut blosc2_schunk) -> c_int {
    // SAFETY: the caller promises it.
    if let Err(code) = unsafe { find(schunk) } {
        return code;
    }
    // SAFETY: the caller promises it.
    let private = unsafe { FREED.take(schunk.cast::<SChunkPlace>()) };
    // A client may have put other contexts in their places, of this library as well.
    // SAFETY: the place stays.
    let cctx = unsafe { (*schunk).cctx };
    // SAFETY: the place stays.
    let dctx = unsafe { (*schunk).dctx };
    // SAFETY: the super-chunk owns them.
    unsafe { context::free(cctx) };
    // SAFETY: the same.
    unsafe { context::free(dctx) };
    // SAFETY: nobody else uses it.
    unsafe { mirror::end(schunk) };
    drop(private);
    0
}

/// Bytes of the client, from which a super-chunk reads.
///
/// # Safety
///
/// `place` has `len` bytes for as long as the value lives.
pub(super) const unsafe fn foreign(place: *mut u8, len: usize) -> Foreign {
    Foreign { place, len }
}

//! The stored chunks of a super-chunk, and lazy ones.

use core::ffi::c_int;
use core::ops::Range;
use core::ptr;

use b2frame::{ChunkBytes, SChunk};
use blosc_chunk::ChunkHeader;
use blosc_chunk::partial::{ChunkIndex, IndexStep, LazyChunk};
use blosc_io::ReadAt;

use super::append::without_schunk;
use super::{Chunks, FramePlace, find, mirror};
use crate::buffers::Kept;
use crate::context::noted_run;
use crate::errors::{self, DATA, FAILURE, FILE_READ, INVALID_PARAM, MEMORY_ALLOC};
use crate::guard::put_out;
use crate::memory::{CBytes, zeros};
use crate::types::{blosc2_cparams, blosc2_schunk};

/// Shows a chunk; returns its length. Chunks in memory are shown in place; for chunks in files C
/// gets a lazy chunk, which it has to free.
///
/// # Safety
///
/// NULL or a super-chunk of this library; the other pointers are NULL or can be written to.
pub unsafe fn get_lazychunk(
    schunk: *mut blosc2_schunk,
    nchunk: i64,
    chunk: *mut *mut u8,
    needs_free: *mut bool,
) -> c_int {
    if chunk.is_null() || needs_free.is_null() {
        return INVALID_PARAM;
    }
    // SAFETY: the caller promises it.
    let (place, len, is_theirs) = match unsafe { lazy(schunk, nchunk) } {
        Ok(Lazy::Here(place, len)) => (place, Ok(len), false),
        Ok(Lazy::New(bytes)) => {
            let len = bytes.as_slice().len();
            (bytes.into_raw(), Ok(len), true)
        }
        Err(code) => (ptr::null_mut(), Err(code), false),
    };
    // SAFETY: the caller promises it.
    unsafe { put_out(chunk, place) };
    // SAFETY: the caller promises it.
    unsafe { put_out(needs_free, is_theirs) };
    match len {
        Ok(len) => c_int::try_from(len).unwrap_or(FAILURE),
        Err(code) => code,
    }
}

/// A chunk for C.
enum Lazy {
    Here(*mut u8, usize),
    New(CBytes),
}

/// # Safety
///
/// NULL or a super-chunk of this library.
unsafe fn lazy(schunk: *mut blosc2_schunk, nchunk: i64) -> Result<Lazy, c_int> {
    // SAFETY: the caller promises it.
    let private = unsafe { find(schunk) }?;
    let inner = private.lock()?;
    let nchunk =
        u64::try_from(nchunk).ok().filter(|n| *n < inner.nchunks()).ok_or(INVALID_PARAM)?;
    // SAFETY: the caller promises it.
    let cparams = unsafe { mirror::cparams(schunk) };
    let cparams = without_schunk(&cparams.ok_or(INVALID_PARAM)?);
    let has_runs_in_index = inner.has_runs_in_index();
    let (frame, place) = match &inner.chunks {
        Chunks::Memory(chunks) => {
            let n = usize::try_from(nchunk).map_err(|_| INVALID_PARAM)?;
            let chunk = chunks.get(n).ok_or(INVALID_PARAM)?;
            let bytes = chunk.as_slice();
            let is_run = || ChunkHeader::parse(bytes).is_ok_and(|header| is_noted(&header));
            return match has_runs_in_index && is_run() {
                true => CBytes::copy(bytes).map(Lazy::New).ok_or(MEMORY_ALLOC),
                false => Ok(Lazy::Here(chunk.as_ptr(), bytes.len())),
            };
        }
        Chunks::Frame { schunk, place } => (schunk.clone(), place.clone()),
        Chunks::Files { .. } => {
            drop(inner);
            // SAFETY: the caller promises it.
            let (bytes, at) = unsafe { whole(schunk, nchunk) }?;
            return lazy_of(&bytes, nchunk, at).map(Lazy::New);
        }
    };
    drop(inner);
    let info = frame.chunk_info(nchunk).map_err(|error| errors::frame(&error))?;
    let Some(offset) = info.offset else {
        let nbytes = usize::try_from(info.nbytes).map_err(|_| FAILURE)?;
        let kind = info.special.ok_or(DATA)?;
        // SAFETY: there is no super-chunk in the parameters.
        let run = unsafe { noted_run(&cparams, nbytes, kind) }?;
        return CBytes::copy(&run).map(Lazy::New).ok_or(MEMORY_ALLOC);
    };
    match place {
        FramePlace::Memory(memory) => {
            let at = usize::try_from(offset).map_err(|_| DATA)?;
            let end = usize::try_from(info.cbytes).ok().and_then(|len| at.checked_add(len));
            let range = at..end.ok_or(DATA)?;
            let len = range.len();
            memory.as_ref().get(range).ok_or(DATA)?;
            // SAFETY: the bytes are in the buffer, as was looked at.
            Ok(Lazy::Here(unsafe { memory.place.add(at) }, len))
        }
        FramePlace::File { store, offset: base, .. } => {
            let index = index_of(&*store, offset, info.cbytes)?;
            let at = offset.checked_sub(base).ok_or(DATA)?;
            let number = u32::try_from(nchunk).map_err(|_| INVALID_PARAM)?;
            match LazyChunk::encode(&index, number, at) {
                Some(bytes) => CBytes::copy(&bytes).map(Lazy::New).ok_or(MEMORY_ALLOC),
                None => whole_in(&frame, nchunk, &cparams).map(Lazy::New),
            }
        }
        FramePlace::Folder { .. } => {
            let bytes = whole_in(&frame, nchunk, &cparams)?;
            lazy_of(bytes.as_slice(), nchunk, nchunk).map(Lazy::New)
        }
    }
}

/// Whether the index of a frame stores the run, which then takes no bytes.
fn is_noted(header: &ChunkHeader) -> bool {
    header.special().is_some_and(|kind| kind != blosc_chunk::SpecialKind::Value)
}

/// The index of a chunk in a file.
fn index_of(store: &dyn ReadAt, at: u64, cbytes: u64) -> Result<ChunkIndex, c_int> {
    let (mut head, mut len) = (Vec::new(), ChunkHeader::MAX_LEN);
    loop {
        let len_now = usize::try_from(cbytes).map_or(len, |cbytes| len.min(cbytes));
        if len_now <= head.len() {
            return Err(errors::READ_BUFFER);
        }
        head = zeros(len_now).ok_or(MEMORY_ALLOC)?;
        store.read_exact_at(at, &mut head).map_err(|_| FILE_READ)?;
        match ChunkIndex::parse(&head).map_err(|error| errors::read(&error))? {
            IndexStep::Ready(index) => return Ok(index),
            IndexStep::Needs(needed) => len = needed,
        }
    }
}

/// The lazy form of a stored chunk at this offset, or the stored chunk if it has no lazy form.
fn lazy_of(stored: &[u8], nchunk: u64, at: u64) -> Result<CBytes, c_int> {
    let parsed = ChunkIndex::parse(stored).map_err(|error| errors::read(&error))?;
    let number = u32::try_from(nchunk).map_err(|_| INVALID_PARAM)?;
    let lazy = match parsed {
        IndexStep::Ready(index) => LazyChunk::encode(&index, number, at),
        IndexStep::Needs(_) => None,
    };
    CBytes::copy(lazy.as_deref().unwrap_or(stored)).ok_or(MEMORY_ALLOC)
}

/// A chunk of a frame with all its bytes.
fn whole_in(frame: &SChunk, nchunk: u64, cparams: &blosc2_cparams) -> Result<CBytes, c_int> {
    match frame.chunk(nchunk).map_err(|error| errors::frame(&error))? {
        ChunkBytes::Stored(bytes) => CBytes::copy(&bytes),
        ChunkBytes::Special { kind, nbytes, .. } => {
            // SAFETY: there is no super-chunk in the parameters.
            CBytes::copy(&unsafe { noted_run(cparams, nbytes, kind) }?)
        }
        _ => return Err(FAILURE),
    }
    .ok_or(MEMORY_ALLOC)
}

/// The bytes of a chunk of a super-chunk.
pub(crate) enum Stored {
    /// In memory that stays until the super-chunk changes.
    Here(*const u8, usize),
    /// The first bytes of a buffer.
    Read(Kept, usize),
}

impl Stored {
    /// # Safety
    ///
    /// The caller neither changes nor frees the super-chunk as long as the bytes are used.
    pub(crate) unsafe fn bytes(&self) -> &[u8] {
        match self {
            // SAFETY: `len` bytes were there, and the caller promises that they stay.
            Self::Here(place, len) => unsafe { core::slice::from_raw_parts(*place, *len) },
            Self::Read(buffer, len) => buffer.get(..*len).unwrap_or_default(),
        }
    }
}

/// A chunk with all its bytes.
///
/// # Safety
///
/// NULL or a super-chunk of this library.
pub(crate) unsafe fn stored(schunk: *mut blosc2_schunk, nchunk: u64) -> Result<Stored, c_int> {
    // SAFETY: the caller promises it.
    let private = unsafe { find(schunk) }?;
    let mut inner = private.lock()?;
    // SAFETY: the caller promises it.
    let cparams = unsafe { mirror::cparams(schunk) };
    let cparams = without_schunk(&cparams.ok_or(INVALID_PARAM)?);
    match &mut inner.chunks {
        Chunks::Memory(chunks) => {
            let n = usize::try_from(nchunk).map_err(|_| INVALID_PARAM)?;
            let chunk = chunks.get(n).ok_or(INVALID_PARAM)?;
            Ok(Stored::Here(chunk.as_ptr(), chunk.as_slice().len()))
        }
        Chunks::Frame { schunk: frame, place: FramePlace::Memory(memory) } => {
            let info = frame.chunk_info(nchunk).map_err(|error| errors::frame(&error))?;
            let range = info.offset.and_then(|at| range_of(at, info.cbytes));
            match range.and_then(|range| memory.as_ref().get(range)) {
                Some(bytes) => Ok(Stored::Here(bytes.as_ptr(), bytes.len())),
                None => read(frame, nchunk, &cparams),
            }
        }
        Chunks::Frame { schunk: frame, .. } => {
            let frame = frame.clone();
            drop(inner);
            read(&frame, nchunk, &cparams)
        }
        Chunks::Files { writer, .. } => {
            let frame = writer.schunk().map_err(|error| errors::frame(&error))?;
            read(frame, nchunk, &cparams)
        }
    }
}

/// Reads a chunk of a frame to a kept buffer.
fn read(frame: &SChunk, nchunk: u64, cparams: &blosc2_cparams) -> Result<Stored, c_int> {
    let code = |error: b2frame::Error| errors::frame(&error);
    let mut buffer = Kept::take();
    if let Some(bytes) = frame.chunk_to(nchunk, &mut buffer).map_err(code)? {
        let len = bytes.len();
        return Ok(Stored::Read(buffer, len));
    }
    let info = frame.chunk_info(nchunk).map_err(code)?;
    let nbytes = usize::try_from(info.nbytes).map_err(|_| FAILURE)?;
    // SAFETY: there is no super-chunk in the parameters.
    let run = unsafe { noted_run(cparams, nbytes, info.special.ok_or(DATA)?) }?;
    buffer.clear();
    buffer.extend(run);
    Ok(Stored::Read(buffer, run.len()))
}

fn range_of(at: u64, len: u64) -> Option<Range<usize>> {
    let start = usize::try_from(at).ok()?;
    Some(start..start.checked_add(usize::try_from(len).ok()?)?)
}

/// A chunk of a frame that is being changed, and its position: its first byte in the frame, or in a
/// folder the number of its file.
///
/// # Safety
///
/// A super-chunk of this library.
unsafe fn whole(schunk: *mut blosc2_schunk, nchunk: u64) -> Result<(Vec<u8>, u64), c_int> {
    // SAFETY: the caller promises it.
    let private = unsafe { find(schunk) }?;
    let mut inner = private.lock()?;
    let is_contiguous = inner.is_contiguous;
    let Chunks::Files { writer, .. } = &mut inner.chunks else { return Err(FAILURE) };
    let code = |error: b2frame::Error| errors::frame(&error);
    let frame = writer.schunk().map_err(code)?;
    let info = frame.chunk_info(nchunk).map_err(code)?;
    let at = info.offset.and_then(|at| at.checked_sub(frame.offset())).unwrap_or(0);
    let at = if is_contiguous { at } else { nchunk };
    match frame.chunk(nchunk).map_err(code)? {
        ChunkBytes::Stored(bytes) => Ok((bytes, at)),
        ChunkBytes::Special { kind, nbytes, .. } => {
            // SAFETY: the caller promises it.
            let cparams = unsafe { mirror::cparams(schunk) }.ok_or(INVALID_PARAM)?;
            // SAFETY: there is no super-chunk in the parameters.
            let run = unsafe { noted_run(&without_schunk(&cparams), nbytes, kind) }?;
            Ok((run.to_vec(), at))
        }
        _ => Err(FAILURE),
    }
}

/// The stored chunk of a lazy one.
///
/// # Safety
///
/// `schunk` is NULL or a super-chunk of this library.
pub(crate) unsafe fn of_lazy(schunk: *mut blosc2_schunk, lazy: &[u8]) -> Result<Stored, c_int> {
    let number = LazyChunk::parse(lazy).map_err(|error| errors::read(&error))?.nchunk();
    // SAFETY: the caller promises it.
    let stored = unsafe { stored(schunk, number.into()) }?;
    // SAFETY: the caller promises it.
    let bytes = unsafe { stored.bytes() };
    // The header without its last byte, which has the lazy bit.
    let head = ChunkHeader::MAX_LEN.saturating_sub(1);
    let is_same = bytes.get(..head).is_some_and(|stored| lazy.get(..head) == Some(stored));
    if is_same { Ok(stored) } else { Err(DATA) }
}

//! Compresses data to chunks at the end of a super-chunk.

use core::ffi::{c_int, c_void};
use std::fs;
use std::path::PathBuf;

use b2frame::{ChunkBytes, EditOptions, OpenOptions, SChunk, SChunkWriter};
use blosc_chunk::{ChunkHeader, SpecialKind};
use blosc_io::Durability;

use super::create::writer_of;
use super::frame::cparams_of;
use super::{Chunks, FramePlace, Inner, Private, find, mirror};
use crate::context::{self, noted_run, settings_of};
use crate::errors::{
    self, CHUNK_APPEND, FAILURE, FILE_REMOVE, INVALID_PARAM, MAX_BUFSIZE_EXCEEDED, MEMORY_ALLOC,
};
use crate::memory::CBytes;
use crate::types::{blosc2_cparams, blosc2_schunk};

/// Compresses data with the context of the super-chunk and appends the chunk; returns the new
/// number of chunks.
///
/// # Safety
///
/// NULL or a super-chunk of this library; `src` has `nbytes` bytes.
pub unsafe fn append_buffer(schunk: *mut blosc2_schunk, src: *const c_void, nbytes: i32) -> i64 {
    // SAFETY: the caller promises it.
    match unsafe { append(schunk, src, nbytes) } {
        Ok(nchunks) => nchunks,
        Err(code) => code.into(),
    }
}

unsafe fn append(
    schunk: *mut blosc2_schunk,
    src: *const c_void,
    nbytes: i32,
) -> Result<i64, c_int> {
    // SAFETY: the caller promises it.
    let private = unsafe { find(schunk) }?;
    let room = nbytes.checked_add(i32::try_from(ChunkHeader::MAX_LEN).unwrap_or(0));
    let room = room.filter(|_| nbytes >= 0).ok_or(MAX_BUFSIZE_EXCEEDED)?;
    let mut chunk =
        CBytes::with_capacity(usize::try_from(room).unwrap_or(0)).ok_or(MEMORY_ALLOC)?;
    let nchunk = private.lock()?.nchunks().cast_signed();
    // Functions of the client read the number of the chunk from this field.
    // SAFETY: the caller promises it.
    unsafe { (*schunk).current_nchunk = nchunk };
    // A client may have put another context there.
    // SAFETY: the caller promises it.
    let cctx = unsafe { (*schunk).cctx };
    // SAFETY: the context is NULL or of this library; both buffers are as long as it is told.
    let code = unsafe { context::compress(cctx, src, nbytes, chunk.as_ptr().cast(), room) };
    let cbytes = usize::try_from(code).map_err(|_| code)?;
    if cbytes == 0 {
        return Err(CHUNK_APPEND);
    }
    // SAFETY: the context wrote as many.
    unsafe { chunk.set_len(cbytes) };
    // SAFETY: the caller promises it.
    unsafe { push(schunk, private, chunk) }
}

/// Takes over a chunk.
///
/// # Safety
///
/// A super-chunk of this library with this private part.
unsafe fn push(schunk: *mut blosc2_schunk, private: &Private, chunk: CBytes) -> Result<i64, c_int> {
    let mut inner = private.lock()?;
    let facts = Added::of_chunk(chunk.as_slice(), inner.has_runs_in_index())?;
    // SAFETY: the caller promises it.
    unsafe { make_writable(schunk, &mut inner) }?;
    let mut sizes = inner.sizes;
    let is_variable = facts.add_to(&mut sizes)?;
    // SAFETY: the caller promises it.
    unsafe { store(schunk, &mut inner, chunk, sizes.chunksize, is_variable) }?;
    (inner.sizes, inner.frame) = (sizes, None);
    // SAFETY: the caller promises it.
    unsafe { mirror::show(schunk, &inner) };
    i64::try_from(inner.nchunks()).map_err(|_| FAILURE)
}

/// The bytes that a chunk adds to the totals.
struct Added {
    nbytes: i32,
    cbytes: i64,
}

impl Added {
    fn of_chunk(chunk: &[u8], has_runs_in_index: bool) -> Result<Self, c_int> {
        let header = ChunkHeader::parse(chunk).map_err(|error| errors::read(&error))?;
        let nbytes = i32::try_from(header.nbytes()).map_err(|_| FAILURE)?;
        let is_noted = header.special().is_some_and(|kind| kind != SpecialKind::Value);
        let cbytes = if is_noted && has_runs_in_index { 0 } else { header.cbytes() };
        Ok(Self { nbytes, cbytes: i64::try_from(cbytes).map_err(|_| FAILURE)? })
    }

    /// Adds them; returns whether chunks have different sizes from now on.
    fn add_to(&self, sizes: &mut super::Sizes) -> Result<bool, c_int> {
        let Self { nbytes, cbytes } = *self;
        sizes.nbytes = sizes.nbytes.checked_add(nbytes.into()).ok_or(FAILURE)?;
        sizes.cbytes = sizes.cbytes.checked_add(cbytes).ok_or(FAILURE)?;
        match sizes.chunksize {
            ..0 => sizes.chunksize = nbytes,
            0 => {}
            size if sizes.is_last_short || nbytes > size => {
                (sizes.chunksize, sizes.is_last_short) = (0, false);
                return Ok(true);
            }
            size => sizes.is_last_short = nbytes < size,
        }
        Ok(false)
    }
}

/// # Safety
///
/// A super-chunk of this library with this private part.
unsafe fn store(
    schunk: *mut blosc2_schunk,
    inner: &mut Inner,
    chunk: CBytes,
    chunksize: i32,
    is_variable: bool,
) -> Result<(), c_int> {
    let is_first = inner.nchunks() == 0;
    match &mut inner.chunks {
        Chunks::Memory(chunks) => {
            chunks.push(chunk);
            if !inner.is_contiguous {
                // SAFETY: the caller promises it.
                let shown = unsafe { mirror::show_table(schunk, chunks) };
                return shown.inspect_err(|_| drop(chunks.pop()));
            }
            Ok(())
        }
        Chunks::Files { path, .. } => {
            if is_first && inner.sizes.chunksize < 0 {
                let path = path.clone();
                inner.sizes.chunksize = chunksize;
                // SAFETY: the caller promises it.
                unsafe { begin_again(schunk, inner, path) }?;
            }
            let Chunks::Files { writer, .. } = &mut inner.chunks else { return Err(FAILURE) };
            let code = |error: b2frame::Error| errors::frame(&error);
            // SAFETY: the caller promises it.
            unsafe { update_header(schunk, writer) }?;
            if is_variable {
                writer.make_variable().map_err(code)?;
            }
            writer.append_of_any_size(chunk.as_slice()).map_err(code)?;
            writer.commit().map_err(code)
        }
        Chunks::Frame { .. } => Err(FAILURE),
    }
}

/// Takes over parameters that the client has written into the fields of the super-chunk. Without a
/// change the header stays: it may have a codec of a client, or values that are no parameters.
///
/// # Safety
///
/// A super-chunk of this library.
unsafe fn update_header(
    schunk: *const blosc2_schunk,
    writer: &mut SChunkWriter,
) -> Result<(), c_int> {
    // SAFETY: the caller promises it.
    let cparams = unsafe { mirror::of_header(schunk) }.ok_or(INVALID_PARAM)?;
    let old = cparams_of(writer.schunk().map_err(|error| errors::frame(&error))?.header());
    let key = |c: &blosc2_cparams| {
        let codec = (c.compcode, c.compcode_meta, c.clevel, c.splitmode, c.use_dict != 0);
        (codec, c.blocksize, c.filters, c.filters_meta)
    };
    if key(&cparams) == key(&old) {
        return Ok(());
    }
    // SAFETY: the pointers of the parameters are those of the super-chunk.
    let settings = unsafe { settings_of(&cparams) }?;
    writer.store_cparams(settings).map_err(|error| errors::frame(&error))
}

/// Rewrites a frame without chunks, with a chunk size.
///
/// # Safety
///
/// A super-chunk of this library with this private part.
unsafe fn begin_again(
    schunk: *mut blosc2_schunk,
    inner: &mut Inner,
    path: PathBuf,
) -> Result<(), c_int> {
    // The writer holds the lock of the file.
    inner.chunks = Chunks::Memory(Vec::new());
    if !inner.is_contiguous {
        fs::remove_dir_all(&path).map_err(|_| FILE_REMOVE)?;
    }
    // SAFETY: the caller promises it.
    let writer = unsafe { writer_of(schunk, inner, &path) }?;
    inner.chunks = Chunks::Files { writer: Box::new(writer), path };
    Ok(())
}

/// Makes the chunks appendable: chunks in a buffer of the client are copied, since the library must
/// not change it.
///
/// # Safety
///
/// A super-chunk of this library with this private part.
unsafe fn make_writable(schunk: *mut blosc2_schunk, inner: &mut Inner) -> Result<(), c_int> {
    let Chunks::Frame { schunk: frame, place } = &inner.chunks else { return Ok(()) };
    let options = |offset| {
        let open = OpenOptions::default().offset(offset);
        EditOptions::default().open(open).durability(Durability::ProcessDeath)
    };
    let (path, options) = match place {
        FramePlace::Memory(_) => {
            // SAFETY: the caller promises it.
            let cparams = unsafe { mirror::cparams(schunk) }.ok_or(INVALID_PARAM)?;
            let chunks = copies(frame, &cparams)?;
            inner.chunks = Chunks::Memory(chunks);
            return Ok(());
        }
        FramePlace::File { path, offset, .. } => (path.clone(), options(*offset)),
        FramePlace::Folder { path } => (path.clone(), options(0)),
    };
    let writer = SChunkWriter::open_with(&path, &options);
    let writer = Box::new(writer.map_err(|error| errors::frame(&error))?);
    inner.chunks = Chunks::Files { writer, path };
    Ok(())
}

/// Copies of all chunks of a frame.
pub(super) fn copies(frame: &SChunk, cparams: &blosc2_cparams) -> Result<Vec<CBytes>, c_int> {
    let copy = |nchunk| match frame.chunk(nchunk).map_err(|error| errors::frame(&error))? {
        ChunkBytes::Stored(bytes) => CBytes::copy(&bytes).ok_or(MEMORY_ALLOC),
        ChunkBytes::Special { kind, nbytes, .. } => {
            // SAFETY: there is no super-chunk in the parameters.
            let run = unsafe { noted_run(&without_schunk(cparams), nbytes, kind) }?;
            CBytes::copy(&run).ok_or(MEMORY_ALLOC)
        }
        _ => Err(FAILURE),
    };
    (0..frame.nchunks()).map(copy).collect()
}

/// The same parameters without a super-chunk.
pub(super) fn without_schunk(cparams: &blosc2_cparams) -> blosc2_cparams {
    blosc2_cparams { schunk: core::ptr::null_mut(), ..*cparams }
}

impl Inner {
    /// Whether the index stores runs, so that they take no bytes.
    pub(super) fn has_runs_in_index(&self) -> bool {
        self.is_contiguous || !matches!(self.chunks, Chunks::Memory(_))
    }
}

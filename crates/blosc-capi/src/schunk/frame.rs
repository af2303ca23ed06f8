//! Converts frames to super-chunks, and super-chunks to frames.

use core::ffi::{CStr, c_char, c_int};
use core::ptr;
use std::path::Path;
use std::sync::Arc;

use b2frame::header::{ChunkSize, FrameHeader};
use b2frame::nd::NdMeta;
use b2frame::{Checksums, FrameParams, FrameWriter, OpenOptions, SChunk, SChunkWriter};
use blosc_chunk::{ChunkHeader, DParams, Limits};
use blosc_io::{BytesStore, FileStore};

use super::append::copies;
use super::create::{Contexts, foreign, path_of, start};
use super::mirror::{self, Facts};
use super::{Chunks, FramePlace, Inner, Layer, Sizes, find};
use crate::context::{CPARAMS_DEFAULTS, DPARAMS_DEFAULTS, settings_of};
use crate::errors::{
    self, FAILURE, FILE_OPEN, INVALID_PARAM, MEMORY_ALLOC, NULL_POINTER, SCHUNK_COPY,
};
use crate::guard::{self, put_out};
use crate::memory::CBytes;
use crate::storage::IO_DEFAULTS;
use crate::types::{blosc2_cparams, blosc2_schunk};

/// The super-chunk in a buffer. Without `copy` it reads from the buffer, which the caller keeps;
/// with `copy` it has its own chunks.
///
/// # Safety
///
/// `cframe` is NULL or has `len` bytes.
#[must_use]
pub unsafe fn from_buffer(cframe: *mut u8, len: i64, copy: bool) -> *mut blosc2_schunk {
    // SAFETY: the caller promises it.
    unsafe { open_buffer(cframe, len, copy) }.unwrap_or(ptr::null_mut())
}

/// # Safety
///
/// As [`from_buffer`].
pub(crate) unsafe fn open_buffer(
    cframe: *mut u8,
    len: i64,
    copy: bool,
) -> Result<*mut blosc2_schunk, c_int> {
    let len = usize::try_from(len).map_err(|_| INVALID_PARAM)?;
    // SAFETY: the caller promises it.
    unsafe { guard::bytes(cframe.cast(), len) }.ok_or(NULL_POINTER)?;
    // SAFETY: the caller promises it, for as long as the super-chunk lives.
    let memory = unsafe { foreign(cframe, len) };
    let options = options(0);
    let frame = SChunk::from_store_with(Arc::new(BytesStore::new(memory)), &options);
    let frame = frame.map_err(|error| errors::frame(&error))?;
    if frame.frame_len() != len as u64 {
        return Err(INVALID_PARAM);
    }
    if copy {
        let chunks = Chunks::Memory(copies(&frame, &cparams_of(frame.header()))?);
        return opened(&frame, None, false, chunks);
    }
    let frame = Arc::new(frame);
    let chunks = Chunks::Frame { schunk: Arc::clone(&frame), place: FramePlace::Memory(memory) };
    opened(&frame, None, true, chunks)
}

/// The super-chunk of a frame that begins at byte `offset` of a file, or of a folder.
///
/// # Safety
///
/// `urlpath` is NULL or a text.
#[must_use]
pub unsafe fn open_offset(urlpath: *const c_char, offset: i64) -> *mut blosc2_schunk {
    // SAFETY: the caller promises it.
    unsafe { open_file(urlpath, offset) }.unwrap_or(ptr::null_mut())
}

/// # Safety
///
/// As [`open_offset`].
pub(crate) unsafe fn open_file(
    urlpath: *const c_char,
    offset: i64,
) -> Result<*mut blosc2_schunk, c_int> {
    // SAFETY: the caller promises it.
    let urlpath = unsafe { guard::text(urlpath) }.ok_or(NULL_POINTER)?;
    let offset = u64::try_from(offset).map_err(|_| INVALID_PARAM)?;
    let path = path_of(urlpath);
    if path.is_dir() {
        if offset != 0 {
            return Err(INVALID_PARAM);
        }
        let frame = SChunk::open_with(&path, &options(0)).map_err(|error| errors::frame(&error))?;
        let frame = Arc::new(frame);
        let chunks =
            Chunks::Frame { schunk: Arc::clone(&frame), place: FramePlace::Folder { path } };
        return opened(&frame, Some(urlpath), false, chunks);
    }
    let (frame, store) = open_at(&path, offset)?;
    let place = FramePlace::File { store, offset, path };
    let chunks = Chunks::Frame { schunk: Arc::clone(&frame), place };
    opened(&frame, Some(urlpath), true, chunks)
}

fn open_at(path: &Path, offset: u64) -> Result<(Arc<SChunk>, Arc<FileStore>), c_int> {
    let store = Arc::new(FileStore::open(path).map_err(|_| FILE_OPEN)?);
    let frame = SChunk::from_store_with(Arc::<FileStore>::clone(&store), &options(offset));
    Ok((Arc::new(frame.map_err(|error| errors::frame(&error))?), store))
}

/// The memory of the caller is the limit for the data of a chunk.
fn options(offset: u64) -> OpenOptions {
    OpenOptions::default().offset(offset).dparams(DParams::default().limits(Limits::none()))
}

/// The struct for an opened frame.
fn opened(
    frame: &SChunk,
    urlpath: Option<&CStr>,
    is_contiguous: bool,
    chunks: Chunks,
) -> Result<*mut blosc2_schunk, c_int> {
    let header = frame.header();
    let facts = Facts {
        is_contiguous,
        urlpath,
        cparams: cparams_of(header),
        dparams: DPARAMS_DEFAULTS,
        io: IO_DEFAULTS,
    };
    let layer = |layer: b2frame::metalayers::Metalayer<'_>| -> Layer {
        (layer.name.to_vec(), layer.content.to_vec())
    };
    let mut inner = Inner {
        chunks,
        is_contiguous,
        sizes: sizes_of(frame)?,
        metalayers: frame.meta().iter().map(layer).collect(),
        vlmetalayers: frame.vlmeta().stored().iter().map(layer).collect(),
        frame: None,
        given: None,
    };
    if let Chunks::Memory(chunks) = &inner.chunks {
        let lens = chunks.iter().map(|chunk| i64::try_from(chunk.as_slice().len()).unwrap_or(0));
        inner.sizes.cbytes = lens.sum();
    }
    // SAFETY: there are no pointers in the parameters.
    let schunk = unsafe { start(&facts, inner, Contexts::Reading) }?;
    // SAFETY: the super-chunk was made above.
    let private = unsafe { find(schunk) }?;
    let inner = private.lock()?;
    if let Chunks::Memory(chunks) = &inner.chunks {
        for end in 1..=chunks.len() {
            // SAFETY: the super-chunk was made above.
            let shown = unsafe { mirror::show_table(schunk, chunks.get(..end).unwrap_or(chunks)) };
            shown?;
        }
    }
    drop(inner);
    Ok(schunk)
}

fn sizes_of(frame: &SChunk) -> Result<Sizes, c_int> {
    let header = frame.header();
    let chunksize = match header.chunksize() {
        // The first chunk decides, unless the array has shapes.
        _ if frame.nchunks() == 0 && frame.meta().get(NdMeta::NAME).is_none() => -1,
        ChunkSize::Fixed(size) => i32::try_from(size.get()).map_err(|_| FAILURE)?,
        _ => 0,
    };
    let nbytes = i64::try_from(frame.nbytes()).map_err(|_| FAILURE)?;
    let cbytes = i64::try_from(frame.cbytes()).map_err(|_| FAILURE)?;
    let is_last_short = nbytes.checked_rem(chunksize.into()).is_some_and(|rest| rest != 0);
    Ok(Sizes { nbytes, cbytes, chunksize, is_last_short })
}

/// The parameters in a header, for C.
pub(super) fn cparams_of(header: &FrameHeader) -> blosc2_cparams {
    let number = |n: u32| i32::try_from(n).unwrap_or(0);
    blosc2_cparams {
        compcode: header.codec(),
        compcode_meta: header.codec_meta(),
        clevel: header.clevel(),
        use_dict: header.uses_dict().into(),
        typesize: number(header.typesize().get()),
        blocksize: header.blocksize().map_or(0, |size| number(size.get())),
        splitmode: i32::from(header.split_mode()).saturating_add(1),
        filters: header.filters(),
        filters_meta: header.filters_meta(),
        ..CPARAMS_DEFAULTS
    }
}

/// Shows the frame of a super-chunk; returns its length. C has to free it unless the super-chunk
/// owns it.
///
/// # Safety
///
/// NULL or a super-chunk of this library; the other pointers are NULL or can be written to.
pub unsafe fn to_buffer(
    schunk: *mut blosc2_schunk,
    cframe: *mut *mut u8,
    needs_free: *mut bool,
) -> i64 {
    if cframe.is_null() || needs_free.is_null() {
        return INVALID_PARAM.into();
    }
    // SAFETY: the caller promises it.
    match unsafe { frame_of(schunk) } {
        Ok((place, len, is_theirs)) => {
            // SAFETY: the caller promises it.
            unsafe { put_out(cframe, place) };
            // SAFETY: the caller promises it.
            unsafe { put_out(needs_free, is_theirs) };
            i64::try_from(len).unwrap_or(FAILURE.into())
        }
        Err(code) => code.into(),
    }
}

/// The address and length of a frame, and whether C has to free it.
///
/// # Safety
///
/// NULL or a super-chunk of this library.
pub(crate) unsafe fn frame_of(schunk: *mut blosc2_schunk) -> Result<(*mut u8, usize, bool), c_int> {
    // SAFETY: the caller promises it.
    let private = unsafe { find(schunk) }?;
    let mut inner = private.lock()?;
    let code = |error: b2frame::Error| errors::frame(&error);
    let bytes = match &mut inner.chunks {
        Chunks::Frame { place: FramePlace::Memory(memory), .. } => {
            return Ok((memory.place, memory.len, false));
        }
        Chunks::Frame { schunk: frame, .. } => {
            CBytes::copy(&frame.to_cframe().map_err(code)?).ok_or(MEMORY_ALLOC)?
        }
        Chunks::Files { writer, .. } => {
            let frame = writer.schunk().and_then(SChunk::to_cframe).map_err(code)?;
            CBytes::copy(&frame).ok_or(MEMORY_ALLOC)?
        }
        Chunks::Memory(_) => {
            if let Some(frame) = &inner.frame {
                return Ok((frame.as_ptr(), frame.as_slice().len(), false));
            }
            // SAFETY: the caller promises it.
            let params = unsafe { params(schunk, &inner) }?;
            let Chunks::Memory(chunks) = &inner.chunks else { return Err(FAILURE) };
            // If all chunks of a frame have one size, each consists of whole items.
            let is_whole = params.chunksize == usize::try_from(inner.sizes.chunksize).unwrap_or(0)
                && params.chunksize.is_multiple_of(params.cparams.typesize);
            if is_whole || chunks.is_empty() {
                of_one_size(chunks, &params)
            } else {
                of_any_sizes(chunks, &params)
            }?
        }
    };
    let (place, len) = (bytes.as_ptr(), bytes.as_slice().len());
    if inner.is_contiguous && matches!(inner.chunks, Chunks::Memory(_)) {
        inner.frame = Some(bytes);
        return Ok((place, len, false));
    }
    Ok((bytes.into_raw(), len, true))
}

fn of_one_size(chunks: &[CBytes], params: &FrameParams) -> Result<CBytes, c_int> {
    let nbytes: usize = chunks.iter().map(|chunk| chunk.as_slice().len()).sum();
    let room = CBytes::with_capacity(nbytes.saturating_add(FRAME_NBYTES)).ok_or(MEMORY_ALLOC)?;
    let wrong = |_: b2frame::Error| SCHUNK_COPY;
    let mut writer = FrameWriter::new(room, params).map_err(wrong)?;
    for chunk in chunks {
        writer.append_chunk(chunk.as_slice()).map_err(wrong)?;
    }
    writer.finish().map_err(wrong)
}

/// Approximate bytes of a frame with some metalayers, besides its chunks.
const FRAME_NBYTES: usize = 1024;

fn of_any_sizes(chunks: &[CBytes], params: &FrameParams) -> Result<CBytes, c_int> {
    let wrong = |_: b2frame::Error| SCHUNK_COPY;
    let mut writer = SChunkWriter::in_memory(params).map_err(wrong)?;
    writer.make_variable().map_err(wrong)?;
    for chunk in chunks {
        writer.append_of_any_size(chunk.as_slice()).map_err(wrong)?;
    }
    let frame = writer.finish().and_then(|frame| frame.to_cframe()).map_err(wrong)?;
    CBytes::copy(&frame).ok_or(MEMORY_ALLOC)
}

/// The parameters of a frame of this super-chunk.
///
/// # Safety
///
/// A super-chunk of this library.
pub(super) unsafe fn params(
    schunk: *const blosc2_schunk,
    inner: &Inner,
) -> Result<FrameParams, c_int> {
    // SAFETY: the caller promises it.
    let mut cparams = unsafe { mirror::of_header(schunk) }.ok_or(INVALID_PARAM)?;
    if let (Chunks::Memory(chunks), false) = (&inner.chunks, inner.is_contiguous) {
        // C-Blosc2 does the same when it combines chunks to a frame.
        let first = chunks.first().and_then(|chunk| ChunkHeader::parse(chunk.as_slice()).ok());
        let blocksize = first
            .filter(|header| !header.is_vl())
            .and_then(|header| i32::try_from(header.blocksize()).ok());
        cparams.blocksize = blocksize.unwrap_or(cparams.blocksize);
    }
    // SAFETY: the pointers of the parameters are those of the super-chunk.
    let settings = unsafe { settings_of(&cparams) }?;
    let chunksize = usize::try_from(inner.sizes.chunksize).ok().filter(|size| *size > 0);
    let params = FrameParams::new(settings.clone()).checksums(Checksums::None);
    let params = params.chunksize(chunksize.unwrap_or(settings.typesize));
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| INVALID_PARAM);
    let mut params = params;
    for (name, content) in &inner.metalayers {
        params = params.metalayer(text(name)?, content.clone());
    }
    for (name, stored) in &inner.vlmetalayers {
        let content = blosc_chunk::decompress(stored).map_err(|error| errors::read(&error))?;
        params = params.vlmetalayer(text(name)?, content);
    }
    Ok(params)
}

/// Sets whether freeing a super-chunk keeps the buffer of the client.
///
/// # Safety
///
/// NULL or a super-chunk of this library; the buffer comes from C's allocator if it is to be freed.
pub unsafe fn avoid_cframe_free(schunk: *mut blosc2_schunk, is_avoided: bool) {
    // SAFETY: the caller promises it.
    let Ok(private) = (unsafe { find(schunk) }) else { return };
    let Ok(mut inner) = private.lock() else { return };
    let Chunks::Frame { place: FramePlace::Memory(memory), .. } = &inner.chunks else { return };
    let memory = *memory;
    let given = inner.given.take();
    if is_avoided {
        given.map(CBytes::into_raw);
    } else if given.is_none() {
        // SAFETY: the caller promises it.
        inner.given = Some(unsafe { CBytes::from_raw(memory.place, memory.len) });
    } else {
        inner.given = given;
    }
}

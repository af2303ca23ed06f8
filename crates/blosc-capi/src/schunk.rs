//! Super-chunks: many chunks, in memory, in a frame of the client's, or in files.
//!
//! C sees a struct that mirrors the super-chunk: clients read its fields, and replace its contexts.
//! The valid state is kept beside it, so that a number that a client wrote never decides about
//! memory. No lock is held while chunks are compressed or decompressed: functions of the client run
//! then, and may use the same super-chunk.
#![allow(unsafe_code, reason = "super-chunks, storage and buffers come from C as pointers")]

mod append;
mod chunk;
mod create;
mod frame;
mod mirror;

use core::ffi::c_int;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use b2frame::nd::NdMeta;
use b2frame::{SChunk, SChunkWriter};
use blosc_io::FileStore;

use crate::errors::{FAILURE, INVALID_PARAM, NULL_POINTER};
use crate::memory::CBytes;
use crate::places::{self, Freed, Place};
use crate::types::blosc2_schunk;

pub use append::append_buffer;
pub use chunk::get_lazychunk;
pub(crate) use chunk::{Stored, of_lazy, stored};
pub(crate) use create::{New, create};
pub use create::{free, new};
pub use frame::{avoid_cframe_free, from_buffer, open_offset, to_buffer};

/// The struct that C sees, and our private part.
type SChunkPlace = Place<blosc2_schunk, Private>;

static FREED: Freed<blosc2_schunk, Private> = Freed::new(16);

/// The state of a super-chunk, which its public fields repeat.
pub(crate) struct Private {
    inner: Mutex<Inner>,
}

struct Inner {
    chunks: Chunks,
    is_contiguous: bool,
    sizes: Sizes,
    metalayers: Vec<Layer>,
    vlmetalayers: Vec<Layer>,
    /// The last frame of `to_buffer`, until the next change.
    frame: Option<CBytes>,
    /// The buffer of the client, if freeing the super-chunk frees it.
    given: Option<CBytes>,
}

/// Name and content of a metalayer.
type Layer = (Vec<u8>, Vec<u8>);

/// Sums over the chunks.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    nbytes: i64,
    cbytes: i64,
    /// Bytes of data in a chunk; below 0 before the first, 0 if they differ.
    chunksize: i32,
    /// Whether the last chunk is shorter than the others.
    is_last_short: bool,
}

impl Sizes {
    const NONE: Self = Self { nbytes: 0, cbytes: 0, chunksize: -1, is_last_short: false };
}

/// The storage of the chunks.
enum Chunks {
    Memory(Vec<CBytes>),
    /// A frame for reading.
    Frame {
        schunk: Arc<SChunk>,
        place: FramePlace,
    },
    /// A frame in files for changing.
    Files {
        writer: Box<SChunkWriter>,
        path: PathBuf,
    },
}

/// The location of a frame.
#[derive(Clone)]
enum FramePlace {
    /// In memory of the client.
    Memory(Foreign),
    /// In a file, starting at this byte.
    File { store: Arc<FileStore>, offset: u64, path: PathBuf },
    /// In a folder.
    Folder { path: PathBuf },
}

/// Memory that the client promises to keep.
#[derive(Clone, Copy, Debug)]
struct Foreign {
    place: *mut u8,
    len: usize,
}

// SAFETY: the client lets threads share a super-chunk, and keeps the memory meanwhile.
unsafe impl Send for Foreign {}
// SAFETY: the same.
unsafe impl Sync for Foreign {}

impl AsRef<[u8]> for Foreign {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: who made it promised `len` bytes at this place.
        unsafe { core::slice::from_raw_parts(self.place, self.len) }
    }
}

impl Private {
    fn new(inner: Inner) -> Self {
        Self { inner: Mutex::new(inner) }
    }

    /// After a panic in a call, the state of the super-chunk is unknown.
    fn lock(&self) -> Result<MutexGuard<'_, Inner>, c_int> {
        self.inner.lock().map_err(|_| FAILURE)
    }
}

impl Inner {
    fn nchunks(&self) -> u64 {
        match &self.chunks {
            Chunks::Memory(chunks) => chunks.len() as u64,
            Chunks::Frame { schunk, .. } => schunk.nchunks(),
            Chunks::Files { writer, .. } => writer.nchunks(),
        }
    }
}

/// The private part of a super-chunk, or a code for NULL and for a recently freed one.
///
/// # Safety
///
/// NULL, or a super-chunk of this library, which nobody frees during `'a`.
pub(crate) unsafe fn find<'a>(schunk: *mut blosc2_schunk) -> Result<&'a Private, c_int> {
    if schunk.is_null() {
        return Err(NULL_POINTER);
    }
    // SAFETY: the caller promises it.
    unsafe { places::find(schunk.cast::<SChunkPlace>()) }.ok_or(INVALID_PARAM)
}

/// The metalayer of an array, if there is one, and the size of an item (bytes).
///
/// # Safety
///
/// NULL or a super-chunk of this library.
pub(crate) unsafe fn array_facts(
    schunk: *mut blosc2_schunk,
) -> Result<(Option<Vec<u8>>, usize), c_int> {
    // SAFETY: the caller promises it.
    let private = unsafe { find(schunk) }?;
    let names = [NdMeta::NAME, NdMeta::OLD_NAME].map(str::as_bytes);
    let inner = private.lock()?;
    let layer =
        names.iter().find_map(|name| inner.metalayers.iter().find(|(found, _)| found == name));
    let content = layer.map(|(_, content)| content.clone());
    // SAFETY: the caller promises it.
    let typesize = unsafe { (*schunk).typesize };
    Ok((content, usize::try_from(typesize).map_err(|_| INVALID_PARAM)?))
}

//! The measured functions of C-Blosc2, loaded from its shared library.
//!
//! `unsafe` is only in this file and its modules. Every wrapper takes slices and passes their
//! lengths, so only the library itself must be trusted. Contexts are made once and kept, as in fast
//! programs.

#![allow(unsafe_code)]

mod arrays;

use core::{
    ffi::{CStr, c_char, c_int, c_void},
    ptr,
};
use std::{path::Path, sync::Arc};

use libloading::{Library, Symbol};

use crate::failure::{Result, fail};

pub(crate) use arrays::Grid;

/// `blosc2_cparams` of C-Blosc2 3.3.
#[repr(C)]
#[derive(Clone, Copy)]
struct RawCParams {
    compcode: u8,
    compcode_meta: u8,
    clevel: u8,
    use_dict: c_int,
    typesize: i32,
    nthreads: i16,
    blocksize: i32,
    splitmode: i32,
    schunk: *mut c_void,
    filters: [u8; 6],
    filters_meta: [u8; 6],
    prefilter: *mut c_void,
    preparams: *mut c_void,
    tuner_params: *mut c_void,
    tuner_id: c_int,
    instr_codec: bool,
    codec_params: *mut c_void,
    filter_params: [*mut c_void; 6],
}

/// `blosc2_dparams` of C-Blosc2 3.3.
#[repr(C)]
#[derive(Clone, Copy)]
struct RawDParams {
    nthreads: i16,
    schunk: *mut c_void,
    postfilter: *mut c_void,
    postparams: *mut c_void,
    typesize: i32,
}

/// `blosc2_storage` of C-Blosc2 3.3.
#[repr(C)]
struct RawStorage {
    contiguous: bool,
    urlpath: *const c_char,
    cparams: *const RawCParams,
    dparams: *const RawDParams,
    io: *mut c_void,
}

/// The parameters of both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Params {
    pub(crate) codec: u8,
    pub(crate) level: u8,
    pub(crate) typesize: usize,
    pub(crate) filters: [u8; 6],
    /// 0: automatic.
    pub(crate) block_size: usize,
    /// 1: always, 2: never, 3: automatic, 4: as old releases.
    pub(crate) split: i32,
    pub(crate) threads: u16,
}

impl Params {
    fn raw(&self) -> RawCParams {
        RawCParams {
            compcode: self.codec,
            compcode_meta: 0,
            clevel: self.level,
            use_dict: 0,
            typesize: int(self.typesize),
            nthreads: i16::try_from(self.threads).unwrap_or(i16::MAX),
            blocksize: int(self.block_size),
            splitmode: self.split,
            schunk: ptr::null_mut(),
            filters: self.filters,
            filters_meta: [0; 6],
            prefilter: ptr::null_mut(),
            preparams: ptr::null_mut(),
            tuner_params: ptr::null_mut(),
            tuner_id: 0,
            instr_codec: false,
            codec_params: ptr::null_mut(),
            filter_params: [ptr::null_mut(); 6],
        }
    }

    fn raw_decode(&self) -> RawDParams {
        RawDParams {
            nthreads: i16::try_from(self.threads).unwrap_or(i16::MAX),
            schunk: ptr::null_mut(),
            postfilter: ptr::null_mut(),
            postparams: ptr::null_mut(),
            typesize: int(self.typesize),
        }
    }
}

/// A filter kernel: typesize, bytes, from, to.
type Kernel = unsafe extern "C" fn(i32, i32, *const c_void, *mut c_void) -> i32;

/// The loaded functions.
struct Functions {
    create_cctx: unsafe extern "C" fn(RawCParams) -> *mut c_void,
    create_dctx: unsafe extern "C" fn(RawDParams) -> *mut c_void,
    free_ctx: unsafe extern "C" fn(*mut c_void),
    compress: unsafe extern "C" fn(*mut c_void, *const c_void, i32, *mut c_void, i32) -> c_int,
    decompress: unsafe extern "C" fn(*mut c_void, *const c_void, i32, *mut c_void, i32) -> c_int,
    getitem: unsafe extern "C" fn(
        *mut c_void,
        *const c_void,
        i32,
        c_int,
        c_int,
        *mut c_void,
        i32,
    ) -> c_int,
    kernels: [Kernel; 4],
    schunk_new: unsafe extern "C" fn(*mut RawStorage) -> *mut c_void,
    schunk_open: unsafe extern "C" fn(*const c_char) -> *mut c_void,
    schunk_free: unsafe extern "C" fn(*mut c_void) -> c_int,
    schunk_append: unsafe extern "C" fn(*mut c_void, *const c_void, i32) -> i64,
    schunk_decode: unsafe extern "C" fn(*mut c_void, i64, *mut c_void, i32) -> c_int,
    schunk_to_buffer: unsafe extern "C" fn(*mut c_void, *mut *mut u8, *mut bool) -> i64,
    schunk_to_file: unsafe extern "C" fn(*mut c_void, *const c_char) -> i64,
    arrays: arrays::Functions,
    free: unsafe extern "C" fn(*mut c_void),
    version: unsafe extern "C" fn() -> *const c_char,
    /// Keeps the functions valid.
    _library: Library,
}

/// C-Blosc2.
#[derive(Clone)]
pub(crate) struct CBlosc2(Arc<Functions>);

/// A filter kernel, in the order of [`Functions::kernels`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FilterKernel {
    Shuffle,
    Unshuffle,
    Bitshuffle,
    Bitunshuffle,
}

impl CBlosc2 {
    /// Loads the library at `path`.
    ///
    /// # Errors
    ///
    /// If there is no such library, or if it lacks one of the functions.
    pub(crate) fn load(path: &Path) -> Result<Self> {
        // SAFETY: the library of the wheel runs nothing but constructors of its own when it is
        // loaded.
        let library = unsafe { Library::new(path) }
            .or_else(|error| fail(format!("{}: {error}", path.display())))?;
        let functions = Functions {
            create_cctx: function(&library, c"blosc2_create_cctx")?,
            create_dctx: function(&library, c"blosc2_create_dctx")?,
            free_ctx: function(&library, c"blosc2_free_ctx")?,
            compress: function(&library, c"blosc2_compress_ctx")?,
            decompress: function(&library, c"blosc2_decompress_ctx")?,
            getitem: function(&library, c"blosc2_getitem_ctx")?,
            kernels: [
                function(&library, c"blosc2_shuffle")?,
                function(&library, c"blosc2_unshuffle")?,
                function(&library, c"blosc2_bitshuffle")?,
                function(&library, c"blosc2_bitunshuffle")?,
            ],
            schunk_new: function(&library, c"blosc2_schunk_new")?,
            schunk_open: function(&library, c"blosc2_schunk_open")?,
            schunk_free: function(&library, c"blosc2_schunk_free")?,
            schunk_append: function(&library, c"blosc2_schunk_append_buffer")?,
            schunk_decode: function(&library, c"blosc2_schunk_decompress_chunk")?,
            schunk_to_buffer: function(&library, c"blosc2_schunk_to_buffer")?,
            schunk_to_file: function(&library, c"blosc2_schunk_to_file")?,
            arrays: arrays::Functions::load(&library)?,
            // The system's function, which the library links to.
            free: function(&library, c"free")?,
            version: function(&library, c"blosc2_get_version_string")?,
            _library: library,
        };
        let init: unsafe extern "C" fn() = function(&functions._library, c"blosc2_init")?;
        // SAFETY: called once, before any other function.
        unsafe { init() };
        Ok(Self(Arc::new(functions)))
    }

    pub(crate) fn version(&self) -> String {
        // SAFETY: takes nothing, returns a static string.
        let version = unsafe { (self.0.version)() };
        // SAFETY: it ends in a zero and is never freed.
        unsafe { CStr::from_ptr(version) }.to_string_lossy().into_owned()
    }

    pub(crate) fn filter(
        &self,
        kernel: FilterKernel,
        typesize: usize,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<()> {
        let kernel_fn = self.0.kernels[kernel as usize];
        let nbytes = int(src.len().min(dest.len()));
        // SAFETY: both are at least `nbytes` long.
        let done = unsafe {
            kernel_fn(int(typesize), nbytes, src.as_ptr().cast(), dest.as_mut_ptr().cast())
        };
        if done < 0 { fail(format!("{kernel:?}: C-Blosc2 gives {done}")) } else { Ok(()) }
    }

    pub(crate) fn encoder(&self, params: &Params) -> Result<Context> {
        // SAFETY: the parameters are copied.
        let raw = unsafe { (self.0.create_cctx)(params.raw()) };
        self.context(raw)
    }

    pub(crate) fn decoder(&self, params: &Params) -> Result<Context> {
        // SAFETY: the parameters are copied.
        let raw = unsafe { (self.0.create_dctx)(params.raw_decode()) };
        self.context(raw)
    }

    fn context(&self, raw: *mut c_void) -> Result<Context> {
        if raw.is_null() {
            fail("C-Blosc2 makes no context")
        } else {
            Ok(Context { raw, library: self.clone() })
        }
    }

    /// A new super-chunk: in a contiguous frame at `path`, or as chunks in memory.
    pub(crate) fn create(&self, path: Option<&CStr>, params: &Params) -> Result<SuperChunk> {
        let (cparams, dparams) = (params.raw(), params.raw_decode());
        let mut storage = RawStorage {
            contiguous: path.is_some(),
            urlpath: path.map_or(ptr::null(), CStr::as_ptr),
            cparams: &raw const cparams,
            dparams: &raw const dparams,
            io: ptr::null_mut(),
        };
        // SAFETY: everything that it points to lives until the call returns; the library copies it.
        let raw = unsafe { (self.0.schunk_new)(&raw mut storage) };
        self.super_chunk(raw)
    }

    pub(crate) fn open(&self, path: &CStr) -> Result<SuperChunk> {
        // SAFETY: the path ends in a zero.
        let raw = unsafe { (self.0.schunk_open)(path.as_ptr()) };
        self.super_chunk(raw)
    }

    fn super_chunk(&self, raw: *mut c_void) -> Result<SuperChunk> {
        if raw.is_null() {
            fail("C-Blosc2 makes no super-chunk")
        } else {
            Ok(SuperChunk { raw, library: self.clone() })
        }
    }
}

fn function<T: Copy>(library: &Library, name: &CStr) -> Result<T> {
    // SAFETY: the signatures above are those of the header of C-Blosc2 3.3.
    let symbol: core::result::Result<Symbol<'_, T>, _> =
        unsafe { library.get(name.to_bytes_with_nul()) };
    symbol.map(|symbol| *symbol).or_else(|error| fail(format!("{name:?}: {error}")))
}

fn int(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// A context for compression or decompression.
pub(crate) struct Context {
    raw: *mut c_void,
    library: CBlosc2,
}

impl Context {
    pub(crate) fn encode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        let (from, to) = (src.as_ptr().cast(), dest.as_mut_ptr().cast());
        // SAFETY: the lengths are those of the slices.
        let done = unsafe {
            (self.library.0.compress)(self.raw, from, int(src.len()), to, int(dest.len()))
        };
        count(done, "compress")
    }

    pub(crate) fn decode(&mut self, chunk: &[u8], dest: &mut [u8]) -> Result<usize> {
        let (from, to) = (chunk.as_ptr().cast(), dest.as_mut_ptr().cast());
        // SAFETY: the lengths are those of the slices.
        let done = unsafe {
            (self.library.0.decompress)(self.raw, from, int(chunk.len()), to, int(dest.len()))
        };
        count(done, "decompress")
    }

    pub(crate) fn item(&mut self, chunk: &[u8], item: usize, dest: &mut [u8]) -> Result<usize> {
        let (from, to) = (chunk.as_ptr().cast(), dest.as_mut_ptr().cast());
        let getitem = self.library.0.getitem;
        // SAFETY: the lengths are those of the slices.
        let done =
            unsafe { getitem(self.raw, from, int(chunk.len()), int(item), 1, to, int(dest.len())) };
        count(done, "getitem")
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: it came from the library and is freed once.
        unsafe { (self.library.0.free_ctx)(self.raw) }
    }
}

/// A super-chunk.
pub(crate) struct SuperChunk {
    raw: *mut c_void,
    library: CBlosc2,
}

impl SuperChunk {
    pub(crate) fn append(&mut self, data: &[u8]) -> Result<()> {
        // SAFETY: the length is that of the slice.
        let nchunks = unsafe {
            (self.library.0.schunk_append)(self.raw, data.as_ptr().cast(), int(data.len()))
        };
        if nchunks < 1 { fail(format!("append: C-Blosc2 gives {nchunks}")) } else { Ok(()) }
    }

    pub(crate) fn decode(&mut self, nchunk: u64, dest: &mut [u8]) -> Result<usize> {
        let nchunk = i64::try_from(nchunk).unwrap_or(i64::MAX);
        let (to, nbytes) = (dest.as_mut_ptr().cast(), int(dest.len()));
        // SAFETY: the length is that of the slice.
        count(
            unsafe { (self.library.0.schunk_decode)(self.raw, nchunk, to, nbytes) },
            "decompress_chunk",
        )
    }
}

impl SuperChunk {
    /// Serialises the super-chunk to a frame and drops it. Returns the frame's length (bytes).
    pub(crate) fn save_to_buffer(&mut self) -> Result<usize> {
        let (mut frame, mut needs_free) = (ptr::null_mut(), false);
        // SAFETY: both places live until the call returns.
        let len = unsafe {
            (self.library.0.schunk_to_buffer)(self.raw, &raw mut frame, &raw mut needs_free)
        };
        if needs_free {
            // SAFETY: the library says that it came from malloc and is now ours.
            unsafe { (self.library.0.free)(frame.cast()) };
        }
        usize::try_from(len).or_else(|_| fail(format!("to_buffer: C-Blosc2 gives {len}")))
    }

    pub(crate) fn save_to_file(&mut self, path: &CStr) -> Result<()> {
        // SAFETY: the path ends in a zero.
        let len = unsafe { (self.library.0.schunk_to_file)(self.raw, path.as_ptr()) };
        if len < 0 { fail(format!("to_file: C-Blosc2 gives {len}")) } else { Ok(()) }
    }
}

impl Drop for SuperChunk {
    fn drop(&mut self) {
        // SAFETY: it came from the library and is freed once.
        unsafe { (self.library.0.schunk_free)(self.raw) };
    }
}

fn count(done: c_int, what: &str) -> Result<usize> {
    usize::try_from(done).or_else(|_| fail(format!("{what}: C-Blosc2 gives {done}")))
}

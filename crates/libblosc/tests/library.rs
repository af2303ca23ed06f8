//! The library that this crate builds, and its functions.
#![allow(unsafe_code, reason = "functions of a library that is loaded")]

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use std::path::PathBuf;

use libloading::Library;

// Building this crate makes the shared library too.
use blosc as _;

pub(crate) struct Blosc(Library);

type Compress =
    unsafe extern "C" fn(c_int, c_int, usize, usize, *const c_void, *mut c_void, usize) -> c_int;
type CompressCtx = unsafe extern "C" fn(
    c_int,
    c_int,
    usize,
    usize,
    *const c_void,
    *mut c_void,
    usize,
    *const c_char,
    usize,
    c_int,
) -> c_int;
type Decompress = unsafe extern "C" fn(*const c_void, *mut c_void, usize) -> c_int;
type DecompressCtx = unsafe extern "C" fn(*const c_void, *mut c_void, usize, c_int) -> c_int;
type GetItem = unsafe extern "C" fn(*const c_void, c_int, c_int, *mut c_void) -> c_int;

impl Blosc {
    pub(crate) fn load() -> Self {
        let program: PathBuf = std::env::current_exe().unwrap();
        let name = libloading::library_filename("blosc");
        let path = program.parent().unwrap().join(name);
        // SAFETY: the library does nothing when it is loaded.
        Self(unsafe { Library::new(&path) }.unwrap_or_else(|error| panic!("{path:?}: {error}")))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        // SAFETY: the function is not called.
        unsafe { self.0.get::<unsafe extern "C" fn()>(name.as_bytes()) }.is_ok()
    }

    fn function<F: Copy>(&self, name: &str) -> F {
        // SAFETY: all types here are those of the header of C-Blosc.
        *unsafe { self.0.get::<F>(name.as_bytes()) }.unwrap()
    }

    pub(crate) fn compress(&self, clevel: c_int, typesize: usize, src: &[u8]) -> Vec<u8> {
        let mut dest = vec![0; src.len() + 16];
        let f = self.function::<Compress>("blosc_compress");
        let (from, to) = (src.as_ptr().cast(), dest.as_mut_ptr().cast());
        // SAFETY: both buffers are as long as it is told.
        let cbytes = unsafe { f(clevel, 1, typesize, src.len(), from, to, dest.len()) };
        dest.truncate(usize::try_from(cbytes).unwrap());
        dest
    }

    /// The code, and the chunk.
    pub(crate) fn compress_ctx(
        &self,
        src: &[u8],
        compressor: Option<&CStr>,
        nthreads: c_int,
    ) -> (c_int, Vec<u8>) {
        let mut dest = vec![0; src.len() + 16];
        let f = self.function::<CompressCtx>("blosc_compress_ctx");
        let (from, to) = (src.as_ptr().cast(), dest.as_mut_ptr().cast());
        let name = compressor.map_or(ptr::null(), CStr::as_ptr);
        // SAFETY: both buffers are as long as it is told.
        let code = unsafe { f(5, 1, 4, src.len(), from, to, dest.len(), name, 0, nthreads) };
        dest.truncate(usize::try_from(code).unwrap_or_default());
        (code, dest)
    }

    pub(crate) fn decompress(&self, chunk: &[u8], nbytes: usize) -> Vec<u8> {
        let mut dest = vec![0; nbytes];
        let f = self.function::<Decompress>("blosc_decompress");
        // SAFETY: `dest` is as long as it is told, and `chunk` is whole.
        let code = unsafe { f(chunk.as_ptr().cast(), dest.as_mut_ptr().cast(), nbytes) };
        assert_eq!(usize::try_from(code), Ok(nbytes));
        dest
    }

    /// The code, and the data.
    pub(crate) fn decompress_ctx(
        &self,
        chunk: &[u8],
        nbytes: usize,
        nthreads: c_int,
    ) -> (c_int, Vec<u8>) {
        let mut dest = vec![0; nbytes];
        let f = self.function::<DecompressCtx>("blosc_decompress_ctx");
        // SAFETY: `dest` is as long as it is told, and `chunk` is whole.
        let code = unsafe { f(chunk.as_ptr().cast(), dest.as_mut_ptr().cast(), nbytes, nthreads) };
        (code, dest)
    }

    pub(crate) fn getitem(&self, chunk: &[u8], start: c_int, dest: &mut [u32]) -> c_int {
        let f = self.function::<GetItem>("blosc_getitem");
        let nitems = c_int::try_from(dest.len()).unwrap();
        // SAFETY: the items are of 4 bytes, and `dest` has room for them.
        unsafe { f(chunk.as_ptr().cast(), start, nitems, dest.as_mut_ptr().cast()) }
    }

    /// A call with NULL for the chunk and the data, with nonzero lengths.
    pub(crate) fn null_calls(&self) -> [c_int; 4] {
        let (from, to) = (ptr::null(), ptr::null_mut());
        [
            // SAFETY: NULL is allowed.
            unsafe { self.function::<Compress>("blosc_compress")(5, 1, 4, 99, from, to, 99) },
            // SAFETY: NULL is allowed.
            unsafe { self.function::<Decompress>("blosc_decompress")(from, to, 99) },
            // SAFETY: NULL is allowed.
            unsafe { self.function::<DecompressCtx>("blosc_decompress_ctx")(from, to, 99, 2) },
            // SAFETY: NULL is allowed.
            unsafe { self.function::<GetItem>("blosc_getitem")(from, 0, 1, to) },
        ]
    }

    pub(crate) fn set_nthreads(&self, nthreads: c_int) -> c_int {
        // SAFETY: it takes any number.
        unsafe {
            self.function::<unsafe extern "C" fn(c_int) -> c_int>("blosc_set_nthreads")(nthreads)
        }
    }

    pub(crate) fn destroy(&self) {
        // SAFETY: it takes nothing.
        unsafe { self.function::<unsafe extern "C" fn()>("blosc_destroy")() }
    }

    pub(crate) fn text(&self, name: &str) -> String {
        let f = self.function::<unsafe extern "C" fn() -> *const c_char>(name);
        // SAFETY: it takes nothing.
        let text = unsafe { f() };
        // SAFETY: it returns a text that stays.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}

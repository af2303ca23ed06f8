//! The library that this crate builds, and its functions.
#![allow(unsafe_code, reason = "functions of a library that is loaded")]

use core::ffi::{c_int, c_void};
use core::ptr;
use std::path::PathBuf;

use blosc_capi::context::blosc2_context;
use blosc_capi::types::{blosc2_cparams, blosc2_dparams};
use libloading::Library;

// Building this crate makes the shared library too.
use blosc2 as _;

pub(crate) struct Blosc2(Library);

type Create<P> = unsafe extern "C" fn(P) -> *mut blosc2_context;
type Convert =
    unsafe extern "C" fn(*mut blosc2_context, *const c_void, i32, *mut c_void, i32) -> c_int;
type Items = unsafe extern "C" fn(
    *mut blosc2_context,
    *const c_void,
    i32,
    c_int,
    c_int,
    *mut c_void,
    i32,
) -> c_int;

/// A context, freed when it is dropped.
pub(crate) struct Context<'a> {
    library: &'a Blosc2,
    pub(crate) handle: *mut blosc2_context,
}

impl Blosc2 {
    pub(crate) fn load() -> Self {
        let program: PathBuf = std::env::current_exe().unwrap();
        let name = libloading::library_filename("blosc2");
        let path = program.parent().unwrap().join(name);
        // SAFETY: the library does nothing when it is loaded.
        Self(unsafe { Library::new(&path) }.unwrap_or_else(|error| panic!("{path:?}: {error}")))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        // SAFETY: the function is not called.
        unsafe { self.0.get::<unsafe extern "C" fn()>(name.as_bytes()) }.is_ok()
    }

    /// The function of a name. All types in these tests are those of the header.
    pub(crate) fn function<F: Copy>(&self, name: &str) -> F {
        // SAFETY: as said above.
        *unsafe { self.0.get::<F>(name.as_bytes()) }.unwrap()
    }

    pub(crate) fn cparams(&self) -> blosc2_cparams {
        let f = self.function::<unsafe extern "C" fn() -> blosc2_cparams>(
            "blosc2_get_blosc2_cparams_defaults",
        );
        // SAFETY: there is nothing to promise.
        unsafe { f() }
    }

    pub(crate) fn dparams(&self) -> blosc2_dparams {
        let f = self.function::<unsafe extern "C" fn() -> blosc2_dparams>(
            "blosc2_get_blosc2_dparams_defaults",
        );
        // SAFETY: there is nothing to promise.
        unsafe { f() }
    }

    pub(crate) fn compressor(&self, cparams: blosc2_cparams) -> Context<'_> {
        let f = self.function::<Create<blosc2_cparams>>("blosc2_create_cctx");
        // SAFETY: pointers in the parameters are NULL or those of the test.
        Context { library: self, handle: unsafe { f(cparams) } }
    }

    pub(crate) fn decompressor(&self, dparams: blosc2_dparams) -> Context<'_> {
        let f = self.function::<Create<blosc2_dparams>>("blosc2_create_dctx");
        // SAFETY: pointers in the parameters are NULL or those of the test.
        Context { library: self, handle: unsafe { f(dparams) } }
    }

    /// The context at a pointer.
    pub(crate) fn at(&self, handle: *mut blosc2_context) -> Context<'_> {
        Context { library: self, handle }
    }

    /// A chunk of these data with 4 bytes an item and blocks of 4096 bytes.
    pub(crate) fn chunk(&self, data: &[u8]) -> Vec<u8> {
        let cparams = blosc2_cparams { typesize: 4, blocksize: 4096, ..self.cparams() };
        self.compressor(cparams).compress(data).unwrap()
    }

    pub(crate) fn free(&self, handle: *mut blosc2_context) {
        let f = self.function::<unsafe extern "C" fn(*mut blosc2_context)>("blosc2_free_ctx");
        // SAFETY: the handle is NULL or comes from this library.
        unsafe { f(handle) };
    }
}

impl Context<'_> {
    pub(crate) fn compress(&self, data: &[u8]) -> Result<Vec<u8>, c_int> {
        let mut dest = vec![0; data.len() + 32];
        let code = self.compress_into(data, &mut dest);
        dest.truncate(usize::try_from(code).map_err(|_| code)?);
        Ok(dest)
    }

    pub(crate) fn compress_into(&self, data: &[u8], dest: &mut [u8]) -> c_int {
        self.convert("blosc2_compress_ctx", data, dest)
    }

    pub(crate) fn decompress_into(&self, chunk: &[u8], dest: &mut [u8]) -> c_int {
        self.convert("blosc2_decompress_ctx", chunk, dest)
    }

    fn convert(&self, name: &str, from: &[u8], to: &mut [u8]) -> c_int {
        let f = self.library.function::<Convert>(name);
        let [from_len, to_len] = [from.len(), to.len()].map(|len| i32::try_from(len).unwrap());
        // SAFETY: both buffers are as long as it is told.
        unsafe { f(self.handle, from.as_ptr().cast(), from_len, to.as_mut_ptr().cast(), to_len) }
    }

    /// Calls `blosc2_getitem_ctx`, or another function with the same arguments.
    pub(crate) fn items(
        &self,
        name: &str,
        chunk: &[u8],
        items: (c_int, c_int),
        to: &mut [u8],
    ) -> c_int {
        let f = self.library.function::<Items>(name);
        let [from_len, to_len] = [chunk.len(), to.len()].map(|len| i32::try_from(len).unwrap());
        let (from, to) = (chunk.as_ptr().cast(), to.as_mut_ptr().cast());
        // SAFETY: both buffers are as long as it is told.
        unsafe { f(self.handle, from, from_len, items.0, items.1, to, to_len) }
    }

    pub(crate) fn mask(&self, mask: &[bool]) -> c_int {
        type Mask = unsafe extern "C" fn(*mut blosc2_context, *const bool, c_int) -> c_int;
        let f = self.library.function::<Mask>("blosc2_set_maskout");
        // SAFETY: the mask is as long as it is told.
        unsafe { f(self.handle, mask.as_ptr(), c_int::try_from(mask.len()).unwrap()) }
    }

    /// All blocks of a chunk with individual sizes.
    pub(crate) fn vl_blocks(&self, chunk: &[u8], max: usize) -> Result<Vec<Vec<u8>>, c_int> {
        type Blocks = unsafe extern "C" fn(
            *mut blosc2_context,
            *const c_void,
            i32,
            *mut *mut c_void,
            *mut i32,
            i32,
        ) -> c_int;
        let f = self.library.function::<Blocks>("blosc2_vldecompress_ctx");
        let (mut dests, mut sizes) = (vec![ptr::null_mut(); max], vec![0; max]);
        let [len, max] = [chunk.len(), max].map(|len| i32::try_from(len).unwrap());
        let (places, counts) = (dests.as_mut_ptr(), sizes.as_mut_ptr());
        // SAFETY: all buffers are as long as it is told.
        let code = unsafe { f(self.handle, chunk.as_ptr().cast(), len, places, counts, max) };
        let nblocks = usize::try_from(code).map_err(|_| code)?;
        Ok(dests
            .into_iter()
            .zip(sizes)
            .take(nblocks)
            .map(|(dest, size)| taken(dest, size))
            .collect())
    }

    /// One block of a chunk with individual sizes.
    pub(crate) fn vl_block(&self, chunk: &[u8], nblock: i32) -> Result<Vec<u8>, c_int> {
        type Block = unsafe extern "C" fn(
            *mut blosc2_context,
            *const c_void,
            i32,
            i32,
            *mut *mut c_void,
            *mut i32,
        ) -> c_int;
        let f = self.library.function::<Block>("blosc2_vldecompress_block_ctx");
        let (mut dest, mut size) = (ptr::null_mut(), 0);
        let len = i32::try_from(chunk.len()).unwrap();
        let (place, count) = (&raw mut dest, &raw mut size);
        // SAFETY: all buffers are as long as it is told.
        let code = unsafe { f(self.handle, chunk.as_ptr().cast(), len, nblock, place, count) };
        if code < 0 { Err(code) } else { Ok(taken(dest, size)) }
    }

    pub(crate) fn vl_chunk(&self, blocks: &[&[u8]]) -> Result<Vec<u8>, c_int> {
        type Compress = unsafe extern "C" fn(
            *mut blosc2_context,
            *const *const c_void,
            *const i32,
            i32,
            *mut c_void,
            i32,
        ) -> c_int;
        let f = self.library.function::<Compress>("blosc2_vlcompress_ctx");
        let srcs: Vec<*const c_void> = blocks.iter().map(|block| block.as_ptr().cast()).collect();
        let sizes: Vec<i32> =
            blocks.iter().map(|block| i32::try_from(block.len()).unwrap()).collect();
        let mut dest = vec![0; 10_000];
        let nblocks = i32::try_from(blocks.len()).unwrap();
        let to = dest.as_mut_ptr().cast();
        // SAFETY: all buffers are as long as it is told.
        let code = unsafe { f(self.handle, srcs.as_ptr(), sizes.as_ptr(), nblocks, to, 10_000) };
        dest.truncate(usize::try_from(code).map_err(|_| code)?);
        Ok(dest)
    }
}

/// Copies memory from the library, and frees it.
pub(crate) fn taken(memory: *mut c_void, nbytes: i32) -> Vec<u8> {
    let len = usize::try_from(nbytes).unwrap();
    // SAFETY: the library says so.
    let data = unsafe { core::slice::from_raw_parts(memory.cast::<u8>(), len) }.to_vec();
    unsafe extern "C" {
        fn free(memory: *mut c_void);
    }
    // SAFETY: the header says that C's allocator made it.
    unsafe { free(memory) };
    data
}

impl Drop for Context<'_> {
    fn drop(&mut self) {
        self.library.free(self.handle);
    }
}

/// Numbers that compress.
pub(crate) fn data(nbytes: usize) -> Vec<u8> {
    (0u32..).map(|i| i / 3).flat_map(u32::to_le_bytes).take(nbytes).collect()
}

//! The exported functions. The headers of C-Blosc state the duties of callers for pointers, lengths
//! and texts.
#![allow(unsafe_code, reason = "the names and pointers of C")]

use core::ffi::{c_char, c_int, c_void};
use core::ptr;

use blosc_capi::blosc1::{self, Call};
use blosc_capi::guard::guard;

/// Each entry is a function of C, its result after a panic, and its implementation.
macro_rules! exports {
    ($(
        fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $out:ty)?, $failure:expr => $call:expr;
    )*) => {
        $(
            #[doc = concat!("`", stringify!($name), "` of C-Blosc.")]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($arg: $type),*) $(-> $out)? {
                // SAFETY: the caller promises what the headers of C-Blosc demand, as does the
                // function that is called.
                guard($failure, || unsafe { $call })
            }
        )*
    };
}

#[allow(unused_unsafe, reason = "functions without pointers are safe")]
mod names {
    use super::*;

    exports! {
        fn blosc_init(), () => blosc1::init();
        fn blosc_destroy(), () => blosc1::destroy();
        fn blosc_free_resources() -> c_int, -1 => blosc1::free_resources();
        fn blosc_compress(
            clevel: c_int, doshuffle: c_int, typesize: usize, nbytes: usize,
            src: *const c_void, dest: *mut c_void, destsize: usize,
        ) -> c_int, -1 => blosc1::compress(
            Call { clevel, doshuffle, typesize, nbytes, src, dest, destsize },
        );
        fn blosc_compress_ctx(
            clevel: c_int, doshuffle: c_int, typesize: usize, nbytes: usize,
            src: *const c_void, dest: *mut c_void, destsize: usize,
            compressor: *const c_char, blocksize: usize, numinternalthreads: c_int,
        ) -> c_int, -1 => blosc1::compress_ctx(
            Call { clevel, doshuffle, typesize, nbytes, src, dest, destsize },
            compressor, blocksize, numinternalthreads,
        );
        fn blosc_decompress(src: *const c_void, dest: *mut c_void, destsize: usize) -> c_int,
            -1 => blosc1::decompress(src, dest, destsize);
        fn blosc_decompress_ctx(
            src: *const c_void, dest: *mut c_void, destsize: usize, numinternalthreads: c_int,
        ) -> c_int, -1 => blosc1::decompress_ctx(src, dest, destsize, numinternalthreads);
        fn blosc_getitem(
            src: *const c_void, start: c_int, nitems: c_int, dest: *mut c_void,
        ) -> c_int, -1 => blosc1::getitem(src, start, nitems, dest);
        fn blosc_get_nthreads() -> c_int, -1 => blosc1::get_nthreads();
        fn blosc_set_nthreads(nthreads: c_int) -> c_int, -1 => blosc1::set_nthreads(nthreads);
        fn blosc_get_compressor() -> *const c_char, ptr::null() => blosc1::get_compressor();
        fn blosc_set_compressor(compname: *const c_char) -> c_int,
            -1 => blosc1::set_compressor(compname);
        fn blosc_get_blocksize() -> c_int, -1 => blosc1::get_blocksize();
        fn blosc_set_blocksize(blocksize: usize), () => blosc1::set_blocksize(blocksize);
        fn blosc_set_splitmode(splitmode: c_int), () => blosc1::set_splitmode(splitmode);
        fn blosc_compcode_to_compname(compcode: c_int, compname: *mut *const c_char) -> c_int,
            -1 => blosc1::compcode_to_compname(compcode, compname);
        fn blosc_compname_to_compcode(compname: *const c_char) -> c_int,
            -1 => blosc1::compname_to_compcode(compname);
        fn blosc_list_compressors() -> *const c_char, ptr::null() => blosc1::COMPRESSORS.as_ptr();
        fn blosc_get_version_string() -> *const c_char, ptr::null() => blosc1::VERSION.as_ptr();
        fn blosc_get_complib_info(
            compname: *const c_char, complib: *mut *mut c_char, version: *mut *mut c_char,
        ) -> c_int, -1 => blosc1::get_complib_info(compname, complib, version);
        fn blosc_cbuffer_sizes(
            cbuffer: *const c_void, nbytes: *mut usize, cbytes: *mut usize, blocksize: *mut usize,
        ), () => blosc1::cbuffer_sizes(cbuffer, nbytes, cbytes, blocksize);
        fn blosc_cbuffer_validate(
            cbuffer: *const c_void, cbytes: usize, nbytes: *mut usize,
        ) -> c_int, -1 => blosc1::cbuffer_validate(cbuffer, cbytes, nbytes);
        fn blosc_cbuffer_metainfo(
            cbuffer: *const c_void, typesize: *mut usize, flags: *mut c_int,
        ), () => blosc1::cbuffer_metainfo(cbuffer, typesize, flags);
        fn blosc_cbuffer_versions(
            cbuffer: *const c_void, version: *mut c_int, compversion: *mut c_int,
        ), () => blosc1::cbuffer_versions(cbuffer, version, compversion);
        fn blosc_cbuffer_complib(cbuffer: *const c_void) -> *const c_char,
            ptr::null() => blosc1::cbuffer_complib(cbuffer);
    }
}

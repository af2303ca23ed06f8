//! The exported functions. The headers of C-Blosc2 state the duties of callers for pointers,
//! lengths and texts.
#![allow(unsafe_code, reason = "the names and pointers of C")]

use core::ffi::{c_char, c_int, c_void};
use core::ptr;

use blosc_capi::blosc2::{self, blosc1};
use blosc_capi::context::{self, blosc2_context};
use blosc_capi::errors;
use blosc_capi::errors::FAILURE;
use blosc_capi::guard::guard;
use blosc_capi::nd::{self, b2nd_context_t};
use blosc_capi::types::{
    b2nd_array_t, blosc2_cparams, blosc2_dparams, blosc2_io, blosc2_metalayer, blosc2_schunk,
    blosc2_stdio_mmap, blosc2_storage,
};
use blosc_capi::{schunk, storage};

/// Each entry is a function of C, its result after a panic, and its implementation.
macro_rules! exports {
    ($(
        fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $out:ty)?, $failure:expr => $call:expr;
    )*) => {
        $(
            #[doc = concat!("`", stringify!($name), "` of C-Blosc2.")]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($arg: $type),*) $(-> $out)? {
                // SAFETY: the caller promises what the headers of C-Blosc2 demand, as does the
                // function that is called.
                guard($failure, || unsafe { $call })
            }
        )*
    };
}

/// Unimplemented functions: each reports this under `BLOSC_TRACE`, ignores its arguments, and
/// returns a failure.
macro_rules! absent {
    ($(fn $name:ident() $(-> $out:ty)?, $failure:expr;)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "` of C-Blosc2, which is not there yet.")]
            #[unsafe(no_mangle)]
            extern "C" fn $name() $(-> $out)? {
                guard((), || blosc2::absent(stringify!($name)));
                $failure
            }
        )*
    };
}

#[allow(unused_unsafe, reason = "functions without pointers are safe")]
mod names {
    use super::*;

    exports! {
        // Settings of the process, and chunks with them.
        fn blosc2_init(), () => ();
        fn blosc2_destroy(), () => { blosc2::free_resources(); };
        fn blosc2_free_resources() -> c_int, -1 => blosc2::free_resources();
        fn blosc2_get_nthreads() -> i16, -1 => blosc2::get_nthreads();
        fn blosc2_set_nthreads(nthreads: i16) -> i16, -1 => blosc2::set_nthreads(nthreads);
        fn blosc2_set_delta(dodelta: c_int), () => blosc2::set_delta(dodelta);
        fn blosc1_get_compressor() -> *const c_char, ptr::null() => blosc1::get_compressor();
        fn blosc1_set_compressor(compname: *const c_char) -> c_int,
            -1 => blosc1::set_compressor(compname);
        fn blosc1_get_blocksize() -> c_int, -1 => blosc1::get_blocksize();
        fn blosc1_set_blocksize(blocksize: usize), () => blosc1::set_blocksize(blocksize);
        fn blosc1_set_splitmode(splitmode: c_int), () => blosc1::set_splitmode(splitmode);
        fn blosc1_compress(
            clevel: c_int, doshuffle: c_int, typesize: usize, nbytes: usize,
            src: *const c_void, dest: *mut c_void, destsize: usize,
        ) -> c_int, -1 =>
            blosc1::compress(clevel, doshuffle, typesize, nbytes, src, dest, destsize);
        fn blosc1_decompress(src: *const c_void, dest: *mut c_void, destsize: usize) -> c_int,
            -1 => blosc1::decompress(src, dest, destsize);
        fn blosc1_getitem(
            src: *const c_void, start: c_int, nitems: c_int, dest: *mut c_void,
        ) -> c_int,
            -1 => blosc1::getitem(src, start, nitems, dest);
        fn blosc2_compress(
            clevel: c_int, doshuffle: c_int, typesize: i32,
            src: *const c_void, srcsize: i32, dest: *mut c_void, destsize: i32,
        ) -> c_int, -1 =>
            blosc2::compress((clevel, doshuffle, typesize), (src, srcsize), (dest, destsize));
        fn blosc2_decompress(
            src: *const c_void, srcsize: i32, dest: *mut c_void, destsize: i32,
        ) -> c_int,
            -1 => blosc2::decompress((src, srcsize), (dest, destsize));
        fn blosc2_getitem(
            src: *const c_void, srcsize: i32, start: c_int, nitems: c_int,
            dest: *mut c_void, destsize: i32,
        ) -> c_int, -1 => blosc2::getitem((src, srcsize), (start, nitems), (dest, destsize));

        // Header fields of a chunk.
        fn blosc1_cbuffer_sizes(
            cbuffer: *const c_void, nbytes: *mut usize, cbytes: *mut usize, blocksize: *mut usize,
        ), () => blosc1::cbuffer_sizes(cbuffer, nbytes, cbytes, blocksize);
        fn blosc1_cbuffer_validate(
            cbuffer: *const c_void, cbytes: usize, nbytes: *mut usize,
        ) -> c_int,
            -1 => blosc1::cbuffer_validate(cbuffer, cbytes, nbytes);
        fn blosc1_cbuffer_metainfo(cbuffer: *const c_void, typesize: *mut usize, flags: *mut c_int),
            () => blosc1::cbuffer_metainfo(cbuffer, typesize, flags);
        fn blosc2_cbuffer_sizes(
            cbuffer: *const c_void, nbytes: *mut i32, cbytes: *mut i32, blocksize: *mut i32,
        ) -> c_int, -1 => blosc2::cbuffer_sizes(cbuffer, nbytes, cbytes, blocksize);
        fn blosc2_cbuffer_versions(
            cbuffer: *const c_void, version: *mut c_int, versionlz: *mut c_int,
        ),
            () => blosc2::cbuffer_versions(cbuffer, version, versionlz);
        fn blosc2_cbuffer_complib(cbuffer: *const c_void) -> *const c_char,
            ptr::null() => blosc2::cbuffer_complib(cbuffer);

        // Names and codes.
        fn blosc2_compcode_to_compname(compcode: c_int, compname: *mut *const c_char) -> c_int,
            -1 => blosc2::compcode_to_compname(compcode, compname);
        fn blosc2_compname_to_compcode(compname: *const c_char) -> c_int,
            -1 => blosc2::compname_to_compcode(compname);
        fn blosc2_list_compressors() -> *const c_char, ptr::null() => blosc2::COMPRESSORS.as_ptr();
        fn blosc2_get_version_string() -> *const c_char, ptr::null() => blosc2::VERSION.as_ptr();
        fn blosc2_get_complib_info(
            compname: *const c_char, complib: *mut *mut c_char, version: *mut *mut c_char,
        ) -> c_int, -1 => blosc2::get_complib_info(compname, complib, version);
        fn blosc2_error_string(code: c_int) -> *const c_char,
            ptr::null() => errors::text(code).as_ptr();

        // Contexts.
        fn blosc2_get_blosc2_cparams_defaults() -> blosc2_cparams,
            context::CPARAMS_DEFAULTS => context::CPARAMS_DEFAULTS;
        fn blosc2_get_blosc2_dparams_defaults() -> blosc2_dparams,
            context::DPARAMS_DEFAULTS => context::DPARAMS_DEFAULTS;
        fn blosc2_create_cctx(cparams: blosc2_cparams) -> *mut blosc2_context,
            ptr::null_mut() => context::create_cctx(cparams);
        fn blosc2_create_dctx(dparams: blosc2_dparams) -> *mut blosc2_context,
            ptr::null_mut() => context::create_dctx(dparams);
        fn blosc2_free_ctx(ctx: *mut blosc2_context), () => context::free(ctx);
        fn blosc2_ctx_get_cparams(ctx: *mut blosc2_context, cparams: *mut blosc2_cparams) -> c_int,
            -1 => context::get_cparams(ctx, cparams);
        fn blosc2_ctx_get_dparams(ctx: *mut blosc2_context, dparams: *mut blosc2_dparams) -> c_int,
            -1 => context::get_dparams(ctx, dparams);
        fn blosc2_set_maskout(ctx: *mut blosc2_context, maskout: *mut u8, nblocks: c_int) -> c_int,
            -1 => context::set_maskout(ctx, maskout, nblocks);
        fn blosc2_compress_ctx(
            ctx: *mut blosc2_context, src: *const c_void, srcsize: i32,
            dest: *mut c_void, destsize: i32,
        ) -> c_int, -1 => context::compress(ctx, src, srcsize, dest, destsize);
        fn blosc2_decompress_ctx(
            ctx: *mut blosc2_context, src: *const c_void, srcsize: i32,
            dest: *mut c_void, destsize: i32,
        ) -> c_int, -1 => context::decompress(ctx, src, srcsize, dest, destsize);
        fn blosc2_getitem_ctx(
            ctx: *mut blosc2_context, src: *const c_void, srcsize: i32,
            start: c_int, nitems: c_int, dest: *mut c_void, destsize: i32,
        ) -> c_int, -1 => context::getitem(ctx, src, srcsize, (start, nitems), dest, destsize);

        // Chunks that are a run.
        fn blosc2_chunk_zeros(
            cparams: blosc2_cparams, nbytes: i32, dest: *mut c_void, destsize: i32,
        ) -> c_int, -1 => context::chunk_zeros(&cparams, nbytes, dest, destsize);
        fn blosc2_chunk_nans(
            cparams: blosc2_cparams, nbytes: i32, dest: *mut c_void, destsize: i32,
        ) -> c_int, -1 => context::chunk_nans(&cparams, nbytes, dest, destsize);
        fn blosc2_chunk_uninit(
            cparams: blosc2_cparams, nbytes: i32, dest: *mut c_void, destsize: i32,
        ) -> c_int, -1 => context::chunk_uninit(&cparams, nbytes, dest, destsize);
        fn blosc2_chunk_repeatval(
            cparams: blosc2_cparams, nbytes: i32, dest: *mut c_void, destsize: i32,
            repeatval: *const c_void,
        ) -> c_int, -1 => context::chunk_repeatval(&cparams, nbytes, dest, destsize, repeatval);

        // Filters.
        fn blosc2_shuffle(
            typesize: i32, blocksize: i32, src: *const c_void, dest: *mut c_void,
        ) -> i32,
            -1 => blosc2::shuffle(typesize, blocksize, src, dest);
        fn blosc2_unshuffle(
            typesize: i32, blocksize: i32, src: *const c_void, dest: *mut c_void,
        ) -> i32,
            -1 => blosc2::unshuffle(typesize, blocksize, src, dest);
        fn blosc2_bitshuffle(
            typesize: i32, blocksize: i32, src: *const c_void, dest: *mut c_void,
        ) -> i32,
            -1 => blosc2::bitshuffle(typesize, blocksize, src, dest);
        fn blosc2_bitunshuffle(
            typesize: i32, blocksize: i32, src: *const c_void, dest: *mut c_void,
        ) -> i32,
            -1 => blosc2::bitunshuffle(typesize, blocksize, src, dest);

        // Structs with defaults, which clients change.
        fn blosc2_get_blosc2_storage_defaults() -> blosc2_storage,
            storage::STORAGE_DEFAULTS => storage::STORAGE_DEFAULTS;
        fn blosc2_get_blosc2_io_defaults(
            ,
        ) -> blosc2_io, storage::IO_DEFAULTS => storage::IO_DEFAULTS;
        fn blosc2_get_blosc2_stdio_mmap_defaults() -> blosc2_stdio_mmap,
            storage::MMAP_DEFAULTS => storage::MMAP_DEFAULTS;

        // Super-chunks.
        fn blosc2_schunk_new(storage: *mut blosc2_storage) -> *mut blosc2_schunk,
            ptr::null_mut() => schunk::new(storage);
        fn blosc2_schunk_free(schunk: *mut blosc2_schunk) -> c_int, -1 => schunk::free(schunk);
        fn blosc2_schunk_open(urlpath: *const c_char) -> *mut blosc2_schunk,
            ptr::null_mut() => schunk::open_offset(urlpath, 0);
        fn blosc2_schunk_open_offset(urlpath: *const c_char, offset: i64) -> *mut blosc2_schunk,
            ptr::null_mut() => schunk::open_offset(urlpath, offset);
        fn blosc2_schunk_from_buffer(cframe: *mut u8, len: i64, copy: u8) -> *mut blosc2_schunk,
            ptr::null_mut() => schunk::from_buffer(cframe, len, copy != 0);
        fn blosc2_schunk_avoid_cframe_free(schunk: *mut blosc2_schunk, avoid_cframe_free: u8),
            () => schunk::avoid_cframe_free(schunk, avoid_cframe_free != 0);
        fn blosc2_schunk_to_buffer(
            schunk: *mut blosc2_schunk, cframe: *mut *mut u8, needs_free: *mut bool,
        ) -> i64, -1 => schunk::to_buffer(schunk, cframe, needs_free);
        fn blosc2_schunk_append_buffer(
            schunk: *mut blosc2_schunk, src: *const c_void, nbytes: i32,
        ) -> i64, -1 => schunk::append_buffer(schunk, src, nbytes);
        fn blosc2_schunk_get_lazychunk(
            schunk: *mut blosc2_schunk, nchunk: i64, chunk: *mut *mut u8, needs_free: *mut bool,
        ) -> c_int, -1 => schunk::get_lazychunk(schunk, nchunk, chunk, needs_free);

        // Arrays.
        fn b2nd_create_ctx(
            b2_storage: *const blosc2_storage, ndim: i8, shape: *const i64,
            chunkshape: *const i32, blockshape: *const i32, dtype: *const c_char,
            dtype_format: i8, metalayers: *const blosc2_metalayer, nmetalayers: i32,
        ) -> *mut b2nd_context_t, ptr::null_mut() => nd::create_ctx(
            b2_storage,
            nd::Shapes { ndim, shape, chunkshape, blockshape, dtype, dtype_format },
            metalayers,
            nmetalayers,
        );
        fn b2nd_free_ctx(ctx: *mut b2nd_context_t) -> c_int, -1 => nd::free_ctx(ctx);
        fn b2nd_free(array: *mut b2nd_array_t) -> c_int, -1 => nd::free(array);
        fn b2nd_from_schunk(schunk: *mut blosc2_schunk, array: *mut *mut b2nd_array_t) -> c_int,
            -1 => nd::from_schunk(schunk, array);
        fn b2nd_from_cframe(
            cframe: *mut u8, cframe_len: i64, copy: u8, array: *mut *mut b2nd_array_t,
        ) -> c_int, -1 => nd::from_cframe(cframe, cframe_len, copy != 0, array);
        fn b2nd_open(urlpath: *const c_char, array: *mut *mut b2nd_array_t) -> c_int,
            -1 => nd::open_offset(urlpath, array, 0);
        fn b2nd_open_offset(
            urlpath: *const c_char, array: *mut *mut b2nd_array_t, offset: i64,
        ) -> c_int, -1 => nd::open_offset(urlpath, array, offset);
        fn b2nd_from_cbuffer(
            ctx: *mut b2nd_context_t, array: *mut *mut b2nd_array_t, buffer: *const c_void,
            buffersize: i64,
        ) -> c_int, -1 => nd::from_cbuffer(ctx, array, buffer, buffersize);
        fn b2nd_to_cbuffer(
            array: *const b2nd_array_t, buffer: *mut c_void, buffersize: i64,
        ) -> c_int, -1 => nd::to_cbuffer(array, buffer, buffersize);
        fn b2nd_to_cframe(
            array: *const b2nd_array_t, cframe: *mut *mut u8, cframe_len: *mut i64,
            needs_free: *mut bool,
        ) -> c_int, -1 => nd::to_cframe(array, cframe, cframe_len, needs_free);
        fn b2nd_get_slice_cbuffer(
            array: *const b2nd_array_t, start: *const i64, stop: *const i64,
            buffer: *mut c_void, buffershape: *const i64, buffersize: i64,
        ) -> c_int, -1 =>
            nd::get_slice_cbuffer(array, start, stop, buffer, buffershape, buffersize);
        fn b2nd_copy_buffer(
            ndim: i8, itemsize: u8, src: *const c_void, src_pad_shape: *const i64,
            src_start: *const i64, src_stop: *const i64, dst: *mut c_void,
            dst_pad_shape: *const i64, dst_start: *const i64,
        ) -> c_int, -1 => nd::copy_buffer(
            (ndim, itemsize.into()),
            nd::Side { place: src, shape: src_pad_shape, start: src_start },
            src_stop,
            nd::Side { place: dst, shape: dst_pad_shape, start: dst_start },
        );
        fn b2nd_copy_buffer2(
            ndim: i8, itemsize: i32, src: *const c_void, src_pad_shape: *const i64,
            src_start: *const i64, src_stop: *const i64, dst: *mut c_void,
            dst_pad_shape: *const i64, dst_start: *const i64,
        ) -> c_int, -1 => nd::copy_buffer(
            (ndim, itemsize),
            nd::Side { place: src, shape: src_pad_shape, start: src_start },
            src_stop,
            nd::Side { place: dst, shape: dst_pad_shape, start: dst_start },
        );
        fn blosc2_unidim_to_multidim(ndim: u8, shape: *mut i64, i: i64, index: *mut i64),
            () => nd::unidim_to_multidim(ndim, shape, i, index);
        fn blosc2_multidim_to_unidim(
            index: *const i64, ndim: i8, strides: *const i64, i: *mut i64,
        ), () => nd::multidim_to_unidim(index, ndim, strides, i);
    }

    // Functions that C-Blosc2 2.23 lacks.
    #[cfg(not(feature = "soname-7"))]
    exports! {
        fn blosc2_getitem_bytes_ctx(
            ctx: *mut blosc2_context, src: *const c_void, srcsize: i32,
            start: i32, nbytes: i32, dest: *mut c_void, destsize: i32,
        ) -> c_int, -1 =>
            context::getitem_bytes(ctx, src, srcsize, (start, nbytes), dest, destsize);
        fn blosc2_vlcompress_ctx(
            ctx: *mut blosc2_context, srcs: *const *const c_void, srcsizes: *const i32,
            nblocks: i32,
            dest: *mut c_void, destsize: i32,
        ) -> c_int, -1 => context::vlcompress(ctx, srcs, srcsizes, nblocks, dest, destsize);
        fn blosc2_vldecompress_ctx(
            ctx: *mut blosc2_context, src: *const c_void, srcsize: i32,
            dests: *mut *mut c_void, destsizes: *mut i32, maxblocks: i32,
        ) -> c_int, -1 => context::vldecompress(ctx, src, srcsize, dests, destsizes, maxblocks);
        fn blosc2_vldecompress_block_ctx(
            ctx: *mut blosc2_context, src: *const c_void, srcsize: i32, nblock: i32,
            dest: *mut *mut u8, destsize: *mut i32,
        ) -> c_int, -1 => context::vldecompress_block(ctx, src, srcsize, nblock, dest, destsize);
        fn blosc2_vlchunk_get_nblocks(src: *const c_void, srcsize: i32, nblocks: *mut i32) -> c_int,
            -1 => context::vlchunk_get_nblocks(src, srcsize, nblocks);
    }
}

mod later {
    use super::*;

    absent! {
        fn b2nd_append() -> c_int, FAILURE;
        fn b2nd_concatenate() -> c_int, FAILURE;
        fn b2nd_copy() -> c_int, FAILURE;
        fn b2nd_delete() -> c_int, FAILURE;
        fn b2nd_deserialize_meta() -> c_int, FAILURE;
        fn b2nd_empty() -> c_int, FAILURE;
        fn b2nd_expand_dims() -> c_int, FAILURE;
        fn b2nd_full() -> c_int, FAILURE;
        fn b2nd_get_orthogonal_selection() -> c_int, FAILURE;
        fn b2nd_get_slice() -> c_int, FAILURE;
        fn b2nd_insert() -> c_int, FAILURE;
        fn b2nd_nans() -> c_int, FAILURE;
        fn b2nd_print_meta() -> c_int, FAILURE;
        fn b2nd_resize() -> c_int, FAILURE;
        fn b2nd_save() -> c_int, FAILURE;
        fn b2nd_save_append() -> i64, FAILURE.into();
        fn b2nd_serialize_meta() -> c_int, FAILURE;
        fn b2nd_set_orthogonal_selection() -> c_int, FAILURE;
        fn b2nd_set_slice_cbuffer() -> c_int, FAILURE;
        fn b2nd_squeeze() -> c_int, FAILURE;
        fn b2nd_squeeze_index() -> c_int, FAILURE;
        fn b2nd_uninit() -> c_int, FAILURE;
        fn b2nd_zeros() -> c_int, FAILURE;
        fn blosc2_frame_get_offsets() -> *mut c_void, ptr::null_mut();
        fn blosc2_get_io_cb() -> *mut c_void, ptr::null_mut();
        fn blosc2_get_slice_nchunks() -> i64, FAILURE.into();
        fn blosc2_meta_add() -> c_int, FAILURE;
        fn blosc2_meta_update() -> c_int, FAILURE;
        fn blosc2_register_codec() -> c_int, FAILURE;
        fn blosc2_register_filter() -> c_int, FAILURE;
        fn blosc2_register_io_cb() -> c_int, FAILURE;
        fn blosc2_register_tuner() -> c_int, FAILURE;
        fn blosc2_remove_dir() -> c_int, FAILURE;
        fn blosc2_remove_urlpath() -> c_int, FAILURE;
        fn blosc2_rename_urlpath() -> c_int, FAILURE;
        fn blosc2_schunk_append_chunk() -> i64, FAILURE.into();
        fn blosc2_schunk_append_file() -> i64, FAILURE.into();
        fn blosc2_schunk_copy() -> *mut c_void, ptr::null_mut();
        fn blosc2_schunk_decompress_chunk() -> c_int, FAILURE;
        fn blosc2_schunk_delete_chunk() -> i64, FAILURE.into();
        fn blosc2_schunk_fill_special() -> i64, FAILURE.into();
        fn blosc2_schunk_frame_len() -> i64, FAILURE.into();
        fn blosc2_schunk_get_chunk() -> c_int, FAILURE;
        fn blosc2_schunk_get_cparams() -> c_int, FAILURE;
        fn blosc2_schunk_get_dparams() -> c_int, FAILURE;
        fn blosc2_schunk_get_slice_buffer() -> c_int, FAILURE;
        fn blosc2_schunk_insert_chunk() -> i64, FAILURE.into();
        fn blosc2_schunk_open_offset_udio() -> *mut c_void, ptr::null_mut();
        fn blosc2_schunk_open_udio() -> *mut c_void, ptr::null_mut();
        fn blosc2_schunk_reorder_offsets() -> c_int, FAILURE;
        fn blosc2_schunk_set_slice_buffer() -> c_int, FAILURE;
        fn blosc2_schunk_to_file() -> i64, FAILURE.into();
        fn blosc2_schunk_update_chunk() -> i64, FAILURE.into();
        fn blosc2_set_threads_callback(), ();
        fn blosc2_stdio_close() -> c_int, FAILURE;
        fn blosc2_stdio_destroy() -> c_int, FAILURE;
        fn blosc2_stdio_mmap_close() -> c_int, FAILURE;
        fn blosc2_stdio_mmap_destroy() -> c_int, FAILURE;
        fn blosc2_stdio_mmap_open() -> *mut c_void, ptr::null_mut();
        fn blosc2_stdio_mmap_read() -> i64, FAILURE.into();
        fn blosc2_stdio_mmap_size() -> i64, FAILURE.into();
        fn blosc2_stdio_mmap_truncate() -> c_int, FAILURE;
        fn blosc2_stdio_mmap_write() -> i64, FAILURE.into();
        fn blosc2_stdio_open() -> *mut c_void, ptr::null_mut();
        fn blosc2_stdio_read() -> i64, FAILURE.into();
        fn blosc2_stdio_size() -> i64, FAILURE.into();
        fn blosc2_stdio_truncate() -> c_int, FAILURE;
        fn blosc2_stdio_write() -> i64, FAILURE.into();
        fn blosc2_vlmeta_add() -> c_int, FAILURE;
        fn blosc2_vlmeta_delete() -> c_int, FAILURE;
        fn blosc2_vlmeta_exists() -> c_int, FAILURE;
        fn blosc2_vlmeta_get() -> c_int, FAILURE;
        fn blosc2_vlmeta_get_names() -> c_int, FAILURE;
        fn blosc2_vlmeta_update() -> c_int, FAILURE;
        fn blosc_elapsed_nsecs() -> f64, 0.0;
        fn blosc_elapsed_secs() -> f64, 0.0;
        fn blosc_set_timestamp(), ();
    }

    // Functions that C-Blosc2 2.23 lacks.
    #[cfg(not(feature = "soname-7"))]
    absent! {
        fn b2nd_get_sparse_cbuffer() -> c_int, FAILURE;
        fn b2nd_refresh() -> c_int, FAILURE;
        fn blosc2_schunk_get_sparse_buffer() -> c_int, FAILURE;
        fn blosc2_schunk_get_vlblock() -> c_int, FAILURE;
        fn blosc2_schunk_lock() -> c_int, FAILURE;
        fn blosc2_schunk_refresh() -> c_int, FAILURE;
        fn blosc2_schunk_unlock() -> c_int, FAILURE;
    }
}

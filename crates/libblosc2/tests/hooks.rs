//! Functions of the client that make and change blocks.
#![allow(unsafe_code, reason = "functions that C would call")]

use core::ffi::c_int;
use core::slice;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::thread::{self, ThreadId};

use blosc_capi::types::{
    blosc2_cparams, blosc2_dparams, blosc2_postfilter_params, blosc2_prefilter_params,
};

use crate::library::{Blosc2, data};

/// Records the calls of the functions, and directs them.
#[derive(Default)]
struct Log {
    threads: Mutex<Vec<ThreadId>>,
    blocks: Mutex<Vec<(i32, i32, i32)>>,
    /// The block at which a call fails, counted from 1.
    fails_at: AtomicUsize,
}

impl Log {
    fn take(&self, nblock: i32, size: i32, offset: i32) -> c_int {
        self.threads.lock().unwrap().push(thread::current().id());
        self.blocks.lock().unwrap().push((nblock, size, offset));
        let fails_at = self.fails_at.load(Ordering::Relaxed);
        c_int::from(usize::try_from(nblock).unwrap() + 1 == fails_at) * -3
    }
}

unsafe extern "C" fn invert_before(params: *mut blosc2_prefilter_params) -> c_int {
    // SAFETY: the library passes valid arguments.
    let p = unsafe { &*params };
    let len = usize::try_from(p.output_size).unwrap();
    // SAFETY: the header says so.
    let output = unsafe { slice::from_raw_parts_mut(p.output, len) };
    assert!(output.iter().all(|byte| *byte == 0));
    // SAFETY: the header says so.
    let input = unsafe { slice::from_raw_parts(p.input, len) };
    output.iter_mut().zip(input).for_each(|(to, from)| *to = !from);
    // SAFETY: the memory is the thread's.
    unsafe { p.ttmp.write_bytes(7, p.ttmp_nbytes) };
    assert!(!p.ctx.is_null() && p.nchunk == -1);
    // SAFETY: the test passed a log.
    unsafe { &*p.user_data.cast::<Log>() }.take(p.nblock, p.output_size, p.output_offset)
}

unsafe extern "C" fn invert_after(params: *mut blosc2_postfilter_params) -> c_int {
    // SAFETY: the library passes valid arguments.
    let p = unsafe { &*params };
    let len = usize::try_from(p.size).unwrap();
    // SAFETY: the header says so.
    let output = unsafe { slice::from_raw_parts_mut(p.output, len) };
    // SAFETY: the header says so.
    let input = unsafe { slice::from_raw_parts(p.input, len) };
    output.iter_mut().zip(input).for_each(|(to, from)| *to = !from);
    // SAFETY: the memory is the thread's.
    unsafe { p.ttmp.write_bytes(7, p.ttmp_nbytes) };
    // SAFETY: the test passed a log.
    unsafe { &*p.user_data.cast::<Log>() }.take(p.nblock, p.size, p.offset)
}

fn blocks() -> Vec<(i32, i32, i32)> {
    (0..5).map(|n| (n, if n < 4 { 4096 } else { 3616 }, 4096 * n)).collect()
}

fn preparams(log: &Log) -> blosc2_prefilter_params {
    // SAFETY: all fields may be zeros.
    let zeros: blosc2_prefilter_params = unsafe { core::mem::zeroed() };
    blosc2_prefilter_params { user_data: (&raw const *log).cast_mut().cast(), ..zeros }
}

fn postparams(log: &Log) -> blosc2_postfilter_params {
    // SAFETY: all fields may be zeros.
    let zeros: blosc2_postfilter_params = unsafe { core::mem::zeroed() };
    blosc2_postfilter_params { user_data: (&raw const *log).cast_mut().cast(), ..zeros }
}

#[test]
fn a_prefilter_runs_once_for_each_block_and_alone_in_the_callers_thread() {
    let library = Blosc2::load();
    let (data, log) = (data(20_000), Log::default());
    let before: Vec<u8> = data.iter().map(|byte| !byte).collect();
    let mut params = preparams(&log);
    for (nthreads, clevel) in [(1, 5), (1, 0), (3, 5)] {
        let cparams = blosc2_cparams {
            prefilter: Some(invert_before),
            preparams: &raw mut params,
            typesize: 4,
            blocksize: 4096,
            nthreads,
            clevel,
            ..library.cparams()
        };
        let context = library.compressor(cparams);
        // The context has a copy.
        params = blosc2_prefilter_params { user_data: core::ptr::null_mut(), ..params };
        let chunk = context.compress(&before).unwrap();
        assert!(params.user_data.is_null());
        params = preparams(&log);
        let mut back = vec![0; 20_000];
        let decompressor = library.decompressor(library.dparams());
        assert_eq!(decompressor.decompress_into(&chunk, &mut back), 20_000);
        assert!(back == data);
        let mut seen = core::mem::take(&mut *log.blocks.lock().unwrap());
        seen.sort_unstable();
        assert_eq!(seen, blocks());
        let threads = core::mem::take(&mut *log.threads.lock().unwrap());
        assert!(nthreads > 1 || threads.iter().all(|id| *id == thread::current().id()));
        log.fails_at.store(3, Ordering::Relaxed);
        assert_eq!(context.compress(&before), Err(-18));
        log.fails_at.store(0, Ordering::Relaxed);
        log.blocks.lock().unwrap().clear();
        log.threads.lock().unwrap().clear();
    }
}

#[cfg(not(feature = "soname-7"))]
#[test]
fn what_a_prefilter_does_with_a_disposable_output_does_not_matter() {
    unsafe extern "C" fn fails(_: *mut blosc2_prefilter_params) -> c_int {
        1
    }
    let library = Blosc2::load();
    let log = Log::default();
    let mut params = blosc2_prefilter_params { output_is_disposable: 1, ..preparams(&log) };
    let cparams =
        blosc2_cparams { prefilter: Some(fails), preparams: &raw mut params, ..library.cparams() };
    let chunk = library.compressor(cparams).compress(&data(20_000)).unwrap();
    assert_eq!((chunk.len(), chunk[31]), (32, 0x10));
}

#[cfg(not(feature = "soname-7"))]
#[test]
fn a_disposable_block_that_is_skipped_leaves_the_others_if_data_are_stored() {
    unsafe extern "C" fn skips_one(params: *mut blosc2_prefilter_params) -> c_int {
        // SAFETY: the library passes valid arguments.
        let p = unsafe { &*params };
        let len = usize::try_from(p.output_size).unwrap();
        // SAFETY: the header says so.
        unsafe { p.output.write_bytes(5, len) };
        c_int::from(p.nblock == 1)
    }
    let library = Blosc2::load();
    let log = Log::default();
    for (clevel, nbytes) in [(0, 20_000), (5, 20)] {
        let mut params = blosc2_prefilter_params { output_is_disposable: 1, ..preparams(&log) };
        let cparams = blosc2_cparams {
            prefilter: Some(skips_one),
            preparams: &raw mut params,
            typesize: 4,
            blocksize: 4096,
            clevel,
            ..library.cparams()
        };
        let chunk = library.compressor(cparams).compress(&data(nbytes)).unwrap();
        let mut back = vec![9; nbytes];
        let decompressor = library.decompressor(library.dparams());
        assert_eq!(usize::try_from(decompressor.decompress_into(&chunk, &mut back)), Ok(nbytes));
        for (nblock, block) in back.chunks(4096).enumerate() {
            assert!(block.iter().all(|byte| *byte == if nblock == 1 { 0 } else { 5 }));
        }
    }
}

#[test]
fn a_postfilter_gets_whole_blocks_of_any_chunk() {
    let library = Blosc2::load();
    let (data, log) = (data(20_000), Log::default());
    let stored = blosc2_cparams { typesize: 4, blocksize: 4096, clevel: 0, ..library.cparams() };
    for chunk in [library.chunk(&data), library.compressor(stored).compress(&data).unwrap()] {
        let mut params = postparams(&log);
        let dparams = blosc2_dparams {
            postfilter: Some(invert_after),
            postparams: &raw mut params,
            ..library.dparams()
        };
        let context = library.decompressor(dparams);
        let mut back = vec![0; 20_000];
        assert_eq!(context.decompress_into(&chunk, &mut back), 20_000);
        assert!(back.iter().zip(&data).all(|(a, b)| *a == !*b));
        assert_eq!(core::mem::take(&mut *log.blocks.lock().unwrap()), blocks());
        let mut part = [0; 400];
        assert_eq!(context.items("blosc2_getitem_ctx", &chunk, (1000, 100), &mut part), 400);
        assert!(part.iter().zip(&data[4000..]).all(|(a, b)| *a == !*b));
        assert_eq!(core::mem::take(&mut *log.blocks.lock().unwrap()), blocks()[..2]);
        log.fails_at.store(2, Ordering::Relaxed);
        assert_eq!(context.decompress_into(&chunk, &mut back), -27);
        log.fails_at.store(0, Ordering::Relaxed);
        assert_eq!(context.mask(&[true, true, false, true, true]), 0);
        log.blocks.lock().unwrap().clear();
        assert_eq!(context.decompress_into(&chunk, &mut back), 20_000);
        assert_eq!(core::mem::take(&mut *log.blocks.lock().unwrap()), blocks()[2..3]);
    }
}

#[test]
fn a_function_may_use_its_own_context() {
    unsafe extern "C" fn decompresses(params: *mut blosc2_postfilter_params) -> c_int {
        // SAFETY: the library passes valid arguments.
        let p = unsafe { &*params };
        let library = Blosc2::load();
        let inner = core::mem::ManuallyDrop::new(library.at(p.ctx));
        inner.mask(&[true])
    }
    let library = Blosc2::load();
    let log = Log::default();
    let mut params = postparams(&log);
    let dparams = blosc2_dparams {
        postfilter: Some(decompresses),
        postparams: &raw mut params,
        ..library.dparams()
    };
    let chunk = library.chunk(&data(20_000));
    let context = library.decompressor(dparams);
    assert_eq!(context.decompress_into(&chunk, &mut [0; 20_000]), 20_000);
    // The mask from the function applies to this call, and does not fit.
    assert_eq!(context.decompress_into(&chunk, &mut [0; 20_000]), -3);
}

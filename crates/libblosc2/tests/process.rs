//! Calls without a context.
#![allow(unsafe_code, reason = "functions of a library that is loaded")]

use core::ffi::{CStr, c_char, c_int, c_void};

use blosc_capi::types::{blosc2_cparams, blosc2_dparams};

use crate::library::{Blosc2, data};

type Compress =
    unsafe extern "C" fn(c_int, c_int, i32, *const c_void, i32, *mut c_void, i32) -> c_int;
type Decompress = unsafe extern "C" fn(*const c_void, i32, *mut c_void, i32) -> c_int;
type SetCompressor = unsafe extern "C" fn(*const c_char) -> c_int;
type GetCompressor = unsafe extern "C" fn() -> *const c_char;

fn compress(library: &Blosc2, data: &[u8]) -> Vec<u8> {
    let mut dest = vec![0; data.len() + 32];
    let [from, to] = [data.len(), dest.len()].map(|len| i32::try_from(len).unwrap());
    let f = library.function::<Compress>("blosc2_compress");
    // SAFETY: both buffers are as long as it is told.
    let code = unsafe { f(5, 1, 4, data.as_ptr().cast(), from, dest.as_mut_ptr().cast(), to) };
    dest.truncate(usize::try_from(code).unwrap());
    dest
}

fn decompress(library: &Blosc2, chunk: &[u8], nbytes: usize) -> Vec<u8> {
    let mut dest = vec![0; nbytes];
    let [from, to] = [chunk.len(), nbytes].map(|len| i32::try_from(len).unwrap());
    let f = library.function::<Decompress>("blosc2_decompress");
    // SAFETY: both buffers are as long as it is told.
    let code = unsafe { f(chunk.as_ptr().cast(), from, dest.as_mut_ptr().cast(), to) };
    assert_eq!(usize::try_from(code), Ok(nbytes));
    dest
}

/// One test only, since the settings belong to the process.
#[test]
fn settings_hold_for_calls_without_a_context() {
    let library = Blosc2::load();
    let data = data(50_000);
    let set = library.function::<SetCompressor>("blosc1_set_compressor");
    let get = library.function::<GetCompressor>("blosc1_get_compressor");
    for (name, code, format) in
        [(c"lz4", 1, 1), (c"zstd", 5, 4), (c"zlib", 4, 3), (c"lz4hc", 2, 1), (c"blosclz", 0, 0)]
    {
        // SAFETY: a text.
        assert_eq!(unsafe { set(name.as_ptr()) }, code);
        // SAFETY: there is nothing to promise.
        let kept = unsafe { get() };
        // SAFETY: the text stays.
        assert_eq!(unsafe { CStr::from_ptr(kept) }, name);
        let chunk = compress(&library, &data);
        assert_eq!(chunk[2] >> 5, format);
        assert!(decompress(&library, &chunk, data.len()) == data);
    }
    for (name, code) in [(c"snappy", -1), (c"ndlz", -7), (c"", -1)] {
        // SAFETY: a text.
        assert_eq!(unsafe { set(name.as_ptr()) }, code);
    }
    let threads = library.function::<unsafe extern "C" fn(i16) -> i16>("blosc2_set_nthreads");
    // SAFETY: there is nothing to promise.
    assert_eq!([3, 0, -1, 1].map(|n| unsafe { threads(n) }), [1, -12, -12, 3]);
    let destroy = library.function::<unsafe extern "C" fn()>("blosc2_destroy");
    // SAFETY: there is nothing to promise.
    unsafe { destroy() };
    let chunk = compress(&library, &data);
    blosc_testdata::in_child(|| {
        assert!(decompress(&library, &chunk, data.len()) == data);
        assert!(compress(&library, &data) == chunk);
    });
}

#[test]
fn a_child_goes_on_with_super_chunks_of_its_parent() {
    let library = Blosc2::load();
    let schunk = library.schunk(true);
    assert_eq!(schunk.append(&data(20_000)), 1);
    let frame = schunk.frame().unwrap().bytes;
    blosc_testdata::in_child(|| {
        assert_eq!(schunk.frame().unwrap().bytes, frame);
        assert_eq!(schunk.append(&data(20_000)), 2);
        assert_eq!(schunk.read(1, 20_000), data(20_000));
        let own = library.schunk(false);
        assert_eq!(own.append(&data(500)), 1);
    });
    assert_eq!(schunk.fields().nchunks, 1);
}

/// The number in the line of `/proc/self/status` that begins so.
fn status(name: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// In a separate process, which has one thread.
#[test]
fn threads_end_with_the_last_context() {
    let library = Blosc2::load();
    let data = data(4_000_000);
    blosc_testdata::in_child(|| {
        let params = blosc2_cparams { typesize: 4, nthreads: 3, ..library.cparams() };
        let (first, second) = (library.compressor(params), library.compressor(params));
        let chunk = first.compress(&data).unwrap();
        drop(second);
        assert!(status("Threads:") > 1);
        drop(first);
        // Threads without work would end after two seconds.
        let start = std::time::Instant::now();
        while status("Threads:") > 1 {
            assert!(start.elapsed().as_millis() < 1500);
            std::thread::yield_now();
        }
        let reader = library.decompressor(blosc2_dparams { nthreads: 3, ..library.dparams() });
        assert_eq!(reader.decompress_into(&chunk, &mut vec![0; data.len()]), 4_000_000);
    });
}

/// The limit of the address space.
#[repr(C)]
struct Limit {
    now: u64,
    most: u64,
}

unsafe extern "C" {
    fn setrlimit(resource: c_int, limit: *const Limit) -> c_int;
}

/// `RLIMIT_AS` of Linux.
const ADDRESS_SPACE: c_int = 9;

/// Each in a separate process, whose memory is limited. Blocks are longer than any memory that C's
/// allocator keeps for reuse.
#[test]
fn no_memory_is_a_code() {
    let library = Blosc2::load();
    let data = data(80_000_000);
    let chunk = {
        let params = blosc2_cparams { typesize: 4, blocksize: 72_000_000, ..library.cparams() };
        library.compressor(params).compress(&data).unwrap()
    };
    let (mut to, mut back) = (vec![0; data.len() + 32], vec![0; data.len()]);
    for nthreads in [1, 2] {
        blosc_testdata::in_child(|| {
            let params = blosc2_cparams {
                compcode: 1,
                typesize: 4,
                blocksize: 72_000_000,
                nthreads,
                ..library.cparams()
            };
            let compressor = library.compressor(params);
            let reader = library.decompressor(blosc2_dparams { nthreads, ..library.dparams() });
            let most = (status("VmSize:") << 10) + 4_000_000;
            let limit = Limit { now: most, most };
            // SAFETY: the limit can be read.
            let code = unsafe { setrlimit(ADDRESS_SPACE, &raw const limit) };
            assert_eq!(code, 0);
            assert_eq!(compressor.compress_into(&data, &mut to), -4);
            assert_eq!(reader.decompress_into(&chunk, &mut back), -4);
        });
    }
}

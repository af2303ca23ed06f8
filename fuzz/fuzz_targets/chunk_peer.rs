//! Chunks of `blosc-chunk` through libblosc2, and the reverse. `BLOSC2_LIBRARY` names the library;
//! without one, only `blosc-chunk` runs.
#![no_main]

use core::ffi::{CStr, c_char, c_int, c_void};
use std::{ffi::CString, sync::LazyLock};

use blosc_chunk::{compress, decompress};
use libfuzzer_sys::fuzz_target;

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

const RTLD_NOW: c_int = 2;

type Compress = unsafe extern "C" fn(c_int, c_int, i32, *const u8, i32, *mut u8, i32) -> c_int;
type Decompress = unsafe extern "C" fn(*const u8, i32, *mut u8, i32) -> c_int;
type SetCompressor = unsafe extern "C" fn(*const c_char) -> c_int;

/// Functions of libblosc2 that use the state of the process; libFuzzer calls from one thread.
struct Peer {
    compress: Compress,
    decompress: Decompress,
    set_compressor: SetCompressor,
}

static PEER: LazyLock<Option<Peer>> = LazyLock::new(|| {
    let path = CString::new(std::env::var("BLOSC2_LIBRARY").ok()?).ok()?;
    // SAFETY: the path and the names end with NUL; the signatures are those of `blosc2.h`.
    unsafe {
        let library = dlopen(path.as_ptr(), RTLD_NOW);
        assert!(!library.is_null(), "{path:?}");
        let find = |name: &CStr| {
            let symbol = dlsym(library, name.as_ptr());
            assert!(!symbol.is_null(), "{name:?}");
            symbol
        };
        let init: unsafe extern "C" fn() = core::mem::transmute(find(c"blosc2_init"));
        init();
        Some(Peer {
            compress: core::mem::transmute::<*mut c_void, Compress>(find(c"blosc2_compress")),
            decompress: core::mem::transmute::<*mut c_void, Decompress>(find(c"blosc2_decompress")),
            set_compressor: core::mem::transmute::<*mut c_void, SetCompressor>(find(
                c"blosc1_set_compressor",
            )),
        })
    }
});

fuzz_target!(|data: &[u8]| {
    let mut rest = data;
    let Some(params) = blosc_fuzz::cparams(&mut rest) else { return };
    let ours = compress(rest, &params).expect("checked parameters");
    assert_eq!(decompress(&ours).expect("our own chunk"), rest);
    let Some(peer) = PEER.as_ref() else { return };
    let mut found = vec![0; rest.len()];
    // SAFETY: both buffers are as long as is said.
    let len = unsafe {
        let (from, to) = (ours.as_ptr(), found.as_mut_ptr());
        (peer.decompress)(from, ours.len() as i32, to, found.len() as i32)
    };
    assert_eq!(len, rest.len() as c_int, "libblosc2 on our chunk");
    assert_eq!(found, rest, "libblosc2 on our chunk");
    let mut theirs = vec![0; rest.len() + 32];
    let names = [c"blosclz", c"lz4", c"lz4hc", c"zlib", c"zstd"];
    let name = names[data.len() % names.len()];
    let shuffle = c_int::from(data.first().copied().unwrap_or(0) % 3);
    let level = c_int::from(data.get(1).copied().unwrap_or(0) % 10);
    // SAFETY: as above.
    let len = unsafe {
        assert!((peer.set_compressor)(name.as_ptr()) >= 0);
        let typesize = params.typesize as i32;
        let (from, to) = (rest.as_ptr(), theirs.as_mut_ptr());
        (peer.compress)(level, shuffle, typesize, from, rest.len() as i32, to, theirs.len() as i32)
    };
    assert!(len > 0, "{name:?} gives {len}");
    theirs.truncate(len as usize);
    assert_eq!(decompress(&theirs).expect("a chunk of libblosc2"), rest);
});

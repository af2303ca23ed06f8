//! The exported names, and the results of unimplemented functions.
#![allow(unsafe_code, reason = "functions of a library that is loaded")]

use core::ffi::{CStr, c_char, c_int, c_void};

use crate::library::Blosc2;

/// The names that C-Blosc2 3.3.5 exports.
const NAMES: &str = include_str!("names.txt");
/// The names that are newer than 2.23.
const LATER: [&str; 12] = [
    "b2nd_get_sparse_cbuffer",
    "b2nd_refresh",
    "blosc2_getitem_bytes_ctx",
    "blosc2_schunk_get_sparse_buffer",
    "blosc2_schunk_get_vlblock",
    "blosc2_schunk_lock",
    "blosc2_schunk_refresh",
    "blosc2_schunk_unlock",
    "blosc2_vlchunk_get_nblocks",
    "blosc2_vlcompress_ctx",
    "blosc2_vldecompress_block_ctx",
    "blosc2_vldecompress_ctx",
];

#[test]
fn all_names_of_the_original_are_there() {
    let library = Blosc2::load();
    let is_7 = cfg!(feature = "soname-7");
    let is_due = |name: &&str| !(is_7 && LATER.contains(name));
    assert_eq!(NAMES.lines().filter(is_due).count(), if is_7 { 152 } else { 164 });
    for name in NAMES.lines() {
        assert_eq!(library.has(name), is_due(&name), "{name}");
    }
}

#[test]
fn a_function_that_is_not_done_is_a_failure() {
    type Copy = unsafe extern "C" fn(*mut c_void, *mut c_void) -> *mut c_void;
    type Remove = unsafe extern "C" fn(*const c_char) -> c_int;
    let library = Blosc2::load();
    let null = core::ptr::null_mut();
    // SAFETY: these functions look at none of their arguments.
    let copied = unsafe { library.function::<Copy>("blosc2_schunk_copy")(null, null) };
    assert!(copied.is_null());
    // SAFETY: the same.
    let code = unsafe { library.function::<Remove>("blosc2_remove_dir")(c"nowhere".as_ptr()) };
    assert_eq!(code, -1);
}

#[test]
fn texts_are_those_of_the_release() {
    type Text = unsafe extern "C" fn() -> *const c_char;
    let library = Blosc2::load();
    let text = |name: &str| {
        // SAFETY: there is nothing to promise.
        let text = unsafe { library.function::<Text>(name)() };
        // SAFETY: the functions return texts that stay.
        unsafe { CStr::from_ptr(text) }
    };
    let version = if cfg!(feature = "soname-7") { c"2.23.1" } else { c"3.3.5" };
    assert_eq!(text("blosc2_get_version_string"), version);
    assert_eq!(text("blosc2_list_compressors"), c"blosclz,lz4,lz4hc,zlib,zstd");
    let error =
        library.function::<unsafe extern "C" fn(c_int) -> *const c_char>("blosc2_error_string");
    // SAFETY: there is nothing to promise.
    let text = unsafe { error(-11) };
    // SAFETY: the text stays.
    assert_eq!(unsafe { CStr::from_ptr(text) }, c"Invalid value in header");
}

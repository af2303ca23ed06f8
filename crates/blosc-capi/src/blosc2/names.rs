//! The names and numbers of codecs.
#![allow(unsafe_code, reason = "texts come from C and go there")]

use core::ffi::{CStr, c_char, c_int};
use core::ptr;

use crate::guard;

/// The release of C-Blosc2 that this library replaces.
pub const VERSION: &CStr = if cfg!(feature = "soname-7") { c"2.23.1" } else { c"3.3.5" };
/// The names of the codecs that are no plugins.
pub const LIST: &CStr = c"blosclz,lz4,lz4hc,zlib,zstd";
/// The number of the first plugin.
pub(super) const FIRST_PLUGIN: c_int = 32;

/// Each codec: its number, the number of its format, its name, and the name of its library.
const CODECS: [(c_int, c_int, &CStr, &CStr); 14] = [
    (0, 0, c"blosclz", c"BloscLZ"),
    (1, 1, c"lz4", c"LZ4"),
    (2, 1, c"lz4hc", c"LZ4"),
    (4, 3, c"zlib", c"Zlib"),
    (5, 4, c"zstd", c"Zstd"),
    (32, 32, c"ndlz", c"ndlz"),
    (33, 33, c"zfp_acc", c"zfp_acc"),
    (34, 34, c"zfp_prec", c"zfp_prec"),
    (35, 35, c"zfp_rate", c"zfp_rate"),
    (36, 36, c"openhtj2k", c"openhtj2k"),
    (37, 37, c"grok", c"grok"),
    (38, 38, c"openzl", c"openzl"),
    (39, 39, c"j2k", c"j2k"),
    (40, 40, c"htj2k", c"htj2k"),
];
/// The codecs are parts of this library, and have its version.
const OWN_VERSION: &CStr = own_version();

const fn own_version() -> &'static CStr {
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    }
}

/// The name of the codec with this number.
pub(super) fn name(compcode: c_int) -> Option<&'static CStr> {
    CODECS.iter().find(|codec| codec.0 == compcode).map(|codec| codec.2)
}

/// The number of the codec with this name; -1 for other names.
pub(super) fn compcode(wanted: &[u8]) -> c_int {
    CODECS.iter().find(|codec| codec.2.to_bytes() == wanted).map_or(-1, |codec| codec.0)
}

/// The library of a format.
pub(super) fn library(format: c_int) -> Option<&'static CStr> {
    CODECS.iter().find(|codec| codec.1 == format).map(|codec| codec.3)
}

/// Writes the name of a codec, or NULL if there is none; returns its number, or -1.
///
/// # Safety
///
/// `compname` is NULL or can be written to.
pub unsafe fn compcode_to_compname(code: c_int, compname: *mut *const c_char) -> c_int {
    let found = name(code);
    // SAFETY: the caller promises it.
    unsafe { guard::put_out(compname, found.map_or(ptr::null(), CStr::as_ptr)) };
    if found.is_some() { code } else { -1 }
}

/// The number of a codec, or -1.
///
/// # Safety
///
/// `compname` is NULL or a text.
pub unsafe fn compname_to_compcode(compname: *const c_char) -> c_int {
    // SAFETY: the caller promises it.
    unsafe { guard::text(compname) }.map_or(-1, |name| compcode(name.to_bytes()))
}

/// Writes the name and version of a codec's library, which the caller frees; returns the number of
/// its format, or -1.
///
/// # Safety
///
/// `compname` is NULL or a text; the others are NULL or can be written to.
pub unsafe fn get_complib_info(
    compname: *const c_char,
    complib: *mut *mut c_char,
    version: *mut *mut c_char,
) -> c_int {
    // SAFETY: the caller promises it.
    let code = unsafe { compname_to_compcode(compname) };
    let found = CODECS.iter().find(|codec| codec.0 == code);
    // SAFETY: the caller promises it.
    unsafe { put_copy(complib, found.map(|codec| codec.3)) };
    // SAFETY: the caller promises it.
    unsafe { put_copy(version, found.map(|_| OWN_VERSION)) };
    found.map_or(-1, |codec| codec.1)
}

/// # Safety
///
/// `out` is NULL or can be written to.
unsafe fn put_copy(out: *mut *mut c_char, text: Option<&CStr>) {
    if !out.is_null() {
        // SAFETY: `strdup` copies a text.
        let copy = text.map_or(ptr::null_mut(), |text| unsafe { libc::strdup(text.as_ptr()) });
        // SAFETY: the caller promises it.
        unsafe { guard::put_out(out, copy) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_those_of_the_codecs() {
        for (code, format, text, _) in CODECS {
            let id = blosc_codecs::CodecId(u8::try_from(code).unwrap());
            assert_eq!(id.name(), text.to_str().ok());
            assert!(code >= FIRST_PLUGIN || c_int::from(id.format().0) == format);
            assert_eq!((name(code), compcode(text.to_bytes())), (Some(text), code));
        }
        assert_eq!([&b"snappy"[..], b"", b"LZ4"].map(compcode), [-1; 3]);
        assert_eq!([-1, 3, 6, 41, 160].map(name), [None; 5]);
    }
}

//! The names and numbers of codecs.
#![allow(unsafe_code, reason = "texts come from C and go there")]

use core::ffi::{CStr, c_char, c_int};
use core::ptr;

use blosc_codecs::CodecId;

use crate::codes::FAILURE;
use crate::guard;

/// The release of C-Blosc that this library replaces.
pub const VERSION: &CStr = c"1.21.6";
/// The names of all codecs.
pub const LIST: &CStr = c"blosclz,lz4,lz4hc,snappy,zlib,zstd";
/// The codecs are parts of this library, and have its version.
const OWN_VERSION: &CStr = version();

const fn version() -> &'static CStr {
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    }
}

/// In the order of their numbers: the name, and the name of the library that C-Blosc uses for the
/// codec. Each format has one library.
const NAMES: [(&CStr, &CStr); 6] = [
    (c"blosclz", c"BloscLZ"),
    (c"lz4", c"LZ4"),
    (c"lz4hc", c"LZ4"),
    (c"snappy", c"Snappy"),
    (c"zlib", c"Zlib"),
    (c"zstd", c"Zstd"),
];

/// The name of the codec with this number.
pub(super) fn name(compcode: c_int) -> Option<&'static CStr> {
    let at = usize::try_from(compcode).ok()?;
    NAMES.get(at).map(|(name, _)| *name)
}

/// The codec with this number.
pub(super) fn codec(compcode: c_int) -> Option<CodecId> {
    name(compcode)?;
    u8::try_from(compcode).ok().map(CodecId)
}

/// The number of the codec with this name; -1 for other names.
pub(super) fn compcode(wanted: &[u8]) -> c_int {
    let found = (0..).zip(NAMES).find(|(_, (name, _))| name.to_bytes() == wanted);
    found.map_or(FAILURE, |(compcode, _)| compcode)
}

/// The library of a format, by the number in the flags of a chunk.
pub(super) fn library(format: u8) -> Option<&'static CStr> {
    let mut codecs = (0..).map(CodecId).zip(NAMES);
    codecs.find(|(id, _)| id.format().0 == format).map(|(_, (_, library))| library)
}

/// Writes the name of the codec with this number and returns the number; NULL and -1 for others.
///
/// # Safety
///
/// `compname` is NULL or can be written to.
pub unsafe fn compcode_to_compname(compcode: c_int, compname: *mut *const c_char) -> c_int {
    let name = name(compcode);
    // SAFETY: as the caller promises.
    unsafe { guard::put_out(compname, name.map_or(ptr::null(), CStr::as_ptr)) };
    if name.is_some() { compcode } else { FAILURE }
}

/// The number of the codec with this name; -1 for other names.
///
/// # Safety
///
/// `compname` is NULL or a text.
pub unsafe fn compname_to_compcode(compname: *const c_char) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { guard::text(compname) }.map_or(FAILURE, |name| compcode(name.to_bytes()))
}

/// Returns the number of a codec's format, and writes the name and version of its library, which
/// the caller gives to `free`; -1 and NULL for unknown names.
///
/// # Safety
///
/// `compname` is NULL or a text; the others are NULL or can be written to.
pub unsafe fn get_complib_info(
    compname: *const c_char,
    complib: *mut *mut c_char,
    version: *mut *mut c_char,
) -> c_int {
    // SAFETY: as the caller promises.
    let compcode = unsafe { compname_to_compcode(compname) };
    let found = codec(compcode).map(CodecId::format);
    let library = found.and_then(|format| library(format.0));
    // SAFETY: as the caller promises.
    unsafe { put_copy(complib, library) };
    // SAFETY: as the caller promises.
    unsafe { put_copy(version, library.map(|_| OWN_VERSION)) };
    found.map_or(FAILURE, |format| format.0.into())
}

/// Writes a copy that the caller gives to `free`, or NULL.
///
/// # Safety
///
/// `out` is NULL or can be written to.
unsafe fn put_copy(out: *mut *mut c_char, text: Option<&CStr>) {
    if out.is_null() {
        return;
    }
    // SAFETY: `strdup` copies a text.
    let copy = text.map_or(ptr::null_mut(), |text| unsafe { libc::strdup(text.as_ptr()) });
    // SAFETY: as the caller promises.
    unsafe { guard::put_out(out, copy) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_the_order_of_their_numbers() {
        for (n, (text, library_name)) in (0..).zip(NAMES) {
            let id = CodecId(u8::try_from(n).unwrap());
            assert_eq!(id.name(), text.to_str().ok());
            assert_eq!((name(n), compcode(text.to_bytes())), (Some(text), n));
            assert_eq!(library(id.format().0), Some(library_name));
        }
        let names: Vec<&str> = NAMES.iter().map(|(name, _)| name.to_str().unwrap()).collect();
        assert_eq!(names.join(","), LIST.to_str().unwrap());
    }

    #[test]
    fn unknown_names_and_numbers_are_minus_one() {
        assert_eq!([&b"LZ4"[..], b"", b"ndlz"].map(compcode), [-1; 3]);
        assert_eq!([-1, 6, 32].map(name), [None; 3]);
        assert_eq!([5, 6, 7].map(library), [None; 3]);
        let mut text = c"unset".as_ptr();
        // SAFETY: the place is a local one.
        assert_eq!(unsafe { compcode_to_compname(9, &raw mut text) }, -1);
        assert!(text.is_null());
        // SAFETY: NULL is allowed.
        assert_eq!(unsafe { compname_to_compcode(ptr::null()) }, -1);
    }

    #[test]
    fn what_is_handed_over_is_freed_by_the_caller() {
        let (mut library, mut version) = (ptr::null_mut(), ptr::null_mut());
        let (library_out, version_out) = (&raw mut library, &raw mut version);
        // SAFETY: the places are local ones.
        let code = unsafe { get_complib_info(c"lz4hc".as_ptr(), library_out, version_out) };
        assert_eq!(code, 1);
        // SAFETY: it was just written.
        assert_eq!(unsafe { guard::text(library) }, Some(c"LZ4"));
        for text in [library, version] {
            // SAFETY: C's allocator made it.
            unsafe { libc::free(text.cast()) };
        }
        // SAFETY: NULL is allowed.
        let code = unsafe { get_complib_info(c"zstd".as_ptr(), ptr::null_mut(), ptr::null_mut()) };
        assert_eq!(code, 4);
        // SAFETY: the place is a local one.
        let code = unsafe { get_complib_info(c"no".as_ptr(), &raw mut library, ptr::null_mut()) };
        assert_eq!((code, library.is_null()), (-1, true));
    }
}

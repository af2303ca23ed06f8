//! Any bytes read as the header of a `.npy` file; a parsed header is written and has the same
//! meaning.
#![no_main]

use blosc_dtype::npy::{NpyHeader, header_len};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(header) = NpyHeader::parse(bytes) else { return };
    assert_eq!(header_len(bytes), Ok(header.len));
    let Some(written) = header.to_bytes() else { return };
    assert_eq!(written.len() % 64, 0);
    let again = NpyHeader::parse(&written).expect("a header that was just written");
    assert_eq!((again.shape, again.fortran_order), (header.shape, header.fortran_order));
    assert_eq!(again.dtype.itemsize(), header.dtype.itemsize());
    assert_eq!(again.dtype.descr(), header.dtype.descr());
});

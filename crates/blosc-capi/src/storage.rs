//! The default storage of super-chunks.

use core::ptr;

use crate::types::{blosc2_io, blosc2_stdio_mmap, blosc2_storage};

/// In memory, chunk by chunk.
pub const STORAGE_DEFAULTS: blosc2_storage = blosc2_storage {
    contiguous: 0,
    urlpath: ptr::null_mut(),
    cparams: ptr::null_mut(),
    dparams: ptr::null_mut(),
    io: ptr::null_mut(),
};

/// The files of the system.
pub const IO_DEFAULTS: blosc2_io =
    blosc2_io { id: 0, name: c"filesystem".as_ptr(), params: ptr::null_mut() };

/// A file that is mapped for reading.
pub const MMAP_DEFAULTS: blosc2_stdio_mmap = blosc2_stdio_mmap {
    mode: c"r".as_ptr(),
    initial_mapping_size: 1 << 30,
    needs_free: 0,
    addr: ptr::null_mut(),
    urlpath: ptr::null_mut(),
    file_size: 0,
    mapping_size: 0,
    is_memory_only: 0,
    file: ptr::null_mut(),
    fd: -1,
    access_flags: -1,
    map_flags: -1,
};

//! The structs that C code shares with the library, as its header declares them.
//!
//! C-Blosc2 2.23 (`libblosc2.so.7`) has fewer fields than 3.3 (`libblosc2.so.9`), and so other
//! offsets after them: the feature `soname-7` selects the older layout. All code names fields, so
//! it is the same for both. A client may write to a struct at any time: code accesses it through
//! its pointer, field by field, never through a reference.
#![allow(non_camel_case_types, reason = "the names of the header")]

use core::ffi::{c_char, c_int, c_void};

use crate::context::blosc2_context;

/// Number of filters in a chunk header.
pub const MAX_FILTERS: usize = 6;
/// Most metalayers of a super-chunk.
pub const MAX_METALAYERS: usize = 16;
/// Most metalayers of variable length of a super-chunk.
pub const MAX_VLMETALAYERS: usize = 8192;
/// Most dimensions of an array.
pub const MAX_DIM: usize = 16;

/// A function that makes the data of a block.
pub type blosc2_prefilter_fn = Option<unsafe extern "C" fn(*mut blosc2_prefilter_params) -> c_int>;
/// A function that changes the data of a block.
pub type blosc2_postfilter_fn =
    Option<unsafe extern "C" fn(*mut blosc2_postfilter_params) -> c_int>;

/// Declares structs of the header, and lists the names and offsets of their fields.
macro_rules! c_structs {
    ($( $(#[$doc:meta])* pub struct $Name:ident {
        $( $(#[$field_doc:meta])* pub $field:ident: $Type:ty, )+
    } )+) => { $(
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct $Name { $( $(#[$field_doc])* pub $field: $Type, )+ }
    )+
    /// Each struct with its size, and its fields with their offsets (bytes).
    #[must_use]
    #[allow(unused_doc_comments, reason = "a `cfg` of a field comes with its text")]
    pub fn layouts() -> Vec<(&'static str, usize, Vec<(&'static str, usize)>)> {
        vec![ $( (
            stringify!($Name),
            size_of::<$Name>(),
            fields!($Name, $( $(#[$field_doc])* $field ),+),
        ) ),+ ]
    }
    };
}

/// The fields of a struct with their offsets; a `cfg` of a field holds here as well.
macro_rules! fields {
    ($Name:ident, $( $(#[$attribute:meta])* $field:ident ),+) => {
        vec![ $( $(#[$attribute])* (stringify!($field), core::mem::offset_of!($Name, $field)) ),+ ]
    };
}

c_structs! {
    /// The parameters of compressing.
    pub struct blosc2_cparams {
        /// The codec.
        pub compcode: u8,
        /// Its parameter.
        pub compcode_meta: u8,
        /// The level, 0 to 9.
        pub clevel: u8,
        /// Whether the blocks of a chunk share a dictionary.
        pub use_dict: c_int,
        /// Bytes of an item.
        pub typesize: i32,
        /// Threads inside one chunk.
        pub nthreads: i16,
        /// Bytes of a block; 0 for the automatic choice.
        pub blocksize: i32,
        /// When blocks are split.
        pub splitmode: i32,
        /// The super-chunk that the chunks are for.
        pub schunk: *mut c_void,
        /// The filters, in the order of encoding.
        pub filters: [u8; MAX_FILTERS],
        /// Their parameters.
        pub filters_meta: [u8; MAX_FILTERS],
        /// A function that makes the data.
        pub prefilter: blosc2_prefilter_fn,
        /// Its parameters.
        pub preparams: *mut blosc2_prefilter_params,
        /// Parameters of a tuner.
        pub tuner_params: *mut c_void,
        /// The tuner.
        pub tuner_id: c_int,
        /// Whether statistics replace the data (a `bool`).
        pub instr_codec: u8,
        /// Parameters of a codec of the client.
        pub codec_params: *mut c_void,
        /// Parameters of filters of the client.
        pub filter_params: [*mut c_void; MAX_FILTERS],
    }

    /// The parameters of decompressing.
    pub struct blosc2_dparams {
        /// Threads inside one chunk.
        pub nthreads: i16,
        /// The super-chunk that the chunks come from.
        pub schunk: *mut c_void,
        /// A function that changes the data.
        pub postfilter: blosc2_postfilter_fn,
        /// Its parameters.
        pub postparams: *mut blosc2_postfilter_params,
        /// Bytes of an item.
        #[cfg(not(feature = "soname-7"))]
        pub typesize: i32,
    }

    /// The arguments of a prefilter.
    pub struct blosc2_prefilter_params {
        /// For the client.
        pub user_data: *mut c_void,
        /// The block of the source.
        pub input: *const u8,
        /// The destination of the block.
        pub output: *mut u8,
        /// Bytes that the prefilter writes.
        pub output_size: i32,
        /// Bytes of an item that it writes; 0 for those of the source.
        pub output_typesize: i32,
        /// Where the block starts in the data of the chunk (bytes).
        pub output_offset: i32,
        /// The number of the chunk; -1 if there is no super-chunk.
        pub nchunk: i64,
        /// The number of the block.
        pub nblock: i32,
        /// The number of the thread.
        pub tid: i32,
        /// Memory of the thread.
        pub ttmp: *mut u8,
        /// Its length (bytes).
        pub ttmp_nbytes: usize,
        /// The context that compresses.
        pub ctx: *mut blosc2_context,
        /// Whether the output is unused: the block is zeros (a `bool`).
        #[cfg(not(feature = "soname-7"))]
        pub output_is_disposable: u8,
    }

    /// The arguments of a postfilter.
    pub struct blosc2_postfilter_params {
        /// For the client.
        pub user_data: *mut c_void,
        /// The decoded block.
        pub input: *const u8,
        /// The destination of the changed block.
        pub output: *mut u8,
        /// Bytes of the block.
        pub size: i32,
        /// Bytes of an item.
        pub typesize: i32,
        /// Where the block starts in the data of the chunk (bytes).
        pub offset: i32,
        /// The number of the chunk; -1 if there is no super-chunk.
        pub nchunk: i64,
        /// The number of the block.
        pub nblock: i32,
        /// The number of the thread.
        pub tid: i32,
        /// Memory of the thread.
        pub ttmp: *mut u8,
        /// Its length (bytes).
        pub ttmp_nbytes: usize,
        /// The context that decompresses.
        pub ctx: *mut blosc2_context,
    }

    /// The functions that read and write the file of a super-chunk.
    pub struct blosc2_io {
        /// Its number.
        pub id: u8,
        /// Its name.
        pub name: *const c_char,
        /// Its parameters.
        pub params: *mut c_void,
    }

    /// The storage of a super-chunk.
    pub struct blosc2_storage {
        /// Whether it is one buffer or file (a `bool`).
        pub contiguous: u8,
        /// The path; NULL for memory.
        pub urlpath: *mut c_char,
        /// The parameters of compressing.
        pub cparams: *mut blosc2_cparams,
        /// The parameters of decompressing.
        pub dparams: *mut blosc2_dparams,
        /// The functions that read and write.
        pub io: *mut blosc2_io,
    }

    /// A metalayer.
    pub struct blosc2_metalayer {
        /// Its name.
        pub name: *mut c_char,
        /// Its bytes.
        pub content: *mut u8,
        /// Number of its bytes.
        pub content_len: i32,
    }

    /// Many chunks, with metadata.
    pub struct blosc2_schunk {
        /// The version of the format.
        pub version: u8,
        /// The codec.
        pub compcode: u8,
        /// Its parameter.
        pub compcode_meta: u8,
        /// The level.
        pub clevel: u8,
        /// When blocks are split.
        pub splitmode: u8,
        /// Bytes of an item.
        pub typesize: i32,
        /// Bytes of a block.
        pub blocksize: i32,
        /// Bytes of data in a chunk.
        pub chunksize: i32,
        /// More flags.
        #[cfg(not(feature = "soname-7"))]
        pub flags2: u8,
        /// Whether chunks have dictionaries.
        #[cfg(not(feature = "soname-7"))]
        pub use_dict: u8,
        /// The filters.
        pub filters: [u8; MAX_FILTERS],
        /// Their parameters.
        pub filters_meta: [u8; MAX_FILTERS],
        /// Number of chunks.
        pub nchunks: i64,
        /// The number of the chunk in use.
        pub current_nchunk: i64,
        /// Bytes of data.
        pub nbytes: i64,
        /// Bytes of the compressed data.
        pub cbytes: i64,
        /// The chunks, if they are in memory.
        pub data: *mut *mut u8,
        /// The length of that table (bytes).
        pub data_len: usize,
        /// Its storage.
        pub storage: *mut blosc2_storage,
        /// The frame, if there is one.
        pub frame: *mut c_void,
        /// The context that compresses.
        pub cctx: *mut blosc2_context,
        /// The context that decompresses.
        pub dctx: *mut blosc2_context,
        /// Metalayers of fixed length.
        pub metalayers: [*mut blosc2_metalayer; MAX_METALAYERS],
        /// Number of these metalayers.
        pub nmetalayers: u16,
        /// Metalayers of variable length.
        pub vlmetalayers: [*mut blosc2_metalayer; MAX_VLMETALAYERS],
        /// Number of these metalayers.
        pub nvlmetalayers: i16,
        /// Parameters of a tuner.
        pub tuner_params: *mut c_void,
        /// The tuner.
        pub tuner_id: c_int,
        /// Dimensions of an array.
        pub ndim: i8,
        /// Its blocks.
        pub blockshape: *mut i64,
        /// Whether data and frame belong to another super-chunk (a `bool`).
        pub view: u8,
        /// A number that each change raises.
        #[cfg(not(feature = "soname-7"))]
        pub change_tick: u64,
    }

    /// The chunk of an array that was read last.
    pub struct chunk_cache_s {
        /// Its data.
        pub data: *mut u8,
        /// Its number.
        pub nchunk: i64,
    }

    /// An array.
    pub struct b2nd_array_t {
        /// Its chunks.
        pub sc: *mut blosc2_schunk,
        /// Items per dimension.
        pub shape: [i64; MAX_DIM],
        /// Items of a chunk per dimension.
        pub chunkshape: [i32; MAX_DIM],
        /// Items of whole chunks per dimension.
        pub extshape: [i64; MAX_DIM],
        /// Items of a block per dimension.
        pub blockshape: [i32; MAX_DIM],
        /// Items of whole blocks of a chunk per dimension.
        pub extchunkshape: [i64; MAX_DIM],
        /// Number of items.
        pub nitems: i64,
        /// Number of items of a chunk.
        pub chunknitems: i32,
        /// Number of items of whole chunks.
        pub extnitems: i64,
        /// Number of items of a block.
        pub blocknitems: i32,
        /// Number of items of whole blocks of a chunk.
        pub extchunknitems: i64,
        /// Number of dimensions.
        pub ndim: i8,
        /// The chunk that was read last.
        pub chunk_cache: chunk_cache_s,
        /// Steps, in items.
        pub item_array_strides: [i64; MAX_DIM],
        /// Steps, in items.
        pub item_chunk_strides: [i64; MAX_DIM],
        /// Steps, in items.
        pub item_extchunk_strides: [i64; MAX_DIM],
        /// Steps, in items.
        pub item_block_strides: [i64; MAX_DIM],
        /// Steps, in blocks.
        pub block_chunk_strides: [i64; MAX_DIM],
        /// Steps, in chunks.
        pub chunk_array_strides: [i64; MAX_DIM],
        /// The type of an item, as text.
        pub dtype: *mut c_char,
        /// The kind of that text.
        pub dtype_format: i8,
        /// The change that the array has seen.
        #[cfg(not(feature = "soname-7"))]
        pub last_tick: i64,
    }

    /// Functions that read and write files for a super-chunk.
    pub struct blosc2_io_cb {
        /// The number.
        pub id: u8,
        /// The name.
        pub name: *mut c_char,
        /// Whether reading needs memory (a `bool`).
        pub is_allocation_necessary: u8,
        /// Opens a file.
        pub open: *const c_void,
        /// Closes it.
        pub close: *const c_void,
        /// Returns its length.
        pub size: *const c_void,
        /// Writes.
        pub write: *const c_void,
        /// Reads.
        pub read: *const c_void,
        /// Truncates it.
        pub truncate: *const c_void,
        /// Frees the parameters.
        pub destroy: *const c_void,
    }

    /// Parameters of the functions that map a file.
    pub struct blosc2_stdio_mmap {
        /// `r`, `r+`, `w+` or `c`.
        pub mode: *const c_char,
        /// Bytes to map at first.
        pub initial_mapping_size: i64,
        /// Whether the library frees it (a `bool`).
        pub needs_free: u8,
        /// The library's.
        pub addr: *mut c_char,
        /// The library's.
        pub urlpath: *mut c_char,
        /// The library's.
        pub file_size: usize,
        /// The library's.
        pub mapping_size: usize,
        /// The library's (a `bool`).
        pub is_memory_only: u8,
        /// The library's.
        pub file: *mut c_void,
        /// The library's.
        pub fd: c_int,
        /// The library's.
        pub access_flags: i64,
        /// The library's.
        pub map_flags: i64,
    }

    /// A codec of the client.
    pub struct blosc2_codec {
        /// Its number.
        pub compcode: u8,
        /// Its name.
        pub compname: *mut c_char,
        /// Its library.
        pub complib: u8,
        /// Its version.
        pub version: u8,
        /// Compresses.
        pub encoder: *const c_void,
        /// Decompresses.
        pub decoder: *const c_void,
    }

    /// A filter of the client.
    pub struct blosc2_filter {
        /// Its number.
        pub id: u8,
        /// Its name.
        pub name: *mut c_char,
        /// Its version.
        pub version: u8,
        /// Before compression.
        pub forward: *const c_void,
        /// After decompression.
        pub backward: *const c_void,
    }

    /// A tuner of the client.
    pub struct blosc2_tuner {
        /// Begins.
        pub init: *const c_void,
        /// Chooses a block size.
        pub next_blocksize: *const c_void,
        /// Chooses parameters.
        pub next_cparams: *const c_void,
        /// Learns.
        pub update: *const c_void,
        /// Ends.
        pub free: *const c_void,
        /// Its number.
        pub id: c_int,
        /// Its name.
        pub name: *mut c_char,
    }
}

/// The layout of C-Blosc2 3.2 to 3.3.
#[cfg(all(target_pointer_width = "64", not(feature = "soname-7")))]
const _: () = {
    use core::mem::offset_of;
    assert!(size_of::<blosc2_schunk>() == 65840);
    assert!(offset_of!(blosc2_schunk, filters) == 22 && offset_of!(blosc2_schunk, nchunks) == 40);
    assert!(offset_of!(blosc2_schunk, metalayers) == 120);
    assert!(offset_of!(blosc2_schunk, nmetalayers) == 248);
    assert!(offset_of!(blosc2_schunk, vlmetalayers) == 256);
    assert!(offset_of!(blosc2_schunk, nvlmetalayers) == 65792);
    assert!(offset_of!(blosc2_schunk, change_tick) == 65832);
    assert!(size_of::<b2nd_array_t>() == 1376 && offset_of!(b2nd_array_t, last_tick) == 1368);
    assert!(size_of::<blosc2_dparams>() == 40 && offset_of!(blosc2_dparams, typesize) == 32);
    assert!(size_of::<blosc2_prefilter_params>() == 88);
};

/// The layout of C-Blosc2 2.23.
#[cfg(all(target_pointer_width = "64", feature = "soname-7"))]
const _: () = {
    use core::mem::offset_of;
    assert!(offset_of!(blosc2_schunk, filters) == 20 && offset_of!(blosc2_schunk, nchunks) == 32);
    assert!(offset_of!(blosc2_schunk, metalayers) == 112);
    assert!(offset_of!(blosc2_schunk, nmetalayers) == 240);
    assert!(offset_of!(blosc2_schunk, vlmetalayers) == 248);
    assert!(offset_of!(blosc2_schunk, nvlmetalayers) == 65784);
    assert!(size_of::<b2nd_array_t>() == 1368);
    assert!(size_of::<blosc2_dparams>() == 32);
    assert!(size_of::<blosc2_prefilter_params>() == 80);
};

/// The fields of both layouts.
#[cfg(target_pointer_width = "64")]
const _: () = {
    use core::mem::offset_of;
    assert!(size_of::<blosc2_cparams>() == 136);
    assert!(offset_of!(blosc2_cparams, schunk) == 24 && offset_of!(blosc2_cparams, filters) == 32);
    assert!(offset_of!(blosc2_cparams, prefilter) == 48);
    assert!(offset_of!(blosc2_cparams, filter_params) == 88);
    assert!(size_of::<blosc2_postfilter_params>() == 80);
    assert!(size_of::<blosc2_storage>() == 40 && size_of::<blosc2_io>() == 24);
    assert!(size_of::<blosc2_io_cb>() == 80 && size_of::<blosc2_stdio_mmap>() == 96);
    assert!(size_of::<blosc2_codec>() == 40 && size_of::<blosc2_filter>() == 40);
    assert!(size_of::<blosc2_tuner>() == 56 && size_of::<blosc2_metalayer>() == 24);
    assert!(
        offset_of!(b2nd_array_t, chunk_cache) == 568 && offset_of!(b2nd_array_t, dtype) == 1352
    );
};

//! The functions of C-Blosc: a compressor for the process, and chunks of Blosc 1.
//!
//! A function has the name of its counterpart, without `blosc_`. The settings of the process decide
//! what `compress` does ([`settings`](self)); variables of the environment change them at each
//! call. Codes are those of C-Blosc 1.21 ([`codes`](crate::codes)).

mod compress;
mod compressor;
mod decompress;
mod header;
mod kept;
mod settings;

pub use compress::{Call, compress, compress_ctx};
pub use compressor::{LIST as COMPRESSORS, VERSION};
pub use compressor::{compcode_to_compname, compname_to_compcode, get_complib_info};
pub use decompress::{decompress, decompress_ctx, getitem};
pub use header::{
    cbuffer_complib, cbuffer_metainfo, cbuffer_sizes, cbuffer_validate, cbuffer_versions,
};
pub use settings::{
    destroy, free_resources, get_blocksize, get_compressor, get_nthreads, init, set_blocksize,
    set_compressor, set_nthreads, set_splitmode,
};

/// The longest data of a chunk (bytes): a chunk with its header is less than 2 GiB.
pub const MAX_NBYTES: usize = i32::MAX as usize - OVERHEAD;
/// Most bytes by which a chunk exceeds its data.
pub const OVERHEAD: usize = 16;

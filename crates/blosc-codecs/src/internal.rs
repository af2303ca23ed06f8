//! For the other crates of this workspace. It may change at any time.

/// Decoders without unsafe code, for the fuzz targets.
#[cfg(fuzzing)]
pub mod safe {
    pub use crate::{
        blosclz::decompress_safely as decompress_blosclz, lz4::decompress_safely as decompress_lz4,
        zlib::decompress_safely as decompress_zlib,
    };
}

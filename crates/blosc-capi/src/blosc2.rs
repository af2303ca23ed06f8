//! The calls of libblosc2 without a context: settings of the process, chunks, names, filters.
//!
//! A function has the name of its counterpart, without `blosc2_`; the functions with the interface
//! of C-Blosc are in [`blosc1`].

pub mod blosc1;
mod calls;
mod filters;
mod header;
mod names;
mod settings;

pub use calls::{compress, decompress, free_resources, getitem};
pub use filters::{bitshuffle, bitunshuffle, shuffle, unshuffle};
pub use header::{cbuffer_complib, cbuffer_sizes, cbuffer_versions};
pub use names::{
    LIST as COMPRESSORS, VERSION, compcode_to_compname, compname_to_compcode, get_complib_info,
};
pub use settings::{get_nthreads, set_delta, set_nthreads};

/// Writes that a function is not implemented yet, if `BLOSC_TRACE` is set.
pub fn absent(name: &str) {
    let is_wanted = crate::env::Variables::read().trace;
    crate::warning::warn(
        is_wanted,
        &format!("[error] - {name} is not supported by this library yet"),
    );
}

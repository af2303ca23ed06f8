//! The calls of libblosc2 that need no context: settings of the process, chunks, names, filters.
//!
//! A function has the name of the one that it stands in for, without `blosc2_`; those that keep the
//! interface of C-Blosc are in [`blosc1`].

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

/// Says that a function is not there yet, if `BLOSC_TRACE` is set.
pub fn absent(name: &str) {
    let is_wanted = crate::env::Variables::read().trace;
    crate::warning::warn(
        is_wanted,
        &format!("[error] - {name} is not supported by this library yet"),
    );
}

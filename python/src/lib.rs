//! The extension module of `blosckit`: thin classes over `blosc-data`.
//!
//! ```text
//!   blosckit/*.py       NumPy, its indexes and types, names and defaults
//!        |   buffers, numbers, texts
//!        v
//!   _native (here)      the GIL, errors, threads, progress
//!        |
//!        v
//!   blosc-data          all formats
//! ```

#![deny(unsafe_code)]

mod care;
mod codec;
mod data;
mod dead;
mod errors;
#[allow(unsafe_code)]
mod memory;
mod open;
mod params;
mod source;
mod table;
mod value;
mod watch;
mod write;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    codec::register(module)?;
    open::register(module)?;
    care::register(module)?;
    dead::register(module)?;
    write::register(module)
}

//! What `b2-full` opens beyond the files of `b2`: arrays and groups of Zarr, data sets of HDF5.
//!
//! ```text
//! name on the command line --Opener--> array or group --b2_cli--> info, list, show, cat, convert
//! ```
//!
//! The openers are a list, so that a program can take those that it wants.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

use b2_cli::opener::Opener;

#[cfg(feature = "hdf5")]
mod hdf5;
#[cfg(feature = "zarr")]
mod zarr;

#[cfg(feature = "hdf5")]
pub use hdf5::Hdf5Opener;
#[cfg(feature = "zarr")]
pub use zarr::ZarrOpener;

/// All openers of this build.
#[must_use]
pub fn openers() -> Vec<Box<dyn Opener>> {
    vec![
        #[cfg(feature = "zarr")]
        Box::new(ZarrOpener),
        #[cfg(feature = "hdf5")]
        Box::new(Hdf5Opener),
    ]
}

/// A name and the path in what it leads to: `x.h5::/a/b`.
#[cfg(any(feature = "zarr", feature = "hdf5"))]
fn split_name(name: &str) -> (&str, &str) {
    match name.split_once("::") {
        Some((root, key)) if key.starts_with('/') => (root, key),
        _ => (name, "/"),
    }
}

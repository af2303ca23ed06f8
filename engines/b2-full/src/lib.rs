//! The additional formats of this `b2`, besides those of Blosc: arrays and groups of Zarr, data
//! sets of HDF5, and files in object stores and on web servers.
//!
//! ```text
//! name --Opener--> array, group or file --blosc_data, b2_cli--> info, list, show, cat, convert
//! ```
//!
//! The openers are a list, so that a program can choose from them.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

use blosc_data::Opener;

#[cfg(feature = "remote")]
mod addresses;
#[cfg(any(feature = "zarr", feature = "hdf5"))]
mod chunks;
#[cfg(feature = "hdf5")]
mod hdf5;
#[cfg(any(feature = "zarr", feature = "hdf5"))]
mod text;
#[cfg(feature = "zarr")]
mod zarr;

#[cfg(feature = "remote")]
pub use addresses::AddressOpener;
#[cfg(feature = "hdf5")]
pub use hdf5::Hdf5Opener;
#[cfg(feature = "zarr")]
pub use zarr::ZarrOpener;

/// All openers of this build. Without a thread for requests, the opener of addresses is missing.
#[must_use]
pub fn openers() -> Vec<Box<dyn Opener>> {
    let openers: [Option<Box<dyn Opener>>; 3] = [
        #[cfg(feature = "remote")]
        AddressOpener::new().ok().map(|opener| Box::new(opener) as _),
        #[cfg(not(feature = "remote"))]
        None,
        #[cfg(feature = "zarr")]
        Some(Box::new(ZarrOpener)),
        #[cfg(not(feature = "zarr"))]
        None,
        #[cfg(feature = "hdf5")]
        Some(Box::new(Hdf5Opener)),
        #[cfg(not(feature = "hdf5"))]
        None,
    ];
    openers.into_iter().flatten().collect()
}

/// The name of a file and the path within it: `x.h5::/a/b`.
#[cfg(any(feature = "zarr", feature = "hdf5"))]
fn split_name(name: &str) -> (&str, &str) {
    match name.split_once("::") {
        Some((root, key)) if key.starts_with('/') => (root, key),
        _ => (name, "/"),
    }
}

/// The attributes with the names of the dimensions, in xarray's form for version 2 of Zarr. An
/// attribute that already names them stays.
#[cfg(any(feature = "zarr", feature = "hdf5"))]
fn with_dimensions(
    mut attributes: serde_json::Map<String, serde_json::Value>,
    names: Vec<Option<String>>,
) -> serde_json::Map<String, serde_json::Value> {
    const NAMES: &str = "_ARRAY_DIMENSIONS";
    if names.iter().any(Option::is_some) && !attributes.contains_key(NAMES) {
        let names: Vec<String> = names.into_iter().map(Option::unwrap_or_default).collect();
        attributes.insert(NAMES.to_owned(), names.into());
    }
    attributes
}

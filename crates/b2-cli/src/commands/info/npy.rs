//! An array of NumPy that is not compressed (`.npy`).

use std::fs;

use blosc_dtype::npy::NpyHeader;
use serde::Serialize;

use crate::{
    commands::convert::head,
    context::Context,
    error::{Doing, Error, Result},
    inputs::{ContentKind, Origin, Part, origin},
    memory,
    render::{harmless, size},
};

/// What is in a `.npy` file.
#[derive(Serialize)]
#[serde(tag = "schema", rename = "b2.info/1")]
struct NpyReport<'a> {
    path: &'a str,
    format: &'static str,
    dtype: String,
    shape: &'a [u64],
    order: &'static str,
    nbytes: u64,
    file_bytes: u64,
}

/// Describes an input that is a `.npy` file: text to print, or nothing after a JSON document.
///
/// # Errors
///
/// A header that is damaged.
pub(super) fn describe(cx: &Context, origin: &Origin) -> Result<Option<String>> {
    let Origin::File { path, part: Part::Whole } = origin else { return Ok(None) };
    if origin::content_kind(path) != Some(ContentKind::Npy) {
        return Ok(None);
    }
    let file = blosc_io::FileStore::open(path).map_err(Error::io(Doing::Open))?;
    let header = NpyHeader::parse(&head(&file)?)?;
    let file_bytes = fs::metadata(path).map_err(Error::io(Doing::Open))?.len();
    let nitems = memory::nbytes(1, &header.shape);
    let nbytes = nitems.saturating_mul(header.dtype.itemsize() as u64);
    let order = if header.fortran_order { "F" } else { "C" };
    let name = origin.name();
    if cx.console.json() {
        cx.console.document(&NpyReport {
            path: &name,
            format: "npy",
            dtype: header.dtype.to_string(),
            shape: &header.shape,
            order,
            nbytes,
            file_bytes,
        })?;
        return Ok(Some(String::new()));
    }
    let shape = match &header.shape[..] {
        [] => "one item".to_owned(),
        lens => size::shape(lens),
    };
    let missing = (header.len as u64).saturating_add(nbytes).saturating_sub(file_bytes);
    let cut = match missing {
        0 => String::new(),
        _ => format!("  cut         {} are missing\n", cx.console.units().size(missing)),
    };
    Ok(Some(format!(
        "{}: NumPy array, not compressed\n  array       {shape} of {}, {order} order     {}\n{cut}",
        harmless(&name),
        harmless(&header.dtype.to_string()),
        cx.console.units().size(nbytes),
    )))
}

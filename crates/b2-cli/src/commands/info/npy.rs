//! An array of NumPy that is not compressed (`.npy`).

use blosc_data::Tail;
use blosc_io::{FileStore, ReadAt as _};
use serde::Serialize;

use super::{Lines, print_report};
use crate::{
    console::Console,
    content::source::npy_header,
    context::Context,
    error::{Doing, Error, Result, message},
    inputs::Origin,
    memory,
    render::size,
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

/// Describes a `.npy` file.
///
/// # Errors
///
/// A header that is damaged.
pub(super) fn run(cx: &Context, origin: &Origin) -> Result<()> {
    let path = origin.path().ok_or(message::NOT_AN_ARRAY.error())?;
    let file = FileStore::open(path).map_err(Error::io(Doing::Open))?;
    let header = npy_header(path)?;
    let file_bytes = file.len().map_err(Error::io(Doing::Open))?;
    let nbytes = memory::nbytes(header.dtype.itemsize() as u64, &header.shape);
    let report = NpyReport {
        path: &origin.name(),
        format: "npy",
        dtype: header.dtype.to_string(),
        shape: &header.shape,
        order: if header.fortran_order { "F" } else { "C" },
        nbytes,
        file_bytes,
    };
    let end = (header.len as u64).saturating_add(nbytes);
    let missing = end.saturating_sub(file_bytes);
    if file_bytes > end {
        let tail = Tail::of_npy(file_bytes.saturating_sub(end), &file, end);
        cx.console.warning(&origin.name(), &tail.to_string());
    }
    print_report(cx, &report, |console| text(&report, missing, console), &[], || Ok(()))
}

fn text(report: &NpyReport<'_>, missing: u64, console: &Console) -> String {
    let mut lines = Lines::new(console, report.path, "NumPy array, not compressed");
    let units = lines.units;
    let shape = match report.shape {
        [] => "one item".to_owned(),
        lens => size::shape(lens),
    };
    let (dtype, order, nbytes) = (&report.dtype, report.order, units.size(report.nbytes));
    lines.add("array", &format!("{shape} of {dtype}, {order} order     {nbytes}"));
    if missing > 0 {
        lines.add("cut", &format!("{} are missing", units.size(missing)));
    }
    lines.text
}

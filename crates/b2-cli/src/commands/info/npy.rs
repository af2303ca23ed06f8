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
    exit::Code,
    inputs::Origin,
    memory,
    render::size,
    report::Problems,
};

/// The content of a `.npy` file.
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
    #[serde(skip_serializing_if = "Problems::is_empty")]
    problems: Problems,
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
    let end = (header.len as u64).saturating_add(nbytes);
    let missing = end.saturating_sub(file_bytes);
    let mut problems = Problems::default();
    if missing > 0 {
        let text = format!("cut off: {} are missing", size::counted(missing, "byte"));
        problems.add_text(text, Code::Data);
    }
    let report = NpyReport {
        path: &origin.name(),
        format: "npy",
        dtype: header.dtype.to_string(),
        shape: &header.shape,
        order: if header.fortran_order { "F" } else { "C" },
        nbytes,
        file_bytes,
        problems,
    };
    if file_bytes > end {
        let tail = Tail::of_npy(file_bytes.saturating_sub(end), &file, end);
        cx.console.warning(&origin.name(), &tail.to_string());
    }
    print_report(cx, &report, |console| text(&report, console), &report.problems, || Ok(()))
}

fn text(report: &NpyReport<'_>, console: &Console) -> String {
    let mut lines = Lines::new(console, report.path, "NumPy array, not compressed");
    let units = lines.units;
    let shape = match report.shape {
        [] => "one item".to_owned(),
        lens => size::shape(lens),
    };
    let (dtype, order, nbytes) = (&report.dtype, report.order, units.size(report.nbytes));
    lines.add("array", &format!("{shape} of {dtype}, {order} order     {nbytes}"));
    lines.notes(&[], &report.problems);
    lines.text
}

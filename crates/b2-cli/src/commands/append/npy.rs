//! Rows at the end of a `.npy` file: the items first, then the header, which has room for a longer
//! shape. Until the header is written, readers see the array as it was, and bytes after it. An
//! append that fails cuts them off, and so does the next one after a crash.

use std::path::Path;

use blosc_data::append::Appending;
use blosc_dtype::npy::NpyHeader;

use super::{Grown, Input, Wanted, first_axis, open_named};
use crate::{
    args::AppendArgs,
    content::source::npy_header,
    context::Context,
    error::{Result, message},
    formats::npy::{cut_rest, lens},
    memory,
    render::path_text,
};

/// Appends the inputs; says how many bytes they are.
///
/// # Errors
///
/// When they are no rows of the array, or cannot be read or written; the array is as it was then.
pub(super) fn append(
    args: &AppendArgs,
    cx: &Context,
    path: &Path,
    files: &[std::path::PathBuf],
) -> Result<(u64, Grown)> {
    let _lock = cx.lock_exclusive(path, args.lock)?;
    let header = npy_header(path)?;
    let wanted = Wanted::items(&header.dtype);
    let inputs = files
        .iter()
        .map(|file| open_named(args, cx, file, path, &wanted))
        .collect::<Result<Vec<_>>>()?;
    let (grown, new_header, end) = checked(args, path, &header, &inputs)?;
    let appended = inputs.iter().map(Input::nbytes).sum::<Result<u64>>()?;
    if let Some(tail) = cut_rest(path, end)? {
        cx.console.warning(&path_text(path), &format!("{tail}, and are cut off"));
    }
    let (resources, unfinished) = (cx.resources(), &cx.unfinished);
    let means = Appending { resources, unfinished, progress: &|_| () };
    means.to_npy(path, (end, &new_header), inputs.iter().map(|input| &input.source))?;
    Ok((appended, grown))
}

/// The array after the append, the header that replaces the old one, and the end of the old array.
fn checked(
    args: &AppendArgs,
    path: &Path,
    header: &NpyHeader,
    inputs: &[Input],
) -> Result<(Grown, Vec<u8>, u64)> {
    first_axis(args.axis, header.shape.len().max(1))?;
    let Some((first, row)) = header.shape.split_first() else {
        return Err(message::NO_DIMENSION_GROWS.error());
    };
    if header.fortran_order && !row.is_empty() {
        return Err(message::CANNOT_GROW_AT_END.error());
    }
    let (_, end) = lens(path, header)?;
    let itemsize = header.dtype.itemsize() as u64;
    let rowsize = memory::nbytes(itemsize, row);
    let mut nrows = *first;
    for input in inputs {
        input.check_rows(&header.dtype, &header.shape)?;
        nrows = nrows.saturating_add(input.source.nbytes()?.checked_div(rowsize).unwrap_or(0));
    }
    let shape: Vec<u64> = core::iter::once(nrows).chain(row.iter().copied()).collect();
    let new = NpyHeader { shape: shape.clone(), ..header.clone() };
    let bytes = new.to_bytes().filter(|bytes| bytes.len() == header.len);
    let bytes = bytes.ok_or_else(|| message::NPY_HEADER_IS_FULL.error())?;
    let nbytes = new.nbytes().unwrap_or(u64::MAX);
    Ok((Grown { nbytes, shape: Some(shape) }, bytes, end))
}

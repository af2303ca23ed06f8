//! Arrays of NumPy that are not compressed (`.npy`).

use core::ops::Range;

use b2frame::nd::Pick;

use super::{EDGE, dtype, render::Part, room, wants_all};
use crate::{
    args::ShowArgs,
    commands::content::{
        self,
        grid::Grid,
        values::{self, Axis},
    },
    context::Context,
    error::Result,
    inputs::{ContentKind, Origin, Part as Place, origin},
    memory,
};

/// The items of an input that is a `.npy` file.
///
/// # Errors
///
/// A header that is damaged, or a file that is cut.
pub(super) fn grid(cx: &Context, origin: &Origin) -> Result<Option<Grid>> {
    let Origin::File { path, part: Place::Whole } = origin else { return Ok(None) };
    if origin::content_kind(path) != Some(ContentKind::Npy) {
        return Ok(None);
    }
    Grid::new(cx, origin, None, content::open_to_look(cx, origin)?).map(Some)
}

/// What is shown of it to people.
///
/// # Errors
///
/// A part that the array does not have.
pub(super) fn part(args: &ShowArgs, cx: &Context, grid: &Grid) -> Result<Part> {
    let dtype = dtype(args, grid.dtype(), grid.dtype().itemsize())?;
    let nitems = memory::nbytes(1, grid.shape());
    let picks = match (&args.slice, args.lines) {
        (Some(slice), _) => slice.in_dims(grid.shape().len()),
        (None, Some(lines)) if !grid.shape().is_empty() => vec![Pick::from(0..lines)],
        (None, None) if !wants_all(nitems) => return edges(cx, grid, dtype),
        _ => vec![],
    };
    let axes = values::axes(&picks, grid.shape())?;
    let kept = axes.iter().filter(|axis| !axis.is_index);
    let shape: Vec<u64> = kept.map(|axis| axis.len).collect();
    let mut bytes = room(cx, &shape, &dtype)?;
    grid.read_part(&axes, &mut bytes)?;
    let elided = vec![false; shape.len()];
    Ok(Part { dtype, shape, elided, bytes })
}

/// The ends of every long dimension.
fn edges(cx: &Context, grid: &Grid, dtype: blosc_dtype::Dtype) -> Result<Part> {
    let is_long = |len: &u64| *len > 2 * EDGE;
    let ends = |len: &u64| -> Vec<Range<u64>> {
        if is_long(len) {
            vec![0..EDGE, *len - EDGE..*len]
        } else {
            core::iter::once(0..*len).collect()
        }
    };
    let shape: Vec<u64> = grid.shape().iter().map(|len| (*len).min(2 * EDGE)).collect();
    let mut bytes = room(cx, &shape, &dtype)?;
    bytes.clear();
    let Some((last, outer)) = grid.shape().split_last() else {
        grid.read(&[], &mut bytes)?;
        return Ok(Part { dtype, shape, elided: vec![], bytes });
    };
    let along = |range: Range<u64>| Axis {
        start: range.start,
        step: 1,
        len: range.end - range.start,
        is_index: false,
    };
    // Each row of the last dimension by itself: there are few.
    let mut rows: Vec<Vec<Axis>> = vec![vec![]];
    for len in outer {
        let positions: Vec<u64> = ends(len).into_iter().flatten().collect();
        let with = |row: Vec<Axis>| {
            positions
                .iter()
                .map(move |at| [&row[..], &[along(*at..*at + 1)]].concat())
                .collect::<Vec<_>>()
        };
        rows = rows.into_iter().flat_map(with).collect();
    }
    let mut piece = vec![];
    for row in rows {
        for end in ends(last) {
            grid.read_part(&[&row[..], &[along(end)]].concat(), &mut piece)?;
            bytes.extend_from_slice(&piece);
        }
    }
    let elided = grid.shape().iter().map(is_long).collect();
    Ok(Part { dtype, shape, elided, bytes })
}

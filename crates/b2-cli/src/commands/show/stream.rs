//! Arrays of any size as CSV or as a JSON document, in bands of rows, so that the memory is
//! bounded.

use b2frame::nd::Pick;
use blosc_data::cells::{Rows, add_line};
use blosc_dtype::Dtype;
use serde_json::Value;

use super::item;
use crate::{
    args::ShowArgs,
    commands::content::{
        grid::Grid,
        values::{self, Axis},
    },
    context::Context,
    error::Result,
    render::json_text,
};

/// Estimate of the memory for the text of an item (bytes).
const ITEM_TEXT_NBYTES: u64 = 32;

/// Prints the part of `grid` that `picks` choose, with items as `dtype`.
///
/// # Errors
///
/// When it is no part of the array, or cannot be read or written.
pub(super) fn run(
    args: &ShowArgs,
    cx: &Context,
    name: &str,
    (grid, dtype): (&Grid, &Dtype),
    picks: &[Pick],
) -> Result<()> {
    let axes = values::axes(picks, grid.shape())?;
    let shape: Vec<u64> = axes.iter().filter(|axis| !axis.is_index).map(|axis| axis.len).collect();
    match args.csv {
        true => csv(cx, grid, dtype, &axes, &shape),
        false => document(cx, name, grid, dtype, &axes, &shape),
    }
}

/// Memory for the items of a band; the rest is for their text.
fn band_nbytes(cx: &Context, dtype: &Dtype) -> u64 {
    let itemsize = dtype.itemsize().max(1) as u64;
    (cx.memory() / 4 / itemsize.saturating_add(ITEM_TEXT_NBYTES)).saturating_mul(itemsize)
}

/// Prints a line of names, and a line for each row.
fn csv(cx: &Context, grid: &Grid, dtype: &Dtype, axes: &[Axis], shape: &[u64]) -> Result<()> {
    let rows = Rows::new(dtype, shape);
    let mut page = String::new();
    add_line(rows.names().into_iter(), &mut page);
    cx.console.print(&page)?;
    if shape.contains(&0) {
        return Ok(());
    }
    let mut rest: Vec<u8> = vec![];
    grid.for_each_band(axes, band_nbytes(cx, dtype), &mut |bytes| {
        // Bands consist of whole rows, except those of a one-dimensional array.
        rest.extend_from_slice(bytes);
        let whole = rest.len() / rows.nbytes() * rows.nbytes();
        page.clear();
        for row in rest[..whole].chunks_exact(rows.nbytes()) {
            add_line(rows.cells(row), &mut page);
        }
        rest.drain(..whole);
        cx.console.print(&page)
    })
}

/// Prints one document, with values nested by the dimensions.
fn document(
    cx: &Context,
    name: &str,
    grid: &Grid,
    dtype: &Dtype,
    axes: &[Axis],
    shape: &[u64],
) -> Result<()> {
    let empty =
        super::ShowReport { path: name, dtype: dtype.to_string(), shape, values: Value::Null };
    if shape.contains(&0) {
        return cx.console.document(&super::ShowReport { values: without_items(shape), ..empty });
    }
    // The text ends with `null` and a bracket, which the values replace.
    let text = json_text(&empty);
    let head = text.strip_suffix("null}").unwrap_or(&text);
    cx.console.print(head)?;
    let mut nested = Nested::new(shape);
    let itemsize = dtype.itemsize().max(1);
    grid.for_each_band(axes, band_nbytes(cx, dtype), &mut |bytes| {
        let mut page = String::new();
        for item in bytes.chunks_exact(itemsize) {
            nested.item(&json_text(&item::json(dtype, item)), &mut page);
        }
        cx.console.print(&page)
    })?;
    cx.console.print("}\n")
}

/// The nested lists of a shape without items.
fn without_items(shape: &[u64]) -> Value {
    let Some((len, rest)) = shape.split_first() else { return Value::Null };
    (0..*len).map(|_| without_items(rest)).collect()
}

/// Items in C order with the brackets between them.
struct Nested {
    /// Items in each part of a dimension, the outermost first.
    sizes: Vec<u64>,
    nitems: u64,
}

impl Nested {
    fn new(shape: &[u64]) -> Self {
        let mut size = 1u64;
        let mut sizes: Vec<u64> = vec![];
        for len in shape.iter().rev() {
            size = size.saturating_mul(*len);
            sizes.push(size);
        }
        sizes.reverse();
        Self { sizes, nitems: 0 }
    }

    /// Adds an item.
    fn item(&mut self, text: &str, page: &mut String) {
        let begins = |size: &&u64| self.nitems.is_multiple_of(**size);
        if self.nitems > 0 {
            page.push(',');
        }
        page.extend(self.sizes.iter().filter(begins).map(|_| '['));
        page.push_str(text);
        self.nitems += 1;
        let ends = |size: &&u64| self.nitems.is_multiple_of(**size);
        page.extend(self.sizes.iter().filter(ends).map(|_| ']'));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_stand_between_items() {
        for (shape, expected) in
            [(&[2, 1, 3][..], "[[[0,1,2]],[[3,4,5]]]"), (&[4], "[0,1,2,3]"), (&[], "0")]
        {
            let (mut nested, mut page) = (Nested::new(shape), String::new());
            for item in 0..shape.iter().product() {
                nested.item(&u64::to_string(&item), &mut page);
            }
            assert_eq!(page, expected);
        }
        assert_eq!(without_items(&[2, 0, 3]).to_string(), "[[],[]]");
    }
}

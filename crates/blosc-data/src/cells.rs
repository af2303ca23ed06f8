//! Cells and lines of tables as text and as JSON.

use std::borrow::Cow;

use b2store::{ColumnKind, ColumnValues, Values, table::ColumnSpec};
use blosc_dtype::{Dtype, text};
use serde_json::Value as Json;

use crate::json;
use crate::size::as_len;

/// The lines of comma-separated values, wherever they are written: below the names, one for each
/// item with fields, or for each row of the last dimension. The items of one dimension are a
/// column.
#[derive(Clone, Copy, Debug)]
pub enum Rows<'a> {
    /// The fields of an item.
    Fields(&'a Dtype),
    /// This number of items.
    Items(&'a Dtype, usize),
}

impl<'a> Rows<'a> {
    /// Of items in this shape.
    #[must_use]
    pub fn new(dtype: &'a Dtype, shape: &[u64]) -> Self {
        if !dtype.fields().is_empty() {
            return Self::Fields(dtype);
        }
        match shape {
            [] | [_] => Self::Items(dtype, 1),
            [.., len] => Self::Items(dtype, as_len(*len)),
        }
    }

    /// Bytes of the items of a line.
    #[must_use]
    pub fn nbytes(&self) -> usize {
        match self {
            Self::Fields(dtype) => dtype.itemsize().max(1),
            Self::Items(dtype, len) => dtype.itemsize().max(1).saturating_mul((*len).max(1)),
        }
    }

    /// The names of the fields, or the numbers of the columns.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Fields(dtype) => {
                dtype.fields().iter().map(|field| field.name().to_owned()).collect()
            }
            Self::Items(_, len) => (0..*len).map(|n| n.to_string()).collect(),
        }
    }

    /// The values of a line.
    #[must_use]
    pub fn cells(&self, row: &[u8]) -> std::vec::IntoIter<String> {
        let cells: Vec<String> = match self {
            Self::Fields(dtype) => text::cells(dtype, row).collect(),
            Self::Items(dtype, _) => row
                .chunks_exact(dtype.itemsize().max(1))
                .map(|bytes| text::cell(dtype, bytes))
                .collect(),
        };
        cells.into_iter()
    }
}

/// The items of a row of fixed width.
fn items(column: &ColumnValues, row: usize) -> Option<(&Dtype, &[u8], bool)> {
    let Values::Fixed { dtype, item_shape, bytes } = &column.values else { return None };
    let nrows = column.len().max(1);
    let rowsize = bytes.len() / nrows;
    let start = row.checked_mul(rowsize)?;
    Some((dtype, bytes.get(start..start.checked_add(rowsize)?)?, !item_shape.is_empty()))
}

/// The type as which the items of a column are shown: times as dates.
#[must_use]
pub fn shown_dtype<'a>(dtype: &'a Dtype, spec: &ColumnSpec) -> Cow<'a, Dtype> {
    match &spec.kind {
        ColumnKind::Timestamp { unit, .. } => {
            format!("<M8[{unit}]").parse().map_or(Cow::Borrowed(dtype), Cow::Owned)
        }
        ColumnKind::Fixed("b1") => "|b1".parse().map_or(Cow::Borrowed(dtype), Cow::Owned),
        _ => Cow::Borrowed(dtype),
    }
}

/// A cell as text; that of a null is empty.
#[must_use]
pub fn cell(column: &ColumnValues, spec: &ColumnSpec, row: usize) -> String {
    if column.is_null(row) {
        return String::new();
    }
    match items(column, row) {
        Some((dtype, bytes, false)) => text::cell(&shown_dtype(dtype, spec), bytes),
        Some(_) => cell_json(column, spec, row).to_string(),
        None => json::plain(&column.value(row)),
    }
}

/// A cell as JSON; that of a null is null.
#[must_use]
pub fn cell_json(column: &ColumnValues, spec: &ColumnSpec, row: usize) -> Json {
    if column.is_null(row) {
        return Json::Null;
    }
    match items(column, row) {
        Some((dtype, bytes, false)) => json::item::json(&shown_dtype(dtype, spec), bytes),
        Some((dtype, bytes, true)) => bytes
            .chunks_exact(dtype.itemsize().max(1))
            .map(|bytes| json::item::json(dtype, bytes))
            .collect(),
        None => json::value(&column.value(row)),
    }
}

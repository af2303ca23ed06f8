//! Cells and lines of tables as text and as JSON.

use b2store::{ColumnKind, ColumnValues, Values};
use blosc_dtype::{Dtype, item};
use serde_json::Value as Json;

use crate::columns::shown_dtype;
use crate::json;
use crate::size::as_len;

/// The lines of CSV: below the names, one line for each item with fields, or for each row of the
/// last dimension. The items of one dimension form a column.
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
            Self::Fields(dtype) => item::cells(dtype, row).collect(),
            Self::Items(dtype, _) => row
                .chunks_exact(dtype.itemsize().max(1))
                .map(|bytes| item::cell(dtype, bytes))
                .collect(),
        };
        cells.into_iter()
    }
}

/// Adds a line of CSV. A single empty value is quoted, since an empty line would be none.
pub fn add_line(texts: impl Iterator<Item = String>, out: &mut String) {
    let (start, mut count) = (out.len(), 0);
    for text in texts {
        out.push_str(if count > 0 { "," } else { "" });
        count += 1;
        if text.contains([',', '"', '\n', '\r']) {
            out.push_str(&format!("\"{}\"", text.replace('"', "\"\"")));
        } else {
            out.push_str(&text);
        }
    }
    out.push_str(if count == 1 && out.len() == start { "\"\"\n" } else { "\n" });
}

/// The items of a row with a type of fixed width.
fn items(column: &ColumnValues, row: usize) -> Option<(&Dtype, &[u8], bool)> {
    let Values::Fixed { dtype, item_shape, bytes } = &column.values else { return None };
    let nrows = column.len().max(1);
    let rowsize = bytes.len() / nrows;
    let start = row.checked_mul(rowsize)?;
    Some((dtype, bytes.get(start..start.checked_add(rowsize)?)?, !item_shape.is_empty()))
}

/// A cell as text; empty for null.
#[must_use]
pub fn cell(column: &ColumnValues, kind: &ColumnKind, row: usize) -> String {
    if column.is_null(row) {
        return String::new();
    }
    match items(column, row) {
        Some((dtype, bytes, false)) => item::cell(&shown_dtype(dtype, kind), bytes),
        Some(_) => cell_json(column, kind, row).to_string(),
        None => json::plain(&column.value(row)),
    }
}

/// A cell as JSON; null for null.
#[must_use]
pub fn cell_json(column: &ColumnValues, kind: &ColumnKind, row: usize) -> Json {
    if column.is_null(row) {
        return Json::Null;
    }
    match items(column, row) {
        Some((dtype, bytes, false)) => json::item::json(&shown_dtype(dtype, kind), bytes),
        Some((dtype, bytes, true)) => bytes
            .chunks_exact(dtype.itemsize().max(1))
            .map(|bytes| json::item::json(dtype, bytes))
            .collect(),
        None => json::value(&column.value(row)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_the_last_dimension_are_lines() {
        let dtype = "u1".parse().unwrap();
        let rows = Rows::new(&dtype, &[2, 2, 3]);
        assert_eq!((rows.nbytes(), rows.names().join(",")), (3, "0,1,2".to_owned()));
        assert_eq!(rows.cells(&[5, 6, 7]).collect::<Vec<_>>(), ["5", "6", "7"]);
    }

    #[test]
    fn fields_are_columns() {
        let dtype = "[('a', 'u1'), ('b, c', 'S1')]".parse().unwrap();
        let (rows, mut out) = (Rows::new(&dtype, &[2]), String::new());
        add_line(rows.names().into_iter(), &mut out);
        b"\x01x\x02,".chunks(rows.nbytes()).for_each(|row| add_line(rows.cells(row), &mut out));
        assert_eq!(out, "a,\"b, c\"\n1,x\n2,\",\"\n");
    }

    #[test]
    fn an_empty_value_is_no_empty_line() {
        let line_of = |texts: &[&str]| {
            let mut out = "a\n".to_owned();
            add_line(texts.iter().map(|text| (*text).to_owned()), &mut out);
            out
        };
        assert_eq!(line_of(&[""]), "a\n\"\"\n");
        assert_eq!(line_of(&["", ""]), "a\n,\n");
        assert_eq!(line_of(&[]), "a\n\n");
    }
}

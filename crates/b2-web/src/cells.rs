//! Values as text: windows of arrays, rows of tables, lines of bytes.

use core::ops::Range;

use blosc_data::cells::{Rows, cell, cell_json};
use blosc_data::{Array, Bytes, ColumnKind, ColumnValues, Data, ListOfObjects, Table, json};
use blosc_dtype::text::{harmless, hex};
use serde_json::{Value, json};

use crate::fault::{Fault, Result};

/// Cells of an answer.
pub const MAX_CELLS: u64 = 50_000;
/// Bytes in a line of a dump.
const LINE: u64 = 16;

/// A window of values: positions of all dimensions but the last two, rows and columns of these.
pub(crate) fn window(
    data: &Data,
    fixed: &[u64],
    rows: [u64; 2],
    columns: [u64; 2],
) -> Result<Value> {
    admit((rows[1].saturating_sub(rows[0])).saturating_mul(columns[1].saturating_sub(columns[0])))?;
    match data {
        Data::Array(array) => items(&**array, fixed, rows, columns),
        Data::Bytes(bytes) => lines(&**bytes, rows),
        Data::Objects(objects) => list(&**objects, rows),
        _ => Err(Fault::request(format!("{} has no values", data.kind_name()))),
    }
}

fn admit(ncells: u64) -> Result<()> {
    match ncells <= MAX_CELLS {
        true => Ok(()),
        false => {
            Err(Fault::Request(format!("{ncells} cells are too many, the limit is {MAX_CELLS}")))
        }
    }
}

/// Rows and columns of an array: of one dimension the items are rows, of none there is one.
pub(crate) fn lens(shape: &[u64]) -> [u64; 2] {
    match shape {
        [] => [1, 1],
        [len] => [*len, 1],
        [.., down, across] => [*down, *across],
    }
}

fn within([start, end]: [u64; 2], len: u64) -> Range<u64> {
    let end = end.min(len);
    start.min(end)..end
}

fn items(array: &dyn Array, fixed: &[u64], rows: [u64; 2], columns: [u64; 2]) -> Result<Value> {
    let shape = array.shape();
    let [nrows, ncolumns] = lens(shape);
    let (rows, columns) = (within(rows, nrows), within(columns, ncolumns));
    let mut bounds: Vec<Range<u64>> = vec![];
    for (dim, len) in shape.iter().enumerate().take(shape.len().saturating_sub(2)) {
        let at = fixed.get(dim).copied().unwrap_or(0);
        if at >= *len {
            return Err(Fault::Request(format!("dimension {dim} has no position {at}")));
        }
        bounds.push(at..at.saturating_add(1));
    }
    match shape.len() {
        0 => {}
        1 => bounds.push(rows.clone()),
        _ => bounds.extend([rows.clone(), columns.clone()]),
    }
    let itemsize = array.dtype().itemsize();
    let nitems = (rows.end - rows.start).saturating_mul(columns.end - columns.start);
    let mut bytes = vec![0; usize::try_from(nitems).unwrap_or(0).saturating_mul(itemsize)];
    if !bytes.is_empty() {
        array.read_box(&bounds, &mut bytes)?;
    }
    // Fields are columns; then each item is a row.
    let names: Vec<String> = match array.dtype().fields() {
        [] => columns.clone().map(|column| column.to_string()).collect(),
        fields => fields.iter().map(|field| harmless(field.name())).collect(),
    };
    let of_lines = Rows::new(array.dtype(), &[0, columns.end - columns.start]);
    let lines = bytes.chunks_exact(of_lines.nbytes());
    let cells: Vec<Vec<String>> =
        lines.map(|line| of_lines.cells(line).map(|cell| harmless(&cell)).collect()).collect();
    Ok(json!({ "first": rows.start, "names": names, "rows": cells }))
}

/// Bytes as hexadecimal numbers and as characters, 16 in a row.
fn lines(bytes: &dyn Bytes, rows: [u64; 2]) -> Result<Value> {
    let rows = within(rows, bytes.nbytes().div_ceil(LINE));
    let (start, end) = (rows.start * LINE, bytes.nbytes().min(rows.end.saturating_mul(LINE)));
    let mut found = vec![0; usize::try_from(end.saturating_sub(start)).unwrap_or(0)];
    bytes.read_at(start, &mut found)?;
    let cells = found.chunks(16).map(|line| {
        let shown = |byte: &u8| match byte {
            0x20..0x7f => char::from(*byte),
            _ => '.',
        };
        vec![hex(line, " "), line.iter().map(shown).collect()]
    });
    let cells: Vec<Vec<String>> = cells.collect();
    Ok(json!({ "first": rows.start, "names": ["bytes", "text"], "rows": cells }))
}

fn list(objects: &dyn ListOfObjects, rows: [u64; 2]) -> Result<Value> {
    let rows = within(rows, objects.len()?);
    let found = objects.get(rows.clone())?;
    let text = |value| vec![harmless(&json::shortened(&json::value(value)))];
    let cells: Vec<Vec<String>> = found.iter().map(text).collect();
    Ok(json!({ "first": rows.start, "names": ["value"], "rows": cells }))
}

/// Rows of a table by their numbers: texts for people, or values of JSON for programs.
pub(crate) fn rows(data: &Data, names: &[String], rows: &[u64], is_json: bool) -> Result<Value> {
    let Data::Table(table) = data else {
        return Err(Fault::request(format!("{} has no rows", data.kind_name())));
    };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let columns = table.numbers(&names)?;
    admit((columns.len() as u64).saturating_mul(rows.len() as u64))?;
    let (mut cells, mut missing) = (vec![], None);
    for run in runs(rows) {
        let found = match is_json {
            true => lines_of(&**table, &columns, run, |values, kind, row| {
                exact(cell_json(values, kind, row))
            }),
            false => lines_of(&**table, &columns, run, |values, kind, row| {
                Value::String(harmless(&cell(values, kind, row)))
            }),
        };
        // All runs are tried, so that what they lack is fetched at once.
        match found {
            Ok(more) => cells.extend(more),
            Err(error) => missing = missing.or(Some(error)),
        }
    }
    match missing {
        Some(error) => Err(error),
        None => Ok(json!({ "numbers": rows, "rows": cells })),
    }
}

/// Integers that JavaScript has no number for become texts.
fn exact(value: Value) -> Value {
    const MAX: u64 = 1 << 53;
    match value {
        Value::Number(number) if number.as_i64().is_some_and(|it| it.unsigned_abs() > MAX) => {
            Value::String(number.to_string())
        }
        Value::Number(number) if number.as_u64().is_some_and(|it| it > MAX) => {
            Value::String(number.to_string())
        }
        Value::Array(values) => values.into_iter().map(exact).collect(),
        value => value,
    }
}

/// The cells of some rows as texts.
pub(crate) fn texts(
    table: &dyn Table,
    columns: &[usize],
    rows: Range<u64>,
) -> Result<Vec<Vec<String>>> {
    lines_of(table, columns, rows, cell)
}

/// The results of `make` for each cell of some rows.
fn lines_of<T>(
    table: &dyn Table,
    columns: &[usize],
    rows: Range<u64>,
    make: impl Fn(&ColumnValues, &ColumnKind, usize) -> T,
) -> Result<Vec<Vec<T>>> {
    let nrows = usize::try_from(rows.end.saturating_sub(rows.start)).unwrap_or(0);
    if rows.end > table.nrows() {
        return Err(Fault::Request(format!("there are {} rows", table.nrows())));
    }
    let values = table.read_columns(columns, rows)?;
    let kinds = columns.iter().filter_map(|column| table.columns().get(*column));
    let of: Vec<_> = values.iter().zip(kinds).collect();
    let line = |row| of.iter().map(|(values, column)| make(values, &column.kind, row)).collect();
    Ok((0..nrows).map(line).collect())
}

/// Ranges of numbers that follow each other.
fn runs(numbers: &[u64]) -> Vec<Range<u64>> {
    let mut runs: Vec<Range<u64>> = vec![];
    for number in numbers {
        match runs.last_mut().filter(|run| run.end == *number) {
            Some(run) => run.end = number.saturating_add(1),
            None => runs.push(*number..number.saturating_add(1)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_follow_each_other_are_one_run() {
        assert_eq!(runs(&[3, 4, 5, 9, 10, 2]), [3..6, 9..11, 2..3]);
        assert_eq!(runs(&[]), []);
    }

    #[test]
    fn integers_beyond_those_of_javascript_are_texts() {
        let large = json!([1, 9_007_199_254_740_993_u64, -9_007_199_254_740_993_i64, 0.5, null]);
        let expected = json!([1, "9007199254740993", "-9007199254740993", 0.5, null]);
        assert_eq!(exact(large), expected);
    }
}

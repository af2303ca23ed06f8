//! Values of stores that are no plain data: tables, and objects, batches and lists.

use core::ops::Range;
use std::borrow::Cow;

use b2store::{
    Column, ColumnKind, ColumnValues, Content, Value, Values,
    table::{ColumnSpec, Filter},
};
use blosc_dtype::Dtype;
use serde_json::{Map, Value as Json};

use super::{ShowReport, item, range, render};
use crate::{
    args::ShowArgs,
    context::Context,
    error::{Error, Result, message},
    formats::{TableRows, store},
    memory,
    render::{Align, Table as TextTable, harmless, json_text, size},
};

/// Rows that are decoded and printed at once.
const BATCH_NROWS: u16 = 4096;

/// Rows of a table that are shown without leaving any out, and rows at each end otherwise.
const MAX_SHOWN_ROWS: u64 = 60;
const EDGE_NROWS: u64 = 5;

/// Bytes that a cell of text takes, more or less.
const CELL_NBYTES: u64 = 64;

/// Shows rows of a table.
pub(super) fn table(args: &ShowArgs, cx: &Context, name: &str, rows: &TableRows) -> Result<()> {
    let schema = rows.table().schema();
    if !rows.is_column() {
        for column in schema.computed.iter().filter(|_| args.columns.is_empty()) {
            let text = format!("column {:?} is computed from others, and not shown", column.name);
            cx.console.warning(name, &text);
        }
    }
    let names: Vec<String> = match args.columns.is_empty() {
        true => rows.columns().iter().map(|column| column.spec().name.clone()).collect(),
        false => args.columns.clone(),
    };
    let known = || rows.columns().iter().map(|column| column.spec().name.as_str());
    if let Some(name) = args.columns.iter().find(|name| known().all(|known| known != **name)) {
        return Err(message::no_column(name, known()));
    }
    let columns = names.iter().map(|name| rows.table().column(name));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let specs: Vec<&ColumnSpec> = columns.iter().map(Column::spec).collect();
    let nrows = rows.nrows();
    let range = match &args.slice {
        Some(slice) => range(&slice.in_dims(1), nrows)?,
        None => 0..nrows,
    };
    if let Some(text) = &args.filter {
        let chosen = Chosen { filter: rows.condition(text)?, columns: &columns, specs: &specs };
        return chosen.show(args, cx, &names, range);
    }
    let start = range.start.saturating_add(args.skip.unwrap_or(0)).min(range.end);
    let end = start.saturating_add(args.lines.unwrap_or(u64::MAX)).min(range.end);
    let read = |rows: &Range<u64>| -> Result<Vec<ColumnValues>> {
        Ok(columns.iter().map(|column| column.read(rows.clone())).collect::<Result<_, _>>()?)
    };
    if cx.console.json() || args.csv {
        if args.csv {
            let mut header = String::new();
            render::line(names.iter().cloned(), &mut header);
            cx.console.print(&header)?;
        }
        return batches(start..end).try_for_each(|rows| {
            let values = read(&rows)?;
            let mut page = String::new();
            for row in 0..len(&rows) {
                add_record(args, &names, &specs, &values, row, &mut page);
            }
            cx.console.print(&page)
        });
    }
    let is_chosen = args.lines.is_some() || args.slice.is_some() || args.skip.is_some();
    let mut parts = vec![];
    match is_chosen || end - start <= MAX_SHOWN_ROWS {
        true => parts.push(start..end),
        false => parts.extend([start..start + EDGE_NROWS, end - EDGE_NROWS..end]),
    }
    let limit = cx.memory() / CELL_NBYTES;
    let ncells = |rows: &Range<u64>| (rows.end - rows.start).saturating_mul(names.len() as u64);
    let nitems = parts.iter().map(ncells).fold(0, u64::saturating_add);
    if nitems > limit {
        return Err(Error::ShowLess { nitems, limit });
    }
    let mut text: Option<TextTable> = None;
    for (n, part) in parts.iter().enumerate() {
        for rows in batches(part.clone()) {
            let values = read(&rows)?;
            let text = text.get_or_insert_with(|| {
                let mut text = TextTable::new(&values.iter().map(align).collect::<Vec<_>>());
                text.row(names.iter().map(|name| harmless(name)));
                text
            });
            if n > 0 && rows.start == part.start {
                text.row(names.iter().map(|_| "..."));
            }
            for row in 0..len(&rows) {
                let cells = values.iter().zip(&specs);
                text.row(cells.map(|(column, spec)| harmless(&cell(column, spec, row))));
            }
        }
    }
    let text = match text {
        Some(text) => text.to_string(),
        None => names.iter().map(|name| harmless(name)).collect::<Vec<_>>().join("  ") + "\n",
    };
    let shape = match parts.len() {
        1 => String::new(),
        _ => format!(
            "{} x {}\n",
            size::counted(nrows, "row"),
            size::counted(names.len() as u64, "column")
        ),
    };
    cx.console.print(&format!("{text}{shape}"))
}

/// The rows of a table that meet a condition.
struct Chosen<'a> {
    filter: Filter,
    columns: &'a [Column],
    specs: &'a [&'a ColumnSpec],
}

impl Chosen<'_> {
    /// Shows the rows of a range that meet the condition, without those that are skipped.
    fn show(
        &self,
        args: &ShowArgs,
        cx: &Context,
        names: &[String],
        range: Range<u64>,
    ) -> Result<()> {
        let streams = cx.console.json() || args.csv;
        if args.csv {
            let mut header = String::new();
            render::line(names.iter().cloned(), &mut header);
            cx.console.print(&header)?;
        }
        let limit = cx.memory() / CELL_NBYTES;
        let read = self.columns.iter().map(|column| column.read(0..0));
        let aligns = read.map(|values| Ok(align(&values?))).collect::<Result<Vec<_>>>()?;
        let mut text = TextTable::new(&aligns);
        text.row(names.iter().map(|name| harmless(name)));
        let (mut skip, mut left) = (args.skip.unwrap_or(0), args.lines.unwrap_or(u64::MAX));
        let mut ncells = 0_u64;
        for rows in batches(range) {
            if left == 0 {
                break;
            }
            let mut wanted = self.filter.matches(rows)?;
            let skipped = memory::as_len(skip).min(wanted.len());
            wanted.drain(..skipped);
            wanted.truncate(memory::as_len(left));
            skip -= skipped as u64;
            left -= wanted.len() as u64;
            let (Some(first), Some(last)) = (wanted.first(), wanted.last()) else { continue };
            ncells = ncells.saturating_add(wanted.len() as u64 * names.len() as u64);
            if !streams && ncells > limit {
                return Err(Error::ShowLess { nitems: ncells, limit });
            }
            let read = self.columns.iter().map(|column| column.read(*first..last + 1));
            let values = read.collect::<core::result::Result<Vec<_>, _>>()?;
            let mut page = String::new();
            for row in &wanted {
                let row = memory::as_len(row - first);
                if streams {
                    add_record(args, names, self.specs, &values, row, &mut page);
                } else {
                    let cells = values.iter().zip(self.specs);
                    text.row(cells.map(|(column, spec)| harmless(&cell(column, spec, row))));
                }
            }
            cx.console.print(&page)?;
        }
        if streams { Ok(()) } else { cx.console.print(&text.to_string()) }
    }
}

/// Adds a row as a line of comma-separated values, or as a JSON document.
fn add_record(
    args: &ShowArgs,
    names: &[String],
    specs: &[&ColumnSpec],
    values: &[ColumnValues],
    row: usize,
    page: &mut String,
) {
    if args.csv {
        let cells = values.iter().zip(specs).map(|(column, spec)| cell(column, spec, row));
        return render::line(cells, page);
    }
    let cells = values.iter().zip(specs).map(|(column, spec)| json(column, spec, row));
    let document: Map<String, Json> = names.iter().cloned().zip(cells).collect();
    *page += &json_text(&document);
    page.push('\n');
}

/// Shows objects, one in a line. Says whether the content is such.
pub(super) fn objects(
    args: &ShowArgs,
    cx: &Context,
    name: &str,
    content: &Content,
) -> Result<bool> {
    let nitems = match content {
        Content::Objects(objects) => objects.len(),
        Content::Batches(batches) => batches.len()?,
        Content::Lists(lists) => lists.len()?,
        _ => return Ok(false),
    };
    super::no_table(args)?;
    let rows = match &args.slice {
        Some(slice) => range(&slice.in_dims(1), nitems)?,
        None => 0..nitems.min(args.lines.unwrap_or(u64::MAX)),
    };
    let read = |rows: &Range<u64>| -> Result<Vec<Value>> {
        Ok(match content {
            Content::Objects(objects) => {
                rows.clone().map(|row| objects.get(row)).collect::<Result<_, _>>()?
            }
            Content::Batches(batches) => batches.items(rows.clone())?,
            Content::Lists(lists) => lists.rows(rows.clone())?,
            _ => vec![],
        })
    };
    if !cx.console.json() {
        for rows in batches(rows) {
            let mut page = String::new();
            for value in read(&rows)? {
                page += &json_text(&store::json(&value));
                page.push('\n');
            }
            cx.console.print(&page)?;
        }
        return Ok(true);
    }
    let limit = cx.memory() / (4 * CELL_NBYTES);
    if rows.end - rows.start > limit {
        return Err(Error::ShowLess { nitems: rows.end - rows.start, limit });
    }
    let values: Json = read(&rows)?.iter().map(store::json).collect();
    let shape = [rows.end - rows.start];
    let dtype = "object".to_owned();
    cx.console.document(&ShowReport { path: name, dtype, shape: &shape, values })?;
    Ok(true)
}

/// Rows in batches.
fn batches(rows: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let starts = (rows.start..rows.end).step_by(BATCH_NROWS.into());
    starts.map(move |start| start..start.saturating_add(BATCH_NROWS.into()).min(rows.end))
}

fn len(rows: &Range<u64>) -> usize {
    memory::as_len(rows.end - rows.start)
}

fn align(column: &ColumnValues) -> Align {
    use blosc_dtype::Kind;
    match &column.values {
        Values::Fixed { dtype, item_shape, .. } if item_shape.is_empty() => match dtype.kind() {
            Some(Kind::Bytes | Kind::Unicode) | None => Align::Left,
            Some(_) => Align::Right,
        },
        _ => Align::Left,
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
pub(crate) fn shown_dtype<'a>(dtype: &'a Dtype, spec: &ColumnSpec) -> Cow<'a, Dtype> {
    match &spec.kind {
        ColumnKind::Timestamp { unit, .. } => {
            format!("<M8[{unit}]").parse().map_or(Cow::Borrowed(dtype), Cow::Owned)
        }
        ColumnKind::Fixed("b1") => "|b1".parse().map_or(Cow::Borrowed(dtype), Cow::Owned),
        _ => Cow::Borrowed(dtype),
    }
}

/// A cell as text; that of a null is empty.
pub(crate) fn cell(column: &ColumnValues, spec: &ColumnSpec, row: usize) -> String {
    if column.is_null(row) {
        return String::new();
    }
    match items(column, row) {
        Some((dtype, bytes, false)) => item::cell(&shown_dtype(dtype, spec), bytes),
        Some(_) => json(column, spec, row).to_string(),
        None => store::plain(&column.value(row)),
    }
}

fn json(column: &ColumnValues, spec: &ColumnSpec, row: usize) -> Json {
    if column.is_null(row) {
        return Json::Null;
    }
    match items(column, row) {
        Some((dtype, bytes, false)) => item::json(&shown_dtype(dtype, spec), bytes),
        Some((dtype, bytes, true)) => bytes
            .chunks_exact(dtype.itemsize().max(1))
            .map(|bytes| item::json(dtype, bytes))
            .collect(),
        None => store::json(&column.value(row)),
    }
}

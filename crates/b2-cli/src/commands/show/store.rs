//! Values of stores other than arrays: tables, objects, batches and lists.

use core::ops::Range;

use b2store::{Column, ColumnValues, Content, Value, Values, table::Filter};
use serde_json::Value as Json;

pub(crate) use blosc_data::cells::cell;
use blosc_data::cells::cell_json as json;

use super::{
    ShowReport,
    rows::{BATCH_NROWS, CELL_NBYTES, RowPrinter, align},
};
use crate::{
    args::{ShowArgs, slice},
    context::Context,
    error::{Error, Result, message},
    formats::TableRows,
    memory,
    render::{Align, json_text},
};

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
    let (nrows, ncolumns) = (rows.nrows(), names.len() as u64);
    let filter = args.rows.condition.as_deref().map(|text| rows.condition(text)).transpose()?;
    let mut matches = filter.as_ref().map(|filter| |rows| Ok(filter.matches(rows)?));
    let matches = matches.as_mut().map(|matches| matches as _);
    let range = slice::rows(args.slice.as_ref(), nrows, matches)?;
    let nothing = columns.iter().map(|column| column.read(0..0));
    let aligns = nothing.map(|values| Ok(side(&values?))).collect::<Result<Vec<_>>>()?;
    let mut out = RowPrinter::new(args, cx, names, &aligns);
    if let Some(filter) = filter {
        return found(args, out, &columns, &filter, range);
    }
    let start = range.start.saturating_add(args.skip.unwrap_or(0)).min(range.end);
    let end = start.saturating_add(args.lines.unwrap_or(u64::MAX)).min(range.end);
    let parts = out.shown(start..end);
    let nshown = parts.iter().map(|rows| rows.end - rows.start).sum::<u64>();
    out.admit(nshown, nshown.saturating_mul(ncolumns))?;
    for (n, part) in parts.iter().enumerate() {
        if n > 0 {
            out.dots();
        }
        for rows in batches(part.clone()) {
            add_rows(&mut out, &columns, &rows.collect::<Vec<_>>())?;
        }
    }
    out.finish((parts.len() > 1).then_some((nrows, ncolumns)))
}

/// Shows the rows of a range that meet a condition, after `--skip`.
fn found(
    args: &ShowArgs,
    mut out: RowPrinter<'_>,
    columns: &[Column],
    filter: &Filter,
    range: Range<u64>,
) -> Result<()> {
    let (mut skip, mut left) = (args.skip.unwrap_or(0), args.lines.unwrap_or(u64::MAX));
    let mut ncells = 0_u64;
    for rows in batches(range) {
        if left == 0 {
            break;
        }
        let mut wanted = filter.matches(rows)?;
        let skipped = memory::as_len(skip).min(wanted.len());
        wanted.drain(..skipped);
        wanted.truncate(memory::as_len(left));
        skip -= skipped as u64;
        left -= wanted.len() as u64;
        ncells = ncells.saturating_add((wanted.len() * columns.len()) as u64);
        out.admit(wanted.len() as u64, ncells)?;
        add_rows(&mut out, columns, &wanted)?;
    }
    out.finish(None)
}

/// Adds these rows, which lie close together.
fn add_rows(out: &mut RowPrinter<'_>, columns: &[Column], rows: &[u64]) -> Result<()> {
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(()) };
    let values = columns.iter().map(|column| column.read(*first..last + 1));
    let values = values.collect::<Result<Vec<_>, _>>()?;
    for row in rows {
        let row = memory::as_len(row - first);
        let text = |n: usize| cell(&values[n], &columns[n].spec().kind, row);
        out.row(text, |n| json(&values[n], &columns[n].spec().kind, row));
    }
    out.flush()
}

/// Shows objects, one in a line. Returns whether the content is of objects.
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
        Some(slice) => slice::range(slice, nitems)?,
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
                page += &json_text(&blosc_data::json::value(&value));
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
    let values: Json = read(&rows)?.iter().map(blosc_data::json::value).collect();
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

/// The alignment of the cells of a column.
fn side(column: &ColumnValues) -> Align {
    match &column.values {
        Values::Fixed { dtype, item_shape, .. } if item_shape.is_empty() => align(dtype),
        _ => Align::Left,
    }
}

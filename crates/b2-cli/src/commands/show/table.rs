//! Tables of bcolz: rows with names of columns above them, as text, comma-separated values, or JSON
//! lines.
//!
//! Values and JSON come batch by batch, so that any number of rows passes through bounded memory.
//! Text stands in columns, whose widths depend on all rows: tables too long for that are refused.

use core::ops::Range;

use bcolz_store::{
    CTable, DataSet,
    query::{Batch, Scan},
};
use blosc_dtype::{Dtype, Kind};
use serde_json::{Map, Value};

use super::{item, range, render};
use crate::{
    args::ShowArgs,
    context::Context,
    error::{Error, Result, message},
    formats::Bcolz,
    render::{Align, Table, harmless, json_text, size},
};

/// Shows rows of a table.
pub(super) fn run(args: &ShowArgs, cx: &Context, name: &str, set: &Bcolz) -> Result<()> {
    let DataSet::CTable(table) = set.tuned(&cx.read_options())? else { return Ok(()) };
    let columns = Columns::new(args, cx, name, &table)?;
    if cx.console.json() {
        return columns.documents(cx, args);
    }
    if args.csv { columns.csv(cx, args) } else { columns.text(cx, args) }
}

/// The columns that are shown.
struct Columns<'a> {
    table: &'a CTable,
    names: Vec<&'a str>,
    /// What an item of each is; an array of them where rows have a shape.
    dtypes: Vec<Dtype>,
    /// Rows that are looked at.
    rows: Range<u64>,
}

impl<'a> Columns<'a> {
    fn new(args: &'a ShowArgs, cx: &Context, path: &str, table: &'a CTable) -> Result<Self> {
        let (mut names, mut dtypes) = (vec![], vec![]);
        let asked = args.columns.iter().map(String::as_str);
        let wanted: Vec<&str> =
            if args.columns.is_empty() { table.names().collect() } else { asked.collect() };
        for name in wanted {
            if !table.names().any(|known| known == name) {
                return Err(message::no_column(name, table.names()));
            }
            let array = table.column(name)?;
            if args.columns.is_empty() && array.is_object() {
                let message = format!(
                    "column {name:?} holds Python objects, which are shown by themselves only"
                );
                cx.console.warning(path, &message);
                continue;
            }
            names.push(name);
            dtypes.push(array.row_dtype()?);
        }
        let rows = match &args.slice {
            Some(slice) => range(&slice.in_dims(1), table.len())?,
            None => 0..table.len(),
        };
        Ok(Self { table, names, dtypes, rows })
    }

    /// The rows that are wanted, of those given.
    fn scan(&self, args: &ShowArgs, rows: Range<u64>) -> Result<Scan<'a>> {
        let scan = self.table.scan().columns(&self.names)?.rows(rows).batch(BATCH);
        let scan = scan.skip(args.skip.unwrap_or(0)).limit(args.lines.unwrap_or(u64::MAX));
        Ok(match &args.filter {
            Some(expr) => scan
                .filter(expr)
                .map_err(|error| message::in_condition(error, self.table.names()))?,
            None => scan,
        })
    }

    /// One line per row, below the names of the columns.
    fn csv(&self, cx: &Context, args: &ShowArgs) -> Result<()> {
        let mut page = String::new();
        render::line(self.names.iter().map(|name| (*name).to_owned()), &mut page);
        for batch in self.scan(args, self.rows.clone())?.batches() {
            self.each(&batch?, item::cell, |cells| render::line(cells, &mut page));
            cx.console.print(&page)?;
            page.clear();
        }
        cx.console.print(&page)
    }

    /// One JSON document per row.
    fn documents(&self, cx: &Context, args: &ShowArgs) -> Result<()> {
        for batch in self.scan(args, self.rows.clone())?.batches() {
            let mut rows: Vec<Map<String, Value>> = vec![];
            self.each(&batch?, item::json, |values| {
                let names = self.names.iter().map(|name| (*name).to_owned());
                rows.push(names.zip(values).collect());
            });
            let lines: String = rows.iter().map(|row| json_text(row) + "\n").collect();
            cx.console.print(&lines)?;
        }
        Ok(())
    }

    /// Values in columns; without a choice of rows, the middle of a long table is left out.
    fn text(&self, cx: &Context, args: &ShowArgs) -> Result<()> {
        let chosen = args.filter.is_some()
            || args.lines.is_some()
            || args.slice.is_some()
            || args.skip.is_some();
        let len = self.rows.end - self.rows.start;
        let parts = if chosen || len <= MAX_SHOWN_ROWS {
            vec![self.rows.clone()]
        } else {
            vec![self.rows.start..self.rows.start + EDGE, self.rows.end - EDGE..self.rows.end]
        };
        let align = |dtype: &Dtype| match dtype.kind() {
            Some(Kind::Bytes | Kind::Unicode) | None => Align::Left,
            Some(_) => Align::Right,
        };
        let mut table = Table::new(&self.dtypes.iter().map(align).collect::<Vec<_>>());
        table.row(self.names.iter().map(|name| harmless(name)));
        let mut room = cx.memory() / CELL;
        for (n, rows) in parts.iter().enumerate() {
            if n > 0 {
                table.row(self.names.iter().map(|_| "..."));
            }
            for batch in self.scan(args, rows.clone())?.batches() {
                let batch = batch?;
                let cells = (batch.rows.len() * self.names.len().max(1)) as u64;
                room = room.checked_sub(cells).ok_or(Error::ShowLess {
                    nitems: len.saturating_mul(self.names.len() as u64),
                    limit: cx.memory() / CELL,
                })?;
                self.each(&batch, item::plain_cell, |cells| table.row(cells));
            }
        }
        let shape = format!(
            "{} x {}\n",
            size::counted(self.table.len(), "row"),
            size::counted(self.table.columns().len() as u64, "column")
        );
        cx.console.print(&format!("{table}{}", if parts.len() > 1 { &shape } else { "" }))
    }

    /// Hands over each row of a batch, as what `of` makes of its items.
    fn each<T>(
        &self,
        batch: &Batch,
        of: impl Fn(&Dtype, &[u8]) -> T,
        mut row: impl FnMut(std::vec::IntoIter<T>),
    ) {
        for n in 0..batch.rows.len() {
            let items = batch.columns.iter().zip(&self.dtypes).map(|(column, dtype)| {
                let start = n * column.rowsize;
                of(dtype, column.items.get(start..start + column.rowsize).unwrap_or_default())
            });
            row(items.collect::<Vec<_>>().into_iter());
        }
    }
}

/// Rows that are decoded and printed at once.
const BATCH: u64 = 4096;

/// Rows of a table that are shown without leaving any out, and rows at each end otherwise.
const MAX_SHOWN_ROWS: u64 = 60;
const EDGE: u64 = 5;

/// Bytes that a cell of text takes, more or less.
const CELL: u64 = 64;

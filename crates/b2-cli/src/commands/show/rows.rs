//! Output of the rows of all tables. CSV and JSON are printed at once; text waits for all rows,
//! since its columns depend on them.

use core::ops::Range;

use blosc_data::cells as csv;
use blosc_dtype::{Dtype, Kind};
use serde_json::{Map, Value};

use crate::{
    args::{ShowArgs, WhereArgs},
    context::Context,
    error::{Error, Result},
    render::{Align, Table, harmless, json_text, size},
};

/// Rows that are decoded and printed at once.
pub(super) const BATCH_NROWS: u16 = 4096;

/// Longest table that is shown completely; of longer ones, the rows shown at each end.
const MAX_SHOWN_ROWS: u64 = 60;
const EDGE_NROWS: u64 = 5;

/// Estimate of the bytes of a cell of text.
pub(super) const CELL_NBYTES: u64 = 64;

/// Prints rows one after the other.
pub(super) struct RowPrinter<'a> {
    args: &'a ShowArgs,
    cx: &'a Context,
    names: Vec<String>,
    page: String,
    table: Table,
    /// Cells that the memory still has room for.
    room: u64,
}

impl<'a> RowPrinter<'a> {
    /// A printer of columns with these names and alignments.
    pub(super) fn new(
        args: &'a ShowArgs,
        cx: &'a Context,
        names: Vec<String>,
        aligns: &[Align],
    ) -> Self {
        let mut table = Table::new(aligns);
        table.row(names.iter().map(|name| harmless(name)));
        let mut page = String::new();
        if args.csv {
            csv::add_line(names.iter().cloned(), &mut page);
        }
        Self { args, cx, names, page, table, room: max_cells(cx) }
    }

    /// Whether rows are printed as they come, in bounded memory.
    pub(super) fn streams(&self) -> bool {
        self.args.csv || self.cx.console.json()
    }

    /// All rows; without a choice of rows, only the ends of a long table.
    pub(super) fn shown(&self, rows: Range<u64>) -> Vec<Range<u64>> {
        let ShowArgs { rows: WhereArgs { condition: filter }, lines, slice, skip, .. } = self.args;
        let is_chosen = filter.is_some() || lines.is_some() || slice.is_some() || skip.is_some();
        match self.streams() || is_chosen || rows.end - rows.start <= MAX_SHOWN_ROWS {
            true => vec![rows],
            false => vec![rows.start..rows.start + EDGE_NROWS, rows.end - EDGE_NROWS..rows.end],
        }
    }

    /// Reserves memory for `nrows` more rows of `ncells` cells as text.
    ///
    /// # Errors
    ///
    /// When no memory is left.
    pub(super) fn admit(&mut self, nrows: u64, ncells: u64) -> Result<()> {
        if self.streams() {
            return Ok(());
        }
        let needed = nrows.saturating_mul(self.names.len() as u64);
        let refused = Error::ShowLess { nitems: ncells, limit: max_cells(self.cx) };
        self.room = self.room.checked_sub(needed).ok_or(refused)?;
        Ok(())
    }

    /// Adds a row; the functions make the cell of a column by its number.
    pub(super) fn row(&mut self, text: impl Fn(usize) -> String, json: impl Fn(usize) -> Value) {
        let columns = 0..self.names.len();
        if self.cx.console.json() {
            let row: Map<String, Value> =
                self.names.iter().cloned().zip(columns.map(json)).collect();
            self.page += &(json_text(&row) + "\n");
        } else if self.args.csv {
            csv::add_line(columns.map(text), &mut self.page);
        } else {
            self.table.row(columns.map(|column| harmless(&text(column))));
        }
    }

    /// Marks a gap where rows are left out.
    pub(super) fn dots(&mut self) {
        self.table.row(self.names.iter().map(|_| "..."));
    }

    /// Prints the lines that are complete.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub(super) fn flush(&mut self) -> Result<()> {
        let page = core::mem::take(&mut self.page);
        if page.is_empty() { Ok(()) } else { self.cx.console.print(&page) }
    }

    /// Prints the rest, and the size of the table below text.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub(super) fn finish(mut self, size: Option<(u64, u64)>) -> Result<()> {
        self.flush()?;
        if self.streams() {
            return Ok(());
        }
        let size = size.map(|(nrows, ncolumns)| {
            format!("{} x {}\n", size::counted(nrows, "row"), size::counted(ncolumns, "column"))
        });
        self.cx.console.print(&format!("{}{}", self.table, size.unwrap_or_default()))
    }
}

/// Cells of text that fit into the memory.
pub(super) fn max_cells(cx: &Context) -> u64 {
    cx.memory() / CELL_NBYTES
}

/// The alignment of items of this type.
pub(super) fn align(dtype: &Dtype) -> Align {
    match dtype.kind() {
        Some(Kind::Bytes | Kind::Unicode) | None => Align::Left,
        Some(_) => Align::Right,
    }
}

//! Arrays whose items have fields, as tables: columns and rows are chosen as those of a table of
//! bcolz or of a store.

use blosc_dtype::{
    Dtype, Field, Kind,
    expr::{Expr, Vector},
};
use serde_json::{Map, Value};

use super::{item, range, render};
use crate::{
    args::ShowArgs,
    commands::content::{grid::Grid, values::Axis},
    context::Context,
    error::{Error, Result, message},
    render::{Align, Table, harmless, json_text},
};

/// Rows that are decoded and printed at once.
const BATCH_NROWS: u16 = 4096;

/// Bytes that a cell of text takes, more or less.
const CELL: u64 = 64;

/// Is there an option that chooses rows or columns?
pub(super) fn is_wanted(args: &ShowArgs) -> bool {
    !args.columns.is_empty() || args.filter.is_some() || args.skip.is_some()
}

/// Prints the chosen rows and columns.
///
/// # Errors
///
/// When the items have no fields, or stand in several dimensions; when a column is not there, a
/// condition makes no sense, or the rows cannot be read.
pub(super) fn run(args: &ShowArgs, cx: &Context, grid: &Grid) -> Result<()> {
    let [len] = grid.shape() else { return Err(message::NOT_A_TABLE.error()) };
    let records = Records::new(&args.columns, args.filter.as_deref(), grid.dtype())?;
    let rows = match &args.slice {
        Some(slice) => range(&slice.in_dims(1), *len)?,
        None => 0..*len,
    };
    let mut out = Out::new(args, cx, &records);
    let (mut skip, mut left) = (args.skip.unwrap_or(0), args.lines.unwrap_or(u64::MAX));
    let mut bytes = vec![];
    for start in rows.clone().step_by(BATCH_NROWS.into()) {
        let len = u64::from(BATCH_NROWS).min(rows.end - start);
        grid.read_part(&[Axis { start, step: 1, len, is_index: false }], &mut bytes)?;
        let truth = records.truth(&bytes)?;
        for (item, _) in bytes.chunks_exact(records.itemsize()).zip(truth).filter(|(_, is)| *is) {
            if skip > 0 {
                skip -= 1;
            } else if left > 0 {
                left -= 1;
                out.row(&records, item)?;
            }
        }
        out.flush()?;
        if left == 0 {
            break;
        }
    }
    out.finish()
}

/// Items with fields, and what is wanted of them.
pub(in crate::commands) struct Records<'a> {
    dtype: &'a Dtype,
    pub(in crate::commands) columns: Vec<&'a Field>,
    filter: Option<Filter<'a>>,
}

/// A condition, and the fields that it is about.
struct Filter<'a> {
    expr: Expr,
    fields: Vec<&'a Field>,
}

impl<'a> Records<'a> {
    /// The fields of these names, or all, of items of a type, and those items that a condition
    /// holds for.
    ///
    /// # Errors
    ///
    /// Items without fields; names and conditions of others than there are.
    pub(in crate::commands) fn new(
        columns: &[String],
        condition: Option<&str>,
        dtype: &'a Dtype,
    ) -> Result<Self> {
        let fields = dtype.fields();
        if fields.is_empty() {
            return Err(message::NOT_A_TABLE.error());
        }
        let find = |name: &String| {
            let found = fields.iter().find(|field| field.name() == name);
            found.ok_or_else(|| message::no_column(name, fields.iter().map(Field::name)))
        };
        let columns = match columns.is_empty() {
            true => fields.iter().collect(),
            false => columns.iter().map(find).collect::<Result<_>>()?,
        };
        let filter = condition.map(|text| Filter::new(text, fields)).transpose()?;
        Ok(Self { dtype, columns, filter })
    }

    /// Bytes of an item.
    pub(in crate::commands) fn itemsize(&self) -> usize {
        self.dtype.itemsize().max(1)
    }

    /// For each item whether it is wanted.
    ///
    /// # Errors
    ///
    /// A condition that cannot be evaluated.
    pub(in crate::commands) fn truth(&self, bytes: &[u8]) -> Result<Vec<bool>> {
        let nrows = bytes.len() / self.itemsize();
        match &self.filter {
            Some(filter) => filter.truth(bytes, self.itemsize(), nrows),
            None => Ok(vec![true; nrows]),
        }
    }

    /// The values of an item, as `of` makes them.
    fn values<T>(&self, item: &[u8], of: impl Fn(&Dtype, &[u8]) -> T) -> Vec<T> {
        self.columns.iter().map(|field| of(field.dtype(), part(field, item))).collect()
    }
}

impl<'a> Filter<'a> {
    fn new(text: &str, fields: &'a [Field]) -> Result<Self> {
        let mut named: Vec<&Field> = vec![];
        let mut place = |name: &str| {
            let field = fields.iter().find(|field| field.name() == name)?;
            named.push(field);
            Some(named.len() - 1)
        };
        let expr = Expr::parse(text, &mut place).map_err(bcolz_store::Error::from);
        let expr =
            expr.map_err(|error| message::in_condition(error, fields.iter().map(Field::name)))?;
        let expr = expr
            .bind_dates(&|n| named.get(n).map(|field| field.dtype()))
            .map_err(bcolz_store::Error::from)?;
        let filter = Self { expr, fields: named };
        filter.truth(&[], 1, 0)?;
        Ok(filter)
    }

    fn truth(&self, bytes: &[u8], itemsize: usize, nrows: usize) -> Result<Vec<bool>> {
        let column = |field: &&Field| -> Vec<u8> {
            bytes.chunks_exact(itemsize).flat_map(|item| part(field, item)).copied().collect()
        };
        let columns: Vec<Vec<u8>> = self.fields.iter().map(column).collect();
        let parts = self.fields.iter().zip(&columns);
        let vectors: Option<Vec<Vector<'_>>> =
            parts.map(|(field, bytes)| Vector::of_items(field.dtype(), bytes)).collect();
        let vectors = vectors.ok_or_else(|| message::NO_ARITHMETIC.error())?;
        let valid = vec![None; vectors.len()];
        let truth = self.expr.is_true(&vectors, &valid, nrows);
        Ok(truth.map_err(bcolz_store::Error::from)?)
    }
}

fn part<'a>(field: &Field, item: &'a [u8]) -> &'a [u8] {
    item.get(field.offset()..field.offset() + field.dtype().itemsize()).unwrap_or_default()
}

/// Where rows go: lines at once, text when all of it is known.
struct Out<'a> {
    args: &'a ShowArgs,
    cx: &'a Context,
    page: String,
    table: Table,
    room: u64,
}

impl<'a> Out<'a> {
    fn new(args: &'a ShowArgs, cx: &'a Context, records: &Records<'_>) -> Self {
        let align = |field: &&Field| match field.dtype().kind() {
            Some(Kind::Bytes | Kind::Unicode) | None => Align::Left,
            Some(_) => Align::Right,
        };
        let mut table = Table::new(&records.columns.iter().map(align).collect::<Vec<_>>());
        table.row(records.columns.iter().map(|field| harmless(field.name())));
        let mut page = String::new();
        if args.csv {
            render::line(records.columns.iter().map(|it| it.name().to_owned()), &mut page);
        }
        Self { args, cx, page, table, room: cx.memory() / CELL }
    }

    fn row(&mut self, records: &Records<'_>, item: &[u8]) -> Result<()> {
        if self.cx.console.json() {
            let names = records.columns.iter().map(|field| field.name().to_owned());
            let row: Map<String, Value> = names.zip(records.values(item, item::json)).collect();
            self.page.push_str(&(json_text(&row) + "\n"));
        } else if self.args.csv {
            render::line(records.values(item, item::cell).into_iter(), &mut self.page);
        } else {
            let ncells = records.columns.len() as u64;
            let limit = self.cx.memory() / CELL;
            let too_many = Error::ShowLess { nitems: limit.saturating_add(ncells), limit };
            self.room = self.room.checked_sub(ncells).ok_or(too_many)?;
            self.table.row(records.values(item, item::plain_cell));
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let page = core::mem::take(&mut self.page);
        if page.is_empty() { Ok(()) } else { self.cx.console.print(&page) }
    }

    fn finish(mut self) -> Result<()> {
        self.flush()?;
        match self.args.csv || self.cx.console.json() {
            true => Ok(()),
            false => self.cx.console.print(&self.table.to_string()),
        }
    }
}

//! Tables of bcolz.

use core::ops::Range;

use bcolz_store::{CTable, DataSet, query::Scan};
use blosc_data::formats::bcolz_filter;
use blosc_dtype::Dtype;

use super::{
    item,
    rows::{BATCH_NROWS, RowPrinter, align},
};
use crate::{
    args::{ShowArgs, slice},
    context::Context,
    error::{Result, message},
    formats::Bcolz,
    render::Align,
};

/// Shows rows of a table.
pub(super) fn run(args: &ShowArgs, cx: &Context, name: &str, set: &Bcolz) -> Result<()> {
    let DataSet::CTable(table) = set.tuned(&cx.read_options())? else { return Ok(()) };
    let columns = Columns::new(args, cx, name, &table)?;
    let names: Vec<String> = columns.names.iter().map(|name| (*name).to_owned()).collect();
    let aligns: Vec<Align> = columns.dtypes.iter().map(align).collect();
    let ncells = (columns.rows.end - columns.rows.start).saturating_mul(names.len() as u64);
    let mut out = RowPrinter::new(args, cx, names, &aligns);
    let parts = out.shown(columns.rows.clone());
    for (n, rows) in parts.iter().enumerate() {
        if n > 0 {
            out.dots();
        }
        for batch in columns.scan(args, rows.clone())?.batches() {
            let batch = batch?;
            out.admit(batch.rows.len() as u64, ncells)?;
            for row in 0..batch.rows.len() {
                let item = |n: usize| {
                    let column = &batch.columns[n];
                    let start = row * column.rowsize;
                    column.items.get(start..start + column.rowsize).unwrap_or_default()
                };
                let text = |n| item::cell(&columns.dtypes[n], item(n));
                out.row(text, |n| item::json(&columns.dtypes[n], item(n)));
            }
            out.flush()?;
        }
    }
    out.finish((parts.len() > 1).then_some((table.len(), table.columns().len() as u64)))
}

/// The columns that are shown.
struct Columns<'a> {
    table: &'a CTable,
    names: Vec<&'a str>,
    /// The item type of each column; an array type where a row has a shape.
    dtypes: Vec<Dtype>,
    /// The range of rows to read.
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
        let filter = args.rows.condition.as_deref().map(|text| bcolz_filter(table, text));
        let filter = filter.transpose()?;
        let mut matches = filter.map(|filter| move |rows| Ok(filter.matches(rows)?));
        let matches = matches.as_mut().map(|matches| matches as _);
        let rows = slice::rows(args.slice.as_ref(), table.len(), matches)?;
        Ok(Self { table, names, dtypes, rows })
    }

    /// The rows of this range that the options choose.
    fn scan(&self, args: &ShowArgs, rows: Range<u64>) -> Result<Scan<'a>> {
        let scan = self.table.scan().columns(&self.names)?.rows(rows).batch(BATCH_NROWS.into());
        let scan = scan.skip(args.skip.unwrap_or(0)).limit(args.lines.unwrap_or(u64::MAX));
        Ok(match &args.rows.condition {
            Some(text) => scan.filter(text)?,
            None => scan,
        })
    }
}

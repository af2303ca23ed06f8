//! Arrays of items with fields, shown as tables: columns and rows are chosen as for tables of bcolz
//! and stores.

use core::ops::Range;

use blosc_data::content::Records;

use super::{
    item,
    rows::{self, BATCH_NROWS, RowPrinter, align},
};
use crate::{
    args::{ShowArgs, slice},
    commands::content::{grid::Grid, values::Axis},
    context::Context,
    error::{Error, Result, message},
    render::Align,
};

/// Whether an option chooses rows or columns.
pub(super) fn is_wanted(args: &ShowArgs) -> bool {
    !args.columns.is_empty() || args.rows.condition.is_some() || args.skip.is_some()
}

/// Prints the chosen rows and columns.
///
/// # Errors
///
/// When the items have no fields, or several dimensions; when a column is missing, a condition
/// makes no sense, or the rows cannot be read.
pub(super) fn run(args: &ShowArgs, cx: &Context, grid: &Grid) -> Result<()> {
    let [len] = grid.shape() else { return Err(message::NOT_A_TABLE.error()) };
    let records = Records::new(&args.columns, args.rows.condition.as_deref(), grid.dtype())?;
    let read = |rows: &Range<u64>| {
        let (start, len) = (rows.start, rows.end - rows.start);
        let mut bytes = vec![];
        grid.read_part(&[Axis { start, step: 1, len, is_index: false }], &mut bytes)?;
        let truth = records.truth(&bytes)?;
        Ok::<_, Error>((bytes, truth))
    };
    let mut matches = |rows: Range<u64>| {
        let truth = rows.clone().zip(read(&rows)?.1);
        Ok(truth.filter(|(_, is_found)| *is_found).map(|(row, _)| row).collect())
    };
    let rows = slice::rows(args.slice.as_ref(), *len, Some(&mut matches))?;
    let names = records.columns.iter().map(|field| field.name().to_owned()).collect();
    let aligns: Vec<Align> = records.columns.iter().map(|field| align(field.dtype())).collect();
    let mut out = RowPrinter::new(args, cx, names, &aligns);
    let too_many = rows::max_cells(cx).saturating_add(aligns.len() as u64);
    let (mut skip, mut left) = (args.skip.unwrap_or(0), args.lines.unwrap_or(u64::MAX));
    for start in rows.clone().step_by(BATCH_NROWS.into()) {
        let end = start.saturating_add(BATCH_NROWS.into()).min(rows.end);
        let (bytes, truth) = read(&(start..end))?;
        for (item, _) in bytes.chunks_exact(records.itemsize()).zip(truth).filter(|(_, is)| *is) {
            if skip > 0 {
                skip -= 1;
            } else if left > 0 {
                left -= 1;
                out.admit(1, too_many)?;
                let cell =
                    |n: usize| (records.columns[n].dtype(), records.columns[n].bytes_of(item));
                let text = |n| item::cell(cell(n).0, cell(n).1);
                out.row(text, |n| item::json(cell(n).0, cell(n).1));
            }
        }
        out.flush()?;
        if left == 0 {
            break;
        }
    }
    out.finish(None)
}

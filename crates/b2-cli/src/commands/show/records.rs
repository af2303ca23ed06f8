//! Arrays whose items have fields, as tables: columns and rows are chosen as those of a table of
//! bcolz or of a store.

use blosc_dtype::{
    Dtype, Field,
    expr::{Expr, Vector},
};

use super::{
    item, range,
    rows::{self, BATCH_NROWS, RowPrinter, align},
};
use crate::{
    args::ShowArgs,
    commands::content::{grid::Grid, values::Axis},
    context::Context,
    error::{Result, message},
    render::Align,
};

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
    let names = records.columns.iter().map(|field| field.name().to_owned()).collect();
    let aligns: Vec<Align> = records.columns.iter().map(|field| align(field.dtype())).collect();
    let mut out = RowPrinter::new(args, cx, names, &aligns);
    let too_many = rows::max_cells(cx).saturating_add(aligns.len() as u64);
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
            bytes.chunks_exact(itemsize).flat_map(|item| field.bytes_of(item)).copied().collect()
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

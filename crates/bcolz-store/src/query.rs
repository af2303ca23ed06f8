//! Rows of a table that meet a condition, and sums over them.
//!
//! A query reads a table in blocks of rows, several at once. It first reads the columns of the
//! condition; the others follow only if a row meets it. The table alone determines the blocks, and
//! so the sums too.
#![cfg_attr(
    not(test),
    expect(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        reason = "rows and bytes that were compared with the layout"
    )
)]

mod aggregate;
mod batches;
mod block;

use core::ops::Range;

pub use aggregate::{Aggregate, Number};
pub use batches::{Batch, BatchColumn, Batches};
pub use blosc_dtype::expr::ExprError;

use crate::ctable::CTable;
#[cfg(feature = "arrow")]
use crate::ctable::Column;
use crate::error::{Param, Result};
use blosc_dtype::expr::{Expr, ValueType};

/// A query on a table; made by [`CTable::scan`].
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let root = dir.path().join("trades");
/// # use bcolz_store::{CTable, CTableWriter, CreateOptions, Dtype, query::Number};
/// # type Created = Result<CreateOptions, Box<dyn std::error::Error>>;
/// # let new = |dtype| -> Created { Ok(CreateOptions::new(Dtype::parse(dtype)?)) };
/// # let columns = [("price", new("int16")?), ("volume", new("uint8")?)];
/// # let mut writer = CTableWriter::create(&root, &columns)?;
/// # writer.append(&[&[10, 0, 20, 0, 30, 0, 40, 0], &[1, 2, 3, 4]])?;
/// # writer.finish()?;
/// let table = CTable::open(root)?;
/// let query = table.scan().filter("(price > 10) & (volume < 4)")?;
/// assert_eq!(query.count()?, 2);
/// assert_eq!(query.aggregate("price * volume")?.sum, Number::Int(130));
///
/// for batch in query.columns(&["volume"])?.limit(1).batches() {
///     let batch = batch?;
///     assert_eq!((&batch.rows[..], &batch.columns[0].items[..]), (&[1][..], &[2][..]));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scan<'a> {
    table: &'a CTable,
    rows: Range<u64>,
    /// The indices of the requested columns.
    wanted: Vec<usize>,
    filter: Option<Formula>,
    skip: u64,
    limit: u64,
    batch: u64,
}

/// An expression with the columns that it names.
#[derive(Clone, Debug)]
struct Formula {
    expr: Expr,
    /// Their indices in the table, in the order of their numbers in the expression.
    columns: Vec<usize>,
}

impl CTable {
    /// A query that gives all rows and columns, to be narrowed down.
    #[must_use]
    pub fn scan(&self) -> Scan<'_> {
        let wanted = (0..self.columns.len())
            .filter(|place| !self.columns[*place].array.is_object())
            .collect();
        Scan {
            table: self,
            rows: 0..self.len(),
            wanted,
            filter: None,
            skip: 0,
            limit: u64::MAX,
            batch: 0,
        }
    }
}

impl<'a> Scan<'a> {
    /// Gives only these columns, in this order. Default: all but those of objects.
    ///
    /// # Errors
    ///
    /// [`Param::NoColumn`]; [`Param::Objects`] for a column of objects.
    pub fn columns(mut self, names: &[&str]) -> Result<Self> {
        self.wanted.clear();
        for name in names {
            let Some(place) = self.table.names().position(|found| found == *name) else {
                return Err(Param::NoColumn { name: (*name).to_owned() }.into());
            };
            let array = &self.table.columns[place].array;
            if array.is_object() {
                return Err(Param::Objects { found: array.path().to_owned(), objects: true }.into());
            }
            self.wanted.push(place);
        }
        Ok(self)
    }

    /// Gives only rows for which an expression is true: columns, constants, `+ - * / // % ** <<
    /// >>`, comparisons, `& | ^ ~` (they bind more tightly than comparisons), `and`, `or`,
    /// `not`, and functions of numexpr: `where`, `abs`, `sign`, `sqrt`, `exp`, `expm1`, `log`,
    /// `log10`, `log1p`, `log2`, `sin`, `cos`, `tan` and their relatives (`arc`, `h`), `arctan2`,
    /// `hypot`, `ceil`, `floor`, `round`, `trunc`, `fmod`, `maximum`, `minimum`, `copysign`,
    /// `nextafter`, `signbit`, `isnan`, `isinf`, `isfinite`, `contains`. Integers have 64 bits.
    /// Columns of dates are compared with texts such as `'2012-01-31'` or
    /// `'2012-01-31T23:59:59'`, and are integers otherwise.
    ///
    /// # Errors
    ///
    /// [`Error::Expr`](crate::Error::Expr) if the text is no expression with truth values.
    pub fn filter(self, expr: &str) -> Result<Self> {
        let (formula, result) = self.formula(expr)?;
        if result != ValueType::Truth {
            return Err(ExprError::Result { found: result.name(), expected: "truth values" }.into());
        }
        Ok(Self { filter: Some(formula), ..self })
    }

    /// Searches only these rows of the table.
    #[must_use]
    pub fn rows(self, rows: Range<u64>) -> Self {
        let end = rows.end.min(self.table.len());
        Self { rows: rows.start.min(end)..end, ..self }
    }

    /// Skips the first rows found.
    #[must_use]
    pub fn skip(self, rows: u64) -> Self {
        Self { skip: rows, ..self }
    }

    /// Ends after at most `rows` rows.
    #[must_use]
    pub fn limit(self, rows: u64) -> Self {
        Self { limit: rows, ..self }
    }

    /// Makes batches of `rows` rows, the last one smaller. Default, and with 0: the rows of a
    /// block.
    #[must_use]
    pub fn batch(self, rows: u64) -> Self {
        Self { batch: rows, ..self }
    }

    /// The requested columns.
    #[cfg(feature = "arrow")]
    pub(crate) fn wanted(&self) -> impl Iterator<Item = &'a Column> {
        self.wanted.iter().map(|place| &self.table.columns[*place])
    }

    #[cfg(feature = "arrow")]
    pub(crate) const fn table(&self) -> &'a CTable {
        self.table
    }

    /// An expression, and the type of its values.
    fn formula(&self, text: &str) -> Result<(Formula, ValueType)> {
        let mut columns: Vec<usize> = Vec::new();
        let expr = Expr::parse(text, &mut |name| {
            let place = self.table.names().position(|found| found == name)?;
            Some(columns.iter().position(|found| *found == place).unwrap_or_else(|| {
                columns.push(place);
                columns.len() - 1
            }))
        })?;
        let expr =
            expr.bind_dates(&|number| Some(self.table.columns[columns[number]].array.dtype()))?;
        let formula = Formula { expr, columns };
        let mut none = Vec::new();
        for place in &formula.columns {
            none.push(block::vector(&self.table.columns[*place], &[])?);
        }
        let result = formula.expr.eval(&none)?.value_type();
        Ok((formula, result))
    }
}

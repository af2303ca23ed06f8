//! Conditions on the rows of a table ("Conditions" in `docs/formats/store.md`).
//!
//! A comparison with a null is unknown; `and`, `or` and `not` follow Kleene's rules; rows whose
//! condition is unknown are not found. python-blosc2's `CTable.where` does the same.

use core::ops::Range;
use std::sync::{Arc, OnceLock};

use blosc_dtype::Dtype;
use blosc_dtype::expr::{Expr, ExprError, Stored, ValueType, Vector};

use super::summary::{Catalog, Summary, pieces};
use super::{Column, ColumnKind, ColumnValues, Table, Values};
use crate::error::Result;
use crate::value::Value;

/// A condition on the rows of a table; made by [`Table::filter`].
#[derive(Clone, Debug)]
pub struct Filter {
    expr: Expr,
    /// The columns in the condition, in the order of their numbers in the expression.
    columns: Vec<Column>,
    /// The types of their items, dates for times; `None` for text of any length and for objects.
    dtypes: Vec<Option<Dtype>>,
    /// The usable indexes of its columns, read at the first search.
    summaries: Arc<OnceLock<Vec<Option<Summary>>>>,
}

impl Table {
    /// A condition: an expression that is true or false for a row, of columns, constants,
    /// `+ - * / // % ** << >>`, comparisons, `& | ^ ~` (they bind more tightly than comparisons),
    /// `and`, `or`, `not`, and the functions of `blosc_dtype::expr`. Times are compared with texts,
    /// for example `'2012-01-31T23:59:59'`; text, words and byte strings with texts.
    ///
    /// ```no_run
    /// use b2store::Store;
    ///
    /// let table = Store::open("trades.b2z")?.table("/")?;
    /// let rows = table.filter("(price > 10) & (side == 'buy')")?.matches(0..table.len()?)?;
    /// println!("{} rows, the first is {:?}", rows.len(), rows.first());
    /// # Ok::<(), b2store::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Expr`](crate::Error::Expr) if the text is not a valid expression; as
    /// [`column`](Self::column).
    pub fn filter(&self, text: &str) -> Result<Filter> {
        let names: Vec<&str> =
            self.schema().columns.iter().map(|column| column.name.as_str()).collect();
        let mut places: Vec<usize> = Vec::new();
        let expr = Expr::parse(text, &mut |name| {
            let place = names.iter().position(|known| *known == name)?;
            Some(places.iter().position(|found| *found == place).unwrap_or_else(|| {
                places.push(place);
                places.len().saturating_sub(1)
            }))
        })?;
        let named = places.iter().filter_map(|place| names.get(*place));
        let columns = named.map(|name| self.column(name)).collect::<Result<Vec<_>>>()?;
        let dtypes: Vec<_> = columns.iter().map(compared_dtype).collect();
        let expr = expr.bind_dates(&|number| dtypes.get(number)?.as_ref())?;
        let filter = Filter { expr, columns, dtypes, summaries: Arc::default() };
        filter.check()?;
        Ok(filter)
    }
}

impl Filter {
    /// The logical rows of a range that meet the condition. Rows that an index of python-blosc2
    /// excludes ([`Table::indexes`]) are not read.
    ///
    /// # Errors
    ///
    /// As [`Column::read`].
    pub fn matches(&self, rows: Range<u64>) -> Result<Vec<u64>> {
        let mut found = Vec::new();
        for part in self.candidates(rows)? {
            found.append(&mut self.matches_in(part)?);
        }
        Ok(found)
    }

    /// The parts of a range in which rows may meet the condition.
    fn candidates(&self, rows: Range<u64>) -> Result<Vec<Range<u64>>> {
        let Some(table) = self.columns.first().map(Column::table) else { return Ok(vec![rows]) };
        let summaries = self.summaries.get_or_init(|| self.summaries_of(table));
        let is_range = rows.start <= rows.end && rows.end <= table.len()?;
        if summaries.iter().all(Option::is_none) || !is_range {
            return Ok(vec![rows]);
        }
        let mut parts: Vec<Range<u64>> = Vec::new();
        let all = summaries.iter().map(Option::as_ref);
        for piece in pieces(&table.spans(&rows)?, rows.start, all.clone()) {
            let bounds = all.clone().map(|summary| summary?.bounds(piece.physical));
            if !self.expr.may_be_true(&bounds.collect::<Vec<_>>()) {
                continue;
            }
            match parts.last_mut() {
                Some(last) if last.end == piece.rows.start => last.end = piece.rows.end,
                _ => parts.push(piece.rows),
            }
        }
        Ok(parts)
    }

    /// The summaries of its columns, if there are segments to skip. Empty if the catalog is
    /// unreadable.
    fn summaries_of(&self, table: &Table) -> Vec<Option<Summary>> {
        let has_segments = |column: &Column| {
            let block = column.fixed().and_then(|array| array.blockshape().first().copied());
            block.is_some_and(|block| u64::from(block) < table.capacity())
        };
        if !self.columns.iter().any(has_segments) {
            return Vec::new();
        }
        let Some(catalog) = Catalog::read(table) else { return Vec::new() };
        self.columns.iter().map(|column| Summary::open(column, &catalog).ok()).collect()
    }

    fn matches_in(&self, rows: Range<u64>) -> Result<Vec<u64>> {
        let nrows = usize::try_from(rows.end.saturating_sub(rows.start)).unwrap_or(usize::MAX);
        let read = self.columns.iter().map(|column| column.read(rows.clone()));
        let read = read.collect::<Result<Vec<_>>>()?;
        let truth = match self.truth_of_stored(&read) {
            Some(truth) if truth.len() == nrows => truth,
            _ => self.truth(&read, nrows)?,
        };
        Ok(rows.zip(truth).filter_map(|(row, is_true)| is_true.then_some(row)).collect())
    }

    /// Truth values in the memory of the items, if the condition compares items of fixed width
    /// without nulls with constants.
    fn truth_of_stored(&self, read: &[ColumnValues]) -> Option<Vec<bool>> {
        let stored = read.iter().zip(&self.dtypes).map(|(values, dtype)| match &values.values {
            Values::Fixed { bytes, .. } if values.valid.is_none() => {
                Some(Stored { dtype: dtype.as_ref()?, bytes })
            }
            _ => None,
        });
        self.expr.truth_of_stored(&stored.collect::<Option<Vec<_>>>()?)
    }

    fn truth(&self, read: &[ColumnValues], nrows: usize) -> Result<Vec<bool>> {
        let columns = self.columns.iter().zip(&self.dtypes).zip(read);
        let vectors = columns.map(|((column, dtype), values)| {
            vector(dtype.as_ref(), values).ok_or_else(|| unusable(column, dtype.as_ref()))
        });
        let vectors = vectors.collect::<core::result::Result<Vec<_>, _>>()?;
        let valid: Vec<_> = read.iter().map(|values| values.valid.as_deref()).collect();
        Ok(self.expr.is_true(&vectors, &valid, nrows)?)
    }

    /// Checks the types of the columns and of the result, which need no rows.
    fn check(&self) -> Result<()> {
        let empty = self.columns.iter().zip(&self.dtypes).map(|(column, dtype)| {
            let kind = &column.spec().kind;
            let found = match kind {
                ColumnKind::Utf8 | ColumnKind::VlString | ColumnKind::Dictionary { .. } => {
                    Some(Vector::Text(Vec::new()))
                }
                ColumnKind::VlBytes => Some(Vector::Bytes(Vec::new())),
                ColumnKind::NdArray { .. } => None,
                _ => dtype.as_ref().and_then(|dtype| Vector::of_items(dtype, &[])),
            };
            found.ok_or_else(|| unusable(column, dtype.as_ref()))
        });
        let empty = empty.collect::<core::result::Result<Vec<_>, _>>()?;
        match self.expr.eval(&empty)?.value_type() {
            ValueType::Truth => Ok(()),
            other => Err(wrong_result(other.name()).into()),
        }
    }
}

const fn wrong_result(found: &'static str) -> ExprError {
    ExprError::Result { found, expected: "truth values" }
}

fn unusable(column: &Column, dtype: Option<&Dtype>) -> ExprError {
    let dtype = match dtype {
        Some(dtype) => dtype.to_string(),
        None => format!("{:?}", column.spec().kind).to_ascii_lowercase(),
    };
    ExprError::Column { name: column.spec().name.clone(), dtype }
}

/// The type that items are compared as.
pub(super) fn compared_dtype(column: &Column) -> Option<Dtype> {
    let dtype = column.dtype()?;
    let text = match &column.spec().kind {
        ColumnKind::Timestamp { unit, .. } => format!("<M8[{unit}]"),
        ColumnKind::Fixed("b1") => "|b1".to_owned(),
        _ => return Some(dtype.clone()),
    };
    Some(Dtype::parse(&text).unwrap_or_else(|_| dtype.clone()))
}

/// The values of a column, if an expression can use them. Values of nulls have no meaning.
pub(super) fn vector<'a>(dtype: Option<&Dtype>, column: &'a ColumnValues) -> Option<Vector<'a>> {
    let rows = 0..column.len();
    match &column.values {
        Values::Fixed { item_shape, bytes, .. } if item_shape.is_empty() => {
            Vector::of_items(dtype?, bytes)
        }
        Values::Fixed { .. } => None,
        Values::Text { .. } | Values::Dictionary { .. } => {
            Some(Vector::Text(rows.map(|row| text(column.value(row))).collect()))
        }
        Values::Objects(objects) => {
            let has_bytes = objects.iter().any(|object| matches!(object, Value::Bytes(_)));
            if !has_bytes {
                return Some(Vector::Text(objects.iter().cloned().map(text).collect()));
            }
            let bytes = objects.iter().map(|object| match object {
                Value::Bytes(bytes) => bytes.as_slice(),
                _ => &[],
            });
            Some(Vector::Bytes(bytes.collect()))
        }
    }
}

fn text(value: Value) -> String {
    if let Value::Str(text) = value { text } else { String::new() }
}

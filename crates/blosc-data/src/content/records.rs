//! Items with fields as rows: a choice of fields and rows, and a table made of them.

use core::ops::Range;

use b2store::ColumnValues;
use blosc_dtype::{
    Dtype, Field,
    expr::{Expr, Vector},
};

use super::{Items, NULL_TRUTH};
use crate::columns::Rule;
#[cfg(feature = "arrow")]
use crate::error::Error;
use crate::error::{Param, Refusal, Result};
use crate::size::as_len;
use crate::table::{Column, RowFilter, Table};

/// Items with fields, and the choice of them.
#[derive(Debug)]
pub struct Records<'a> {
    dtype: &'a Dtype,
    /// The chosen fields.
    pub columns: Vec<&'a Field>,
    filter: Option<Filter<'a>>,
    /// The fields of truth values that may be missing.
    nullable: &'a [String],
}

/// A condition, with the fields that it names.
#[derive(Debug)]
struct Filter<'a> {
    expr: Expr,
    fields: Vec<&'a Field>,
}

impl<'a> Records<'a> {
    /// The fields with these names (all, without names), and the items that fulfil a condition.
    ///
    /// # Errors
    ///
    /// Items without fields; names or conditions of unknown fields.
    pub fn new(columns: &[String], condition: Option<&str>, dtype: &'a Dtype) -> Result<Self> {
        let fields = dtype.fields();
        if fields.is_empty() {
            return Err(Refusal::NotATable.into());
        }
        let find = |name: &String| {
            let found = fields.iter().find(|field| field.name() == name);
            found.ok_or_else(|| Refusal::no_column(name, fields.iter().map(Field::name)))
        };
        let columns = match columns.is_empty() {
            true => fields.iter().collect(),
            false => columns.iter().map(find).collect::<Result<_, Refusal>>()?,
        };
        let filter = condition.map(|text| Filter::new(text, fields)).transpose()?;
        Ok(Self { dtype, columns, filter, nullable: &[] })
    }

    /// Names the fields that may be [`NULL_TRUTH`], which fulfils no condition.
    #[must_use]
    pub fn nullable(self, nullable: &'a [String]) -> Self {
        Self { nullable, ..self }
    }

    /// Bytes of an item.
    pub fn itemsize(&self) -> usize {
        self.dtype.itemsize().max(1)
    }

    /// Whether each item is chosen.
    ///
    /// # Errors
    ///
    /// A condition that cannot be evaluated.
    pub fn truth(&self, bytes: &[u8]) -> Result<Vec<bool>> {
        let nrows = bytes.len() / self.itemsize();
        match &self.filter {
            Some(filter) => filter.truth(bytes, self.itemsize(), nrows, self.nullable),
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
        let expr = Expr::parse(text, &mut place);
        let expr = expr
            .and_then(|expr| expr.bind_dates(&|n| named.get(n).map(|field| field.dtype())))
            .map_err(|error| bcolz_store::Error::from(error).into());
        let filter = expr.and_then(|expr| {
            let filter = Self { expr, fields: named };
            filter.truth(&[], 1, 0, &[]).map(|_| filter)
        });
        let names = fields.iter().map(Field::name);
        filter.map_err(|error| Refusal::in_condition(error, text, names))
    }

    fn truth(
        &self,
        bytes: &[u8],
        itemsize: usize,
        nrows: usize,
        nullable: &[String],
    ) -> Result<Vec<bool>> {
        let column = |field: &&Field| -> Vec<u8> {
            bytes.chunks_exact(itemsize).flat_map(|item| field.bytes_of(item)).copied().collect()
        };
        let columns: Vec<Vec<u8>> = self.fields.iter().map(column).collect();
        let parts = self.fields.iter().zip(&columns);
        let vectors: Option<Vec<Vector<'_>>> =
            parts.map(|(field, bytes)| Vector::of_items(field.dtype(), bytes)).collect();
        let vectors = vectors.ok_or(Refusal::NoArithmetic)?;
        let valid = self.fields.iter().zip(&columns).map(|(field, bytes)| {
            let is_nullable = nullable.iter().any(|name| name == field.name());
            is_nullable.then(|| bytes.iter().map(|byte| *byte != NULL_TRUTH).collect())
        });
        let valid: Vec<Option<Vec<bool>>> = valid.collect();
        let valid: Vec<Option<&[bool]>> = valid.iter().map(Option::as_deref).collect();
        let truth = self.expr.is_true(&vectors, &valid, nrows);
        Ok(truth.map_err(bcolz_store::Error::from)?)
    }
}

/// Items of one dimension with fields, as a table.
#[derive(Debug)]
pub(crate) struct RecordTable {
    items: Items,
    columns: Vec<Column>,
    rules: Vec<Rule>,
}

impl RecordTable {
    /// A column for each field.
    ///
    /// # Errors
    ///
    /// A type that no column can hold.
    pub(crate) fn new(items: Items) -> Result<Self> {
        let (mut columns, mut rules) = (vec![], vec![]);
        for field in items.dtype.fields() {
            let (item, inner) = field.dtype().subarray().unwrap_or((field.dtype(), &[]));
            let rule = Rule::of_items(field.name(), item, inner)?;
            let mut column = Column::new(field.name(), rule.kind(), rule.dtype());
            column.item_shape = inner.to_vec();
            columns.push(column);
            rules.push(rule);
        }
        Ok(Self { items, columns, rules })
    }

    fn read_rows(&self, rows: &Range<u64>) -> Result<Vec<u8>> {
        let rowsize = self.items.stored.itemsize;
        let len = rows.end.saturating_sub(rows.start).saturating_mul(rowsize);
        let mut bytes = vec![0; as_len(len)];
        self.items.stored.read(rows.start.saturating_mul(rowsize), &mut bytes)?;
        Ok(bytes)
    }

    /// The field with a number, and its items.
    fn field(&self, column: usize, rows: &[u8]) -> Result<(&Field, Vec<u8>)> {
        let field = self.items.dtype.fields().get(column).ok_or(Param::Column(column))?;
        let items = rows.chunks_exact(self.items.dtype.itemsize().max(1));
        Ok((field, items.flat_map(|item| field.bytes_of(item)).copied().collect()))
    }
}

impl Table for RecordTable {
    fn format(&self) -> &'static str {
        self.items.format
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn nrows(&self) -> u64 {
        self.items.stored.shape.first().copied().unwrap_or(0)
    }

    fn sizes(&self) -> (u64, u64) {
        (self.items.nbytes(), self.items.file_len)
    }

    fn read_columns(&self, columns: &[usize], rows: Range<u64>) -> Result<Vec<ColumnValues>> {
        let (bytes, count) = (self.read_rows(&rows)?, as_len(rows.end.saturating_sub(rows.start)));
        let read = |column: &usize| {
            let (field, items) = self.field(*column, &bytes)?;
            let rule = self.rules.get(*column).ok_or(Param::Column(*column))?;
            rule.values(field.name(), items, count)
        };
        columns.iter().map(read).collect()
    }

    fn filter(&self, condition: &str) -> Result<Box<dyn RowFilter + '_>> {
        let records = Records::new(&[], Some(condition), &self.items.dtype)?;
        Ok(Box::new(RecordFilter { table: self, records }))
    }

    #[cfg(feature = "arrow")]
    fn record_batch(
        &self,
        columns: &[usize],
        rows: Range<u64>,
    ) -> Result<arrow_array::RecordBatch> {
        let bytes = self.read_rows(&rows)?;
        let mut arrays = vec![];
        for column in columns {
            let (field, items) = self.field(*column, &bytes)?;
            let (item, inner) = field.dtype().subarray().unwrap_or((field.dtype(), &[]));
            let array = blosc_dtype::arrow::array(item, inner, items, None);
            let array = array.map_err(|error| Error::NoColumnKind(error.to_string()))?;
            arrays.push((field.name(), array));
        }
        let batch = arrow_array::RecordBatch::try_from_iter(arrays);
        batch.map_err(|error| Error::NoColumnKind(error.to_string()))
    }
}

/// A condition on the rows of a table of items.
#[derive(Debug)]
struct RecordFilter<'a> {
    table: &'a RecordTable,
    records: Records<'a>,
}

impl RowFilter for RecordFilter<'_> {
    fn matches(&self, rows: Range<u64>) -> Result<Vec<u64>> {
        let truth = self.records.truth(&self.table.read_rows(&rows)?)?;
        Ok(rows.zip(truth).filter(|(_, is_true)| *is_true).map(|(row, _)| row).collect())
    }
}

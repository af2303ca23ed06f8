//! Arrays and tables of bcolz.

use core::ops::Range;
use std::sync::Arc;

use b2store::{ColumnValues, Value as Cell};
use bcolz_store::{CArray, CTable, DataSet, verify::Note};
use blosc_dtype::Dtype;
use serde_json::{Map, Value};

use crate::Array;
use crate::columns::Rule;
use crate::dataset::Data;
use crate::error::{Error, Param, Refusal, Result};
use crate::json::attrs;
use crate::objects::{ListOfObjects as _, Pickles};
use crate::size::{as_len, check_range, positions};
#[cfg(feature = "arrow")]
use crate::table::names_of;
use crate::table::{Column, RowFilter, Table};
use crate::verify::{self, OnProgress, Report, VerifyOptions};

/// Bytes of rows that are read at once.
const STEP_NBYTES: usize = 4 << 20;

/// The data of an open data set, whose files take `stored` bytes.
///
/// # Errors
///
/// A type that no column can hold.
pub(crate) fn of_set(set: DataSet, stored: u64) -> Result<Data> {
    Ok(match set {
        DataSet::CArray(array) if array.is_object() => Data::Objects(Arc::new(Pickles(array))),
        DataSet::CArray(array) => Data::Array(Arc::new(BcolzArray::new(array, Some(stored)))),
        DataSet::CTable(table) => Data::Table(Arc::new(BcolzTable::new(table, stored)?)),
    })
}

/// The text of a note, and its file.
#[must_use]
pub fn note(note: &Note) -> String {
    match note.path.as_str() {
        "" => note.fault.to_string(),
        path => format!("{path}: {}", note.fault),
    }
}

/// An open array of bcolz.
#[must_use]
pub fn array(array: CArray) -> Arc<dyn Array> {
    Arc::new(BcolzArray::new(array, None))
}

#[derive(Clone, Debug)]
struct BcolzArray {
    array: CArray,
    chunkshape: Vec<u64>,
    stored: Option<u64>,
}

impl BcolzArray {
    fn new(array: CArray, stored: Option<u64>) -> Self {
        let inner = array.shape().iter().skip(1).copied();
        let chunkshape = core::iter::once(array.chunklen().max(1)).chain(inner).collect();
        Self { array, chunkshape, stored }
    }

    /// Reads the rows of a list one after the other, and takes items of each.
    fn read_rows(&self, rows: &[u64], inner: &[&[u64]], dest: &mut [u8]) -> Result<()> {
        let (rowsize, itemsize) = (self.array.rowsize().max(1), self.array.dtype().itemsize());
        let part = inner.iter().fold(itemsize, |nbytes, list| nbytes.saturating_mul(list.len()));
        let strides = strides(self.array.shape(), itemsize);
        let mut dest = dest.chunks_exact_mut(part.max(1));
        for some in rows.chunks((STEP_NBYTES / rowsize).max(1)) {
            let bytes = self.array.read_rows(some)?;
            for (row, to) in bytes.chunks_exact(rowsize).zip(&mut dest) {
                take(row, inner, &strides, &mut &mut *to);
            }
        }
        Ok(())
    }
}

impl Array for BcolzArray {
    fn format(&self) -> &'static str {
        "carray"
    }

    fn dtype(&self) -> &Dtype {
        self.array.dtype()
    }

    fn shape(&self) -> &[u64] {
        self.array.shape()
    }

    fn chunkshape(&self) -> &[u64] {
        &self.chunkshape
    }

    fn stored_nbytes(&self) -> Option<u64> {
        self.stored
    }

    fn attributes(&self) -> Result<Map<String, Value>> {
        Ok(attrs::to_map(&self.array.attrs()?))
    }

    fn read_box(&self, bounds: &[Range<u64>], dest: &mut [u8]) -> Result<()> {
        let Some((rows, inner)) = bounds.split_first() else { return Ok(()) };
        let lens = self.array.shape().iter().skip(1);
        if inner.iter().zip(lens).all(|(range, len)| *range == (0..*len)) {
            return Ok(self.array.read_into(rows.clone(), dest)?);
        }
        let lists = bounds.iter().map(positions).collect::<Result<Vec<_>>>()?;
        self.read_at(&lists.iter().map(Vec::as_slice).collect::<Vec<_>>(), dest)
    }

    fn verify(&self, options: &VerifyOptions, progress: OnProgress<'_>) -> Result<Report> {
        Ok(verify::report(self.array.verify(options, progress)?, note))
    }

    fn read_at(&self, positions: &[&[u64]], dest: &mut [u8]) -> Result<()> {
        match positions.split_first() {
            Some((rows, inner)) => self.read_rows(rows, inner, dest),
            None => Ok(()),
        }
    }
}

/// Bytes from one position to the next in each dimension but the first.
fn strides(shape: &[u64], itemsize: usize) -> Vec<usize> {
    let mut strides = vec![itemsize];
    for len in shape.iter().skip(2).rev() {
        let inner = strides.last().copied().unwrap_or(itemsize);
        strides.push(inner.saturating_mul(as_len(*len)));
    }
    strides.reverse();
    strides
}

/// Copies the items at all combinations of positions into `dest`, and moves it forward.
fn take(from: &[u8], lists: &[&[u64]], strides: &[usize], dest: &mut &mut [u8]) {
    let (Some((list, lists)), Some((stride, strides))) =
        (lists.split_first(), strides.split_first())
    else {
        let (item, rest) = core::mem::take(dest).split_at_mut(from.len());
        item.copy_from_slice(from);
        *dest = rest;
        return;
    };
    for position in *list {
        let start = as_len(*position).saturating_mul(*stride);
        take(&from[start..start + stride], lists, strides, dest);
    }
}

#[derive(Debug)]
struct BcolzTable {
    table: CTable,
    columns: Vec<Column>,
    rules: Vec<Rule>,
    stored: u64,
}

impl BcolzTable {
    fn new(table: CTable, stored: u64) -> Result<Self> {
        let mut columns = vec![];
        let mut rules = vec![];
        for column in table.columns() {
            let (array, inner) = (&column.array, column.array.shape().get(1..).unwrap_or_default());
            let rule = match array.is_object() {
                true => Rule::Objects,
                false => match Rule::of_items(&column.name, array.dtype(), inner) {
                    Err(Error::NoColumnKind(_)) => {
                        Rule::Raw { dtype: array.dtype().clone(), item_shape: inner.to_vec() }
                    }
                    rule => rule?,
                },
            };
            let mut described = Column::new(&column.name, rule.kind(), rule.dtype());
            described.item_shape = inner.to_vec();
            columns.push(described);
            rules.push(rule);
        }
        Ok(Self { table, columns, rules, stored })
    }
}

impl Table for BcolzTable {
    fn format(&self) -> &'static str {
        "ctable"
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn nrows(&self) -> u64 {
        self.table.len()
    }

    fn sizes(&self) -> (u64, u64) {
        (self.table.nbytes(), self.stored)
    }

    fn attributes(&self) -> Result<Map<String, Value>> {
        Ok(attrs::to_map(&self.table.attrs()?))
    }

    fn read_columns(&self, columns: &[usize], rows: Range<u64>) -> Result<Vec<ColumnValues>> {
        columns
            .iter()
            .map(|column| {
                let (Some(stored), Some(rule)) =
                    (self.table.columns().get(*column), self.rules.get(*column))
                else {
                    return Err(Param::Column(*column).into());
                };
                if matches!(rule, Rule::Objects) {
                    let cells: Vec<Cell> = Pickles(stored.array.clone()).get(rows.clone())?;
                    return Ok(ColumnValues::objects(cells));
                }
                let bytes = stored.array.read(rows.clone())?;
                rule.values(&stored.name, bytes, as_len(rows.end - rows.start))
            })
            .collect()
    }

    fn verify(&self, options: &VerifyOptions, progress: OnProgress<'_>) -> Result<Report> {
        Ok(verify::report(self.table.verify(options, progress)?, note))
    }

    fn filter(&self, condition: &str) -> Result<Box<dyn RowFilter + '_>> {
        filter(&self.table, condition)
    }

    #[cfg(feature = "arrow")]
    fn record_batch(
        &self,
        columns: &[usize],
        rows: Range<u64>,
    ) -> Result<arrow_array::RecordBatch> {
        check_range(&rows, self.nrows())?;
        let names = names_of(&self.columns, columns)?;
        let scan = self.table.scan().columns(&names)?.rows(rows.clone());
        let batches = scan.batch((rows.end - rows.start).max(1)).record_batches()?;
        let schema = batches.schema();
        let batches = batches.collect::<Result<Vec<_>, _>>()?;
        crate::arrow::concat(&schema, batches)
    }
}

/// A condition on the rows of a table.
///
/// # Errors
///
/// [`Refusal::NoConditionColumn`]; [`Refusal::Condition`] for a condition that does not parse.
pub fn filter(table: &CTable, condition: &str) -> Result<Box<dyn RowFilter>> {
    // Faults of the condition are reported now, and not with the first rows.
    table
        .scan()
        .filter(condition)
        .map_err(|error| Refusal::in_condition(error.into(), condition, table.names()))?;
    Ok(Box::new(Filter { table: table.clone(), condition: condition.to_owned() }))
}

#[derive(Debug)]
struct Filter {
    table: CTable,
    condition: String,
}

impl RowFilter for Filter {
    fn matches(&self, rows: Range<u64>) -> Result<Vec<u64>> {
        check_range(&rows, self.table.len())?;
        let scan = self.table.scan().columns(&[])?.filter(&self.condition)?.rows(rows);
        let mut found = vec![];
        for batch in scan.batches() {
            found.extend(batch?.rows);
        }
        Ok(found)
    }
}

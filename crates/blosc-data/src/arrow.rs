//! Columns of any table as record batches of Arrow (feature `arrow`).

use core::ops::Range;
use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::{Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;

use crate::error::{Error, Param, Result};
use crate::size::{as_len, check_range};
use crate::table::Table;

/// The only batch of a read; a batch without rows if nothing was read.
pub(crate) fn concat(schema: &SchemaRef, batches: Vec<RecordBatch>) -> Result<RecordBatch> {
    let mut batches = batches.into_iter();
    match (batches.next(), batches.next()) {
        (None, _) => Ok(RecordBatch::new_empty(SchemaRef::clone(schema))),
        (Some(only), None) => Ok(only),
        (Some(_), Some(_)) => Err(Error::Internal("more batches than one")),
    }
}

/// The rows of an open table, batch by batch, in bounded memory.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let file = dir.path().join("trades.b2z");
/// # let mut writer = b2store::StoreWriter::create(&file)?;
/// # let columns = [b2store::NewColumn::new("id", b2store::ColumnKind::Fixed("i8"))];
/// # let ids = (0..9_i64).flat_map(i64::to_le_bytes).collect();
/// # let values = [b2store::ColumnValues::fixed("<i8".parse()?, ids)];
/// # writer.insert_table("/", &columns, &values)?;
/// # writer.commit()?;
/// use blosc_data::arrow::Scan;
///
/// let table = blosc_data::open(&file)?.into_table()?;
/// let rows = 0..table.nrows();
/// let scan = Scan::new(table, &["id"], Some("id > 2 and id < 7"), rows, 4)?;
/// let lens = scan.map(|batch| Ok(batch?.num_rows())).collect::<blosc_data::Result<Vec<_>>>()?;
/// assert_eq!(lens, [1, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Scan {
    table: Arc<dyn Table>,
    columns: Vec<usize>,
    condition: Option<String>,
    rows: Range<u64>,
    batch_nrows: u64,
    schema: SchemaRef,
}

impl Scan {
    /// Scans the columns with these names (all, without names), for the rows of `rows` that fulfil
    /// the condition. Batches have `batch_nrows` rows of the table or fewer.
    ///
    /// # Errors
    ///
    /// [`Error::NoMember`], [`Param::Range`]; a condition that does not parse; a column without an
    /// Arrow type.
    pub fn new(
        table: Arc<dyn Table>,
        names: &[&str],
        condition: Option<&str>,
        rows: Range<u64>,
        batch_nrows: u64,
    ) -> Result<Self> {
        check_range(&rows, table.nrows())?;
        if batch_nrows == 0 {
            return Err(Param::Part("a batch has one row at least").into());
        }
        let columns = table.numbers(names)?;
        if let Some(condition) = condition {
            table.filter(condition)?;
        }
        let schema = may_be_null(table.record_batch(&columns, 0..0)?.schema(), &*table, &columns);
        let condition = condition.map(str::to_owned);
        Ok(Self { table, columns, condition, rows, batch_nrows, schema })
    }

    /// The types of the columns.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }

    fn batch(&self, rows: Range<u64>) -> Result<Option<RecordBatch>> {
        let kept = match &self.condition {
            Some(condition) => Some(self.table.filter(condition)?.matches(rows.clone())?),
            None => None,
        };
        if kept.as_ref().is_some_and(Vec::is_empty) {
            return Ok(None);
        }
        let batch = self.table.record_batch(&self.columns, rows.clone())?;
        let batch = match kept {
            Some(kept) => {
                let mut mask = vec![false; as_len(rows.end - rows.start)];
                for row in kept {
                    if let Some(is_kept) = mask.get_mut(as_len(row.saturating_sub(rows.start))) {
                        *is_kept = true;
                    }
                }
                filter_record_batch(&batch, &BooleanArray::from(mask)).map_err(arrow)?
            }
            None => batch,
        };
        // A batch without nulls may declare that, while other batches have some.
        let (_, arrays, nrows) = batch.into_parts();
        let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(nrows));
        RecordBatch::try_new_with_options(self.schema(), arrays, &options).map(Some).map_err(arrow)
    }
}

/// The schema of a batch, with the columns nullable that the table declares so.
fn may_be_null(schema: SchemaRef, table: &dyn Table, columns: &[usize]) -> SchemaRef {
    let fields = schema.fields().iter().zip(columns).map(|(field, column)| {
        let is_nullable = table.columns().get(*column).is_some_and(|column| column.is_nullable);
        Arc::new(field.as_ref().clone().with_nullable(field.is_nullable() || is_nullable))
    });
    let fields: Vec<_> = fields.collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

fn arrow(error: arrow_schema::ArrowError) -> Error {
    Error::Store(error.into())
}

impl Iterator for Scan {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.rows.start < self.rows.end {
            let end = self.rows.start.saturating_add(self.batch_nrows).min(self.rows.end);
            let rows = self.rows.start..end;
            self.rows.start = end;
            if let Some(batch) = self.batch(rows).transpose() {
                return Some(batch);
            }
        }
        None
    }
}

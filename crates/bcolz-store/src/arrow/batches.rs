//! Rows that a query finds, as record batches.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, Field, Metadata, Schema, SchemaRef};
use blosc_dtype::arrow::ArrayError;

use super::{objects, types};
use crate::carray::CArray;
use crate::error::{Error, Param, Result};
use crate::layout::chunk_path;
use crate::pickle;
use crate::query::{Batch, Batches, Scan};

/// Record batches; made by [`Scan::record_batches`].
#[derive(Debug)]
pub struct RecordBatches<'a> {
    batches: Batches<'a>,
    schema: SchemaRef,
    /// Columns of objects, after the others.
    objects: Vec<&'a CArray>,
}

impl<'a> Scan<'a> {
    /// The rows as record batches of [`batch`](Self::batch) rows each; memory holds only a few
    /// blocks of rows.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let root = dir.path().join("trades");
    /// # use bcolz_store::{CTable, CTableWriter, CreateOptions, Dtype};
    /// # type Created = Result<CreateOptions, Box<dyn std::error::Error>>;
    /// # let new = |dtype| -> Created { Ok(CreateOptions::new(Dtype::parse(dtype)?)) };
    /// # let columns = [("price", new("int16")?), ("volume", new("uint8")?)];
    /// # let mut writer = CTableWriter::create(&root, &columns)?;
    /// # writer.append(&[&[10, 0, 20, 0, 30, 0, 40, 0], &[1, 2, 3, 4]])?;
    /// # writer.finish()?;
    /// let table = CTable::open(root)?;
    /// for batch in table.scan().filter("price > 10")?.columns(&["volume"])?.record_batches()? {
    ///     let batch = batch?;
    ///     assert_eq!((batch.num_rows(), batch.num_columns()), (3, 1));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`NoCounterpart`](crate::error::Param::NoCounterpart) for a column that Arrow has no type
    /// for; damaged attributes.
    pub fn record_batches(self) -> Result<RecordBatches<'a>> {
        let columns = self.wanted().map(|column| types::field(&column.name, &column.array));
        let fields = columns.collect::<Result<Vec<Field>>>()?;
        let metadata = types::attrs_metadata(&self.table().attrs()?);
        let schema =
            Arc::new(Schema::new_with_metadata(fields, metadata.into_iter().collect::<Metadata>()));
        Ok(RecordBatches { batches: self.batches(), schema, objects: Vec::new() })
    }
}

impl RecordBatches<'_> {
    /// Adds columns of objects after the others. To find their types, reads all of their objects:
    /// they must all be text, bytes, floats, truth values or 64-bit integers, or `None`, which is
    /// null.
    ///
    /// # Errors
    ///
    /// [`NoColumn`](crate::error::Param::NoColumn); [`Objects`](crate::error::Param::Objects) where
    /// a column has none; [`NoCounterpart`](crate::error::Param::NoCounterpart) for objects of
    /// other or several types; the errors of [`CArray::objects`].
    pub fn objects(mut self, names: &[&str]) -> Result<Self> {
        let mut fields: Vec<Arc<Field>> = self.schema.fields().iter().cloned().collect();
        for name in names {
            let array = self.batches.table().column(name)?;
            fields.push(Arc::new(objects::field(name, array)?));
            self.objects.push(array);
        }
        self.schema = Arc::new(Schema::new_with_metadata(fields, self.schema.metadata().clone()));
        Ok(self)
    }

    /// The schema of all batches.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn record_batch(&self, batch: Batch) -> Result<RecordBatch> {
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.schema.fields().len());
        for column in batch.columns {
            let shape =
                self.batches.table().column(&column.name)?.shape().get(1..).unwrap_or_default();
            let array = blosc_dtype::arrow::array(&column.dtype, shape, column.items, None);
            arrays.push(array.map_err(|error| array_error(&column.name, error))?);
        }
        for array in &self.objects {
            let values =
                batch.rows.iter().map(|row| object(array, *row)).collect::<Result<Vec<_>>>()?;
            let data_type = self.schema.field(arrays.len()).data_type();
            arrays.push(objects::array(data_type, &values));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.rows.len()));
        Ok(RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options)?)
    }
}

/// The error of this crate for a column that Arrow cannot hold.
fn array_error(column: &str, error: ArrayError) -> Error {
    let column = column.to_owned();
    match error {
        ArrayError::NoCounterpart { dtype: found } => Param::NoCounterpart { column, found }.into(),
        ArrayError::Value { item, data_type: dtype, .. } => {
            Param::Value { column, row: item as u64, dtype }.into()
        }
        ArrayError::Arrow(error) => error.into(),
        other => ArrowError::ExternalError(Box::new(other)).into(),
    }
}

fn object(array: &CArray, row: u64) -> Result<pickle::Object> {
    let path = || chunk_path(array.path(), row);
    pickle::load(&array.pickle(row)?).map_err(|source| Error::Pickle {
        path: path(),
        nitem: row,
        source,
    })
}

impl Iterator for RecordBatches<'_> {
    type Item = Result<RecordBatch>;

    /// The next batch; after an error there is none.
    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.batches.next()?;
        let made = batch.and_then(|batch| self.record_batch(batch));
        if made.is_err() {
            self.batches.stop();
        }
        Some(made)
    }
}

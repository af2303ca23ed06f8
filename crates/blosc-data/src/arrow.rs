//! Columns of any table as record batches of Arrow (feature `arrow`).

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::error::{Error, Result};

/// The only batch of a read; one without rows where nothing was read.
pub(crate) fn concat(schema: &SchemaRef, batches: Vec<RecordBatch>) -> Result<RecordBatch> {
    let mut batches = batches.into_iter();
    match (batches.next(), batches.next()) {
        (None, _) => Ok(RecordBatch::new_empty(SchemaRef::clone(schema))),
        (Some(only), None) => Ok(only),
        (Some(_), Some(_)) => Err(Error::Internal("more batches than one")),
    }
}

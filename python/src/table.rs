//! Tables: columns for NumPy, and streams of Arrow.

use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use blosc_data::ColumnKind;
use blosc_data::arrow::Scan as RowScan;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};

use crate::data::{Origin, json};
use crate::memory::Memory;
use crate::value;

/// A table.
#[pyclass(frozen, module = "blosckit._native")]
pub(crate) struct Table {
    pub(crate) data: Arc<dyn blosc_data::Table>,
    pub(crate) origin: Origin,
}

#[pymethods]
impl Table {
    #[getter]
    fn name(&self) -> &str {
        &self.origin.name
    }

    #[getter]
    fn format(&self) -> &'static str {
        self.data.format()
    }

    #[getter]
    fn nrows(&self) -> u64 {
        self.data.nrows()
    }

    /// Bytes decoded, and as they are stored.
    #[getter]
    fn sizes(&self) -> (u64, u64) {
        self.data.sizes()
    }

    /// Name, kind, type, shape of an item, and whether there may be nulls.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let columns = self.data.columns().iter().map(|column| {
            let kind = format!("{:?}", column.kind);
            let kind = kind.split([' ', '(']).next().unwrap_or_default().to_lowercase();
            let dtype = match &column.kind {
                // The numbers that are stored count from 1970.
                ColumnKind::Timestamp { unit, .. } => Some(format!("<M8[{unit}]")),
                _ => column.dtype.as_ref().map(ToString::to_string),
            };
            let shape = PyTuple::new(py, &column.item_shape)?;
            (column.name.as_str(), kind, dtype, shape, column.is_nullable).into_pyobject(py)
        });
        columns.collect()
    }

    fn attributes(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.data.attributes()).map(json).map_err(|error| self.origin.error(error))
    }

    /// Some rows of a column.
    fn read<'py>(
        &self,
        py: Python<'py>,
        column: &str,
        start: u64,
        stop: u64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let read = py.detach(|| self.data.read(&[column], start..stop));
        let read = read.map_err(|error| self.origin.error(error))?;
        let column = read.into_iter().next();
        value::column(py, column.ok_or_else(|| PyValueError::new_err("no column was read"))?)
    }

    /// The numbers of the rows that fulfil a condition, as 64-bit integers.
    fn matches(&self, py: Python<'_>, condition: &str, start: u64, stop: u64) -> PyResult<Memory> {
        let rows = py.detach(|| self.data.filter(condition)?.matches(start..stop));
        let rows = rows.map_err(|error| self.origin.error(error))?;
        Ok(Memory::new(rows.into_iter().flat_map(u64::to_ne_bytes).collect()))
    }

    /// A stream of Arrow of some rows and columns.
    fn stream<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<String>,
        condition: Option<String>,
        start: u64,
        stop: u64,
        batch_rows: u64,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let scan = py.detach(|| {
            let names: Vec<&str> = columns.iter().map(String::as_str).collect();
            let table = Arc::clone(&self.data);
            RowScan::new(table, &names, condition.as_deref(), start..stop, batch_rows)
        });
        let reader = Reader(scan.map_err(|error| self.origin.error(error))?);
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

/// A scan for those who take it through the C interface, with or without the GIL.
struct Reader(RowScan);

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = Python::try_attach(|py| py.detach(|| self.0.next()));
        let batch = batch.flatten()?;
        Some(batch.map_err(|error| ArrowError::ExternalError(Box::new(error))))
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }
}

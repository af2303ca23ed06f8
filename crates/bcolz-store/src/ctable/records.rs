//! Rows of a table as records: the columns' items side by side, as NumPy's structured arrays have
//! them.

use core::ops::Range;

use blosc_dtype::Dtype;

use super::{CTable, Column};
use crate::carray::CArray;
use crate::error::{Error, Param, Result};

impl CTable {
    /// Reads rows as items of [`dtype`](Self::dtype).
    ///
    /// # Errors
    ///
    /// As [`CArray::read`](crate::CArray::read); [`Param::Objects`] if a column holds objects.
    pub fn read_records(&self, rows: Range<u64>) -> Result<Vec<u8>> {
        if rows.start > rows.end || rows.end > self.len() {
            return Err(Param::Rows { start: rows.start, end: rows.end, len: self.len() }.into());
        }
        let mut columns = Vec::new();
        for Column { array, .. } in &self.columns {
            columns.push((array.read(rows.clone())?, array.rowsize()));
        }
        let nbytes = columns.iter().map(|(bytes, _)| bytes.len()).sum();
        let mut records = Vec::with_capacity(nbytes);
        let mut rests: Vec<(&[u8], usize)> =
            columns.iter().map(|(bytes, size)| (&bytes[..], *size)).collect();
        while records.len() < nbytes {
            for (rest, size) in &mut rests {
                let (item, after) = rest.split_at((*size).min(rest.len()));
                records.extend_from_slice(item);
                *rest = after;
            }
        }
        Ok(records)
    }
}

impl CArray {
    /// The type of a row: that of an item, or a sub-array if rows have a shape.
    ///
    /// # Errors
    ///
    /// [`Error::Dtype`] if a row would be too large.
    pub fn row_dtype(&self) -> Result<Dtype> {
        row_dtype(self, self.path())
    }
}

fn row_dtype(array: &CArray, path: &str) -> Result<Dtype> {
    let dtype = array.dtype().clone();
    if array.shape().len() <= 1 {
        return Ok(dtype);
    }
    let shape: Vec<String> =
        array.shape().iter().skip(1).map(|length| format!("{length},")).collect();
    let item = if dtype.scalar().is_some() { format!("'{dtype}'") } else { dtype.to_string() };
    Dtype::parse(&format!("({item}, ({}))", shape.concat()))
        .map_err(|source| Error::Dtype { path: path.to_owned(), source })
}

/// The type of a record.
pub(super) fn dtype(columns: &[Column], path: &str) -> Result<Dtype> {
    let mut fields = Vec::new();
    for Column { name, array } in columns {
        fields.push((name.clone(), row_dtype(array, path)?));
    }
    Dtype::packed(fields).map_err(|source| Error::Dtype { path: path.to_owned(), source })
}

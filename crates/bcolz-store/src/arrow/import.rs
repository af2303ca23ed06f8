//! Record batches as rows of a table.
#![cfg_attr(
    not(test),
    expect(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        reason = "positions and sizes of columns that were compared with the batch"
    )
)]

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use blosc_dtype::{Dtype, Kind};

use super::types::{self, Target};
use crate::create::CreateOptions;
use crate::ctable_writer::CTableWriter;
use crate::error::{Error, Param, Result};
use crate::meta::Attrs;
use blosc_dtype::arrow::{self, NAT, Times};
use blosc_dtype::items;

/// The columns that take the record batches of a schema.
///
/// bcolz strings have a fixed length. If the schema has strings without
/// [`DTYPE_KEY`](super::DTYPE_KEY), [observe](Self::observe) all batches to find the longest before
/// the table is made.
#[derive(Clone, Debug)]
pub struct Columns {
    columns: Vec<Column>,
    attrs: Attrs,
}

#[derive(Clone, Debug)]
struct Column {
    name: String,
    target: Target,
    row_shape: Vec<u64>,
    /// Bytes or characters.
    longest: usize,
    attrs: Attrs,
}

impl Columns {
    /// The columns of a schema.
    ///
    /// # Errors
    ///
    /// [`NoCounterpart`](Param::NoCounterpart) for a type that NumPy does not have.
    pub fn new(schema: &Schema) -> Result<Self> {
        let column = |field: &Field| {
            let (target, row_shape) = types::target(field)?;
            let (name, attrs) = (field.name().clone(), types::attrs(field.metadata()));
            Ok(Column { name, target, row_shape, longest: 1, attrs })
        };
        let columns = schema.fields().iter().map(|field| column(field)).collect::<Result<_>>()?;
        Ok(Self { columns, attrs: types::attrs(schema.metadata()) })
    }

    /// The indices of the columns whose strings are to be observed.
    pub fn unknown(&self) -> impl Iterator<Item = usize> {
        let is_unknown = |column: &Column| matches!(column.target, Target::Longest(_));
        (0..self.columns.len()).filter(move |place| is_unknown(&self.columns[*place]))
    }

    /// Notes the longest strings of a batch, which may lack other columns.
    ///
    /// # Errors
    ///
    /// If a batch lacks strings.
    pub fn observe(&mut self, batch: &RecordBatch) -> Result<()> {
        for column in &mut self.columns {
            let (Target::Longest(kind), Some(array)) =
                (&column.target, batch.column_by_name(&column.name))
            else {
                continue;
            };
            let array = unlisted(&column.name, &column.row_shape, array)?;
            let is_text = *kind == Kind::Unicode;
            let len = |bytes: &[u8]| match core::str::from_utf8(bytes) {
                Ok(text) if is_text => text.chars().count(),
                _ => bytes.len(),
            };
            let longest = strings(&*array).into_iter().map(len).max().unwrap_or(0);
            column.longest = column.longest.max(longest);
        }
        Ok(())
    }

    /// The options to make the columns with, with their attributes.
    ///
    /// # Errors
    ///
    /// If a string is longer than an item can be.
    pub fn options(&self) -> Result<Vec<(String, CreateOptions)>> {
        let options = |column: &Column| {
            let dtype = match &column.target {
                Target::Plain(dtype) => dtype.clone(),
                Target::Longest(kind) => {
                    let code = if *kind == Kind::Bytes { "|S" } else { "<U" };
                    let path = || column.name.clone();
                    Dtype::parse(&format!("{code}{}", column.longest))
                        .map_err(|source| Error::Dtype { path: path(), source })?
                }
            };
            let options = CreateOptions::new(dtype)
                .row_shape(column.row_shape.clone())
                .attrs(column.attrs.clone());
            Ok((column.name.clone(), options))
        };
        self.columns.iter().map(options).collect()
    }

    /// The attributes of the table that the batches came from.
    #[must_use]
    pub const fn attrs(&self) -> &Attrs {
        &self.attrs
    }
}

impl CTableWriter {
    /// Appends the rows of a batch, whose columns are found by their names. Null becomes NaT or
    /// NaN.
    ///
    /// # Errors
    ///
    /// Columns that are missing or of another type, values that do not fit into the column, nulls
    /// of types without NaT and NaN; `Io`.
    pub fn append_batch(&mut self, batch: &RecordBatch) -> Result<()> {
        let mut columns = Vec::new();
        for (name, dtype, shape) in self.types() {
            let array = batch
                .column_by_name(name)
                .ok_or_else(|| Param::NoColumn { name: name.to_owned() })?;
            columns.push(bytes(name, dtype, shape, array)?);
        }
        if columns.len() != batch.num_columns() {
            let (found, expected) = (batch.num_columns(), columns.len());
            return Err(Param::ColumnCount { found, expected }.into());
        }
        let columns: Vec<&[u8]> = columns.iter().map(Vec::as_slice).collect();
        self.append(&columns)
    }
}

/// The items in the lists of an array.
fn unlisted(column: &str, shape: &[u64], array: &dyn Array) -> Result<std::sync::Arc<dyn Array>> {
    let mut array = array.slice(0, array.len());
    for len in shape {
        let refused = || no_counterpart(column, &*array);
        let list = array.as_fixed_size_list_opt().ok_or_else(refused)?;
        if u64::try_from(list.value_length()) != Ok(*len) {
            return Err(refused().into());
        }
        if list.null_count() > 0 {
            let dtype = list.data_type().to_string();
            return Err(Param::Nulls {
                column: column.to_owned(),
                count: list.null_count(),
                dtype,
            }
            .into());
        }
        array = list.values().slice(0, list.values().len());
    }
    Ok(array)
}

/// The items of an array as bcolz stores them.
fn bytes(column: &str, dtype: &Dtype, shape: &[u64], array: &dyn Array) -> Result<Vec<u8>> {
    let array = unlisted(column, shape, array)?;
    let known = arrow::item_type(dtype).filter(|known| types::is_like(known, array.data_type()));
    let Some(known) = known else { return Err(no_counterpart(column, &*array).into()) };
    let is_float = matches!(known, DataType::Float16 | DataType::Float32 | DataType::Float64);
    let times = Times::from_dtype(dtype);
    let count = array.null_count();
    if count > 0 && !is_float && times.is_none() {
        return Err(
            Param::Nulls { column: column.to_owned(), count, dtype: dtype.to_string() }.into()
        );
    }
    let row_error = |row: usize| {
        let (column, dtype) = (column.to_owned(), dtype.to_string());
        Error::from(Param::Value { column, row: row as u64, dtype })
    };
    let mut bytes = match (times, known) {
        (Some(times), _) => return self::times(dtype, &times, &*array).map_err(row_error),
        (None, DataType::Binary | DataType::Utf8) => {
            return padded(dtype, &*array).map_err(row_error);
        }
        (None, DataType::FixedSizeBinary(_)) => {
            let items = array.as_fixed_size_binary_opt().into_iter().flatten().flatten();
            return Ok(items.flatten().copied().collect());
        }
        (None, DataType::Boolean) => {
            let values = array.as_boolean_opt().into_iter().flatten();
            return Ok(values.map(|value| u8::from(value == Some(true))).collect());
        }
        (None, _) => arrow::to_native(&*array).ok_or_else(|| no_counterpart(column, &*array))?,
    };
    let size = dtype.itemsize();
    if is_float && count > 0 {
        let nan = match size {
            2 => half::f16::NAN.to_ne_bytes().to_vec(),
            4 => f32::NAN.to_ne_bytes().to_vec(),
            _ => f64::NAN.to_ne_bytes().to_vec(),
        };
        let rows = bytes.chunks_exact_mut(size).enumerate();
        rows.filter(|(row, _)| array.is_null(*row))
            .for_each(|(_, item)| item.copy_from_slice(&nan));
    }
    if items::is_big(dtype) != cfg!(target_endian = "big") {
        bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
    }
    Ok(bytes)
}

/// Dates and times, or the first row that does not fit.
fn times(dtype: &Dtype, times: &Times, array: &dyn Array) -> core::result::Result<Vec<u8>, usize> {
    let mut bytes = Vec::with_capacity(array.len() * 8);
    for (row, count) in arrow::counts(array).into_iter().flatten().enumerate() {
        let value = if array.is_null(row) { Some(NAT) } else { times.import(count) };
        let value = value.ok_or(row)?;
        bytes.extend(if items::is_big(dtype) { value.to_be_bytes() } else { value.to_le_bytes() });
    }
    Ok(bytes)
}

/// Strings padded with zeros, or the first row whose string is too long or ends in zeros.
fn padded(dtype: &Dtype, array: &dyn Array) -> core::result::Result<Vec<u8>, usize> {
    let (size, is_big) = (dtype.itemsize(), items::is_big(dtype));
    let mut bytes = Vec::with_capacity(array.len() * size);
    for (row, string) in strings(array).into_iter().enumerate() {
        let end = bytes.len() + size;
        match core::str::from_utf8(string) {
            Ok(text) if dtype.kind() == Some(Kind::Unicode) => {
                let code = |c| {
                    if is_big { u32::from(c).to_be_bytes() } else { u32::from(c).to_le_bytes() }
                };
                bytes.extend(text.chars().flat_map(code));
            }
            _ => bytes.extend_from_slice(string),
        }
        if bytes.len() > end || string.ends_with(b"\0") {
            return Err(row);
        }
        bytes.resize(end, 0);
    }
    Ok(bytes)
}

/// The strings of an array with offsets of either size; nulls are empty.
fn strings(array: &dyn Array) -> Vec<&[u8]> {
    fn bytes<'a, T: AsRef<[u8]> + ?Sized + 'a>(
        values: impl Iterator<Item = Option<&'a T>>,
    ) -> Vec<&'a [u8]> {
        values.map(|value| value.map(AsRef::as_ref).unwrap_or_default()).collect()
    }
    match array.data_type() {
        DataType::Binary => bytes(array.as_binary_opt::<i32>().into_iter().flatten()),
        DataType::LargeBinary => bytes(array.as_binary_opt::<i64>().into_iter().flatten()),
        DataType::Utf8 => bytes(array.as_string_opt::<i32>().into_iter().flatten()),
        _ => bytes(array.as_string_opt::<i64>().into_iter().flatten()),
    }
}

fn no_counterpart(column: &str, array: &dyn Array) -> Param {
    Param::NoCounterpart { column: column.to_owned(), found: array.data_type().to_string() }
}

//! Statistics of an array or of each column of a table: least, largest, mean, deviation, nulls,
//! NaN, zeros and distribution of values.
//!
//! ```
//! use blosc_data::stats::{self, StatsOptions};
//!
//! let frame = b2frame::NdParams::new(&[4], "<i2".parse()?);
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("x.b2nd");
//! let mut writer = b2frame::NdWriter::create(&path, &frame)?;
//! writer.write_slice((..,), &[3_i16, -1, 0, 2])?;
//! writer.finish()?;
//!
//! let array = blosc_data::open(&path)?.into_array()?;
//! let found = stats::of_array(&*array, &StatsOptions::default(), &mut |_| ())?;
//! assert_eq!((found[0].counts.mean, found[0].counts.zeros), (Some(1.0), 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod column;
mod runs;

use std::borrow::Cow;

use b2store::{ColumnKind, ColumnValues, Value, Values};
use blosc_dtype::{Dtype, numbers::Histogram};
use serde::Serialize;

use crate::columns::shown_dtype;
use crate::{Array, Budget, Column, Error, Result, Table};

use column::Observed;
pub use runs::Runs;

/// Rows of a table that are read at once.
const BATCH_NROWS: usize = 1 << 14;

blosc_chunk::setters! {
/// The statistics to take.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct StatsOptions {
    /// The fields or columns; empty for all.
    pub columns: Vec<String>,
    /// Steps of the histogram; `None` for none. A histogram reads everything twice.
    pub histogram: Option<u16>,
    /// Threads and memory.
    pub budget: Budget,
}
}

/// The statistics of a column, a field or an array.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ColumnStats {
    /// The name of the column; `None` for an array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Type of the values as NumPy writes it, or the kind of a column without such a type.
    pub dtype: String,
    /// The least value; NaN and NaT do not count.
    #[serde(skip)]
    pub min: Option<Item>,
    /// The largest value.
    #[serde(skip)]
    pub max: Option<Item>,
    /// The other results.
    #[serde(flatten)]
    pub counts: Counts,
}

/// An item with its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The type of the item.
    pub dtype: Dtype,
    /// The bytes of the item.
    pub bytes: Vec<u8>,
}

/// Counts and sums of the values.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Counts {
    /// Mean of the finite values; times have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Standard deviation of the finite values, divided by their number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub std: Option<f64>,
    /// Rows that are null, in a table with nulls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nulls: Option<u64>,
    /// Values that are NaN or NaT.
    pub nan: u64,
    /// Values that are infinite.
    pub inf: u64,
    /// Numbers that are zero, and other items whose bytes are all zero.
    pub zeros: u64,
    /// The distribution of the finite values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub histogram: Option<Histogram>,
}

/// Takes whole items, and the number of times that they occur.
pub type ItemSink<'a> = &'a mut dyn FnMut(&[u8], u64);

/// Takes the values of some rows, one entry for each column.
pub type RowSink<'a> = &'a mut dyn FnMut(&[ColumnValues]);

/// Gets the number of bytes that were read since the last call.
pub type OnBytes<'a> = &'a mut dyn FnMut(u64);

/// Statistics of all items of an array, or of their fields.
///
/// # Errors
///
/// [`Error::NoMember`] for an unknown field; items that cannot be read.
pub fn of_array(
    array: &dyn Array,
    options: &StatsOptions,
    progress: OnBytes<'_>,
) -> Result<Vec<ColumnStats>> {
    let StatsOptions { columns, histogram, budget } = options;
    let itemsize = array.dtype().itemsize();
    let runs = array.frame().map(|frame| Runs::find(frame, itemsize)).transpose()?.flatten();
    of_items(array.dtype(), columns, *histogram, &mut |sink| {
        if let Some(runs) = &runs {
            return runs.for_each(budget, &mut |items, times| {
                progress((items.len() as u64).saturating_mul(times));
                sink(items, times);
            });
        }
        // The pieces end at borders of items.
        crate::array_part(array, 0..array.nbytes(), budget, &mut |items| {
            progress(items.len() as u64);
            sink(items, 1);
            Ok::<(), Error>(())
        })?;
        array.compare_seals()
    })
}

/// Statistics of all rows of a table.
///
/// # Errors
///
/// [`Error::NoMember`] for an unknown column; values that cannot be read.
pub fn of_table(
    table: &dyn Table,
    options: &StatsOptions,
    progress: OnBytes<'_>,
) -> Result<Vec<ColumnStats>> {
    let names: Vec<&str> = options.columns.iter().map(String::as_str).collect();
    let numbers = table.numbers(&names)?;
    let columns = numbers.iter().filter_map(|number| table.columns().get(*number).cloned());
    let columns: Vec<Column> = columns.collect();
    let (nrows, nbytes) = (table.nrows(), table.sizes().0);
    of_columns(&columns, options.histogram, &mut |sink| {
        for start in (0..nrows).step_by(BATCH_NROWS) {
            let end = nrows.min(start.saturating_add(BATCH_NROWS as u64));
            sink(&table.read_columns(&numbers, start..end)?);
            progress(nbytes / nrows.max(1) * (end - start));
        }
        table.compare_seals()
    })
}

/// Statistics of the items that `pass` hands over. Each call hands over all items, in any order; a
/// histogram needs two calls.
///
/// # Errors
///
/// [`Error::NoMember`] for an unknown field; the error of `pass`.
pub fn of_items<E: From<Error>>(
    dtype: &Dtype,
    names: &[String],
    histogram: Option<u16>,
    pass: &mut dyn FnMut(ItemSink<'_>) -> Result<(), E>,
) -> Result<Vec<ColumnStats>, E> {
    let mut columns = Observed::all(dtype, names)?;
    pass(&mut |items, times| columns.iter_mut().for_each(|column| column.look(items, times)))?;
    if let Some(nbins) = histogram {
        columns.iter_mut().for_each(|column| column.start_histogram(nbins));
        pass(&mut |items, times| columns.iter_mut().for_each(|it| it.count(items, times)))?;
    }
    Ok(columns.iter().map(Observed::report).collect())
}

/// Takes values piece by piece, for a caller that has no pass over all of them.
#[derive(Debug)]
pub struct Observer(Observing);

#[derive(Debug)]
enum Observing {
    Items(Vec<Observed>),
    Rows(Vec<Rows>),
}

impl Observer {
    /// An observer of items, or of each of their fields.
    ///
    /// # Errors
    ///
    /// A type without statistics.
    pub fn of_items(dtype: &Dtype) -> Result<Self> {
        Observed::all(dtype, &[]).map(Observing::Items).map(Self)
    }

    /// An observer of the columns of a table.
    #[must_use]
    pub fn of_columns(columns: &[Column]) -> Self {
        Self(Observing::Rows(columns.iter().map(Rows::new).collect()))
    }

    /// Adds items.
    pub fn look_at_items(&mut self, items: &[u8]) {
        if let Observing::Items(columns) = &mut self.0 {
            columns.iter_mut().for_each(|column| column.look(items, 1));
        }
    }

    /// Adds rows: values for each column.
    pub fn look_at_rows(&mut self, rows: &[ColumnValues]) {
        if let Observing::Rows(columns) = &mut self.0 {
            columns.iter_mut().zip(rows).for_each(|(column, values)| column.look(values));
        }
    }

    /// The statistics so far.
    #[must_use]
    pub fn report(&self) -> Vec<ColumnStats> {
        match &self.0 {
            Observing::Items(columns) => columns.iter().map(Observed::report).collect(),
            Observing::Rows(columns) => columns.iter().map(Rows::report).collect(),
        }
    }
}

/// Statistics of the columns that `pass` hands over. Each call hands over all rows. Nulls do not
/// count as values.
///
/// # Errors
///
/// The error of `pass`.
pub fn of_columns<E>(
    columns: &[Column],
    histogram: Option<u16>,
    pass: &mut dyn FnMut(RowSink<'_>) -> Result<(), E>,
) -> Result<Vec<ColumnStats>, E> {
    let mut found: Vec<Rows> = columns.iter().map(Rows::new).collect();
    pass(&mut |batch| found.iter_mut().zip(batch).for_each(|(rows, values)| rows.look(values)))?;
    if let Some(nbins) = histogram {
        let mut found: Vec<_> = found.iter_mut().map(|rows| rows.observed.as_mut()).collect();
        found.iter_mut().flatten().for_each(|observed| observed.start_histogram(nbins));
        pass(&mut |batch| {
            for (observed, values) in found.iter_mut().zip(batch) {
                observed.iter_mut().for_each(|it| it.count(&items(values), 1));
            }
        })?;
    }
    Ok(found.iter().map(Rows::report).collect())
}

/// The statistics of a column of a table.
#[derive(Debug)]
struct Rows {
    /// `None` for text and objects: only their nulls are counted.
    observed: Option<Observed>,
    name: String,
    kind: String,
    nulls: u64,
}

impl Rows {
    fn new(column: &Column) -> Self {
        let name = column.name.clone();
        // If a row is an array, each of its items is a value.
        let dtype = column.dtype.as_ref().map(|dtype| shown_dtype(dtype, &column.kind));
        let observed = dtype.map(|dtype| Observed::of_table(&name, dtype.into_owned()));
        Self { observed, name, kind: kind_name(&column.kind).to_owned(), nulls: 0 }
    }

    fn look(&mut self, values: &ColumnValues) {
        self.nulls += nulls(values);
        if let Some(observed) = &mut self.observed {
            observed.look(&items(values), 1);
        }
    }

    fn report(&self) -> ColumnStats {
        let mut report = match &self.observed {
            Some(observed) => observed.report(),
            None => {
                let (name, dtype) = (Some(self.name.clone()), self.kind.clone());
                ColumnStats { name, dtype, ..ColumnStats::default() }
            }
        };
        report.counts.nulls = Some(self.nulls);
        report
    }
}

/// The kind of a column without a NumPy type, in the words of its table.
fn kind_name(kind: &ColumnKind) -> &str {
    match kind {
        ColumnKind::Utf8 => "utf8",
        ColumnKind::VlString => "vlstring",
        ColumnKind::VlBytes => "vlbytes",
        ColumnKind::Struct => "struct",
        ColumnKind::Object => "object",
        ColumnKind::List => "list",
        ColumnKind::Dictionary { .. } => "dictionary",
        ColumnKind::Unknown(kind) => kind,
        _ => "-",
    }
}

fn nulls(values: &ColumnValues) -> u64 {
    let marked = values.valid.iter().flatten().filter(|is_valid| !**is_valid).count();
    let objects = match (&values.values, &values.valid) {
        (Values::Objects(objects), None) => {
            objects.iter().filter(|value| matches!(value, Value::Nil)).count()
        }
        _ => 0,
    };
    (marked + objects) as u64
}

/// The items of rows that are not null.
fn items(values: &ColumnValues) -> Cow<'_, [u8]> {
    let Values::Fixed { bytes, .. } = &values.values else { return (&[][..]).into() };
    match &values.valid {
        None => bytes.into(),
        Some(valid) => {
            let rowsize = bytes.len().checked_div(valid.len()).unwrap_or(0).max(1);
            let rows = bytes.chunks_exact(rowsize).zip(valid);
            let kept = rows.filter(|(_, is_valid)| **is_valid).flat_map(|(row, _)| row);
            kept.copied().collect::<Vec<u8>>().into()
        }
    }
}

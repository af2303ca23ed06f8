//! What the values of one column are like; of an array, of all items.

use blosc_dtype::Dtype;
use serde::Serialize;
use serde_json::Value;

use crate::{
    commands::{
        content::number::{Number, NumberType},
        show::item,
    },
    error::{Result, message},
    plot::reduce::{Extent, Histogram},
    report::dtype_text,
};

/// Numbers that are summed up before they are combined with the rest.
const RUN: usize = 1024;

/// The findings, as they are printed.
#[derive(Debug, Serialize)]
pub(super) struct ColumnReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    pub(super) dtype: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) min: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max: Option<Value>,
    #[serde(skip)]
    pub(super) min_text: Option<String>,
    #[serde(skip)]
    pub(super) max_text: Option<String>,
    /// Of the finite values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mean: Option<f64>,
    /// Of the finite values, divided by their number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) std: Option<f64>,
    /// Rows without a value, of a table that has such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) nulls: Option<u64>,
    pub(super) nan: u64,
    pub(super) inf: u64,
    /// Items of which all bytes are zero, and numbers that are.
    pub(super) zeros: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) histogram: Option<Histogram>,
}

impl ColumnReport {
    /// That of a column without numbers.
    pub(super) fn of_kind(name: &str, kind: &str) -> Self {
        Self {
            name: Some(name.to_owned()),
            dtype: kind.to_owned(),
            min: None,
            max: None,
            min_text: None,
            max_text: None,
            mean: None,
            std: None,
            nulls: None,
            nan: 0,
            inf: 0,
            zeros: 0,
            histogram: None,
        }
    }
}

/// One column under observation.
#[derive(Debug)]
pub(super) struct Column {
    name: Option<String>,
    dtype: Dtype,
    /// Where its values are in a row (bytes).
    offset: usize,
    rowsize: usize,
    /// How it is read; `None` if its values are no numbers.
    number: Option<NumberType>,
    min: Option<(Number, Vec<u8>)>,
    max: Option<(Number, Vec<u8>)>,
    moments: Moments,
    finite: Extent,
    nan: u64,
    inf: u64,
    zeros: u64,
    histogram: Option<Histogram>,
}

/// Number, mean, and sum of the squares of the distances from it.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    n: f64,
    mean: f64,
    squares: f64,
}

impl Column {
    /// The requested columns of a table, or its values if it is an array.
    ///
    /// # Errors
    ///
    /// When a name is none of a column.
    pub(super) fn all(dtype: &Dtype, names: &[String]) -> Result<Vec<Self>> {
        let rowsize = dtype.itemsize().max(1);
        let fields = dtype.fields();
        if fields.is_empty() {
            return match names {
                [] => Ok(vec![Self::new(None, dtype.clone(), 0, rowsize)]),
                _ => Err(message::NOT_A_TABLE.error()),
            };
        }
        let column = |field: &blosc_dtype::Field| {
            let name = Some(field.name().to_owned());
            Self::new(name, field.dtype().clone(), field.offset(), rowsize)
        };
        if names.is_empty() {
            return Ok(fields.iter().map(column).collect());
        }
        let find = |name: &String| {
            let field = fields.iter().find(|field| field.name() == name);
            field.map(column).ok_or_else(|| {
                message::no_column(name, fields.iter().map(blosc_dtype::Field::name))
            })
        };
        names.iter().map(find).collect()
    }

    fn new(name: Option<String>, dtype: Dtype, offset: usize, rowsize: usize) -> Self {
        let scalar = dtype.subarray().map_or(&dtype, |(base, _)| base).scalar();
        Self {
            number: scalar.and_then(NumberType::new),
            name,
            dtype,
            offset,
            rowsize,
            min: None,
            max: None,
            moments: Moments::default(),
            finite: Extent::EMPTY,
            nan: 0,
            inf: 0,
            zeros: 0,
            histogram: None,
        }
    }

    /// The type of one value.
    fn base(&self) -> &Dtype {
        self.dtype.subarray().map_or(&self.dtype, |(base, _)| base)
    }

    /// The values in some rows.
    fn values<'a>(&self, rows: &'a [u8]) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let range = self.offset..self.offset + self.dtype.itemsize();
        let itemsize = self.base().itemsize().max(1);
        let cells = rows.chunks_exact(self.rowsize).filter_map(move |row| row.get(range.clone()));
        cells.flat_map(move |cell| cell.chunks_exact(itemsize))
    }

    /// Takes some rows into account.
    pub(super) fn look(&mut self, rows: &[u8]) {
        let values = self.values(rows);
        let Some(number) = self.number else {
            let is_zero = |value: &&[u8]| value.iter().all(|byte| *byte == 0);
            self.zeros += values.filter(is_zero).count() as u64;
            return;
        };
        let (mut run, mut len) = ([0.0; RUN], 0);
        for value in values {
            let read = number.read(value);
            let as_float = read.to_f64();
            if as_float.is_nan() {
                self.nan += 1;
                continue;
            }
            self.zeros += u64::from(as_float == 0.0);
            if self.min.as_ref().is_none_or(|(min, _)| read.is_below(*min)) {
                self.min = Some((read, value.to_vec()));
            }
            if self.max.as_ref().is_none_or(|(max, _)| max.is_below(read)) {
                self.max = Some((read, value.to_vec()));
            }
            if as_float.is_infinite() {
                self.inf += 1;
                continue;
            }
            run[len] = as_float;
            len += 1;
            if len == RUN {
                self.moments.add(&run);
                self.finite.add(&run);
                len = 0;
            }
        }
        self.moments.add(&run[..len]);
        self.finite.add(&run[..len]);
    }

    /// Starts the second pass, if there are finite values.
    pub(super) fn start_histogram(&mut self, nbins: u16) {
        let ends = self.finite.ends();
        self.histogram = ends.map(|(min, max)| Histogram::new(min, max, nbins));
    }

    /// Counts the values in some rows.
    pub(super) fn count(&mut self, rows: &[u8]) {
        let values = self.values(rows);
        let (Some(number), Some(histogram)) = (self.number, &mut self.histogram) else { return };
        for value in values {
            histogram.count(number.read(value).to_f64());
        }
    }

    /// What was found.
    pub(super) fn report(&self) -> ColumnReport {
        let base = self.base();
        let json =
            |end: &Option<(Number, Vec<u8>)>| end.as_ref().map(|(_, it)| item::json(base, it));
        let text =
            |end: &Option<(Number, Vec<u8>)>| end.as_ref().map(|(_, it)| item::text(base, it));
        let is_time = self.number.is_some_and(NumberType::is_time);
        let has_mean = self.moments.n > 0.0 && !is_time;
        let variance = self.moments.squares / self.moments.n;
        ColumnReport {
            name: self.name.clone(),
            dtype: dtype_text(&self.dtype),
            min: json(&self.min),
            max: json(&self.max),
            min_text: text(&self.min),
            max_text: text(&self.max),
            mean: has_mean.then_some(self.moments.mean),
            std: has_mean.then(|| variance.sqrt()),
            nulls: None,
            nan: self.nan,
            inf: self.inf,
            zeros: self.zeros,
            histogram: self.histogram.clone(),
        }
    }

    /// A column of a table whose rows are read column by column.
    pub(super) fn of_table(name: &str, dtype: Dtype) -> Self {
        let size = dtype.itemsize().max(1);
        Self::new(Some(name.to_owned()), dtype, 0, size)
    }
}

impl Moments {
    /// Adds some numbers: their own moments first, which are exact for few of them.
    #[allow(clippy::cast_precision_loss, reason = "runs are short")]
    fn add(&mut self, run: &[f64]) {
        if run.is_empty() {
            return;
        }
        let n = run.len() as f64;
        let mean = run.iter().sum::<f64>() / n;
        let squares: f64 = run.iter().map(|value| (value - mean).powi(2)).sum();
        let (all, distance) = (self.n + n, mean - self.mean);
        self.squares += squares + distance * distance * self.n / all * n;
        self.mean += distance * (n / all);
        self.n = all;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_parts_are_those_of_the_whole() {
        let values: Vec<f64> = (0..10_000).map(|n| f64::from(n % 97) + 1e6).collect();
        let mean = values.iter().sum::<f64>() / 1e4;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 1e4;
        for len in [1, 7, 1024, 10_000] {
            let mut moments = Moments::default();
            values.chunks(len).for_each(|run| moments.add(run));
            assert!((moments.mean - mean).abs() < 1e-8, "{moments:?}");
            assert!((moments.squares / moments.n - variance).abs() < 1e-6, "{moments:?}");
        }
    }

    #[test]
    fn every_value_is_in_one_step() {
        let mut column = Column::all(&"<f8".parse().unwrap(), &[]).unwrap().remove(0);
        let values: Vec<u8> = (-50..=50).flat_map(|n| (f64::from(n) / 7.0).to_le_bytes()).collect();
        column.look(&values);
        column.start_histogram(10);
        column.count(&values);
        let histogram = column.histogram.unwrap();
        assert_eq!(histogram.counts.iter().sum::<u64>(), 101);
        assert_eq!((histogram.edges.len(), histogram.edges[0]), (11, -50.0 / 7.0));
        assert_eq!(histogram.counts[9], 11);
    }
}

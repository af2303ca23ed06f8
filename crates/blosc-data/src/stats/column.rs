//! Statistics of the values of one column, or of all items of an array.

use blosc_dtype::Dtype;
use blosc_dtype::numbers::{Extent, Histogram, Number, NumberType, Tally, sum};

use super::{ColumnStats, Counts, Item};
use crate::error::{Error, Result};
use crate::json::dtype_text;

/// Rows whose moments are computed together, before they are combined with the others.
const RUN: usize = 1024;

/// Above this number, different integers share their nearest float.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Whether a number may be below another; `a` and `b` are their nearest floats.
fn may_be_below(a: f64, b: f64) -> bool {
    a < b || (a == b && a.abs() >= MAX_EXACT)
}

/// The statistics of one column.
#[derive(Debug)]
pub(super) struct Observed {
    name: Option<String>,
    dtype: Dtype,
    /// Offset of the values in a row (bytes).
    offset: usize,
    rowsize: usize,
    /// The type of the numbers; `None` for other values.
    number: Option<NumberType>,
    min: Option<(Number, Vec<u8>)>,
    max: Option<(Number, Vec<u8>)>,
    moments: Moments,
    finite: Extent,
    nan: u64,
    inf: u64,
    zeros: u64,
    histogram: Option<Histogram>,
    /// The values of some rows, as floats.
    run: Vec<f64>,
}

/// Number, mean, and sum of squared distances from the mean.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    n: f64,
    mean: f64,
    squares: f64,
}

impl Observed {
    /// The named fields, or all; the items themselves if they have no fields.
    ///
    /// # Errors
    ///
    /// [`Error::NoMember`] for an unknown field.
    pub(super) fn all(dtype: &Dtype, names: &[String]) -> Result<Vec<Self>> {
        let (rowsize, fields) = (dtype.itemsize().max(1), dtype.fields());
        if fields.is_empty() && names.is_empty() {
            return Ok(vec![Self::new(None, dtype.clone(), 0, rowsize)]);
        }
        let find = |name: &String| {
            let found = fields.iter().find(|field| field.name() == name);
            found.ok_or_else(|| Error::NoMember { name: name.clone() })
        };
        let chosen = match names {
            [] => fields.iter().collect(),
            names => names.iter().map(find).collect::<Result<Vec<_>>>()?,
        };
        let columns = chosen.into_iter().map(|field| {
            let name = Some(field.name().to_owned());
            Self::new(name, field.dtype().clone(), field.offset(), rowsize)
        });
        Ok(columns.collect())
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
            run: vec![],
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

    /// Value `n` of those in some rows.
    fn value<'a>(&self, rows: &'a [u8], n: usize) -> Option<&'a [u8]> {
        let itemsize = self.base().itemsize().max(1);
        let per_row = (self.dtype.itemsize() / itemsize).max(1);
        let row = rows.chunks_exact(self.rowsize).nth(n / per_row)?;
        let start = self.offset + n % per_row * itemsize;
        row.get(start..start + itemsize)
    }

    /// Hands the values of some rows to `work` as floats, in runs of rows, together with the rows.
    fn for_each_run(
        &mut self,
        rows: &[u8],
        mut work: impl FnMut(&mut Self, NumberType, &[u8], &mut Vec<f64>),
    ) {
        let Some(number) = self.number else { return };
        let itemsize = self.base().itemsize().max(1);
        let mut run = core::mem::take(&mut self.run);
        for rows in rows.chunks(self.rowsize.saturating_mul(RUN)) {
            run.clear();
            match self.dtype.itemsize() == itemsize {
                true => {
                    let items = rows.get(self.offset..).unwrap_or_default();
                    number.extend(items, self.rowsize, itemsize, usize::MAX, &mut run);
                }
                false => run.extend(self.values(rows).map(|value| number.read(value).to_f64())),
            }
            work(self, number, rows, &mut run);
        }
        self.run = run;
    }

    /// Adds rows, each of them `times` times.
    pub(super) fn look(&mut self, rows: &[u8], times: u64) {
        if self.number.is_none() {
            let is_zero = |value: &&[u8]| value.iter().all(|byte| *byte == 0);
            self.zeros += self.values(rows).filter(is_zero).count() as u64 * times;
            return;
        }
        self.for_each_run(rows, |column, number, rows, run| {
            column.zeros += run.iter().filter(|value| **value == 0.0).count() as u64 * times;
            let mut tally = Tally::default();
            tally.count(run);
            let mut extent = Extent::EMPTY;
            extent.widen(run);
            column.widen(number, rows, run, extent);
            if tally.nan + tally.inf > 0 {
                column.nan += tally.nan * times;
                column.inf += tally.inf * times;
                run.retain(|value| value.is_finite());
                extent = Extent::EMPTY;
                extent.widen(run);
            }
            column.moments.add(run, times);
            column.finite = column.finite.join(extent);
        });
    }

    /// Updates the least and the largest value from a run with this extent (as floats).
    fn widen(&mut self, number: NumberType, rows: &[u8], run: &[f64], extent: Extent) {
        let Some((low, high)) = extent.ends() else { return };
        let min = self.min.as_ref().map(|(min, _)| min.to_f64());
        if min.is_none_or(|min| may_be_below(low, min))
            && let Some(value) = self.end(number, rows, run, low, Number::is_below)
            && self.min.as_ref().is_none_or(|(min, _)| value.0.is_below(*min))
        {
            self.min = Some((value.0, value.1.to_vec()));
        }
        let max = self.max.as_ref().map(|(max, _)| max.to_f64());
        if max.is_none_or(|max| may_be_below(max, high))
            && let Some(value) = self.end(number, rows, run, high, |a, b| b.is_below(a))
            && self.max.as_ref().is_none_or(|(max, _)| max.is_below(value.0))
        {
            self.max = Some((value.0, value.1.to_vec()));
        }
    }

    /// The extreme value of a run; `end` is its nearest float.
    fn end<'a>(
        &self,
        number: NumberType,
        rows: &'a [u8],
        run: &[f64],
        end: f64,
        is_before: impl Fn(Number, Number) -> bool,
    ) -> Option<(Number, &'a [u8])> {
        if end.abs() < MAX_EXACT {
            let n = run.iter().position(|value| *value == end)?;
            return self.value(rows, n).map(|value| (number.read(value), value));
        }
        let values = self.values(rows).map(|value| (number.read(value), value));
        let numbers = values.filter(|(read, _)| !read.to_f64().is_nan());
        numbers.reduce(|a, b| if is_before(b.0, a.0) { b } else { a })
    }

    /// Starts the second pass, if there are finite values.
    pub(super) fn start_histogram(&mut self, nbins: u16) {
        let ends = self.finite.ends();
        self.histogram = ends.map(|(min, max)| Histogram::new(min, max, nbins));
    }

    /// Counts the values of some rows in the histogram.
    pub(super) fn count(&mut self, rows: &[u8], times: u64) {
        let Some(mut histogram) = self.histogram.take() else { return };
        self.for_each_run(rows, |_, _, _, run| histogram.count(run, times));
        self.histogram = Some(histogram);
    }

    /// The statistics so far.
    pub(super) fn report(&self) -> ColumnStats {
        let item = |end: &Option<(Number, Vec<u8>)>| {
            let (_, bytes) = end.as_ref()?;
            Some(Item { dtype: self.base().clone(), bytes: bytes.clone() })
        };
        let is_time = self.number.is_some_and(NumberType::is_time);
        let has_mean = self.moments.n > 0.0 && !is_time;
        let variance = self.moments.squares / self.moments.n;
        ColumnStats {
            name: self.name.clone(),
            dtype: dtype_text(&self.dtype),
            min: item(&self.min),
            max: item(&self.max),
            counts: Counts {
                mean: has_mean.then_some(self.moments.mean),
                std: has_mean.then(|| variance.sqrt()),
                nulls: None,
                nan: self.nan,
                inf: self.inf,
                zeros: self.zeros,
                histogram: self.histogram.clone(),
            },
        }
    }

    /// A column of a table, whose rows hold this column only.
    pub(super) fn of_table(name: &str, dtype: Dtype) -> Self {
        let size = dtype.itemsize().max(1);
        Self::new(Some(name.to_owned()), dtype, 0, size)
    }
}

impl Moments {
    /// Adds numbers, each `times` times. The moments of the new numbers come first, which are
    /// exact for a few of them.
    #[allow(clippy::cast_precision_loss, reason = "statistics need no more digits")]
    fn add(&mut self, run: &[f64], times: u64) {
        if run.is_empty() {
            return;
        }
        let (n, times) = (run.len() as f64, times as f64);
        let mean = sum(run, |value| value) / n;
        let squares = sum(run, |value| (value - mean) * (value - mean)) * times;
        let n = n * times;
        let (all, distance) = (self.n + n, mean - self.mean);
        self.squares += squares + distance * distance * self.n / all * n;
        self.mean += distance * (n / all);
        self.n = all;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(item: Option<Item>) -> String {
        let item = item.unwrap();
        match NumberType::new(item.dtype.scalar().unwrap()).unwrap().read(&item.bytes) {
            Number::Int(n) => n.to_string(),
            Number::Float(n) => format!("{n:?}"),
            Number::NotATime => "NaT".to_owned(),
        }
    }

    #[test]
    fn moments_of_parts_are_those_of_the_whole() {
        let values: Vec<f64> = (0..10_000).map(|n| f64::from(n % 97) + 1e6).collect();
        let mean = values.iter().sum::<f64>() / 1e4;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 1e4;
        for len in [1, 7, 1024, 10_000] {
            let mut moments = Moments::default();
            values.chunks(len).for_each(|run| moments.add(run, 1));
            assert!((moments.mean - mean).abs() < 1e-8, "{moments:?}");
            assert!((moments.squares / moments.n - variance).abs() < 1e-6, "{moments:?}");
        }
    }

    #[test]
    fn ends_are_exact_where_floats_are_not() {
        let look = |dtype: &str, bytes: &[u8]| {
            let mut column = Observed::all(&dtype.parse().unwrap(), &[]).unwrap().remove(0);
            // Two pieces, so that the second is compared with the first.
            let (first, second) = bytes.split_at(bytes.len() / 16 * 8);
            column.look(first, 1);
            column.look(second, 1);
            let report = column.report();
            (shown(report.min), shown(report.max))
        };
        let big = 1_i64 << 60;
        let values: Vec<i64> =
            (0..5000).map(|n| big + (n * 7919) % 5000).chain((0..5000).map(|n| big - n)).collect();
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        assert_eq!(look("<i8", &bytes), ((big - 4999).to_string(), (big + 4999).to_string()));
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_be_bytes()).collect();
        assert_eq!(look(">i8", &bytes), ((big - 4999).to_string(), (big + 4999).to_string()));
        let bytes: Vec<u8> = [1.5, f64::NAN, f64::NEG_INFINITY, 3.0]
            .into_iter()
            .flat_map(f64::to_le_bytes)
            .collect();
        assert_eq!(look("<f8", &bytes), ("-inf".to_owned(), "3.0".to_owned()));
        let times: Vec<u8> =
            [i64::MIN, 5, 2, i64::MIN].into_iter().flat_map(i64::to_le_bytes).collect();
        assert_eq!(look("<M8[s]", &times), ("2".to_owned(), "5".to_owned()));
    }

    #[test]
    fn fields_and_rows_of_arrays_are_looked_at_as_single_values_are() {
        let rows: Vec<u8> = (0..3000_i16)
            .flat_map(|n| {
                let pair = [n - 7, 5 * n].map(i16::to_le_bytes).concat();
                [&[9_u8][..], &pair, &f64::from(n).to_le_bytes()].concat()
            })
            .collect();
        let dtype = "[('a', '|u1'), ('p', '<i2', (2,)), ('f', '<f8')]".parse().unwrap();
        let mut columns = Observed::all(&dtype, &[]).unwrap();
        columns.iter_mut().for_each(|column| column.look(&rows, 1));
        let ends: Vec<_> = columns
            .iter()
            .map(|column| {
                let report = column.report();
                (shown(report.min), shown(report.max), report.counts.zeros)
            })
            .collect();
        let expected = [("9", "9", 0), ("-7", "14995", 2), ("0.0", "2999.0", 1)];
        let expected = expected.map(|(min, max, zeros)| (min.to_owned(), max.to_owned(), zeros));
        assert_eq!(ends, expected);
    }

    #[test]
    fn a_row_that_is_there_many_times_counts_as_often() {
        let bytes: Vec<u8> =
            [2.0_f64, 0.0, f64::NAN].into_iter().flat_map(f64::to_le_bytes).collect();
        let column = || Observed::all(&"<f8".parse().unwrap(), &[]).unwrap().remove(0);
        let (mut at_once, mut each) = (column(), column());
        at_once.look(&bytes, 700);
        (0..700).for_each(|_| each.look(&bytes, 1));
        for column in [&mut at_once, &mut each] {
            column.start_histogram(4);
        }
        at_once.count(&bytes, 700);
        (0..700).for_each(|_| each.count(&bytes, 1));
        let (a, b) = (at_once.report().counts, each.report().counts);
        assert_eq!((a.nan, a.zeros, a.histogram), (b.nan, b.zeros, b.histogram));
        assert!((a.mean.unwrap() - b.mean.unwrap()).abs() < 1e-12);
        assert!((a.std.unwrap() - b.std.unwrap()).abs() < 1e-12);
    }

    #[test]
    fn every_value_is_in_one_step() {
        let mut column = Observed::all(&"<f8".parse().unwrap(), &[]).unwrap().remove(0);
        let values: Vec<u8> = (-50..=50).flat_map(|n| (f64::from(n) / 7.0).to_le_bytes()).collect();
        column.look(&values, 1);
        column.start_histogram(10);
        column.count(&values, 1);
        let histogram = column.histogram.unwrap();
        assert_eq!(histogram.counts.iter().sum::<u64>(), 101);
        assert_eq!((histogram.edges.len(), histogram.edges[0]), (11, -50.0 / 7.0));
        assert_eq!(histogram.counts[9], 11);
    }
}

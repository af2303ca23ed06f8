//! Reduces any number of values to those that a picture can show: least and largest of each column
//! of pixels of a line, the mean of each cell of a map, counts of a histogram.

use core::ops::Range;

use blosc_dtype::numbers::{Extent, Tally, is_finite};

/// The part `n` of `count` equal parts of `len` items.
fn part(n: u64, count: u64, len: u64) -> Range<u64> {
    let end = |n: u64| {
        let end = u128::from(n) * u128::from(len) / u128::from(count.max(1));
        u64::try_from(end).unwrap_or(u64::MAX)
    };
    end(n)..end(n + 1)
}

/// The part that contains an item.
fn part_of(item: u64, count: u64, len: u64) -> u64 {
    let n = ((u128::from(item) + 1) * u128::from(count) - 1) / u128::from(len.max(1));
    u64::try_from(n).unwrap_or(u64::MAX).min(count.saturating_sub(1))
}

/// The index of a part in the list of all parts.
fn index(part: u64) -> usize {
    usize::try_from(part).unwrap_or(usize::MAX)
}

/// Values over positions.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Number of items before reducing.
    pub len: u64,
    /// The drawn columns, from left to right.
    pub columns: Vec<LineColumn>,
    /// Counts of values that are not finite.
    pub tally: Tally,
}

/// The items of one column of pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineColumn {
    /// The least and the largest value.
    pub extent: Extent,
    /// The first finite value; NaN if there is none.
    pub first: f64,
    /// The last finite value; NaN if there is none.
    pub last: f64,
    /// Whether one of them is NaN.
    pub has_nan: bool,
    /// Whether one of them is infinity.
    pub has_above: bool,
    /// Whether one of them is negative infinity.
    pub has_below: bool,
}

impl Line {
    /// A line of `len` values, in at most `max_columns` columns.
    #[must_use]
    pub fn new(len: u64, max_columns: usize) -> Self {
        let ncolumns = usize::try_from(len).unwrap_or(usize::MAX).min(max_columns.max(1));
        Self { len, ..Self::of_columns(ncolumns) }
    }

    /// A line of any number of values over the positions given to [`add_over`](Self::add_over):
    /// each column is an equal part of the range from the first to the last position.
    #[must_use]
    pub fn of_columns(ncolumns: usize) -> Self {
        let len = ncolumns as u64;
        let empty = LineColumn {
            extent: Extent::EMPTY,
            first: f64::NAN,
            last: f64::NAN,
            has_nan: false,
            has_above: false,
            has_below: false,
        };
        Self { len, columns: vec![empty; ncolumns], tally: Tally::default() }
    }

    /// Adds values over their positions, which range from `low` to `high`; other positions are
    /// ignored.
    pub fn add_over(&mut self, [low, high]: [f64; 2], positions: &[f64], values: &[f64]) {
        self.tally.count(values);
        let last = self.columns.len().saturating_sub(1);
        for (at, value) in positions.iter().zip(values) {
            let share = (at - low) / (high - low);
            if !(0.0..=1.0).contains(&share) {
                continue;
            }
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to last")]
            let ncolumn = (share * last as f64).round() as usize;
            if let Some(column) = self.columns.get_mut(ncolumn) {
                column.add(&[*value]);
            }
        }
    }

    /// Adds the values from position `start` on, in ascending order.
    pub fn add(&mut self, start: u64, mut values: &[f64]) {
        self.tally.count(values);
        let (count, len) = (self.columns.len() as u64, self.len);
        let mut at = start;
        while !values.is_empty() && at < len {
            let ncolumn = part_of(at, count, len);
            let left = part(ncolumn, count, len).end.saturating_sub(at).max(1);
            let left = usize::try_from(left).unwrap_or(usize::MAX).min(values.len());
            let (run, rest) = values.split_at(left);
            if let Some(column) = self.columns.get_mut(index(ncolumn)) {
                column.add(run);
            }
            at += run.len() as u64;
            values = rest;
        }
    }

    /// The position in the middle of a column.
    #[must_use]
    pub fn position(&self, ncolumn: usize) -> f64 {
        let part = part(ncolumn as u64, self.columns.len() as u64, self.len);
        (part.start as f64 + part.end.saturating_sub(1) as f64) / 2.0
    }

    /// The least and the largest value of the line.
    #[must_use]
    pub fn extent(&self) -> Extent {
        self.columns.iter().fold(Extent::EMPTY, |extent, column| extent.join(column.extent))
    }
}

impl LineColumn {
    fn add(&mut self, run: &[f64]) {
        if !is_finite(run) {
            self.has_nan |= run.iter().any(|value| value.is_nan());
            self.has_above |= run.contains(&f64::INFINITY);
            self.has_below |= run.contains(&f64::NEG_INFINITY);
        }
        self.extent.add(run);
        let mut finite = run.iter().copied().filter(|value| value.is_finite());
        if self.first.is_nan() {
            self.first = finite.next().unwrap_or(f64::NAN);
        }
        let last = run.iter().rev().copied().find(|value| value.is_finite());
        self.last = last.unwrap_or(self.last);
    }

    /// Whether there is no value at all; a line continues across this column.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !(self.is_drawn() || self.has_nan || self.has_above || self.has_below)
    }

    /// Whether there is a finite value.
    #[must_use]
    pub fn is_drawn(&self) -> bool {
        self.extent.ends().is_some()
    }
}

/// Values over positions of two dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// Rows and columns of values before reducing.
    pub lens: [u64; 2],
    /// Number of rows of cells.
    pub nrows: usize,
    /// Number of columns of cells.
    pub ncols: usize,
    sums: Vec<f64>,
    counts: Vec<u64>,
    /// Counts of values that are not finite.
    pub tally: Tally,
}

impl Map {
    /// A map of rows and columns of values, in at most as many cells.
    #[must_use]
    pub fn new(lens: [u64; 2], max_rows: usize, max_cols: usize) -> Self {
        let cells = |len: u64, max: usize| usize::try_from(len).unwrap_or(usize::MAX).min(max);
        let (nrows, ncols) = (cells(lens[0], max_rows), cells(lens[1], max_cols));
        let ncells = nrows.saturating_mul(ncols);
        let (sums, counts) = (vec![0.0; ncells], vec![0; ncells]);
        Self { lens, nrows, ncols, sums, counts, tally: Tally::default() }
    }

    /// Adds the values of a box, row after row.
    pub fn add(&mut self, rows: &Range<u64>, cols: &Range<u64>, values: &[f64]) {
        self.tally.count(values);
        let width = usize::try_from(cols.end - cols.start).unwrap_or(usize::MAX).max(1);
        let (ncols, nrows) = (self.ncols as u64, self.nrows as u64);
        for (row, values) in (rows.start..).zip(values.chunks(width)) {
            let nrow = index(part_of(row, nrows, self.lens[0]));
            let (mut at, mut values) = (cols.start, values);
            while !values.is_empty() {
                let ncol = part_of(at, ncols, self.lens[1]);
                let left = part(ncol, ncols, self.lens[1]).end.saturating_sub(at).max(1);
                let left = usize::try_from(left).unwrap_or(usize::MAX).min(values.len());
                let (run, rest) = values.split_at(left);
                let ncell = nrow * self.ncols + index(ncol);
                let (mut sum, mut count) = (run.iter().sum::<f64>(), run.len());
                if !sum.is_finite() {
                    let finite = || run.iter().filter(|value| value.is_finite());
                    (sum, count) = (finite().sum(), finite().count());
                }
                if let (Some(to), Some(n)) = (self.sums.get_mut(ncell), self.counts.get_mut(ncell))
                {
                    *to += sum;
                    *n += count as u64;
                }
                at += run.len() as u64;
                values = rest;
            }
        }
    }

    /// The mean of a cell; NaN if it has no finite value.
    #[must_use]
    pub fn mean(&self, row: usize, col: usize) -> f64 {
        let ncell = row.saturating_mul(self.ncols).saturating_add(col);
        match (self.sums.get(ncell), self.counts.get(ncell)) {
            (Some(sum), Some(count)) if *count > 0 => sum / *count as f64,
            _ => f64::NAN,
        }
    }

    /// The least and the largest mean.
    #[must_use]
    pub fn extent(&self) -> Extent {
        let mut extent = Extent::EMPTY;
        for row in 0..self.nrows {
            for col in 0..self.ncols {
                extent.add(&[self.mean(row, col)]);
            }
        }
        extent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(len: usize) -> Vec<f64> {
        (0..len).map(|n| ((n * 7919) % 1000) as f64 / 10.0 - 20.0).collect()
    }

    #[test]
    fn columns_have_the_least_and_the_largest_however_values_come() {
        let mut values = wave(10_007);
        values[5_000] = f64::NAN;
        values[6_000] = f64::INFINITY;
        for ncolumns in [1, 7, 800, 20_000] {
            let mut whole = Line::new(values.len() as u64, ncolumns);
            whole.add(0, &values);
            let mut pieces = Line::new(values.len() as u64, ncolumns);
            for (n, piece) in values.chunks(333).enumerate() {
                pieces.add(n as u64 * 333, piece);
            }
            assert_eq!(format!("{whole:?}"), format!("{pieces:?}"));
            assert_eq!(whole.tally, Tally { nitems: 10_007, nan: 1, inf: 1 });
            assert_eq!(whole.extent().ends(), Some((-20.0, 79.9)));
            assert_eq!(whole.columns.iter().filter(|it| it.has_nan).count(), 1);
            assert_eq!(whole.columns.iter().filter(|it| it.has_above).count(), 1);
            let ncolumns = whole.columns.len() as u64;
            for (n, column) in (0..).zip(&whole.columns) {
                let part = part(n, ncolumns, 10_007);
                let of_part = &values[index(part.start)..index(part.end)];
                let mut extent = Extent::EMPTY;
                extent.add(of_part);
                assert_eq!(column.extent, extent, "column {n} of {ncolumns}");
            }
        }
    }

    #[test]
    fn values_lie_over_their_positions() {
        let mut line = Line::of_columns(5);
        line.add_over([0.0, 8.0], &[0.0, 4.0, 8.0, f64::NAN], &[1.0, 2.0, f64::NAN, 9.0]);
        line.add_over([0.0, 8.0], &[9.0, 4.4], &[7.0, 3.0]);
        let ends = |n: usize| line.columns[n].extent.ends();
        assert_eq!([ends(0), ends(2)], [Some((1.0, 1.0)), Some((2.0, 3.0))]);
        let is_empty: Vec<bool> = line.columns.iter().map(LineColumn::is_empty).collect();
        assert_eq!(is_empty, [false, true, false, true, false]);
        assert_eq!((line.position(4), line.tally.nan), (4.0, 1));
    }

    #[test]
    fn items_lie_in_the_part_that_has_them() {
        for (count, len) in [(1, 1), (3, 10), (7, 7), (800, 801), (10, u64::MAX)] {
            for item in [0, 1, len / 3, len / 2, len - 1] {
                let item = item.min(len - 1);
                assert!(
                    part(part_of(item, count, len), count, len).contains(&item),
                    "{item} {len}"
                );
            }
        }
    }

    #[test]
    fn cells_are_means() {
        let values: Vec<f64> = (0..24).map(f64::from).collect();
        let mut map = Map::new([4, 6], 2, 3);
        map.add(&(0..3), &(0..6), &values[..18]);
        map.add(&(3..4), &(0..4), &values[18..22]);
        map.add(&(3..4), &(4..6), &[f64::NAN, 23.0]);
        assert_eq!(map.mean(0, 0), 3.5);
        assert_eq!(map.mean(1, 2), (16.0 + 17.0 + 23.0) / 3.0);
        assert_eq!(map.tally.nan, 1);
        assert!(Map::new([2, 2], 9, 9).mean(0, 0).is_nan());
        assert_eq!(Map::new([0, 5], 9, 9).extent().ends(), None);
    }
}

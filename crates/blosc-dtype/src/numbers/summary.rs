//! Summaries of values: the number of finite ones, least and largest, sums, histograms.

use alloc::{vec, vec::Vec};

/// Counts of values that are not finite numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// All values.
    pub nitems: u64,
    /// NaN values.
    pub nan: u64,
    /// Infinite values.
    pub inf: u64,
}

impl Tally {
    /// Adds some values to the counts.
    pub fn count(&mut self, values: &[f64]) {
        self.nitems += values.len() as u64;
        if is_finite(values) {
            return;
        }
        self.nan += values.iter().filter(|value| value.is_nan()).count() as u64;
        self.inf += values.iter().filter(|value| value.is_infinite()).count() as u64;
    }

    /// Adds the counts of another tally.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        let (nitems, nan) = (self.nitems + other.nitems, self.nan + other.nan);
        Self { nitems, nan, inf: self.inf + other.inf }
    }
}

/// Values processed side by side, so that none waits for the one before it.
const LANES: usize = 8;

/// Whether all values are finite, found in one pass without branches.
#[must_use]
pub fn is_finite(values: &[f64]) -> bool {
    !values.iter().fold(false, |found, value| found | !value.is_finite())
}

/// The sum of `term` over the values.
#[must_use]
pub fn sum(values: &[f64], term: impl Fn(f64) -> f64) -> f64 {
    let (groups, rest) = values.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for group in groups {
        for (sum, value) in sums.iter_mut().zip(group) {
            *sum += term(*value);
        }
    }
    sums.iter().sum::<f64>() + rest.iter().map(|value| term(*value)).sum::<f64>()
}

/// The least and the largest finite value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// The least one.
    pub min: f64,
    /// The largest one.
    pub max: f64,
}

impl Extent {
    /// The extent of no values.
    pub const EMPTY: Self = Self { min: f64::INFINITY, max: f64::NEG_INFINITY };

    /// Adds the finite values to the extent.
    pub fn add(&mut self, values: &[f64]) {
        if is_finite(values) {
            return self.widen(values);
        }
        for value in values.iter().copied().filter(|value| value.is_finite()) {
            self.min = self.min.min(value);
            self.max = self.max.max(value);
        }
    }

    /// Adds values to the extent, including infinite ones but not NaN.
    pub fn widen(&mut self, values: &[f64]) {
        let (groups, rest) = values.as_chunks::<LANES>();
        let mut lanes = [*self; LANES];
        for group in groups {
            for (lane, value) in lanes.iter_mut().zip(group) {
                lane.take(*value);
            }
        }
        rest.iter().for_each(|value| self.take(*value));
        *self = lanes.into_iter().fold(*self, Self::join);
    }

    /// Adds a value. Comparisons with NaN are false.
    fn take(&mut self, value: f64) {
        self.min = if value < self.min { value } else { self.min };
        self.max = if value > self.max { value } else { self.max };
    }

    /// Adds the extent of other values.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// The ends, if there was any value.
    #[must_use]
    pub fn ends(self) -> Option<(f64, f64)> {
        (self.min <= self.max).then_some((self.min, self.max))
    }
}

/// The ends of a range. A range of one value is widened by half a unit on both sides, or by a
/// millionth of a large value.
#[must_use]
pub fn widened(low: f64, high: f64) -> (f64, f64) {
    if low < high {
        return (low, high);
    }
    let half = (low.abs() * 1e-6).max(0.5);
    ((low - half).max(-f64::MAX), (low + half).min(f64::MAX))
}

/// The number of values in each of some bins of equal width.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Histogram {
    /// The edges: one more than there are counts.
    pub edges: Vec<f64>,
    /// Values between two edges.
    pub counts: Vec<u64>,
}

impl Histogram {
    /// Bins for values from `min` to `max`, both finite. If they are equal, the range is widened by
    /// one half on both sides, as in NumPy.
    #[must_use]
    pub fn new(min: f64, max: f64, nbins: u16) -> Self {
        let (min, max) = widened(min, max);
        let nbins = nbins.max(1);
        let step = (max / f64::from(nbins)) - (min / f64::from(nbins));
        let mut edges: Vec<f64> =
            (0..nbins).map(|nbin| f64::from(nbin).mul_add(step, min)).collect();
        edges.push(max);
        Self { edges, counts: vec![0; nbins.into()] }
    }

    /// Counts some values, each `times` times, and skips values that are not finite.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "is clamped")]
    pub fn count(&mut self, values: &[f64], times: u64) {
        let (Some(first), Some(last)) = (self.edges.first(), self.edges.last()) else { return };
        let (first, nbins) = (*first, self.counts.len());
        let scale = nbins as f64 / (last - first);
        if !scale.is_normal() {
            return self.count_by_search(values, times);
        }
        // A division gives the right bin or a neighbour.
        for value in values.iter().filter(|value| value.is_finite()) {
            let mut nbin = (((value - first) * scale) as usize).min(nbins - 1);
            if *value < self.edges[nbin] {
                nbin = nbin.saturating_sub(1);
            } else if nbin + 1 < nbins && *value >= self.edges[nbin + 1] {
                nbin += 1;
            }
            self.counts[nbin] += times;
        }
    }

    /// Counts values in bins that are too narrow or too wide for a division.
    fn count_by_search(&mut self, values: &[f64], times: u64) {
        for value in values.iter().filter(|value| value.is_finite()) {
            let nbin = self.edges.partition_point(|edge| edge <= value).saturating_sub(1);
            // The last bin includes its end.
            let nbin = nbin.min(self.counts.len().saturating_sub(1));
            self.counts.get_mut(nbin).into_iter().for_each(|count| *count += times);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(len: usize) -> Vec<f64> {
        (0..len).map(|n| ((n * 7919) % 1000) as f64 / 10.0 - 20.0).collect()
    }

    #[test]
    fn values_side_by_side_are_values_one_by_one() {
        for len in [0, 1, 7, 8, 9, 1000] {
            let mut values = wave(len);
            let plain = values.iter().map(|value| value * 2.0).sum::<f64>();
            assert!((sum(&values, |value| value * 2.0) - plain).abs() < 1e-9);
            let mut extent = Extent::EMPTY;
            extent.widen(&values);
            let min = values.iter().copied().fold(f64::INFINITY, f64::min);
            let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert_eq!(extent, Extent { min, max });
            assert!(is_finite(&values));
            values.extend([f64::NAN, f64::NEG_INFINITY]);
            let mut finite = Extent::EMPTY;
            finite.add(&values);
            assert_eq!(finite, extent);
            finite.widen(&values);
            assert_eq!(finite.min, f64::NEG_INFINITY);
        }
    }

    #[test]
    fn both_ways_of_counting_agree() {
        for nbins in [1, 2, 10, 1000] {
            let values = wave(5_000);
            let (mut one, mut all) =
                (Histogram::new(-20.0, 79.9, nbins), Histogram::new(-20.0, 79.9, nbins));
            one.count_by_search(&values, 1);
            all.count(&values, 1);
            assert_eq!(one, all);
            assert_eq!(all.counts.iter().sum::<u64>(), 5_000);
        }
        for (min, max) in [(5.0, 5.0), (-f64::MAX, f64::MAX), (f64::MAX, f64::MAX), (0.0, 5e-324)] {
            let mut histogram = Histogram::new(min, max, 10);
            histogram.count(&[min, max, f64::NAN, f64::INFINITY], 1);
            assert_eq!(histogram.counts.iter().sum::<u64>(), 2, "{histogram:?}");
        }
    }
}

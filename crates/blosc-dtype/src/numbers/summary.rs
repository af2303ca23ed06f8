//! Any number of values in a few: how many are finite, least and largest, sums, counts of steps.

use alloc::{vec, vec::Vec};

/// How many values are no finite numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// All values.
    pub nitems: u64,
    /// Those that are no number.
    pub nan: u64,
    /// Those that are infinite.
    pub inf: u64,
}

impl Tally {
    /// Counts some values.
    pub fn count(&mut self, values: &[f64]) {
        self.nitems += values.len() as u64;
        if is_finite(values) {
            return;
        }
        self.nan += values.iter().filter(|value| value.is_nan()).count() as u64;
        self.inf += values.iter().filter(|value| value.is_infinite()).count() as u64;
    }

    /// With what another one counted.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        let (nitems, nan) = (self.nitems + other.nitems, self.nan + other.nan);
        Self { nitems, nan, inf: self.inf + other.inf }
    }
}

/// Values that are looked at side by side, so that none waits for the one before it.
const LANES: usize = 8;

/// Whether all values are finite. One pass without branches tells it.
#[must_use]
pub fn is_finite(values: &[f64]) -> bool {
    !values.iter().fold(false, |found, value| found | !value.is_finite())
}

/// The sum of what `term` makes of each value.
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
    /// Of no value.
    pub const EMPTY: Self = Self { min: f64::INFINITY, max: f64::NEG_INFINITY };

    /// With the finite ones of some values.
    pub fn add(&mut self, values: &[f64]) {
        if is_finite(values) {
            return self.widen(values);
        }
        for value in values.iter().copied().filter(|value| value.is_finite()) {
            self.min = self.min.min(value);
            self.max = self.max.max(value);
        }
    }

    /// With some values, infinite ones as well; NaN is none.
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

    /// With a value. Comparisons with NaN are false.
    fn take(&mut self, value: f64) {
        self.min = if value < self.min { value } else { self.min };
        self.max = if value > self.max { value } else { self.max };
    }

    /// With the values of another one.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// The ends, if there was a value.
    #[must_use]
    pub fn ends(self) -> Option<(f64, f64)> {
        (self.min <= self.max).then_some((self.min, self.max))
    }
}

/// The ends of a range. A range of one value gets half of a unit on both sides, or as much as
/// changes it at all.
#[must_use]
pub fn widened(low: f64, high: f64) -> (f64, f64) {
    if low < high {
        return (low, high);
    }
    let half = (low.abs() * 1e-6).max(0.5);
    ((low - half).max(-f64::MAX), (low + half).min(f64::MAX))
}

/// How many values lie in each of some steps of equal width.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Histogram {
    /// One more than there are counts.
    pub edges: Vec<f64>,
    /// Values between two edges.
    pub counts: Vec<u64>,
}

impl Histogram {
    /// For values from `min` to `max`, which are finite; half of one around them if they are one
    /// value, as NumPy does it.
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

    /// Counts some values, each `times` times; those that are not finite are left out.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "is clamped")]
    pub fn count(&mut self, values: &[f64], times: u64) {
        let (Some(first), Some(last)) = (self.edges.first(), self.edges.last()) else { return };
        let (first, nbins) = (*first, self.counts.len());
        let scale = nbins as f64 / (last - first);
        if !scale.is_normal() {
            return self.count_by_search(values, times);
        }
        // A division tells the step, or one beside it.
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

    /// The same for steps that are too narrow or too wide for a division.
    fn count_by_search(&mut self, values: &[f64], times: u64) {
        for value in values.iter().filter(|value| value.is_finite()) {
            let nbin = self.edges.partition_point(|edge| edge <= value).saturating_sub(1);
            // The last step has its end.
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

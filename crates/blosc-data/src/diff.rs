//! Compares the values of two arrays, and measures their differences.
//!
//! ```
//! use blosc_data::diff::{Comparison, Pair, Tolerance};
//!
//! let pair = Pair::new(&"<i4".parse()?, &">f8".parse()?).ok_or("never equal")?;
//! let tolerance = Tolerance { rtol: 0.0, atol: 0.5 };
//! let (a, b) = ([7_i32, 9].map(i32::to_le_bytes), [7.25_f64, 10.0].map(f64::to_be_bytes));
//! let mut work = Comparison::new(pair, tolerance, &[2]);
//! work.compare(&mut a.as_flattened(), &mut b.as_flattened())?;
//! let found = work.finish();
//! assert_eq!((found.items, found.different, found.largest_difference), (2, 1, Some(1.0)));
//! assert_eq!(found.first.map(|first| first.index), Some(vec![1]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod pair;
mod stores;

use std::io::Read;

use blosc_dtype::{Dtype, Kind, date, item, numbers::NumberType};
use serde::Serialize;

use crate::error::{Doing, Error, Result};
use crate::size::as_len;
use crate::stats::{Item, OnBytes};
use crate::{Array, Budget};

pub use pair::{Pair, Tolerance};
pub use stores::group_attributes;

/// Items that are compared at a time.
const ITEMS_AT_ONCE: usize = 64 << 10;

/// Differences of two sequences of items, and the number of equal ones.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Differences {
    /// Items that were compared.
    pub items: u64,
    /// Items that are not equal.
    pub different: u64,
    /// The first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<First>,
    /// The largest difference of two numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_difference: Option<f64>,
    /// Items that only one of the two has. A cut item counts as one.
    pub surplus: u64,
    /// The sequence that has them: 0 or 1.
    #[serde(skip)]
    pub longer: usize,
}

impl Differences {
    /// The largest difference for people; between times, a duration.
    #[must_use]
    pub fn largest_text(&self) -> Option<String> {
        let largest = self.largest_difference?;
        let scalar = self.first.as_ref().and_then(|first| first.values[0].dtype.scalar());
        let unit = scalar.filter(|it| matches!(it.kind(), Kind::DateTime | Kind::TimeDelta));
        Some(match unit.and_then(blosc_dtype::Scalar::unit) {
            Some(unit) => of_months(largest, unit).unwrap_or_else(|| date::length(largest, unit)),
            None => largest.to_string(),
        })
    }
}

/// A number of months or years, which have no fixed length: `1 month`, `6 years`.
fn of_months(count: f64, unit: &str) -> Option<String> {
    let name = if unit.ends_with('M') { "month" } else { "year" };
    let step = unit.strip_suffix(['M', 'Y'])?;
    let step = if step.is_empty() { 1.0 } else { step.parse().ok()? };
    let count = count * step;
    Some(format!("{count} {name}{}", if count == 1.0 { "" } else { "s" }))
}

/// The first items that are not equal.
#[derive(Clone, Debug, Serialize)]
pub struct First {
    /// The position of the items in each dimension.
    pub index: Vec<u64>,
    /// Both items.
    #[serde(skip)]
    pub values: [Item; 2],
}

impl First {
    /// Both items for people, with enough digits to tell them apart.
    #[must_use]
    pub fn texts(&self) -> [String; 2] {
        let texts = self.values.each_ref().map(|it| item::text(&it.dtype, &it.bytes));
        if texts[0] != texts[1] {
            return texts;
        }
        let exact = self.values.each_ref().map(|it| {
            let number = it.dtype.scalar().and_then(NumberType::new)?;
            Some(number.read(&it.bytes).to_f64().to_string())
        });
        match exact {
            [Some(a), Some(b)] if a != b => [a, b],
            _ => texts,
        }
    }
}

/// A comparison in progress.
#[derive(Debug)]
pub struct Comparison {
    pair: Pair,
    tolerance: Tolerance,
    shape: Vec<u64>,
    found: Differences,
}

impl Comparison {
    /// A comparison of items of these types; `shape` is that of the first array.
    #[must_use]
    pub fn new(pair: Pair, tolerance: Tolerance, shape: &[u64]) -> Self {
        Self { pair, tolerance, shape: shape.to_vec(), found: Differences::default() }
    }

    /// Compares all items of two streams in C order.
    ///
    /// # Errors
    ///
    /// Errors of the streams.
    pub fn compare(&mut self, a: &mut dyn Read, b: &mut dyn Read) -> Result<()> {
        let sizes = self.pair.sizes();
        let at_once = (ITEMS_AT_ONCE * 8 / sizes[0].max(sizes[1])).max(1);
        let mut buffers = sizes.map(|size| vec![0; size * at_once]);
        loop {
            let [x, y] = &mut buffers;
            let lens = [read_full(a, x)?, read_full(b, y)?];
            let counts = [lens[0] / sizes[0], lens[1] / sizes[1]];
            let nitems = counts[0].min(counts[1]);
            self.compare_items(&x[..nitems * sizes[0]], &y[..nitems * sizes[1]]);
            let rest = (counts[0].max(counts[1]) - nitems) as u64;
            let is_cut = lens[0] % sizes[0] != lens[1] % sizes[1] && rest == 0;
            self.found.surplus += rest + u64::from(is_cut);
            if rest > 0 || is_cut {
                let is_second = lens[0] * sizes[1] < lens[1] * sizes[0];
                self.found.longer = usize::from(is_second);
            }
            if nitems == 0 && rest == 0 {
                return Ok(());
            }
            if rest > 0 {
                self.found.surplus += count_rest(a, sizes[0])? + count_rest(b, sizes[1])?;
                return Ok(());
            }
        }
    }

    /// The differences so far.
    #[must_use]
    pub fn finish(self) -> Differences {
        self.found
    }

    /// Compares the same number of items of both types.
    fn compare_items(&mut self, x: &[u8], y: &[u8]) {
        let sizes = self.pair.sizes();
        let is_one_type = self.pair.is_of_one_type();
        if !is_one_type || x != y {
            let items = x.chunks_exact(sizes[0]).zip(y.chunks_exact(sizes[1])).enumerate();
            for (n, (x, y)) in items.filter(|(_, (x, y))| !is_one_type || x != y) {
                self.compare_item(n as u64, x, y);
            }
        }
        self.found.items += (x.len() / sizes[0]) as u64;
    }

    fn compare_item(&mut self, n: u64, x: &[u8], y: &[u8]) {
        let Some(distance) = self.pair.distance(self.tolerance, x, y) else { return };
        self.found.different += 1;
        if !distance.is_nan() {
            let largest = self.found.largest_difference.unwrap_or(0.0).max(distance);
            self.found.largest_difference = Some(largest);
        }
        if self.found.first.is_none() {
            let [a, b] = self.pair.dtypes.each_ref();
            let item =
                |dtype: &Dtype, bytes: &[u8]| Item { dtype: dtype.clone(), bytes: bytes.to_vec() };
            let index = index(&self.shape, self.found.items + n);
            self.found.first = Some(First { index, values: [item(a, x), item(b, y)] });
        }
    }
}

/// Compares the items of two arrays in C order, within the memory of `budget`. `None` for types
/// whose items are never equal. The caller compares the shapes.
///
/// # Errors
///
/// Items that cannot be read.
pub fn of_arrays(
    a: &dyn Array,
    b: &dyn Array,
    tolerance: Tolerance,
    budget: &Budget,
    progress: OnBytes<'_>,
) -> Result<Option<Differences>> {
    let Some(pair) = Pair::new(a.dtype(), b.dtype()) else { return Ok(None) };
    let sizes = [a, b].map(|array| array.dtype().itemsize() as u64);
    let nitems = if sizes.contains(&0) { 0 } else { a.nitems().min(b.nitems()) };
    let step = as_len((budget.max_memory / 4 / sizes[0].max(sizes[1]).max(1)).max(1));
    let mut work = Comparison::new(pair, tolerance, a.shape());
    let mut buffers = [vec![], vec![]];
    for start in (0..nitems).step_by(step) {
        let end = nitems.min(start.saturating_add(step as u64));
        for ((array, size), buffer) in [a, b].iter().zip(sizes).zip(&mut buffers) {
            buffer.clear();
            array.stream(start * size..end * size, budget, &mut |piece| {
                buffer.extend_from_slice(piece);
                progress(piece.len() as u64);
                Ok(())
            })?;
        }
        work.compare_items(&buffers[0], &buffers[1]);
    }
    a.compare_seals()?;
    b.compare_seals()?;
    work.found.surplus = a.nitems().abs_diff(b.nitems());
    work.found.longer = usize::from(a.nitems() < b.nitems());
    Ok(Some(work.finish()))
}

/// Fills `buffer` up to its end, or that of the stream.
fn read_full(from: &mut dyn Read, buffer: &mut [u8]) -> Result<usize> {
    let mut len = 0;
    while len < buffer.len() {
        match from.read(&mut buffer[len..]).map_err(Error::io(Doing::Read))? {
            0 => break,
            more => len += more,
        }
    }
    Ok(len)
}

/// Counts items to the end; a cut item counts as one.
fn count_rest(from: &mut dyn Read, itemsize: usize) -> Result<u64> {
    let nbytes = std::io::copy(from, &mut std::io::sink()).map_err(Error::io(Doing::Read))?;
    Ok(nbytes.div_ceil(itemsize as u64))
}

/// The position of item `n` (C order) in each dimension.
fn index(shape: &[u64], n: u64) -> Vec<u64> {
    let mut rest = n;
    let mut index: Vec<u64> = shape
        .iter()
        .rev()
        .map(|len| {
            let position = rest % len.max(&1);
            rest /= len.max(&1);
            position
        })
        .collect();
    index.reverse();
    if index.is_empty() || rest > 0 { vec![n] } else { index }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_and_years_are_counted() {
        let texts = [(1.0, "M"), (2.0, "3M"), (5.0, "Y")].map(|(n, unit)| of_months(n, unit));
        assert_eq!(texts.map(Option::unwrap), ["1 month", "6 months", "5 years"]);
        assert_eq!(of_months(1.0, "m"), None);
        assert_eq!(of_months(1.0, "D"), None);
    }

    #[test]
    fn position_is_that_of_the_array() {
        assert_eq!(index(&[2, 3, 4], 23), [1, 2, 3]);
        assert_eq!(index(&[2, 3, 4], 0), [0, 0, 0]);
        assert_eq!(index(&[5], 7), [7]);
        assert_eq!(index(&[], 7), [7]);
        assert_eq!(index(&[0], 0), [0]);
    }
}

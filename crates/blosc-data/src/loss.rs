//! The differences between numbers before and after lossy compression.

use blosc_dtype::{Dtype, Kind, numbers::NumberType};

/// The differences found so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// The largest difference of two items.
    pub largest: f64,
    sum: f64,
    nitems: u64,
    /// Items that are NaN or infinite.
    pub not_finite: u64,
}

impl Sums {
    /// The mean of the differences.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.nitems == 0 { 0.0 } else { self.sum / self.nitems as f64 }
    }

    fn add(&mut self, difference: f64) {
        self.largest = self.largest.max(difference);
        self.sum += difference;
        self.nitems += 1;
    }

    /// Compares items before and after, all of one type.
    pub fn compare(&mut self, dtype: &Dtype, given: &[u8], found: &[u8]) {
        let itemsize = dtype.itemsize().max(1);
        let pairs = given.chunks_exact(itemsize).zip(found.chunks_exact(itemsize));
        let number = dtype.scalar().and_then(NumberType::new);
        let is_bad = |item| number.is_some_and(|number| !number.read(item).to_f64().is_finite());
        for (given, found) in pairs {
            self.not_finite += u64::from(is_bad(given));
            self.add(if given == found { 0.0 } else { difference(dtype, given, found) });
        }
    }
}

/// The distance of two numbers; infinite if only one of them is finite.
fn difference(dtype: &Dtype, given: &[u8], found: &[u8]) -> f64 {
    let word = |bytes: &[u8]| {
        let mut word = [0; 8];
        word.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        u64::from_le_bytes(word)
    };
    let (given, found) = (word(given), word(found));
    let difference = match (dtype.kind(), dtype.itemsize()) {
        (Some(Kind::Float), 4) => {
            let real = |word: u64| f64::from(f32::from_bits((word & 0xffff_ffff) as u32));
            (real(given) - real(found)).abs()
        }
        (Some(Kind::Float), _) => (f64::from_bits(given) - f64::from_bits(found)).abs(),
        (Some(Kind::Int), itemsize) => {
            let unused = 64 - 8 * u32::try_from(itemsize.clamp(1, 8)).unwrap_or(8);
            let int = |word: u64| (word.cast_signed() << unused) >> unused;
            int(given).abs_diff(int(found)) as f64
        }
        _ => given.abs_diff(found) as f64,
    };
    if difference.is_nan() { f64::INFINITY } else { difference }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(dtype: &str, given: &[u8], found: &[u8]) -> f64 {
        difference(&Dtype::parse(dtype).unwrap(), given, found)
    }

    #[test]
    fn differences_are_those_of_the_numbers() {
        let f4 = |value: f32| value.to_le_bytes();
        assert_eq!(between("<f4", &f4(1.5), &f4(-1.0)), 2.5);
        assert_eq!(between("<f4", &f4(f32::NAN), &f4(1.0)), f64::INFINITY);
        assert_eq!(between("<f8", &1e300_f64.to_le_bytes(), &0_f64.to_le_bytes()), 1e300);
        assert_eq!(between("|i1", &[0xff], &[0x80]), 127.0);
        assert_eq!(between("<i2", &[0xff, 0xff], &[1, 0]), 2.0);
        assert_eq!(between("<i8", &i64::MIN.to_le_bytes(), &i64::MAX.to_le_bytes()), 2f64.powi(64));
        assert_eq!(between("<u2", &[0xff, 0xff], &[0, 0]), 65_535.0);
    }

    #[test]
    fn means_count_equal_items() {
        let mut sums = Sums::default();
        assert_eq!(sums.mean(), 0.0);
        [0.0, 3.0, 0.0, 1.0].into_iter().for_each(|difference| sums.add(difference));
        assert_eq!((sums.largest, sums.mean()), (3.0, 1.0));
    }
}

//! The lossy filter of bcolz: floats rounded to few significant digits, so that they compress
//! better.

use blosc_dtype::{ByteOrder, Dtype, Kind};

use crate::error::{Param, Result};

/// The rounding that floats get before they are compressed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quantize {
    /// Bits after the binary point that are kept.
    bits: i32,
    itemsize: usize,
    order: ByteOrder,
}

impl Quantize {
    /// `None` for 0 digits, which means all.
    pub(crate) fn new(digits: u8, dtype: &Dtype) -> Result<Option<Self>> {
        if digits == 0 {
            return Ok(None);
        }
        let scalar =
            dtype.scalar().filter(|scalar| scalar.kind() == Kind::Float && scalar.itemsize() <= 8);
        let Some(scalar) = scalar else {
            return Err(Param::Quantize { dtype: dtype.to_string() }.into());
        };
        // Powers of ten are irrational powers of two, so rounding errors cannot change `ceil`.
        let bits = (f64::from(digits) * core::f64::consts::LOG2_10).ceil();
        #[expect(clippy::cast_possible_truncation, reason = "at most 848")]
        let bits = bits as i32;
        Ok(Some(Self { bits, itemsize: scalar.itemsize(), order: scalar.order() }))
    }

    pub(crate) fn apply(&self, items: &mut [u8]) {
        let is_big = self.order == ByteOrder::Big;
        for item in items.chunks_exact_mut(self.itemsize) {
            if is_big {
                item.reverse();
            }
            self.round(item);
            if is_big {
                item.reverse();
            }
        }
    }

    /// Rounds in the precision of the items, as NumPy does.
    fn round(&self, item: &mut [u8]) {
        let scale = f64::from(self.bits).exp2();
        match *item {
            [a, b] => {
                let half = |value: f64| half::f16::from_f64(value).to_f64();
                let value = half::f16::from_le_bytes([a, b]).to_f64();
                let value = half(half(value * half(scale)).round_ties_even() / half(scale));
                item.copy_from_slice(&half::f16::from_f64(value).to_le_bytes());
            }
            [a, b, c, d] => {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "a power of two; NumPy overflows as well"
                )]
                let scale = scale as f32;
                let value = (f32::from_le_bytes([a, b, c, d]) * scale).round_ties_even() / scale;
                item.copy_from_slice(&value.to_le_bytes());
            }
            _ => {
                let Ok(bytes) = <[u8; 8]>::try_from(&*item) else { return };
                let value = (f64::from_le_bytes(bytes) * scale).round_ties_even() / scale;
                item.copy_from_slice(&value.to_le_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_the_format_document() {
        let dtype = Dtype::parse("<f8").unwrap();
        let bits: Vec<i32> =
            (1..=8).map(|d| Quantize::new(d, &dtype).unwrap().unwrap().bits).collect();
        assert_eq!(bits, [4, 7, 10, 14, 17, 20, 24, 27]);
        assert!(Quantize::new(0, &dtype).unwrap().is_none());
        assert!(Quantize::new(1, &Dtype::parse("<i4").unwrap()).is_err());
    }

    #[test]
    fn every_precision_and_order_is_rounded() {
        for (dtype, item, expected) in [
            ("<f8", 1.03_f64.to_le_bytes().to_vec(), 1.0_f64.to_le_bytes().to_vec()),
            (">f8", 1.04_f64.to_be_bytes().to_vec(), 1.0625_f64.to_be_bytes().to_vec()),
            ("<f4", 1.03_f32.to_le_bytes().to_vec(), 1.0_f32.to_le_bytes().to_vec()),
            (
                "<f2",
                half::f16::from_f32(1.1).to_le_bytes().to_vec(),
                half::f16::from_f32(1.125).to_le_bytes().to_vec(),
            ),
        ] {
            let quantize = Quantize::new(1, &Dtype::parse(dtype).unwrap()).unwrap().unwrap();
            let mut found = item;
            quantize.apply(&mut found);
            assert_eq!(found, expected, "{dtype}");
        }
    }
}

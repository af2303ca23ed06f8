//! The two types of items, and the integers that represent them inside a cell.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "each value is below its bound"
)]

/// `f32` or `f64`.
pub(super) trait Real: Copy + Default {
    /// The integer of the same width.
    type Lane: Lane;
    /// Bytes of an item.
    const LEN: usize;
    /// Bits of an item.
    const BITS: u32;
    /// Bits of its exponent.
    const EXPONENT_BITS: u32;

    /// From `LEN` little-endian bytes.
    fn load(bytes: &[u8]) -> Self;
    /// To `LEN` little-endian bytes.
    fn store(self, bytes: &mut [u8]);
    /// The exponent `e` of the largest magnitude, which lies in `0.5 * 2^e .. 2^e`, but at least
    /// the exponent of the smallest normal number. Inner `None`: all are zero. Outer `None`: one is
    /// not finite.
    #[allow(clippy::option_option, reason = "two questions, two answers")]
    fn common_exponent(values: &[Self]) -> Option<Option<i32>>;
    /// The exponent as it is stored.
    fn biased(emax: i32) -> u32;
    /// The exponent from its stored form.
    fn unbiased(stored: u64) -> i32;
    /// The integer for this value in a cell of exponent `emax`, rounded toward zero.
    fn quantize(self, emax: i32) -> Self::Lane;
    /// The factor of [`dequantize`](Self::dequantize): a power of two, or zero if the power is
    /// below all numbers.
    fn dequantizer(emax: i32) -> Self;
    /// The value for an integer.
    fn dequantize(lane: Self::Lane, scale: Self) -> Self;
    /// `2^exponent`, down to zero.
    fn power_of_two(exponent: i32) -> Self;
}

/// `i32` or `i64`, wrapping.
pub(super) trait Lane: Copy + Default {
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn half(self) -> Self;
    fn double(self) -> Self;
    fn to_negabinary(self) -> u64;
    fn from_negabinary(bits: u64) -> Self;
}

macro_rules! lane {
    ($lane:ty, $bits:ty) => {
        impl Lane for $lane {
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn half(self) -> Self {
                self >> 1
            }

            #[inline(always)]
            fn double(self) -> Self {
                self << 1
            }

            #[inline(always)]
            fn to_negabinary(self) -> u64 {
                const ODD: $bits = <$bits>::MAX / 3 * 2;
                u64::from(self.cast_unsigned().wrapping_add(ODD) ^ ODD)
            }

            #[inline(always)]
            fn from_negabinary(bits: u64) -> Self {
                const ODD: $bits = <$bits>::MAX / 3 * 2;
                (bits as $bits ^ ODD).wrapping_sub(ODD).cast_signed()
            }
        }
    };
}

macro_rules! real {
    ($real:ty, $bits:ty, $lane:ty) => {
        impl Real for $real {
            type Lane = $lane;
            const LEN: usize = size_of::<$real>();
            const BITS: u32 = <$bits>::BITS;
            const EXPONENT_BITS: u32 = <$bits>::BITS - <$real>::MANTISSA_DIGITS;

            fn load(bytes: &[u8]) -> Self {
                bytes.first_chunk().map_or(0.0, |b| Self::from_le_bytes(*b))
            }

            fn store(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }

            fn common_exponent(values: &[Self]) -> Option<Option<i32>> {
                let largest = values.iter().map(|v| v.to_bits() << 1).max().unwrap_or(0) >> 1;
                let biased = (largest >> (Self::MANTISSA_DIGITS - 1)) as i32;
                let emax = biased - (Self::MAX_EXP - 2);
                Self::from_bits(largest).is_finite().then_some((largest > 0).then_some(emax))
            }

            fn biased(emax: i32) -> u32 {
                (emax + Self::MAX_EXP - 1).cast_unsigned()
            }

            fn unbiased(stored: u64) -> i32 {
                stored as i32 - (Self::MAX_EXP - 1)
            }

            fn quantize(self, emax: i32) -> $lane {
                // In two steps, since the factor itself may be out of range.
                let shift = <$bits>::BITS.cast_signed() - 2 - emax;
                (self * Self::power_of_two(shift / 2) * Self::power_of_two(shift - shift / 2))
                    as $lane
            }

            fn dequantizer(emax: i32) -> Self {
                Self::power_of_two(emax - (<$bits>::BITS.cast_signed() - 2))
            }

            #[allow(clippy::cast_precision_loss, reason = "to the nearest, as the format says")]
            fn dequantize(lane: $lane, scale: Self) -> Self {
                scale * lane as Self
            }

            fn power_of_two(exponent: i32) -> Self {
                let fraction_bits = Self::MANTISSA_DIGITS - 1;
                let biased = exponent + Self::MAX_EXP - 1;
                let subnormal = biased - 1 + fraction_bits.cast_signed();
                Self::from_bits(match (u32::try_from(biased), u32::try_from(subnormal)) {
                    (Ok(biased @ 1..), _) => <$bits>::from(biased) << fraction_bits,
                    (_, Ok(bit)) => 1 << bit,
                    _ => 0,
                })
            }
        }
    };
}

real!(f32, u32, i32);
real!(f64, u64, i64);
lane!(i32, u32);
lane!(i64, u64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_down_to_zero() {
        for e in -149..=127 {
            assert_eq!(f64::from(f32::power_of_two(e)), 2f64.powi(e), "{e}");
        }
        assert_eq!(f32::power_of_two(-150), 0.0);
        assert_eq!(f64::power_of_two(-1074), f64::from_bits(1));
        assert_eq!(f64::power_of_two(-1075), 0.0);
        assert_eq!(f64::power_of_two(1023), 2f64.powi(1023));
    }

    #[test]
    fn exponent_of_the_largest_magnitude() {
        assert_eq!(f32::common_exponent(&[0.0, -0.0]), Some(None));
        assert_eq!(f32::common_exponent(&[0.5, -0.25]), Some(Some(0)));
        assert_eq!(f32::common_exponent(&[1.0, -3.0]), Some(Some(2)));
        assert_eq!(f32::common_exponent(&[f32::from_bits(1)]), Some(Some(-126)));
        assert_eq!(f32::common_exponent(&[1.0, f32::NAN]), None);
        assert_eq!(f64::common_exponent(&[f64::NEG_INFINITY]), None);
        assert_eq!(f64::common_exponent(&[f64::MAX]), Some(Some(1024)));
    }

    #[test]
    fn negabinary_round_trips() {
        for v in [0, 1, -1, 2, -2, 1 << 30, -(1 << 30), i32::MAX, i32::MIN] {
            assert_eq!(i32::from_negabinary(v.to_negabinary()), v);
            assert_eq!(i64::from_negabinary(i64::from(v).to_negabinary()), i64::from(v));
        }
        assert_eq!((-1i32).to_negabinary(), 0b11);
        assert_eq!(2i64.to_negabinary(), 0b110);
    }
}

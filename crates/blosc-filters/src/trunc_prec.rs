//! Truncated precision of floats, id 4, lossy: low bits of the mantissa become zero ("trunc_prec"
//! in the format document).

use crate::filter::{Builtin, check_lengths};
use crate::mask::{clear_low_bits, dropped_bits, truncation};
use crate::{Error, FilterId, Param, Result};

/// Clears low mantissa bits of `f32` (typesize 4) or `f64` (typesize 8) items: `bits` > 0 is how
/// many are kept, of 23 or 52; `bits` < 0 how many are dropped. Rounds towards zero. Bytes after
/// the last whole item are copied.
///
/// A NaN with a payload in the cleared bits only becomes an infinity.
///
/// ```
/// let (pi, mut dest) = (core::f32::consts::PI.to_ne_bytes(), [0; 4]);
/// blosc_filters::functions::trunc_prec(10, 4, &pi, &mut dest)?;
/// assert_eq!(f32::from_ne_bytes(dest), 3.140625);
/// # Ok::<(), blosc_filters::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Param`] for other typesizes, and if `bits` would keep no bit or exceeds the mantissa;
/// [`Error::Length`] if `src` and `dest` differ in length.
pub fn trunc_prec(bits: i8, typesize: usize, src: &[u8], dest: &mut [u8]) -> Result {
    check_lengths(src, dest)?;
    let mantissa = match typesize {
        4 => 23,
        8 => 52,
        _ => {
            return Err(Error::Param {
                id: FilterId::TRUNC_PREC,
                what: Param::Typesize { typesize },
            });
        }
    };
    clear_low_bits(typesize, dropped_bits(FilterId::TRUNC_PREC, bits, mantissa)?, src, dest);
    Ok(())
}

/// `trunc_prec` as a filter of the format.
pub(crate) const FILTER: Builtin = truncation(FilterId::TRUNC_PREC, |cx, meta, src, dest| {
    trunc_prec(meta.cast_signed(), cx.typesize, src, dest)
});

#[cfg(test)]
mod tests {
    use super::*;

    fn truncated(bits: i8, item: f32) -> f32 {
        let mut dest = [0; 4];
        trunc_prec(bits, 4, &item.to_ne_bytes(), &mut dest).unwrap();
        f32::from_ne_bytes(dest)
    }

    #[test]
    fn kept_and_dropped_bits_are_two_ways_to_say_the_same() {
        for (item, expected) in
            [(1.1, 1.099_609_4), (-2.718_281_7, -2.716_796_9), (0.1, 0.099_975_586)]
        {
            assert_eq!((truncated(10, item), truncated(-13, item)), (expected, expected));
        }
        assert_eq!(truncated(23, 1.1), 1.1);
        assert_eq!(truncated(1, -2.718_281_7), -2.0);
    }

    #[test]
    fn a_nan_may_become_an_infinity_and_infinities_stay() {
        assert_eq!(truncated(10, f32::from_bits(0x7F80_0001)), f32::INFINITY);
        assert_eq!(truncated(10, f32::NEG_INFINITY), f32::NEG_INFINITY);
        assert!(truncated(10, f32::NAN).is_nan());
    }

    #[test]
    fn the_range_of_bits_is_that_of_the_mantissa() {
        for (typesize, mantissa) in [(4, 23), (8, 52)] {
            for bits in i8::MIN..=i8::MAX {
                let valid = (1..=mantissa).contains(&bits) || (1 - mantissa..=-1).contains(&bits);
                let result = trunc_prec(bits, typesize, &[0xFF; 8], &mut [0; 8]);
                let what = Param::Meta {
                    meta: bits.into(),
                    min: 1 - i16::from(mantissa),
                    max: mantissa.into(),
                };
                let expected = if valid {
                    Ok(())
                } else {
                    Err(Error::Param { id: FilterId::TRUNC_PREC, what })
                };
                assert_eq!(result, expected);
            }
        }
    }

    #[test]
    fn other_typesizes_are_refused() {
        let what = Param::Typesize { typesize: 2 };
        let expected = Err(Error::Param { id: FilterId::TRUNC_PREC, what });
        assert_eq!(trunc_prec(3, 2, &[0; 8], &mut [0; 8]), expected);
    }

    #[test]
    fn bytes_after_the_last_item_are_copied_and_a_second_run_changes_nothing() {
        let src: [u8; 19] = core::array::from_fn(|i| 255 - i as u8);
        let (mut once, mut twice) = ([0; 19], [0; 19]);
        trunc_prec(-20, 8, &src, &mut once).unwrap();
        trunc_prec(-20, 8, &once, &mut twice).unwrap();
        assert_eq!((once, &once[16..]), (twice, &src[16..]));
        assert_ne!(once, src);
    }
}

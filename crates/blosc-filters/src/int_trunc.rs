//! Truncated precision of integers, id 36, lossy: low bits become zero ("int_trunc" in the format
//! document).

use crate::filter::{Builtin, check_lengths};
use crate::mask::{clear_low_bits, dropped_bits, truncation};
use crate::{Error, FilterId, Param, Result};

/// Clears low bits of integers of 1, 2, 4 or 8 bytes: `bits` > 0 is how many high bits are kept,
/// `bits` < 0 how many low ones are dropped. Signed items round towards minus infinity. Bytes after
/// the last whole item are copied.
///
/// ```
/// let (item, mut dest) = (123_456_789_i32.to_ne_bytes(), [0; 4]);
/// blosc_filters::functions::int_trunc(-8, 4, &item, &mut dest)?;
/// assert_eq!(i32::from_ne_bytes(dest), 123_456_768);
/// # Ok::<(), blosc_filters::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Param`] for other typesizes, and if `bits` would keep no bit or exceeds the width of
/// the item; [`Error::Length`] if `src` and `dest` differ in length.
pub fn int_trunc(bits: i8, typesize: usize, src: &[u8], dest: &mut [u8]) -> Result {
    check_lengths(src, dest)?;
    let width: i8 = match typesize {
        1 => 8,
        2 => 16,
        4 => 32,
        8 => 64,
        _ => {
            return Err(Error::Param {
                id: FilterId::INT_TRUNC,
                what: Param::Typesize { typesize },
            });
        }
    };
    clear_low_bits(typesize, dropped_bits(FilterId::INT_TRUNC, bits, width)?, src, dest);
    Ok(())
}

/// `int_trunc` as a filter of the format.
pub(crate) const FILTER: Builtin = truncation(FilterId::INT_TRUNC, |cx, meta, src, dest| {
    int_trunc(meta.cast_signed(), cx.typesize, src, dest)
});

#[cfg(test)]
mod tests {
    use super::*;

    fn truncated(bits: i8, item: i32) -> i32 {
        let mut dest = [0; 4];
        int_trunc(bits, 4, &item.to_ne_bytes(), &mut dest).unwrap();
        i32::from_ne_bytes(dest)
    }

    #[test]
    fn items_round_towards_minus_infinity() {
        for (item, expected) in
            [(1000, 768), (-1000, -1024), (123_456_789, 123_456_768), (-1, -256)]
        {
            assert_eq!((truncated(24, item), truncated(-8, item)), (expected, expected));
        }
        assert_eq!(truncated(32, 12345), 12345);
        assert_eq!(truncated(1, -12345), i32::MIN);
    }

    #[test]
    fn the_range_of_bits_is_that_of_the_item() {
        for (typesize, width) in [(1, 8), (2, 16), (4, 32), (8, 64)] {
            for bits in i8::MIN..=i8::MAX {
                let valid = (1..=width).contains(&bits) || (1 - width..=-1).contains(&bits);
                let result = int_trunc(bits, typesize, &[0xFF; 8], &mut [0; 8]);
                let what =
                    Param::Meta { meta: bits.into(), min: 1 - i16::from(width), max: width.into() };
                let expected = if valid {
                    Ok(())
                } else {
                    Err(Error::Param { id: FilterId::INT_TRUNC, what })
                };
                assert_eq!(result, expected);
            }
        }
    }

    #[test]
    fn other_typesizes_are_refused() {
        let what = Param::Typesize { typesize: 3 };
        let expected = Err(Error::Param { id: FilterId::INT_TRUNC, what });
        assert_eq!(int_trunc(3, 3, &[0; 9], &mut [0; 9]), expected);
    }

    #[test]
    fn bytes_after_the_last_item_are_copied_and_a_second_run_changes_nothing() {
        let src: [u8; 19] = core::array::from_fn(|i| 255 - 3 * i as u8);
        for typesize in [1, 2, 4, 8] {
            let (mut once, mut twice) = ([0; 19], [0; 19]);
            int_trunc(-3, typesize, &src, &mut once).unwrap();
            int_trunc(-3, typesize, &once, &mut twice).unwrap();
            let whole = 19 - 19 % typesize;
            assert_eq!((once, &once[whole..]), (twice, &src[whole..]));
            assert_ne!(once, src);
        }
    }
}

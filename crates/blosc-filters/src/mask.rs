//! Shared code of the truncating filters: the number of dropped bits, a mask for low bits, and an
//! inverse that only copies.

use crate::filter::{Builtin, Direction, if_written};
use crate::{Error, FilterCx, FilterId, Param, Result};

/// A filter that clears low bits of items; its meta gives their number. The inverse copies for any
/// typesize and meta: it also reads files with values that the encoder refuses.
pub(crate) const fn truncation(id: FilterId, forward: Direction) -> Builtin {
    let forward = if_written(forward);
    let backward: Direction = |_cx, _meta, src, dest| {
        dest.copy_from_slice(src);
        Ok(())
    };
    let backward_is_identity = |_: &FilterCx<'_>, _| true;
    Builtin { id, is_lossy: true, forward, backward, backward_is_identity }
}

/// The number of dropped bits for `bits`: if positive, it counts the kept ones of `width` bits; if
/// negative, the dropped ones.
pub(crate) fn dropped_bits(id: FilterId, bits: i8, width: i8) -> Result<u32> {
    let dropped = if bits >= 0 { width.checked_sub(bits) } else { bits.checked_neg() };
    match dropped {
        Some(dropped) if (0..width).contains(&dropped) => Ok(dropped.unsigned_abs().into()),
        _ => {
            let what =
                Param::Meta { meta: bits.into(), min: 1 - i16::from(width), max: width.into() };
            Err(Error::Param { id, what })
        }
    }
}

/// Clears the `zeroed` low bits of items of 1, 2, 4 or 8 bytes in the machine's byte order; copies
/// the bytes after the last whole item, and everything for other typesizes.
pub(crate) fn clear_low_bits(typesize: usize, zeroed: u32, src: &[u8], dest: &mut [u8]) {
    let mask = u64::MAX.checked_shl(zeroed).unwrap_or(0).to_le_bytes();
    match typesize {
        1 => and_items(first::<1>(mask), src, dest),
        2 => and_items(first::<2>(mask), src, dest),
        4 => and_items(first::<4>(mask), src, dest),
        8 => and_items(first::<8>(mask), src, dest),
        _ => dest.copy_from_slice(src),
    }
}

/// The low bytes of a mask, in the machine's order.
fn first<const N: usize>(mask: [u8; 8]) -> [u8; N] {
    core::array::from_fn(|i| mask[if cfg!(target_endian = "little") { i } else { N - 1 - i }])
}

fn and_items<const N: usize>(mask: [u8; N], src: &[u8], dest: &mut [u8]) {
    let (items, rest) = src.as_chunks::<N>();
    let (to, to_rest) = dest.as_chunks_mut::<N>();
    for (to, item) in to.iter_mut().zip(items) {
        *to = core::array::from_fn(|i| item[i] & mask[i]);
    }
    to_rest.copy_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_bits_of_items_in_the_machines_order_are_cleared() {
        let src: [u8; 10] = [0xFF; 10];
        let mut dest = [0; 10];
        clear_low_bits(4, 20, &src, &mut dest);
        let item = 0xFFF0_0000_u32.to_ne_bytes();
        assert_eq!(dest, *[&item[..], &item, &[0xFF; 2]].concat());
        clear_low_bits(8, 63, &src, &mut dest);
        assert_eq!(dest[..8], (1_u64 << 63).to_ne_bytes());
        clear_low_bits(1, 7, &src, &mut dest);
        assert_eq!(dest, [0x80; 10]);
    }
}

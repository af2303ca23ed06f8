//! Delta, id 3: XOR with the item before in the first block of a chunk, with the first block in all
//! others ("Delta" in the format document).

use crate::filter::{Builtin, check_lengths};
use crate::{Error, FilterId, Param, Result, Simd, arch};

/// The reference of delta.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference<'a> {
    /// The block is the first of its chunk (or a variable-length block): each item is XORed with
    /// the one before.
    FirstBlock,
    /// The unfiltered bytes of the first block of the chunk, as a decoder will see them. At least
    /// as long as the block.
    Block(&'a [u8]),
}

/// XORs each item with the one before or with the reference. The bytes that do not make a whole
/// word are copied.
///
/// ```
/// use blosc_filters::{Reference, functions::delta_encode};
/// let mut dest = [0; 6];
/// delta_encode(Reference::FirstBlock, 2, &[1, 0, 3, 0, 2, 1], &mut dest)?;
/// assert_eq!(dest, [1, 0, 2, 0, 1, 1]);
/// # Ok::<(), blosc_filters::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Param`] if the reference is shorter than the block, [`Error::Length`] if `src` and
/// `dest` differ in length.
pub fn delta_encode(
    reference: Reference<'_>,
    typesize: usize,
    src: &[u8],
    dest: &mut [u8],
) -> Result {
    check_lengths(src, dest)?;
    let width = width(typesize);
    match reference {
        Reference::Block(block) => xor_block(block, width, src, dest),
        Reference::FirstBlock => {
            let (words, to) = split_leftover(width, src, dest);
            // The first word has none before it.
            let (first, others) = words.split_at(width.min(words.len()));
            let (to_first, to_others) = to.split_at_mut(first.len());
            to_first.copy_from_slice(first);
            xor(others, words, to_others);
            Ok(())
        }
    }
}

/// Undoes [`delta_encode`].
///
/// # Errors
///
/// As [`delta_encode`].
pub fn delta_decode(
    reference: Reference<'_>,
    typesize: usize,
    src: &[u8],
    dest: &mut [u8],
) -> Result {
    decode_with(Simd::detect(), reference, typesize, src, dest)
}

fn decode_with(
    simd: Simd,
    reference: Reference<'_>,
    typesize: usize,
    src: &[u8],
    dest: &mut [u8],
) -> Result {
    check_lengths(src, dest)?;
    let width = width(typesize);
    match reference {
        Reference::Block(block) => xor_block(block, width, src, dest),
        Reference::FirstBlock => {
            let (words, to) = split_leftover(width, src, dest);
            arch::running_xor(simd, width, words, to);
            Ok(())
        }
    }
}

/// XOR with the first block; its own inverse.
fn xor_block(block: &[u8], width: usize, src: &[u8], dest: &mut [u8]) -> Result {
    let (words, to) = split_leftover(width, src, dest);
    if block.len() < words.len() {
        let what = Param::Reference { reference: block.len(), block: src.len() };
        return Err(Error::Param { id: FilterId::DELTA, what });
    }
    xor(words, block, to);
    Ok(())
}

/// The XOR of two sources, as far as the destination goes.
fn xor(a: &[u8], b: &[u8], dest: &mut [u8]) {
    for ((to, a), b) in dest.iter_mut().zip(a).zip(b) {
        *to = a ^ b;
    }
}

/// Copies the bytes that do not make a whole word and returns the others.
fn split_leftover<'a>(width: usize, src: &'a [u8], dest: &'a mut [u8]) -> (&'a [u8], &'a mut [u8]) {
    let (words, leftover) = src.split_at(src.len() - src.len() % width);
    let (to, to_leftover) = dest.split_at_mut(words.len());
    to_leftover.copy_from_slice(leftover);
    (words, to)
}

/// The bytes that are XORed together and so the distance to the item before: not always the
/// typesize.
fn width(typesize: usize) -> usize {
    match typesize {
        1 | 2 | 4 => typesize,
        _ if typesize != 0 && typesize.is_multiple_of(8) => 8,
        _ => 1,
    }
}

/// Delta as a filter of the format.
pub(crate) const FILTER: Builtin = Builtin::lossless(
    FilterId::DELTA,
    |cx, _meta, src, dest| delta_encode(cx.reference, cx.typesize, src, dest),
    |cx, _meta, src, dest| decode_with(cx.simd, cx.reference, cx.typesize, src, dest),
);

#[cfg(test)]
mod tests {
    use super::Reference::{Block, FirstBlock};
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    fn words(items: &[u32]) -> Vec<u8> {
        items.iter().flat_map(|item| item.to_le_bytes()).collect()
    }

    fn encoded(reference: Reference<'_>, typesize: usize, src: &[u8]) -> Vec<u8> {
        let mut dest = vec![0xEE; src.len()];
        delta_encode(reference, typesize, src, &mut dest).unwrap();
        dest
    }

    #[test]
    fn the_first_block_is_its_own_reference_and_that_of_the_others() {
        let first = words(&[5, 7, 7, 6, 100, 101, 99, 98]);
        assert_eq!(encoded(FirstBlock, 4, &first), words(&[5, 2, 0, 1, 98, 1, 6, 1]));
        let second = words(&[5, 8, 7, 6, 100, 101, 99, 100]);
        assert_eq!(encoded(Block(&first), 4, &second), words(&[0, 15, 0, 0, 0, 0, 0, 6]));
    }

    #[test]
    fn odd_typesizes_work_byte_by_byte() {
        let src = [0x0a, 0x14, 0x1e, 0x28, 0x32, 0x3c];
        assert_eq!(encoded(FirstBlock, 3, &src), [0x0a, 0x1e, 0x0a, 0x36, 0x1a, 0x0e]);
        assert_eq!(
            [1, 2, 3, 4, 7, 8, 12, 16, 24, 20, 255].map(width),
            [1, 2, 1, 4, 1, 8, 1, 8, 8, 1, 1]
        );
    }

    #[test]
    fn decode_undoes_encode_and_leftovers_pass_through() {
        let first: Vec<u8> = (0..700u32).map(|i| (i * i % 249) as u8).collect();
        for typesize in (1..=40).chain([255]) {
            for len in 0..=600 {
                let src: Vec<u8> = (0..len as u32).map(|i| (i * 13 % 251) as u8).collect();
                for reference in [FirstBlock, Block(&first)] {
                    let (filtered, mut restored) =
                        (encoded(reference, typesize, &src), vec![0xEE; len]);
                    delta_decode(reference, typesize, &filtered, &mut restored).unwrap();
                    assert_eq!(restored, src, "typesize {typesize}, {len} bytes");
                    let whole = len - len % width(typesize);
                    assert_eq!(filtered[whole..], src[whole..]);
                }
            }
        }
    }

    #[test]
    fn a_short_reference_is_an_error() {
        let what = Param::Reference { reference: 7, block: 8 };
        let expected = Err(Error::Param { id: FilterId::DELTA, what });
        assert_eq!(delta_decode(Block(&[0; 7]), 4, &[0; 8], &mut [0; 8]), expected);
        assert_eq!(delta_encode(Block(&[0; 8]), 4, &[0; 11], &mut [0; 11]), Ok(()));
    }
}

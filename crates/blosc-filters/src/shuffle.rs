//! Byte shuffle, id 1: byte `j` of all items, one plane after another ("Shuffle" in the format
//! document).

use crate::filter::Builtin;
use crate::internal::StoreHint;
use crate::{FilterCx, FilterId, Simd, arch};

/// Writes byte 0 of each item of `typesize` bytes, then byte 1 of each, and so on. Bytes after the
/// last whole item are copied. A typesize of 0 counts as 1.
///
/// ```
/// let mut dest = [0; 8];
/// blosc_filters::shuffle(3, b"abcABC!?", &mut dest);
/// assert_eq!(&dest, b"aAbBcC!?");
/// ```
///
/// # Panics
///
/// If `src` and `dest` differ in length.
pub fn shuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    shuffle_with(Simd::detect(), typesize, src, dest);
}

/// Undoes [`shuffle`].
///
/// # Panics
///
/// If `src` and `dest` differ in length.
pub fn unshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    unshuffle_with(Simd::detect(), StoreHint::Cached, typesize, src, dest);
}

/// Undoes [`shuffle`] of items whose planes are separate slices. This restores a range of the items
/// of a block without the others.
///
/// ```
/// use blosc_filters::{Simd, internal::{StoreHint, unshuffle_planes}};
///
/// let mut dest = [0; 4];
/// unshuffle_planes(Simd::detect(), StoreHint::Cached, &[b"ac", b"bd"], &mut dest);
/// assert_eq!(&dest, b"abcd");
/// ```
///
/// # Panics
///
/// If `dest` is not as long as all planes together, or the planes differ in length.
pub fn unshuffle_planes(simd: Simd, stores: StoreHint, planes: &[&[u8]], dest: &mut [u8]) {
    let Some((first, others)) = planes.split_first() else {
        return assert!(dest.is_empty(), "unshuffle: no planes");
    };
    assert!(others.iter().all(|plane| plane.len() == first.len()), "unshuffle: lengths of planes");
    assert_eq!(
        first.len() * planes.len(),
        dest.len(),
        "unshuffle: lengths of planes and destination"
    );
    match planes {
        [plane] => stores.copy(simd, plane, dest),
        _ if stores.bypasses_cache(dest) => arch::unshuffle_planes_streaming(simd, planes, dest),
        _ => arch::unshuffle_planes(simd, planes, dest),
    }
}

fn shuffle_with(simd: Simd, typesize: usize, src: &[u8], dest: &mut [u8]) {
    let (items, to) = split_leftover(typesize, src, dest);
    match typesize {
        0 | 1 => to.copy_from_slice(items),
        _ => arch::shuffle(simd, typesize, items, to),
    }
}

fn unshuffle_with(simd: Simd, stores: StoreHint, typesize: usize, src: &[u8], dest: &mut [u8]) {
    let (planes, to) = split_leftover(typesize, src, dest);
    match typesize {
        0 | 1 => stores.copy(simd, planes, to),
        _ if stores.bypasses_cache(to) => arch::unshuffle_streaming(simd, typesize, planes, to),
        _ => arch::unshuffle(simd, typesize, planes, to),
    }
}

/// Copies the bytes after the last whole item and returns the others.
fn split_leftover<'a>(
    typesize: usize,
    src: &'a [u8],
    dest: &'a mut [u8],
) -> (&'a [u8], &'a mut [u8]) {
    assert_eq!(src.len(), dest.len(), "shuffle: lengths of source and destination");
    let typesize = typesize.max(1);
    let (items, leftover) = src.split_at(whole_items(src.len(), typesize) * typesize);
    let (to, to_leftover) = dest.split_at_mut(items.len());
    if !leftover.is_empty() {
        to_leftover.copy_from_slice(leftover);
    }
    (items, to)
}

/// Number of whole items of `typesize` bytes, at least 1, in `nbytes`. (A division takes as long as
/// shuffling 500 bytes.)
#[inline]
pub(crate) const fn whole_items(nbytes: usize, typesize: usize) -> usize {
    if typesize.is_power_of_two() { nbytes >> typesize.trailing_zeros() } else { nbytes / typesize }
}

/// Shuffle as a filter of the format.
pub(crate) const FILTER: Builtin = Builtin {
    backward_is_identity: |cx, meta| group(cx, meta) <= 1,
    ..Builtin::lossless(
        FilterId::SHUFFLE,
        |cx, meta, src, dest| {
            shuffle_with(cx.simd, group(cx, meta), src, dest);
            Ok(())
        },
        |cx, meta, src, dest| {
            unshuffle_with(cx.simd, cx.stores, group(cx, meta), src, dest);
            Ok(())
        },
    )
};

/// The number of bytes of a shuffled item: the meta byte, or the typesize if that byte is 0.
fn group(cx: &FilterCx<'_>, meta: u8) -> usize {
    if meta == 0 { cx.typesize } else { usize::from(meta) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Filter;
    use alloc::vec;
    use alloc::vec::Vec;

    fn shuffled(typesize: usize, src: &[u8]) -> Vec<u8> {
        let mut dest = vec![0xEE; src.len()];
        shuffle(typesize, src, &mut dest);
        dest
    }

    #[test]
    fn planes_follow_each_other_and_the_leftover_is_copied() {
        assert_eq!(
            shuffled(4, &[1, 0, 0, 0, 2, 0, 0, 0, 4, 3, 2, 1, 0xaa, 0xbb]),
            [1, 2, 4, 0, 0, 3, 0, 0, 2, 0, 0, 1, 0xaa, 0xbb]
        );
        assert_eq!(shuffled(3, &[1, 2, 3, 4, 5, 6, 7]), [1, 4, 2, 5, 3, 6, 7]);
    }

    #[test]
    fn blocks_below_one_item_are_copied() {
        for typesize in [0, 1, 4, 255] {
            assert_eq!(shuffled(typesize, &[1, 2, 3]), [1, 2, 3]);
            assert_eq!(shuffled(typesize, &[]), []);
        }
    }

    #[test]
    fn unshuffle_undoes_shuffle() {
        for typesize in (1..=40).chain([255]) {
            for len in 0..=600 {
                let src: Vec<u8> = (0..len).map(|i| (i * 7 % 251) as u8).collect();
                let mut restored = vec![0xEE; src.len()];
                unshuffle(typesize, &shuffled(typesize, &src), &mut restored);
                assert_eq!(restored, src, "typesize {typesize}, {len} bytes");
            }
        }
    }

    #[test]
    fn meta_is_the_group_size_and_0_means_the_typesize() {
        let (cx, src) = (FilterCx::new(4), *b"abcdABCD");
        for (meta, expected) in
            [(0, b"aAbBcCdD"), (4, b"aAbBcCdD"), (2, b"acACbdBD"), (1, b"abcdABCD")]
        {
            let mut dest = [0; 8];
            FILTER.forward(&cx, meta, &src, &mut dest).unwrap();
            assert_eq!(&dest, expected, "meta {meta}");
        }
    }
}

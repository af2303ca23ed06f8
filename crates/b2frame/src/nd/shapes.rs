//! Default chunk and block shapes ("Chunk and block shapes" in `docs/formats/b2nd.md`).
//!
//! The rule is python-blosc2's, which uses the cache sizes of the machine. Here they are constants,
//! so that equal arrays become equal files on every machine.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

/// Caches of an ordinary machine (bytes).
const L2_NBYTES: u64 = 1 << 20;
const L3_NBYTES: u64 = 32 << 20;
/// The least size of a block (bytes).
const MIN_BLOCK_NBYTES: u64 = L2_NBYTES / 4;
/// Size of a chunk, unless its blocks are larger: four such arrays fit the largest cache (bytes).
const CHUNK_NBYTES: u64 = L3_NBYTES / 4;
/// For longer dimensions only divisors below the requested number are tried.
const MAX_SEARCHED_LEN: u64 = 100_000;

/// Block lengths for chunks of these lengths.
pub(super) fn blocks_of(chunks: &[u64], typesize: u64) -> Vec<u64> {
    if chunks.contains(&0) {
        return chunks.to_vec();
    }
    partition(MIN_BLOCK_NBYTES.max(typesize) / typesize, chunks, &vec![1; chunks.len()])
}

/// Chunk lengths for an array of this shape and blocks of these lengths.
pub(super) fn chunks_of(shape: &[u64], blocks: &[u64], typesize: u64) -> Vec<u64> {
    // The check of the shapes refuses blocks without items.
    if shape.contains(&0) || blocks.contains(&0) {
        return shape.iter().zip(blocks).map(|(len, block)| *len.max(block)).collect();
    }
    let block_nbytes = blocks.iter().fold(typesize, |product, len| product.saturating_mul(*len));
    let nbytes = CHUNK_NBYTES.max(block_nbytes);
    let nbytes = nbytes - nbytes % block_nbytes;
    let chunks = partition(nbytes / typesize, shape, blocks);
    let whole = |(chunk, (len, block)): (&u64, (&u64, &u64))| {
        chunk.next_multiple_of(*block).min(*len).max(*block)
    };
    chunks.iter().zip(shape.iter().zip(blocks)).map(whole).collect()
}

/// A part of about `nitems` items of an array of this shape, the last dimension filled first, with
/// lengths that divide the shape.
fn partition(nitems: u64, shape: &[u64], least: &[u64]) -> Vec<u64> {
    let mut left = nitems;
    let mut parts: Vec<u64> = (shape.iter().zip(least).rev())
        .map(|(&len, &least)| {
            if left <= 1 {
                return 1;
            }
            let part = part_of(len, least, left);
            left /= part;
            part
        })
        .collect();
    parts.reverse();
    parts
}

/// A part of a dimension of `len` items: at least `least`, and at most `left` if possible.
fn part_of(len: u64, least: u64, left: u64) -> u64 {
    let whole = len.max(least);
    if whole <= left {
        return if len.is_multiple_of(whole) { whole } else { divisor(len, whole) };
    }
    let part = left.max(least);
    let divisor = if len.is_multiple_of(part) { part } else { divisor_down(len, part) };
    // A distant divisor is worse than no divisor.
    if part / 2 < divisor && divisor < part * 2 { divisor } else { part }
}

/// The divisor of `number` that is nearest to `wanted`.
fn divisor(number: u64, wanted: u64) -> u64 {
    if number > MAX_SEARCHED_LEN {
        return divisor_down(number, wanted);
    }
    // Of two that are equally near, the first in the order 1, number, 2, number / 2, and so on.
    let pairs = (1..=number.isqrt()).filter(|low| number.is_multiple_of(*low));
    pairs
        .flat_map(|low| [low, number / low])
        .min_by_key(|found| found.abs_diff(wanted))
        .unwrap_or(1)
}

/// The largest divisor of `number` that is at most `wanted`.
fn divisor_down(number: u64, wanted: u64) -> u64 {
    let root = number.isqrt();
    if wanted <= root {
        return (1..=wanted).rev().find(|low| number.is_multiple_of(*low)).unwrap_or(1);
    }
    let pairs = (1..=root).filter(|low| number.is_multiple_of(*low));
    pairs.flat_map(|low| [low, number / low]).filter(|found| *found <= wanted).max().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shape, typesize, chunks, blocks.
    type Case = (&'static [u64], u64, &'static [u64], &'static [u64]);

    /// Chunks and blocks as python-blosc2 4.14.1 computes them with these cache sizes.
    const EXPECTED: &[Case] = &[
        (&[10], 1, &[10], &[10]),
        (&[1000000], 4, &[1000000], &[62500]),
        (&[100000007], 8, &[1048576], &[32768]),
        (&[3000, 4000], 2, &[1020, 4000], &[30, 4000]),
        (&[4096, 4096], 300, &[4, 4096], &[1, 512]),
        (&[17, 19, 23], 12, &[17, 19, 23], &[17, 19, 23]),
        (&[1000, 1001, 1003], 1, &[8, 1001, 1003], &[1, 143, 1003]),
        (&[5, 5, 5, 5, 5], 4, &[5, 5, 5, 5, 5], &[5, 5, 5, 5, 5]),
        (&[100000, 3], 8, &[100000, 3], &[10000, 3]),
        (&[3, 100000], 2, &[3, 100000], &[1, 100000]),
        (&[7, 1, 9], 300, &[7, 1, 9], &[7, 1, 9]),
        (&[1, 1], 12, &[1, 1], &[1, 1]),
        (&[1048576, 1048576], 1, &[8, 1048576], &[1, 262144]),
        (&[300007, 301, 11], 4, &[627, 301, 11], &[19, 301, 11]),
        (&[200000], 8, &[200000], &[25000]),
        (&[123456, 789], 2, &[5184, 789], &[96, 789]),
        (&[911, 14851], 300, &[1, 14851], &[1, 873]),
        (&[21], 12, &[21], &[21]),
        (&[9057, 285, 94, 12], 1, &[26, 285, 94, 12], &[1, 232, 94, 12]),
        (&[1, 22180, 177, 9201], 4, &[1, 1, 177, 9201], &[1, 1, 7, 9201]),
        (&[4152], 8, &[4152], &[4152]),
        (&[5649, 15, 82301], 2, &[3, 15, 82301], &[1, 1, 82301]),
        (&[1, 1, 653], 300, &[1, 1, 653], &[1, 1, 653]),
        (&[3712, 109398, 5948, 554], 12, &[1, 1, 1248, 554], &[1, 1, 39, 554]),
        (&[76501, 749, 62, 3308], 1, &[1, 40, 62, 3308], &[1, 1, 62, 3308]),
        (&[89468, 65740, 145, 58157], 4, &[1, 1, 29, 58157], &[1, 1, 1, 58157]),
        (&[9], 8, &[9], &[9]),
        (&[4, 53, 5645], 2, &[4, 53, 5645], &[1, 23, 5645]),
    ];

    #[test]
    fn shapes_are_those_of_python() {
        for (shape, typesize, chunks, blocks) in EXPECTED {
            assert_eq!(blocks_of(shape, *typesize), *blocks, "{shape:?} {typesize}");
            assert_eq!(chunks_of(shape, blocks, *typesize), *chunks, "{shape:?} {typesize}");
        }
    }

    #[test]
    fn divisors_are_near() {
        assert_eq!([divisor(12, 5), divisor(12, 8), divisor(10, 3), divisor(7, 4)], [6, 6, 2, 1]);
        for number in 1..200 {
            for wanted in 1..220 {
                let expected = (1..=wanted).rev().find(|d| number % d == 0).unwrap();
                assert_eq!(divisor_down(number, wanted), expected, "{number} {wanted}");
            }
        }
    }

    #[test]
    fn large_numbers_take_no_time() {
        let shape = [(1 << 61) - 1, 3];
        let blocks = blocks_of(&shape, 1);
        let chunks = chunks_of(&shape, &blocks, 1);
        assert!(
            chunks.iter().product::<u64>() <= CHUNK_NBYTES
                && blocks.iter().product::<u64>() <= MIN_BLOCK_NBYTES
        );
    }
}

//! The filters as `docs/formats/filters.md` defines them: one formula each, byte by byte or bit by
//! bit, with no code of the crate.

use blosc_filters::BitshuffleRule;

/// Chapter 4: `out[j * ne + i] = b[i * g + j]`.
pub(crate) fn shuffle(group: usize, block: &[u8]) -> Vec<u8> {
    let (mut out, nitems) = (block.to_vec(), block.len() / group);
    for i in 0..nitems {
        for j in 0..group {
            out[j * nitems + i] = block[i * group + j];
        }
    }
    out
}

pub(crate) fn unshuffle(group: usize, block: &[u8]) -> Vec<u8> {
    let (mut out, nitems) = (block.to_vec(), block.len() / group);
    for i in 0..nitems {
        for j in 0..group {
            out[i * group + j] = block[j * nitems + i];
        }
    }
    out
}

/// The number of items that bitshuffle transposes.
fn bitshuffled_items(rule: BitshuffleRule, typesize: usize, nbytes: usize) -> usize {
    let nitems = nbytes / typesize;
    match rule {
        BitshuffleRule::Blosc1 if !nitems.is_multiple_of(8) => 0,
        _ => nitems / 8 * 8,
    }
}

/// Moves each bit of the items from its item to its row, or back.
fn move_bits(rule: BitshuffleRule, typesize: usize, block: &[u8], forward: bool) -> Vec<u8> {
    let (mut out, nitems) = (block.to_vec(), bitshuffled_items(rule, typesize, block.len()));
    out[..nitems * typesize].fill(0);
    for i in 0..nitems {
        for (j, k) in (0..typesize).flat_map(|j| (0..8).map(move |k| (j, k))) {
            let in_items = (i * typesize + j, k);
            let in_rows = ((8 * j + k) * (nitems / 8) + i / 8, i % 8);
            let (from, to) = if forward { (in_items, in_rows) } else { (in_rows, in_items) };
            out[to.0] |= (block[from.0] >> from.1 & 1) << to.1;
        }
    }
    out
}

/// Chapter 5: bit `i % 8` of `out[(8 * j + k) * ne8 / 8 + i / 8]` is bit `k` of `b[i * ts + j]`.
pub(crate) fn bitshuffle(rule: BitshuffleRule, typesize: usize, block: &[u8]) -> Vec<u8> {
    move_bits(rule, typesize, block, true)
}

pub(crate) fn bitunshuffle(rule: BitshuffleRule, typesize: usize, block: &[u8]) -> Vec<u8> {
    move_bits(rule, typesize, block, false)
}

/// Chapter 6: the bytes that are XORed together.
pub(crate) fn delta_width(typesize: usize) -> usize {
    match typesize {
        2 | 4 => typesize,
        _ if typesize.is_multiple_of(8) => 8,
        _ => 1,
    }
}

/// The first block of a chunk: each word with the one before.
pub(crate) fn delta_first(typesize: usize, block: &[u8]) -> Vec<u8> {
    let (width, mut out) = (delta_width(typesize), block.to_vec());
    for i in width..block.len() - block.len() % width {
        out[i] = block[i] ^ block[i - width];
    }
    out
}

pub(crate) fn undelta_first(typesize: usize, block: &[u8]) -> Vec<u8> {
    let (width, mut out) = (delta_width(typesize), block.to_vec());
    for i in width..block.len() - block.len() % width {
        out[i] = block[i] ^ out[i - width];
    }
    out
}

/// Any other block: with the first one, both ways.
pub(crate) fn delta_other(typesize: usize, block: &[u8], first: &[u8]) -> Vec<u8> {
    let (width, mut out) = (delta_width(typesize), block.to_vec());
    for i in 0..block.len() - block.len() % width {
        out[i] = block[i] ^ first[i];
    }
    out
}

/// Chapters 7 and 8: the low bits of each item become zero. `mantissa` is the number of bits that
/// can be cleared; none if the meta byte is out of range.
pub(crate) fn truncate(meta: u8, mantissa: i32, typesize: usize, block: &[u8]) -> Option<Vec<u8>> {
    let meta = i32::from(meta.cast_signed());
    let zeroed = if meta >= 0 { mantissa - meta } else { -meta };
    if !(0..mantissa).contains(&zeroed) {
        return None;
    }
    let mut out = block.to_vec();
    for item in out.chunks_exact_mut(typesize) {
        for bit in 0..usize::try_from(zeroed).unwrap() {
            let byte =
                if cfg!(target_endian = "little") { bit / 8 } else { typesize - 1 - bit / 8 };
            item[byte] &= !(1 << (bit % 8));
        }
    }
    Some(out)
}

/// Chapter 9: the difference to the byte before, within each stream; the streams of the first form
/// start again at their last multiple of 16.
pub(crate) fn bytedelta(legacy: bool, nstreams: usize, block: &[u8]) -> Vec<u8> {
    let (mut out, len) = (block.to_vec(), block.len() / nstreams);
    for (s, i) in (0..nstreams).flat_map(|s| (1..len).map(move |i| (s, i))) {
        if !legacy || i != len - len % 16 {
            out[s * len + i] = block[s * len + i].wrapping_sub(block[s * len + i - 1]);
        }
    }
    out
}

pub(crate) fn unbytedelta(legacy: bool, nstreams: usize, block: &[u8]) -> Vec<u8> {
    let (mut out, len) = (block.to_vec(), block.len() / nstreams);
    for (s, i) in (0..nstreams).flat_map(|s| (1..len).map(move |i| (s, i))) {
        if !legacy || i != len - len % 16 {
            out[s * len + i] = block[s * len + i].wrapping_add(out[s * len + i - 1]);
        }
    }
    out
}

/// Chapter 10: the items of each cell, as positions in the block; cells and items in C order.
pub(crate) fn cells(shape: &[usize], sides: &[usize]) -> Vec<Vec<usize>> {
    let grid: Vec<usize> = shape.iter().zip(sides).map(|(n, side)| n.div_ceil(*side)).collect();
    indices(&grid)
        .map(|cell| {
            let starts: Vec<usize> = cell.iter().zip(sides).map(|(k, side)| k * side).collect();
            let lens: Vec<usize> =
                (0..shape.len()).map(|d| sides[d].min(shape[d] - starts[d])).collect();
            indices(&lens)
                .map(|inner| (0..shape.len()).fold(0, |at, d| at * shape[d] + starts[d] + inner[d]))
                .collect()
        })
        .collect()
}

/// All indices of an array of this shape, the last dimension first.
fn indices(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> + '_ {
    (0..shape.iter().product::<usize>()).map(move |n| {
        let mut rest = n;
        let mut index = vec![0; shape.len()];
        for (at, len) in index.iter_mut().zip(shape).rev() {
            (*at, rest) = (rest % len, rest / len);
        }
        index
    })
}

/// Chapter 11: the items, cell after cell.
pub(crate) fn ndcell(shape: &[usize], side: usize, typesize: usize, block: &[u8]) -> Vec<u8> {
    let order = cells(shape, &vec![side; shape.len()]).concat();
    order.into_iter().flat_map(|item| block[item * typesize..][..typesize].to_vec()).collect()
}

/// The inverse: each item goes back to its position.
pub(crate) fn unndcell(shape: &[usize], sides: &[usize], typesize: usize, block: &[u8]) -> Vec<u8> {
    let mut out = block.to_vec();
    for (n, item) in cells(shape, sides).concat().into_iter().enumerate() {
        out[item * typesize..][..typesize].copy_from_slice(&block[n * typesize..][..typesize]);
    }
    out
}

/// Chapter 12 for `f32`: each item of a cell becomes the cell's mean.
pub(crate) fn ndmean_f32(shape: &[usize], sides: &[usize], block: &[u8]) -> Vec<u8> {
    let item = |n: &usize| f32::from_ne_bytes(block[n * 4..][..4].try_into().unwrap());
    let mean = |cell: Vec<usize>| {
        let sum = cell.iter().map(item).fold(0.0, |sum, item| sum + item);
        let count: f32 = cell.iter().map(|_| 1.0).sum();
        (sum / count).to_ne_bytes().repeat(cell.len())
    };
    cells(shape, sides).into_iter().flat_map(mean).collect()
}

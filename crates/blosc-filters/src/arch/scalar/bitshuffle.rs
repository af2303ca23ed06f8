//! Bit shuffle, 8 x 8 bits at a time.

/// Transposes the bits of a multiple of eight items: bit `k` of byte `j` of item `i` goes to bit
/// `i % 8` of byte `i / 8` in row `8 * j + k`.
pub(in super::super) fn bitshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let row = src.len() / typesize / 8;
    for (tile, items) in src.chunks(TILE * 8 * typesize).enumerate() {
        for j in 0..typesize {
            // The bytes of eight groups of items in each row, so that successive bytes share a
            // cache line.
            let mut rows = [[0; TILE]; 8];
            for (group, items) in items.chunks_exact(8 * typesize).enumerate() {
                let bits = transpose8x8(core::array::from_fn(|i| items[i * typesize + j]));
                (0..8).for_each(|k| rows[k][group] = bits[k]);
            }
            let ngroups = items.len() / typesize / 8;
            for (k, bytes) in rows.iter().enumerate() {
                dest[(8 * j + k) * row + TILE * tile..][..ngroups]
                    .copy_from_slice(&bytes[..ngroups]);
            }
        }
    }
}

/// Undoes [`bitshuffle`].
pub(in super::super) fn bitunshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let row = src.len() / typesize / 8;
    for (tile, items) in dest.chunks_mut(TILE * 8 * typesize).enumerate() {
        for j in 0..typesize {
            let ngroups = items.len() / typesize / 8;
            let mut rows = [[0; TILE]; 8];
            for (k, bytes) in rows.iter_mut().enumerate() {
                bytes[..ngroups]
                    .copy_from_slice(&src[(8 * j + k) * row + TILE * tile..][..ngroups]);
            }
            for (group, items) in items.chunks_exact_mut(8 * typesize).enumerate() {
                let bytes = transpose8x8(core::array::from_fn(|k| rows[k][group]));
                (0..8).for_each(|i| items[i * typesize + j] = bytes[i]);
            }
        }
    }
}

/// Bit `k` of byte `i` becomes bit `i` of byte `k`: blocks of 1, 2 and 4 bits are exchanged across
/// the diagonal.
fn transpose8x8(bytes: [u8; 8]) -> [u8; 8] {
    let swap = |x: u64, shift: u32, mask: u64| {
        let t = (x ^ (x >> shift)) & mask;
        x ^ t ^ (t << shift)
    };
    let x = u64::from_le_bytes(bytes);
    let x = swap(x, 7, 0x00AA_00AA_00AA_00AA);
    let x = swap(x, 14, 0x0000_CCCC_0000_CCCC);
    swap(x, 28, 0x0000_0000_F0F0_F0F0).to_le_bytes()
}

/// Number of groups of eight items that are processed together.
const TILE: usize = 8;

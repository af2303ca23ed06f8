//! Running XOR and running sum.

/// Each word of `width` bytes (1, 2, 4 or 8) becomes the XOR of all words up to it. `src` holds
/// whole words.
pub(in super::super) fn running_xor(width: usize, src: &[u8], dest: &mut [u8]) {
    match width {
        1 => xor_words::<1>(src, dest),
        2 => xor_words::<2>(src, dest),
        4 => xor_words::<4>(src, dest),
        _ => xor_words::<8>(src, dest),
    }
}

fn xor_words<const N: usize>(src: &[u8], dest: &mut [u8]) {
    let mut all = [0_u8; N];
    for (to, word) in dest.as_chunks_mut().0.iter_mut().zip(src.as_chunks::<N>().0) {
        all = core::array::from_fn(|i| all[i] ^ word[i]);
        *to = all;
    }
}

/// Each byte becomes the sum of all bytes up to it (mod 256).
pub(in super::super) fn running_sum(src: &[u8], dest: &mut [u8]) {
    let mut sum = 0_u8;
    for (to, byte) in dest.iter_mut().zip(src) {
        sum = sum.wrapping_add(*byte);
        *to = sum;
    }
}

//! Byte shuffle, item by item.

/// Byte `j` of item `i` goes to byte `i` of plane `j`.
pub(in super::super) fn shuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let nitems = src.len() / typesize;
    for (j, plane) in dest.chunks_exact_mut(nitems.max(1)).enumerate() {
        for (byte, item) in plane.iter_mut().zip(src.chunks_exact(typesize)) {
            *byte = item[j];
        }
    }
}

/// Byte `i` of plane `j` goes to byte `j` of item `i`.
pub(in super::super) fn unshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    unshuffle_some(typesize, src.len() / typesize, src, dest);
}

/// The items of `dest`, whose bytes `src` starts with, in planes `stride` bytes apart.
pub(in super::super) fn unshuffle_some(typesize: usize, stride: usize, src: &[u8], dest: &mut [u8]) {
    for j in 0..typesize {
        for (item, byte) in dest.chunks_exact_mut(typesize).zip(&src[j * stride..]) {
            item[j] = *byte;
        }
    }
}

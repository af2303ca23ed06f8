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
    let nitems = src.len() / typesize;
    for (j, plane) in src.chunks_exact(nitems.max(1)).enumerate() {
        for (item, byte) in dest.chunks_exact_mut(typesize).zip(plane) {
            item[j] = *byte;
        }
    }
}

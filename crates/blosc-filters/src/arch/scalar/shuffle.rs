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
    for (j, plane) in src.chunks_exact((src.len() / typesize).max(1)).enumerate() {
        put_plane(typesize, j, plane, dest);
    }
}

/// The same from separate planes.
pub(in super::super) fn unshuffle_planes(planes: &[&[u8]], dest: &mut [u8]) {
    unshuffle_from(planes, 0, dest);
}

/// Restores the items of `dest`; byte `first` of each plane belongs to the first item.
pub(in super::super) fn unshuffle_from(planes: &[&[u8]], first: usize, dest: &mut [u8]) {
    for (j, plane) in planes.iter().enumerate() {
        put_plane(planes.len(), j, &plane[first..], dest);
    }
}

fn put_plane(typesize: usize, j: usize, plane: &[u8], dest: &mut [u8]) {
    for (item, byte) in dest.chunks_exact_mut(typesize).zip(plane) {
        item[j] = *byte;
    }
}

//! What the LZ77 codecs share: loading, comparing, copying matches, and writing into a limited room.
//!
//! A match may overlap the bytes it makes (distance 3, length 20 repeats three bytes), so it cannot be one `memmove`.

/// Little-endian 32-bit value at `at`.
#[inline(always)]
pub(crate) fn load32(src: &[u8], at: usize) -> u32 {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&src[at..at + 4]);
    u32::from_le_bytes(bytes)
}

/// Little-endian 64-bit value at `at`.
#[inline(always)]
pub(crate) fn load64(src: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&src[at..at + 8]);
    u64::from_le_bytes(bytes)
}

/// How many bytes from `at` up to `end` equal those from `earlier`; `earlier < at <= end <= src.len()`.
#[inline(always)]
pub(crate) fn common_len(src: &[u8], earlier: usize, at: usize, end: usize) -> usize {
    let mut len = 0;
    while at + len + 8 <= end {
        let differ = load64(src, at + len) ^ load64(src, earlier + len);
        if differ != 0 {
            return len + (differ.trailing_zeros() / 8) as usize;
        }
        len += 8;
    }
    while at + len < end && src[at + len] == src[earlier + len] {
        len += 1;
    }
    len
}

/// Repeats `len` bytes from `distance` back; `0 < distance <= at` and `at + len <= dest.len()`.
#[inline(always)]
pub(crate) fn copy_match(dest: &mut [u8], at: usize, distance: usize, len: usize) {
    let end = at + len;
    if distance >= 16 && end + 16 <= dest.len() {
        let mut to = at;
        while to < end {
            dest.copy_within(to - distance..to - distance + 16, to);
            to += 16;
        }
    } else if distance == 1 {
        let byte = dest[at - 1];
        dest[at..end].fill(byte);
    } else {
        copy_doubling(dest, at, distance, len);
    }
}

/// As [`copy_match`], by copying what is there, then twice as much, and so on.
fn copy_doubling(dest: &mut [u8], at: usize, distance: usize, len: usize) {
    let from = at - distance;
    let mut done = 0;
    while done < len {
        let n = (distance + done).min(len - done);
        dest.copy_within(from..from + n, at + done);
        done += n;
    }
}

/// Writes to the start of a slice until it is full.
pub(crate) struct Room<'a> {
    dest: &'a mut [u8],
    len: usize,
}

impl<'a> Room<'a> {
    pub(crate) fn new(dest: &'a mut [u8]) -> Self {
        Self { dest, len: 0 }
    }

    /// Bytes written.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[must_use]
    #[inline(always)]
    pub(crate) fn byte(&mut self, byte: u8) -> Option<()> {
        *self.dest.get_mut(self.len)? = byte;
        self.len += 1;
        Some(())
    }

    #[must_use]
    #[inline(always)]
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Option<()> {
        self.dest.get_mut(self.len..self.len + bytes.len())?.copy_from_slice(bytes);
        self.len += bytes.len();
        Some(())
    }

    /// The bytes written, to be mended.
    pub(crate) fn written(&mut self) -> &mut [u8] {
        &mut self.dest[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn copy_match_repeats_byte_by_byte() {
        let start: Vec<u8> = (0..40).collect();
        for distance in 1..=40 {
            for len in 0..100 {
                for slack in [0, 40] {
                    let mut expected = start.clone();
                    (0..len).for_each(|_| expected.push(expected[expected.len() - distance]));
                    let mut dest = start.clone();
                    dest.resize(40 + len + slack, 0xEE);
                    copy_match(&mut dest, 40, distance, len);
                    assert_eq!(dest[..40 + len], expected, "distance {distance}, length {len}");
                }
            }
        }
    }

    #[test]
    fn common_len_stops_at_the_end_and_at_a_difference() {
        let mut src = [7u8; 64];
        assert_eq!(common_len(&src, 0, 1, 64), 63);
        assert_eq!(common_len(&src, 0, 1, 1), 0);
        for at in 1..64 {
            src[at] = 8;
            assert_eq!(common_len(&src, 0, 1, 64), at - 1);
            src[at] = 7;
        }
    }
}

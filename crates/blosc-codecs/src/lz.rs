//! Shared code of the LZ77 codecs: hash tables, match lengths, copies, and the output of an
//! encoder.
//!
//! | file | concept | unsafe |
//! |---|---|---|
//! | `hash_table` | positions of earlier words, by hash | |
//! | `cursor` | positions from which a word can be read without a test | yes |
//! | `compare` | the length of a match, in vector registers | yes |
//! | `output` | the destination of an encoder | |
//! | `input` | the stream of a decoder's safe half | |
//! | `fast_decode` | a decoder's fast half, compiled for AVX2 or for any machine | yes |
//! | `unsafe_copy` | its copies, which run past their end | yes |
//! | `sequence` | literals and a match, checked and copied | yes |
//! | `prefetch` | its prefetches of the destination | yes |

#[allow(unsafe_code)]
pub(crate) mod compare;
#[allow(unsafe_code)]
pub(crate) mod cursor;
#[allow(unsafe_code)]
pub(crate) mod fast_decode;
pub(crate) mod hash_table;
pub(crate) mod input;
pub(crate) mod output;
#[allow(unsafe_code)]
pub(crate) mod prefetch;
#[allow(unsafe_code)]
pub(crate) mod sequence;
#[cfg(test)]
pub(crate) mod tests;
#[allow(unsafe_code)]
pub(crate) mod unsafe_copy;

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

/// Copies a match of `len` bytes in safe code; `0 < distance <= at` and `at + len <= dest.len()`.
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

/// As [`copy_match`], by copying the period, then twice as many bytes, and so on.
fn copy_doubling(dest: &mut [u8], at: usize, distance: usize, len: usize) {
    let from = at - distance;
    let mut done = 0;
    while done < len {
        let n = (distance + done).min(len - done);
        dest.copy_within(from..from + n, at + done);
        done += n;
    }
}

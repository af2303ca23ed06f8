//! Changes to bytes by accident or by intent.

use blosc_testdata::data::XorShift32;

use super::pool::Pool;
use crate::cases::below;

/// The position of a chunk's size in its header.
const CBYTES: usize = 12;

/// Takes a chunk of the pool and damages it, one to four times.
pub(super) fn damage(pool: &Pool, draw: &mut XorShift32, bytes: &mut Vec<u8>) {
    let index = below(draw, pool.len());
    bytes.extend_from_slice(pool.get(index));
    for _ in 0..=below(draw, 4) {
        match below(draw, 16) {
            0..4 => flip(draw, bytes),
            4..6 => set_byte(draw, bytes),
            6..8 => set_header_byte(draw, bytes),
            8..13 => set_number(draw, bytes),
            13 => cut(draw, bytes),
            14 => splice(pool, draw, bytes),
            _ => repeat(draw, bytes),
        }
    }
    // Most readers stop if this is wrong.
    if below(draw, 4) > 0 {
        let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        set_field(bytes, CBYTES, len.to_le_bytes());
    }
}

fn flip(draw: &mut XorShift32, bytes: &mut [u8]) {
    if !bytes.is_empty() {
        let at = below(draw, bytes.len());
        bytes[at] ^= 1 << below(draw, 8);
    }
}

fn set_byte(draw: &mut XorShift32, bytes: &mut [u8]) {
    if !bytes.is_empty() {
        let at = below(draw, bytes.len());
        bytes[at] = [0, 1, 0x7F, 0x80, 0xFF, random_byte(draw)][below(draw, 6)];
    }
}

/// Changes flags, versions, ids of codecs and filters.
fn set_header_byte(draw: &mut XorShift32, bytes: &mut [u8]) {
    let at = [0, 1, 2, 2, 3, 16, 20, 21, 22, 23, 24, 28, 29, 30, 31, 31][below(draw, 16)];
    let known = [0, 1, 2, 3, 4, 5, 6, 8, 16, 32, 33, 34, 35, 36, 128, random_byte(draw)];
    if let Some(byte) = bytes.get_mut(at) {
        *byte = known[below(draw, known.len())];
    }
}

/// Sets a size, an offset, or the size of a stream: out of bounds, or just inside them.
fn set_number(draw: &mut XorShift32, bytes: &mut [u8]) {
    let len = i32::try_from(bytes.len()).unwrap_or(i32::MAX);
    let small = i32::try_from(below(draw, 300)).unwrap_or(0);
    let numbers = [
        0,
        1,
        -1,
        i32::MAX,
        i32::MIN,
        len,
        len - 4,
        len + 1,
        4,
        32,
        small,
        -small,
        small << 8,
        1 << 20,
    ];
    let number = numbers[below(draw, numbers.len())];
    // Half of them in the header and the block starts.
    let words = if below(draw, 2) == 0 { 16 } else { bytes.len() / 4 };
    set_field(bytes, 4 * below(draw, words.max(1)), number.to_le_bytes());
}

fn cut(draw: &mut XorShift32, bytes: &mut Vec<u8>) {
    let len = below(draw, bytes.len() + 1);
    bytes.truncate(len);
}

/// Joins the start of one chunk and the end of another.
fn splice(pool: &Pool, draw: &mut XorShift32, bytes: &mut Vec<u8>) {
    let index = below(draw, pool.len());
    let other = pool.get(index);
    bytes.truncate(below(draw, bytes.len() + 1));
    bytes.extend_from_slice(&other[below(draw, other.len() + 1)..]);
}

/// Repeats or removes some bytes.
fn repeat(draw: &mut XorShift32, bytes: &mut Vec<u8>) {
    let start = below(draw, bytes.len() + 1);
    let end = (start + below(draw, 40)).min(bytes.len());
    if below(draw, 2) == 0 {
        bytes.drain(start..end);
    } else {
        let again = bytes[start..end].to_vec();
        bytes.splice(start..start, again);
    }
}

fn set_field(bytes: &mut [u8], at: usize, field: [u8; 4]) {
    if let Some(place) = bytes.get_mut(at..at + 4) {
        place.copy_from_slice(&field);
    }
}

fn random_byte(draw: &mut XorShift32) -> u8 {
    draw.next_hi().to_le_bytes()[0]
}

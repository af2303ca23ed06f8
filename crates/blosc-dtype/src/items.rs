//! Items that are strings, and the byte order of other items.
#![cfg_attr(
    not(test),
    expect(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        reason = "rows and bytes that were compared with the layout"
    )
)]

use alloc::string::String;
use alloc::vec::Vec;

use crate::{ByteOrder, Dtype};

/// Whether items begin with their most significant byte.
#[must_use]
pub fn is_big(dtype: &Dtype) -> bool {
    dtype.scalar().is_some_and(|scalar| scalar.order() == ByteOrder::Big)
}

/// The item without the zeros at its end, which NumPy's strings do not count.
#[must_use]
pub fn trimmed(item: &[u8]) -> &[u8] {
    let len = match item.len() {
        // Reads all bytes at once, as a number whose highest bytes are zero.
        4 => item.first_chunk().map_or(0, |item| bytes_of(u32::from_le_bytes(*item).into())),
        8 => item.first_chunk().map_or(0, |item| bytes_of(u64::from_le_bytes(*item))),
        _ => item.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1),
    };
    &item[..len]
}

/// Bytes of a number without the zeros at its end.
const fn bytes_of(number: u64) -> usize {
    8 - number.leading_zeros() as usize / 8
}

/// Text of four bytes for each character; invalid characters become U+FFFD.
#[must_use]
pub fn text(item: &[u8], is_big: bool) -> String {
    characters(item, is_big).collect()
}

/// Appends text of four bytes for each character to `dest`, as UTF-8.
pub fn push_text(item: &[u8], is_big: bool, dest: &mut Vec<u8>) {
    let codes = codes(item);
    let all = codes.iter().fold(0, |all, bytes| all | code(bytes, is_big));
    if all < 0x80 {
        // The usual case of ASCII, without a branch for each character.
        let lowest = if is_big { 3 } else { 0 };
        dest.extend(codes.iter().map(|bytes| bytes[lowest]));
        return;
    }
    for character in characters(item, is_big) {
        dest.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// The characters of an item, without the zeros at its end.
fn codes(item: &[u8]) -> &[[u8; 4]] {
    let codes = item.as_chunks().0;
    let len = codes.iter().rposition(|code| *code != [0; 4]).map_or(0, |at| at + 1);
    &codes[..len]
}

const fn code(bytes: &[u8; 4], is_big: bool) -> u32 {
    if is_big { u32::from_be_bytes(*bytes) } else { u32::from_le_bytes(*bytes) }
}

fn characters(item: &[u8], is_big: bool) -> impl Iterator<Item = char> {
    let character = move |bytes: &[u8; 4]| char::from_u32(code(bytes, is_big));
    codes(item).iter().map(move |bytes| character(bytes).unwrap_or(char::REPLACEMENT_CHARACTER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_end_where_only_zeros_follow() {
        assert_eq!(trimmed(b"a\0b\0\0"), b"a\0b");
        assert_eq!(trimmed(b"\0"), b"");
        for item in [
            &b"\0\0\0\0"[..],
            b"a\0\0\0",
            b"\0\x80\0\0",
            b"abcd",
            b"a\0b\0\0\0\0\0",
            b"\0\0\0\0\0\0\0\x01",
        ] {
            let len = item.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
            assert_eq!(trimmed(item), &item[..len]);
        }
        assert_eq!(
            text(b"\0\0\0a\0\0\0\0\0\x01\xf6\0\0\x11\0\0\0\0\0\0", true),
            "a\0\u{1f600}\u{fffd}"
        );
        assert_eq!(text(b"\xe9\0\0\0", false), "é");
    }

    #[test]
    fn text_is_pushed_as_it_is_read() {
        for string in ["", "a", "abcd", "a\0b", "é", "aé\0\u{1f600}", "\u{7f}\u{80}"] {
            for is_big in [false, true] {
                let bytes = |c: char| match is_big {
                    true => u32::from(c).to_be_bytes(),
                    false => u32::from(c).to_le_bytes(),
                };
                let mut item: Vec<u8> = string.chars().flat_map(bytes).collect();
                item.resize(20, 0);
                let mut pushed = b"before ".to_vec();
                push_text(&item, is_big, &mut pushed);
                assert_eq!(pushed, ["before ", string].concat().as_bytes());
                assert_eq!(text(&item, is_big), string);
            }
        }
        let mut pushed = Vec::new();
        push_text(b"\0\0\x11\0a\0\0\0", false, &mut pushed);
        assert_eq!(pushed, "\u{fffd}a".as_bytes());
    }
}

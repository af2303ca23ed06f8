//! Items that are strings, and the order of the bytes of others.
#![cfg_attr(
    not(test),
    expect(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        reason = "rows and bytes that were compared with the layout"
    )
)]

use alloc::string::String;

use crate::{ByteOrder, Dtype};

/// Whether items begin with their most significant byte.
#[must_use]
pub fn is_big(dtype: &Dtype) -> bool {
    dtype.scalar().is_some_and(|scalar| scalar.order() == ByteOrder::Big)
}

/// A string of NumPy ends where only zeros follow.
#[must_use]
pub fn trimmed(item: &[u8]) -> &[u8] {
    let len = match item.len() {
        // At once, as a number whose highest bytes are zero.
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

/// Text of four bytes for each character; what is no character becomes U+FFFD.
#[must_use]
pub fn text(item: &[u8], is_big: bool) -> String {
    let code = |c: &[u8; 4]| if is_big { u32::from_be_bytes(*c) } else { u32::from_le_bytes(*c) };
    let character = |c| char::from_u32(code(c)).unwrap_or(char::REPLACEMENT_CHARACTER);
    let mut text: String = item.as_chunks().0.iter().map(character).collect();
    text.truncate(text.trim_end_matches('\0').len());
    text
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
}

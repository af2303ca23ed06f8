//! Cuts a range out of content that comes in pieces.

use core::ops::Range;

use crate::size::as_len;

/// Takes pieces of content from byte `at` on, and hands the part in `range` to `sink`.
pub fn cut<'a, E>(
    range: Range<u64>,
    mut at: u64,
    sink: &'a mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> impl FnMut(&[u8]) -> Result<(), E> + use<'a, E> {
    move |bytes| {
        let piece = intersection(bytes, at, &range);
        at = at.saturating_add(bytes.len() as u64);
        if piece.is_empty() { Ok(()) } else { sink(piece) }
    }
}

/// The part of `bytes` (which start at `at`) within `range`.
fn intersection<'a>(bytes: &'a [u8], at: u64, range: &Range<u64>) -> &'a [u8] {
    let inside = |end: u64| as_len(end.saturating_sub(at)).min(bytes.len());
    &bytes[inside(range.start)..inside(range.end).max(inside(range.start))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intersection_has_the_common_bytes() {
        let cut = |at, range| intersection(b"abcdef", at, &range).to_vec();
        assert_eq!(cut(0, 1..3), b"bc");
        assert_eq!(cut(10, 0..12), b"ab");
        assert_eq!(cut(10, 14..99), b"ef");
        assert_eq!(cut(10, 0..10), b"");
        assert_eq!(cut(10, 16..20), b"");
    }
}

//! Text for people: names and values that come from files, and counts.

use core::cmp::Ordering;

use alloc::{
    borrow::Cow,
    string::{String, ToString as _},
};

/// One line of text without characters that move a terminal's cursor or turn the text's direction.
#[must_use]
pub fn harmless(text: &str) -> String {
    escaped(text, is_harmful).into_owned()
}

/// Digits in groups of three: `8 000 000`.
#[must_use]
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && digits.len().saturating_sub(i).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

/// Bytes as two hexadecimal digits each, with a separator between them: `89 50 4e`.
#[must_use]
pub fn hex(bytes: &[u8], separator: &str) -> String {
    const DIGITS: [u8; 16] = *b"0123456789abcdef";
    let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().map(char::from);
    let mut text =
        String::with_capacity(bytes.len().saturating_mul(separator.len().saturating_add(2)));
    for byte in bytes {
        text.push_str(if text.is_empty() { "" } else { separator });
        text.extend(digit(byte >> 4).into_iter().chain(digit(byte & 0xf)));
    }
    text
}

/// The order of names for people: compares parts between `/` one after the other, and numbers in
/// them by value, so that `c/9` comes before `c/10`.
#[must_use]
pub fn natural_order(a: &str, b: &str) -> Ordering {
    fn of_parts(mut a: &str, mut b: &str) -> Ordering {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        loop {
            let (number, other) = (a.split_at(digits(a)), b.split_at(digits(b)));
            if !number.0.is_empty() && !other.0.is_empty() {
                let value = |text: &'_ str| text.trim_start_matches('0').len();
                let by_len = value(number.0).cmp(&value(other.0));
                let by_digits =
                    || number.0.trim_start_matches('0').cmp(other.0.trim_start_matches('0'));
                match by_len.then_with(by_digits) {
                    Ordering::Equal => (a, b) = (number.1, other.1),
                    order => return order,
                }
                continue;
            }
            let (mut letters, mut others) = (a.chars(), b.chars());
            match (letters.next(), others.next()) {
                (Some(x), Some(y)) if x == y => (a, b) = (letters.as_str(), others.as_str()),
                (x, y) => return x.cmp(&y),
            }
        }
    }
    let (mut parts, mut others) = (a.split('/'), b.split('/'));
    loop {
        match (parts.next(), others.next()) {
            (Some(x), Some(y)) => match of_parts(x, y).then_with(|| x.cmp(y)) {
                Ordering::Equal => {}
                order => return order,
            },
            (x, y) => return x.is_some().cmp(&y.is_some()),
        }
    }
}

/// `text` with the characters that `is_escaped` selects escaped in Rust's form.
pub fn escaped(text: &str, is_escaped: impl Fn(char) -> bool + Copy) -> Cow<'_, str> {
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len().saturating_add(8));
    for c in text.chars() {
        match is_escaped(c) {
            true => safe.extend(c.escape_debug()),
            false => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

/// Whether a terminal obeys this character: a control character of 7 or 8 bits, a break of lines or
/// paragraphs, or a mark of direction.
#[must_use]
pub fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}')
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_two_digits_each() {
        assert_eq!(hex(&[], " "), "");
        assert_eq!(hex(&[0, 9, 0xaf, 0xff], ""), "0009afff");
        assert_eq!(hex(&[0x89, b'P'], " "), "89 50");
    }

    #[test]
    fn numbers_in_names_are_ordered_by_their_value() {
        let sorted = [
            "", "/a", "/a/c/0", "/a/c/2", "/a/c/10", "/a-b", "/a2", "/a02x", "/a10", "/b", "/b1/x",
        ];
        for (n, a) in sorted.iter().enumerate() {
            for (m, b) in sorted.iter().enumerate() {
                assert_eq!(natural_order(a, b), n.cmp(&m), "{a} {b}");
            }
        }
        assert_eq!(natural_order("a01", "a1"), "a01".cmp("a1"));
    }

    #[test]
    fn counts_are_grouped() {
        for (n, text) in [(0, "0"), (999, "999"), (1_000, "1 000"), (8_000_000, "8 000 000")] {
            assert_eq!(count(n), text);
        }
    }

    #[test]
    fn what_a_terminal_obeys_is_named() {
        assert_eq!(harmless("a\u{1b}[2J\u{202e}b\n"), r"a\u{1b}[2J\u{202e}b\n");
        assert_eq!(harmless("gr\u{fc}n"), "gr\u{fc}n");
        assert!(matches!(escaped("plain", is_harmful), Cow::Borrowed("plain")));
    }
}

//! Text for people: names and values that come from files, and numbers of things.

use alloc::{
    borrow::Cow,
    string::{String, ToString as _},
};

/// One line of text in which nothing moves the cursor of a terminal or turns its direction.
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

/// `text` with the characters escaped that are to be, as Rust names them.
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

/// Is this a character that a terminal obeys: a control character of 7 or 8 bits, a break of lines
/// or paragraphs, or a mark of direction?
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

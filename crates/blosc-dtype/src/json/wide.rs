//! Integers of more than 64 bits. Python's JSON has them; readers that keep numbers in 64 bits make
//! floats of them, and lose digits.

use alloc::borrow::Cow;
use alloc::string::String;
use core::ops::Range;

/// The first integer that neither `i64` nor `u64` holds.
///
/// ```
/// use blosc_dtype::json::wide_integer;
///
/// assert_eq!(wide_integer("[1, 18446744073709551616]"), Some("18446744073709551616"));
/// assert_eq!(wide_integer("[1, \"18446744073709551616\", 1e30]"), None);
/// ```
#[must_use]
pub fn wide_integer(text: &str) -> Option<&str> {
    find(text, 0).and_then(|place| text.get(place))
}

/// The text with these integers in quotation marks: they become strings, with all digits.
#[must_use]
pub fn quote_wide_integers(text: &str) -> Cow<'_, str> {
    let (mut quoted, mut done) = (String::new(), 0);
    while let Some(Range { start, end }) = find(text, done) {
        let between = text.get(done..start).unwrap_or_default();
        for part in [between, "\"", text.get(start..end).unwrap_or_default(), "\""] {
            quoted.push_str(part);
        }
        done = end;
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    quoted.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(quoted)
}

/// The place of the first such integer at or after `from`, which is outside of strings.
fn find(text: &str, from: usize) -> Option<Range<usize>> {
    let mut bytes = text.bytes().enumerate().skip(from).peekable();
    while let Some((start, byte)) = bytes.next() {
        match byte {
            b'"' => skip_string(&mut bytes),
            b'-' | b'0'..=b'9' => {
                let mut end = start.saturating_add(1);
                while let Some((at, _)) = bytes.next_if(|(_, byte)| is_of_number(*byte)) {
                    end = at.saturating_add(1);
                }
                if text.get(start..end).is_some_and(is_wide) {
                    return Some(start..end);
                }
            }
            _ => {}
        }
    }
    None
}

/// Takes the bytes of a string, to the quotation mark that ends it.
fn skip_string(bytes: &mut impl Iterator<Item = (usize, u8)>) {
    while let Some((_, byte)) = bytes.next() {
        match byte {
            b'"' => return,
            // The next byte is escaped.
            b'\\' => _ = bytes.next(),
            _ => {}
        }
    }
}

const fn is_of_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')
}

fn is_wide(number: &str) -> bool {
    let digits = number.strip_prefix('-').unwrap_or(number);
    let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_integer && number.parse::<i64>().is_err() && number.parse::<u64>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn integers_of_more_than_64_bits_are_quoted_and_no_others() {
        for (text, quoted) in [
            ("18446744073709551615", None),
            ("18446744073709551616", Some("\"18446744073709551616\"")),
            ("-9223372036854775808", None),
            ("-9223372036854775809", Some("\"-9223372036854775809\"")),
            ("[1.8446744073709551616, 18446744073709551616e0, -0, -]", None),
            (r#"{"99999999999999999999": "\\\"99999999999999999999"}"#, None),
            (
                r#"{"a\"": [99999999999999999999,123456789012345678901234567890123456789012]}"#,
                Some(
                    r#"{"a\"": ["99999999999999999999","123456789012345678901234567890123456789012"]}"#,
                ),
            ),
        ] {
            assert_eq!(quote_wide_integers(text), quoted.unwrap_or(text));
            assert_eq!(wide_integer(text).is_some(), quoted.is_some(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn quoting_is_done_once(text in "[\\[\\]{}\",:\\\\e.0-9\\-\u{e4}]{0,90}") {
            let once = quote_wide_integers(&text);
            prop_assert_eq!(quote_wide_integers(&once), once.clone());
        }
    }
}

//! `A:B`: a half-open range in Python's spelling; `A` alone is one item.
//!
//! Either end may be missing; negative ends count from the end of the data. Ends outside are cut,
//! as in Python, so an empty result is not an error.

use core::{ops::Range, str::FromStr};

/// A range whose ends may count from the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    start: Option<i64>,
    end: Option<i64>,
}

/// The reason why a text is not a range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is neither a position nor a range like 10:20, :5 or -5:")]
pub struct SpanError {
    text: String,
}

impl FromStr for Span {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Self, SpanError> {
        let wrong = || SpanError { text: text.to_owned() };
        let end = |part: &str| match part.trim() {
            "" => Ok(None),
            digits => digits.parse().map(Some).map_err(|_| wrong()),
        };
        let Some((start, stop)) = text.split_once(':') else {
            let only: i64 = text.trim().parse().map_err(|_| wrong())?;
            // The item after -1 is the end, which has no number.
            let next = only.checked_add(1).filter(|next| *next != 0);
            return Ok(Self { start: Some(only), end: next });
        };
        Ok(Self { start: end(start)?, end: end(stop)? })
    }
}

impl Span {
    /// All items.
    pub const ALL: Self = Self { start: None, end: None };

    /// From `start` to before `end`.
    pub fn new(start: Option<i64>, end: Option<i64>) -> Self {
        Self { start, end }
    }

    /// Whether the range depends on the length.
    pub fn counts_from_the_end(self) -> bool {
        [self.start, self.end].into_iter().flatten().any(|end| end < 0)
    }

    /// The range within `len` items.
    pub fn within(self, len: u64) -> Range<u64> {
        let start = position(self.start.unwrap_or(0), len);
        let end = self.end.map_or(len, |end| position(end, len));
        start..end.max(start)
    }
}

/// The position of `end` in `len` items.
fn position(end: i64, len: u64) -> u64 {
    match u64::try_from(end) {
        Ok(end) => end.min(len),
        Err(_) => len.saturating_sub(end.unsigned_abs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(text: &str, len: u64) -> Range<u64> {
        text.parse::<Span>().unwrap().within(len)
    }

    #[test]
    fn ranges_are_those_of_python() {
        assert_eq!(within("2:5", 10), 2..5);
        assert_eq!(within(":", 10), 0..10);
        assert_eq!(within(":3", 10), 0..3);
        assert_eq!(within("8:", 10), 8..10);
        assert_eq!(within("5", 10), 5..6);
        assert_eq!(within("-1", 10), 9..10);
        assert_eq!(within("-3:", 10), 7..10);
        assert_eq!(within(":-3", 10), 0..7);
        assert_eq!(within("5:2", 10), 5..5);
        assert_eq!(within("5:99", 10), 5..10);
        assert_eq!(within("99:", 10), 10..10);
        assert_eq!(within("-99:2", 10), 0..2);
        assert_eq!(within("-9223372036854775808:", 10), 0..10);
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "x", "a:b", "1:2:3", "1.5:2"] {
            assert_eq!(text.parse::<Span>(), Err(SpanError { text: text.into() }));
        }
    }

    #[test]
    fn negative_ends_need_the_length() {
        assert!("-1:".parse::<Span>().unwrap().counts_from_the_end());
        assert!(!"1:".parse::<Span>().unwrap().counts_from_the_end());
    }
}

//! The parser: one pass over the bytes, nesting limited.

use alloc::string::String;
use alloc::vec::Vec;

use super::Json;

/// The position where a text stops being JSON, and the expected syntax there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {at}: expected {expected}")]
#[non_exhaustive]
pub struct SyntaxError {
    /// Position (bytes).
    pub at: usize,
    /// The expected syntax at that position.
    pub expected: &'static str,
}

type Result<T> = core::result::Result<T, SyntaxError>;

/// The value of a text.
///
/// ```
/// use blosc_dtype::json::{Json, parse};
///
/// let value = parse(br#"{"null_value": NaN, "max": 18446744073709551615}"#)?;
/// assert_eq!(value.get("max").and_then(Json::as_int), Some(u64::MAX.into()));
/// # Ok::<(), blosc_dtype::json::SyntaxError>(())
/// ```
///
/// # Errors
///
/// The first position that is not JSON; nesting over 128 levels.
pub fn parse(text: &[u8]) -> Result<Json> {
    let text = core::str::from_utf8(text)
        .map_err(|error| SyntaxError { at: error.valid_up_to(), expected: "UTF-8" })?;
    let mut parser = Parser { text, at: 0, depth: 0 };
    let value = parser.value()?;
    parser.skip_blanks();
    if parser.at < text.len() { Err(parser.expected("the end")) } else { Ok(value) }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

/// Deeper lists and objects are refused.
const MAX_DEPTH: usize = 128;

const TOKENS: [(&str, Json); 6] = [
    ("null", Json::Null),
    ("true", Json::Bool(true)),
    ("false", Json::Bool(false)),
    ("NaN", Json::Float(f64::NAN)),
    ("Infinity", Json::Float(f64::INFINITY)),
    ("-Infinity", Json::Float(f64::NEG_INFINITY)),
];

impl Parser<'_> {
    fn value(&mut self) -> Result<Json> {
        self.skip_blanks();
        for (token, value) in TOKENS {
            if self.take(token) {
                return Ok(value);
            }
        }
        match self.peek() {
            Some(b'"') => self.string().map(Json::String),
            Some(b'[') => self.nested(Self::array),
            Some(b'{') => self.nested(Self::object),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(self.expected("a value")),
        }
    }

    fn nested(&mut self, inner: fn(&mut Self) -> Result<Json>) -> Result<Json> {
        if self.depth == MAX_DEPTH {
            return Err(self.expected("less nesting"));
        }
        self.depth = self.depth.saturating_add(1);
        self.at = self.at.saturating_add(1);
        let value = inner(self);
        self.depth = self.depth.saturating_sub(1);
        value
    }

    fn array(&mut self) -> Result<Json> {
        let mut values = Vec::new();
        self.skip_blanks();
        if self.take("]") {
            return Ok(Json::Array(values));
        }
        loop {
            values.push(self.value()?);
            self.skip_blanks();
            if self.take("]") {
                return Ok(Json::Array(values));
            }
            self.need(",", "a comma or the end of the list")?;
        }
    }

    fn object(&mut self) -> Result<Json> {
        let mut entries: Vec<(String, Json)> = Vec::new();
        let mut places = alloc::collections::BTreeMap::new();
        self.skip_blanks();
        if self.take("}") {
            return Ok(Json::Object(entries));
        }
        loop {
            self.skip_blanks();
            let key = self.string()?;
            self.skip_blanks();
            self.need(":", "a colon")?;
            let value = self.value()?;
            let place = *places.entry(key.clone()).or_insert(entries.len());
            match entries.get_mut(place) {
                Some(entry) => entry.1 = value,
                None => entries.push((key, value)),
            }
            self.skip_blanks();
            if self.take("}") {
                return Ok(Json::Object(entries));
            }
            self.need(",", "a comma or the end of the object")?;
        }
    }

    fn string(&mut self) -> Result<String> {
        self.need("\"", "a string")?;
        let mut text = String::new();
        loop {
            let rest = self.rest();
            let plain = rest.find(|c: char| c == '"' || c == '\\' || c < ' ').unwrap_or(rest.len());
            text.push_str(&rest[..plain]);
            self.at = self.at.saturating_add(plain);
            match self.peek() {
                Some(b'"') => {
                    self.at = self.at.saturating_add(1);
                    return Ok(text);
                }
                Some(b'\\') => {
                    self.at = self.at.saturating_add(1);
                    text.push(self.escaped()?);
                }
                _ => return Err(self.expected("the end of the string")),
            }
        }
    }

    /// The character of an escape after a backslash.
    fn escaped(&mut self) -> Result<char> {
        let c = match self.peek() {
            Some(c @ (b'"' | b'\\' | b'/')) => char::from(c),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => return Err(self.expected("an escape")),
        };
        self.at = self.at.saturating_add(1);
        Ok(c)
    }

    /// `uXXXX`, and the second half of a surrogate pair if that follows.
    fn unicode(&mut self) -> Result<char> {
        let first = self.unit()?;
        let before = self.at;
        if (0xd800..0xdc00).contains(&first) && self.take("\\") && self.peek() == Some(b'u') {
            let second = self.unit()?;
            if (0xdc00..0xe000).contains(&second) {
                let pair = char::decode_utf16([first, second]).next();
                return Ok(pair
                    .and_then(core::result::Result::ok)
                    .unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
        self.at = before;
        Ok(char::from_u32(first.into()).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn unit(&mut self) -> Result<u16> {
        let digits =
            self.rest().get(1..5).filter(|digits| digits.bytes().all(|c| c.is_ascii_hexdigit()));
        let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
        let unit = unit.ok_or_else(|| self.expected("four hexadecimal digits"))?;
        self.at = self.at.saturating_add(5);
        Ok(unit)
    }

    fn number(&mut self) -> Result<Json> {
        let start = self.at;
        self.take("-");
        if !self.take("0") {
            self.digits()?;
        }
        let whole = self.at;
        if self.take(".") {
            self.digits()?;
        }
        if self.take("e") || self.take("E") {
            let _ = self.take("+") || self.take("-");
            self.digits()?;
        }
        let text = &self.text[start..self.at];
        match text.parse() {
            // Python keeps the sign of zero only for floats.
            Ok(int) if whole == self.at => Ok(Json::Int(int)),
            _ => text.parse().map(Json::Float).map_err(|_| self.expected("a number")),
        }
    }

    fn digits(&mut self) -> Result<()> {
        let count = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        self.at = self.at.saturating_add(count);
        if count == 0 { Err(self.expected("a digit")) } else { Ok(()) }
    }

    fn skip_blanks(&mut self) {
        let is_blank = |c: &u8| matches!(c, b' ' | b'\t' | b'\n' | b'\r');
        let count = self.rest().bytes().take_while(is_blank).count();
        self.at = self.at.saturating_add(count);
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at = self.at.saturating_add(token.len());
        }
        found
    }

    fn need(&mut self, token: &str, expected: &'static str) -> Result<()> {
        if self.take(token) { Ok(()) } else { Err(self.expected(expected)) }
    }

    fn peek(&self) -> Option<u8> {
        self.rest().bytes().next()
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn expected(&self, expected: &'static str) -> SyntaxError {
        SyntaxError { at: self.at, expected }
    }
}

//! A parser for the Python literals of dtypes: strings, integers, tuples, lists, dicts, booleans
//! and `None`. It evaluates no code and is bounded in depth and length.

#![allow(
    clippy::arithmetic_side_effects,
    reason = "positions within a text of at most `MAX_TEXT_NBYTES` bytes"
)]

use alloc::string::String;
use alloc::vec::Vec;

use crate::Error;

/// The deepest nesting of lists, tuples and dicts that is parsed.
pub(crate) const MAX_DEPTH: usize = 32;

/// The longest dtype text that is parsed (bytes).
pub(crate) const MAX_TEXT_NBYTES: usize = 1 << 20;

/// One Python literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Literal {
    Str(String),
    Int(i64),
    Bool(bool),
    None,
    Tuple(Vec<Self>),
    List(Vec<Self>),
    Dict(Vec<(Self, Self)>),
}

/// One entry of a dict.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) key: Literal,
    pub(crate) value: Literal,
    /// The text of the value, without space around it.
    pub(crate) text: &'a str,
}

impl Literal {
    /// Parses `text`, which must be one literal with at most space around it.
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        Parser::parse_whole(text, |parser| parser.value(0))
    }

    /// Parses `text`, which must be one dict; its entries keep the text of their values.
    pub(crate) fn parse_dict(text: &str) -> Result<Vec<Entry<'_>>, Error> {
        Parser::parse_whole(text, |parser| {
            parser.skip_space();
            if parser.peek() == Some(b'{') {
                parser.entries(1)
            } else {
                Err(parser.expected("a dict"))
            }
        })
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        if let Self::Str(text) = self { Some(text) } else { None }
    }

    pub(crate) fn as_list(&self) -> Option<&[Self]> {
        if let Self::List(items) = self { Some(items) } else { None }
    }

    /// The value of `key` in a dict.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        let Self::Dict(entries) = self else { return None };
        entries.iter().find(|(k, _)| k.as_str() == Some(key)).map(|(_, v)| v)
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    /// The result of `parse` on `text`, of which it must leave only space.
    fn parse_whole<T>(
        text: &'a str,
        parse: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if text.len() > MAX_TEXT_NBYTES {
            return Err(Error::TextTooLong { len: text.len(), limit: MAX_TEXT_NBYTES });
        }
        let mut parser = Self { text, at: 0 };
        let found = parse(&mut parser)?;
        parser.skip_space();
        if parser.at < text.len() {
            return Err(parser.expected("the end of the text"));
        }
        Ok(found)
    }

    fn expected(&self, expected: &'static str) -> Error {
        Error::Syntax { at: self.at, expected }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// Skips `byte` if it comes next; returns whether it did.
    fn eat(&mut self, byte: u8) -> bool {
        self.skip_space();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self, depth: usize) -> Result<Literal, Error> {
        self.skip_space();
        let Some(first) = self.peek() else { return Err(self.expected("a value")) };
        match first {
            b'(' | b'[' | b'{' if depth == MAX_DEPTH => {
                Err(Error::TooDeep { at: self.at, limit: MAX_DEPTH })
            }
            b'(' => self.parenthesis(depth + 1),
            b'[' => self.items(b']', depth + 1).map(|(items, _)| Literal::List(items)),
            b'{' => self.dict(depth + 1),
            b'\'' | b'"' => self.string(first).map(Literal::Str),
            b'u' | b'U' | b'b' | b'B' => self.prefixed_string(),
            b'-' | b'0'..=b'9' => self.int(),
            _ => self.word(),
        }
    }

    /// `(a)` is `a`; `(a,)`, `(a, b)` and `()` are tuples.
    fn parenthesis(&mut self, depth: usize) -> Result<Literal, Error> {
        let (mut items, trailing_comma) = self.items(b')', depth)?;
        match items.pop() {
            Some(only) if items.is_empty() && !trailing_comma => Ok(only),
            last => {
                items.extend(last);
                Ok(Literal::Tuple(items))
            }
        }
    }

    /// The items up to `close`, and whether a comma precedes it.
    fn items(&mut self, close: u8, depth: usize) -> Result<(Vec<Literal>, bool), Error> {
        self.at += 1;
        let mut items = Vec::new();
        let mut comma = true;
        while !self.eat(close) {
            if !comma {
                return Err(self.expected("',' or a closing bracket"));
            }
            items.push(self.value(depth)?);
            comma = self.eat(b',');
        }
        let trailing_comma = comma && !items.is_empty();
        Ok((items, trailing_comma))
    }

    fn dict(&mut self, depth: usize) -> Result<Literal, Error> {
        let entries = self.entries(depth)?;
        Ok(Literal::Dict(entries.into_iter().map(|entry| (entry.key, entry.value)).collect()))
    }

    fn entries(&mut self, depth: usize) -> Result<Vec<Entry<'a>>, Error> {
        self.at += 1;
        let mut entries = Vec::new();
        let mut comma = true;
        while !self.eat(b'}') {
            if !comma {
                return Err(self.expected("',' or '}'"));
            }
            let key = self.value(depth)?;
            if !self.eat(b':') {
                return Err(self.expected("':'"));
            }
            self.skip_space();
            let start = self.at;
            let value = self.value(depth)?;
            let text = self.text.get(start..self.at).unwrap_or_default();
            entries.push(Entry { key, value, text });
            comma = self.eat(b',');
        }
        Ok(entries)
    }

    fn int(&mut self) -> Result<Literal, Error> {
        let start = self.at;
        self.at += 1;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        let digits = self.text.get(start..self.at).unwrap_or_default();
        // Python 2 marks long integers by `L`.
        self.at += usize::from(self.peek() == Some(b'L'));
        digits
            .parse()
            .map(Literal::Int)
            .map_err(|_| Error::Syntax { at: start, expected: "a 64-bit integer" })
    }

    fn word(&mut self) -> Result<Literal, Error> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        for (word, literal) in [
            ("True", Literal::Bool(true)),
            ("False", Literal::Bool(false)),
            ("None", Literal::None),
        ] {
            if rest.starts_with(word) {
                self.at += word.len();
                return Ok(literal);
            }
        }
        Err(self.expected("a value"))
    }

    /// A string with a prefix for bytes or characters, which Python 2 and 3 write in turn.
    fn prefixed_string(&mut self) -> Result<Literal, Error> {
        match self.text.as_bytes().get(self.at + 1) {
            Some(&quote @ (b'\'' | b'"')) => {
                self.at += 1;
                self.string(quote).map(Literal::Str)
            }
            _ => Err(self.expected("a value")),
        }
    }

    fn string(&mut self, quote: u8) -> Result<String, Error> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let Some(next) = rest.chars().next() else {
                return Err(self.expected("a closing quote"));
            };
            self.at += next.len_utf8();
            match next {
                '\\' => out.extend(self.escape()?),
                _ if next == char::from(quote) => return Ok(out),
                _ => out.push(next),
            }
        }
    }

    /// The character of an escape after a backslash; `None` for an escaped line end.
    fn escape(&mut self) -> Result<Option<char>, Error> {
        let Some(code) = self.peek() else { return Err(self.expected("an escape")) };
        if !code.is_ascii() {
            return Err(self.expected("an escape"));
        }
        self.at += 1;
        Ok(Some(match code {
            b'\n' => return Ok(None),
            b'\\' | b'\'' | b'"' => char::from(code),
            b'a' => '\u{7}',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'v' => '\u{b}',
            b'0'..=b'7' => self.octal(code)?,
            b'x' => self.hex(2)?,
            b'u' => self.hex(4)?,
            b'U' => self.hex(8)?,
            _ => return Err(Error::Syntax { at: self.at - 1, expected: "an escape" }),
        }))
    }

    /// A character of one to three octal digits; `first` is read already.
    fn octal(&mut self, first: u8) -> Result<char, Error> {
        let mut code = u32::from(first - b'0');
        for _ in 0..2 {
            let Some(digit @ b'0'..=b'7') = self.peek() else { break };
            code = code * 8 + u32::from(digit - b'0');
            self.at += 1;
        }
        char::from_u32(code).ok_or_else(|| self.expected("octal digits of a character"))
    }

    fn hex(&mut self, digits: usize) -> Result<char, Error> {
        let code = self.text.get(self.at..self.at + digits);
        let parsed =
            code.and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32);
        let Some(parsed) = parsed else {
            return Err(self.expected("hexadecimal digits of a character"));
        };
        self.at += digits;
        Ok(parsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec;

    #[test]
    fn parenthesis_with_one_value_is_the_value_and_with_a_comma_a_tuple() {
        assert_eq!(Literal::parse("(3)"), Ok(Literal::Int(3)));
        assert_eq!(Literal::parse("(3,)"), Ok(Literal::Tuple(vec![Literal::Int(3)])));
        assert_eq!(Literal::parse("()"), Ok(Literal::Tuple(vec![])));
        assert_eq!(
            Literal::parse("(1, 2)"),
            Ok(Literal::Tuple(vec![Literal::Int(1), Literal::Int(2)]))
        );
    }

    #[test]
    fn python_2_marks_strings_and_long_integers() {
        let pair = Literal::Tuple(vec![Literal::Str("a".to_string()), Literal::Int(3)]);
        assert_eq!(Literal::parse("(u'a', 3L)"), Ok(pair.clone()));
        assert_eq!(Literal::parse("(b\"a\", 3)"), Ok(pair));
        assert_eq!(Literal::parse("ua"), Err(Error::Syntax { at: 0, expected: "a value" }));
        assert_eq!(Literal::parse("b"), Err(Error::Syntax { at: 0, expected: "a value" }));
        assert_eq!(
            Literal::parse("3LL"),
            Err(Error::Syntax { at: 2, expected: "the end of the text" })
        );
    }

    #[test]
    fn strings_take_both_quotes_and_python_escapes() {
        assert_eq!(Literal::parse(r#""it's""#), Ok(Literal::Str("it's".to_string())));
        assert_eq!(Literal::parse(r"'\x41\u00e9\n\''"), Ok(Literal::Str("A\u{e9}\n'".to_string())));
        assert_eq!(
            Literal::parse(r"'\xe'"),
            Err(Error::Syntax { at: 3, expected: "hexadecimal digits of a character" })
        );
        assert_eq!(Literal::parse(r"'\q'"), Err(Error::Syntax { at: 2, expected: "an escape" }));
        assert_eq!(
            Literal::parse("'open"),
            Err(Error::Syntax { at: 5, expected: "a closing quote" })
        );
    }

    #[test]
    fn words_and_dicts() {
        let dict = Literal::parse("{'aligned': True, 'n': None, 'z': False}").unwrap();
        assert_eq!(dict.get("aligned"), Some(&Literal::Bool(true)));
        assert_eq!(dict.get("n"), Some(&Literal::None));
        assert_eq!(dict.get("absent"), None);
    }

    #[test]
    fn malformed_text_says_where() {
        assert_eq!(
            Literal::parse("[1 2]"),
            Err(Error::Syntax { at: 3, expected: "',' or a closing bracket" })
        );
        assert_eq!(Literal::parse("[1,,2]"), Err(Error::Syntax { at: 3, expected: "a value" }));
        assert_eq!(Literal::parse("{'a' 1}"), Err(Error::Syntax { at: 5, expected: "':'" }));
        assert_eq!(
            Literal::parse("{'a':1 'b':2}"),
            Err(Error::Syntax { at: 7, expected: "',' or '}'" })
        );
        assert_eq!(
            Literal::parse("1 1"),
            Err(Error::Syntax { at: 2, expected: "the end of the text" })
        );
        assert_eq!(Literal::parse("os"), Err(Error::Syntax { at: 0, expected: "a value" }));
        assert_eq!(
            Literal::parse("99999999999999999999"),
            Err(Error::Syntax { at: 0, expected: "a 64-bit integer" })
        );
    }

    #[test]
    fn nesting_and_length_are_limited() {
        let deep = "[".repeat(MAX_DEPTH + 1);
        assert_eq!(Literal::parse(&deep), Err(Error::TooDeep { at: MAX_DEPTH, limit: MAX_DEPTH }));
        let long = " ".repeat(MAX_TEXT_NBYTES + 1);
        assert_eq!(
            Literal::parse(&long),
            Err(Error::TextTooLong { len: MAX_TEXT_NBYTES + 1, limit: MAX_TEXT_NBYTES })
        );
    }
}

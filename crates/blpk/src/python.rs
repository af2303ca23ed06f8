//! Formats values as Python does: `repr`, and `pprint.pformat`, which Bloscpack uses for metadata.

use blosc_dtype::json::Json;
pub(crate) use blosc_dtype::str_repr;
use serde_json::Value;

/// Columns of a printed value.
const WIDTH: usize = 90;

/// The output of `pprint.pformat(value, width=90)`: on one line if it fits, else one member per
/// line; keys in order; long texts in pieces.
pub(crate) fn pformat(value: &Value) -> String {
    let mut printer = Printer { text: String::new() };
    printer.value(value, 0, 0, 1);
    printer.text
}

/// `value` on one line.
pub(crate) fn repr(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => {
            let float = number.as_f64().filter(|_| number.is_f64());
            float.map_or_else(|| number.to_string(), |value| Json::Float(value).to_string())
        }
        Value::String(text) => str_repr(text),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(repr).collect::<Vec<_>>().join(", "))
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(key, _)| *key);
            let members =
                members.iter().map(|(key, value)| format!("{}: {}", str_repr(key), repr(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Whether `value` is true in Python.
pub(crate) fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}

/// Bytes as a literal.
pub(crate) fn bytes_repr(bytes: &[u8]) -> String {
    let quote = if bytes.contains(&b'\'') && !bytes.contains(&b'"') { '"' } else { '\'' };
    let mut literal = format!("b{quote}");
    for &byte in bytes {
        match byte {
            b'\\' => literal.push_str("\\\\"),
            b'\n' => literal.push_str("\\n"),
            b'\r' => literal.push_str("\\r"),
            b'\t' => literal.push_str("\\t"),
            _ if char::from(byte) == quote => literal.extend(['\\', quote]),
            0x20..=0x7e => literal.push(char::from(byte)),
            _ => literal.push_str(&format!("\\x{byte:02x}")),
        }
    }
    literal.push(quote);
    literal
}

/// The rules of `pprint`: `indent` columns are reserved on the left, `allowance` on the right.
struct Printer {
    text: String,
}

impl Printer {
    fn value(&mut self, value: &Value, indent: usize, allowance: usize, level: usize) {
        let literal = repr(value);
        if literal.chars().count() <= WIDTH.saturating_sub(indent + allowance) {
            return self.text.push_str(&literal);
        }
        match value {
            Value::Object(members) => self.members(members, indent, allowance, level),
            Value::Array(items) => self.items(items, indent, allowance, level),
            Value::String(text) => self.pieces(text, indent, allowance, level),
            _ => self.text.push_str(&literal),
        }
    }

    fn members(
        &mut self,
        members: &serde_json::Map<String, Value>,
        indent: usize,
        allowance: usize,
        level: usize,
    ) {
        let mut members: Vec<_> = members.iter().collect();
        members.sort_by_key(|(key, _)| *key);
        let last = members.len().saturating_sub(1);
        self.text.push('{');
        for (i, (key, value)) in members.into_iter().enumerate() {
            self.separate(i, indent + 1);
            let key = str_repr(key);
            self.text.push_str(&key);
            self.text.push_str(": ");
            let column = indent + 1 + key.chars().count() + 2;
            self.value(value, column, if i == last { allowance + 1 } else { 1 }, level + 1);
        }
        self.text.push('}');
    }

    fn items(&mut self, items: &[Value], indent: usize, allowance: usize, level: usize) {
        let last = items.len().saturating_sub(1);
        self.text.push('[');
        for (i, value) in items.iter().enumerate() {
            self.separate(i, indent + 1);
            self.value(value, indent + 1, if i == last { allowance + 1 } else { 1 }, level + 1);
        }
        self.text.push(']');
    }

    fn separate(&mut self, i: usize, indent: usize) {
        if i > 0 {
            self.text.push_str(",\n");
            self.text.extend(core::iter::repeat_n(' ', indent));
        }
    }

    /// A long text, cut at line breaks and blanks.
    fn pieces(&mut self, text: &str, indent: usize, allowance: usize, level: usize) {
        let extra = usize::from(level == 1);
        let (indent, allowance) = (indent + extra, allowance + extra);
        let pieces = pieces(text, WIDTH.saturating_sub(indent), allowance);
        let in_brackets = level == 1 && pieces.len() > 1;
        self.text.extend(in_brackets.then_some('('));
        for (i, piece) in pieces.iter().enumerate() {
            if i > 0 {
                self.text.push('\n');
                self.text.extend(core::iter::repeat_n(' ', indent));
            }
            self.text.push_str(piece);
        }
        self.text.extend(in_brackets.then_some(')'));
    }
}

/// Literals of at most `width` columns; the last one reserves `allowance` more.
fn pieces(text: &str, width: usize, allowance: usize) -> Vec<String> {
    let len = |literal: &str| literal.chars().count();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut pieces = vec![];
    for (i, line) in lines.iter().enumerate() {
        let is_last = i + 1 == lines.len();
        let room = |last| if last && is_last { width.saturating_sub(allowance) } else { width };
        let literal = str_repr(line);
        if len(&literal) <= room(true) {
            pieces.push(literal);
            continue;
        }
        let words = words(line);
        let mut current = String::new();
        for (j, word) in words.iter().enumerate() {
            let candidate = format!("{current}{word}");
            if len(&str_repr(&candidate)) <= room(j + 1 == words.len()) {
                current = candidate;
                continue;
            }
            if !current.is_empty() {
                pieces.push(str_repr(&current));
            }
            current = (*word).to_owned();
        }
        if !current.is_empty() {
            pieces.push(str_repr(&current));
        }
    }
    pieces
}

/// Words with the blanks after them.
fn words(line: &str) -> Vec<&str> {
    let mut words = vec![];
    let (mut start, mut after_blank) = (0, false);
    for (at, char) in line.char_indices() {
        if after_blank && !char.is_whitespace() {
            words.push(&line[start..at]);
            start = at;
        }
        after_blank = char.is_whitespace();
    }
    words.push(&line[start..]);
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn short_values_stay_on_one_line() {
        let value = json!({"b": [1, 2.5, null, true], "a": "it's", "c": {}});
        assert_eq!(pformat(&value), r#"{'a': "it's", 'b': [1, 2.5, None, True], 'c': {}}"#);
        assert_eq!(
            repr(&json!([1e16, 1e-5, 0.0001, 100.0, -3])),
            "[1e+16, 1e-05, 0.0001, 100.0, -3]"
        );
        assert_eq!(str_repr("a\\\u{1}\n'\""), r#"'a\\\x01\n\'"'"#);
        assert_eq!(bytes_repr(b"\0blp'"), r#"b"\x00blp'""#);
    }

    /// Python 3.11 printed these values.
    #[test]
    fn long_values_get_one_member_per_line() {
        let words = "word ".repeat(30);
        let value = json!({"container": "numpy", "list": [words, 7], "shape": [2]});
        let expected = "\
{'container': 'numpy',
 'list': ['word word word word word word word word word word word word word word word '
          'word word word word word word word word word word word word word word word ',
          7],
 'shape': [2]}";
        assert_eq!(pformat(&value), expected);
    }

    /// Python 3.11 printed this value.
    #[test]
    fn a_long_text_alone_is_in_brackets() {
        let value = json!(format!("{}\nend", "ab ".repeat(31)));
        let expected = "\
('ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab '
 'ab ab \\n'
 'end')";
        assert_eq!(pformat(&value), expected);
    }
}

//! Text that comes from files and their names, made safe for a terminal and for JSON.
//!
//! A terminal obeys control characters, and characters of direction disguise names. Here they
//! become Rust escapes, as `\u{1b}`: [`harmless`] for text on one line, [`harmless_lines`] for
//! several lines. In JSON they become `\u001b`, which reads back as the same text
//! ([`JsonFormatter`], [`json_text`]).

use core::fmt::Write as _;
use std::{
    borrow::Cow,
    io::{self, Write},
    path::Path,
};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

use blosc_dtype::text::escaped;
pub use blosc_dtype::text::{harmless, is_harmful};

/// As [`harmless`], for several lines: line breaks and tabs stay.
pub fn harmless_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_harmful(c) && !matches!(c, '\n' | '\t'))
}

/// `text` with escaped line breaks: in a pipe a name keeps its other bytes and stays on one line.
pub fn unbroken(text: &str) -> Cow<'_, str> {
    escaped(text, |c| matches!(c, '\n' | '\r'))
}

/// The same for a name in any encoding.
pub fn unbroken_bytes(name: &[u8]) -> Vec<u8> {
    let is_broken = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let escape = |byte: &u8| match is_broken(byte) {
        true => core::ascii::escape_default(*byte).collect(),
        false => vec![*byte],
    };
    name.iter().flat_map(escape).collect()
}

/// A path as text; see [`name_text`].
pub fn path_text(path: &Path) -> String {
    name_text(path.as_os_str().as_encoded_bytes())
}

/// A name in any encoding as text. Bytes that are not UTF-8 become `\xff`: different names look
/// different, and a shell user can type them.
pub fn name_text(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len());
    for part in name.utf8_chunks() {
        text.push_str(part.valid());
        text.extend(part.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text
}

/// A path as a word of a POSIX shell, quoted where needed, and never read as an option. Line breaks
/// are not kept.
pub fn shell_word(path: &Path) -> String {
    if path.as_os_str().as_encoded_bytes().starts_with(b"-") {
        return shell_word(&Path::new(".").join(path));
    }
    let name = path.as_os_str().as_encoded_bytes();
    let text = path_text(path);
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%#".contains(c);
    match core::str::from_utf8(name) {
        Ok(name) if !name.is_empty() && name.chars().all(is_plain) => text,
        Ok(name) if !name.contains(|c| c == '\'' || is_harmful(c)) => format!("'{text}'"),
        _ => {
            let escape = |part: &[u8]| part.escape_ascii().to_string();
            let mut word = String::from("$'");
            for part in name.utf8_chunks() {
                for c in part.valid().chars() {
                    match c.is_ascii() || is_harmful(c) {
                        true => word += &escape(c.encode_utf8(&mut [0; 4]).as_bytes()),
                        false => word.push(c),
                    }
                }
                word += &escape(part.invalid());
            }
            word.push('\'');
            word
        }
    }
}

/// A JSON formatter that escapes harmful characters in strings.
#[derive(Clone, Copy, Debug, Default)]
pub struct JsonFormatter;

impl Formatter for JsonFormatter {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        writer.write_all(json_safe(fragment).as_bytes())
    }
}

/// Writes `value` to `out`, on one line.
///
/// # Errors
///
/// When `out` refuses.
pub fn write_json(out: impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut serializer = Serializer::with_formatter(out, JsonFormatter);
    value.serialize(&mut serializer).map_err(io::Error::from)
}

/// `value` as JSON on one line; empty if it cannot be JSON.
pub fn json_text(value: &impl Serialize) -> String {
    let mut bytes = vec![];
    match write_json(&mut bytes, value) {
        Ok(()) => String::from_utf8(bytes).unwrap_or_default(),
        Err(_) => String::new(),
    }
}

/// JSON with the harmful characters of its strings escaped; outside of strings it has only line
/// breaks.
pub fn json_safe(json: &str) -> Cow<'_, str> {
    let is_escaped = |c: char| is_harmful(c) && c != '\n';
    if !json.contains(is_escaped) {
        return Cow::Borrowed(json);
    }
    let mut safe = String::with_capacity(json.len() + 8);
    for c in json.chars() {
        match is_escaped(c) {
            // All harmful characters are in the basic plane. Writing to a string never fails.
            true => drop(write!(safe, "\\u{:04x}", u32::from(c))),
            false => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_and_direction_characters_are_named() {
        assert_eq!(
            harmless("a\x1b]0;x\x07\u{9b}\u{202e}\r\n"),
            r"a\u{1b}]0;x\u{7}\u{9b}\u{202e}\r\n"
        );
        assert_eq!(
            harmless("gr\u{fc}n 東京 \u{1f468}\u{200d}\u{1f469}"),
            "grün 東京 \u{1f468}\u{200d}\u{1f469}"
        );
        assert_eq!(harmless_lines("a\tb\n\x1b[2J\r\n"), "a\tb\n\\u{1b}[2J\\r\n");
        assert_eq!(unbroken("a\nb\x1b[m"), "a\\nb\x1b[m");
    }

    #[cfg(unix)]
    #[test]
    fn names_in_any_encoding_stay_names() {
        use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};
        let path = |name: &'static [u8]| Path::new(OsStr::from_bytes(name));
        assert_eq!(path_text(path(b"na\xffm\xc3\xbc")), "na\\xffm\u{fc}");
        for (name, word) in [
            (&b"a/b-1.b2nd"[..], "a/b-1.b2nd"),
            ("gr\u{fc}n".as_bytes(), "gr\u{fc}n"),
            (b"two words", "'two words'"),
            (b"it's", r"$'it\'s'"),
            (b"a\\\xff\n", r"$'a\\\xff\n'"),
            (b"", "''"),
            (b"-f", "./-f"),
        ] {
            assert_eq!(shell_word(path(name)), word);
        }
    }

    #[test]
    fn json_reads_back_as_the_same_text() {
        for text in ["plain", "\u{7f}\u{9b}31m\u{202e}\u{2028}", "\x1b\"\\\n"] {
            let json = json_text(&[text]);
            assert!(!json.contains(is_harmful), "{json}");
            assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), [text]);
            let pretty = serde_json::to_string_pretty(&[text]).unwrap();
            let pretty = json_safe(&pretty);
            assert!(!pretty.contains(|c| is_harmful(c) && c != '\n'), "{pretty}");
            assert_eq!(serde_json::from_str::<Vec<String>>(&pretty).unwrap(), [text]);
        }
    }
}

//! Hints: advice with commands in backquotes, in which placeholders stand for names.

use std::{borrow::Cow, path::Path};

use crate::escape::shell_word;

/// The placeholders for the input.
const PLACES: [&str; 4] = ["FILE", "FOLDER", "STORE", "TABLE"];

/// A hint whose commands name `file` in a shell's quoting. The hint stays unchanged if `file` is
/// not the name of a file, or if it needs two inputs. A placeholder after `>` is an output and
/// stays.
///
/// ```
/// use b2_program::hint::named;
///
/// assert_eq!(named("`b2 rescue FILE -o NEW` saves it", "."), "`b2 rescue . -o NEW` saves it");
/// ```
pub fn named<'h>(hint: &'h str, file: &str) -> Cow<'h, str> {
    let base = file.split_once("::").map_or(file, |(base, _)| base);
    let is_place = |word: &str| PLACES.contains(&place_of(word).0);
    let places: Vec<&str> = hint.split([' ', '`']).filter(|word| is_place(word)).collect();
    let is_one = places.iter().all(|word| place_of(word).0 == place_of(places[0]).0);
    if places.is_empty() || !is_one || !Path::new(base).exists() {
        return Cow::Borrowed(hint);
    }
    let mut text = String::with_capacity(hint.len() + file.len());
    for (number, part) in hint.split('`').enumerate() {
        let is_command = number % 2 == 1;
        // `rescue` takes whole stores only.
        let name = if part.contains("rescue") { base } else { file };
        let mut before = "";
        for (nword, word) in part.split(' ').enumerate() {
            text.push_str(if nword > 0 { " " } else { "" });
            match place_of(word) {
                (_, "") if !is_command || !is_place(word) || before == ">" => text.push_str(word),
                (_, "") => text.push_str(&shell_word(Path::new(name))),
                (_, rest) if is_place(word) => {
                    text.push_str(&shell_word(Path::new(base)));
                    text.push_str(rest);
                }
                _ => text.push_str(word),
            }
            before = word;
        }
        text.push('`');
    }
    text.pop();
    Cow::Owned(text)
}

/// A word as the name and the part of it: `FILE` and `#N`, `STORE` and `::/key`.
fn place_of(word: &str) -> (&str, &str) {
    word.split_at(word.find(['#', '@', ':']).unwrap_or(word.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_name_the_file_as_a_shell_reads_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("two words");
        std::fs::write(&path, "").unwrap();
        let name = path.to_str().unwrap();
        for (hint, expected) in [
            ("`b2 cat FILE` shows it", format!("`b2 cat '{name}'` shows it")),
            ("as in `cp FILE COPY && b2 append FILE COPY`", {
                format!("as in `cp '{name}' COPY && b2 append '{name}' COPY`")
            }),
            ("FILE#N names one of them", format!("'{name}'#N names one of them")),
            ("name one as STORE::/key", format!("name one as '{name}'::/key")),
            ("name a FILE", "name a FILE".to_owned()),
            ("use `> FILE` to keep it", "use `> FILE` to keep it".to_owned()),
            ("`b2 c --output-dir FOLDER FILE`", "`b2 c --output-dir FOLDER FILE`".to_owned()),
        ] {
            assert_eq!(named(hint, name), expected, "{hint}");
            assert_eq!(named(hint, "no such file"), hint);
        }
        let (value, hint) = (format!("{name}::/a"), "`b2 rescue STORE -o NEW`");
        assert_eq!(named(hint, &value), format!("`b2 rescue '{name}' -o NEW`"));
        assert_eq!(named("`b2 cat FILE`", &value), format!("`b2 cat '{value}'`"));
    }
}

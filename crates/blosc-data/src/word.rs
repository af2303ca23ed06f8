//! Names of files and of their parts.

use std::path::{Path, PathBuf};

/// The part of a file or a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    #[default]
    Whole,
    /// `FILE@N`: the object at this byte.
    Offset(u64),
    /// `FILE#N`: the frame with this number, from 0.
    Nth(u64),
    /// `STORE::/key`: the member with this key.
    Member(String),
}

impl Part {
    /// The part that the text after `::` names; `None` for text that is no key.
    #[must_use]
    pub fn of_key(key: &str) -> Option<Self> {
        (key.is_empty() || key.starts_with('/')).then(|| member(key))
    }
}

/// A name, split into path and part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The file or the folder.
    pub path: PathBuf,
    /// The part of it.
    pub part: Part,
}

impl Word {
    /// A path, or a path and a part. An existing file with such a name is meant as a whole. If a
    /// key may begin at several positions, the last one counts whose path exists.
    #[must_use]
    pub fn of_path(word: &Path) -> Self {
        let whole = || Self { path: word.to_owned(), part: Part::Whole };
        let has_part = word.as_os_str().as_encoded_bytes().iter().any(|it| b"@#:".contains(it));
        if !has_part || word.symlink_metadata().is_ok() {
            return whole();
        }
        let text = word.to_string_lossy();
        let found = split(&text).and_then(|(path, part)| {
            let path = without_end(word, text.get(path.len()..)?)?;
            Some(Self { path, part })
        });
        found.unwrap_or_else(whole)
    }

    /// The path and the key of `PATH::KEY`, which ends at the first colons.
    #[must_use]
    pub fn split_key(word: &Path) -> Option<(PathBuf, String)> {
        let text = word.to_string_lossy();
        let (path, key) = text.split_once("::")?;
        Some((without_end(word, text.get(path.len()..)?)?, key.to_owned()))
    }

    /// Whether a name is an address: of an object store, or of a web server.
    #[must_use]
    pub fn is_address(word: &Path) -> bool {
        const SCHEMES: [&str; 9] =
            ["http", "https", "s3", "s3a", "gs", "az", "azure", "abfs", "abfss"];
        let scheme = word.to_str().and_then(|text| text.split_once("://"));
        scheme.is_some_and(|(scheme, _)| SCHEMES.contains(&scheme))
    }

    /// The address in `ADDRESS::/key`, which an opener opens; other names unchanged.
    #[must_use]
    pub fn without_key(word: &Path) -> &Path {
        let text = word.to_str().filter(|_| Self::is_address(word));
        text.map_or(word, |text| Path::new(Self::of_address(text).0))
    }

    /// An address without the key of a member, and the key.
    #[must_use]
    pub fn of_address(word: &str) -> (&str, Part) {
        match word.split_once("://") {
            Some((scheme, rest)) if !scheme.is_empty() => match rest.split_once("::") {
                Some((rest, key)) => {
                    (&word[..scheme.len() + "://".len() + rest.len()], member(key))
                }
                None => (word, Part::Whole),
            },
            _ => (word, Part::Whole),
        }
    }
}

/// The name without this end; names need not be Unicode.
fn without_end(word: &Path, end: &str) -> Option<PathBuf> {
    let start = word.as_os_str().as_encoded_bytes().strip_suffix(end.as_bytes())?;
    #[cfg(unix)]
    let start = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(start);
    #[cfg(not(unix))]
    let start = core::str::from_utf8(start).ok()?;
    Some(start.into())
}

fn member(key: &str) -> Part {
    match key.trim_end_matches('/') {
        "" => Part::Whole,
        key => Part::Member(key.to_owned()),
    }
}

fn split(text: &str) -> Option<(&str, Part)> {
    let keys = text.match_indices("::").filter_map(|(at, colons)| {
        Some((text.get(..at)?, Part::of_key(text.get(at.saturating_add(colons.len())..)?)?))
    });
    let is_there = |(path, _): &(&str, Part)| Path::new(path).exists();
    if let Some(found) = keys.clone().filter(is_there).last().or_else(|| keys.clone().next()) {
        return Some(found);
    }
    let (path, number) = text.rsplit_once(['@', '#'])?;
    let number = match number.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => number.parse().ok()?,
    };
    let is_offset = text[path.len()..].starts_with('@');
    let part = if is_offset { Part::Offset(number) } else { Part::Nth(number) };
    (!path.is_empty()).then_some((path, part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        let part = |text: &str| Word::of_path(Path::new(text)).part;
        assert_eq!(part("no/such.b2z::/a/b"), Part::Member("/a/b".to_owned()));
        assert_eq!(part("no/such.b2z::/"), Part::Whole);
        assert_eq!(part("no/such@0x10"), Part::Offset(16));
        assert_eq!(part("no/such#3"), Part::Nth(3));
        for whole in ["no/such", "mail@example", "@3", "a:b", "x::y"] {
            assert_eq!(Word::of_path(Path::new(whole)).path, Path::new(whole), "{whole}");
        }
    }

    /// Windows has no names with a colon.
    #[cfg(not(windows))]
    #[test]
    fn a_key_begins_after_what_is_there() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("a::")).unwrap();
        std::fs::write(dir.path().join("a::/s.b2z"), b"").unwrap();
        let word = |text: &str| Word::of_path(&dir.path().join(text));
        let of = |path: &str, part| Word { path: dir.path().join(path), part };
        let key = Part::Member("/k".to_owned());
        assert_eq!(word("a::/s.b2z::/k"), of("a::/s.b2z", key));
        assert_eq!(word("a::/s.b2z"), of("a::/s.b2z", Part::Whole));
    }

    #[cfg(unix)]
    #[test]
    fn a_name_that_is_no_text_has_parts() {
        use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};
        let path = |bytes| Path::new(OsStr::from_bytes(bytes));
        for (word, end, part) in [
            (&b"no\xfe.b2z::/a"[..], 4, Part::Member("/a".to_owned())),
            (b"no\xfe\xff@7", 2, Part::Offset(7)),
            (b"no\xfe::/a\xff", 0, Part::Whole),
        ] {
            let found = Word::of_path(path(word));
            let expected = path(&word[..word.len() - end]).to_owned();
            assert_eq!(found, Word { path: expected, part });
        }
        let split = Word::split_key(path(b"\xfe.b2z::/k"));
        assert_eq!(split, Some((path(b"\xfe.b2z").to_owned(), "/k".to_owned())));
    }

    #[test]
    fn keys_are_no_part_of_addresses() {
        let key = Part::Member("/a/b".to_owned());
        assert_eq!(Word::of_address("s3://c/x.b2z::/a/b"), ("s3://c/x.b2z", key));
        assert_eq!(Word::of_address("x.b2z::/a"), ("x.b2z::/a", Part::Whole));
        for (word, place) in [
            ("https://host/x.b2z::/a/b", "https://host/x.b2z"),
            ("s3://bucket/a/b", "s3://bucket/a/b"),
            ("x.b2z::/a", "x.b2z::/a"),
        ] {
            assert_eq!(Word::without_key(Path::new(word)), Path::new(place));
        }
    }

    #[test]
    fn addresses_are_told_from_names_of_files() {
        for address in ["https://host/x.b2nd", "s3://bucket/a/b"] {
            assert!(Word::is_address(Path::new(address)), "{address}");
        }
        for path in ["x.b2nd", "/a/b", "://x", "gopher://x", "a:b"] {
            assert!(!Word::is_address(Path::new(path)), "{path}");
        }
    }
}

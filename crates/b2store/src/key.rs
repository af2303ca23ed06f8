//! Keys of values: `/` and names joined by `/` ("Keys" in `docs/formats/store.md`).

use crate::error::{Error, Result};

/// The error in a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFault {
    /// The key does not begin with `/`.
    #[error("does not begin with '/'")]
    NoSlash,
    /// A name in the key is empty.
    #[error("a name in it is empty")]
    EmptyName,
    /// A name in the key is `.` or `..`, which would lead out of its group.
    #[error("a name in it is '.' or '..'")]
    Dots,
    /// The key has a control character.
    #[error("it has a control character")]
    Control,
    /// The key has `:` or `\\`, which are not allowed in names on some systems. Only when writing.
    #[error("it has ':' or '\\\\'")]
    NotPortable,
    /// A name in the key is longer than file systems allow. Only when writing.
    #[error("a name in it has {nbytes} bytes, more than {MAX_NAME_NBYTES}")]
    LongName {
        /// Its length (bytes).
        nbytes: usize,
    },
    /// The key has more bytes or levels than readers accept. Only when writing.
    #[error("it has more than {MAX_NBYTES} bytes or {MAX_LEVELS} levels")]
    Long,
    /// A name that stores reserve. Only when writing.
    #[error("a name in it is one that stores use for themselves")]
    Reserved,
}

/// The longest name in a written key: with a suffix it is a file name (bytes).
const MAX_NAME_NBYTES: usize = 250;

/// Last name of the key of the attributes of a group.
pub(crate) const ATTRIBUTES_NAME: &str = "__vlmeta__";

/// Checks a key before it is written.
pub(crate) fn check_new(key: &str) -> Result<(), KeyFault> {
    check(key)?;
    check_size(key).map_err(|_| KeyFault::Long)?;
    if key.contains([':', '\\']) {
        return Err(KeyFault::NotPortable);
    }
    for name in key.split('/') {
        if name.len() > MAX_NAME_NBYTES {
            return Err(KeyFault::LongName { nbytes: name.len() });
        }
        if name == ATTRIBUTES_NAME || name.contains(INDEX_MARK) {
            return Err(KeyFault::Reserved);
        }
    }
    Ok(())
}

/// Part of the names of index files on arrays.
pub(crate) const INDEX_MARK: &str = ".__index__.";

/// Checks a key as readers must: it does not lead out of the root.
pub(crate) fn check(key: &str) -> Result<(), KeyFault> {
    check_names(key.strip_prefix('/').ok_or(KeyFault::NoSlash)?)
}

/// The largest number of levels of a key: each level is a group with a path of its own.
const MAX_LEVELS: usize = 255;
/// The largest length of a key, as of a path on most systems (bytes).
const MAX_NBYTES: usize = 4096;
/// The largest length of the paths of all groups of a store together (bytes): a few deep keys can
/// claim many.
const MAX_GROUP_NBYTES: u64 = 64 << 20;

/// Refuses a key whose groups would need too much memory for its length.
///
/// # Errors
///
/// [`Error::Limit`].
pub(crate) fn check_size(key: &str) -> Result<()> {
    let levels = key.trim_start_matches('/').split('/').count();
    for (needed, limit, unit) in
        [(key.len(), MAX_NBYTES, "bytes of a key"), (levels, MAX_LEVELS, "levels of a key")]
    {
        if needed > limit {
            let shown: String = key.chars().take(MAX_SHOWN).chain("...".chars()).collect();
            return Err(limited(shown, needed as u64, limit as u64, unit));
        }
    }
    Ok(())
}

/// Characters that a message shows of a too long key.
const MAX_SHOWN: usize = 40;

/// Refuses keys, sorted by bytes, if the paths of their groups are too long together.
///
/// # Errors
///
/// [`Error::Limit`].
pub(crate) fn check_groups<'a>(keys: impl Iterator<Item = &'a str>) -> Result<()> {
    let (mut last, mut nbytes) = ("", 0_u64);
    for key in keys {
        // The groups of both keys were counted before.
        let same = key.bytes().zip(last.bytes()).take_while(|(a, b)| a == b).count();
        let new = ancestors(key).filter(|group| group.len() >= same);
        nbytes = new.fold(nbytes, |sum, group| sum.saturating_add(group.len() as u64));
        if nbytes > MAX_GROUP_NBYTES {
            let (name, limit) = ("the groups".to_owned(), MAX_GROUP_NBYTES);
            return Err(limited(name, nbytes, limit, "bytes of paths"));
        }
        last = key;
    }
    Ok(())
}

fn limited(name: String, needed: u64, limit: u64, unit: &'static str) -> Error {
    Error::Limit { name, needed, limit, unit }
}

/// Checks names joined by `/`: those of a key without its first byte, or the path of a file.
pub(crate) fn check_names(names: &str) -> Result<(), KeyFault> {
    for name in names.split('/') {
        match name {
            "" => return Err(KeyFault::EmptyName),
            "." | ".." => return Err(KeyFault::Dots),
            _ if name.chars().any(char::is_control) => return Err(KeyFault::Control),
            _ => {}
        }
    }
    Ok(())
}

/// The groups of a key, from the root's child on: `/a` and `/a/b` for `/a/b/c`.
pub(crate) fn ancestors(key: &str) -> impl Iterator<Item = &str> {
    let ends = key.match_indices('/').skip(1).map(|(at, _)| at);
    ends.filter_map(|end| key.get(..end))
}

/// The suffixes of files with values.
const SUFFIXES: [&str; 3] = [".b2nd", ".b2f", ".b2b"];

/// The key of a file of a store by its path, if the file holds a value.
pub(crate) fn key_of_file(path: &str) -> Option<String> {
    let stem = SUFFIXES.iter().find_map(|suffix| path.strip_suffix(suffix))?;
    let name = stem.rsplit('/').next().unwrap_or(stem);
    // A name that is only a suffix is not a value, nor are index files on arrays.
    let is_value = !name.is_empty() && !name.contains(INDEX_MARK);
    is_value.then(|| format!("/{stem}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_lead_below_the_root() {
        for key in ["/a", "/a/b", "/ä€ x.y", "/a:b", "/a\\b", "/.a", "/a..", "/..."] {
            assert_eq!(check(key), Ok(()), "{key}");
        }
        for (key, fault) in [
            ("", KeyFault::NoSlash),
            ("a", KeyFault::NoSlash),
            ("/", KeyFault::EmptyName),
            ("//a", KeyFault::EmptyName),
            ("/a/", KeyFault::EmptyName),
            ("/a//b", KeyFault::EmptyName),
            ("/..", KeyFault::Dots),
            ("/../x", KeyFault::Dots),
            ("/a/./b", KeyFault::Dots),
            ("/a\tb", KeyFault::Control),
            ("/a\n", KeyFault::Control),
            ("/a\0", KeyFault::Control),
            ("/a\u{85}", KeyFault::Control),
        ] {
            assert_eq!(check(key), Err(fault), "{key:?}");
        }
    }

    /// Case 38.
    #[test]
    fn keys_that_are_written_are_canonical() {
        let long = format!("/g/{}", "x".repeat(300));
        for (key, fault) in [
            ("/../x", KeyFault::Dots),
            ("/a//b", KeyFault::EmptyName),
            ("/a/", KeyFault::EmptyName),
            ("a\\b", KeyFault::NoSlash),
            ("/a\\b", KeyFault::NotPortable),
            ("/a:b", KeyFault::NotPortable),
            ("/a\tb", KeyFault::Control),
            ("", KeyFault::NoSlash),
            (long.as_str(), KeyFault::LongName { nbytes: 300 }),
            ("/g/__vlmeta__", KeyFault::Reserved),
            ("/a.__index__.x", KeyFault::Reserved),
        ] {
            assert_eq!(check_new(key), Err(fault), "{key:?}");
        }
        assert_eq!(check_new("/ä€ x.y/b"), Ok(()));
    }

    #[test]
    fn files_with_a_suffix_of_values_have_keys() {
        assert_eq!(key_of_file("g/n2.b2nd").as_deref(), Some("/g/n2"));
        assert_eq!(key_of_file("x.y.b2f").as_deref(), Some("/x.y"));
        assert_eq!(key_of_file("a.b2b").as_deref(), Some("/a"));
        for path in [
            "x.dat",
            ".b2nd",
            "g/.b2f",
            "a.B2ND",
            "a.b2nd.1.tmp",
            ".a.b2nd.b2tmp-Ab3dE6/0",
            "a.__index__.full.b2nd",
        ] {
            assert_eq!(key_of_file(path), None, "{path}");
        }
    }

    #[test]
    fn keys_and_groups_have_limits() {
        let deep = |levels: usize| "/a".repeat(levels);
        assert!(check_size(&deep(255)).is_ok() && check_new(&deep(255)).is_ok());
        assert_eq!(check_new(&deep(256)), Err(KeyFault::Long));
        let error = check_size(&deep(30_000)).unwrap_err();
        assert!(error.to_string().len() < 120, "{error}");
        assert!(check_size(&format!("/{}", "x".repeat(4096))).is_err());
        // Groups that several keys share are counted once.
        let key = |n: usize| format!("{}/{n}", deep(200));
        let keys: Vec<String> = (1000..2000).map(key).collect();
        assert!(check_groups(keys.iter().map(String::as_str)).is_ok());
        let apart = |n: usize| format!("/{n}{}", "/0123456789abcde".repeat(250));
        let keys: Vec<String> = (1000..1200).map(apart).collect();
        assert!(check_groups(keys.iter().map(String::as_str)).is_err());
    }

    #[test]
    fn ancestors_are_the_groups_of_a_key() {
        assert_eq!(ancestors("/a/b/c").collect::<Vec<_>>(), ["/a", "/a/b"]);
        assert_eq!(ancestors("/a").count(), 0);
    }
}

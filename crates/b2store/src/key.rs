//! Keys of values: `/` and names joined by `/` ("Keys" in `docs/formats/store.md`).

/// What is wrong with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFault {
    /// It does not begin with `/`.
    #[error("does not begin with '/'")]
    NoSlash,
    /// A name in it is empty.
    #[error("a name in it is empty")]
    EmptyName,
    /// A name in it is `.` or `..`, which would lead elsewhere.
    #[error("a name in it is '.' or '..'")]
    Dots,
    /// It has a control character.
    #[error("it has a control character")]
    Control,
    /// It has `:` or `\\`, which are no part of a name on some systems. Only when writing.
    #[error("it has ':' or '\\\\'")]
    NotPortable,
    /// A name in it is longer than file systems allow. Only when writing.
    #[error("a name in it has {nbytes} bytes, more than {MAX_NAME_NBYTES}")]
    LongName {
        /// Its length (bytes).
        nbytes: usize,
    },
    /// A name that stores use for themselves. Only when writing.
    #[error("a name in it is one that stores use for themselves")]
    Reserved,
}

/// The longest name of a key that is written: with a suffix it is a file name (bytes).
const MAX_NAME_NBYTES: usize = 250;

/// Last name of the key of the attributes of a group.
pub(crate) const ATTRIBUTES_NAME: &str = "__vlmeta__";

/// Checks a key that is to be written.
pub(crate) fn check_new(key: &str) -> Result<(), KeyFault> {
    check(key)?;
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

/// Stands in the names of files of indexes on arrays.
pub(crate) const INDEX_MARK: &str = ".__index__.";

/// Checks a key as readers have to: it leads nowhere but below the root.
pub(crate) fn check(key: &str) -> Result<(), KeyFault> {
    check_names(key.strip_prefix('/').ok_or(KeyFault::NoSlash)?)
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

/// The groups that a key lies in, from the root's child on: `/a` and `/a/b` of `/a/b/c`.
pub(crate) fn ancestors(key: &str) -> impl Iterator<Item = &str> {
    let ends = key.match_indices('/').skip(1).map(|(at, _)| at);
    ends.filter_map(|end| key.get(..end))
}

/// The suffixes of the files that are values.
const SUFFIXES: [&str; 3] = [".b2nd", ".b2f", ".b2b"];

/// The key of a file of a store by its path, if the file is a value.
pub(crate) fn key_of_file(path: &str) -> Option<String> {
    let stem = SUFFIXES.iter().find_map(|suffix| path.strip_suffix(suffix))?;
    let name = stem.rsplit('/').next().unwrap_or(stem);
    // A name with nothing but a suffix; files of indexes on arrays.
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
    fn ancestors_are_the_groups_of_a_key() {
        assert_eq!(ancestors("/a/b/c").collect::<Vec<_>>(), ["/a", "/a/b"]);
        assert_eq!(ancestors("/a").count(), 0);
    }
}

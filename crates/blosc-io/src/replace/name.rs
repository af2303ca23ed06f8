//! The scheme of temporary names, and the names of earlier versions.

use core::hash::{BuildHasher as _, Hasher as _};
use std::ffi::{OsStr, OsString};
use std::hash::RandomState;
use std::path::Path;

use crate::tree::{join, parent};

/// The part between the target's name and the random end.
const MARK: &str = ".b2tmp-";

/// Characters of the random end.
const RANDOM_LEN: usize = 6;

/// Bytes of the target's name in the temporary one, which may have 255 in total.
const MAX_NAME: usize = 220;

/// The index of a sparse frame, for which earlier versions had a special name.
const INDEX_FILE: &str = "chunks.b2frame";

/// The maker of a file with a temporary name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Maker {
    /// A process that has it locked.
    Any,
    /// An earlier version, in the process with this number.
    Process(u32),
    /// An earlier version, under the lock of the container around it.
    Container,
}

/// A new temporary name for the successor of `target`.
pub(super) fn temporary_name(target: &OsStr) -> OsString {
    let mut name = prefix(target);
    let mut random = RandomState::new().build_hasher().finish();
    for _ in 0..RANDOM_LEN {
        name.push(char::from_digit((random % 36) as u32, 36).unwrap_or('0').to_string());
        random /= 36;
    }
    name
}

/// A temporary path beside a path of a [`Tree`](crate::Tree), for a file or directory of a
/// container that the caller has locked: see [`sweep_in`](super::sweep_in).
///
/// ```
/// let path = blosc_io::replace::temporary_path("data/sizes");
/// assert!(path.starts_with("data/.sizes.b2tmp-"));
/// ```
#[must_use]
pub fn temporary_path(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    join(parent(path), &temporary_name(OsStr::new(name)).to_string_lossy())
}

/// Whether an unfinished file inside a container can have this name.
#[must_use]
pub fn is_temporary(name: &str) -> bool {
    is_marked(name.as_bytes()) || old_names(name).any(|(_, maker)| maker == Maker::Container)
}

/// Whether a file can be unfinished by its name: by the name alone, or for names of earlier
/// versions by the file beside it that was to be replaced.
#[must_use]
pub fn is_leftover(path: &Path) -> bool {
    let Some(name) = path.file_name() else { return false };
    let is_beside = |target: &str| path.with_file_name(target).exists();
    is_marked(name.as_encoded_bytes())
        || name.to_str().is_some_and(|name| old_names(name).any(|(target, _)| is_beside(target)))
}

/// Whether an unfinished file of any target can have this name.
pub(super) fn is_any_leftover(name: &OsStr) -> bool {
    is_marked(name.as_encoded_bytes())
        || name.to_str().is_some_and(|name| old_names(name).next().is_some())
}

/// The maker of the file with this name, if the file was to replace `target`.
pub(super) fn maker_of(name: &OsStr, target: &OsStr) -> Option<Maker> {
    if is_random(name.as_encoded_bytes(), prefix(target).as_encoded_bytes()) {
        return Some(Maker::Any);
    }
    let target = target.to_str()?;
    old_names(name.to_str()?).find(|(of, _)| *of == target).map(|(_, maker)| maker)
}

/// The first part of all temporary names for `target`.
fn prefix(target: &OsStr) -> OsString {
    let mut prefix = OsString::from(".");
    match target.to_str().filter(|_| target.len() > MAX_NAME) {
        Some(text) => prefix.push(text.chars().take(MAX_NAME / 4).collect::<String>()),
        None => prefix.push(target),
    }
    prefix.push(MARK);
    prefix
}

fn is_marked(name: &[u8]) -> bool {
    let end = name.len().saturating_sub(MARK.len() + RANDOM_LEN);
    name.starts_with(b".") && is_random(name.get(end..).unwrap_or_default(), MARK.as_bytes())
}

/// Whether the name is `prefix` and random characters.
fn is_random(name: &[u8], prefix: &[u8]) -> bool {
    name.strip_prefix(prefix).is_some_and(|random| {
        random.len() == RANDOM_LEN && random.iter().all(u8::is_ascii_alphanumeric)
    })
}

/// The possible targets of a name of an earlier version, and its maker.
fn old_names(name: &str) -> impl Iterator<Item = (&str, Maker)> {
    let of_container = name.strip_suffix(".__temp__").map(|target| (target, Maker::Container));
    let stem = name.strip_suffix(".tmp");
    let of_index = stem.filter(|stem| *stem == INDEX_FILE).map(|stem| (stem, Maker::Container));
    let numbered = stem.and_then(split_number);
    let twice = numbered.and_then(|(stem, pid)| Some((split_number(stem)?.0, pid)));
    let of_process = [numbered, twice].into_iter().flatten();
    let of_process = of_process.map(|(target, pid)| (target, Maker::Process(pid)));
    let of_container = [of_container, of_index].into_iter().flatten();
    of_container.chain(of_process).filter(|(target, _)| !target.is_empty())
}

fn split_number(name: &str) -> Option<(&str, u32)> {
    let (stem, number) = name.rsplit_once('.')?;
    let is_number = number.bytes().all(|digit| digit.is_ascii_digit());
    Some((stem, number.parse().ok().filter(|_| is_number)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_versions_are_known() {
        let makers = |name: &str| {
            ["x", "x.7", "chunks.b2frame"].map(|of| maker_of(OsStr::new(name), OsStr::new(of)))
        };
        let any = Some(Maker::Any);
        let container = Some(Maker::Container);
        let process = |pid| Some(Maker::Process(pid));
        let cases = [
            (".x.b2tmp-Ab3dE6", [any, None, None]),
            (".x.7.b2tmp-Ab3dE6", [None, any, None]),
            ("x.17.tmp", [process(17), None, None]),
            ("x.7.17.tmp", [process(17), process(17), None]),
            ("x.__temp__", [container, None, None]),
            ("chunks.b2frame.tmp", [None, None, container]),
            ("x.b2tmp-Ab3dE6", [None; 3]),
            (".x.b2tmp-Ab3dE", [None; 3]),
            ("x.tmp", [None; 3]),
            ("x.y.tmp", [None; 3]),
            ("x..tmp", [None; 3]),
            ("x.+1.tmp", [None; 3]),
            ("x.17.tmp2", [None; 3]),
        ];
        for (name, expected) in cases {
            assert_eq!(makers(name), expected, "{name}");
        }
    }

    #[test]
    fn leftovers_are_known_by_their_names() {
        let dir = tempfile::tempdir().unwrap();
        let is = |name: &str| is_leftover(&dir.path().join(name));
        assert!([".x.b2tmp-Ab3dE6", ".b2tmp-Ab3dE6"].into_iter().all(is));
        let others = ["x.b2tmp-Ab3dE6", ".x.b2tmp-Ab3dE6.b2frame", "x.1.tmp", "x.__temp__", "a"];
        assert!(!others.into_iter().any(is));
        std::fs::write(dir.path().join("x"), b"").unwrap();
        assert!(["x.17.tmp", "x.2.17.tmp", "x.__temp__"].into_iter().all(is));
        assert!(!is("x.y.tmp"));
        assert!(
            [".x.b2tmp-Ab3dE6", "d.__temp__", "chunks.b2frame.tmp"].map(is_temporary) == [true; 3]
        );
        assert!(["x.17.tmp", "x"].map(is_temporary) == [false; 2]);
    }

    #[test]
    fn new_names_differ_and_have_room() {
        for target in ["x".to_owned(), "\u{e4}".repeat(127), "y".repeat(255)] {
            let names = [(); 2].map(|()| temporary_name(OsStr::new(&target)));
            assert_ne!(names[0], names[1]);
            assert!(names[0].len() <= 255);
            assert_eq!(maker_of(&names[0], OsStr::new(&target)), Some(Maker::Any));
        }
    }
}

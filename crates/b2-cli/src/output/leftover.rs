//! Temporary files and folders of runs that were killed, and how to tell them from those in use.
//!
//! The program that makes one holds an advisory lock on it until it is renamed or removed. One that
//! is not locked belongs to nobody any more: the next run that writes the same target removes it,
//! and walks of directories pass over it.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File, TryLockError},
    path::Path,
};

use blosc_io::lock::FileId;

/// What stands between the name of the target and the random end.
pub(super) const MARK: &str = ".b2tmp-";

/// Letters of the random end.
pub(super) const RANDOM_LEN: usize = 6;

/// Is this called like a temporary file of ours: `.NAME.b2tmp-XXXXXX`, or `NAME.PID.tmp` beside a
/// file `NAME`?
pub(crate) fn is_leftover(path: &Path) -> bool {
    let Some(name) = path.file_name() else { return false };
    let bytes = name.as_encoded_bytes();
    let end = bytes.len().saturating_sub(MARK.len() + RANDOM_LEN);
    is_random(&bytes[end..], MARK.as_bytes()) && bytes.starts_with(b".")
        || replaced(name).is_some_and(|name| path.with_file_name(name).exists())
}

/// `mark` and random letters.
fn is_random(end: &[u8], mark: &[u8]) -> bool {
    end.strip_prefix(mark).is_some_and(|random| {
        random.len() == RANDOM_LEN && random.iter().all(u8::is_ascii_alphanumeric)
    })
}

/// `NAME` of `NAME.PID.tmp`, as the libraries call a file that will replace another one.
fn replaced(name: &OsStr) -> Option<OsString> {
    let (name, pid) = name.to_str()?.strip_suffix(".tmp")?.rsplit_once('.')?;
    let is_pid = !pid.is_empty() && pid.bytes().all(|digit| digit.is_ascii_digit());
    (is_pid && !name.is_empty()).then(|| name.into())
}

/// Removes what killed runs left in `directory` under names of `prefix` and random letters. What
/// cannot be removed, or is in use, stays.
pub(super) fn sweep(directory: &Path, prefix: &OsStr) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        let is_ours = is_random(entry.file_name().as_encoded_bytes(), prefix.as_encoded_bytes());
        // Links, devices and pipes are not of ours, and opening a pipe would wait.
        if !is_ours || !(kind.is_file() || kind.is_dir()) {
            continue;
        }
        let path = entry.path();
        let Ok(file) = File::open(&path) else { continue };
        if file.try_lock().is_ok() {
            let _removed = match kind.is_dir() {
                true => fs::remove_dir_all(&path),
                false => fs::remove_file(&path),
            };
        }
    }
}

/// Locks `file`, which was just made at `path`, for as long as it is open. `false` if another run
/// took it for a leftover in the meantime. Where there are no locks it is nobody's leftover either.
pub(super) fn hold(file: &File, path: &Path) -> bool {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => false,
        Err(TryLockError::Error(_)) => true,
        Ok(()) => FileId::of_file(file) == FileId::of_path(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_are_known_by_their_names() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        for name in [".x.b2tmp-Ab3dE6", ".b2tmp-Ab3dE6"] {
            assert!(is_leftover(&path(name)), "{name}");
        }
        for name in ["x.b2tmp-Ab3dE6", ".x.b2tmp-Ab3dE", ".x.b2tmp-Ab3dE6.b2frame", "x.1.tmp", "a"]
        {
            assert!(!is_leftover(&path(name)), "{name}");
        }
        fs::write(path("x"), b"").unwrap();
        assert!(is_leftover(&path("x.17.tmp")) && !is_leftover(&path("x.y.tmp")));
    }

    #[test]
    fn unlocked_leftovers_of_the_target_are_swept() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        for name in [".x.b2tmp-aaaaaa", ".x.b2tmp-bbbbbb", ".y.b2tmp-aaaaaa", "x"] {
            fs::write(path(name), b"half").unwrap();
        }
        fs::create_dir(path(".x.b2tmp-cccccc")).unwrap();
        fs::write(path(".x.b2tmp-cccccc/x"), b"half").unwrap();
        let used = File::open(path(".x.b2tmp-bbbbbb")).unwrap();
        assert!(hold(&used, &path(".x.b2tmp-bbbbbb")));
        sweep(dir.path(), OsStr::new(".x.b2tmp-"));
        let mut left: Vec<_> =
            fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [".x.b2tmp-bbbbbb", ".y.b2tmp-aaaaaa", "x"]);
    }

    #[test]
    fn what_was_swept_meanwhile_is_not_held() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(".x.b2tmp-aaaaaa");
        let file = File::create(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(!hold(&file, &path));
    }
}

//! Renames that the standard library lacks.

use std::fs;
use std::io;
use std::path::Path;

/// Exchanges two names in the file system: each must be that of a file or directory.
///
/// On Linux it is one step if the file system supports it: both names exist all the time. Elsewhere
/// it is three renames, and `target` is missing for a moment; if one fails, the earlier ones are
/// undone.
///
/// ```
/// # let dir = std::env::temp_dir().join(format!("exchange-{}", std::process::id()));
/// # std::fs::create_dir(&dir)?;
/// let [new, target] = ["new", "target"].map(|name| dir.join(name));
/// std::fs::create_dir(&new)?;
/// std::fs::write(&target, b"old")?;
/// blosc_io::replace::exchange(&new, &target)?;
/// assert!(target.is_dir() && new.is_file());
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// Errors of the storage; both names then keep their files.
pub fn exchange(new: &Path, target: &Path) -> io::Result<()> {
    match exchange_at_once(new, target) {
        Err(error) if is_unknown(&error) => exchange_by_renames(new, target),
        done => done,
    }
}

#[cfg(target_os = "linux")]
fn exchange_at_once(new: &Path, target: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, new, CWD, target, RenameFlags::EXCHANGE)?)
}

#[cfg(not(target_os = "linux"))]
fn exchange_at_once(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Renames a file to a name that is free.
///
/// # Errors
///
/// `AlreadyExists` if the name is taken, even at the last moment; errors of the storage.
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match rename_new_at_once(from, to) {
        Err(error) if is_unknown(&error) => rename_new_by_link(from, to),
        done => done,
    }
}

#[cfg(target_os = "linux")]
fn rename_new_at_once(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)?)
}

#[cfg(not(target_os = "linux"))]
fn rename_new_at_once(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

fn rename_new_by_link(from: &Path, to: &Path) -> io::Result<()> {
    fs::hard_link(from, to)?;
    fs::remove_file(from)
}

/// Whether the system or the file system lacks the rename.
fn is_unknown(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput)
}

fn exchange_by_renames(new: &Path, target: &Path) -> io::Result<()> {
    let mut between = new.as_os_str().to_owned();
    between.push(".old");
    let between = Path::new(&between);
    if fs::symlink_metadata(between).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::symlink_metadata(new)?;
    fs::rename(target, between)?;
    if let Err(error) = fs::rename(new, target) {
        fs::rename(between, target)?;
        return Err(error);
    }
    if let Err(error) = fs::rename(between, new) {
        fs::rename(target, new)?;
        fs::rename(between, target)?;
        return Err(error);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_change_places_in_either_way() {
        for exchange in [exchange, exchange_by_renames] {
            let dir = tempfile::tempdir().unwrap();
            let [new, target, none] = ["new", "target", "none"].map(|name| dir.path().join(name));
            for (path, content) in [(&new, "n"), (&target, "t")] {
                fs::create_dir(path).unwrap();
                fs::write(path.join("f"), content).unwrap();
            }
            exchange(&new, &target).unwrap();
            assert_eq!(fs::read(target.join("f")).unwrap(), b"n");
            assert_eq!(fs::read(new.join("f")).unwrap(), b"t");
            for (new, target) in [(&none, &target), (&new, &none)] {
                let error = exchange(new, target).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::NotFound);
            }
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
        }
    }

    #[test]
    fn a_name_that_is_taken_is_not_replaced() {
        for rename in [rename_new, rename_new_by_link] {
            let dir = tempfile::tempdir().unwrap();
            let [new, target, none] = ["new", "target", "none"].map(|name| dir.path().join(name));
            [&new, &target]
                .iter()
                .for_each(|path| fs::write(path, path.to_str().unwrap()).unwrap());
            assert_eq!(rename(&new, &target).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
            rename(&new, &none).unwrap();
            assert_eq!(fs::read(&none).unwrap(), new.to_str().unwrap().as_bytes());
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
        }
    }
}

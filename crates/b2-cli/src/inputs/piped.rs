//! Stores that come by standard input. Their members are read at any position, so a pipe is copied
//! to a file without a name first.

use std::{
    fs::File,
    io::{self, BufRead as _, IsTerminal as _},
    path::{Path, PathBuf},
    sync::OnceLock,
};

use super::origin::{Origin, Part};
use crate::{
    error::{Doing, Error, Result},
    formats::store,
};

/// The copy of standard input, and the name by which the system lets it be opened.
static COPY: OnceLock<(File, PathBuf)> = OnceLock::new();

/// How `.npy` files begin.
const NPY_MAGIC: &[u8; 4] = b"\x93NUM";

/// The store, or the value in one, that `word` means: `-` or `-::/key`, if standard input is a
/// store. An array of NumPy is kept in the same way. What else it may be is left there.
///
/// # Errors
///
/// When it cannot be read or kept.
pub(crate) fn store_in(word: &Path) -> Result<Option<Origin>> {
    let Some(key) = word.to_str().and_then(|word| word.strip_prefix('-')) else { return Ok(None) };
    let part = match key.strip_prefix("::") {
        None if key.is_empty() => Part::Whole,
        Some("" | "/") => Part::Whole,
        Some(key) if key.starts_with('/') => Part::Member(key.trim_end_matches('/').to_owned()),
        _ => return Ok(None),
    };
    // What reads it tells that a terminal is no input.
    if io::stdin().is_terminal() {
        return Ok(None);
    }
    if let Some((_, path)) = COPY.get() {
        return Ok(Some(Origin::File { path: path.clone(), part }));
    }
    let begins = |head: &[u8]| {
        let mut magics = store::ZIP_MAGICS.into_iter().chain([NPY_MAGIC]);
        magics.any(|magic| head.starts_with(magic))
    };
    let found = match redirected()? {
        Some((file, Some(head))) => begins(&head).then(|| (file, "/dev/fd/0".into())),
        Some((_, None)) => None,
        None if cfg!(unix) => {
            let mut stdin = io::stdin().lock();
            match begins(stdin.fill_buf().map_err(Error::io(Doing::Read))?) {
                true => Some(copy_of(&mut stdin)?),
                false => None,
            }
        }
        None => None,
    };
    let Some(found) = found else { return Ok(None) };
    let (_, path) = COPY.get_or_init(|| found);
    Ok(Some(Origin::File { path: path.clone(), part }))
}

/// The regular file that stands for standard input, and how it begins if input begins there. Its
/// position stays where it is.
#[cfg(unix)]
fn redirected() -> Result<Option<(File, Option<[u8; 4]>)>> {
    use std::{
        io::Seek as _,
        os::{fd::AsFd as _, unix::fs::FileExt as _},
    };
    let handle = io::stdin().as_fd().try_clone_to_owned().map_err(Error::io(Doing::Read))?;
    let mut file = File::from(handle);
    let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
    if !is_file {
        return Ok(None);
    }
    if file.stream_position().map_err(Error::io(Doing::Read))? > 0 {
        return Ok(Some((file, None)));
    }
    let mut head = [0; 4];
    // What is shorter is no store.
    let _ = file.read_exact_at(&mut head, 0);
    Ok(Some((file, Some(head))))
}

#[cfg(not(unix))]
fn redirected() -> Result<Option<(File, Option<[u8; 4]>)>> {
    Ok(None)
}

/// All of `reader` in a file without a name, and the name by which it is opened.
fn copy_of(reader: &mut dyn io::Read) -> Result<(File, PathBuf)> {
    let mut copy = tempfile::tempfile().map_err(Error::io(Doing::Spool))?;
    io::copy(reader, &mut copy).map_err(Error::io(Doing::Spool))?;
    let path = path_of(&copy);
    Ok((copy, path))
}

/// Whether this is the name of the copy.
pub(crate) fn is_copy(path: &Path) -> bool {
    COPY.get().is_some_and(|(_, copy)| copy == path)
}

#[cfg(unix)]
fn path_of(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd as _;
    format!("/dev/fd/{}", file.as_raw_fd()).into()
}

#[cfg(not(unix))]
fn path_of(_: &File) -> PathBuf {
    PathBuf::new()
}

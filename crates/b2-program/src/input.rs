//! Names of files in lists, and the file behind standard input.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

/// The names in a list: one per line, or each ended by a NUL. `-` is the list of standard input.
///
/// # Errors
///
/// A list that cannot be read; a name that is no path on this system.
pub fn listed(list: &Path, null: bool) -> io::Result<Vec<PathBuf>> {
    let bytes = match list.to_str() {
        Some("-") => {
            let mut bytes = Vec::new();
            io::copy(&mut io::stdin().lock(), &mut bytes)?;
            bytes
        }
        _ => fs::read(list)?,
    };
    let names = bytes.split(|&byte| byte == if null { 0 } else { b'\n' });
    names
        .map(|name| if null { name } else { name.strip_suffix(b"\r").unwrap_or(name) })
        .filter(|name| !name.is_empty())
        .map(path_of)
        .collect()
}

/// The path of this name.
///
/// # Errors
///
/// Bytes that are no path on this system.
#[cfg(unix)]
pub fn path_of(name: &[u8]) -> io::Result<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Ok(std::ffi::OsStr::from_bytes(name).into())
}

/// The path of this name.
///
/// # Errors
///
/// Bytes that are no path on this system.
#[cfg(not(unix))]
pub fn path_of(name: &[u8]) -> io::Result<PathBuf> {
    let text = core::str::from_utf8(name)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    Ok(text.into())
}

/// The regular file behind standard input, and the position in it (bytes). The position moves to
/// the end, as if a pipe had been read.
#[must_use]
#[cfg(unix)]
pub fn stdin_file() -> Option<(File, u64)> {
    use std::{
        io::{Seek, SeekFrom},
        os::fd::AsFd,
    };
    let handle = io::stdin().as_fd().try_clone_to_owned().ok()?;
    let mut file = File::from(handle);
    let at = file
        .metadata()
        .ok()
        .filter(fs::Metadata::is_file)
        .and_then(|_| file.stream_position().ok())?;
    file.seek(SeekFrom::End(0)).ok()?;
    Some((file, at))
}

/// The regular file behind standard input; unknown on this system.
#[must_use]
#[cfg(not(unix))]
pub fn stdin_file() -> Option<(File, u64)> {
    None
}

//! Owner, mode and times that a new file gets.

use std::fs::{self, File, FileTimes, Metadata};
use std::io;
use std::path::Path;

/// Properties that a new file gets before it takes its name.
#[derive(Clone, Copy, Debug)]
pub enum Carry<'a> {
    /// The mode of the replaced file, if there is one.
    Target,
    /// Owner, as far as the system allows, and mode of another file: for a file that was made from
    /// it and has other content.
    Mode(&'a Metadata),
    /// Owner, mode and times.
    All(&'a Metadata),
}

impl Carry<'_> {
    /// Gives them to a file that is to replace `target`. With `is_private`, only its owner may read
    /// it now.
    pub(super) fn to_file(self, file: &File, target: &Path, is_private: bool) -> io::Result<()> {
        match self {
            Self::Target => match mode_of(target).or_else(|| is_private.then(new_mode)) {
                Some(mode) => set_mode(file, mode),
                None => Ok(()),
            },
            Self::Mode(source) => carry_mode(source, file),
            Self::All(source) => carry_over(source, file),
        }
    }

    /// Gives owner and mode to a folder and all of its entries.
    pub(super) fn to_folder(self, folder: &Path) -> io::Result<()> {
        let (Self::Mode(source) | Self::All(source)) = self else { return Ok(()) };
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            match path.is_dir() {
                true => self.to_folder(&path)?,
                false => carry_mode(source, &File::open(&path)?)?,
            }
        }
        carry_mode(source, &File::open(folder)?)
    }
}

/// Gives a folder that is complete and in place owner, mode and times of another one.
///
/// # Errors
///
/// Errors of the storage.
pub fn carry_to_folder(source: &Metadata, folder: &Path) -> io::Result<()> {
    let folder = File::open(folder)?;
    carry_over(source, &folder)?;
    // No entry will be renamed any more, so the owner's rights become those of the source.
    #[cfg(unix)]
    set_mode(&folder, std::os::unix::fs::PermissionsExt::mode(&source.permissions()))?;
    Ok(())
}

/// Owner, mode and times.
fn carry_over(source: &Metadata, file: &File) -> io::Result<()> {
    carry_mode(source, file)?;
    let mut times = FileTimes::new();
    if let Ok(accessed) = source.accessed() {
        times = times.set_accessed(accessed);
    }
    if let Ok(modified) = source.modified() {
        times = times.set_modified(modified);
    }
    file.set_times(times)
}

/// Files of a folder, and folders of a file, may be read by the same users.
#[cfg(unix)]
fn carry_mode(source: &Metadata, file: &File) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
    let made = file.metadata()?;
    if (source.uid(), source.gid()) != (made.uid(), made.gid()) {
        // Only root can change the owner; if the group cannot be set, its members get no rights.
        let _refused = fchown(file, Some(source.uid()), Some(source.gid()));
    }
    let mode = source.permissions().mode();
    let mode = match (source.is_dir(), made.is_dir()) {
        (true, false) => mode & 0o666,
        // Renaming needs the owner's rights.
        (false, true) => mode & 0o666 | (mode & 0o444) >> 2 | 0o300,
        (true, true) => mode | 0o300,
        (false, false) => mode,
    };
    set_mode(file, mode)
}

#[cfg(not(unix))]
fn carry_mode(_: &Metadata, _: &File) -> io::Result<()> {
    Ok(())
}

/// Leaves out the set-user-ID and set-group-ID bits: the owner may be another.
#[cfg(unix)]
fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(fs::Permissions::from_mode(mode & 0o777))
}

#[cfg(not(unix))]
fn set_mode(_: &File, _: u32) -> io::Result<()> {
    Ok(())
}

/// The mode of the file at `path`.
#[cfg(unix)]
fn mode_of(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    let found = fs::metadata(path).ok().filter(Metadata::is_file)?;
    Some(found.permissions().mode())
}

#[cfg(not(unix))]
fn mode_of(_: &Path) -> Option<u32> {
    None
}

/// The mode of a new file. The mask can only be read by setting it; a file that another thread
/// makes at this moment gets a stricter mode, never a laxer one.
#[cfg(unix)]
fn new_mode() -> u32 {
    use rustix::{fs::Mode, process::umask};
    let mask = umask(Mode::RWXG | Mode::RWXO);
    umask(mask);
    0o666 & !mask.bits()
}

#[cfg(not(unix))]
fn new_mode() -> u32 {
    0
}

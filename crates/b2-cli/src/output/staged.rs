//! Files that appear whole or not at all.
//!
//! Output grows in `.NAME.b2tmp-XXXX` beside its target, which only its owner may read, is synced,
//! gets mode and times of the input, and is renamed. A [`Staged`] file that is dropped before
//! [`Staged::commit`], by an error or by a panic, is removed; a signal finds it in the list of
//! [`Unfinished`] files.

mod nest;

use std::{
    ffi::OsString,
    fs::{self, File, FileTimes, Metadata},
    io,
    path::{Path, PathBuf},
};

use tempfile::{Builder, NamedTempFile, TempPath};

pub(crate) use nest::Nest;

use crate::{
    args::OutputArgs,
    error::{Doing, Error, Result, irregular},
    output::{Unfinished, leftover},
    render::path_text,
};

/// How a file replaces its target.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StageOptions {
    /// Replace a file that is there; follow a link.
    pub(crate) force: bool,
    /// Wait for the disk.
    pub(crate) sync: bool,
}

impl From<&OutputArgs> for StageOptions {
    fn from(args: &OutputArgs) -> Self {
        Self { force: args.force, sync: !args.no_sync }
    }
}

/// A file under way.
#[derive(Debug)]
pub(crate) struct Staged {
    temporary: Option<NamedTempFile>,
    target: PathBuf,
    options: StageOptions,
    unfinished: Unfinished,
}

impl Staged {
    /// Starts a file that will be `target`.
    ///
    /// # Errors
    ///
    /// When something is at `target` that must not be replaced, or no file can be made beside it.
    pub(crate) fn create(
        target: &Path,
        options: StageOptions,
        unfinished: &Unfinished,
    ) -> Result<Self> {
        let target = check_target(target, options)?;
        let prefix = prefix(&target)?;
        let directory = directory_of(&target);
        leftover::sweep(directory, &prefix);
        let create = || builder(&prefix).tempfile_in(directory);
        let temporary = loop {
            let made = unfinished.create(create, NamedTempFile::path);
            let made = made.map_err(not_beside(&target))?;
            if leftover::hold(made.as_file(), made.path()) {
                break made;
            }
            let path = made.path().to_owned();
            let _gone = unfinished.settle(&path, || made.close());
        };
        Ok(Self { temporary: Some(temporary), target, options, unfinished: unfinished.clone() })
    }

    /// Another handle of the file, with a position of its own if opened again by the caller.
    ///
    /// # Errors
    ///
    /// When the system is out of handles.
    pub(crate) fn handle(&self) -> Result<File> {
        let temporary = self.temporary.as_ref().ok_or_else(gone);
        temporary
            .and_then(|file| file.as_file().try_clone())
            .map_err(Error::io_at(Doing::Create, &self.target))
    }

    /// Waits until the content is on the disk, unless told not to.
    ///
    /// # Errors
    ///
    /// When the disk refuses.
    pub(crate) fn sync(&self) -> Result<()> {
        match &self.temporary {
            Some(file) if self.options.sync => {
                file.as_file().sync_all().map_err(Error::io_at(Doing::Sync, &self.target))
            }
            _ => Ok(()),
        }
    }

    /// Gives the file mode and times of `source`, syncs it and renames it to its target.
    ///
    /// # Errors
    ///
    /// When the system refuses, or another file has come to `target` meanwhile; the file is removed
    /// then.
    pub(crate) fn commit(self, source: Option<&Metadata>) -> Result<PathBuf> {
        self.finish(source, carry_over)
    }

    /// As [`commit`](Self::commit), with the owner and the mode of `source` and not its times: for
    /// what was made of it, and is something else.
    ///
    /// # Errors
    ///
    /// As `commit`.
    pub(crate) fn commit_with_mode(self, source: Option<&Metadata>) -> Result<PathBuf> {
        self.finish(source, carry_mode)
    }

    fn finish(mut self, source: Option<&Metadata>, carry: Carry) -> Result<PathBuf> {
        if let Some(file) = &self.temporary {
            let done = match source {
                Some(source) => carry(source, file.as_file()),
                None => set_mode(file.as_file(), mode_at(&self.target)),
            };
            done.map_err(Error::io_at(Doing::Write, &self.target))?;
        }
        self.sync()?;
        let Some(temporary) = self.temporary.take() else {
            return Err(Error::io_at(Doing::Rename, &self.target)(gone()));
        };
        let path = temporary.path().to_owned();
        let temporary = temporary.into_temp_path();
        self.unfinished.settle(&path, || persist(temporary, &self.target, self.options.force))?;
        if self.options.sync {
            sync_directory(&self.target)
                .map_err(Error::io_at(Doing::SyncDirectory, &self.target))?;
        }
        Ok(self.target.clone())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if let Some(temporary) = self.temporary.take() {
            let path = temporary.path().to_owned();
            let _removed = self.unfinished.settle(&path, || temporary.close());
        }
    }
}

fn gone() -> io::Error {
    io::ErrorKind::NotFound.into()
}

/// The path to write to, which is the target of a link when links are followed.
fn check_target(target: &Path, options: StageOptions) -> Result<PathBuf> {
    let path = || target.to_owned();
    let kind = match irregular(target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(path()),
        Err(error) => return Err(Error::io_at(Doing::Open, target)(error)),
        Ok(kind) => kind,
    };
    match kind {
        None if options.force => Ok(path()),
        None => Err(Error::Exists { path: path() }),
        Some(crate::error::FileKind::Link) if options.force => {
            fs::canonicalize(target).map_err(Error::io_at(Doing::Open, target))
        }
        Some(kind) => Err(Error::NotRegular { path: path(), kind }),
    }
}

fn prefix(target: &Path) -> Result<OsString> {
    let Some(name) = target.file_name() else {
        return Err(Error::NotRegular {
            path: target.to_owned(),
            kind: crate::error::FileKind::Directory,
        });
    };
    let mut prefix = OsString::from(".");
    // A name that leaves no room for more is shown by its beginning.
    match name.to_str().filter(|_| name.len() > MAX_NAME) {
        Some(text) => prefix.push(text.chars().take(MAX_NAME / 4).collect::<String>()),
        None => prefix.push(name),
    }
    prefix.push(leftover::MARK);
    Ok(prefix)
}

/// Bytes of the target's name in the temporary one, which may have 255 in all.
const MAX_NAME: usize = 220;

/// For files that nobody else can read, whatever becomes of them.
fn builder(prefix: &OsString) -> Builder<'_, 'static> {
    let mut builder = Builder::new();
    builder.prefix(prefix).rand_bytes(leftover::RANDOM_LEN);
    builder
}

/// The mode of what `target` replaces, or of a new file.
#[cfg(unix)]
fn mode_at(target: &Path) -> u32 {
    use rustix::{fs::Mode, process::umask};
    use std::os::unix::fs::PermissionsExt;
    match fs::metadata(target) {
        Ok(old) if old.is_file() => old.permissions().mode(),
        // The mask can only be read by setting it; a file that another thread makes at this moment
        // gets a stricter mode, never a laxer one.
        _ => {
            let mask = umask(Mode::RWXG | Mode::RWXO);
            umask(mask);
            0o666 & !mask.bits()
        }
    }
}

#[cfg(not(unix))]
fn mode_at(_: &Path) -> u32 {
    0
}

/// Without the bits that lend the owner's rights: the owner may be another.
#[cfg(unix)]
fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(mode & 0o777))
}

#[cfg(not(unix))]
fn set_mode(_: &File, _: u32) -> io::Result<()> {
    Ok(())
}

fn persist(temporary: TempPath, target: &Path, force: bool) -> Result<()> {
    let put = if force { temporary.persist(target) } else { temporary.persist_noclobber(target) };
    match put {
        Ok(()) => Ok(()),
        Err(refused) if refused.error.kind() == io::ErrorKind::AlreadyExists => {
            Err(Error::Exists { path: target.to_owned() })
        }
        Err(refused) => Err(Error::io_at(Doing::Rename, target)(refused.error)),
    }
}

/// Gives a file properties of the input.
type Carry = fn(&Metadata, &File) -> io::Result<()>;

/// Owner, as far as the system lets it be given away, and mode. Files of a directory, and
/// directories of a file, may be read by the same users.
fn carry_mode(source: &Metadata, file: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
        let made = file.metadata()?;
        if (source.uid(), source.gid()) != (made.uid(), made.gid()) {
            // Only root gives files away; a group that cannot be set gets no rights by it.
            let _refused = fchown(file, Some(source.uid()), Some(source.gid()));
        }
        let mode = source.permissions().mode();
        set_mode(
            file,
            match (source.is_dir(), made.is_dir()) {
                (true, false) => mode & 0o666,
                // The owner's rights are needed to rename it.
                (false, true) => mode & 0o666 | (mode & 0o444) >> 2 | 0o300,
                (true, true) => mode | 0o300,
                _ => mode,
            },
        )?;
    }
    #[cfg(not(unix))]
    let _ = (source, file);
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

/// A rename is on the disk when its directory is.
fn sync_directory(target: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    File::open(directory_of(target))?.sync_all()
}

/// The directory that holds `target`.
/// Nothing could be made beside the target, often since its folder is not there.
fn not_beside(target: &Path) -> impl FnOnce(io::Error) -> Error + use<'_> {
    move |source| {
        let folder = directory_of(target);
        if source.kind() == io::ErrorKind::NotFound && !folder.exists() {
            let (path, folder) = (target.to_owned(), path_text(folder));
            return Error::NoFolder { path, folder };
        }
        Error::io_at(Doing::CreateBeside, target)(source)
    }
}

fn directory_of(target: &Path) -> &Path {
    target.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const FORCE: StageOptions = StageOptions { force: true, sync: true };
    const CAREFUL: StageOptions = StageOptions { force: false, sync: true };

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(dir)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_appears_on_commit_and_only_then() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("out");
        let staged = Staged::create(&target, CAREFUL, &Unfinished::default()).unwrap();
        staged.handle().unwrap().write_all(b"content").unwrap();
        let [name] = &names(dir.path())[..] else { panic!("one temporary file") };
        assert!(name.starts_with(".out.b2tmp-"), "{name}");
        staged.commit(None).unwrap();
        assert_eq!(names(dir.path()), ["out"]);
        assert_eq!(fs::read(target).unwrap(), b"content");
    }

    #[test]
    fn long_names_have_room() {
        let dir = tempfile::tempdir().unwrap();
        let name = "\u{e4}".repeat(127);
        let staged =
            Staged::create(&dir.path().join(&name), CAREFUL, &Unfinished::default()).unwrap();
        staged.commit(None).unwrap();
        assert_eq!(names(dir.path()), [name]);
    }

    #[test]
    fn a_dropped_file_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        drop(Staged::create(&dir.path().join("out"), CAREFUL, &Unfinished::default()).unwrap());
        assert!(names(dir.path()).is_empty());
    }

    #[test]
    fn existing_file_is_replaced_only_with_force() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("out");
        fs::write(&target, b"old").unwrap();
        let refused = Staged::create(&target, CAREFUL, &Unfinished::default()).unwrap_err();
        assert!(matches!(refused, Error::Exists { .. }), "{refused}");
        Staged::create(&target, FORCE, &Unfinished::default()).unwrap().commit(None).unwrap();
        assert_eq!(fs::read(target).unwrap(), b"");
    }

    #[test]
    fn file_created_meanwhile_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("out");
        let staged = Staged::create(&target, CAREFUL, &Unfinished::default()).unwrap();
        fs::write(&target, b"other").unwrap();
        assert!(matches!(staged.commit(None), Err(Error::Exists { .. })));
        assert_eq!(fs::read(target).unwrap(), b"other");
        assert_eq!(names(dir.path()), ["out"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_only_by_force() {
        let dir = tempfile::tempdir().unwrap();
        let (target, link) = (dir.path().join("real"), dir.path().join("link"));
        fs::write(&target, b"old").unwrap();
        std::os::unix::fs::symlink("real", &link).unwrap();
        let refused = Staged::create(&link, CAREFUL, &Unfinished::default()).unwrap_err();
        assert!(matches!(refused, Error::NotRegular { .. }), "{refused}");
        Staged::create(&link, FORCE, &Unfinished::default()).unwrap().commit(None).unwrap();
        assert_eq!(fs::read(target).unwrap(), b"");
        assert!(link.symlink_metadata().unwrap().is_symlink());
    }

    #[cfg(unix)]
    #[test]
    fn mode_and_times_are_carried_over() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let (source, target) = (dir.path().join("in"), dir.path().join("out"));
        let file = File::create(&source).unwrap();
        let old = std::time::UNIX_EPOCH + core::time::Duration::from_secs(1_000_000_000);
        file.set_times(FileTimes::new().set_modified(old)).unwrap();
        fs::set_permissions(&source, fs::Permissions::from_mode(0o4640)).unwrap();
        let staged = Staged::create(&target, CAREFUL, &Unfinished::default()).unwrap();
        staged.commit(Some(&fs::metadata(&source).unwrap())).unwrap();
        let made = fs::metadata(&target).unwrap();
        assert_eq!(made.permissions().mode() & 0o7777, 0o640);
        assert_eq!(made.modified().unwrap(), old);
    }
}

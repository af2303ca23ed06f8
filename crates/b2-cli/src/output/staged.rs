//! Files and folders that appear whole or not at all.
//!
//! Output grows in `.NAME.b2tmp-XXXX` beside its target, which only its owner may read, is synced,
//! gets mode and times of the input, and is renamed. What is written by handle grows in a file of
//! that name; directories, and what is written by path, grow in a folder of that name, and for a
//! stream in one of the system's temporary folders. A [`Staged`] output that is dropped before
//! [`Staged::commit`], by an error or by a panic, is removed; a signal finds it in the list of
//! [`Unfinished`] files.

use std::{
    ffi::OsString,
    fs::{self, File, FileTimes, Metadata},
    io,
    path::{Path, PathBuf},
};

use blosc_io::tree::exchange;
use tempfile::{Builder, NamedTempFile, TempDir, TempPath};

use crate::{
    args::OutputArgs,
    error::{Doing, Error, FileKind, Result, irregular},
    inputs::origin,
    output::{Unfinished, leftover},
    render::path_text,
};

/// How an output replaces its target.
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

/// Output under way.
#[derive(Debug)]
pub(crate) struct Staged {
    temporary: Option<Temporary>,
    /// Where it grows.
    path: PathBuf,
    /// Where it belongs; nowhere if it goes to a stream.
    target: Option<PathBuf>,
    options: StageOptions,
    unfinished: Unfinished,
}

/// What has the temporary name.
#[derive(Debug)]
enum Temporary {
    /// The output itself.
    File(NamedTempFile),
    /// A folder around it, and what tells other runs that the folder is in use.
    Folder(TempDir, Option<File>),
}

impl Temporary {
    fn path(&self) -> &Path {
        match self {
            Self::File(file) => file.path(),
            Self::Folder(folder, _) => folder.path(),
        }
    }

    /// Tells other runs that it is in use; `false` if one of them took it for a leftover.
    fn hold(&mut self) -> bool {
        match self {
            Self::File(file) => leftover::hold(file.as_file(), file.path()),
            Self::Folder(folder, lock) => {
                *lock = File::open(folder.path()).ok();
                // Where folders cannot be opened, there are no locks of them.
                lock.as_ref().is_none_or(|lock| leftover::hold(lock, folder.path()))
            }
        }
    }

    fn remove(self, unfinished: &Unfinished) {
        let path = self.path().to_owned();
        let _removed = unfinished.settle(&path, || match self {
            Self::File(file) => file.close(),
            Self::Folder(folder, _) => folder.close(),
        });
    }
}

impl Staged {
    /// Starts a file that will be `target`, and is written by its [`handle`](Self::handle).
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
        Self::beside(target, options, unfinished, |prefix, directory| {
            builder(prefix).tempfile_in(directory).map(Temporary::File)
        })
    }

    /// Starts a file or directory that will be `target`, and is written at its
    /// [`path`](Self::path), where nothing is yet.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub(crate) fn in_folder(
        target: &Path,
        options: StageOptions,
        unfinished: &Unfinished,
    ) -> Result<Self> {
        let target = match irregular(target) {
            Ok(Some(FileKind::Directory)) if origin::is_object(target) => {
                if !options.force {
                    return Err(Error::Exists { path: target.to_owned() });
                }
                target.to_owned()
            }
            _ => check_target(target, options)?,
        };
        Self::beside(target, options, unfinished, |prefix, directory| {
            let folder = private(&mut builder(prefix)).tempdir_in(directory)?;
            Ok(Temporary::Folder(folder, None))
        })
    }

    /// Starts what will be copied to a stream.
    ///
    /// # Errors
    ///
    /// When the system cannot create it.
    pub(crate) fn for_stream(unfinished: &Unfinished) -> Result<Self> {
        let create = || Ok(Temporary::Folder(private(&mut Builder::new()).tempdir()?, None));
        let folder = unfinished.create(create, Temporary::path).map_err(Error::io(Doing::Spool))?;
        let path = folder.path().join("output");
        Ok(Self::new(folder, path, None, StageOptions::default(), unfinished))
    }

    fn new(
        temporary: Temporary,
        path: PathBuf,
        target: Option<PathBuf>,
        options: StageOptions,
        unfinished: &Unfinished,
    ) -> Self {
        let unfinished = unfinished.clone();
        Self { temporary: Some(temporary), path, target, options, unfinished }
    }

    /// Makes what `create` makes in the directory of `target`.
    fn beside(
        target: PathBuf,
        options: StageOptions,
        unfinished: &Unfinished,
        create: impl Fn(&OsString, &Path) -> io::Result<Temporary>,
    ) -> Result<Self> {
        let (prefix, directory) = (prefix(&target)?, directory_of(&target));
        leftover::sweep(directory, &prefix);
        let temporary = loop {
            let made = unfinished.create(|| create(&prefix, directory), Temporary::path);
            let mut made = made.map_err(not_beside(&target))?;
            if made.hold() {
                break made;
            }
            made.remove(unfinished);
        };
        let path = match &temporary {
            Temporary::File(file) => file.path().to_owned(),
            Temporary::Folder(folder, _) => {
                folder.path().join(target.file_name().unwrap_or_default())
            }
        };
        Ok(Self::new(temporary, path, Some(target), options, unfinished))
    }

    /// Where to write.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// How messages call the output.
    pub(crate) fn target(&self) -> &Path {
        self.target.as_deref().unwrap_or(Path::new("standard output"))
    }

    /// Another handle of the file, with a position of its own if opened again by the caller.
    ///
    /// # Errors
    ///
    /// When the system is out of handles.
    pub(crate) fn handle(&self) -> Result<File> {
        let handle = match &self.temporary {
            Some(Temporary::File(file)) => file.as_file().try_clone(),
            _ => Err(io::ErrorKind::NotFound.into()),
        };
        handle.map_err(Error::io_at(Doing::Create, self.target()))
    }

    /// Waits until the content is on the disk, unless told not to.
    ///
    /// # Errors
    ///
    /// When the disk refuses.
    pub(crate) fn sync(&self) -> Result<()> {
        if !self.options.sync {
            return Ok(());
        }
        let synced = match &self.temporary {
            Some(Temporary::File(file)) => file.as_file().sync_all(),
            _ => sync_with_entries(&self.path),
        };
        synced.map_err(Error::io_at(Doing::Sync, self.target()))
    }

    /// Gives the output mode and times of `source`, syncs it and renames it to its target.
    ///
    /// # Errors
    ///
    /// When the system refuses, or something else has come to the target meanwhile; the output is
    /// removed then.
    pub(crate) fn commit(self, source: Option<&Metadata>) -> Result<()> {
        self.finish(source, carry_over)
    }

    /// As [`commit`](Self::commit), with the owner and the mode of `source` and not its times: for
    /// what was made of it, and is something else.
    ///
    /// # Errors
    ///
    /// As `commit`.
    pub(crate) fn commit_with_mode(self, source: Option<&Metadata>) -> Result<()> {
        self.finish(source, carry_mode)
    }

    fn finish(mut self, source: Option<&Metadata>, carry: Carry) -> Result<()> {
        let Some(target) = self.target.clone() else { return Ok(()) };
        let is_folder = self.path.is_dir();
        let carried = match (source, &self.temporary) {
            (Some(source), _) if is_folder => carry_to_folder(source, &self.path),
            (Some(source), Some(Temporary::File(file))) => carry(source, file.as_file()),
            (Some(source), _) => {
                File::options().write(true).open(&self.path).and_then(|file| carry(source, &file))
            }
            (None, Some(Temporary::File(file))) => set_mode(file.as_file(), mode_at(&target)),
            (None, _) => Ok(()),
        };
        carried.map_err(Error::io_at(Doing::Write, &target))?;
        self.sync()?;
        self.put_in_place(&target, is_folder)?;
        if self.options.sync {
            sync_directory(&target).map_err(Error::io_at(Doing::SyncDirectory, &target))?;
        }
        Ok(())
    }

    /// Renames the output. Neither a folder nor what replaces one can be renamed over what is
    /// there: both change places, and the old one is removed with the folder in which the new one
    /// grew.
    fn put_in_place(&mut self, target: &Path, is_folder: bool) -> Result<()> {
        let force = self.options.force;
        if let Some(Temporary::File(file)) =
            self.temporary.take_if(|temporary| matches!(temporary, Temporary::File(_)))
        {
            let file = file.into_temp_path();
            return self.unfinished.settle(&self.path, || persist(file, target, force));
        }
        let old = match irregular(target) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            found => Some(found.map_err(Error::io_at(Doing::Rename, target))?),
        };
        match old {
            Some(_) if !force => Err(Error::Exists { path: target.to_owned() }),
            Some(Some(kind @ FileKind::Directory)) if !origin::is_object(target) => {
                Err(Error::NotRegular { path: target.to_owned(), kind })
            }
            Some(kind) if is_folder || kind == Some(FileKind::Directory) => {
                exchange(&self.path, target).map_err(Error::io_at(Doing::Rename, target))
            }
            None if is_folder => {
                fs::rename(&self.path, target).map_err(Error::io_at(Doing::Rename, target))
            }
            _ => {
                let temporary = TempPath::try_from_path(&self.path)
                    .map_err(Error::io_at(Doing::Rename, target))?;
                persist(temporary, target, force)
            }
        }
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if let Some(temporary) = self.temporary.take() {
            temporary.remove(&self.unfinished);
        }
    }
}

/// Syncs a file, or a directory and the files in it.
fn sync_with_entries(path: &Path) -> io::Result<()> {
    let sync = |path: &Path| File::open(path)?.sync_all();
    if path.is_dir() {
        fs::read_dir(path)?.try_for_each(|entry| sync(&entry?.path()))?;
    }
    sync(path)
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
        Some(FileKind::Link) if options.force => {
            fs::canonicalize(target).map_err(Error::io_at(Doing::Open, target))
        }
        Some(kind) => Err(Error::NotRegular { path: path(), kind }),
    }
}

fn prefix(target: &Path) -> Result<OsString> {
    let Some(name) = target.file_name() else {
        return Err(Error::NotRegular { path: target.to_owned(), kind: FileKind::Directory });
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

/// For folders that nobody else can look into.
fn private<'a, 'b, 'c>(builder: &'a mut Builder<'b, 'c>) -> &'a mut Builder<'b, 'c> {
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
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

/// Gives a folder, and everything in it, owner and mode of the input.
fn carry_to_folder(source: &Metadata, folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => carry_to_folder(source, &path)?,
            false => carry_mode(source, &File::open(&path)?)?,
        }
    }
    carry_mode(source, &File::open(folder)?)
}

/// Gives a folder mode and times of another one.
pub(crate) fn carry_to_place(source: &Metadata, folder: &Path) -> io::Result<()> {
    let folder = File::open(folder)?;
    carry_over(source, &folder)?;
    // Nothing is to be renamed there any more.
    #[cfg(unix)]
    set_mode(&folder, std::os::unix::fs::PermissionsExt::mode(&source.permissions()))?;
    Ok(())
}

/// A rename is on the disk when its directory is.
fn sync_directory(target: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    File::open(directory_of(target))?.sync_all()
}

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

/// The directory that holds `target`.
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

    fn in_folder(target: &Path, options: StageOptions) -> Result<Staged> {
        Staged::in_folder(target, options, &Unfinished::default())
    }

    fn sparse(path: &Path, content: &str) {
        fs::create_dir(path).unwrap();
        fs::write(path.join(origin::INDEX_FILE), content).unwrap();
    }

    #[test]
    fn a_folder_appears_on_commit_and_replaces_one_of_its_kind() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("x");
        for content in ["first", "second"] {
            let staged = in_folder(&target, FORCE).unwrap();
            sparse(staged.path(), content);
            staged.commit(None).unwrap();
            assert_eq!(fs::read_to_string(target.join(origin::INDEX_FILE)).unwrap(), content);
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        }
        assert!(matches!(in_folder(&target, CAREFUL), Err(Error::Exists { .. })));
        let file = in_folder(&target, FORCE).unwrap();
        fs::write(file.path(), "file").unwrap();
        file.commit(None).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "file");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn other_folders_are_never_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("x");
        fs::create_dir(&target).unwrap();
        assert!(matches!(in_folder(&target, FORCE), Err(Error::NotRegular { .. })));
    }

    #[test]
    fn folder_created_meanwhile_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("x");
        let (file, folder) =
            (in_folder(&target, CAREFUL).unwrap(), in_folder(&target, CAREFUL).unwrap());
        fs::write(file.path(), "ours").unwrap();
        sparse(folder.path(), "ours");
        fs::write(&target, "theirs").unwrap();
        assert!(matches!(file.commit(None), Err(Error::Exists { .. })));
        assert!(matches!(folder.commit(None), Err(Error::Exists { .. })));
        assert_eq!(fs::read_to_string(&target).unwrap(), "theirs");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}

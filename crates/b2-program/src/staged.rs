//! Outputs that appear whole or not at all: targets that they may replace, and their names in
//! errors.
//!
//! [`blosc_io::replace`] makes, renames and sweeps them. An output written by handle grows in a
//! file beside its target. Directories, and outputs written by path, grow in a folder there; an
//! output for a stream grows in a temporary folder of the system.

use core::marker::PhantomData;
use std::{
    env,
    ffi::OsStr,
    fs::{self, File, Metadata},
    io,
    path::{Path, PathBuf},
};

use blosc_io::{
    Durability,
    replace::{Carry, ReplaceOptions, Replacement, Temporary, Unfinished, directory_of},
};

use crate::{
    Doing, Error, Program,
    error::{FileKind, irregular},
    escape::path_text,
};

/// How an output replaces its target.
#[derive(Clone, Copy, Debug, Default)]
pub struct StageOptions {
    /// Replace an existing file; follow a link.
    pub force: bool,
    /// Wait for the disk.
    pub sync: bool,
}

impl StageOptions {
    fn of_replacement<P: Program>(self, unfinished: &Unfinished) -> ReplaceOptions {
        ReplaceOptions {
            replaces: self.force,
            replaces_folder: P::is_object,
            durability: if self.sync { Durability::PowerLoss } else { Durability::ProcessDeath },
            unfinished: unfinished.clone(),
        }
    }
}

/// An output that is not complete.
#[derive(Debug)]
pub struct Staged<P> {
    output: Output,
    program: PhantomData<P>,
}

#[derive(Debug)]
enum Output {
    /// Beside its target.
    Beside(Replacement),
    /// In a folder, to be copied to a stream.
    Spooled { path: PathBuf, _folder: Temporary },
}

impl<P: Program> Staged<P> {
    /// Creates a file that will be renamed to `target`; its [`handle`](Self::handle) writes it.
    ///
    /// # Errors
    ///
    /// When `target` must not be replaced, or no file can be made beside it.
    pub fn create(
        target: &Path,
        options: StageOptions,
        unfinished: &Unfinished,
    ) -> Result<Self, P::Error> {
        let target = check_target(target, options)?;
        let made = Replacement::file(&target, options.of_replacement::<P>(unfinished));
        Ok(made.map(Self::beside).map_err(not_beside(&target))?)
    }

    /// Reserves the [`path`](Self::path) of a file or directory that will be renamed to `target`.
    /// Nothing is at the path yet.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn in_folder(
        target: &Path,
        options: StageOptions,
        unfinished: &Unfinished,
    ) -> Result<Self, P::Error> {
        let target = match irregular(target) {
            Ok(Some(FileKind::Directory)) if P::is_object(target) => {
                if !options.force {
                    return Err(Error::Exists { path: target.to_owned() }.into());
                }
                target.to_owned()
            }
            _ => check_target(target, options)?,
        };
        let made = Replacement::folder(&target, options.of_replacement::<P>(unfinished));
        Ok(made.map(Self::beside).map_err(not_beside(&target))?)
    }

    fn beside(new: Replacement) -> Self {
        Self { output: Output::Beside(new), program: PhantomData }
    }

    /// Reserves the path of an output that will be copied to a stream.
    ///
    /// # Errors
    ///
    /// When the system cannot create it.
    pub fn for_stream(unfinished: &Unfinished) -> Result<Self, P::Error> {
        let folder = Temporary::folder(&env::temp_dir(), OsStr::new("output"), unfinished);
        let folder = folder.map_err(Error::io(Doing::Spool))?;
        let output = Output::Spooled { path: folder.path().join("output"), _folder: folder };
        Ok(Self { output, program: PhantomData })
    }

    /// The path to write to.
    pub fn path(&self) -> &Path {
        match &self.output {
            Output::Beside(new) => new.path(),
            Output::Spooled { path, .. } => path,
        }
    }

    /// The name of the output in messages.
    pub fn target(&self) -> &Path {
        match &self.output {
            Output::Beside(new) => new.target(),
            Output::Spooled { .. } => Path::new("standard output"),
        }
    }

    /// Another handle of the file, with a position of its own if opened again by the caller.
    ///
    /// # Errors
    ///
    /// When the system is out of handles.
    pub fn handle(&self) -> Result<File, P::Error> {
        let handle = match &self.output {
            Output::Beside(new) => new.handle(),
            Output::Spooled { .. } => Err(io::ErrorKind::NotFound.into()),
        };
        Ok(handle.map_err(Error::io_at(Doing::Create, self.target()))?)
    }

    /// Waits until the content is on the disk, unless the options say otherwise.
    ///
    /// # Errors
    ///
    /// When the disk refuses.
    pub fn sync(&self) -> Result<(), P::Error> {
        let Output::Beside(new) = &self.output else { return Ok(()) };
        Ok(new.sync().map_err(Error::io_at(Doing::Sync, new.target()))?)
    }

    /// Gives the output mode and times of `source`, syncs it and renames it to its target.
    ///
    /// # Errors
    ///
    /// When the system refuses, or something else has appeared at the target. The output is then
    /// removed.
    pub fn commit(self, source: Option<&Metadata>) -> Result<(), P::Error> {
        self.finish(source.map_or(Carry::Target, Carry::All))
    }

    /// As [`commit`](Self::commit), with the owner and mode of `source` but not its times: for an
    /// output with other content.
    ///
    /// # Errors
    ///
    /// As `commit`.
    pub fn commit_with_mode(self, source: Option<&Metadata>) -> Result<(), P::Error> {
        self.finish(source.map_or(Carry::Target, Carry::Mode))
    }

    fn finish(mut self, carry: Carry<'_>) -> Result<(), P::Error> {
        self.carry(carry)?;
        self.sync()?;
        self.put_in_place()?;
        self.sync_name()
    }

    /// Sets the owner, mode and times of the output.
    pub(crate) fn carry(&self, carry: Carry<'_>) -> Result<(), P::Error> {
        let Output::Beside(new) = &self.output else { return Ok(()) };
        Ok(new.carry(carry).map_err(Error::io_at(Doing::Write, new.target()))?)
    }

    /// The file, if the output is one.
    pub(crate) fn as_file(&self) -> Option<&File> {
        let Output::Beside(new) = &self.output else { return None };
        new.as_file()
    }

    /// Whether the output must be synced.
    pub(crate) fn needs_sync(&self) -> bool {
        matches!(&self.output, Output::Beside(new) if new.needs_sync())
    }

    /// Bytes of a file; 0 for a folder.
    pub(crate) fn len(&self) -> u64 {
        self.as_file().and_then(|file| file.metadata().ok()).map_or(0, |found| found.len())
    }

    /// Renames the output to its target.
    pub(crate) fn put_in_place(&mut self) -> Result<(), P::Error> {
        let Output::Beside(new) = &mut self.output else { return Ok(()) };
        let put = new.put_in_place();
        let path = || new.target().to_owned();
        Ok(put.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Error::Exists { path: path() },
            io::ErrorKind::IsADirectory => {
                Error::NotRegular { path: path(), kind: FileKind::Directory }
            }
            _ => Error::io_at(Doing::Rename, new.target())(error),
        })?)
    }

    /// Syncs the folder that holds the output's name.
    pub(crate) fn sync_name(&self) -> Result<(), P::Error> {
        let Output::Beside(new) = &self.output else { return Ok(()) };
        Ok(new.sync_name().map_err(Error::io_at(Doing::SyncDirectory, new.target()))?)
    }
}

/// The path to write to: `target`, or the file that it links to if links are followed.
fn check_target(target: &Path, options: StageOptions) -> Result<PathBuf, Error> {
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

/// The error of creating a file beside the target; often its folder is missing.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[derive(Debug)]
    struct Tool;

    impl Program for Tool {
        type Error = Error;

        fn is_object(folder: &Path) -> bool {
            folder.join(INDEX_FILE).exists()
        }
    }

    type Staged = super::Staged<Tool>;

    const INDEX_FILE: &str = "index";

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

    fn in_folder(target: &Path, options: StageOptions) -> Result<Staged, Error> {
        Staged::in_folder(target, options, &Unfinished::default())
    }

    fn sparse(path: &Path, content: &str) {
        fs::create_dir(path).unwrap();
        fs::write(path.join(INDEX_FILE), content).unwrap();
    }

    #[test]
    fn a_folder_appears_on_commit_and_replaces_one_of_its_kind() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("x");
        for content in ["first", "second"] {
            let staged = in_folder(&target, FORCE).unwrap();
            sparse(staged.path(), content);
            staged.commit(None).unwrap();
            assert_eq!(fs::read_to_string(target.join(INDEX_FILE)).unwrap(), content);
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

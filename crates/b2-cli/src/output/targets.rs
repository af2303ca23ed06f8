//! The target and the name of the output of each input.
//!
//! The rule for all commands: `-c` and `-o -` mean standard output. `-o FILE` means a file, `-o
//! DIR` and `--output-dir DIR` a file in that directory. Without an option, the output is a file
//! beside the input, or standard output for standard input. The name is that of the input with its
//! suffix added or removed.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    fs, io,
    path::{Path, PathBuf},
};

use b2_program::{
    StageOptions,
    path::{is_pipe_of_shell, is_same_file, is_stdout},
};
use blosc_io::replace::carry_to_folder;

use crate::{
    args::{OutputArgs, convert::FORMATS},
    error::{Doing, Error, FileKind, Result, irregular, message},
    inputs::{OpenedInput, Origin, origin},
};

/// The suffix of contiguous frames.
pub(crate) const SUFFIX: &str = ".b2frame";
/// The suffix of contiguous frames that hold an array.
pub(crate) const ARRAY_SUFFIX: &str = ".b2nd";
/// The suffix of bare chunks.
pub(crate) const CHUNK_SUFFIX: &str = ".chunk";
/// The suffix of NumPy's arrays.
pub(crate) const NPY_SUFFIX: &str = ".npy";
/// The suffix of Bloscpack files.
pub(crate) const BLP_SUFFIX: &str = ".blp";
/// The suffix of data sets of bcolz, which need no suffix.
pub(crate) const BCOLZ_SUFFIX: &str = ".bcolz";
/// Suffixes of files and directories that hold frames, chunks or data sets.
pub(crate) const FRAME_SUFFIXES: [&str; 9] = [
    SUFFIX,
    ARRAY_SUFFIX,
    CHUNK_SUFFIX,
    BLP_SUFFIX,
    BCOLZ_SUFFIX,
    ".sframe",
    ".b2z",
    ".b2d",
    ".b2e",
];
/// Suffixes of other formats: a frame must not have such a name.
pub(crate) const OTHER_SUFFIXES: [&str; 15] = [
    ".npy", ".npz", ".csv", ".parquet", ".arrow", ".raw", ".zst", ".gz", ".xz", ".bz2", ".zip",
    ".h5", ".hdf5", ".nc", ".zarr",
];
/// Suffixes that restoring removes.
pub(crate) const SUFFIXES: [&str; 5] =
    [SUFFIX, ARRAY_SUFFIX, CHUNK_SUFFIX, BLP_SUFFIX, BCOLZ_SUFFIX];

/// The target of one output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Standard output.
    Stdout,
    /// A regular file, existing or new.
    File(PathBuf),
    /// A device or a pipe that `-f` allowed: written from front to back, in place.
    Device(PathBuf),
}

/// The change of name from input to output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// Adds this suffix.
    Add(&'static str),
    /// Removes the suffix.
    Strip,
    /// Replaces the suffix by `.npy`.
    Npy,
    /// Replaces the suffix, if there is one, by this one.
    Replace(&'static str),
    /// Keeps the name.
    Keep,
}

/// Chooses targets, and refuses one that two inputs share.
#[derive(Debug)]
pub(crate) struct Targets<'a> {
    pub(crate) args: &'a OutputArgs,
    /// The walked folders, whose trees `--output-dir` mirrors.
    roots: Vec<PathBuf>,
    taken: BTreeSet<PathBuf>,
    /// The folders that were made, each with the folder that it mirrors.
    made: Vec<(PathBuf, PathBuf)>,
}

impl<'a> Targets<'a> {
    /// Targets for `ninputs` inputs.
    ///
    /// # Errors
    ///
    /// When several inputs have one output file.
    pub(crate) fn new(args: &'a OutputArgs, ninputs: usize, roots: Vec<PathBuf>) -> Result<Self> {
        let one = args
            .output
            .as_deref()
            .is_some_and(|output| output != Path::new("-") && !is_directory(output));
        if one && ninputs > 1 {
            return Err(Error::OneForMany { inputs: ninputs });
        }
        Ok(Self { args, roots, taken: BTreeSet::new(), made: vec![] })
    }

    /// The target for the output of `origin`, named after it.
    ///
    /// # Errors
    ///
    /// When no name can be made; when the target is the input, the target of another input, or
    /// needs `-f`.
    pub(crate) fn next(&mut self, origin: &Origin, naming: Naming) -> Result<Target> {
        let Some(path) = self.path(origin, naming)?.filter(|path| !is_stdout(path)) else {
            return Ok(Target::Stdout);
        };
        let is_there = path.symlink_metadata().is_ok();
        if is_there && origin.path().is_some_and(|input| is_same_file(input, &path)) {
            return Err(Error::Same { path });
        }
        if !self.taken.insert(path.clone()) {
            return Err(Error::Twice { path });
        }
        if is_there { classify(path, self.args.force) } else { Ok(Target::File(path)) }
    }

    /// The output path; `None` is standard output.
    fn path(&mut self, origin: &Origin, naming: Naming) -> Result<Option<PathBuf>> {
        let stdout = self.args.stdout || self.args.output.as_deref() == Some(Path::new("-"));
        if stdout {
            return Ok(None);
        }
        if let Some(directory) = &self.args.output_dir {
            self.make_top(directory)?;
            let directory = self.mirrored(directory, origin)?;
            return Ok(Some(directory.join(self.name(origin, naming)?)));
        }
        match (&self.args.output, origin) {
            (Some(output), _) if is_directory(output) => {
                Ok(Some(output.join(self.name(origin, naming)?)))
            }
            (Some(output), _) => Ok(Some(output.clone())),
            (None, Origin::Stdin) => Ok(None),
            (None, Origin::File { path, .. }) if path.word().is_some() => Ok(None),
            // Nothing can be written beside an address.
            (None, Origin::Opened(_)) => Ok(Some(self.name(origin, naming)?.into())),
            (None, Origin::File { path, .. }) => {
                Ok(Some(path.with_file_name(self.name(origin, naming)?)))
            }
        }
    }

    /// Makes `--output-dir`, which mirrors the walked folder. Of several folders it gets the
    /// permissions of the one that the fewest may read.
    fn make_top(&mut self, directory: &Path) -> Result<()> {
        let made =
            |folder: &Path| fs::create_dir_all(folder).map_err(Error::io_at(Doing::Create, folder));
        match self.roots.iter().min_by_key(|root| readers(root)).cloned() {
            Some(root) if !directory.exists() => {
                directory.parent().map_or(Ok(()), made)?;
                self.make_folder(directory, &root)
            }
            _ => made(directory),
        }
    }

    /// The folder below `directory` that mirrors the input's folder.
    fn mirrored(&mut self, directory: &Path, origin: &Origin) -> Result<PathBuf> {
        let below = self.folder_below_root(origin);
        let mut place = directory.to_owned();
        let parent = origin.path().and_then(Path::parent).unwrap_or(Path::new(""));
        let mut sources: Vec<_> = parent.ancestors().take(below.iter().count()).collect();
        for name in below {
            place.push(name);
            if let Some(source) = sources.pop() {
                self.make_folder(&place, source)?;
            }
        }
        Ok(place)
    }

    /// Makes the folder `place`, a mirror of `source`, whose mode and times it gets at the end.
    ///
    /// # Errors
    ///
    /// When it cannot be made. An existing folder stays unchanged.
    pub(crate) fn make_folder(&mut self, place: &Path, source: &Path) -> Result<()> {
        let mode = || fs::set_permissions(place, writable(fs::metadata(source)?.permissions()));
        match fs::create_dir(place) {
            Ok(()) => {
                mode().map_err(Error::io_at(Doing::Create, place))?;
                self.made.push((place.to_owned(), source.to_owned()));
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && place.is_dir() => Ok(()),
            Err(error) => Err(Error::io_at(Doing::Create, place)(error)),
        }
    }

    /// Gives the new folders the mode and times of those that they mirror. Nothing may be written
    /// there later.
    ///
    /// # Errors
    ///
    /// When the system refuses.
    pub(crate) fn finish(self) -> Result<()> {
        for (place, source) in self.made.iter().rev() {
            // --rm may have removed the input.
            let Ok(metadata) = fs::metadata(source) else { continue };
            carry_to_folder(&metadata, place).map_err(Error::io_at(Doing::Write, place))?;
        }
        Ok(())
    }

    /// The path of an input's folder below the walked folder.
    fn folder_below_root<'p>(&self, origin: &'p Origin) -> &'p Path {
        let folder = origin.path().and_then(Path::parent);
        let below = |root: &PathBuf| folder.and_then(|folder| folder.strip_prefix(root).ok());
        self.roots
            .iter()
            .filter_map(below)
            .min_by_key(|path| path.as_os_str().len())
            .unwrap_or(Path::new(""))
    }

    /// The output's name without directories.
    fn name(&self, origin: &Origin, naming: Naming) -> Result<OsString> {
        let name = match origin {
            Origin::File { part: origin::Part::Member(key), .. } => {
                OsStr::new(key.rsplit('/').next().unwrap_or(key))
            }
            Origin::Opened(OpenedInput { name, .. }) if name == "-" => OsStr::new(STDIN),
            Origin::Opened(OpenedInput { name, .. }) => last_name(name),
            Origin::Stdin => OsStr::new(STDIN),
            Origin::File { path, .. } => match path.word().unwrap_or(path) {
                word if word == Path::new("-") => OsStr::new(STDIN),
                word => word.file_name().unwrap_or(OsStr::new(STDIN)),
            },
        };
        match naming {
            Naming::Add(suffix) => {
                let mut name = name.to_owned();
                name.push(self.args.suffix.as_deref().unwrap_or(suffix));
                Ok(name)
            }
            Naming::Replace(suffix) => {
                let mut name = strip(name, None).unwrap_or_else(|_| name.to_owned());
                name.push(self.args.suffix.as_deref().unwrap_or(suffix));
                Ok(name)
            }
            Naming::Keep => Ok(name.to_owned()),
            Naming::Strip => strip(name, self.args.suffix.as_deref()),
            Naming::Npy => {
                let mut name = strip(name, self.args.suffix.as_deref())?;
                if !is_npy(Path::new(&name)) {
                    name.push(NPY_SUFFIX);
                }
                Ok(name)
            }
        }
    }
}

impl From<&OutputArgs> for StageOptions {
    fn from(args: &OutputArgs) -> Self {
        Self { force: args.force, sync: !args.no_sync }
    }
}

/// The permissions, and all of them for the owner, who must write there.
fn writable(permissions: fs::Permissions) -> fs::Permissions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        PermissionsExt::from_mode(permissions.mode() | 0o700)
    }
    #[cfg(not(unix))]
    permissions
}

/// The permissions of group and others on a folder; all if they are unknown.
fn readers(folder: &Path) -> u32 {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::metadata(folder).map_or(u32::MAX, |it| (it.permissions().mode() & 0o077).count_ones())
    }
    #[cfg(not(unix))]
    u32::from(!folder.is_dir())
}

/// Whether the name ends in `.npy`.
pub(crate) fn is_npy(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(NPY_SUFFIX.as_bytes())
}

/// `name` without its suffix.
/// The last part of the name of something that is no file: `cube` of `x.h5::/a/cube`.
pub(crate) fn last_name(name: &str) -> &OsStr {
    let name = name.trim_end_matches(['/', ':']);
    let last = name.rsplit('/').next().unwrap_or(name);
    OsStr::new(last.split(['?', '#']).next().unwrap_or(last))
}

fn strip(name: &OsStr, suffix: Option<&str>) -> Result<OsString> {
    let suffixes = match suffix {
        Some(suffix) => vec![suffix],
        None => SUFFIXES.to_vec(),
    };
    let bytes = name.as_encoded_bytes();
    let stem = suffixes
        .iter()
        .find_map(|suffix| bytes.strip_suffix(suffix.as_bytes()))
        .filter(|stem| !stem.is_empty());
    let lost = || message::NO_SUFFIX.about(either(&suffixes));
    // The suffix is text, so that the cut never divides a character.
    let stem =
        stem.and_then(|stem| name.to_str().map(|text| &text[..stem.len()])).map(OsString::from);
    stem.or_else(|| stem_of_bytes(name, &suffixes)).ok_or_else(lost)
}

/// `.a`, `.a or .b`, `.a, .b or .c`.
fn either(suffixes: &[&str]) -> String {
    match suffixes {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => suffixes.concat(),
    }
}

/// The stem of a name that is not UTF-8 (on Unix).
#[cfg(unix)]
fn stem_of_bytes(name: &OsStr, suffixes: &[&str]) -> Option<OsString> {
    use std::os::unix::ffi::OsStrExt;
    let stem =
        suffixes.iter().find_map(|suffix| name.as_bytes().strip_suffix(suffix.as_bytes()))?;
    (!stem.is_empty()).then(|| OsStr::from_bytes(stem).to_owned())
}

#[cfg(not(unix))]
fn stem_of_bytes(_: &OsStr, _: &[&str]) -> Option<OsString> {
    None
}

/// Whether an output names a directory: an existing one that is not an object, or a name that ends
/// like one.
fn is_directory(path: &Path) -> bool {
    let looks_like_one = path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/");
    looks_like_one && !origin::is_object(path)
}

/// The kind of a target: devices and pipes are written in place, and
/// [`Staged`](crate::output::Staged) checks all other paths.
fn classify(path: PathBuf, force: bool) -> Result<Target> {
    if is_pipe_of_shell(&path) {
        return Ok(Target::Device(path));
    }
    match irregular(&path) {
        Ok(Some(kind @ (FileKind::Device | FileKind::Pipe))) if !force => {
            Err(Error::NotRegular { path, kind })
        }
        Ok(Some(FileKind::Device | FileKind::Pipe)) => Ok(Target::Device(path)),
        _ => Ok(Target::File(path)),
    }
}

/// Refuses a file of frames with the suffix of another format.
///
/// # Errors
///
/// The refusal.
pub(crate) fn check_frame_name(target: &Target) -> Result<()> {
    let Some(path) = target.path() else { return Ok(()) };
    let name = path.as_os_str().as_encoded_bytes();
    match OTHER_SUFFIXES.iter().any(|suffix| name.ends_with(suffix.as_bytes())) {
        true if FORMATS.iter().any(|it| name.ends_with(it.0.suffix().as_bytes())) => {
            Err(message::NAME_OF_ANOTHER_FORMAT.of_file(path))
        }
        true => Err(message::NAME_OF_FOREIGN_FORMAT.of_file(path)),
        false => Ok(()),
    }
}

/// The name of standard input in names of outputs.
const STDIN: &str = "stdin";

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> Origin {
        Origin::File { path: path.into(), part: origin::Part::Whole }
    }

    fn target(args: &OutputArgs, naming: Naming, origin: &Origin) -> Result<Target> {
        Targets::new(args, 1, vec![])?.next(origin, naming)
    }

    #[test]
    fn names_are_made_beside_the_input() {
        let args = OutputArgs::default();
        assert_eq!(
            target(&args, Naming::Add(SUFFIX), &file("d/x.f32")).unwrap(),
            Target::File("d/x.f32.b2frame".into())
        );
        assert_eq!(
            target(&args, Naming::Strip, &file("d/x.f32.b2frame")).unwrap(),
            Target::File("d/x.f32".into())
        );
        assert_eq!(
            target(&args, Naming::Npy, &file("x.npy.b2nd")).unwrap(),
            Target::File("x.npy".into())
        );
        assert_eq!(
            target(&args, Naming::Npy, &file("x.b2nd")).unwrap(),
            Target::File("x.npy".into())
        );
        let replace = Naming::Replace(".blp");
        assert_eq!(
            target(&args, replace, &file("x.f32.b2frame")).unwrap(),
            Target::File("x.f32.blp".into())
        );
        assert_eq!(
            target(&args, replace, &file("x.old")).unwrap(),
            Target::File("x.old.blp".into())
        );
        assert_eq!(
            target(&args, Naming::Strip, &file("x.chunk")).unwrap(),
            Target::File("x".into())
        );
        assert_eq!(
            target(&args, Naming::Strip, &file("x.b2nd")).unwrap(),
            Target::File("x".into())
        );
        assert_eq!(target(&args, Naming::Add(SUFFIX), &Origin::Stdin).unwrap(), Target::Stdout);
    }

    #[test]
    fn a_name_without_suffix_gives_no_name() {
        for name in ["x", "x.b2frame.old", ".b2frame"] {
            let refused = target(&OutputArgs::default(), Naming::Strip, &file(name));
            assert!(
                matches!(refused, Err(Error::Message { message: message::NO_SUFFIX, .. })),
                "{name}"
            );
        }
        let args = OutputArgs { suffix: Some(".b2".into()), ..OutputArgs::default() };
        assert_eq!(target(&args, Naming::Strip, &file("x.b2")).unwrap(), Target::File("x".into()));
        assert!(matches!(
            target(&args, Naming::Strip, &file("x.b2frame")),
            Err(Error::Message { message: message::NO_SUFFIX, .. })
        ));
    }

    #[test]
    fn one_file_does_not_take_many_inputs() {
        let args =
            OutputArgs { output: Some("no-such-directory/out".into()), ..OutputArgs::default() };
        let refused = Targets::new(&args, 2, vec![]);
        assert!(matches!(refused, Err(Error::OneForMany { inputs: 2 })));
    }

    #[test]
    fn two_inputs_do_not_share_an_output() {
        let dir = tempfile::tempdir().unwrap();
        let args = OutputArgs { output_dir: Some(dir.path().join("new")), ..OutputArgs::default() };
        let mut targets = Targets::new(&args, 2, vec![]).unwrap();
        assert_eq!(
            targets.next(&file("a/x"), Naming::Add(SUFFIX)).unwrap(),
            Target::File(dir.path().join("new/x.b2frame"))
        );
        assert!(matches!(
            targets.next(&file("b/x"), Naming::Add(SUFFIX)),
            Err(Error::Twice { .. })
        ));
    }

    #[test]
    fn the_input_is_never_the_output() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        fs::write(&path, b"data").unwrap();
        let args = OutputArgs { output: Some(path.clone()), force: true, ..OutputArgs::default() };
        let origin = Origin::File { path: path.into(), part: origin::Part::Whole };
        assert!(matches!(target(&args, Naming::Add(SUFFIX), &origin), Err(Error::Same { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn devices_need_force() {
        let mut args = OutputArgs { output: Some("/dev/null".into()), ..OutputArgs::default() };
        assert!(matches!(
            target(&args, Naming::Add(SUFFIX), &file("x")),
            Err(Error::NotRegular { .. })
        ));
        args.force = true;
        assert_eq!(
            target(&args, Naming::Add(SUFFIX), &file("x")).unwrap(),
            Target::Device("/dev/null".into())
        );
    }

    #[cfg(unix)]
    #[test]
    fn names_that_are_not_text_keep_their_bytes() {
        use std::os::unix::ffi::OsStrExt;
        let name = OsStr::from_bytes(b"\xff.b2frame");
        assert_eq!(strip(name, None).unwrap().as_bytes(), b"\xff");
    }
}

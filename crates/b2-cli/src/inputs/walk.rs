//! Walks folders with `-r`: the files that a command takes, and those that it leaves out, with
//! reasons.
//!
//! A [`Choice`] decides for each file. Files that it leaves out are kept in [`Inputs::left_out`];
//! the driver of all commands reports or copies them.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use blosc_dtype::text::natural_order;
use blosc_io::replace::is_leftover;

use crate::{
    error::{Doing, Error, FileKind, irregular},
    exit::Code,
    inputs::{
        Origin, Part, Place,
        origin::{self, Found},
    },
    output::targets::FRAME_SUFFIXES,
    render::{path_text, size},
};
use blosc_data::Format;

/// Decides whether a command takes a file of a folder: `None` if it does, else the reason.
pub(crate) type Choice<'a> = &'a dyn Fn(&Place) -> Option<Reason>;

/// The reason why an entry of a folder was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reason {
    /// A compressed object, for a command that takes uncompressed data.
    Compressed,
    /// Named like a frame or a chunk, without being one.
    CalledCompressed,
    /// Compressed, without the name of a compressed file.
    OtherName,
    /// In a format that the command does not take.
    OtherFormat,
    /// A file that `compress` copied unchanged.
    Copied,
    Link,
    Pipe,
    Socket,
    Device,
    EmptyFolder,
    /// A folder that is not walked.
    Folder,
    /// The temporary file of a run, which may have been killed.
    Unfinished,
    /// The list of copied files.
    List,
}

impl Reason {
    /// The word for programs.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Compressed => "compressed",
            Self::CalledCompressed => "called-compressed",
            Self::OtherName => "other-name",
            Self::OtherFormat => "other-format",
            Self::Copied => "copied",
            Self::Link => "link",
            Self::Pipe => "pipe",
            Self::Socket => "socket",
            Self::Device => "device",
            Self::EmptyFolder => "empty-folder",
            Self::Folder => "folder",
            Self::Unfinished => "unfinished",
            Self::List => "list",
        }
    }

    /// The text for people, with the number.
    pub(crate) fn text(self, n: u64) -> String {
        let adjective = match self {
            Self::Compressed => "compressed already",
            Self::CalledCompressed => "named like a frame or a chunk but none",
            Self::OtherName => "compressed but not named so",
            Self::OtherFormat => "of other formats",
            Self::Copied => "copied along by compress",
            Self::Unfinished => "unfinished",
            Self::Link => return size::counted(n, "symbolic link"),
            Self::Pipe => return size::counted(n, "pipe"),
            Self::Socket => return size::counted(n, "socket"),
            Self::Device => return size::counted(n, "device"),
            Self::EmptyFolder => return size::counted(n, "empty folder"),
            Self::Folder => return size::counted(n, "folder"),
            Self::List => return size::counted(n, "list of copies"),
        };
        format!("{} {adjective}", size::count(n))
    }

    /// Whether the output of the folder may lack data because of it.
    pub(crate) fn is_loss(self) -> bool {
        !matches!(self, Self::EmptyFolder | Self::Unfinished | Self::List)
    }
}

impl From<FileKind> for Reason {
    fn from(kind: FileKind) -> Self {
        match kind {
            FileKind::Link => Self::Link,
            FileKind::Directory => Self::EmptyFolder,
            FileKind::Device => Self::Device,
            FileKind::Pipe => Self::Pipe,
            FileKind::Socket => Self::Socket,
        }
    }
}

/// An entry of a folder that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LeftOut {
    pub(crate) path: PathBuf,
    pub(crate) reason: Reason,
}

/// The inputs of a command.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    /// The inputs that the command takes.
    pub(crate) found: Vec<Found>,
    /// Entries of the folders that it leaves out.
    pub(crate) left_out: Vec<LeftOut>,
    /// The walked folders.
    pub(crate) roots: Vec<PathBuf>,
}

impl From<Vec<Found>> for Inputs {
    fn from(found: Vec<Found>) -> Self {
        Self { found, ..Self::default() }
    }
}

impl Inputs {
    /// The number of inputs that are taken.
    pub(crate) fn len(&self) -> usize {
        self.found.len()
    }

    /// Keeps the entries left out for these reasons, for the report.
    pub(crate) fn tell_only(&mut self, is_told: impl Fn(Reason) -> bool) {
        self.left_out.retain(|item| item.reason != Reason::List && is_told(item.reason));
    }

    /// Whether folders were walked, and nothing in them was taken.
    pub(crate) fn is_nothing(&self) -> bool {
        self.found.is_empty() && !self.roots.is_empty()
    }

    /// The inputs with other ones in place of those that are taken.
    pub(crate) fn map(self, with: impl FnOnce(Vec<Found>) -> Vec<Found>) -> Self {
        Self { found: with(self.found), ..self }
    }

    /// Takes files below `root`, or only in it, in the order of their names. Links are not
    /// followed.
    pub(crate) fn walk(&mut self, root: &Path, choice: Choice<'_>, is_deep: bool) {
        self.roots.push(root.to_owned());
        let mut waiting = vec![root.to_owned()];
        while let Some(path) = waiting.pop() {
            let children = match irregular(&path) {
                Ok(_) if path != root && is_leftover(&path) => {
                    self.leave_out(path, Reason::Unfinished);
                    continue;
                }
                Ok(Some(FileKind::Directory)) if path != root && is_whole_folder(&path) => {
                    self.take(path, choice);
                    continue;
                }
                Ok(Some(FileKind::Directory)) if path != root && !is_deep => {
                    self.leave_out(path, Reason::Folder);
                    continue;
                }
                // The user named the root, so that a link there is followed.
                Ok(Some(kind)) if kind == FileKind::Directory || path == root => children(&path),
                Ok(None) => {
                    self.take(path, choice);
                    continue;
                }
                Ok(Some(kind)) => {
                    self.leave_out(path, kind.into());
                    continue;
                }
                Err(error) => Err(error),
            };
            match children {
                Ok(names) if names.is_empty() && path != root => {
                    self.leave_out(path, Reason::EmptyFolder);
                }
                Ok(names) => waiting.extend(names),
                Err(error) => {
                    self.found.push(Err((path_text(&path), Error::io(Doing::Open)(error))));
                }
            }
        }
    }

    fn take(&mut self, path: PathBuf, choice: Choice<'_>) {
        let place = Place::from(path);
        match choice(&place) {
            _ if let Err(error) = place.check() => {
                self.found.push(Err((path_text(&place), Error::io(Doing::Open)(error))));
            }
            None => self.found.push(Ok(Origin::File { path: place, part: Part::Whole })),
            Some(reason) => self.leave_out(place.to_path_buf(), reason),
        }
    }

    fn leave_out(&mut self, path: PathBuf, reason: Reason) {
        self.left_out.push(LeftOut { path, reason });
    }
}

/// The exit code of a command that takes a folder as a whole and lacks these entries.
pub(crate) fn code_of_loss(items: &[LeftOut]) -> Code {
    match items.iter().any(|item| item.reason.is_loss()) {
        true => Code::Foreign,
        false => Code::Success,
    }
}

/// Whether a folder is one object. An unreadable folder counts as one: the command that takes it
/// reports the error.
fn is_whole_folder(path: &Path) -> bool {
    let place = Place::from(path);
    place.is_whole_folder() || place.check().is_err()
}

/// The entries of a directory in reverse order of names; numbers in names count by value.
fn children(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths =
        fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    paths.sort_by(|a, b| natural_order(&name(b), &name(a)).then_with(|| b.cmp(a)));
    Ok(paths)
}

/// Takes everything.
pub(crate) fn all(_: &Place) -> Option<Reason> {
    None
}

/// Takes all files but damaged ones of our formats.
pub(crate) fn not_damaged(path: &Place) -> Option<Reason> {
    is_damaged(path).then_some(Reason::CalledCompressed)
}

/// Takes files that begin or are named like our formats: a crash leaves files without a beginning
/// or an end.
pub(crate) fn ours(path: &Place) -> Option<Reason> {
    let is_one = origin::is_ours(path) || is_called_ours(path) || origin::is_cut_chunk(path);
    if is_one { None } else { Some(other_format(path)) }
}

/// The same, and files of NumPy.
pub(crate) fn ours_or_npy(path: &Place) -> Option<Reason> {
    let is_npy = origin::content_kind(path) == Some(Format::Npy);
    if is_npy { None } else { ours(path) }
}

/// Takes files named like a frame or a chunk, and data sets of bcolz and stores, whose names are
/// free.
pub(crate) fn called_ours(path: &Place) -> Option<Reason> {
    match path {
        _ if origin::has_suffix(path) => None,
        _ if origin::is_ours(path) => Some(Reason::OtherName),
        _ => Some(other_format(path)),
    }
}

/// Takes the output of `compress`: files with such names, unless it copied them unchanged.
pub(crate) fn made_by_compress(path: &Place) -> Option<Reason> {
    called_ours(path).or_else(|| is_listed(path).then_some(Reason::Copied))
}

/// Takes the files that `decompress` leaves.
pub(crate) fn not_called_ours(path: &Place) -> Option<Reason> {
    match origin::has_suffix(path) || path.is_whole_folder() {
        false => None,
        true if origin::is_ours(path) => Some(Reason::Compressed),
        true => Some(Reason::CalledCompressed),
    }
}

/// Whether this is a file named like a frame, a chunk or a store.
pub(crate) fn is_called_ours(path: &Place) -> bool {
    let name = path.as_os_str().as_encoded_bytes();
    path.is_file() && FRAME_SUFFIXES.iter().any(|suffix| name.ends_with(suffix.as_bytes()))
}

/// Whether a file of our formats has lost its beginning or its end: the name is ours and the first
/// bytes are unknown, or it begins like a longer chunk.
pub(crate) fn is_damaged(path: &Place) -> bool {
    if path.is_sparse_frame() {
        return origin::begins_like_nothing(&path.join(origin::INDEX_FILE).into());
    }
    origin::is_cut_chunk(path) || is_called_ours(path) && origin::begins_like_nothing(path)
}

/// Turns the error of a damaged file of ours into damage; errors of unknown formats stay.
pub(crate) fn as_damage(origin: &Origin, error: Error) -> Error {
    match (origin, &error) {
        (
            Origin::File { path, part: Part::Whole },
            Error::NotBlosc { .. } | Error::PerhapsChunk { .. },
        ) if is_damaged(path) => Error::Damaged(error.into()),
        _ => error,
    }
}

/// The list in a folder of files that `compress` copied and `decompress` would take. A NUL ends
/// each name.
pub(crate) const COPIED_LIST: &str = ".b2copied";

fn is_listed(path: &Path) -> bool {
    let (Ok(list), Some(name)) = (fs::read(path.with_file_name(COPIED_LIST)), path.file_name())
    else {
        return false;
    };
    list.split(|byte| *byte == 0).any(|listed| listed == name.as_encoded_bytes())
}

fn other_format(path: &Path) -> Reason {
    let is_list = path.file_name().is_some_and(|name| name == COPIED_LIST);
    if is_list { Reason::List } else { Reason::OtherFormat }
}

//! Errors of the system, in words that follow `PROGRAM: FILE:`.

use core::error::Error as StdError;
use std::{
    io,
    path::{Path, PathBuf},
};

/// The reason why an output or a stream failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An error of the system.
    #[error("{doing}")]
    Io {
        /// The operation.
        doing: Doing,
        /// The file, unless it is the input.
        path: Option<PathBuf>,
        /// The error of the system.
        source: io::Error,
    },
    /// The output exists already.
    #[error("file exists")]
    Exists {
        /// The output.
        path: PathBuf,
    },
    /// The output is not a regular file, and was not forced.
    #[error("is {kind}")]
    NotRegular {
        /// The output.
        path: PathBuf,
        /// The kind of file that is there.
        kind: FileKind,
    },
    /// The folder of an output is missing.
    #[error("there is no folder {folder}")]
    NoFolder {
        /// The output.
        path: PathBuf,
        /// Its folder as text.
        folder: String,
    },
    /// Binary data for standard output, which is a terminal.
    #[error("refusing to write binary data to a terminal")]
    Terminal,
}

impl Error {
    /// An error of the system while `doing` something.
    pub fn io(doing: Doing) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, path: None, source }
    }

    /// An error of the system while `doing` something with a file other than the input.
    pub fn io_at(doing: Doing, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = Some(path.to_owned());
        move |source| Self::Io { doing, path, source }
    }

    /// The file that the error is about, unless it is the input.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Io { path, .. } => path.as_deref(),
            Self::Exists { path } | Self::NotRegular { path, .. } | Self::NoFolder { path, .. } => {
                Some(path)
            }
            Self::Terminal => None,
        }
    }

    /// Whether the reader of standard output has gone.
    #[must_use]
    pub fn is_closed_pipe(&self) -> bool {
        let Self::Io { doing: Doing::Stdout, source, .. } = self else { return false };
        source.kind() == io::ErrorKind::BrokenPipe
    }
}

/// The operation that the system refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Doing {
    /// Opening a file, or reading its metadata: the system's error says enough.
    #[error("")]
    Open,
    /// Reading a file.
    #[error("reading")]
    Read,
    /// Writing a file.
    #[error("writing")]
    Write,
    /// Writing to standard output.
    #[error("writing to standard output")]
    Stdout,
    /// Waiting for a browser.
    #[error("serving on 127.0.0.1")]
    Serve,
    /// Making a file or a folder.
    #[error("creating the file")]
    Create,
    /// Creating a temporary file or folder in the directory of the target.
    #[error("creating a temporary file beside it")]
    CreateBeside,
    /// Waiting until content is on the disk.
    #[error("syncing to the disk")]
    Sync,
    /// Syncing the directory, after the rename of the output.
    #[error("complete and in place, but syncing its directory to the disk")]
    SyncDirectory,
    /// Renaming the output.
    #[error("renaming into place")]
    Rename,
    /// Removing a file.
    #[error("removing")]
    Remove,
    /// Copying an input or an output to a temporary folder.
    #[error("keeping the input in a temporary file in {}", std::env::temp_dir().display())]
    Spool,
    /// Catching signals.
    #[error("waiting for signals")]
    Signals,
    /// Starting the editor of the user.
    #[error("starting the editor")]
    Editor,
}

/// A kind of file that needs `-f`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileKind {
    /// A symbolic link, also one that leads nowhere.
    #[error("a symbolic link")]
    Link,
    /// A directory.
    #[error("a directory")]
    Directory,
    /// A device of characters or blocks.
    #[error("a device")]
    Device,
    /// A named pipe.
    #[error("a pipe")]
    Pipe,
    /// A socket.
    #[error("a socket")]
    Socket,
}

/// `error` and its causes, as one line: `chunk 7 at byte 1000: at byte 44: bstart 3 points to
/// 9999`.
#[must_use]
pub fn chain(error: &(dyn StdError + 'static)) -> String {
    chain_with(error, |_| None)
}

/// As [`chain`]; `explain` may replace the words of an error.
pub fn chain_with(
    error: &(dyn StdError + 'static),
    explain: impl Fn(&(dyn StdError + 'static)) -> Option<String>,
) -> String {
    let one_link = |error| explain(error).unwrap_or_else(|| without_cause(error));
    let mut line = one_link(error);
    let mut cause = error.source();
    while let Some(error) = cause {
        let link = one_link(error);
        // A transparent error prints the words of its cause, which must not come twice.
        if !line.ends_with(&link) {
            line.extend((!line.is_empty()).then_some(": "));
            line.push_str(&link);
        }
        cause = error.source();
    }
    // Ranges in the spelling of people.
    line.replace("..=", " to ")
}

/// The system's error among the causes, if an output had no room; reading never gives this error.
pub fn no_room(error: &(dyn StdError + 'static)) -> Option<io::Error> {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, ReadOnlyFilesystem, StorageFull, WriteZero};
    let full = [FileTooLarge, QuotaExceeded, ReadOnlyFilesystem, StorageFull, WriteZero];
    let (mut next, mut last) = (Some(error), None::<&io::Error>);
    while let Some(error) = next {
        let said = error.downcast_ref::<io::Error>().filter(|it| full.contains(&it.kind()));
        (next, last) = (error.source(), said.or(last));
    }
    let last = last?;
    Some(last.raw_os_error().map_or_else(|| last.kind().into(), io::Error::from_raw_os_error))
}

/// The words of an error before those of its cause.
fn without_cause(error: &(dyn StdError + 'static)) -> String {
    let text = own_words(error);
    let cause = error.source().map(|cause| format!(": {cause}"));
    match cause.and_then(|cause| text.strip_suffix(&cause).map(str::to_owned)) {
        Some(words) => words,
        None => text,
    }
}

fn own_words(error: &(dyn StdError + 'static)) -> String {
    match error.downcast_ref::<io::Error>() {
        Some(error) => io_text(error),
        None => error.to_string(),
    }
}

/// The system's words, without its number and without a capital in the middle of a line.
fn io_text(error: &io::Error) -> String {
    let is_bare = error.get_ref().is_none() && error.raw_os_error().is_none();
    if is_bare && error.kind() == io::ErrorKind::InvalidInput {
        // A tree of files answers so for a folder, a device, or a link that leads out of it.
        return "no ordinary file".to_owned();
    }
    // The program names the file itself.
    let named = error.get_ref().and_then(|inner| inner.downcast_ref::<blosc_io::OfFile>());
    let text = named.map_or(error, blosc_io::OfFile::system).to_string();
    let text = text.split(" (os error ").next().unwrap_or_default();
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if letters.clone().next().is_some_and(char::is_lowercase) => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}

/// The kind of file at `path`, unless it is regular. Links are not followed.
///
/// # Errors
///
/// When the system refuses, for example since the file is missing.
pub fn irregular(path: &Path) -> io::Result<Option<FileKind>> {
    let kind = path.symlink_metadata()?.file_type();
    if kind.is_file() {
        return Ok(None);
    }
    Ok(Some(if kind.is_symlink() {
        FileKind::Link
    } else if kind.is_dir() {
        FileKind::Directory
    } else {
        special(kind)
    }))
}

#[cfg(unix)]
fn special(kind: std::fs::FileType) -> FileKind {
    use std::os::unix::fs::FileTypeExt;
    if kind.is_fifo() {
        FileKind::Pipe
    } else if kind.is_socket() {
        FileKind::Socket
    } else {
        FileKind::Device
    }
}

#[cfg(not(unix))]
fn special(_: std::fs::FileType) -> FileKind {
    FileKind::Device
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_follow_in_one_line() {
        let missing = |doing| Error::io(doing)(io::ErrorKind::NotFound.into());
        assert_eq!(chain(&missing(Doing::Open)), "entity not found");
        assert_eq!(chain(&missing(Doing::Read)), "reading: entity not found");
        let denied = Error::io(Doing::Read)(io::Error::other("E2BIG 1..=2"));
        assert_eq!(chain(&denied), "reading: E2BIG 1 to 2");
        let explain = |error: &(dyn StdError + 'static)| {
            error.downcast_ref::<io::Error>().map(|_| "no such thing".to_owned())
        };
        assert_eq!(chain_with(&missing(Doing::Read), explain), "reading: no such thing");
    }

    #[test]
    fn only_standard_output_can_be_a_closed_pipe() {
        let broken = |doing| Error::io(doing)(io::ErrorKind::BrokenPipe.into());
        assert!(broken(Doing::Stdout).is_closed_pipe());
        assert!(!broken(Doing::Read).is_closed_pipe());
    }
}

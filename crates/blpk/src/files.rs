//! Input from files and pipes; output that appears whole or not at all.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use b2_program::{StageOptions, path::is_same_file};
use blosc_dtype::json::wide_integer;

use crate::{
    fail::{Failure, Result},
    session::{Session, ThisProgram},
};

/// A writer of bytes to standard output or to a file.
pub(crate) type Sink = b2_program::Sink<ThisProgram>;

/// A file that is being written.
pub(crate) type Staged = b2_program::Staged<ThisProgram>;

/// The suffix of compressed files.
pub(crate) const SUFFIX: &str = ".blp";

/// Whether this is the name of a standard stream.
pub(crate) fn is_stream(path: &Path) -> bool {
    path == Path::new("-")
}

/// `path` with the suffix after it.
pub(crate) fn with_suffix(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(SUFFIX);
    name.into()
}

/// `path` without the suffix, if it has one.
pub(crate) fn without_suffix(path: &Path) -> Option<PathBuf> {
    if path.extension()? != "blp" { None } else { Some(path.with_extension("")) }
}

/// Checks and prints the names of input and output, in the order of Bloscpack 0.16.0.
///
/// # Errors
///
/// The input is missing, or the output exists already.
pub(crate) fn check(session: &Session<'_>, input: &Path, output: &Path) -> Result<()> {
    if !is_stream(input) && !input.exists() {
        return Err(Failure::new(format!("input file '{}' does not exist!", input.display())));
    }
    if is_stream(output) {
        session.log.leave_stdout();
    } else if output.exists() {
        if !session.force {
            return Err(Failure::new(format!("output file '{}' exists!", output.display())));
        }
        if is_same_file(input, output) {
            return Err(Failure::new(format!(
                "output file '{}' is the input file",
                output.display()
            )));
        }
        session.log.verbose(&format!("overwriting existing file: '{}'", output.display()))?;
    }
    session.log.verbose(&format!("input file is: '{}'", input.display()))?;
    session.log.verbose(&format!("output file is: '{}'", output.display()))
}

/// The data to read, and their length, if it is known.
///
/// # Errors
///
/// The file cannot be opened.
pub(crate) fn open(path: &Path) -> Result<(Box<dyn Read + Send>, Option<u64>)> {
    if is_stream(path) {
        return Ok((Box::new(io::stdin()), None));
    }
    let file = File::open(path).map_err(Failure::io(path))?;
    let metadata = file.metadata().map_err(Failure::io(path))?;
    // The length of a pipe or a device is unknown.
    let nbytes = metadata.is_file().then_some(metadata.len());
    Ok((Box::new(file), nbytes))
}

/// The output.
pub(crate) enum Output {
    /// Standard output, written in order.
    Stdout,
    /// A file that is renamed to its name at the end.
    File(Staged),
}

impl Output {
    /// Starts an output.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(crate) fn create(session: &Session<'_>, path: &Path) -> Result<Self> {
        if is_stream(path) {
            return Ok(Self::Stdout);
        }
        let options = StageOptions { force: session.force, sync: true };
        Ok(Self::File(Staged::create(path, options, &session.unfinished)?))
    }

    /// A writer for decompressed bytes; a terminal shows them if they are text.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(crate) fn sink(&self, session: &Session<'_>, path: &Path) -> Result<Sink> {
        match self {
            Self::Stdout => Ok(Sink::stdout_for_text(session.force)),
            Self::File(staged) => Ok(Sink::file(staged.handle()?, path)),
        }
    }

    /// Renames a file to its target, with the mode and times of `source`.
    ///
    /// # Errors
    ///
    /// Renaming fails; the file is removed then.
    pub(crate) fn commit(self, source: &Path) -> Result<()> {
        if let Self::File(staged) = self {
            let metadata = fs::metadata(source).ok().filter(fs::Metadata::is_file);
            staged.commit(metadata.as_ref())?;
        }
        Ok(())
    }
}

/// Metadata from a file; `null` means none.
///
/// # Errors
///
/// The file cannot be read, or is not JSON.
pub(crate) fn metadata(path: Option<&Path>) -> Result<Option<serde_json::Value>> {
    let Some(path) = path else { return Ok(None) };
    let text = fs::read(path).map_err(Failure::io(path))?;
    let value: serde_json::Value = serde_json::from_slice(&text).map_err(|error| {
        Failure::new(format!("metadata file '{}' is not JSON: {error}", path.display()))
    })?;
    if let Some(number) = core::str::from_utf8(&text).ok().and_then(wide_integer) {
        let name = path.display();
        return Err(Failure::new(format!(
            "metadata file '{name}': {number} is an integer of more than 64 bits"
        )));
    }
    Ok(Some(value).filter(|value| !value.is_null()))
}

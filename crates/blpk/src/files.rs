//! Input from files and pipes; output that appears whole or not at all.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use b2_program::{StageOptions, path::is_same_file};

use crate::{
    fail::{Failure, Result},
    session::{Session, ThisProgram},
};

/// Bytes on their way to standard output or to a file.
pub(crate) type Sink = b2_program::Sink<ThisProgram>;

/// A file under way.
pub(crate) type Staged = b2_program::Staged<ThisProgram>;

/// The suffix of compressed files.
pub(crate) const SUFFIX: &str = ".blp";

/// Is this the name of a standard stream?
pub(crate) fn is_stream(path: &Path) -> bool {
    path == Path::new("-")
}

/// `path` with the suffix after it.
pub(crate) fn with_suffix(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(SUFFIX);
    name.into()
}

/// `path` without the suffix, if it has it.
pub(crate) fn without_suffix(path: &Path) -> Option<PathBuf> {
    if path.extension()? != "blp" { None } else { Some(path.with_extension("")) }
}

/// Checks and prints the names of input and output, in the order of Bloscpack 0.16.0.
///
/// # Errors
///
/// When there is no input, or there is an output already.
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

/// Data to read, and how many there are, where that is known.
///
/// # Errors
///
/// When the file cannot be opened.
pub(crate) fn open(path: &Path) -> Result<(Box<dyn Read + Send>, Option<u64>)> {
    if is_stream(path) {
        return Ok((Box::new(io::stdin()), None));
    }
    let file = File::open(path).map_err(Failure::io(path))?;
    let metadata = file.metadata().map_err(Failure::io(path))?;
    // A pipe or a device does not know how long it is.
    let nbytes = metadata.is_file().then_some(metadata.len());
    Ok((Box::new(file), nbytes))
}

/// Where output goes.
pub(crate) enum Output {
    /// Standard output, front to back.
    Stdout,
    /// A file that is renamed into place in the end.
    File(Staged),
}

impl Output {
    /// Starts an output.
    ///
    /// # Errors
    ///
    /// When it cannot be written to.
    pub(crate) fn create(session: &Session<'_>, path: &Path) -> Result<Self> {
        if is_stream(path) {
            return Ok(Self::Stdout);
        }
        let options = StageOptions { force: session.force, sync: true };
        Ok(Self::File(Staged::create(path, options, &session.unfinished)?))
    }

    /// The way to it for decompressed bytes, which a terminal may show if they are text.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub(crate) fn sink(&self, session: &Session<'_>, path: &Path) -> Result<Sink> {
        match self {
            Self::Stdout => Ok(Sink::stdout_for_text(session.force)),
            Self::File(staged) => Ok(Sink::file(staged.handle()?, path)),
        }
    }

    /// Renames a file to its target, with mode and times of `source`.
    ///
    /// # Errors
    ///
    /// When that fails; the file is removed then.
    pub(crate) fn commit(self, source: &Path) -> Result<()> {
        if let Self::File(staged) = self {
            let metadata = fs::metadata(source).ok().filter(fs::Metadata::is_file);
            staged.commit(metadata.as_ref())?;
        }
        Ok(())
    }
}

/// Metadata from a file; `null` is none.
///
/// # Errors
///
/// When the file cannot be read, or is not JSON.
pub(crate) fn metadata(path: Option<&Path>) -> Result<Option<serde_json::Value>> {
    let Some(path) = path else { return Ok(None) };
    let text = fs::read(path).map_err(Failure::io(path))?;
    let value: serde_json::Value = serde_json::from_slice(&text).map_err(|error| {
        Failure::new(format!("metadata file '{}' is not JSON: {error}", path.display()))
    })?;
    Ok(Some(value).filter(|value| !value.is_null()))
}

//! Where decompressed or compressed bytes are written from front to back.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufWriter, IsTerminal, StdoutLock, Write},
    path::{Path, PathBuf},
};

use crate::error::{Doing, Error, Result};

/// A stream of output: standard output, a device, or a staged file.
pub(crate) struct Sink(Out);

enum Out {
    Stdout(BufWriter<StdoutLock<'static>>),
    File { file: BufWriter<File>, path: PathBuf },
}

impl Sink {
    /// Standard output.
    ///
    /// # Errors
    ///
    /// When it is a terminal and nobody said `-f`.
    pub(crate) fn stdout(force: bool) -> Result<Self> {
        let stdout = io::stdout();
        if stdout.is_terminal() && !force {
            return Err(Error::Terminal);
        }
        Ok(Self(Out::Stdout(BufWriter::with_capacity(BUFFER, stdout.lock()))))
    }

    /// A device or pipe, written in place.
    ///
    /// # Errors
    ///
    /// When it cannot be opened.
    pub(crate) fn device(path: &Path) -> Result<Self> {
        let file = OpenOptions::new().write(true).open(path).map_err(Error::io_at(Doing::Open, path))?;
        Ok(Self::file(file, path))
    }

    /// An open file that messages call `path`.
    pub(crate) fn file(file: File, path: &Path) -> Self {
        Self(Out::File { file: BufWriter::with_capacity(BUFFER, file), path: path.to_owned() })
    }

    /// Writes `bytes`.
    ///
    /// # Errors
    ///
    /// When they do not go; [`Error::is_closed_pipe`] when nobody reads them.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let done = match &mut self.0 {
            Out::Stdout(out) => out.write_all(bytes),
            Out::File { file, .. } => file.write_all(bytes),
        };
        done.map_err(|error| self.refused(error))
    }

    /// Writes what is still buffered.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    pub(crate) fn finish(mut self) -> Result<()> {
        let done = match &mut self.0 {
            Out::Stdout(out) => out.flush(),
            Out::File { file, .. } => file.flush(),
        };
        done.map_err(|error| self.refused(error))
    }

    fn refused(&self, error: io::Error) -> Error {
        match &self.0 {
            Out::Stdout(_) => Error::io(Doing::Stdout)(error),
            Out::File { path, .. } => Error::io_at(Doing::Write, path)(error),
        }
    }
}

const BUFFER: usize = 256 << 10;

//! Where decompressed or compressed bytes are written from front to back.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufWriter, IsTerminal, Stdout, Write},
    path::{Path, PathBuf},
};

use crate::error::{Doing, Error, Result, message};

/// A stream of output: standard output, a device, or a staged file.
pub(crate) struct Sink {
    out: Out,
    /// The first bytes must be text: it goes to a terminal.
    text_only: bool,
}

enum Out {
    Stdout(BufWriter<Stdout>),
    File { file: BufWriter<File>, path: PathBuf },
}

impl Sink {
    /// Standard output for frames.
    ///
    /// # Errors
    ///
    /// When it is a terminal and `-f` was not given.
    pub(crate) fn stdout(force: bool) -> Result<Self> {
        let sink = Self::stdout_for_text(force);
        if sink.text_only { Err(message::TERMINAL.error()) } else { Ok(sink) }
    }

    /// Standard output for content that may be text, which a terminal can show. Whether it is text
    /// is seen when it comes: [`write`](Self::write) refuses the rest.
    pub(crate) fn stdout_for_text(force: bool) -> Self {
        let stdout = io::stdout();
        let text_only = stdout.is_terminal() && !force;
        Self { out: Out::Stdout(BufWriter::with_capacity(BUFFER, stdout)), text_only }
    }

    /// A device or pipe, written in place.
    ///
    /// # Errors
    ///
    /// When it cannot be opened.
    pub(crate) fn device(path: &Path) -> Result<Self> {
        let file =
            OpenOptions::new().write(true).open(path).map_err(Error::io_at(Doing::Open, path))?;
        Ok(Self::file(file, path))
    }

    /// An open file that messages call `path`.
    pub(crate) fn file(file: File, path: &Path) -> Self {
        let out = Out::File { file: BufWriter::with_capacity(BUFFER, file), path: path.to_owned() };
        Self { out, text_only: false }
    }

    /// Writes `bytes`.
    ///
    /// # Errors
    ///
    /// When they do not go; [`Error::is_closed_pipe`] when the reader is gone.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        if self.text_only && !is_text(bytes) {
            return Err(message::TERMINAL.error());
        }
        let done = match &mut self.out {
            Out::Stdout(out) => out.write_all(bytes),
            Out::File { file, .. } => file.write_all(bytes),
        };
        done.map_err(|error| self.refused(error))
    }

    /// Writes the rest of the buffer.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    pub(crate) fn finish(mut self) -> Result<()> {
        let done = match &mut self.out {
            Out::Stdout(out) => out.flush(),
            Out::File { file, .. } => file.flush(),
        };
        done.map_err(|error| self.refused(error))
    }

    fn refused(&self, error: io::Error) -> Error {
        match &self.out {
            Out::Stdout(_) => Error::io(Doing::Stdout)(error),
            Out::File { path, .. } => Error::io_at(Doing::Write, path)(error),
        }
    }
}

/// Would a terminal show this? The first bytes decide: no control characters but those of layout,
/// and UTF-8.
fn is_text(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(1024)];
    let text = match core::str::from_utf8(head) {
        Ok(text) => text,
        // A character that the cut went through.
        Err(error) if error.error_len().is_none() => {
            core::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    !text.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
}

const BUFFER: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_what_a_terminal_shows() {
        assert!(is_text(b"plain\n\ttext\r\n"));
        assert!(is_text("gr\u{fc}n".repeat(500).as_bytes()));
        assert!(is_text(b""));
        assert!(!is_text(b"a\0b"));
        assert!(!is_text(b"\x1b[2J"));
        assert!(!is_text(&[0xff, 0xfe, 0x41]));
    }
}

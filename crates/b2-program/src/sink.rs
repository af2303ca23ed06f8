//! Streams of output, written from front to back.

use core::marker::PhantomData;
use std::{
    fs::{File, OpenOptions},
    io::{self, BufWriter, IsTerminal, Read as _, Write},
    path::{Path, PathBuf},
};

use crate::{Doing, Error, Program, escape::is_harmful};

/// A stream of output: standard output, a device, or a staged file.
pub struct Sink<P> {
    out: BufWriter<Box<dyn Write + Send>>,
    /// The name in messages; `None` for standard output.
    path: Option<PathBuf>,
    /// The check for a terminal, which gets text only.
    text: Option<TextCheck>,
    program: PhantomData<P>,
}

impl<P: Program> Sink<P> {
    /// Standard output for binary data.
    ///
    /// # Errors
    ///
    /// When standard output is a terminal, without `-f`.
    pub fn stdout(force: bool) -> Result<Self, P::Error> {
        let sink = Self::stdout_for_text(force);
        if sink.text.is_some() { Err(Error::Terminal.into()) } else { Ok(sink) }
    }

    /// Standard output for content that may be text for a terminal. [`write`](Self::write) refuses
    /// bytes that are not text.
    pub fn stdout_for_text(force: bool) -> Self {
        let stdout = io::stdout();
        let text = (stdout.is_terminal() && !force).then(TextCheck::default);
        Self { text, ..Self::new(stdout, None) }
    }

    /// A device or pipe, written in place.
    ///
    /// # Errors
    ///
    /// When it cannot be opened.
    pub fn device(path: &Path) -> Result<Self, P::Error> {
        let opened = OpenOptions::new().write(true).open(path);
        let refused = |error| Error::io_at(Doing::Open, path)(error).into();
        opened.map(|file| Self::file(file, path)).map_err(refused)
    }

    /// An open file with the name `path` in messages.
    pub fn file(file: File, path: &Path) -> Self {
        Self::new(file, Some(path.to_owned()))
    }

    fn new(out: impl Write + Send + 'static, path: Option<PathBuf>) -> Self {
        let out: Box<dyn Write + Send> = Box::new(out);
        let out = BufWriter::with_capacity(BUFFER_NBYTES, out);
        Self { out, path, text: None, program: PhantomData }
    }

    /// Writes `bytes`.
    ///
    /// # Errors
    ///
    /// When they cannot be written; [`Error::is_closed_pipe`] when the reader has gone.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), P::Error> {
        if self.text.as_mut().is_some_and(|text| !text.goes_on(bytes)) {
            return Err(Error::Terminal.into());
        }
        self.out.write_all(bytes).map_err(|error| self.refused(error))
    }

    /// Writes the rest of a temporary file, and returns its length in bytes.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write), and when the file cannot be read.
    pub fn write_rest(&mut self, file: &mut File) -> Result<u64, P::Error> {
        let (mut written, mut buffer) = (0, vec![0; 1 << 20]);
        loop {
            let len = file.read(&mut buffer).map_err(Error::io(Doing::Spool))?;
            if len == 0 {
                return Ok(written);
            }
            self.write(&buffer[..len])?;
            written += len as u64;
        }
    }

    /// Whether this is standard output into a regular file.
    pub fn is_regular_file(&self) -> bool {
        #[cfg(unix)]
        if self.path.is_none() {
            use std::os::fd::AsFd;
            let handle = io::stdout().as_fd().try_clone_to_owned().map(File::from);
            return handle
                .and_then(|file| file.metadata())
                .is_ok_and(|metadata| metadata.is_file());
        }
        false
    }

    /// Writes the rest of the buffer.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    pub fn finish(mut self) -> Result<(), P::Error> {
        self.out.flush().map_err(|error| self.refused(error))
    }

    fn refused(&self, error: io::Error) -> P::Error {
        match &self.path {
            None => Error::io(Doing::Stdout)(error).into(),
            Some(path) => Error::io_at(Doing::Write, path)(error).into(),
        }
    }
}

/// A sink as a [`Write`] that keeps the sink's own error.
pub struct SinkWriter<'a, P: Program> {
    sink: &'a mut Sink<P>,
    /// Gets the number of bytes of each write.
    told: &'a mut (dyn FnMut(u64) + Send),
    refused: Option<P::Error>,
}

impl<'a, P: Program> SinkWriter<'a, P> {
    /// Writes to a sink, and reports the number of bytes to `told`.
    pub fn new(sink: &'a mut Sink<P>, told: &'a mut (dyn FnMut(u64) + Send)) -> Self {
        Self { sink, told, refused: None }
    }

    /// Returns the error that the sink had, if any.
    ///
    /// # Errors
    ///
    /// The error of the sink.
    pub fn check(&mut self) -> Result<(), P::Error> {
        self.refused.take().map_or(Ok(()), Err)
    }
}

impl<P: Program> Write for SinkWriter<'_, P> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Err(error) = self.sink.write(bytes) {
            self.refused = Some(error);
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        (self.told)(bytes.len() as u64);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Checks that bytes are text that a terminal shows and does not obey: UTF-8 without control
/// characters except those of layout.
#[derive(Debug, Default)]
struct TextCheck {
    /// The first bytes of a character that the next piece completes.
    cut: Vec<u8>,
}

impl TextCheck {
    /// Whether the text continues with these bytes.
    fn goes_on(&mut self, bytes: &[u8]) -> bool {
        let joined;
        let bytes = match self.cut.is_empty() {
            true => bytes,
            false => {
                joined = [&self.cut[..], bytes].concat();
                &joined
            }
        };
        let (text, cut) = match core::str::from_utf8(bytes) {
            Ok(text) => (text, &[][..]),
            Err(error) if error.error_len().is_none() => {
                let (text, cut) = bytes.split_at(error.valid_up_to());
                (core::str::from_utf8(text).unwrap_or_default(), cut)
            }
            Err(_) => return false,
        };
        let is_text = !text.contains(|c| is_harmful(c) && !matches!(c, '\n' | '\r' | '\t'));
        self.cut = cut.to_vec();
        is_text
    }
}

/// Bytes that are written at once.
const BUFFER_NBYTES: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn is_text(pieces: &[&[u8]]) -> bool {
        let mut check = TextCheck::default();
        pieces.iter().all(|piece| check.goes_on(piece))
    }

    #[test]
    fn text_is_what_a_terminal_shows() {
        assert!(is_text(&[b"plain\n\ttext\r\n"]));
        assert!(is_text(&["gr\u{fc}n".repeat(500).as_bytes()]));
        assert!(is_text(&[b""]));
        assert!(!is_text(&[b"a\0b"]));
        assert!(!is_text(&[b"\x1b[2J"]));
        assert!(!is_text(&[&[0xff, 0xfe, 0x41]]));
    }

    #[test]
    fn every_byte_is_looked_at_and_characters_may_be_cut() {
        assert!(!is_text(&[&b"a".repeat(5000), b"\x1b[31m"]));
        assert!(!is_text(&[&[&b"a".repeat(5000)[..], b"\x1b[31m"].concat()]));
        assert!(is_text(&[b"gr\xc3", b"\xbcn"]));
        assert!(!is_text(&[b"\xc2", b"\x9b31m"]));
        assert!(!is_text(&["a\u{202e}b".as_bytes()]));
    }
}

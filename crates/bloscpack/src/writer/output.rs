//! A destination with a known position, which may be able to seek.

use std::io::{self, Seek, SeekFrom, Write};

use crate::{Error, Result};

/// The destination of a file.
pub(super) struct Output<W> {
    to: W,
    /// Bytes written so far.
    at: u64,
    /// Seeks, if the destination can: the position is that of the file's first byte plus the
    /// offset.
    seek: Option<(u64, SeekTo<W>)>,
}

type SeekTo<W> = fn(&mut W, SeekFrom) -> io::Result<u64>;

impl<W> Output<W> {
    pub(super) fn new(to: W) -> Self {
        Self { to, at: 0, seek: None }
    }

    pub(super) fn seekable(mut to: W) -> Result<Self>
    where
        W: Seek,
    {
        let start = to.stream_position().map_err(|source| Error::io(0, source))?;
        Ok(Self { to, at: 0, seek: Some((start, W::seek)) })
    }

    pub(super) const fn can_seek(&self) -> bool {
        self.seek.is_some()
    }

    pub(super) const fn position(&self) -> u64 {
        self.at
    }
}

impl<W: Write> Output<W> {
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.write_with(bytes.len() as u64, |to| to.write_all(bytes))
    }

    /// Lets `write` write `len` bytes.
    pub(super) fn write_with(
        &mut self,
        len: u64,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        write(&mut self.to).map_err(|source| Error::io(self.at, source))?;
        self.at += len;
        Ok(())
    }

    /// Overwrites earlier bytes, if the destination can seek.
    pub(super) fn write_at(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        let Some((start, seek)) = self.seek else { return Ok(()) };
        let end = start + self.at;
        let written = seek(&mut self.to, SeekFrom::Start(start + at))
            .and_then(|_| self.to.write_all(bytes))
            .and_then(|()| seek(&mut self.to, SeekFrom::Start(end)));
        written.map_err(|source| Error::io(at, source))?;
        Ok(())
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }

    pub(super) fn finish(mut self) -> Result<W> {
        self.flush().map_err(|source| Error::io(self.at, source))?;
        Ok(self.to)
    }
}

impl<W> core::fmt::Debug for Output<W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Output").field("at", &self.at).field("can_seek", &self.can_seek()).finish()
    }
}

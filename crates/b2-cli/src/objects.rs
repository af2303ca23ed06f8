//! The frames of an input, one after the other.
//!
//! A file may hold several frames in a row, which is what `b2 compress` writes to a pipe. In a file each is opened
//! where it lies. From a pipe each is read to its end first, since its index stands behind its data: into memory, or
//! into a temporary file without a name when it is larger than [`IN_MEMORY`]. So frames of any number and size pass
//! through bounded memory.

use std::{
    fs::File,
    io::{self, Cursor, Read, Write},
    path::Path,
    sync::Arc,
};

use b2frame::{FrameHeader, Kind, OpenOptions, SChunk, probe};
use blosc_chunk::DParams;
use blosc_io::{FileStore, MemStore, ReadAt};

use crate::{
    error::{Doing, Error, Result},
    input::{Origin, Part},
};

/// Bytes of a piped frame that stay in memory.
const IN_MEMORY: u64 = 16 << 20;

/// Bytes of a header that tell how long its frame is.
const HEADER: usize = 87;

/// The frames of one input.
pub(crate) struct Frames {
    source: Source,
    dparams: DParams,
    /// Where the next frame starts (bytes).
    at: u64,
    /// Frames still wanted; `None` for all.
    wanted: Option<u64>,
    /// Is the next frame the first?
    first: bool,
    /// Bytes behind the last frame that are no frame.
    trailing: u64,
}

enum Source {
    Stored(Arc<dyn ReadAt>),
    Piped(io::Stdin),
}

impl Frames {
    /// Opens an input, whose chunks will be decoded as `dparams` say.
    ///
    /// # Errors
    ///
    /// When it cannot be opened, or has no frame of the number asked for.
    pub(crate) fn open(origin: &Origin, dparams: DParams) -> Result<Self> {
        let Origin::File { path, part } = origin else { return Ok(Self::stdin(dparams)) };
        let frames = Self::of(Arc::new(open_file(path)?), dparams);
        match *part {
            Part::Whole => Ok(frames),
            Part::Offset(at) => Ok(Self { at, wanted: Some(1), ..frames }),
            Part::Nth(nth) => frames.nth(nth),
        }
    }

    /// The frames of a store.
    pub(crate) fn of(store: Arc<dyn ReadAt>, dparams: DParams) -> Self {
        Self::new(Source::Stored(store), 0, dparams)
    }

    fn new(source: Source, at: u64, dparams: DParams) -> Self {
        Self { source, dparams, at, wanted: None, first: true, trailing: 0 }
    }

    /// Standard input; a file in its place is read as a file.
    fn stdin(dparams: DParams) -> Self {
        match stdin_file() {
            Some((file, at)) => Self::new(Source::Stored(Arc::new(FileStore::from_file(file))), at, dparams),
            None => Self::new(Source::Piped(io::stdin()), 0, dparams),
        }
    }

    /// Passes over `nth` frames and wants one more.
    fn nth(mut self, nth: u64) -> Result<Self> {
        for frames in 0..nth {
            if self.next()?.is_none() {
                return Err(Error::NoFrame { wanted: nth, frames });
            }
        }
        let at = self.at;
        if self.next()?.is_none() {
            return Err(Error::NoFrame { wanted: nth, frames: nth });
        }
        Ok(Self { at, wanted: Some(1), ..self })
    }

    /// Bytes of the whole input, where they are known.
    pub(crate) fn input_len(&self) -> Option<u64> {
        match &self.source {
            Source::Stored(store) => store.len().ok(),
            Source::Piped(_) => None,
        }
    }

    /// Bytes behind the last frame that are no frame; known once [`next`](Self::next) has found the end.
    pub(crate) fn trailing(&self) -> u64 {
        self.trailing
    }

    /// The next frame.
    ///
    /// # Errors
    ///
    /// When what follows cannot be read or starts like a frame and is none, and when the first bytes of the input
    /// are something else altogether.
    pub(crate) fn next(&mut self) -> Result<Option<SChunk>> {
        if self.wanted == Some(0) {
            return Ok(None);
        }
        let head = self.head()?;
        if probe(&head) != Kind::Frame && probe(&head) != Kind::OlderFrame {
            return self.no_frame(head);
        }
        let (store, at) = (self.store(head)?, self.at);
        let schunk =
            SChunk::from_store_with(store, &OpenOptions::default().offset(at).dparams(self.dparams.clone()))?;
        self.at = at.saturating_add(schunk.frame_len());
        self.wanted = self.wanted.map(|wanted| wanted.saturating_sub(1));
        self.first = false;
        Ok(Some(schunk))
    }

    /// The next bytes, enough to tell what they are.
    fn head(&self) -> Result<Vec<u8>> {
        let mut head = Vec::new();
        match &self.source {
            Source::Stored(store) => {
                let left = store.len().map_err(Error::io(Doing::Open))?.saturating_sub(self.at);
                head.resize(usize::try_from(left).map_or(HEADER, |left| left.min(HEADER)), 0);
                store.read_exact_at(self.at, &mut head).map_err(Error::io(Doing::Read))?;
            }
            Source::Piped(stdin) => {
                stdin.lock().take(HEADER as u64).read_to_end(&mut head).map_err(Error::io(Doing::Read))?;
            }
        }
        Ok(head)
    }

    /// What is not a frame is foreign at the start of an input, and passed over behind a frame, as all readers do.
    fn no_frame(&mut self, head: Vec<u8>) -> Result<Option<SChunk>> {
        if self.first {
            return Err(Error::NotBlosc { start: head });
        }
        self.trailing = match &self.source {
            Source::Stored(store) => store.len().map_err(Error::io(Doing::Open))?.saturating_sub(self.at),
            Source::Piped(stdin) => {
                let rest = io::copy(&mut stdin.lock(), &mut io::sink()).map_err(Error::io(Doing::Read))?;
                rest.saturating_add(head.len() as u64)
            }
        };
        Ok(None)
    }

    /// A store in which the frame that begins with `head` can be read at [`at`](Self::at).
    fn store(&self, head: Vec<u8>) -> Result<Arc<dyn ReadAt>> {
        match &self.source {
            Source::Stored(store) => Ok(Arc::clone(store)),
            Source::Piped(stdin) => {
                // A length that makes no sense is for the library to judge: it gets what there is.
                let len = FrameHeader::parse(&head).map_or(HEADER as u64, |header| header.frame_len());
                let inner = spool(Cursor::new(head).chain(stdin.lock()).take(len))?;
                Ok(Arc::new(Shifted { inner, by: self.at }))
            }
        }
    }
}

/// Keeps everything of `reader`: in memory while it is small.
fn spool(mut reader: impl Read) -> Result<Box<dyn ReadAt>> {
    let mut bytes = Vec::new();
    (&mut reader).take(IN_MEMORY).read_to_end(&mut bytes).map_err(Error::io(Doing::Read))?;
    if (bytes.len() as u64) < IN_MEMORY {
        return Ok(Box::new(MemStore::new(bytes)));
    }
    let mut file = tempfile::tempfile().map_err(Error::io(Doing::Spool))?;
    file.write_all(&bytes).map_err(Error::io(Doing::Spool))?;
    drop(bytes);
    io::copy(&mut reader, &mut file).map_err(Error::io(Doing::Spool))?;
    Ok(Box::new(FileStore::from_file(file)))
}

/// A store whose first byte stands at position `by`, so that errors name positions of the whole input.
struct Shifted {
    inner: Box<dyn ReadAt>,
    by: u64,
}

impl ReadAt for Shifted {
    fn len(&self) -> io::Result<u64> {
        Ok(self.inner.len()?.saturating_add(self.by))
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let at = at.checked_sub(self.by).ok_or(io::ErrorKind::InvalidInput)?;
        self.inner.read_at(at, buf)
    }
}

/// A sparse frame is known by its index file.
fn open_file(path: &Path) -> Result<FileStore> {
    let index = path.join("chunks.b2frame");
    let path = if index.is_file() { index.as_path() } else { path };
    FileStore::open(path).map_err(Error::io(Doing::Open))
}

/// The regular file that stands for standard input, and the position in it.
#[cfg(unix)]
fn stdin_file() -> Option<(File, u64)> {
    use std::{io::Seek, os::fd::AsFd};
    let handle = io::stdin().as_fd().try_clone_to_owned().ok()?;
    let mut file = File::from(handle);
    let at =
        file.metadata().ok().filter(std::fs::Metadata::is_file).and_then(|_| file.stream_position().ok())?;
    Some((file, at))
}

#[cfg(not(unix))]
fn stdin_file() -> Option<(File, u64)> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_things_stay_in_memory_and_large_ones_do_not() {
        for len in [0, 10, IN_MEMORY, IN_MEMORY + 10] {
            let store = spool(io::repeat(7).take(len)).unwrap();
            assert_eq!(store.len().unwrap(), len);
        }
        let store = spool(Cursor::new(vec![1; 20 << 20]).chain(&b"end"[..])).unwrap();
        let mut end = [0; 3];
        store.read_exact_at(20 << 20, &mut end).unwrap();
        assert_eq!(&end, b"end");
    }

    #[test]
    fn a_shifted_store_answers_at_positions_of_the_input() {
        let store = Shifted { inner: Box::new(MemStore::new(b"abc".to_vec())), by: 100 };
        let mut buf = [0; 2];
        assert_eq!(store.len().unwrap(), 103);
        store.read_exact_at(101, &mut buf).unwrap();
        assert_eq!(&buf, b"bc");
        assert!(store.read_at(99, &mut buf).is_err());
    }
}

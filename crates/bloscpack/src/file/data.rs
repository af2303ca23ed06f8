//! The data of a file as a stream with a cursor.

use std::io::{self, BufRead, Read, Seek, SeekFrom};

use blosc_chunk::Decoder;
use blosc_io::ReadAt;

use super::BlpFile;
use crate::{Error, Param, Result};

/// Reads the data of a [`BlpFile`] from any position on. One decoded chunk is kept.
///
/// ```
/// use std::io::{Read, Seek, SeekFrom};
/// use blosc_io::MemStore;
/// use bloscpack::{BlpFile, WriteOptions, pack};
///
/// let text = b"the quick brown fox ".repeat(100);
/// let file = BlpFile::new(MemStore::new(pack(&text, WriteOptions::default().chunksize(64))?))?;
/// let mut data = file.reader();
/// data.seek(SeekFrom::End(-10))?;
/// let mut end = String::new();
/// data.read_to_string(&mut end)?;
/// assert_eq!(end, "brown fox ");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DataReader<'a, S> {
    file: &'a BlpFile<S>,
    decoder: Decoder,
    /// Position in the data (bytes).
    at: u64,
    /// The decoded chunk, and its position in the data.
    chunk: Vec<u8>,
    start: u64,
}

impl<'a, S: ReadAt> DataReader<'a, S> {
    pub(super) fn new(file: &'a BlpFile<S>) -> Self {
        let decoder = Decoder::new(file.options().dparams.clone());
        Self { file, decoder, at: 0, chunk: vec![], start: 0 }
    }

    /// Decodes the chunk at the cursor, unless it is kept already or there is none.
    fn load(&mut self) -> Result<()> {
        let kept = self.start..self.start + self.chunk.len() as u64;
        if kept.contains(&self.at) || self.at >= self.file.nbytes()? {
            return Ok(());
        }
        let nchunk = self.file.chunk_of(self.at)?;
        let start = self.file.chunk_range(nchunk)?.start;
        if let Err(error) = self.file.chunk_into(nchunk, &mut self.chunk, &mut self.decoder) {
            self.chunk.clear();
            return Err(error);
        }
        self.start = start;
        Ok(())
    }

    /// The bytes of the kept chunk from the cursor on.
    fn rest(&self) -> &[u8] {
        let inside =
            self.at.checked_sub(self.start).and_then(|inside| usize::try_from(inside).ok());
        inside.and_then(|inside| self.chunk.get(inside..)).unwrap_or_default()
    }
}

impl<S: ReadAt> Read for DataReader<'_, S> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.load()?;
        let n = self.rest().read(buf)?;
        self.at += n as u64;
        Ok(n)
    }
}

impl<S: ReadAt> BufRead for DataReader<'_, S> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.load()?;
        Ok(self.rest())
    }

    fn consume(&mut self, amount: usize) {
        self.at += amount.min(self.rest().len()) as u64;
    }
}

impl<S: ReadAt> Seek for DataReader<'_, S> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.file.nbytes()?.checked_add_signed(by),
        };
        self.at = at.ok_or(Error::Param(Param::Seek))?;
        Ok(self.at)
    }
}

//! The positions of the chunks, found by a walk over their headers.

use core::ops::Range;

use blosc_io::ReadAt;

use super::BlpFile;
use crate::chunk::{nbytes, read_header};
use crate::error::Bounded;
use crate::reader::check_position;
use crate::sizes::SizeCheck;
use crate::{Corrupt, Error, Param, Part, Result};

/// Position and first byte of data of every chunk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    entries: Vec<Entry>,
    /// End of the last chunk (bytes from the start of the file).
    end: u64,
    /// Data of all chunks (bytes).
    nbytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Bytes from the start of the file.
    at: u64,
    /// Bytes from the start of the data.
    start: u64,
}

impl Index {
    /// Reads the headers of all chunks.
    pub(super) fn walk<S: ReadAt>(file: &BlpFile<S>) -> Result<Self> {
        let preamble = file.preamble();
        let header = &preamble.header;
        let digest_len = header.checksum.digest_len() as u64;
        let mut sizes = SizeCheck::new(*header);
        let mut index = Self { end: preamble.chunks_at, ..Self::default() };
        let mut before = 0;
        while header.nchunks != Some(index.nchunks()) {
            let (at, nchunk) = (index.end, index.nchunks());
            let corrupt = |what| Error::corrupt(at, what);
            check_position(preamble, nchunk, at)?;
            let Some((chunk, _)) = read_header(&mut file.input(at), file.expected(nchunk))? else {
                index.check_end(header.nchunks)?;
                let last = nchunk.checked_sub(1);
                return last
                    .map_or(Ok(()), |n| sizes.check_last(n, before))
                    .map_err(corrupt)
                    .map(|()| index);
            };
            before = nbytes(&chunk);
            sizes.next(nchunk, before).map_err(corrupt)?;
            let end = at + chunk.cbytes() as u64;
            file.input(end).check(Part::Digest, digest_len)?;
            index.push(before, end + digest_len, file.options().limits.max_chunks)?;
        }
        Ok(index)
    }

    fn push(&mut self, nbytes: u32, end: u64, limit: u64) -> Result<()> {
        let needed = self.nchunks() + 1;
        if needed > limit {
            return Err(Error::Limit { what: Bounded::Chunks, needed, limit });
        }
        self.entries.push(Entry { at: self.end, start: self.nbytes });
        self.nbytes = self.nbytes.saturating_add(nbytes.into());
        self.end = end;
        Ok(())
    }

    /// Checks at the end of the file that the announced number of chunks was found.
    fn check_end(&self, nchunks: Option<u64>) -> Result<()> {
        let found = self.nchunks();
        nchunks.map_or(Ok(()), |nchunks| {
            Err(Error::corrupt(self.end, Corrupt::MissingChunks { nchunks, found }))
        })
    }

    pub(crate) fn nchunks(&self) -> u64 {
        self.entries.len() as u64
    }

    pub(crate) fn nbytes(&self) -> u64 {
        self.nbytes
    }

    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    pub(crate) fn position(&self, nchunk: u64) -> Result<u64> {
        self.entry(nchunk).map(|entry| entry.at)
    }

    /// The positions of all chunks.
    pub(crate) fn positions(&self) -> impl Iterator<Item = u64> {
        self.entries.iter().map(|entry| entry.at)
    }

    /// The sizes of all chunks (bytes of data).
    pub(crate) fn sizes(&self) -> impl Iterator<Item = u64> {
        let ends = self.entries.iter().skip(1).map(|entry| entry.start).chain([self.nbytes]);
        self.entries.iter().zip(ends).map(|(entry, end)| end - entry.start)
    }

    pub(super) fn range(&self, nchunk: u64) -> Result<Range<u64>> {
        let start = self.entry(nchunk)?.start;
        Ok(start..self.entry(nchunk + 1).map_or(self.nbytes, |next| next.start))
    }

    /// The last chunk that begins at or before the byte `at` of the data.
    pub(super) fn chunk_of(&self, at: u64) -> u64 {
        (self.entries.partition_point(|entry| entry.start <= at) as u64).saturating_sub(1)
    }

    fn entry(&self, nchunk: u64) -> Result<&Entry> {
        let entry = usize::try_from(nchunk).ok().and_then(|n| self.entries.get(n));
        entry.ok_or_else(|| Param::NoChunk { nchunk, nchunks: self.nchunks() }.into())
    }
}

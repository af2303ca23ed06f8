//! The sizes written so far, and the size of the next chunk.

use std::io;

use blosc_io::AlignedBytes;

use crate::header::MAX_CHUNKSIZE;
use crate::sizes::SizeCheck;
use crate::{Corrupt, Error, Header, Param, Result};

/// Sizes so far, compared with the header's and the announced ones.
#[derive(Debug)]
pub(crate) struct Tally {
    pub(super) header: Header,
    sizes: SizeCheck,
    /// Chunks written or waiting.
    pub(super) nchunks: u64,
    /// Data of these chunks (bytes), and of the last of them.
    pub(super) nbytes: u64,
    last: u32,
    /// The announced number.
    pub(super) announced: Option<u64>,
}

impl Tally {
    pub(super) fn new(header: Header) -> Self {
        Self {
            header,
            sizes: SizeCheck::new(header),
            nchunks: 0,
            nbytes: 0,
            last: 0,
            announced: None,
        }
    }

    /// Reads once; no bytes at the end.
    pub(crate) fn read(
        &self,
        source: &mut (dyn io::Read + Send),
        room: &mut [u8],
    ) -> Result<usize> {
        loop {
            match source.read(room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read.map_err(|source| Error::io(self.nbytes, source)),
            }
        }
    }

    /// Data of the current chunk (bytes), of which `filled` bytes have come; an error if no more
    /// data may come.
    pub(crate) fn next_size(&self, filled: usize) -> Result<usize> {
        if let Some(announced) = self.announced
            && self.nbytes + filled as u64 >= announced
        {
            return Err(Param::DataSize { announced, found: announced.saturating_add(1) }.into());
        }
        let is_last = self.header.nchunks == Some(self.nchunks + 1);
        let size = if is_last { self.header.last_chunk } else { self.header.chunksize };
        Ok(size.unwrap_or(MAX_CHUNKSIZE) as usize)
    }

    /// Counts a chunk of `nbytes` bytes of data.
    pub(crate) fn count(&mut self, nbytes: u32) -> Result<()> {
        let too_many = self.header.nchunks.is_some_and(|nchunks| self.nchunks >= nchunks);
        let sized = if too_many {
            Err(Corrupt::EmptyChunk { nchunk: self.nchunks })
        } else {
            self.sizes.next(self.nchunks, nbytes)
        };
        if sized.is_err() {
            return Err(self.misfit(nbytes));
        }
        self.nchunks += 1;
        self.nbytes += u64::from(nbytes);
        self.last = nbytes;
        Ok(())
    }

    /// The error of a chunk of the wrong size: fewer or more data than announced, or a foreign
    /// chunk.
    fn misfit(&self, nbytes: u32) -> Error {
        let found = self.nbytes + u64::from(nbytes);
        match self.announced {
            Some(announced) if announced != found => Param::DataSize { announced, found }.into(),
            _ => {
                let expected = self.header.uniform_size().unwrap_or(0).into();
                Param::ForeignChunk { nbytes: nbytes.into(), expected }.into()
            }
        }
    }

    /// Checks that the announced number of data has come.
    pub(super) fn check_end(&self) -> Result<()> {
        let found = self.nbytes;
        let missing = self.header.nchunks.is_some_and(|nchunks| nchunks != self.nchunks);
        match self.announced {
            Some(announced) if announced != found => {
                Err(Param::DataSize { announced, found }.into())
            }
            _ if missing => {
                let announced = self.header.nbytes().unwrap_or(0);
                Err(Param::DataSize { announced, found }.into())
            }
            _ => Ok(()),
        }
    }

    /// Sets the header's fields that were unknown at the beginning. Returns whether there were any.
    pub(super) fn complete(&mut self) -> bool {
        let was_unknown = self.header.nchunks.is_none();
        if was_unknown {
            self.header.nchunks = Some(self.nchunks);
            self.header.last_chunk = Some(self.last);
            if self.nchunks == 1 && self.header.chunksize.is_some() {
                self.header.chunksize = Some(self.last);
            }
        }
        was_unknown
    }
}

/// The room after the `filled` bytes of a chunk of `size` bytes; it grows as data come.
pub(crate) fn room_in(data: &mut AlignedBytes, filled: usize, size: usize) -> &mut [u8] {
    let end = size.min(filled + GROWTH_NBYTES);
    if data.len() < end {
        data.resize(end);
    }
    &mut data[filled..end]
}

/// Bytes by which the room for data grows.
const GROWTH_NBYTES: usize = 1 << 20;

//! Limits for the memory and time of an untrusted chunk.

use crate::error::{Error, Result};
use crate::header::ChunkHeader;

crate::setters! {
    /// Upper bounds that are checked before memory is allocated or time spent.
    ///
    /// ```
    /// use blosc_chunk::{DParams, Decoder, Error, Limits};
    ///
    /// // 32 bytes that announce two gigabytes of zeros.
    /// let bomb = b"\x05\x01\x05\x01\xdf\xff\xff\x7f\x00\xf0\xff\x1f\x20\0\0\0\
    ///              \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10";
    /// let limits = Limits::default().max_nbytes(1 << 20);
    /// let error = Decoder::new(DParams::default().limits(limits)).decode(bomb).unwrap_err();
    /// assert_eq!(error, Error::Limit { nbytes: 0x7fffffdf, limit: 1 << 20 });
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Limits {
        /// Bytes of data in one chunk, and so of any buffer that is allocated for it. Default: 1
        /// GiB.
        pub max_nbytes: u64,
        /// Data per compressed byte; `None` (the default) for any, since a chunk of zeros is honest
        /// at any ratio.
        pub max_ratio: Option<u64>,
        /// Blocks in one chunk; `None` (the default) for as many as fit into the bytes of the
        /// chunk.
        pub max_blocks: Option<u64>,
    }
}

impl Limits {
    /// Only the limits of the format: a chunk has less than 2 GiB of data.
    #[must_use]
    pub const fn none() -> Self {
        Self { max_nbytes: u64::MAX, max_ratio: None, max_blocks: None }
    }

    /// Whether data of this size may be put into memory.
    pub(crate) fn check_nbytes(&self, nbytes: usize) -> Result<()> {
        within(nbytes as u64, self.max_nbytes)
    }

    /// Whether the whole chunk may be decoded.
    pub(crate) fn check(&self, header: &ChunkHeader) -> Result<()> {
        self.check_nbytes(header.nbytes())?;
        if let Some(ratio) = self.max_ratio {
            within(header.nbytes() as u64, ratio.saturating_mul(header.cbytes() as u64))?;
        }
        Ok(())
    }

    pub(crate) fn check_blocks(&self, nblocks: usize) -> Result<()> {
        self.max_blocks.map_or(Ok(()), |limit| within(nblocks as u64, limit))
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::none().max_nbytes(1 << 30)
    }
}

fn within(nbytes: u64, limit: u64) -> Result<()> {
    if nbytes <= limit { Ok(()) } else { Err(Error::Limit { nbytes, limit }) }
}

//! Decodes whole chunks: one-line functions and a reusable object.

use crate::chunk::Chunk;
use crate::decode::Scratch;
use crate::error::Result;
use crate::memory;
use crate::params::DParams;

/// Decodes a chunk with default parameters, which refuse more than 1 GiB of data.
///
/// # Errors
///
/// As [`Decoder::decode`].
pub fn decompress(chunk: &[u8]) -> Result<Vec<u8>> {
    Decoder::default().decode(chunk)
}

/// Decodes chunks one after another with the same parameters and buffers.
///
/// ```
/// use blosc_chunk::{CParams, DParams, Decoder, compress};
///
/// let mut decoder = Decoder::new(DParams::default());
/// for data in [&b"one chunk"[..], b"and another"] {
///     let chunk = compress(data, &CParams::default())?;
///     assert_eq!(decoder.decode(&chunk)?, data);
/// }
/// # Ok::<(), blosc_chunk::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Decoder {
    scratch: Scratch,
}

impl Decoder {
    /// A decoder with these parameters.
    #[must_use]
    pub fn new(params: DParams) -> Self {
        Self { scratch: Scratch::new(&params) }
    }

    /// The parameters.
    #[must_use]
    pub const fn params(&self) -> &DParams {
        self.scratch.params()
    }

    /// All data of a chunk.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) if the data exceed the limits, and otherwise as
    /// [`Chunk::parse`] and [`Chunk::decode_into`].
    pub fn decode(&mut self, chunk: &[u8]) -> Result<Vec<u8>> {
        let chunk = Chunk::parse(chunk)?;
        self.params().limits.check(chunk.header())?;
        let mut data = memory::zeros(chunk.header().nbytes())?;
        chunk.decode_into(&mut data, &mut self.scratch)?;
        Ok(data)
    }

    /// Decodes all data of a chunk to the start of `dest`; returns their number of bytes.
    ///
    /// # Errors
    ///
    /// As [`Chunk::parse`] and [`Chunk::decode_into`].
    pub fn decode_into(&mut self, chunk: &[u8], dest: &mut [u8]) -> Result<usize> {
        // By reference: moving a parsed chunk takes as long as decoding a small one.
        match &Chunk::parse(chunk) {
            Ok(chunk) => chunk.decode_into(dest, &mut self.scratch),
            Err(error) => Err(error.clone()),
        }
    }

    /// The buffers, for the methods of [`Chunk`].
    pub fn scratch(&mut self) -> &mut Scratch {
        &mut self.scratch
    }
}

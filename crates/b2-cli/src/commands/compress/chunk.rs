//! `b2 compress --format chunk`: all data of an input as one chunk, which is made in memory.

use std::io::Read;

use blosc_chunk::{CParams, Encoder};

use super::Work;
use crate::{
    context::Context,
    error::{Doing, Error, Result},
    inputs::Data,
    output::{Counts, Digest, Digesting},
};

impl Work<'_> {
    /// The chunk, the sizes, and the digest of the data if a later check needs it.
    pub(super) fn chunk(&self, data: Data) -> Result<(Vec<u8>, Counts, Digest)> {
        let cparams = &self.params.cparams;
        let len = data.len();
        let mut reader = Digesting::new(data.into_reader(), self.args.tuning.verify);
        let src = read_all(&mut reader, len, cparams, self.cx)?;
        let threads = self.cx.one_chunk(cparams, src.len() as u64)?;
        let mut encoder = Encoder::new(cparams.clone().threads(threads)).map_err(refused)?;
        let chunk = encoder.encode(&src).map_err(refused)?;
        self.progress.add(src.len() as u64);
        let counts = Counts { frames: 0, nbytes: src.len() as u64, stored: chunk.len() as u64 };
        Ok((chunk, counts, reader.take_digest()))
    }
}

/// All data of `reader`, which has `len` bytes if that is known.
fn read_all(
    reader: &mut dyn Read,
    len: Option<u64>,
    cparams: &CParams,
    cx: &Context,
) -> Result<Vec<u8>> {
    cx.one_chunk(cparams, len.unwrap_or(0))?;
    let mut src = Vec::with_capacity(len.and_then(|len| usize::try_from(len).ok()).unwrap_or(0));
    // A larger input is refused later; the limit keeps an endless pipe from filling the memory.
    reader.take(cx.memory()).read_to_end(&mut src).map_err(Error::io(Doing::Read))?;
    cx.one_chunk(cparams, src.len() as u64)?;
    Ok(src)
}

/// The error of options that no chunk can have.
fn refused(source: blosc_chunk::Error) -> Error {
    Error::Chunk { at: 0, source }
}

//! Converts an older frame to today's layout: the same chunks and metadata.

use blosc_io::MemStore;

use crate::error::{Error, Result};
use crate::params::FrameParams;
use crate::schunk::{ChunkBytes, SChunk};
use crate::writer::FrameWriter;

/// A frame of the current layout with the same chunks, metalayers and vlmetalayers. Chunks are not
/// compressed again.
pub(crate) fn to_cframe(old: &SChunk) -> Result<Vec<u8>> {
    let mut params = FrameParams::new(old.cparams());
    if let Some(size) = old.chunksize().fixed() {
        params = params.chunksize(usize::try_from(size).unwrap_or(usize::MAX));
    }
    for layer in old.meta().iter() {
        params = params.metalayer(layer.name_text(), layer.content);
    }
    for layer in old.vlmeta().stored().iter() {
        params = params.vlmetalayer(layer.name_text(), old.vlmeta().decode(layer)?);
    }
    let mut writer = FrameWriter::new(MemStore::default(), &params)?;
    for nchunk in 0..old.nchunks() {
        match old.chunk(nchunk)? {
            ChunkBytes::Special { kind, nbytes } => writer.append_special(kind, nbytes)?,
            ChunkBytes::Stored(chunk) => {
                writer.append_chunk(&chunk).map_err(|error| at_home(old, error))?
            }
        }
    }
    Ok(writer.finish()?.into_bytes())
}

/// The error of a bad chunk, with its position in the old frame.
fn at_home(old: &SChunk, error: Error) -> Error {
    match error {
        Error::Chunk { nchunk, source, .. } => {
            Error::Chunk { nchunk, at: old.stored_at(nchunk).unwrap_or(0), source }
        }
        other => other,
    }
}

//! Chunks that leave their super-chunk.

use blosc_filters::FilterId;

use crate::error::{Error, Param, Result};
use crate::header::ChunkHeader;

/// Writes into the header of a chunk the number of byte streams of bytedelta, which so far followed
/// from the super-chunk, whose items have `schunk_typesize` bytes. C-Blosc2 refuses a parameter of
/// 0 in a chunk on its own. Nothing is decoded.
///
/// ```
/// use blosc_chunk::transcode::detach_from_schunk;
/// use blosc_chunk::{CParams, Pipeline, compress, decompress};
///
/// let data: Vec<u8> = (0..20_000u32).flat_map(u32::to_le_bytes).collect();
/// let filters = Pipeline::parse("shuffle, bytedelta").unwrap();
/// let params = CParams::default().typesize(4).filters(filters);
/// let mut chunk = compress(&data, &params.clone().in_schunk())?;
/// detach_from_schunk(&mut chunk, 4)?;
/// assert_eq!(chunk, compress(&data, &params)?);
/// assert_eq!(decompress(&chunk)?, data);
/// # Ok::<(), blosc_chunk::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Param`] if the items are wider than the 255 bytes that the parameter can hold: decode
/// the chunk and compress it again. Errors of [`ChunkHeader::parse`].
pub fn detach_from_schunk(chunk: &mut [u8], schunk_typesize: usize) -> Result<()> {
    let header = ChunkHeader::parse(chunk)?;
    let pipeline = header.pipeline();
    let is_open = |id| matches!(id, FilterId::BYTEDELTA | FilterId::BYTEDELTA_LEGACY);
    let depends = pipeline.active().any(|slot| is_open(slot.id) && slot.meta == 0);
    if !header.is_extended() || !depends || header.is_memcpyed() {
        return Ok(());
    }
    if schunk_typesize > usize::from(u8::MAX) {
        let (typesize, max) = (schunk_typesize, u8::MAX.into());
        return Err(Error::Param(Param::Typesize { typesize, max }));
    }
    let extension = header.extension().with_pipeline(pipeline.with_typesize(schunk_typesize));
    let bytes = header.with_extension(extension).to_bytes();
    chunk.iter_mut().zip(bytes).for_each(|(old, new)| *old = new);
    Ok(())
}

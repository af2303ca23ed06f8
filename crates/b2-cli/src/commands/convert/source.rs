//! What is converted: its chunks as they are, or its content.

use b2frame::{ChunkBytes, NdMeta, ReadOptions};
use blosc_chunk::{ChunkHeader, SpecialKind};

use super::metadata::Metadata;
use crate::{
    content::{self, Sink},
    error::Result,
    object::Object,
};

/// An object with the questions that destinations have.
pub(super) struct Source {
    /// What it is.
    pub(super) object: Object,
}

/// A compressed chunk, as it is.
#[derive(Debug)]
pub(super) enum Packed {
    /// Its bytes, of Blosc 1 or Blosc2.
    Bytes(Vec<u8>),
    /// A run that nobody has written down.
    Run { kind: SpecialKind, nbytes: usize },
}

impl Source {
    /// An object as a source.
    pub(super) fn new(object: Object) -> Self {
        Self { object }
    }

    /// The format, as `info` calls it.
    pub(super) fn name(&self) -> Result<&'static str> {
        Ok(match &self.object {
            Object::Frame(schunk) if schunk.layout() != b2frame::FrameLayout::Current => "legacy-frame",
            Object::Frame(schunk) if crate::object::is_sparse(schunk) => "sframe",
            Object::Frame(_) => "cframe",
            Object::Chunk(_) => "chunk",
            Object::Blp(_) => "bloscpack",
            Object::Bcolz(set) => set.format(),
        })
    }

    /// Bytes of the content.
    pub(super) fn nbytes(&self) -> Result<u64> {
        content::nbytes(&self.object)
    }

    /// Bytes of the file.
    pub(super) fn stored(&self) -> u64 {
        self.object.stored()
    }

    /// Bytes of an item.
    pub(super) fn typesize(&self) -> usize {
        usize::try_from(self.object.typesize()).unwrap_or(usize::MAX).max(1)
    }

    /// What it says about its content.
    pub(super) fn metadata(&self) -> Result<Metadata> {
        match &self.object {
            Object::Frame(schunk) => Metadata::of_frame(schunk),
            Object::Blp(blp) => Ok(Metadata::of_blp(blp)),
            Object::Chunk(_) | Object::Bcolz(_) => Ok(Metadata::default()),
        }
    }

    /// How the chunks of an array are laid out.
    pub(super) fn nd_meta(&self) -> Result<Option<NdMeta>> {
        match &self.object {
            Object::Frame(schunk) => Ok(schunk.nd_meta()?),
            _ => Ok(None),
        }
    }

    /// Bytes of data in every chunk but the last, which may have fewer; `None` if they vary, or there is none.
    pub(super) fn chunksize(&self) -> Result<Option<usize>> {
        let size = match &self.object {
            Object::Frame(schunk) => schunk.chunksize().fixed(),
            Object::Chunk(chunk) if chunk.header().is_vl() => None,
            Object::Chunk(chunk) => u32::try_from(chunk.header().nbytes()).ok().filter(|nbytes| *nbytes > 0),
            Object::Blp(blp) => blp.even_chunks()?,
            Object::Bcolz(_) => None,
        };
        Ok(size.and_then(|size| usize::try_from(size).ok()))
    }

    /// A chunk as it is; `None` if it has to be decoded.
    pub(super) fn packed(&self, nchunk: u64, memory: u64) -> Result<Option<Packed>> {
        Ok(match &self.object {
            Object::Frame(schunk) => match schunk.chunk(nchunk)? {
                ChunkBytes::Special { kind, nbytes, .. } => Some(Packed::Run { kind, nbytes }),
                ChunkBytes::Stored(bytes) => Some(Packed::Bytes(bytes)),
                _ => None,
            },
            Object::Chunk(chunk) => Some(Packed::Bytes(chunk.bytes(memory)?)),
            Object::Blp(blp) => Some(Packed::Bytes(blp.file.packed_chunk(nchunk)?.into_bytes())),
            Object::Bcolz(_) => None,
        })
    }

    /// The header of the first chunk that is written down.
    pub(super) fn first_header(&self) -> Result<Option<ChunkHeader>> {
        Ok(match &self.object {
            Object::Frame(_) => None,
            Object::Chunk(chunk) => Some(*chunk.header()),
            Object::Blp(blp) if blp.file.nchunks()? > 0 => Some(*blp.file.packed_chunk(0)?.header()),
            Object::Blp(_) | Object::Bcolz(_) => None,
        })
    }

    /// The data of a chunk.
    pub(super) fn data(&self, nchunk: u64, options: &ReadOptions) -> Result<Vec<u8>> {
        match &self.object {
            Object::Frame(schunk) => Ok(schunk.decode_chunk(nchunk)?),
            Object::Blp(blp) => Ok(blp.file.chunk(nchunk)?),
            Object::Chunk(_) | Object::Bcolz(_) => {
                let mut data = vec![];
                self.stream(options, &mut |bytes| {
                    data.extend_from_slice(bytes);
                    Ok(())
                })?;
                Ok(data)
            }
        }
    }

    /// Hands the content to `sink`, piece by piece in order.
    pub(super) fn stream(&self, options: &ReadOptions, sink: Sink<'_>) -> Result<()> {
        content::all(&self.object, options, sink)
    }
}

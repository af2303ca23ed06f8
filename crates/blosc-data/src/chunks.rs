//! Stored chunks.

use core::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

use b2frame::{ChunkBytes, SChunk};
use bcolz_store::{CArray, DataSet};

use crate::content::Object;
use crate::error::Result;
use crate::formats::blp::Blp;

/// Chunks that can be moved to another container without decoding.
pub trait Chunks: Debug + Send + Sync {
    /// Number of chunks.
    fn nchunks(&self) -> u64;

    /// A stored chunk, compared with its checksum if it has one.
    ///
    /// # Errors
    ///
    /// A number beyond the last chunk; a chunk that cannot be read.
    fn chunk(&self, nchunk: u64) -> Result<ChunkBytes>;
}

/// The sizes of chunks, read one by one.
pub enum ChunkSizes {
    /// The chunks of a frame.
    Frame(Arc<SChunk>),
    /// The chunks of an array or a column of bcolz.
    Array(Box<CArray>),
    /// The chunks of a Bloscpack file.
    Blp(Box<Blp>),
}

impl ChunkSizes {
    /// The chunk sizes of an object, which is the file at `path` if there is one; `None` for an
    /// object without chunks.
    #[must_use]
    pub fn of_object(object: &Object, path: Option<&Path>) -> Option<Self> {
        match object {
            Object::Frame(schunk) => Some(Self::Frame(Arc::clone(schunk))),
            Object::Bcolz(set) => match &set.set {
                DataSet::CArray(array) => Some(Self::Array(Box::new(array.clone()))),
                DataSet::CTable(_) => None,
            },
            Object::Blp(blp) => Some(Self::Blp(Box::new(blp.reopen(path?).ok()?))),
            _ => None,
        }
    }

    /// Number of chunks.
    #[must_use]
    pub fn nchunks(&self) -> u64 {
        match self {
            Self::Frame(schunk) => schunk.nchunks(),
            Self::Array(array) => array.nchunks(),
            Self::Blp(blp) => blp.file.nchunks().unwrap_or(0),
        }
    }

    /// Chunks per dimension of an array.
    #[must_use]
    pub fn grid(&self) -> Option<Vec<u64>> {
        let Self::Frame(schunk) = self else { return None };
        schunk.nd_meta().ok().flatten().map(|meta| meta.grid())
    }

    /// Bytes of a chunk before and after compression; `None` if it cannot be read.
    #[must_use]
    pub fn sizes(&self, nchunk: u64) -> Option<(u64, u64)> {
        let header = match self {
            Self::Frame(schunk) => {
                return schunk.chunk_info(nchunk).ok().map(|info| (info.nbytes, info.cbytes));
            }
            Self::Array(array) => array.chunk_header(nchunk).ok()?,
            Self::Blp(blp) => *blp.file.packed_chunk(nchunk).ok()?.header(),
        };
        Some((header.nbytes() as u64, header.cbytes() as u64))
    }
}

//! What an input holds: a frame, or a bare chunk. Both are data of a known length, of which parts
//! can be read.

use std::sync::Arc;

use b2frame::SChunk;
use blosc_data::{Array, formats::frame::format_name};

use crate::{
    error::Result,
    formats::{BareChunk, Bcolz, Blp, TableRows},
};

pub(crate) use blosc_data::formats::frame::{is_sparse, item_type, stored_nbytes as frame_bytes};

/// One thing with content.
pub(crate) enum Object {
    Frame(Arc<SChunk>),
    Chunk(Box<BareChunk>),
    /// A Bloscpack file.
    Blp(Box<Blp>),
    /// An array or a table of bcolz.
    Bcolz(Box<Bcolz>),
    /// A table of a store, or a column of one.
    Table(Box<TableRows>),
    /// An array of another format.
    Opened(Arc<dyn Array>),
}

impl Object {
    /// The format, as `info` calls it.
    pub(crate) fn format(&self) -> &'static str {
        match self {
            Self::Frame(schunk) => format_name(schunk, matches!(schunk.nd_meta(), Ok(Some(_)))),
            Self::Chunk(_) => "chunk",
            Self::Blp(_) => "blp",
            Self::Bcolz(set) => set.format(),
            Self::Table(rows) => rows.format(),
            Self::Opened(array) => array.format(),
        }
    }

    /// Compares what was read with the seals of frames: after all of it, before it is believed.
    /// Other containers compare each chunk when it is read.
    ///
    /// # Errors
    ///
    /// Bytes that are not those that were sealed.
    pub(crate) fn compare_seals(&self) -> Result<()> {
        match self {
            Self::Frame(schunk) => Ok(schunk.compare_seal()?),
            Self::Table(rows) => rows.compare_seals(),
            Self::Chunk(_) | Self::Blp(_) | Self::Bcolz(_) | Self::Opened(_) => Ok(()),
        }
    }

    /// Bytes of data, padding of arrays included.
    pub(crate) fn nbytes(&self) -> u64 {
        match self {
            Self::Frame(schunk) => schunk.nbytes(),
            Self::Chunk(chunk) => chunk.header().nbytes() as u64,
            Self::Blp(blp) => blp.nbytes(),
            Self::Bcolz(set) => set.nbytes(),
            Self::Table(rows) => rows.sizes().0,
            Self::Opened(array) => array.nbytes(),
        }
    }

    /// Bytes that it takes in its file or files.
    pub(crate) fn stored(&self) -> u64 {
        match self {
            Self::Frame(schunk) => frame_bytes(schunk),
            Self::Chunk(chunk) => chunk.stored(),
            Self::Blp(blp) => blp.file.file_len(),
            Self::Bcolz(set) => set.stored(),
            Self::Table(rows) => rows.sizes().1,
            Self::Opened(array) => array.stored_nbytes().unwrap_or_else(|| array.nbytes()),
        }
    }

    /// Bytes of an item.
    pub(crate) fn typesize(&self) -> u64 {
        match self {
            Self::Frame(schunk) => schunk.typesize() as u64,
            Self::Chunk(chunk) => chunk.header().typesize() as u64,
            Self::Blp(blp) => blp.typesize(),
            Self::Bcolz(set) => set.typesize(),
            Self::Table(rows) => rows.dtype().map_or(1, |dtype| dtype.itemsize().max(1) as u64),
            Self::Opened(array) => array.dtype().itemsize().max(1) as u64,
        }
    }
}

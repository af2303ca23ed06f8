//! Something of a Blosc format: a frame, a bare chunk, a file, a data set, rows of a table. All are
//! data of a known length, of which parts can be read.

use core::{fmt, ops::Range};
use std::sync::Arc;

use b2frame::{SChunk, nd::item_dtype};
use bcolz_store::DataSet;

use super::{Bcolz, Content, Layout, Metadata, Sink, SinkError, TableRows};
use crate::dataset::Data;
use crate::error::Result;
use crate::formats::{
    bcolz_array, bcolz_data,
    blp::{self, Blp},
    chunk::BareChunk,
    frame::{self, format_name, stored_nbytes},
};
use crate::{Array, Budget, by_boxes};

/// One thing with content.
pub enum Object {
    /// A frame.
    Frame(Arc<SChunk>),
    /// A bare chunk.
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
    pub fn format(&self) -> &'static str {
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
    pub fn compare_seals(&self) -> Result<()> {
        match self {
            Self::Frame(schunk) => Ok(schunk.compare_seal()?),
            Self::Table(rows) => rows.compare_seals(),
            Self::Opened(array) => array.compare_seals(),
            Self::Chunk(_) | Self::Blp(_) | Self::Bcolz(_) => Ok(()),
        }
    }

    /// Bytes of data, padding of arrays included.
    pub fn nbytes(&self) -> u64 {
        match self {
            Self::Frame(schunk) => schunk.nbytes(),
            Self::Chunk(chunk) => chunk.header().nbytes() as u64,
            Self::Blp(blp) => blp.nbytes(),
            Self::Bcolz(set) => set.nbytes(),
            Self::Table(rows) => rows.sizes().0,
            Self::Opened(array) => array.nbytes(),
        }
    }

    /// Bytes of data without the padding of arrays.
    pub fn data_nbytes(&self) -> u64 {
        match self {
            Self::Frame(schunk) => schunk.items_nbytes(),
            other => other.nbytes(),
        }
    }

    /// Bytes that it takes in its file or files.
    pub fn stored(&self) -> u64 {
        match self {
            Self::Frame(schunk) => stored_nbytes(schunk),
            Self::Chunk(chunk) => chunk.stored(),
            Self::Blp(blp) => blp.file.file_len(),
            Self::Bcolz(set) => set.stored(),
            Self::Table(rows) => rows.sizes().1,
            Self::Opened(array) => array.stored_nbytes().unwrap_or_else(|| array.nbytes()),
        }
    }

    /// Bytes of an item.
    pub fn typesize(&self) -> u64 {
        match self {
            Self::Frame(schunk) => schunk.typesize() as u64,
            Self::Chunk(chunk) => chunk.header().typesize() as u64,
            Self::Blp(blp) => blp.typesize(),
            Self::Bcolz(set) => set.typesize(),
            Self::Table(rows) => rows.dtype().map_or(1, |dtype| dtype.itemsize().max(1) as u64),
            Self::Opened(array) => array.dtype().itemsize().max(1) as u64,
        }
    }

    /// The array that it is, if it is one.
    ///
    /// # Errors
    ///
    /// When it says that it is one, and cannot be.
    pub fn layout(&self) -> Result<Option<Layout>> {
        Ok(match self {
            Self::Frame(schunk) => match schunk.nd_meta()? {
                Some(meta) => {
                    let dtype = item_dtype(&meta, schunk.typesize());
                    Some(Layout::in_c_order(dtype, meta.shape().to_vec()))
                }
                // Metadata of a Bloscpack file, or of python-blosc2, may tell of an array.
                None => {
                    let info = Metadata::of_frame(schunk)?.array();
                    info.filter(|info| info.nbytes() == schunk.nbytes()).map(Layout::from)
                }
            },
            Self::Blp(blp) => blp.file.array_info()?.map(Layout::from),
            Self::Bcolz(set) => Some(Layout::in_c_order(set.dtype()?, set.shape())),
            Self::Table(rows) => Some(Layout::in_c_order(rows.dtype()?, rows.shape()?)),
            Self::Opened(array) => {
                Some(Layout::in_c_order(array.dtype().clone(), array.shape().to_vec()))
            }
            Self::Chunk(_) => None,
        })
    }

    /// The array that it is, read within `budget`, or else the object.
    ///
    /// # Errors
    ///
    /// When it says that it is one, and cannot be.
    pub fn into_array(self, budget: &Budget) -> Result<core::result::Result<Arc<dyn Array>, Self>> {
        Ok(match self {
            Self::Frame(schunk) => match schunk.nd_array()? {
                Some(array) => Ok(Arc::new(frame::FrameArray::new(array.budget(budget.clone())))),
                None => match frame::tensor(&schunk)? {
                    Some(array) => Ok(array),
                    None => Err(Self::Frame(schunk)),
                },
            },
            Self::Blp(blp) => match blp.file.array_info()? {
                Some(info) => Ok(blp::array(*blp, info)),
                None => Err(Self::Blp(blp)),
            },
            Self::Bcolz(set) => match set.tuned(budget)? {
                DataSet::CArray(array) => Ok(bcolz_array(array)),
                DataSet::CTable(_) => Err(Self::Bcolz(set)),
            },
            Self::Opened(array) => Ok(array),
            object => Err(object),
        })
    }

    /// The data as they are stored, read within `budget`: of a frame its bytes, whatever these
    /// hold, so that one with damaged values can be looked at.
    ///
    /// # Errors
    ///
    /// When one chunk does not fit into the memory; a column that cannot be opened.
    pub fn into_stored(self, budget: &Budget) -> Result<Data> {
        Ok(match self {
            Self::Frame(schunk) => frame::bytes(schunk),
            Self::Bcolz(set) => bcolz_data(set.tuned(budget)?, set.stored())?,
            object => Content::Object(object).into_data("", budget)?,
        })
    }

    /// Bytes of the content: of an array those of its items, without padding; of a table those of
    /// its rows, as structured arrays of NumPy have them.
    ///
    /// # Errors
    ///
    /// A frame that says that it is an array, and cannot be one; values without a NumPy type.
    pub fn content_nbytes(&self) -> Result<u64> {
        match self {
            Self::Frame(schunk) => {
                Ok(schunk.nd_array()?.map_or(schunk.nbytes(), |array| array.nbytes()))
            }
            Self::Chunk(_) | Self::Blp(_) | Self::Opened(_) => Ok(self.nbytes()),
            Self::Bcolz(set) => set.content_nbytes(),
            Self::Table(rows) => rows.content_nbytes(),
        }
    }

    /// Hands the bytes `range` of the content to `sink`, piece by piece in order.
    ///
    /// # Errors
    ///
    /// Damage, after all data before it; or the error of `sink`. A range beyond the end is the
    /// caller's fault.
    pub fn part<E: SinkError>(
        &self,
        range: Range<u64>,
        budget: &Budget,
        sink: Sink<'_, E>,
    ) -> Result<(), E> {
        match self {
            Self::Frame(schunk) => frame::part(schunk, range, budget, sink),
            Self::Chunk(chunk) => chunk.part(range, budget, sink),
            Self::Blp(blp) => blp.part(range, budget, sink),
            Self::Bcolz(set) => set.part(range, budget, sink),
            Self::Table(rows) => {
                let is_all = range == (0..rows.content_nbytes()?);
                rows.part(range, sink)?;
                if is_all { Ok(rows.compare_seals()?) } else { Ok(()) }
            }
            Self::Opened(array) => {
                let is_all = range == (0..array.nbytes());
                by_boxes::part(&**array, range, budget, sink)?;
                if is_all { Ok(array.compare_seals()?) } else { Ok(()) }
            }
        }
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Object").field(&self.format()).finish()
    }
}

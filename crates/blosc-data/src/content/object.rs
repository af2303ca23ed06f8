//! An object of a Blosc format: a frame, a bare chunk, a file, a data set, rows of a table. All
//! have a known length, and can be read in parts.

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

/// An object with content.
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
    /// The format, with its name in `info`.
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

    /// Compares the data read with the seals of frames. Callers do this after reading, before they
    /// use the data. Other containers compare each chunk when it is read.
    ///
    /// # Errors
    ///
    /// Bytes that differ from the sealed ones.
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

    /// Stored bytes, in one or several files.
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

    /// The layout of the array, if the object is one.
    ///
    /// # Errors
    ///
    /// When the metadata describe an array that the object cannot be.
    pub fn layout(&self) -> Result<Option<Layout>> {
        Ok(match self {
            Self::Frame(schunk) => match schunk.nd_meta()? {
                Some(meta) => {
                    let dtype = item_dtype(&meta, schunk.typesize());
                    Some(Layout::in_c_order(dtype, meta.shape().to_vec()))
                }
                // Metadata of Bloscpack, or of python-blosc2, may describe an array.
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

    /// The array, read within `budget`; an object without an array comes back.
    ///
    /// # Errors
    ///
    /// When the metadata describe an array that the object cannot be.
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

    /// The stored data, read within `budget`. A frame gives its bytes, so that one with damaged
    /// values can be read.
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

    /// Bytes of the content: of an array its items without padding, of a table its rows, as in
    /// NumPy's structured arrays.
    ///
    /// # Errors
    ///
    /// A frame with metadata of an impossible array; values without a NumPy type.
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

    /// Hands the bytes `range` of the content to `sink` in order, in pieces.
    ///
    /// # Errors
    ///
    /// Damage, after all data before it; the error of `sink`. The caller keeps the range within the
    /// content.
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

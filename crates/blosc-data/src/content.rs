//! The content of any input, for programs that convert or compare: stored chunks, items in C order,
//! metadata.

mod bcolz;
mod items;
pub mod metadata;
mod object;
mod open;
mod records;
pub mod rows;

use core::ops::Range;
use std::{io::Write as _, path::Path, sync::Arc};

use b2frame::{ChunkBytes, SChunk, nd::NdMeta};
use blosc_chunk::{ChunkHeader, SpecialKind};
use blosc_dtype::{
    Dtype, Kind,
    npy::{NpyError, NpyHeader},
};
use blosc_io::ReadAt;
use bloscpack::numpy::{ArrayInfo, Order};

use crate::Budget;
use crate::boxes::{BoxSource, Boxes, Stored, count};
use crate::dataset::Data;
use crate::error::{Doing, Error, Refusal, Result};
use crate::formats::blp::{self, Blp};
use crate::formats::{bcolz_data, frame, store};
use crate::size::as_len;
use crate::spool::Spool;

pub use bcolz::{Bcolz, starts, stored_nbytes};
pub use items::{Items, NULL_MARK, NULL_TRUTH};
pub use metadata::Metadata;
pub use object::Object;
pub(crate) use open::of_format;
pub use open::{of_file, of_source};
pub(crate) use records::RecordTable;
pub use records::Records;
pub(crate) use rows::null_item;
pub use rows::{Copied, TableRows};

/// Takes pieces of content.
pub type Sink<'a, E = Error> = &'a mut dyn FnMut(&[u8]) -> Result<(), E>;

/// The error of a sink; errors of reading are converted into it.
pub trait SinkError: From<Error> + From<b2frame::Error> + From<bloscpack::Error> {}

impl<E: From<Error> + From<b2frame::Error> + From<bloscpack::Error>> SinkError for E {}

/// An open input.
#[derive(Debug)]
pub enum Content {
    /// An object of a Blosc format, or one that an opener has opened.
    Object(Object),
    /// Items in a file: raw data, a `.npy` file, text.
    Items(Items),
}

/// Type, shape and order of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Type of the items.
    pub dtype: Dtype,
    /// Items per dimension.
    pub shape: Vec<u64>,
    /// Whether the first dimension varies fastest.
    pub fortran_order: bool,
}

/// A stored chunk.
#[derive(Debug)]
pub enum Packed {
    /// The bytes of the chunk, of Blosc 1 or Blosc2.
    Bytes(Vec<u8>),
    /// A run, which has no bytes of its own.
    Run {
        /// The value that is repeated.
        kind: SpecialKind,
        /// Bytes of data.
        nbytes: usize,
    },
}

impl From<ArrayInfo> for Layout {
    fn from(info: ArrayInfo) -> Self {
        let (dtype, shape) = (info.dtype().clone(), info.shape().to_vec());
        Self { dtype, shape, fortran_order: info.order() == Order::F }
    }
}

impl Layout {
    /// An array in C order.
    pub fn in_c_order(dtype: Dtype, shape: Vec<u64>) -> Self {
        Self { dtype, shape, fortran_order: false }
    }

    /// The layout with the type that a user gives, if the items have none: an opaque type of the
    /// same size. C programs that name no type, and Caterva, leave such types.
    #[must_use]
    pub fn typed(self, given: Option<&Dtype>) -> Self {
        let is_void = self.dtype.kind() == Some(Kind::Void);
        match given.filter(|it| is_void && it.itemsize() == self.dtype.itemsize()) {
            Some(dtype) => Self { dtype: dtype.clone(), ..self },
            None => self,
        }
    }

    /// The header of a `.npy` file of such an array.
    ///
    /// # Errors
    ///
    /// When NumPy cannot describe the items.
    pub fn npy_header(self) -> Result<Vec<u8>> {
        let Self { dtype, shape, fortran_order } = self;
        let header = NpyHeader { dtype, fortran_order, shape, len: 0 };
        header.to_bytes().ok_or_else(|| Refusal::NoNpyType(header.dtype.to_string()).into())
    }
}

impl Content {
    /// The frame of the content, if it is one.
    pub fn frame(&self) -> Option<&Arc<SChunk>> {
        match self {
            Self::Object(Object::Frame(schunk)) => Some(schunk),
            _ => None,
        }
    }

    /// The rows of a store's table, if the content is one.
    pub fn rows(&self) -> Option<&TableRows> {
        match self {
            Self::Object(Object::Table(rows)) => Some(rows),
            _ => None,
        }
    }

    /// The fields of truth values that may be [`NULL_TRUTH`].
    pub fn nullable(&self) -> &[String] {
        match self {
            Self::Items(items) => &items.nullable,
            Self::Object(_) => &[],
        }
    }

    /// Whether a byte for each field [marks](Items::is_marked) nulls.
    pub fn is_marked(&self) -> bool {
        match self {
            Self::Items(items) => items.is_marked,
            Self::Object(Object::Table(rows)) => rows.is_marked(),
            Self::Object(_) => false,
        }
    }

    /// The Bloscpack file, if the content is one.
    pub fn blp(&self) -> Option<&Blp> {
        match self {
            Self::Object(Object::Blp(blp)) => Some(blp),
            _ => None,
        }
    }

    /// The format, with its name in `info`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Object(object) => object.format(),
            Self::Items(items) => items.format,
        }
    }

    /// The data, with `name` as their name. Arrays are read with the threads and the memory of
    /// `budget`.
    ///
    /// # Errors
    ///
    /// Values of a frame that are damaged; a type that no column can hold.
    pub fn into_data(self, name: &str, budget: &Budget) -> Result<Data> {
        Ok(match self {
            Self::Object(Object::Frame(schunk)) => frame::data(schunk, name, budget)?,
            Self::Object(Object::Chunk(chunk)) => Data::Bytes(Arc::new(*chunk)),
            Self::Object(Object::Blp(blp)) => blp::of_file(*blp),
            Self::Object(Object::Bcolz(set)) => {
                let stored = set.stored();
                bcolz_data(set.set, stored)?
            }
            Self::Object(Object::Table(rows)) => store::of_rows(*rows)?,
            Self::Object(Object::Opened(array)) => Data::Array(array),
            Self::Items(items) if items.format == "csv" => {
                Data::Table(Arc::new(RecordTable::new(items)?))
            }
            Self::Items(items) => Data::Array(Arc::new(items)),
        })
    }

    /// Bytes of the content.
    ///
    /// # Errors
    ///
    /// A frame with metadata of an impossible array; values without a NumPy type.
    pub fn nbytes(&self) -> Result<u64> {
        match self {
            Self::Object(object) => object.content_nbytes(),
            Self::Items(items) => Ok(items.nbytes()),
        }
    }

    /// Bytes of the file.
    pub fn stored(&self) -> u64 {
        match self {
            Self::Object(object) => object.stored(),
            Self::Items(items) => items.file_len,
        }
    }

    /// Bytes of an item.
    pub fn typesize(&self) -> usize {
        let typesize = match self {
            Self::Object(object) => object.typesize(),
            Self::Items(items) => items.stored.itemsize,
        };
        as_len(typesize).max(1)
    }

    /// The metadata.
    ///
    /// # Errors
    ///
    /// Metadata that are damaged.
    pub fn metadata(&self) -> Result<Metadata> {
        match self {
            Self::Object(Object::Frame(schunk)) => Metadata::of_frame(schunk),
            Self::Object(Object::Blp(blp)) => Ok(Metadata::of_blp(blp)),
            Self::Object(Object::Bcolz(set)) => Ok(Metadata::of_attrs(set.attrs_json()?)),
            Self::Object(Object::Table(rows)) => Ok(Metadata::of_attrs(rows.attributes()?)),
            Self::Object(Object::Opened(array)) => {
                Ok(Metadata::of_attrs(metadata::within_limits(array.attributes()?)))
            }
            _ => Ok(Metadata::default()),
        }
    }

    /// Metadata that the reader could not read.
    pub fn lost(&self) -> Vec<String> {
        match self {
            Self::Object(Object::Opened(array)) => array.lost(),
            _ => vec![],
        }
    }

    /// The layout of the array, if the content is one.
    ///
    /// # Errors
    ///
    /// When the metadata describe an array that the content cannot be.
    pub fn layout(&self) -> Result<Option<Layout>> {
        match self {
            Self::Object(object) => object.layout(),
            Self::Items(items) => Ok(Some(items.layout())),
        }
    }

    /// How the chunks of an array are laid out.
    ///
    /// # Errors
    ///
    /// A metalayer of an array that does not parse.
    pub fn nd_meta(&self) -> Result<Option<NdMeta>> {
        Ok(self.frame().map(|schunk| schunk.nd_meta()).transpose()?.flatten())
    }

    /// Bytes of data in every chunk but the last, which may have fewer; `None` if they vary, or
    /// there are no chunks.
    ///
    /// # Errors
    ///
    /// Chunks that cannot be found.
    pub fn chunksize(&self) -> Result<Option<usize>> {
        let size = match self {
            Self::Object(Object::Frame(schunk)) => schunk.chunksize().fixed(),
            Self::Object(Object::Chunk(chunk)) if chunk.header().is_vl() => None,
            Self::Object(Object::Chunk(chunk)) => {
                u32::try_from(chunk.header().nbytes()).ok().filter(|nbytes| *nbytes > 0)
            }
            Self::Object(Object::Blp(blp)) => blp.even_chunks()?,
            Self::Object(Object::Bcolz(_) | Object::Table(_) | Object::Opened(_))
            | Self::Items(_) => None,
        };
        Ok(size.and_then(|size| usize::try_from(size).ok()))
    }

    /// A stored chunk; `None` if it must be decoded.
    ///
    /// # Errors
    ///
    /// A number beyond the last chunk; a chunk that cannot be read, or exceeds `memory` (bytes).
    pub fn packed(&self, nchunk: u64, memory: u64) -> Result<Option<Packed>> {
        Ok(match self {
            Self::Object(Object::Frame(schunk)) => match schunk.chunk(nchunk)? {
                ChunkBytes::Special { kind, nbytes, .. } => Some(Packed::Run { kind, nbytes }),
                ChunkBytes::Stored(bytes) => Some(Packed::Bytes(bytes)),
                _ => None,
            },
            Self::Object(Object::Chunk(chunk)) => Some(Packed::Bytes(chunk.bytes(memory)?)),
            Self::Object(Object::Blp(blp)) => {
                Some(Packed::Bytes(blp.file.packed_chunk(nchunk)?.into_bytes()))
            }
            Self::Object(Object::Bcolz(_) | Object::Table(_) | Object::Opened(_))
            | Self::Items(_) => None,
        })
    }

    /// The header of the first chunk, for formats whose own header does not describe chunks.
    ///
    /// # Errors
    ///
    /// A chunk that cannot be read.
    pub fn first_header(&self) -> Result<Option<ChunkHeader>> {
        Ok(match self {
            Self::Object(Object::Chunk(chunk)) => Some(*chunk.header()),
            Self::Object(Object::Blp(blp)) if blp.file.nchunks()? > 0 => {
                Some(*blp.file.packed_chunk(0)?.header())
            }
            _ => None,
        })
    }

    /// The data of a chunk.
    ///
    /// # Errors
    ///
    /// A number beyond the last chunk; a chunk that cannot be read.
    pub fn data(&self, nchunk: u64, options: &Budget) -> Result<Vec<u8>> {
        match self {
            Self::Object(Object::Frame(schunk)) => Ok(schunk.decode_chunk(nchunk)?),
            Self::Object(Object::Blp(blp)) => Ok(blp.file.chunk(nchunk)?),
            _ => {
                let mut data = vec![];
                self.stream(options, &mut |bytes| {
                    data.extend_from_slice(bytes);
                    Ok::<(), Error>(())
                })?;
                Ok(data)
            }
        }
    }

    /// Hands the content to `sink` in pieces, in its stored order; arrays in frames come in C
    /// order.
    ///
    /// # Errors
    ///
    /// Damage, after all data before it; the error of `sink`.
    pub fn stream<E: SinkError>(&self, options: &Budget, sink: Sink<'_, E>) -> Result<(), E> {
        self.part(0..self.nbytes()?, options, sink)
    }

    /// Hands the bytes `range` of the content to `sink` in order, in pieces.
    ///
    /// # Errors
    ///
    /// As [`stream`](Self::stream). The caller keeps the range within the content.
    pub fn part<E: SinkError>(
        &self,
        range: Range<u64>,
        options: &Budget,
        sink: Sink<'_, E>,
    ) -> Result<(), E> {
        match self {
            Self::Object(object) => object.part(range, options, sink),
            Self::Items(items) => items.part(range, sink),
        }
    }

    /// The items in a file: their own, or a temporary one.
    ///
    /// # Errors
    ///
    /// As [`stream`](Self::stream); when the system cannot keep a temporary file.
    pub fn in_file(&self, layout: &Layout, options: &Budget) -> Result<Stored> {
        let (store, start): (Arc<dyn ReadAt>, u64) = match self {
            Self::Items(items) => (Arc::clone(&items.stored.store), items.stored.start),
            Self::Object(_) => {
                let mut spool = Spool::default();
                self.stream(options, &mut |bytes| {
                    spool.write_all(bytes).map_err(Error::io(Doing::Spool))
                })?;
                (spool.finish()?, 0)
            }
        };
        let Layout { dtype, shape, fortran_order } = layout.clone();
        Ok(Stored { store, start, shape, itemsize: dtype.itemsize() as u64, fortran_order })
    }

    /// Compares the data read with their seals ([`Object::compare_seals`]).
    ///
    /// # Errors
    ///
    /// Bytes that differ from the sealed ones.
    pub fn compare_seals(&self) -> Result<()> {
        match self {
            Self::Object(object) => object.compare_seals(),
            Self::Items(_) => Ok(()),
        }
    }

    /// Hands the content to `sink`, arrays in C order. Where the order changes, pieces have at most
    /// `budget` bytes, or one row.
    ///
    /// # Errors
    ///
    /// As [`stream`](Self::stream).
    pub fn in_c_order<E: SinkError>(
        &self,
        options: &Budget,
        budget: u64,
        sink: Sink<'_, E>,
    ) -> Result<(), E> {
        // An array whose metadata contradict it is read as bytes.
        let layout = self.layout().ok().flatten().filter(|layout| layout.fortran_order);
        let Some(layout) = layout else { return self.stream(options, sink) };
        let mut items = BoxSource::File(self.in_file(&layout, options)?);
        let itemsize = layout.dtype.itemsize() as u64;
        let mut row = vec![u32::MAX; layout.shape.len()];
        row.first_mut().into_iter().for_each(|len| *len = 1);
        let mut piece = vec![];
        for bounds in Boxes::new(&layout.shape, &row, itemsize, budget) {
            piece.resize(as_len(count(&bounds) * itemsize), 0);
            items.fill(&bounds, &mut piece)?;
            sink(&piece)?;
        }
        Ok(())
    }
}

/// The header of the `.npy` file at `path`.
///
/// # Errors
///
/// A file that cannot be read, or has no such header.
pub fn npy_header(path: &Path) -> Result<NpyHeader> {
    let file = blosc_io::FileStore::open(path).map_err(Error::open(path))?;
    Ok(items::npy_header(&file)?.ok_or(NpyError::NotNpy)?)
}

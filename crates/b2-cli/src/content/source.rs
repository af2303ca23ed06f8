//! An input that is open: its chunks as they are, or its content.

use core::ops::Range;
use std::{io::Write, path::Path, sync::Arc};

use b2frame::{Budget, ChunkBytes, SChunk, nd::NdMeta};
use blosc_chunk::{ChunkHeader, SpecialKind};
use blosc_dtype::{
    Dtype,
    npy::{self, NpyHeader},
};
use blosc_io::{FileStore, ReadAt};
use bloscpack::numpy::{ArrayInfo, Order};

use super::metadata::{Metadata, within_limits};
use crate::{
    console::Console,
    error::{Doing, Error, Result, message},
    formats::{
        Blp, Boxes, Stored, TableRows,
        csv_table::{self, Values},
        stored_array::{BoxSource, count},
    },
    inputs::{Object, Sink, decoded, item_type},
    memory,
};

/// Bytes of a file that are read at once.
const MAX_PIECE_NBYTES: usize = 1 << 20;

/// An input, as those who read it need it.
pub(crate) enum Source {
    /// Something of a Blosc format.
    Object(Object),
    /// Items as they are in a file: raw data, or a `.npy` file.
    Items(Items),
}

/// Items of an array in a file.
pub(crate) struct Items {
    /// Where they are.
    pub(crate) stored: Stored,
    /// What they are.
    pub(crate) dtype: Dtype,
    /// Bytes of the file.
    pub(crate) file_len: u64,
    /// The name of the format.
    pub(crate) format: &'static str,
}

impl Items {
    /// The items of a file: those of the array of a `.npy` file, and else what `otherwise` says of
    /// as many bytes.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, a damaged header, or the error of `otherwise`.
    pub(crate) fn in_file(
        store: FileStore,
        otherwise: impl FnOnce(u64) -> Result<Option<NpyHeader>>,
    ) -> Result<Option<Self>> {
        let file_len = store.len().map_err(Error::io(Doing::Open))?;
        let head = head(&store)?;
        let header = match head.starts_with(npy::MAGIC) {
            true => Some(NpyHeader::parse(&head)?),
            false => otherwise(file_len)?,
        };
        header.map(|header| Self::new(store, file_len, header)).transpose()
    }

    /// The bytes after a header, which may be none. More bytes may follow the array of a `.npy`
    /// file, as an append leaves them that was interrupted: NumPy does not look at them either.
    ///
    /// # Errors
    ///
    /// [`Error::ArrayLen`] when there are less than it says, or more without a header.
    pub(crate) fn new(store: FileStore, file_len: u64, header: NpyHeader) -> Result<Self> {
        let found = file_len.saturating_sub(header.len as u64);
        let expected = header.nbytes().unwrap_or(u64::MAX);
        if expected > found || (expected < found && header.len == 0) {
            return Err(Error::ArrayLen { expected, found });
        }
        let stored = Stored {
            store: Arc::new(store),
            start: header.len as u64,
            fortran_order: header.fortran_order && header.shape.len() > 1,
            shape: header.shape,
            itemsize: header.dtype.itemsize() as u64,
        };
        let format = if header.len > 0 { "npy" } else { "raw" };
        Ok(Self { stored, dtype: header.dtype, file_len, format })
    }

    /// Bytes of the items.
    fn nbytes(&self) -> u64 {
        memory::nbytes(self.stored.itemsize, &self.stored.shape)
    }

    /// Bytes of the file after the items.
    pub(crate) fn trailing(&self) -> u64 {
        self.file_len.saturating_sub(self.stored.start).saturating_sub(self.nbytes())
    }

    /// Warns of bytes after the items.
    pub(crate) fn warn_of_trailing(&self, console: &Console, name: &str) {
        if self.trailing() > 0 {
            console.warning(name, &npy_trailing_text(self.trailing()));
        }
    }
}

/// Says that bytes follow the array of a `.npy` file.
pub(crate) fn npy_trailing_text(nbytes: u64) -> String {
    format!("{nbytes} bytes after the array are no part of it: an append was interrupted")
}

/// What makes data an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<u64>,
    /// Is the first dimension the fastest?
    pub(crate) fortran_order: bool,
}

/// A compressed chunk, as it is.
#[derive(Debug)]
pub(crate) enum Packed {
    /// Its bytes, of Blosc 1 or Blosc2.
    Bytes(Vec<u8>),
    /// A run that is not stored.
    Run { kind: SpecialKind, nbytes: usize },
}

impl From<ArrayInfo> for Layout {
    fn from(info: ArrayInfo) -> Self {
        let (dtype, shape) = (info.dtype().clone(), info.shape().to_vec());
        Self { dtype, shape, fortran_order: info.order() == Order::F }
    }
}

impl Layout {
    /// An array in C order.
    pub(crate) fn in_c_order(dtype: Dtype, shape: Vec<u64>) -> Self {
        Self { dtype, shape, fortran_order: false }
    }

    /// The header of a `.npy` file of such an array.
    ///
    /// # Errors
    ///
    /// When NumPy cannot describe the items.
    pub(crate) fn npy_header(self) -> Result<Vec<u8>> {
        let Self { dtype, shape, fortran_order } = self;
        let header = NpyHeader { dtype, fortran_order, shape, len: 0 };
        header.to_bytes().ok_or_else(|| message::NO_NPY_DTYPE.about(header.dtype))
    }
}

/// The array that an object is, if it is one.
///
/// # Errors
///
/// When it says that it is one, and cannot be.
pub(crate) fn layout_of(object: &Object) -> Result<Option<Layout>> {
    Ok(match object {
        Object::Frame(schunk) => match schunk.nd_meta()? {
            Some(meta) => {
                let dtype = item_type(&meta, schunk.header().typesize().get())?;
                Some(Layout::in_c_order(dtype, meta.shape().to_vec()))
            }
            // A frame that was an array in a Bloscpack file has kept its metadata.
            None => {
                let info = Metadata::of_frame(schunk)?.array();
                info.filter(|info| info.nbytes() == schunk.nbytes()).map(Layout::from)
            }
        },
        Object::Blp(blp) => blp.file.array_info()?.map(Layout::from),
        Object::Bcolz(set) => Some(Layout::in_c_order(set.dtype()?, set.shape())),
        Object::Table(rows) => Some(Layout::in_c_order(rows.dtype()?, rows.shape()?)),
        Object::Opened(array) => {
            Some(Layout::in_c_order(array.dtype().clone(), array.shape().to_vec()))
        }
        Object::Chunk(_) => None,
    })
}

impl Source {
    /// The frame that it is.
    pub(crate) fn frame(&self) -> Option<&Arc<SChunk>> {
        match self {
            Self::Object(Object::Frame(schunk)) => Some(schunk),
            _ => None,
        }
    }

    /// The rows of a table of a store that it is.
    pub(crate) fn rows(&self) -> Option<&TableRows> {
        match self {
            Self::Object(Object::Table(rows)) => Some(rows),
            _ => None,
        }
    }

    /// The Bloscpack file that it is.
    pub(crate) fn blp(&self) -> Option<&Blp> {
        match self {
            Self::Object(Object::Blp(blp)) => Some(blp),
            _ => None,
        }
    }

    /// The format, as `info` calls it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Object(object) => object.format(),
            Self::Items(items) => items.format,
        }
    }

    /// Bytes of the content.
    pub(crate) fn nbytes(&self) -> Result<u64> {
        match self {
            Self::Object(object) => decoded::nbytes(object),
            Self::Items(items) => Ok(items.nbytes()),
        }
    }

    /// Bytes of the file.
    pub(crate) fn stored(&self) -> u64 {
        match self {
            Self::Object(object) => object.stored(),
            Self::Items(items) => items.file_len,
        }
    }

    /// Bytes of an item.
    pub(crate) fn typesize(&self) -> usize {
        let typesize = match self {
            Self::Object(object) => object.typesize(),
            Self::Items(items) => items.stored.itemsize,
        };
        memory::as_len(typesize).max(1)
    }

    /// The metadata.
    pub(crate) fn metadata(&self) -> Result<Metadata> {
        match self {
            Self::Object(Object::Frame(schunk)) => Metadata::of_frame(schunk),
            Self::Object(Object::Blp(blp)) => Ok(Metadata::of_blp(blp)),
            Self::Object(Object::Bcolz(set)) => Ok(Metadata::of_attrs(set.attrs_json()?)),
            Self::Object(Object::Table(rows)) => Ok(Metadata::of_attrs(rows.attributes()?)),
            Self::Object(Object::Opened(array)) => {
                Ok(Metadata::of_attrs(within_limits(array.attributes()?)))
            }
            _ => Ok(Metadata::default()),
        }
    }

    /// Metadata that its reader cannot give.
    pub(crate) fn lost(&self) -> Vec<String> {
        match self {
            Self::Object(Object::Opened(array)) => array.lost(),
            _ => vec![],
        }
    }

    /// The array that it is, if it is one.
    ///
    /// # Errors
    ///
    /// When it says that it is one, and cannot be.
    pub(crate) fn layout(&self) -> Result<Option<Layout>> {
        match self {
            Self::Object(object) => layout_of(object),
            Self::Items(items) => Ok(Some(Layout {
                dtype: items.dtype.clone(),
                shape: items.stored.shape.clone(),
                fortran_order: items.stored.fortran_order,
            })),
        }
    }

    /// How the chunks of an array are laid out.
    pub(crate) fn nd_meta(&self) -> Result<Option<NdMeta>> {
        Ok(self.frame().map(|schunk| schunk.nd_meta()).transpose()?.flatten())
    }

    /// Bytes of data in every chunk but the last, which may have fewer; `None` if they vary, or
    /// there is none.
    pub(crate) fn chunksize(&self) -> Result<Option<usize>> {
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

    /// A chunk as it is; `None` if it has to be decoded.
    pub(crate) fn packed(&self, nchunk: u64, memory: u64) -> Result<Option<Packed>> {
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

    /// The header of the first chunk, for formats without a header of their own for all chunks.
    pub(crate) fn first_header(&self) -> Result<Option<ChunkHeader>> {
        Ok(match self {
            Self::Object(Object::Chunk(chunk)) => Some(*chunk.header()),
            Self::Object(Object::Blp(blp)) if blp.file.nchunks()? > 0 => {
                Some(*blp.file.packed_chunk(0)?.header())
            }
            _ => None,
        })
    }

    /// The data of a chunk.
    pub(crate) fn data(&self, nchunk: u64, options: &Budget) -> Result<Vec<u8>> {
        match self {
            Self::Object(Object::Frame(schunk)) => Ok(schunk.decode_chunk(nchunk)?),
            Self::Object(Object::Blp(blp)) => Ok(blp.file.chunk(nchunk)?),
            _ => {
                let mut data = vec![];
                self.stream(options, &mut |bytes| {
                    data.extend_from_slice(bytes);
                    Ok(())
                })?;
                Ok(data)
            }
        }
    }

    /// Hands the content to `sink`, piece by piece in the order in which it is stored; arrays in
    /// frames are put in C order.
    pub(crate) fn stream(&self, options: &Budget, sink: Sink<'_>) -> Result<()> {
        match self {
            Self::Object(object) => decoded::all(object, options, sink),
            Self::Items(items) => items.part(0..self.nbytes()?, sink),
        }
    }

    /// Hands the bytes `range` of the content to `sink`, piece by piece in order.
    pub(crate) fn part(&self, range: Range<u64>, options: &Budget, sink: Sink<'_>) -> Result<()> {
        match self {
            Self::Object(object) => decoded::part(object, range, options, sink),
            Self::Items(items) => items.part(range, sink),
        }
    }

    /// The items somewhere in a file: where they are, or in a temporary one.
    pub(crate) fn in_file(&self, layout: &Layout, options: &Budget) -> Result<Stored> {
        let (store, start): (Arc<dyn ReadAt>, u64) = match self {
            Self::Items(items) => (Arc::clone(&items.stored.store), items.stored.start),
            Self::Object(_) => {
                let mut file = tempfile::tempfile().map_err(Error::io(Doing::Spool))?;
                self.stream(options, &mut |bytes| {
                    file.write_all(bytes).map_err(Error::io(Doing::Spool))
                })?;
                (Arc::new(FileStore::from_file(file)), 0)
            }
        };
        let Layout { dtype, shape, fortran_order } = layout.clone();
        Ok(Stored { store, start, shape, itemsize: dtype.itemsize() as u64, fortran_order })
    }

    /// Compares what was read with its seals ([`Object::compare_seals`]).
    ///
    /// # Errors
    ///
    /// Bytes that are not those that were sealed.
    pub(crate) fn compare_seals(&self) -> Result<()> {
        match self {
            Self::Object(object) => object.compare_seals(),
            Self::Items(_) => Ok(()),
        }
    }

    /// Hands the content to `sink`, arrays in C order, in pieces of at most `budget` bytes where
    /// they have to be put in order, or of one row.
    pub(crate) fn in_c_order(&self, options: &Budget, budget: u64, sink: Sink<'_>) -> Result<()> {
        // What contradicts itself is no array, but data all the same.
        let layout = self.layout().ok().flatten().filter(|layout| layout.fortran_order);
        let Some(layout) = layout else { return self.stream(options, sink) };
        let mut items = BoxSource::File(self.in_file(&layout, options)?);
        let itemsize = layout.dtype.itemsize() as u64;
        let mut row = vec![u32::MAX; layout.shape.len()];
        row.first_mut().into_iter().for_each(|len| *len = 1);
        let mut piece = vec![];
        for bounds in Boxes::new(&layout.shape, &row, itemsize, budget) {
            piece.resize(memory::as_len(count(&bounds) * itemsize), 0);
            items.fill(&bounds, &mut piece)?;
            sink(&piece)?;
        }
        Ok(())
    }
}

impl Items {
    fn part(&self, range: Range<u64>, sink: Sink<'_>) -> Result<()> {
        let most = memory::as_len(range.end.saturating_sub(range.start)).min(MAX_PIECE_NBYTES);
        let (mut at, mut buffer) = (range.start, vec![0; most]);
        while at < range.end {
            let len = memory::as_len(range.end - at).min(most);
            self.stored.read(at, &mut buffer[..len])?;
            sink(&buffer[..len])?;
            at += len as u64;
        }
        Ok(())
    }
}

/// Comma-separated values, as items with fields: those of the `given` type, or what they look like.
pub(crate) fn values(path: &Path, delimiter: u8, given: Option<&Dtype>) -> Result<Items> {
    let Values { dtype, rows, file } = csv_table::read(path, delimiter, given)?;
    let store = FileStore::from_file(file);
    let file_len = store.len().map_err(Error::io(Doing::Spool))?;
    let itemsize = dtype.itemsize() as u64;
    let stored = Stored {
        store: Arc::new(store),
        start: 0,
        fortran_order: false,
        shape: vec![rows],
        itemsize,
    };
    Ok(Items { stored, dtype, file_len, format: "csv" })
}

/// The first bytes of a file.
pub(crate) fn head(store: &FileStore) -> Result<Vec<u8>> {
    let len = store.len().map_err(Error::io(Doing::Open))?;
    let mut head = vec![0; memory::as_len(len).min(NPY_HEAD_NBYTES)];
    store.read_exact_at(0, &mut head).map_err(Error::io(Doing::Read))?;
    Ok(head)
}

/// The header of a `.npy` file.
pub(crate) fn npy_header(path: &Path) -> Result<NpyHeader> {
    let head = head(&FileStore::open(path).map_err(Error::io(Doing::Open))?)?;
    Ok(NpyHeader::parse(&head)?)
}

/// Bytes in which the header of a `.npy` file should be.
const NPY_HEAD_NBYTES: usize = 256 << 10;

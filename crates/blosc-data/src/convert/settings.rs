//! Settings of a conversion, complete before the work begins.

use b2frame::Checksums;
use b2store::StoreForm;
use blosc_chunk::{CodecId, Level, Pipeline, Target};
use blosc_dtype::Dtype;
use blosc_io::Durability;
use blosc_io::replace::Unfinished;
use bloscpack::Checksum;

use crate::params::OpenOptions;
use crate::resources::Resources;
use crate::size::nbytes;

/// An output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputFormat {
    /// A contiguous Blosc2 frame.
    #[default]
    B2frame,
    /// A sparse Blosc2 frame, which is a directory.
    Sframe,
    /// An n-dimensional array in a contiguous frame.
    B2nd,
    /// A Bloscpack file.
    Blp,
    /// A `.npy` file.
    Npy,
    /// One chunk and nothing else, as Zarr stores them.
    Chunk,
    /// The bytes of the items, arrays in C order.
    Raw,
    /// An array of bcolz; of items with fields, a table.
    Carray,
    /// A table of bcolz.
    Ctable,
    /// Comma-separated values.
    Csv,
    /// A store of python-blosc2 in a zip archive: a table, or one value.
    B2z,
    /// A store of python-blosc2 in a directory.
    B2d,
    /// A Parquet file (builds with the feature `parquet`).
    Parquet,
}

impl OutputFormat {
    /// The suffix of files of this format.
    #[must_use]
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::B2frame => ".b2frame",
            Self::Sframe => ".sframe",
            Self::B2nd => ".b2nd",
            Self::Blp => ".blp",
            Self::Npy => ".npy",
            Self::Chunk => ".chunk",
            Self::Raw => ".raw",
            Self::Carray | Self::Ctable => ".bcolz",
            Self::Csv => ".csv",
            Self::B2z => ".b2z",
            Self::B2d => ".b2d",
            Self::Parquet => ".parquet",
        }
    }

    /// Whether it is a directory.
    #[must_use]
    pub const fn is_folder(self) -> bool {
        matches!(self, Self::Sframe | Self::Carray | Self::Ctable | Self::B2d)
    }

    /// Whether it is a store of python-blosc2.
    #[must_use]
    pub const fn is_store(self) -> bool {
        matches!(self, Self::B2z | Self::B2d)
    }

    /// The form of a store of this format.
    #[must_use]
    pub const fn store_form(self) -> StoreForm {
        match self {
            Self::B2d => StoreForm::Dir,
            _ => StoreForm::Zip,
        }
    }

    /// The name of the format.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Carray => "carray",
            Self::Ctable => "ctable",
            other => other.suffix().trim_start_matches('.'),
        }
    }
}

blosc_chunk::setters! {
/// The compression of the output. Without any of these, chunks are moved wherever the output can
/// hold them. `None` keeps the setting of the input.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Compression {
    /// The codec and its parameter.
    pub codec: Option<(CodecId, u8)>,
    /// The level.
    pub level: Option<Level>,
    /// Whether LZ4 is the default codec.
    pub is_fast: bool,
    /// The filters.
    pub filters: Option<Pipeline>,
    /// Bytes of data per chunk of a format without arrays.
    pub chunk_nbytes: Option<u64>,
    /// Bytes of data per block of a format without arrays.
    pub block_nbytes: Option<u64>,
    /// Items per dimension of a chunk of an array.
    pub chunkshape: Option<Vec<u64>>,
    /// Items per dimension of a block of an array.
    pub blockshape: Option<Vec<u64>>,
    /// The oldest reader.
    pub target: Option<Target>,
}
}

impl Compression {
    /// Whether a setting may need other chunks than those of the input. A target may be reached by
    /// another header alone.
    #[must_use]
    pub const fn is_wanted(&self) -> bool {
        self.level.is_some()
            || self.codec.is_some()
            || self.filters.is_some()
            || self.chunk_nbytes.is_some()
            || self.block_nbytes.is_some()
            || self.has_shapes()
    }

    /// Whether shapes of chunks or blocks were requested.
    pub(super) const fn has_shapes(&self) -> bool {
        self.chunkshape.is_some() || self.blockshape.is_some()
    }

    /// Whether sizes of chunks or blocks were requested.
    pub(super) const fn has_sizes(&self) -> bool {
        self.chunk_nbytes.is_some() || self.block_nbytes.is_some()
    }
}

/// A shape for items without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataShape {
    /// Items per dimension; 1 where the length is open.
    pub lens: Vec<u64>,
    /// The dimension whose length the data give.
    pub open: Option<usize>,
}

impl DataShape {
    /// Whether the data determine a length.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The shape of `nitems` items. The caller checks whether it fits.
    #[must_use]
    pub fn of_items(&self, nitems: u64) -> Vec<u64> {
        let mut lens = self.lens.clone();
        let others = nbytes(1, &lens);
        if let Some(open) = self.open.and_then(|open| lens.get_mut(open)) {
            *open = nitems.checked_div(others).unwrap_or(0);
        }
        lens
    }
}

blosc_chunk::setters! {
/// The output of a conversion, and its resources.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Settings {
    /// The format.
    pub format: OutputFormat,
    /// How it is compressed.
    pub compression: Compression,
    /// The type of items without one.
    pub dtype: Option<Dtype>,
    /// The shape of such items; `None` for one dimension.
    pub shape: Option<DataShape>,
    /// Checksums of a frame, an array, or the files of bcolz; `None` as in the input.
    pub checksums: Option<Checksums>,
    /// Checksums of the chunks of a Bloscpack file; `None` as in the input.
    pub digest: Option<Checksum>,
    /// The key of a value in a store: the name of the input.
    pub key: String,
    /// The name of the column for values without a name, in text.
    pub column: Option<String>,
    /// Whether the files of bcolz survive a loss of power.
    pub durability: Durability,
    /// Threads and memory.
    pub resources: Resources,
    /// Options for reading input and output, with codecs and filters.
    pub open: OpenOptions,
    /// The list of temporary files for signals.
    pub unfinished: Unfinished,
}
}

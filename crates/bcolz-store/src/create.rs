//! Options for making an array.
#![cfg_attr(
    not(test),
    expect(
        clippy::arithmetic_side_effects,
        reason = "rows and bytes that were compared with the layout"
    )
)]

use blosc_chunk::{Executor, Threads, setters};
use blosc_container::checksums::Checksums;
use blosc_dtype::Dtype;

use crate::Durability;
use crate::carray::CArray;
use crate::error::{Error, Param, Result};
use crate::layout::{Layout, MAX_CHUNK_BYTES};
use crate::meta::{self, Attrs, Sizes, Storage};
use crate::quantize::Quantize;
use crate::{StorageParams, chunklen, fill};
use blosc_dtype::json::Json;

setters! {
/// Options of a new array. All but the dtype have the defaults of bcolz.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CreateOptions {
    /// The type of an item; objects are not allowed.
    pub dtype: Dtype,
    /// Items of a row in each further dimension; empty for one-dimensional arrays.
    pub row_shape: Vec<u64>,
    /// Rows of a chunk. Default: the choice of bcolz for the expected length.
    pub chunklen: Option<u64>,
    /// The expected length, from which the chunk length follows. Default: none.
    pub expectedlen: Option<u64>,
    /// How chunks are compressed.
    pub cparams: StorageParams,
    /// The value that resizing fills with. Default: zero.
    pub dflt: Option<Json>,
    /// The first attributes.
    pub attrs: Attrs,
    /// The kind of failure that flushed changes survive.
    pub durability: Durability,
    /// Whether to write a file with a checksum of every chunk file; bcolz ignores it. Any value but
    /// [`Checksums::None`] means yes. Default: yes.
    pub checksums: Checksums,
    ;
    /// The threads that compress chunks; the written bytes do not depend on their number.
    pub threads: Executor,
}
}

impl CreateOptions {
    /// The defaults for items of a type.
    #[must_use]
    pub fn new(dtype: Dtype) -> Self {
        Self {
            dtype,
            row_shape: Vec::new(),
            chunklen: None,
            expectedlen: None,
            cparams: StorageParams::default(),
            dflt: None,
            attrs: Attrs::default(),
            durability: Durability::default(),
            checksums: Checksums::default(),
            threads: Threads::Auto.into(),
        }
    }

    /// Sets [`threads`](Self#structfield.threads): their number, or an executor.
    #[must_use]
    pub fn threads(self, threads: impl Into<Executor>) -> Self {
        Self { threads: threads.into(), ..self }
    }

    /// The options that make an array like `array`: type, rows, chunk length, compression, fill
    /// value and attributes.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let (from, to) = (dir.path().join("a"), dir.path().join("b"));
    /// # use bcolz_store::{CArray, CArrayWriter, CTable, CreateOptions, Dtype};
    /// # let mut attrs = bcolz_store::Attrs::default();
    /// # attrs.set("unit", "K");
    /// # let options = CreateOptions::new(Dtype::parse("int16")?).attrs(attrs);
    /// # let mut writer = CArrayWriter::create(&from, &options)?;
    /// # writer.append(&[7, 0, 8, 0])?;
    /// # writer.finish()?;
    /// let array = CArray::open(from)?;
    /// let mut copy = CArrayWriter::create(to, &CreateOptions::like(&array)?)?;
    /// for block in array.blocks(0) {
    ///     copy.append(&block?)?;
    /// }
    /// assert_eq!(copy.attrs(), &array.attrs()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the attributes are damaged.
    pub fn like(array: &CArray) -> Result<Self> {
        let new = Self::new(array.dtype().clone());
        Ok(new
            .row_shape(array.shape().iter().skip(1).copied().collect())
            .chunklen(Some(array.chunklen()))
            .expectedlen(array.expectedlen().and_then(|len| len.try_into().ok()))
            .cparams(array.cparams())
            .dflt(array.dflt().cloned())
            .attrs(array.attrs()?))
    }

    /// The metadata of the new, empty array, if the options go together.
    pub(crate) fn to_metadata(&self, path: &str) -> Result<(Sizes, Storage, Layout)> {
        if self.dtype.has_objects() {
            return Err(Param::NotWritten { dtype: self.dtype.to_string() }.into());
        }
        if self.cparams.clevel > 9 {
            let value = self.cparams.clevel.into();
            return Err(Param::Option { option: "clevel", value, min: 0, max: 9 }.into());
        }
        Quantize::new(self.cparams.quantize, &self.dtype)?;
        let inner =
            self.row_shape.iter().fold(self.dtype.itemsize() as u64, |a, b| a.saturating_mul(*b));
        let rowsize = option("size of a row", inner, 1, MAX_CHUNK_BYTES)?;
        let expectedlen = self.expectedlen.unwrap_or(0);
        let chunklen = self.chunklen.unwrap_or_else(|| chunklen::default(expectedlen, rowsize));
        let chunklen = option("chunklen", chunklen, 1, MAX_CHUNK_BYTES / rowsize)?;
        let shape = core::iter::once(0).chain(self.row_shape.iter().copied()).collect();
        let chunk_nbytes = i128::from(chunklen) * i128::from(rowsize);
        let sizes = Sizes { shape, nbytes: Some(0), cbytes: Some(chunk_nbytes) };
        let dflt = self.dflt.clone().unwrap_or_else(|| fill::zero(&self.dtype));
        let storage = Storage {
            dtype: self.dtype.clone(),
            chunklen,
            cparams: self.cparams,
            expectedlen: Some(expectedlen.into()),
            dflt: Some(dflt),
        };
        let layout = Layout::new(&sizes, &storage, path)?;
        fill::row(&layout, storage.dflt.as_ref(), &meta::storage_path(path))?;
        // Parses its own text, so that every array written here can be opened.
        let (read, _) =
            Storage::parse(&meta::parse_object(path, storage.to_text().as_bytes())?, path)?;
        debug_assert_eq!(read.chunklen, storage.chunklen);
        Ok((sizes, storage, layout))
    }
}

fn option(option: &'static str, value: u64, min: u64, max: u64) -> Result<u64> {
    if (min..=max).contains(&value) {
        Ok(value)
    } else {
        Err(Error::from(Param::Option { option, value, min, max }))
    }
}

//! Rows one after another, in any order, without decoding a block twice.
#![cfg_attr(
    not(test),
    expect(
        clippy::arithmetic_side_effects,
        reason = "rows and bytes that were compared with the layout"
    )
)]

use core::ops::Range;

use blosc_container::{
    block_cache::{Block, BlockCache},
    pool::Pooled,
};

use super::chunks::block_around;
use super::rows::UNPROVEN_NBYTES;
use super::{CArray, Element};
use crate::error::{Param, Result};
use crate::worker::Worker;

/// Reads rows one by one, and keeps the blocks that it decoded last; made by
/// [`CArray::row_reader`].
pub struct RowReader<'a> {
    array: &'a CArray,
    worker: Pooled<'a, Worker>,
    cache: BlockCache,
    /// The last row from a chunk without a kept block.
    single: Vec<u8>,
}

impl CArray {
    /// A reader for many single rows. It keeps as many decoded blocks as
    /// [`cache`](crate::OpenOptions::cache) allows, at least one. It does not notice changed files:
    /// a new reader does. The first row of a chunk is decoded alone, the next one with its block.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let root = dir.path().join("a");
    /// # use bcolz_store::{CArray, CArrayWriter, CreateOptions, Dtype};
    /// # let options = CreateOptions::new(Dtype::parse("int16")?);
    /// # let mut writer = CArrayWriter::create(&root, &options)?;
    /// # writer.append(&[7, 0, 8, 0])?;
    /// # writer.finish()?;
    /// let array = CArray::open(root)?;
    /// let mut rows = array.row_reader();
    /// assert_eq!(rows.item::<i16>(1)?, 8);
    /// assert_eq!(rows.row(0)?, [7, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn row_reader(&self) -> RowReader<'_> {
        RowReader {
            array: self,
            worker: self.check_out_worker(),
            cache: BlockCache::new(self.options.cache),
            single: Vec::new(),
        }
    }
}

impl RowReader<'_> {
    /// The bytes of a row.
    ///
    /// # Errors
    ///
    /// As [`CArray::read`].
    pub fn row(&mut self, row: u64) -> Result<&[u8]> {
        self.array.check_rows(&(row..row.saturating_add(1)))?;
        let layout = &self.array.layout;
        let (nchunk, start) = (row / layout.chunklen, self.array.at_in_chunk(row));
        let bytes = start..start + layout.rowsize;
        if !self.cache.find(nchunk, &bytes, None) {
            if !self.cache.is_repeated(nchunk, self.array.max_kept_chunks()) {
                return self.decode_single(nchunk, bytes);
            }
            self.decode_block(nchunk, &bytes)?;
        }
        Ok(self.cache.found(&bytes).unwrap_or_default())
    }

    /// A row that is a single item, as a value.
    ///
    /// # Errors
    ///
    /// As [`CArray::read_as`]; [`Param::Element`] also if a row has several items.
    pub fn item<T: Element>(&mut self, row: u64) -> Result<T> {
        let dtype = self.array.dtype();
        if !T::accepts(dtype) || self.array.shape().len() > 1 {
            return Err(Param::Element { found: dtype.to_string(), asked: T::NAME }.into());
        }
        self.row(row).map(|bytes| T::decode(dtype, bytes))
    }

    /// Decodes a row alone.
    fn decode_single(&mut self, nchunk: u64, bytes: Range<usize>) -> Result<&[u8]> {
        let (array, single) = (self.array, &mut self.single);
        if bytes.len() as u64 > UNPROVEN_NBYTES {
            // Memory is allocated only for a chunk that holds this many bytes.
            array.open_chunk(nchunk)?;
        }
        single.resize(bytes.len(), 0);
        array.decode_bytes(nchunk, bytes, single, &mut self.worker)?;
        Ok(&self.single)
    }

    /// Decodes the block that holds some bytes of a chunk, or the whole chunk if no block holds
    /// them all.
    fn decode_block(&mut self, nchunk: u64, bytes: &Range<usize>) -> Result<()> {
        let header = self.array.open_chunk(nchunk)?.header;
        let bytes = block_around(&header, bytes).unwrap_or(0..header.nbytes());
        let mut data = self.cache.make_room(bytes.len());
        // `open_chunk` compared this size with the chunk's position in the array and with the
        // limits.
        data.resize(bytes.len(), 0);
        self.array.decode_bytes(nchunk, bytes.clone(), &mut data, &mut self.worker)?;
        self.cache.insert(Block { number: nchunk, bytes, stamp: None, data });
        Ok(())
    }
}

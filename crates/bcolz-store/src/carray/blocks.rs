//! Blocks of rows, one after the other, decoded ahead by all workers in bounded memory.
#![cfg_attr(
    not(test),
    expect(
        clippy::arithmetic_side_effects,
        reason = "rows and bytes that were compared with the layout"
    )
)]

use core::ops::Range;

use super::CArray;
use crate::error::Result;

/// Blocks of rows; made by [`CArray::blocks`].
#[derive(Debug)]
pub struct Blocks<'a> {
    array: &'a CArray,
    rows: Range<u64>,
    blen: u64,
    /// Rows that were decoded ahead, and their bytes.
    ahead: Range<u64>,
    bytes: Vec<u8>,
    failed: bool,
}

impl CArray {
    /// Blocks of `blen` rows, the last one shorter; 0 stands for the length of a chunk.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let root = dir.path().join("a");
    /// # use bcolz_store::{CArray, CArrayWriter, CreateOptions, Dtype};
    /// # let options = CreateOptions::new(Dtype::parse("uint8")?);
    /// # let mut writer = CArrayWriter::create(&root, &options)?;
    /// # writer.append(b"abcdefg")?;
    /// # writer.finish()?;
    /// let array = CArray::open(root)?;
    /// let blocks: Vec<Vec<u8>> = array.blocks(2).skip(1).limit(4).collect::<Result<_, _>>()?;
    /// assert_eq!(blocks, [b"bc", b"de"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn blocks(&self, blen: u64) -> Blocks<'_> {
        let blen = if blen == 0 { self.layout.chunklen } else { blen };
        Blocks {
            array: self,
            rows: 0..self.len(),
            blen,
            ahead: 0..0,
            bytes: Vec::new(),
            failed: false,
        }
    }
}

impl Blocks<'_> {
    /// Skips the next `rows` rows.
    #[must_use]
    pub fn skip(self, rows: u64) -> Self {
        let start = self.rows.start.saturating_add(rows).min(self.rows.end);
        Self { rows: start..self.rows.end, ..self }
    }

    /// Ends after at most `rows` more rows.
    #[must_use]
    pub fn limit(self, rows: u64) -> Self {
        let end = self.rows.start.saturating_add(rows).min(self.rows.end);
        Self { rows: self.rows.start..end, ..self }
    }

    /// The rows that are still to come.
    #[must_use]
    pub fn rows(&self) -> Range<u64> {
        self.rows.clone()
    }

    fn block(&mut self, rows: Range<u64>) -> Result<Vec<u8>> {
        let mut block = Vec::new();
        let mut row = rows.start;
        while row < rows.end {
            if !self.ahead.contains(&row) {
                self.decode_ahead(row)?;
            }
            let end = rows.end.min(self.ahead.end);
            let place = |row: u64| {
                usize::try_from(self.array.layout.nbytes_of(row - self.ahead.start))
                    .unwrap_or(usize::MAX)
            };
            block.extend_from_slice(self.bytes.get(place(row)..place(end)).unwrap_or_default());
            row = end;
        }
        Ok(block)
    }

    /// Decodes from `row` to the end of a later chunk: enough to keep the workers busy, within the
    /// memory limit.
    fn decode_ahead(&mut self, row: u64) -> Result<()> {
        let layout = &self.array.layout;
        let options = &self.array.options;
        let busy = (options.budget.nworkers() as u64).saturating_mul(CHUNKS_PER_WORKER);
        let rows = (options.budget.max_memory / layout.rowsize as u64)
            .min(layout.chunklen.saturating_mul(busy));
        let end = row.saturating_add(rows.max(1));
        // Leaves a last partial range to the next call, so that no chunk is decoded twice.
        let whole = end - end % layout.chunklen;
        let end = if whole > row { whole } else { end }.min(self.rows.end);
        let chunk_end = (row / layout.chunklen + 1).saturating_mul(layout.chunklen).min(end);
        // A chunk that cannot be read must not hide the rows before it.
        self.decode(row..end)
            .or_else(|error| if chunk_end < end { self.decode(row..chunk_end) } else { Err(error) })
    }

    fn decode(&mut self, rows: Range<u64>) -> Result<()> {
        self.bytes.clear();
        self.ahead = 0..0;
        self.array.append_to(rows.clone(), &mut self.bytes)?;
        self.ahead = rows;
        Ok(())
    }
}

impl Iterator for Blocks<'_> {
    type Item = Result<Vec<u8>>;

    /// The next block; after an error there is none.
    fn next(&mut self) -> Option<Self::Item> {
        if self.failed || self.rows.is_empty() {
            return None;
        }
        let end = self.rows.start.saturating_add(self.blen).min(self.rows.end);
        let block = self.block(self.rows.start..end);
        self.rows.start = end;
        self.failed = block.is_err();
        Some(block)
    }
}

/// Chunks for each worker to decode ahead.
const CHUNKS_PER_WORKER: u64 = 4;

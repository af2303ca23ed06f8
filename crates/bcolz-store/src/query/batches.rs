//! The rows found, in batches.

use std::collections::VecDeque;

use blosc_dtype::Dtype;

use super::Scan;
use super::block::{Block, Progress};
use crate::error::Result;

/// Some of the rows found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Batch {
    /// Their numbers in the table.
    pub rows: Vec<u64>,
    /// The requested columns.
    pub columns: Vec<BatchColumn>,
}

/// A column of some rows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BatchColumn {
    /// Its name.
    pub name: String,
    /// The type of its items.
    pub dtype: Dtype,
    /// Bytes of a row of it.
    pub rowsize: usize,
    /// Its rows, one after the other.
    pub items: Vec<u8>,
}

/// Batches of rows; made by [`Scan::batches`].
#[derive(Debug)]
pub struct Batches<'a> {
    scan: Scan<'a>,
    progress: Progress,
    skip: u64,
    left: u64,
    found: VecDeque<Batch>,
    failed: bool,
}

impl<'a> Scan<'a> {
    /// The rows, in their order.
    #[must_use]
    pub fn batches(self) -> Batches<'a> {
        let (progress, skip, left) = (Progress::new(self.rows.start), self.skip, self.limit);
        Batches { scan: self, progress, skip, left, found: VecDeque::new(), failed: false }
    }
}

#[cfg(feature = "arrow")]
impl<'a> Batches<'a> {
    pub(crate) const fn table(&self) -> &'a crate::CTable {
        self.scan.table
    }

    /// Ends the batches.
    pub(crate) const fn stop(&mut self) {
        self.failed = true;
    }
}

impl Batches<'_> {
    /// Searches some more blocks.
    fn look_on(&mut self) -> Result<()> {
        let scan = &self.scan;
        let mut blocks = Vec::new();
        let mut count = 0;
        let enough = self.skip.saturating_add(self.left).min(scan.batch.max(1));
        let (columns, table) = (&scan.wanted, scan.table);
        let work = |block: &mut Block<'_>| {
            let matches = block.matches()?;
            let mut batch = Batch { rows: Vec::new(), columns: Vec::new() };
            if matches.is_empty() {
                return Ok(batch);
            }
            batch.rows = matches.iter().map(|row| block.number(*row)).collect();
            for place in columns {
                let column = &table.columns[*place];
                batch.columns.push(BatchColumn {
                    name: column.name.clone(),
                    dtype: column.array.dtype().clone(),
                    rowsize: column.array.rowsize(),
                    items: block.items(*place, &matches)?,
                });
            }
            Ok(batch)
        };
        // Keeps all rows of blocks that were searched together: searching again would cost as much.
        scan.blocks(&mut self.progress, work, |batch: Batch| {
            count += batch.rows.len() as u64;
            if !batch.rows.is_empty() {
                blocks.push(batch);
            }
            count < enough
        })?;
        self.found.extend(blocks);
        Ok(())
    }

    /// Removes skipped rows, and rows over the limit, from the first batch.
    fn trim(&mut self) {
        while let Some(first) = self.found.front_mut() {
            let skipped = first.split_to(self.skip);
            self.skip -= skipped.rows.len() as u64;
            if !first.rows.is_empty() {
                return;
            }
            self.found.pop_front();
        }
    }

    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let size = if self.scan.batch == 0 { u64::MAX } else { self.scan.batch }.min(self.left);
        let mut batch: Option<Batch> = None;
        if size == 0 {
            return Ok(None);
        }
        loop {
            self.trim();
            let Some(first) = self.found.front_mut() else {
                if self.progress.at >= self.scan.rows.end
                    || (batch.is_some() && self.scan.batch == 0)
                {
                    break;
                }
                self.look_on()?;
                continue;
            };
            let have = batch.as_ref().map_or(0, |batch| batch.rows.len() as u64);
            let part = first.split_to(size - have);
            match &mut batch {
                Some(batch) => batch.append(part),
                None => batch = Some(part),
            }
            let full = batch.as_ref().is_some_and(|batch| batch.rows.len() as u64 == size);
            if full || self.scan.batch == 0 {
                break;
            }
        }
        self.left -= batch.as_ref().map_or(0, |batch| batch.rows.len() as u64);
        Ok(batch)
    }
}

impl Iterator for Batches<'_> {
    type Item = Result<Batch>;

    /// The next batch, never empty; after an error there is none.
    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let batch = self.next_batch();
        self.failed = batch.is_err();
        batch.transpose()
    }
}

impl Batch {
    /// Takes at most `rows` rows off the front.
    fn split_to(&mut self, rows: u64) -> Self {
        let count = usize::try_from(rows).unwrap_or(usize::MAX).min(self.rows.len());
        let after = self.rows.split_off(count);
        let columns = self.columns.iter_mut().map(|column| {
            let after = column.items.split_off(count * column.rowsize);
            let items = core::mem::replace(&mut column.items, after);
            BatchColumn {
                name: column.name.clone(),
                dtype: column.dtype.clone(),
                rowsize: column.rowsize,
                items,
            }
        });
        let columns = columns.collect();
        Self { rows: core::mem::replace(&mut self.rows, after), columns }
    }

    fn append(&mut self, other: Self) {
        self.rows.extend(other.rows);
        for (column, other) in self.columns.iter_mut().zip(other.columns) {
            column.items.extend(other.items);
        }
    }
}

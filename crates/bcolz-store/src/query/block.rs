//! One block of rows: what is read of it, and which rows are taken.

use core::ops::Range;
use std::collections::BTreeMap;

use blosc_chunk::Threads;

use super::vector::Vector;
use super::{ExprError, Formula, Scan, eval};
use crate::carray::CArray;
use crate::ctable::Column;
use crate::error::Result;

/// Rows of a block, and the columns that were read of it.
pub(super) struct Block<'a> {
    scan: &'a Scan<'a>,
    rows: Range<u64>,
    /// Items by the place of their column.
    read: BTreeMap<usize, Vec<u8>>,
}

impl Scan<'_> {
    /// The blocks that the rows are cut into, from the row `at`, each looked at by `work`, several at once; `each` gets
    /// what comes out of them in their order and says whether more are to be looked at. `at` is behind the last one.
    pub(super) fn blocks<T: Send>(
        &self,
        at: &mut u64,
        work: impl Fn(&mut Block<'_>) -> Result<T> + Sync,
        mut each: impl FnMut(T) -> bool,
    ) -> Result<()> {
        let (size, workers) = (self.block_rows(), crate::team::workers(self.table.options.threads));
        let mut goes_on = true;
        while goes_on && *at < self.rows.end {
            let mut jobs = Vec::new();
            while jobs.len() < workers * BLOCKS && *at < self.rows.end {
                let end = (*at - *at % size).saturating_add(size).min(self.rows.end);
                jobs.push((*at..end, None));
                *at = end;
            }
            let make = || ();
            crate::team::each(self.table.options.threads, &mut jobs, make, |(), (rows, out)| {
                *out = Some(work(&mut Block { scan: self, rows: rows.clone(), read: BTreeMap::new() }));
            });
            for out in jobs.into_iter().filter_map(|(_, out)| out) {
                goes_on &= each(out?);
            }
        }
        Ok(())
    }

    /// Rows of a block: the longest chunk of the columns that are read of each, within bounds.
    fn block_rows(&self) -> u64 {
        let places = self.filter.as_ref().map_or(&self.wanted, |filter| &filter.columns);
        let arrays = || places.iter().map(|place| &self.table.columns[*place].array);
        let longest = arrays().map(CArray::chunklen).max().unwrap_or(MIN_ROWS);
        let rowsize = arrays().map(|array| array.rowsize() as u64).sum::<u64>().max(1);
        longest.max(MIN_ROWS).min((MAX_BYTES / rowsize).max(1))
    }
}

impl Block<'_> {
    /// The numbers of the rows that meet the condition, from the start of the block.
    pub(super) fn matches(&mut self) -> Result<Vec<usize>> {
        let Some(filter) = &self.scan.filter else { return Ok((0..self.len()).collect()) };
        self.with_values(filter, |values| match values {
            Vector::Bool(values) => Ok((0..values.len()).filter(|row| values[*row]).collect()),
            other => Err(ExprError::Result { found: other.type_name(), expected: "truth values" }.into()),
        })
    }

    /// Gives the values of an expression, one for each row, to `then`.
    pub(super) fn with_values<T>(
        &mut self,
        formula: &Formula,
        then: impl FnOnce(&Vector<'_>) -> Result<T>,
    ) -> Result<T> {
        for place in &formula.columns {
            self.read(*place)?;
        }
        let mut columns = Vec::new();
        for place in &formula.columns {
            let items = self.read.get(place).map(Vec::as_slice).unwrap_or_default();
            columns.push(vector(&self.scan.table.columns[*place], items)?);
        }
        let values = eval::eval(&formula.expr, &columns)?;
        then(&values.repeated(self.len()))
    }

    /// The items of a column in some rows.
    pub(super) fn items(&mut self, place: usize, matches: &[usize]) -> Result<Vec<u8>> {
        let size = self.scan.table.columns[place].array.rowsize();
        let is_sparse = matches.len() < self.len() / SPARSE;
        if is_sparse && !self.read.contains_key(&place) {
            let rows: Vec<u64> = matches.iter().map(|row| self.number(*row)).collect();
            return self.array(place).read_rows(&rows);
        }
        self.read(place)?;
        let items = self.read.get(&place).map(Vec::as_slice).unwrap_or_default();
        if matches.len() == self.len() {
            return Ok(items.to_vec());
        }
        let mut found = Vec::with_capacity(matches.len() * size);
        matches.iter().for_each(|row| found.extend_from_slice(&items[row * size..][..size]));
        Ok(found)
    }

    /// The number of a row in the table.
    pub(super) fn number(&self, row: usize) -> u64 {
        self.rows.start + row as u64
    }

    fn len(&self) -> usize {
        usize::try_from(self.rows.end - self.rows.start).unwrap_or(usize::MAX)
    }

    fn read(&mut self, place: usize) -> Result<()> {
        if !self.read.contains_key(&place) {
            let items = self.array(place).read(self.rows.clone())?;
            self.read.insert(place, items);
        }
        Ok(())
    }

    /// A column for one worker.
    fn array(&self, place: usize) -> CArray {
        let mut array = self.scan.table.columns[place].array.clone();
        array.options.threads = Threads::One;
        array
    }
}

/// The items of a column as values.
pub(super) fn vector<'a>(column: &Column, items: &'a [u8]) -> Result<Vector<'a>> {
    let array = &column.array;
    let is_plain = array.shape().len() == 1;
    let values = if is_plain { Vector::of_items(array.dtype(), items) } else { None };
    let (name, dtype) = (column.name.clone(), array.dtype().to_string());
    values.ok_or_else(|| ExprError::Column { name, dtype }.into())
}

/// A block has at least so many rows, since looking at it has a price.
const MIN_ROWS: u64 = 1 << 14;

/// Bytes of a block at most, in the columns that are read of each.
const MAX_BYTES: u64 = 16 << 20;

/// Blocks for each worker to look at together.
const BLOCKS: usize = 2;

/// If fewer than one row in so many is taken, rows are read one by one.
const SPARSE: usize = 8;

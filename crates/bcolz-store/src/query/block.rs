//! One block of rows: its columns, and the rows taken from it.

use core::convert::Infallible;
use core::ops::Range;

use blosc_container::parallel::for_each;
use blosc_container::pool::{Pool, Reusable};
use blosc_dtype::expr::{ExprError, Stored, Vector};

use super::{Formula, Scan};
use crate::carray::CArray;
use crate::ctable::Column;
use crate::error::Result;

/// Rows of a block, and the columns read of them.
pub(super) struct Block<'a> {
    scan: &'a Scan<'a>,
    rows: Range<u64>,
    /// The columns' items, by the index of the column.
    read: &'a mut Vec<Items>,
}

/// The memory for a column, which goes from one block to the next.
#[derive(Debug, Default)]
pub(super) struct Items {
    /// The items of the block, then perhaps leftovers of a longer one.
    bytes: Vec<u8>,
    is_read: bool,
}

/// The memory for the columns of one block.
#[derive(Debug, Default)]
struct Buffers(Vec<Items>);

impl Reusable for Buffers {
    fn held_nbytes(&self) -> usize {
        self.0.iter().map(|items| items.bytes.capacity()).sum()
    }
}

/// The progress of a scan through the blocks.
#[derive(Debug)]
pub(super) struct Progress {
    /// The first row not yet searched.
    pub(super) at: u64,
    /// Blocks to search next; the number grows, since the first block may be enough.
    nblocks: usize,
    pool: Pool<Buffers>,
}

impl Progress {
    pub(super) fn new(at: u64) -> Self {
        Self { at, nblocks: 1, pool: Pool::default() }
    }
}

impl Scan<'_> {
    /// Cuts the rows into blocks and calls `work` on each, several at once. `each` gets the results
    /// in order and returns whether to go on.
    pub(super) fn blocks<T: Send>(
        &self,
        progress: &mut Progress,
        work: impl Fn(&mut Block<'_>) -> Result<T> + Sync,
        mut each: impl FnMut(T) -> bool,
    ) -> Result<()> {
        let (size, threads) = (self.block_rows(), &self.table.options.budget.threads);
        let Progress { at, nblocks, pool } = progress;
        let mut goes_on = true;
        while goes_on && *at < self.rows.end {
            *nblocks = (*nblocks * 2).clamp(threads.count(), self.max_blocks(size));
            let mut jobs = Vec::new();
            while jobs.len() < *nblocks && *at < self.rows.end {
                let end = (*at - *at % size).saturating_add(size).min(self.rows.end);
                jobs.push((*at..end, None));
                *at = end;
            }
            if let (Some((first, _)), Some((last, _))) = (jobs.first(), jobs.last()) {
                self.prefetch(first.start..last.end);
            }
            let make = || pool.check_out(Buffers::default);
            let nworkers = threads.count_for(jobs.len());
            let Ok(()) =
                for_each((threads, nworkers), jobs.iter_mut(), make, |buffers, (rows, out)| {
                    *out = Some(work(&mut Block::new(self, rows.clone(), &mut buffers.0)));
                    Ok::<(), Infallible>(())
                });
            for out in jobs.into_iter().filter_map(|(_, out)| out) {
                goes_on &= each(out?);
            }
        }
        Ok(())
    }

    /// Announces to far storage the columns that every block of these rows reads.
    fn prefetch(&self, rows: Range<u64>) {
        let places = self.filter.as_ref().map_or(&self.wanted, |filter| &filter.columns);
        let names = places.iter().map(|place| self.table.columns[*place].name.as_str());
        self.table.prefetch(names, rows);
    }

    /// Rows of a block: the longest chunk of the columns that every block reads, within bounds.
    fn block_rows(&self) -> u64 {
        let places = self.filter.as_ref().map_or(&self.wanted, |filter| &filter.columns);
        let arrays = || places.iter().map(|place| &self.table.columns[*place].array);
        let longest = arrays().map(CArray::chunklen).max().unwrap_or(MIN_ROWS);
        let rowsize = arrays().map(|array| array.rowsize() as u64).sum::<u64>().max(1);
        longest.max(MIN_ROWS).min((MAX_BLOCK_NBYTES / rowsize).max(1))
    }

    /// The most blocks of this number of rows to search together: memory holds all of their
    /// results.
    fn max_blocks(&self, rows: u64) -> usize {
        let options = &self.table.options;
        let wanted =
            self.wanted.iter().map(|place| self.table.columns[*place].array.rowsize() as u64);
        let nbytes =
            wanted.fold(size_of::<u64>() as u64, u64::saturating_add).saturating_mul(rows.max(1));
        let fits = usize::try_from(options.budget.max_memory / nbytes).unwrap_or(usize::MAX);
        let workers = options.budget.nworkers();
        fits.clamp(workers, workers * MAX_BLOCKS_PER_WORKER)
    }
}

impl<'a> Block<'a> {
    fn new(scan: &'a Scan<'a>, rows: Range<u64>, read: &'a mut Vec<Items>) -> Self {
        read.resize_with(scan.table.columns.len(), Items::default);
        read.iter_mut().for_each(|items| items.is_read = false);
        Self { scan, rows, read }
    }
}

impl Block<'_> {
    /// For each row whether it meets the condition; `None` if there is no condition.
    pub(super) fn truth(&mut self) -> Result<Option<Vec<bool>>> {
        let Some(filter) = &self.scan.filter else { return Ok(None) };
        let mut truth = Vec::with_capacity(self.len());
        if self.direct_truth(filter, &mut truth)? {
            return Ok(Some(truth));
        }
        self.strips(filter, |_, values| match values {
            Vector::Bool(values) => {
                truth.extend_from_slice(values);
                Ok(())
            }
            other => {
                Err(ExprError::Result { found: other.type_name(), expected: "truth values" }.into())
            }
        })?;
        Ok(Some(truth))
    }

    /// The truth of a condition that can be evaluated on the stored items; false if it cannot.
    fn direct_truth(&mut self, filter: &Formula, truth: &mut Vec<bool>) -> Result<bool> {
        for place in &filter.columns {
            self.read(*place)?;
        }
        for start in (0..self.len()).step_by(STRIP_ROWS) {
            let rows = start..self.len().min(start + STRIP_ROWS);
            let stored = filter.columns.iter().map(|place| self.stored(*place, &rows));
            match filter.expr.truth_of_stored(&stored.collect::<Vec<_>>()) {
                Some(strip) if strip.len() == rows.len() => truth.extend_from_slice(&strip),
                // The first strip decides for all.
                _ => return Ok(false),
            }
        }
        Ok(!truth.is_empty())
    }

    /// The items of a column that was read.
    fn stored(&self, place: usize, rows: &Range<usize>) -> Stored<'_> {
        let array = &self.scan.table.columns[place].array;
        let size = array.rowsize();
        Stored {
            dtype: array.dtype(),
            bytes: &self.read[place].bytes[rows.start * size..rows.end * size],
        }
    }

    /// The numbers of the rows that meet the condition, from the start of the block.
    pub(super) fn matches(&mut self) -> Result<Vec<usize>> {
        Ok(match self.truth()? {
            Some(truth) => places(&truth),
            None => (0..self.len()).collect(),
        })
    }

    /// Calls `each` with the values of an expression and the block's rows that they belong to, one
    /// strip after another.
    pub(super) fn strips(
        &mut self,
        formula: &Formula,
        mut each: impl FnMut(Range<usize>, &Vector<'_>) -> Result<()>,
    ) -> Result<()> {
        for place in &formula.columns {
            self.read(*place)?;
        }
        for start in (0..self.len()).step_by(STRIP_ROWS) {
            let rows = start..self.len().min(start + STRIP_ROWS);
            let mut columns = Vec::with_capacity(formula.columns.len());
            for place in &formula.columns {
                let column = &self.scan.table.columns[*place];
                let size = column.array.rowsize();
                columns.push(vector(
                    column,
                    &self.read[*place].bytes[rows.start * size..rows.end * size],
                )?);
            }
            let values = formula.expr.eval(&columns)?;
            each(rows.clone(), &values.repeated(rows.len()))?;
        }
        Ok(())
    }

    /// The items of a column in some rows.
    pub(super) fn items(&mut self, place: usize, matches: &[usize]) -> Result<Vec<u8>> {
        let array = &self.scan.table.columns[place].array;
        let (size, chunklen) = (array.rowsize(), array.chunklen());
        // If each chunk gives several rows, all of it is decoded, to memory that exists already.
        let nchunks = self.rows.end.div_ceil(chunklen) - self.rows.start / chunklen;
        let is_sparse = matches.len() < self.len() / SPARSE_RATIO
            && matches.len() as u64 <= nchunks * MAX_SPARSE_ROWS;
        if is_sparse && !self.read[place].is_read {
            let rows: Vec<u64> = matches.iter().map(|row| self.number(*row)).collect();
            return array.read_rows(&rows);
        }
        self.read(place)?;
        let items = &self.read[place].bytes[..self.len() * size];
        if matches.len() == self.len() {
            return Ok(items.to_vec());
        }
        Ok(picked(items, size, matches))
    }

    /// The number of a row in the table.
    pub(super) fn number(&self, row: usize) -> u64 {
        self.rows.start + row as u64
    }

    fn len(&self) -> usize {
        usize::try_from(self.rows.end - self.rows.start).unwrap_or(usize::MAX)
    }

    fn read(&mut self, place: usize) -> Result<()> {
        let items = &mut self.read[place];
        if !items.is_read {
            self.scan.table.columns[place].array.read_to(self.rows.clone(), &mut items.bytes)?;
            items.is_read = true;
        }
        Ok(())
    }
}

/// The indices of the true values.
fn places(truth: &[bool]) -> Vec<usize> {
    let mut places = vec![0; truth.len() + 1];
    let mut count = 0;
    for (group, eight) in truth.chunks(8).enumerate() {
        // If few rows are taken, most groups have none.
        if !eight.contains(&true) {
            continue;
        }
        for (place, is_true) in eight.iter().enumerate() {
            // Written unconditionally, as a branch would be unpredictable.
            places[count] = group * 8 + place;
            count += usize::from(*is_true);
        }
    }
    places.truncate(count);
    places
}

/// The items at some indices.
fn picked(items: &[u8], size: usize, places: &[usize]) -> Vec<u8> {
    /// Copies items of a size that the compiler knows.
    fn of_size<const N: usize>(items: &[u8], places: &[usize]) -> Vec<u8> {
        let items = items.as_chunks::<N>().0;
        let picked: Vec<[u8; N]> = places.iter().map(|place| items[*place]).collect();
        picked.into_flattened()
    }
    match size {
        1 => of_size::<1>(items, places),
        2 => of_size::<2>(items, places),
        4 => of_size::<4>(items, places),
        8 => of_size::<8>(items, places),
        _ => {
            let mut picked = Vec::with_capacity(places.len() * size);
            places
                .iter()
                .for_each(|place| picked.extend_from_slice(&items[place * size..][..size]));
            picked
        }
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

/// A block has at least this number of rows, since each block has a fixed cost.
const MIN_ROWS: u64 = 1 << 14;

/// Bytes of a block at most, in the columns that every block reads.
const MAX_BLOCK_NBYTES: u64 = 16 << 20;

/// Blocks for each worker to search together, at most.
const MAX_BLOCKS_PER_WORKER: usize = 32;

/// Rows whose values are computed together: few enough to stay in the fastest cache.
const STRIP_ROWS: usize = 4096;

/// If less than this part (1/n) of the rows is taken, the rows are read one by one ...
const SPARSE_RATIO: usize = 8;

/// ... unless each chunk gives more than this number: then all bytes between its first and last row
/// are decoded, which is most of the chunk.
const MAX_SPARSE_ROWS: u64 = 2;

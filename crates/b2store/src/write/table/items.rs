//! Arrays that grow by rows.

use core::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::sync::Arc;

use b2frame::nd::Fill;
use b2frame::{Dtype, EditOptions, NdParams, NdWriter};
use blosc_io::ReadAt;

use super::{Draft, TableParams};
use crate::error::{Error, Result};

/// Rows of a chunk and of a block, unless rows are long.
const CHUNK_ROWS: u32 = 1 << 16;
const BLOCK_ROWS: u32 = 1 << 13;
/// Bytes of a chunk of long rows.
const CHUNK_NBYTES: u64 = 4 << 20;

/// An array that grows in its first dimension. Rows are compressed when they fill a chunk.
pub(super) struct Items {
    name: String,
    draft: Draft,
    writer: NdWriter,
    /// Rows that do not fill a chunk yet.
    pending: Vec<u8>,
    /// Bytes of a row.
    rowsize: NonZeroUsize,
    chunk_rows: NonZeroU64,
}

impl Items {
    /// A new array of `rows` rows with the items of `fill`.
    pub(super) fn create(
        name: &str,
        (rows, inner): (u64, &[u64]),
        dtype: &str,
        fill: Fill,
        (dir, how): (Option<PathBuf>, &TableParams),
    ) -> Result<Self> {
        let params = params(&[&[rows][..], inner].concat(), dtype, how, name)?.fill(fill);
        let draft = Draft::empty().spill_in(dir);
        let writer = NdWriter::create_in(Box::new(draft.clone()), &params);
        Self::over(name, draft, writer.map_err(|source| Error::frame(name, source))?)
    }

    /// An existing array with this number of rows.
    pub(super) fn open(
        name: &str,
        source: Arc<dyn ReadAt>,
        rows: u64,
        dir: Option<PathBuf>,
    ) -> Result<Self> {
        let draft = Draft::over(source).map_err(|source| Error::io(name, source))?.spill_in(dir);
        let wrong = |source| Error::frame(name, source);
        let store = Box::new(draft.clone());
        let mut writer = NdWriter::open_in(store, &EditOptions::default()).map_err(wrong)?;
        let mut shape = writer.shape().to_vec();
        if let Some(first) = shape.first_mut() {
            *first = rows;
        }
        writer.resize(&shape).map_err(wrong)?;
        Self::over(name, draft, writer)
    }

    fn over(name: &str, draft: Draft, writer: NdWriter) -> Result<Self> {
        let inner = inner(writer.shape()).iter();
        let itemsize = writer.dtype().itemsize() as u64;
        let rowsize = inner.fold(itemsize, |nbytes, len| nbytes.saturating_mul(*len));
        let too_long = |_| Error::internal(name, "a row is longer than memory can be");
        let rowsize = usize::try_from(rowsize).map_err(too_long)?;
        let rowsize = NonZeroUsize::new(rowsize).unwrap_or(NonZeroUsize::MIN);
        let chunk_rows = writer.meta().chunkshape().first().copied().and_then(NonZeroU32::new);
        let chunk_rows = chunk_rows.unwrap_or(NonZeroU32::MIN).into();
        let name = name.to_owned();
        Ok(Self { name, draft, writer, pending: Vec::new(), rowsize, chunk_rows })
    }

    pub(super) fn dtype(&self) -> &Dtype {
        self.writer.dtype()
    }

    /// The shape of a row.
    pub(super) fn inner_shape(&self) -> &[u64] {
        inner(self.writer.shape())
    }

    /// Appends rows.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.pending.extend_from_slice(bytes);
        self.flush(false)
    }

    /// Writes rows up to the end of a chunk, or all rows.
    fn flush(&mut self, is_last: bool) -> Result<()> {
        let no_rows = || Error::internal(&self.name, "an array of rows has no dimension");
        let written = self.writer.shape().first().ok_or_else(no_rows)?;
        let pending = (self.pending.len() / self.rowsize) as u64;
        let rest = if is_last { 0 } else { written.saturating_add(pending) % self.chunk_rows };
        // If the last chunk is not full, only the rows that fill it are written.
        let count = usize::try_from(pending.saturating_sub(rest)).unwrap_or(usize::MAX);
        if count == 0 {
            return Ok(());
        }
        let nbytes = count.saturating_mul(self.rowsize.get());
        let missing = || Error::internal(&self.name, "fewer rows than were counted");
        let part = self.pending.get(..nbytes).ok_or_else(missing)?;
        let written = self.writer.append_bytes(0, part);
        written.map_err(|source| Error::frame(&self.name, source))?;
        self.pending.drain(..nbytes);
        Ok(())
    }

    /// The frame, with at least one row.
    pub(super) fn finish(mut self) -> Result<Arc<dyn ReadAt>> {
        self.flush(true)?;
        let Self { name, draft, mut writer, .. } = self;
        let finish = || {
            let mut shape = writer.shape().to_vec();
            if let Some(first @ 0) = shape.first_mut() {
                *first = 1;
                writer.resize(&shape)?;
            }
            writer.commit()?;
            writer.finish()
        };
        let array = finish().map_err(|source| Error::frame(&name, source))?;
        let len = array.schunk().frame_len();
        drop(array);
        draft.into_frame(len, &name)
    }
}

/// The shape of a row.
fn inner(shape: &[u64]) -> &[u64] {
    shape.split_first().map_or(&[], |(_, inner)| inner)
}

/// The parameters of a new array of a table.
fn params(shape: &[u64], dtype: &str, how: &TableParams, name: &str) -> Result<NdParams> {
    let dtype: Dtype = dtype.parse().map_err(|_| Error::column(name, "no NumPy type"))?;
    let rest = inner(shape);
    let items = rest.iter().fold(1_u64, |product, len| product.saturating_mul(*len));
    let rowsize = items.saturating_mul(dtype.itemsize() as u64).max(1);
    let fitting = u32::try_from(CHUNK_NBYTES.checked_div(rowsize).unwrap_or(1)).unwrap_or(1);
    let rows = CHUNK_ROWS.min(fitting.max(1)).max(how.block_rows.unwrap_or(1));
    let rows = how.chunk_rows.unwrap_or(rows);
    let block_rows = how.block_rows.unwrap_or_else(|| BLOCK_ROWS.min(rows.div_ceil(8)));
    let narrow = |len: &u64| u32::try_from(*len).unwrap_or(u32::MAX).max(1);
    let others: Vec<u32> = rest.iter().map(narrow).collect();
    let chunkshape = [&[rows][..], &others].concat();
    let blockshape = [&[block_rows][..], &others].concat();
    let params = NdParams::new(shape, dtype)
        .cparams(how.cparams.clone())
        .checksums(how.checksums.unwrap_or(b2frame::Checksums::Body));
    Ok(params.chunkshape(&chunkshape).blockshape(&blockshape))
}

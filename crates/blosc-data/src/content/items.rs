//! Arrays whose items lie uncompressed in a file.

use core::ops::Range;
use std::sync::Arc;

use blosc_dtype::{
    Dtype,
    npy::{self, NpyHeader, START_NBYTES, header_len},
};
use blosc_io::ReadAt;

use super::{Layout, Sink, SinkError};
use crate::Array;
use crate::boxes::Stored;
use crate::error::{Doing, Error, Result};
use crate::size::{as_len, nbytes};

/// Bytes of a file that are read at once.
const MAX_PIECE_NBYTES: usize = 1 << 20;

/// Items of an array in a file.
#[derive(Clone, Debug)]
pub struct Items {
    /// The place of the items.
    pub stored: Stored,
    /// The type of the items.
    pub dtype: Dtype,
    /// Bytes of the file.
    pub file_len: u64,
    /// The name of the format: `npy`, `raw`, `csv`.
    pub format: &'static str,
    /// Fields of truth values that may be [`NULL_TRUTH`], for empty values in CSV.
    pub nullable: Vec<String>,
    /// Whether the padding at the end of an item has a byte for each field: [`NULL_MARK`] where the
    /// value is null.
    pub is_marked: bool,
}

/// The byte of a missing truth value, in fields that may have some.
pub const NULL_TRUTH: u8 = 0xff;

/// The byte that marks a null beside its item, which is NaN, NaT, or zeros.
pub const NULL_MARK: u8 = 0xff;

impl Items {
    /// The items of a file: of the array in a `.npy` file, else what `otherwise` makes of a number
    /// of bytes.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, a damaged header, or the error of `otherwise`.
    pub fn in_file<E: From<Error>>(
        store: Arc<dyn ReadAt>,
        otherwise: impl FnOnce(u64) -> Result<Option<NpyHeader>, E>,
    ) -> Result<Option<Self>, E> {
        let file_len = store.len().map_err(Error::io(Doing::Open))?;
        let header = match npy_header(&*store)? {
            Some(header) => Some(header),
            None => otherwise(file_len)?,
        };
        Ok(header.map(|header| Self::new(store, file_len, header)).transpose()?)
    }

    /// The items after a header, which may be missing. More bytes may follow the array of a `.npy`
    /// file, as after an interrupted append: NumPy ignores them as well.
    ///
    /// # Errors
    ///
    /// [`Error::ArrayLen`] for fewer bytes than the header says, or for more without a header.
    pub fn new(store: Arc<dyn ReadAt>, file_len: u64, header: NpyHeader) -> Result<Self> {
        let found = file_len.saturating_sub(header.len as u64);
        let expected = header.nbytes().unwrap_or(u64::MAX);
        if expected > found || (expected < found && header.len == 0) {
            return Err(Error::ArrayLen { expected, found });
        }
        let stored = Stored {
            store,
            start: header.len as u64,
            fortran_order: header.fortran_order && header.shape.len() > 1,
            shape: header.shape,
            itemsize: header.dtype.itemsize() as u64,
        };
        let format = if header.len > 0 { "npy" } else { "raw" };
        Ok(Self {
            stored,
            dtype: header.dtype,
            file_len,
            format,
            nullable: vec![],
            is_marked: false,
        })
    }

    /// Bytes of the items.
    #[must_use]
    pub fn nbytes(&self) -> u64 {
        nbytes(self.stored.itemsize, &self.stored.shape)
    }

    /// Bytes of the file after the items.
    #[must_use]
    pub fn trailing(&self) -> u64 {
        self.file_len.saturating_sub(self.stored.start).saturating_sub(self.nbytes())
    }

    /// Type, shape and order.
    #[must_use]
    pub fn layout(&self) -> Layout {
        Layout {
            dtype: self.dtype.clone(),
            shape: self.stored.shape.clone(),
            fortran_order: self.stored.fortran_order,
        }
    }

    /// Hands the bytes `range`, as they lie in the file, to `sink`.
    pub(super) fn part<E: SinkError>(&self, range: Range<u64>, sink: Sink<'_, E>) -> Result<(), E> {
        let most = as_len(range.end.saturating_sub(range.start)).min(MAX_PIECE_NBYTES);
        let (mut at, mut buffer) = (range.start, vec![0; most]);
        while at < range.end {
            let len = as_len(range.end - at).min(most);
            self.stored.read(at, &mut buffer[..len])?;
            sink(&buffer[..len])?;
            at += len as u64;
        }
        Ok(())
    }
}

impl Array for Items {
    fn format(&self) -> &'static str {
        self.format
    }

    fn dtype(&self) -> &Dtype {
        &self.dtype
    }

    fn shape(&self) -> &[u64] {
        &self.stored.shape
    }

    fn stored_nbytes(&self) -> Option<u64> {
        Some(self.file_len)
    }

    fn read_box(&self, bounds: &[Range<u64>], dest: &mut [u8]) -> Result<()> {
        self.stored.fill_box(bounds, dest)
    }
}

/// The header of a `.npy` file; `None` for any other file.
///
/// # Errors
///
/// A file that cannot be read; a damaged header.
pub(super) fn npy_header(store: &dyn ReadAt) -> Result<Option<NpyHeader>> {
    let mut start = [0; START_NBYTES];
    let n = store.read_at(0, &mut start).map_err(Error::io(Doing::Read))?;
    if !start.starts_with(npy::MAGIC) {
        return Ok(None);
    }
    let needed = header_len(start.get(..n).unwrap_or_default())?;
    let len = store.len().map_err(Error::io(Doing::Open))?;
    let mut head = vec![0; usize::try_from(len).map_or(needed, |len| len.min(needed))];
    store.read_exact_at(0, &mut head).map_err(Error::io(Doing::Read))?;
    Ok(Some(NpyHeader::parse(&head)?))
}

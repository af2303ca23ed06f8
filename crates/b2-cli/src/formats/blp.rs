//! The content of a Bloscpack file, all of it or a range.

use crate::inputs::ReadParams;
use core::ops::Range;
use std::{io, path::Path, sync::Arc};

use b2frame::Budget;
use blosc_io::{FileStore, ReadAt, Windowed};
use bloscpack::{BlpFile, Checksum};
use serde_json::Value;

use crate::{
    error::{Doing, Error, Result},
    inputs::decoded::cut,
    memory,
};

/// Ranges up to this length (bytes) are read block by block; longer ones chunk by chunk, with all
/// threads.
const MAX_BLOCKWISE_NBYTES: u64 = 4 << 20;

/// Keys of an array in the metadata.
const ARRAY_KEYS: [&str; 4] = ["dtype", "shape", "order", "container"];

/// A Bloscpack file, and its sizes.
pub(crate) struct Blp {
    /// The file.
    pub(crate) file: BlpFile<Arc<dyn ReadAt>>,
    nbytes: u64,
    /// Data of the largest chunk (bytes).
    largest: u64,
}

impl Blp {
    /// The file that begins at `offset` and takes all the rest.
    ///
    /// # Errors
    ///
    /// When its headers make no sense.
    pub(crate) fn open(store: Arc<dyn ReadAt>, offset: u64, params: &ReadParams) -> Result<Self> {
        let store: Arc<dyn ReadAt> = if offset == 0 {
            store
        } else {
            let len = store.len().map_err(Error::io(Doing::Open))?.saturating_sub(offset);
            Arc::new(Windowed::new(store, offset, len).map_err(Error::io(Doing::Open))?)
        };
        let file = BlpFile::with_options(store, params.blp())?;
        let nbytes = file.nbytes()?;
        let largest = match file.header().chunksize() {
            // In old versions the last chunk may be larger than the others.
            Some(size) => size.max(file.header().last_chunk().unwrap_or(0)).into(),
            None => largest_chunk(&file)?,
        };
        Ok(Self { file, nbytes, largest })
    }

    /// The file as it is now, read in the same way.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub(crate) fn reopen(&self, path: &Path) -> Result<Self> {
        let store = FileStore::open(path).map_err(Error::io(Doing::Open))?;
        let options = self.file.options();
        let (dparams, mismatch) = (options.dparams.clone(), options.mismatch.clone());
        Self::open(Arc::new(store), 0, &ReadParams { dparams, mismatch, ..ReadParams::default() })
    }

    /// Bytes of data.
    pub(crate) fn nbytes(&self) -> u64 {
        self.nbytes
    }

    /// Bytes of data in every chunk but the last, which may have fewer; `None` if they vary, or
    /// there is none.
    ///
    /// # Errors
    ///
    /// When the chunks cannot be found.
    pub(crate) fn even_chunks(&self) -> Result<Option<u32>> {
        let Some(last) = self.file.nchunks()?.checked_sub(1) else { return Ok(None) };
        let size = |nchunk| self.file.chunk_range(nchunk).map(|range| range.end - range.start);
        let first = size(0)?;
        for nchunk in 1..last {
            if size(nchunk)? != first {
                return Ok(None);
            }
        }
        Ok(u32::try_from(first)
            .ok()
            .filter(|first| *first > 0 && size(last).is_ok_and(|last| last <= u64::from(*first))))
    }

    /// The kind of checksum of the chunks, `none` where there is none.
    pub(crate) fn checksum(&self) -> &'static str {
        match self.file.header().checksum() {
            Checksum::None => "none",
            checksum => checksum.name(),
        }
    }

    /// Bytes of an item, as the header or else the first chunk says.
    pub(crate) fn typesize(&self) -> u64 {
        let of_chunk =
            || self.file.packed_chunk(0).map_or(1, |chunk| chunk.header().typesize() as u64);
        self.file
            .header()
            .typesize()
            .filter(|typesize| *typesize > 0)
            .map_or_else(of_chunk, u64::from)
    }

    /// The options of the file, with these threads and this memory.
    ///
    /// # Errors
    ///
    /// When one chunk does not fit into the memory.
    pub(crate) fn options(&self, options: &Budget) -> Result<bloscpack::ReadOptions> {
        memory::check(self.largest, options.max_memory)?;
        let own = self.file.options().clone();

        Ok(own.budget(options.clone()))
    }

    /// Is there anything in the metadata that a `.npy` file cannot hold?
    pub(crate) fn has_more_than_npy(&self) -> bool {
        let object =
            self.file.metadata().map(|metadata| metadata.json().and_then(Value::as_object));
        object.is_some_and(|object| {
            object.is_none_or(|object| object.keys().any(|key| !ARRAY_KEYS.contains(&key.as_str())))
        })
    }

    /// Hands the bytes `range` of the content to `sink`, piece by piece in order.
    ///
    /// # Errors
    ///
    /// Damage, after all data before it; or the error of `sink`.
    pub(crate) fn part(
        &self,
        range: Range<u64>,
        options: &Budget,
        sink: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        part(&self.file, range, &self.options(options)?, sink)
    }
}

fn largest_chunk(file: &BlpFile<Arc<dyn ReadAt>>) -> Result<u64> {
    let sizes = (0..file.nchunks()?).map(|nchunk| Ok(file.chunk_range(nchunk)?));
    sizes
        .map(|range: Result<Range<u64>>| range.map(|range| range.end - range.start))
        .try_fold(0, |largest, size| Ok(size?.max(largest)))
}

/// The library's own error, which it hands through `Write`.
pub(crate) fn unpacked(error: io::Error) -> Error {
    match error.downcast::<bloscpack::Error>() {
        Ok(error) => error.into(),
        Err(error) => Error::io(Doing::Write)(error),
    }
}

/// Hands the bytes `range` of the content to `sink`, piece by piece in order.
///
/// # Errors
///
/// Damage, after all data before it; or the error of `sink`.
pub(crate) fn part<S: ReadAt, E: From<bloscpack::Error>>(
    file: &BlpFile<S>,
    range: Range<u64>,
    options: &bloscpack::ReadOptions,
    sink: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    if range.is_empty() {
        return Ok(());
    }
    // Of all data, what stands before damage is wanted.
    let is_all = range == (0..file.nbytes()?);
    if range.end - range.start <= MAX_BLOCKWISE_NBYTES && !is_all {
        let mut bytes = vec![0; usize::try_from(range.end - range.start).unwrap_or_default()];
        let n = file.read_at(range.start, &mut bytes)?;
        return sink(&bytes[..n]);
    }
    let first = chunk_of(file, range.start)?;
    let last = chunk_of(file, range.end - 1)?;
    let mut cut = cut(range, file.chunk_range(first)?.start, sink);
    file.decode_ordered(first..last + 1, options.budget.clone(), |_, bytes| cut(bytes))
}

/// The chunk with byte `at` of the content, which must be inside.
fn chunk_of<S: ReadAt>(file: &BlpFile<S>, at: u64) -> bloscpack::Result<u64> {
    let (mut low, mut high) = (0, file.nchunks()?);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if file.chunk_range(middle)?.start <= at {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use blosc_io::MemStore;
    use bloscpack::{WriteOptions, pack};

    #[test]
    fn parts_are_slices_of_the_whole() {
        let data: Vec<u8> = (0..1_500_000_u32).flat_map(u32::to_le_bytes).collect();
        let blp = pack(&data, WriteOptions::default().chunksize(1_000_000)).unwrap();
        let file = BlpFile::new(MemStore::new(blp)).unwrap();
        for range in
            [0..6_000_000, 0..1, 17..5_000_017, 999_999..1_000_001, 1_999_999..5_999_999, 5..5]
        {
            let mut found = vec![];
            let mut sink = |bytes: &[u8]| {
                found.extend_from_slice(bytes);
                Ok::<(), bloscpack::Error>(())
            };
            part(&file, range.clone(), file.options(), &mut sink).unwrap();
            let expected =
                &data[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()];
            assert!(found == expected, "{range:?}");
        }
    }
}

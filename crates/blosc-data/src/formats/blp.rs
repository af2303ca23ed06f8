//! The content of a Bloscpack file, whole or in parts.

use core::{fmt, ops::Range};
use std::{path::Path, sync::Arc};

use b2frame::{Budget, ChunkBytes};
use blosc_dtype::Dtype;
use blosc_io::{FileStore, ReadAt, Windowed};
use bloscpack::numpy::{ArrayInfo, Order};
use bloscpack::{BlpFile, Checksum};
use serde_json::{Map, Value};

use crate::bytes::stream_exactly;
use crate::chunks::Chunks;
use crate::dataset::Data;
use crate::error::{Doing, Error, Result, chain};
use crate::size::{check_memory, check_range, nbytes, positions};
use crate::verify::{self, OnProgress, Report, VerifyOptions};
use crate::{Array, Bytes, OpenOptions, by_boxes};

/// The note on array metadata that contradict the data.
pub const NO_ARRAY: &str = "no array, but bytes";

/// Keys that describe an array in the metadata.
const ARRAY_KEYS: [&str; 4] = ["dtype", "shape", "order", "container"];

/// A Bloscpack file, and its sizes.
pub struct Blp {
    /// The file.
    pub file: BlpFile<Arc<dyn ReadAt>>,
    nbytes: u64,
    /// Data of the largest chunk (bytes).
    largest: u64,
}

impl Blp {
    /// Opens the file at `path` again, with the same options.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open); a file that cannot be opened.
    pub fn reopen(&self, path: &Path) -> Result<Self> {
        let store = FileStore::open(path).map_err(Error::open(path))?;
        let options = self.file.options();
        let params = OpenOptions::default()
            .dparams(options.dparams.clone())
            .mismatch(options.mismatch.clone());
        Self::open(Arc::new(store), 0, &params)
    }

    /// Opens the file that begins at `offset` and extends to the end.
    ///
    /// # Errors
    ///
    /// When its headers do not parse.
    pub fn open(store: Arc<dyn ReadAt>, offset: u64, params: &OpenOptions) -> Result<Self> {
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

    /// Bytes of data.
    pub fn nbytes(&self) -> u64 {
        self.nbytes
    }

    /// Bytes of data in every chunk but the last, which may have fewer; `None` if they vary, or
    /// there are no chunks.
    ///
    /// # Errors
    ///
    /// When the chunks cannot be found.
    pub fn even_chunks(&self) -> Result<Option<u32>> {
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

    /// The kind of checksum of the chunks; `none` without checksums.
    pub fn checksum(&self) -> &'static str {
        match self.file.header().checksum() {
            Checksum::None => "none",
            checksum => checksum.name(),
        }
    }

    /// Bytes of an item, from the header, else from the first chunk.
    pub fn typesize(&self) -> u64 {
        let of_chunk =
            || self.file.packed_chunk(0).map_or(1, |chunk| chunk.header().typesize() as u64);
        self.file
            .header()
            .typesize()
            .filter(|typesize| *typesize > 0)
            .map_or_else(of_chunk, u64::from)
    }

    /// Options for reading with these threads and this memory.
    ///
    /// # Errors
    ///
    /// When one chunk does not fit into the memory.
    pub fn options(&self, options: &Budget) -> Result<bloscpack::ReadOptions> {
        check_memory(self.largest, options.max_memory)?;
        let own = self.file.options().clone();

        Ok(own.budget(options.clone()))
    }

    /// Whether the metadata hold more than a `.npy` file can.
    pub fn has_more_than_npy(&self) -> bool {
        let object =
            self.file.metadata().map(|metadata| metadata.json().and_then(Value::as_object));
        object.is_some_and(|object| {
            object.is_none_or(|object| object.keys().any(|key| !ARRAY_KEYS.contains(&key.as_str())))
        })
    }

    /// Hands the bytes `range` of the content to `sink` in order, in pieces.
    ///
    /// # Errors
    ///
    /// Damage, after all data before it; the error of `sink`.
    pub fn part<E: From<Error> + From<bloscpack::Error>>(
        &self,
        range: Range<u64>,
        options: &Budget,
        sink: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.file.decode_range(range, self.options(options)?.budget, sink)
    }
}

fn largest_chunk(file: &BlpFile<Arc<dyn ReadAt>>) -> Result<u64> {
    let sizes = (0..file.nchunks()?).map(|nchunk| Ok(file.chunk_range(nchunk)?));
    sizes
        .map(|range: Result<Range<u64>>| range.map(|range| range.end - range.start))
        .try_fold(0, |largest, size| Ok(size?.max(largest)))
}

/// The data of a Bloscpack file: the array that its metadata describe, or bytes.
pub(crate) fn of_file(blp: Blp) -> Data {
    // If the metadata claim more than the data, the file is read as bytes.
    let info = blp.file.array_info().ok().flatten();
    match info {
        Some(info) => Data::Array(array(blp, info)),
        None => Data::Bytes(Arc::new(BlpBytes(blp))),
    }
}

/// The array that `info` describes.
pub(crate) fn array(blp: Blp, info: ArrayInfo) -> Arc<dyn Array> {
    Arc::new(BlpArray { blp: BlpBytes(blp), info })
}

struct BlpBytes(Blp);

impl fmt::Debug for BlpBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlpBytes").field("header", self.0.file.header()).finish_non_exhaustive()
    }
}

impl BlpBytes {
    /// The metadata without the description of an array.
    fn attributes(&self) -> Map<String, Value> {
        let json = self.0.file.metadata().and_then(|metadata| metadata.json()).cloned();
        match json {
            None => Map::new(),
            Some(Value::Object(mut map)) => {
                map.retain(|key, _| !ARRAY_KEYS.contains(&key.as_str()));
                map
            }
            Some(other) => Map::from_iter([("metadata".to_owned(), other)]),
        }
    }
}

impl Bytes for BlpBytes {
    fn format(&self) -> &'static str {
        "blp"
    }

    fn nbytes(&self) -> u64 {
        self.0.nbytes
    }

    fn typesize(&self) -> u64 {
        self.0.typesize()
    }

    fn stored_nbytes(&self) -> u64 {
        self.0.file.file_len()
    }

    fn attributes(&self) -> Result<Map<String, Value>> {
        Ok(self.attributes())
    }

    fn stream(
        &self,
        range: Range<u64>,
        budget: &Budget,
        sink: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        stream_exactly(range, self.0.nbytes, sink, |range, sink| self.0.part(range, budget, sink))
    }

    fn chunks(&self) -> Option<&dyn Chunks> {
        Some(self)
    }

    fn verify(&self, options: &VerifyOptions, progress: OnProgress<'_>) -> Result<Report> {
        let budget = self.0.options(&options.budget)?.budget;
        let found = self.0.file.verify(&options.clone().budget(budget), progress)?;
        let mut report = verify::report(found, ToString::to_string);
        let no_array = self.0.file.array_info().err();
        report.notes.extend(no_array.map(|error| format!("{NO_ARRAY}: {}", chain(&error))));
        Ok(report)
    }
}

impl Chunks for BlpBytes {
    fn nchunks(&self) -> u64 {
        self.0.file.nchunks().unwrap_or(0)
    }

    fn chunk(&self, nchunk: u64) -> Result<ChunkBytes> {
        Ok(ChunkBytes::Stored(self.0.file.packed_chunk(nchunk)?.into_bytes()))
    }
}

#[derive(Debug)]
struct BlpArray {
    blp: BlpBytes,
    info: ArrayInfo,
}

/// The data exceed the size in the header.
const TOO_LONG: Error = Error::Internal("a piece too long");

impl BlpArray {
    fn is_in_c_order(&self) -> bool {
        self.info.order() == Order::C || self.info.shape().len() < 2
    }
}

impl Array for BlpArray {
    fn format(&self) -> &'static str {
        "blp"
    }

    fn dtype(&self) -> &Dtype {
        self.info.dtype()
    }

    fn shape(&self) -> &[u64] {
        self.info.shape()
    }

    fn stored_nbytes(&self) -> Option<u64> {
        Some(self.blp.0.file.file_len())
    }

    fn attributes(&self) -> Result<Map<String, Value>> {
        Ok(self.blp.attributes())
    }

    fn read_box(&self, bounds: &[Range<u64>], dest: &mut [u8]) -> Result<()> {
        let mut whole = bounds.iter().zip(self.info.shape()).skip(1);
        // Whole rows are a range of the content.
        if let Some(rows) = bounds.first().filter(|_| self.is_in_c_order())
            && whole.all(|(range, len)| *range == (0..*len))
        {
            let row = dest.len() as u64 / rows.end.saturating_sub(rows.start).max(1);
            let budget = self.blp.0.file.options().budget.clone();
            let mut rest = &mut *dest;
            return self.blp.0.part(rows.start * row..rows.end * row, &budget, &mut |piece| {
                let (here, later) =
                    core::mem::take(&mut rest).split_at_mut_checked(piece.len()).ok_or(TOO_LONG)?;
                here.copy_from_slice(piece);
                rest = later;
                Ok::<(), Error>(())
            });
        }
        let lists = bounds.iter().map(positions).collect::<Result<Vec<_>>>()?;
        self.read_at(&lists.iter().map(Vec::as_slice).collect::<Vec<_>>(), dest)
    }

    fn read_at(&self, positions: &[&[u64]], dest: &mut [u8]) -> Result<()> {
        Ok(self.blp.0.file.read_oindex_bytes(&self.info, positions, dest)?)
    }

    /// Items in C order are the content itself.
    fn stream(
        &self,
        range: Range<u64>,
        budget: &Budget,
        sink: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        check_range(&range, nbytes(self.dtype().itemsize() as u64, self.shape()))?;
        match self.is_in_c_order() {
            true => self.blp.0.part(range, budget, sink),
            false => by_boxes::part(self, range, budget, sink),
        }
    }

    fn chunks(&self) -> Option<&dyn Chunks> {
        Some(&self.blp)
    }

    fn verify(&self, options: &VerifyOptions, progress: OnProgress<'_>) -> Result<Report> {
        self.blp.verify(options, progress)
    }
}

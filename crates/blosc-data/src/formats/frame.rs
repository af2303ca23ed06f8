//! Frames: bytes, arrays, objects.

use core::ops::Range;
use std::io;
use std::sync::Arc;

use b2frame::header::{ChunkSize, FrameLayout, FrameType};
use b2frame::nd::Selection;
use b2frame::{ChunkBytes, NdArray, SChunk};
use b2store::{Content, error::Corrupt};
use blosc_dtype::Dtype;
use blosc_io::ReadAt;
use serde_json::{Map, Value};

use crate::boxes::{RowMajor, Stored, count, selection};
use crate::bytes::stream_exactly;
use crate::chunks::Chunks;
use crate::content::{Layout, Metadata};
use crate::cut::cut;
use crate::dataset::Data;
use crate::error::{Error, Result, chain};
use crate::objects::FrameObjects;
use crate::size::{as_len, check_range, resize};
use crate::verify::{self, OnProgress, Report, VerifyOptions};
use crate::{Array, Budget, Bytes, json};

/// Longest range that is read block by block (bytes); longer ones are read chunk by chunk, with all
/// threads.
const MAX_BLOCKWISE_NBYTES: u64 = 4 << 20;

/// The data of a frame, by its metalayers. Metalayers of the same name from another program, or of
/// a later version, are ignored: the frame is then bytes. Arrays are read with the threads and the
/// memory of `budget`.
///
/// # Errors
///
/// A damaged metalayer.
pub fn data(schunk: Arc<SChunk>, name: &str, budget: &Budget) -> Result<Data> {
    let content = match Content::from_schunk(Arc::clone(&schunk), name) {
        Ok(content) => content,
        Err(error) if is_unknown(&error) => return Ok(bytes(schunk)),
        Err(error) => return Err(error.into()),
    };
    Ok(match content {
        Content::Array(array) => {
            Data::Array(Arc::new(FrameArray::new(array.budget(budget.clone()))))
        }
        Content::Recipe(recipe) => Data::Recipe(Box::new(recipe)),
        content @ (Content::Objects(_) | Content::Batches(_) | Content::Lists(_)) => {
            Data::Objects(Arc::new(FrameObjects { schunk, content }))
        }
        _ => match tensor(&schunk)? {
            Some(array) => Data::Array(array),
            None => bytes(schunk),
        },
    })
}

/// A frame as bytes, whatever it holds.
pub(crate) fn bytes(schunk: Arc<SChunk>) -> Data {
    Data::Bytes(Arc::new(FrameBytes { schunk }))
}

/// The note on values of a frame that are not read.
pub(crate) fn unread(error: &b2store::Error) -> String {
    format!("only its bytes are read: {}", chain(error))
}

/// The array in a frame that only metadata describe, as `pack_tensor`, `save_tensor` and
/// `save_array` of python-blosc2 write it; `None` for other frames.
///
/// # Errors
///
/// Metadata that do not decode.
pub fn tensor(schunk: &Arc<SChunk>) -> Result<Option<Arc<dyn Array>>> {
    let info = Metadata::of_frame(schunk)?.tensor();
    let Some(info) = info.filter(|info| info.nbytes() == schunk.nbytes()) else { return Ok(None) };
    let Layout { dtype, shape, fortran_order } = info.into();
    let stored = Stored {
        store: Arc::new(Contents(Arc::clone(schunk))),
        start: 0,
        fortran_order,
        shape,
        itemsize: dtype.itemsize() as u64,
    };
    let bytes = FrameBytes { schunk: Arc::clone(schunk) };
    Ok(Some(Arc::new(Tensor { dtype, stored, bytes })))
}

/// The bytes of a frame, with reads at any position.
struct Contents(Arc<SChunk>);

impl ReadAt for Contents {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.nbytes())
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let len = as_len(self.0.nbytes().saturating_sub(at)).min(buf.len());
        if let Some(buf) = buf.get_mut(..len).filter(|buf| !buf.is_empty()) {
            self.0.read_bytes(at, buf).map_err(io::Error::other)?;
        }
        Ok(len)
    }
}

/// Items in a frame without dimensions.
#[derive(Debug)]
struct Tensor {
    dtype: Dtype,
    stored: Stored,
    bytes: FrameBytes,
}

impl Array for Tensor {
    fn format(&self) -> &'static str {
        self.bytes.format()
    }

    fn dtype(&self) -> &Dtype {
        &self.dtype
    }

    fn shape(&self) -> &[u64] {
        &self.stored.shape
    }

    fn stored_nbytes(&self) -> Option<u64> {
        Some(stored_nbytes(&self.bytes.schunk))
    }

    fn read_box(&self, bounds: &[Range<u64>], dest: &mut [u8]) -> Result<()> {
        self.stored.fill_box(bounds, dest)
    }
}

/// Whether the frame holds values of an unknown kind, which is not damage.
pub(crate) fn is_unknown(error: &b2store::Error) -> bool {
    match error {
        b2store::Error::Corrupt { what, .. } => matches!(
            what,
            Corrupt::Serializer { .. } | Corrupt::Version { .. } | Corrupt::Type { .. }
        ),
        b2store::Error::Frame { source, .. } => {
            matches!(**source, b2frame::Error::UnknownNdVersion { .. })
        }
        _ => false,
    }
}

/// The name of the format of a frame.
#[must_use]
pub fn format_name(schunk: &SChunk, is_array: bool) -> &'static str {
    match (is_sparse(schunk), is_array) {
        _ if schunk.layout() != FrameLayout::Current => "legacy-frame",
        (true, _) => "sframe",
        (false, true) => "b2nd",
        (false, false) => "b2frame",
    }
}

/// Whether a frame is a folder.
#[must_use]
pub fn is_sparse(schunk: &SChunk) -> bool {
    schunk.header().frame_type() == FrameType::Sparse
}

/// Bytes of a frame; the chunks of a sparse one are files beside the index.
#[must_use]
pub fn stored_nbytes(schunk: &SChunk) -> u64 {
    let beside = if is_sparse(schunk) { schunk.cbytes() } else { 0 };
    schunk.frame_len().saturating_add(beside)
}

/// The filters and the codec: `shuffle, zstd`.
fn pipeline(schunk: &SChunk) -> String {
    let params = schunk.cparams();
    let filters = params.filters.active().map(|slot| slot.id.to_string());
    filters.chain([params.codec.to_string()]).collect::<Vec<_>>().join(", ")
}

fn chunk(schunk: &SChunk, nchunk: u64) -> Result<ChunkBytes> {
    Ok(schunk.chunk(nchunk)?)
}

/// The bytes of a frame without an array.
#[derive(Clone, Debug)]
struct FrameBytes {
    schunk: Arc<SChunk>,
}

impl Bytes for FrameBytes {
    fn format(&self) -> &'static str {
        format_name(&self.schunk, false)
    }

    fn nbytes(&self) -> u64 {
        self.schunk.nbytes()
    }

    fn typesize(&self) -> u64 {
        self.schunk.typesize() as u64
    }

    fn stored_nbytes(&self) -> u64 {
        stored_nbytes(&self.schunk)
    }

    fn attributes(&self) -> Result<Map<String, Value>> {
        json::layers(&self.schunk)
    }

    fn stream(
        &self,
        range: Range<u64>,
        budget: &Budget,
        sink: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        stream_exactly(range, self.nbytes(), sink, |range, sink| {
            bytes_part(&self.schunk, range, budget, sink)
        })
    }

    fn chunks(&self) -> Option<&dyn Chunks> {
        Some(self)
    }

    fn frame(&self) -> Option<&Arc<SChunk>> {
        Some(&self.schunk)
    }

    fn compare_seals(&self) -> Result<()> {
        Ok(self.schunk.compare_seal()?)
    }

    fn verify(&self, options: &VerifyOptions, progress: OnProgress<'_>) -> Result<Report> {
        Ok(verify::frame(&self.schunk, options, progress))
    }
}

impl Chunks for FrameBytes {
    fn nchunks(&self) -> u64 {
        self.schunk.nchunks()
    }

    fn chunk(&self, nchunk: u64) -> Result<ChunkBytes> {
        chunk(&self.schunk, nchunk)
    }
}

/// An array in a frame.
#[derive(Clone, Debug)]
pub struct FrameArray {
    array: NdArray,
    chunkshape: Vec<u64>,
    blockshape: Vec<u64>,
}

impl FrameArray {
    /// An array with its description.
    #[must_use]
    pub fn new(array: NdArray) -> Self {
        let wide = |lens: Vec<u32>| lens.into_iter().map(u64::from).collect();
        let (chunkshape, blockshape) = (wide(array.chunkshape()), wide(array.blockshape()));
        Self { array, chunkshape, blockshape }
    }
}

impl Array for FrameArray {
    fn format(&self) -> &'static str {
        format_name(self.array.schunk(), true)
    }

    fn dtype(&self) -> &Dtype {
        self.array.dtype()
    }

    fn shape(&self) -> &[u64] {
        self.array.shape()
    }

    fn chunkshape(&self) -> &[u64] {
        &self.chunkshape
    }

    fn blockshape(&self) -> &[u64] {
        &self.blockshape
    }

    fn pipeline(&self) -> String {
        pipeline(self.array.schunk())
    }

    fn stored_nbytes(&self) -> Option<u64> {
        Some(stored_nbytes(self.array.schunk()))
    }

    fn attributes(&self) -> Result<Map<String, Value>> {
        json::layers(self.array.schunk())
    }

    fn read_box(&self, bounds: &[Range<u64>], dest: &mut [u8]) -> Result<()> {
        Ok(self.array.read_bytes(selection(bounds), dest)?)
    }

    fn read_at(&self, positions: &[&[u64]], dest: &mut [u8]) -> Result<()> {
        Ok(self.array.read_oindex_bytes(positions, dest)?)
    }

    fn within(&self, budget: &Budget) -> Option<Arc<dyn Array>> {
        let array = self.array.clone().budget(budget.clone());
        Some(Arc::new(Self { array, ..self.clone() }))
    }

    fn gather(&self, items: &[u64], dest: &mut [u8]) -> Result<()> {
        Ok(self.array.gather_bytes(items, dest)?)
    }

    fn read(&self, selection: &Selection, dest: &mut [u8]) -> Result<()> {
        Ok(self.array.read_bytes(selection, dest)?)
    }

    fn stream(
        &self,
        range: Range<u64>,
        budget: &Budget,
        sink: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        check_range(&range, self.array.nbytes())?;
        array_part(&self.array, range, budget, sink)
    }

    fn chunks(&self) -> Option<&dyn Chunks> {
        Some(self)
    }

    fn frame(&self) -> Option<&Arc<SChunk>> {
        Some(self.array.schunk())
    }

    fn compare_seals(&self) -> Result<()> {
        Ok(self.array.schunk().compare_seal()?)
    }

    fn verify(&self, options: &VerifyOptions, progress: OnProgress<'_>) -> Result<Report> {
        Ok(verify::frame(self.array.schunk(), options, progress))
    }
}

impl Chunks for FrameArray {
    fn nchunks(&self) -> u64 {
        self.array.schunk().nchunks()
    }

    fn chunk(&self, nchunk: u64) -> Result<ChunkBytes> {
        chunk(self.array.schunk(), nchunk)
    }
}

/// Hands the bytes `range` of the content of a frame to `sink` in order, in pieces; an array gives
/// its items in C order without padding.
///
/// # Errors
///
/// Damage, after all data before it; the error of `sink`.
pub fn part<E: From<b2frame::Error> + From<Error>>(
    schunk: &Arc<SChunk>,
    range: Range<u64>,
    budget: &Budget,
    sink: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    match schunk.nd_array()? {
        Some(array) => array_part(&array, range, budget, sink),
        None => bytes_part(schunk, range, budget, sink),
    }
}

fn bytes_part<E: From<b2frame::Error>>(
    schunk: &SChunk,
    range: Range<u64>,
    budget: &Budget,
    sink: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let is_all = range == (0..schunk.nbytes());
    if range.is_empty() && !is_all {
        return Ok(());
    }
    if is_all {
        return schunk.decode_ordered(0..schunk.nchunks(), budget, |_, bytes| sink(bytes));
    }
    if range.end - range.start <= MAX_BLOCKWISE_NBYTES {
        let mut bytes = vec![0; as_len(range.end - range.start)];
        schunk.read_bytes(range.start, &mut bytes)?;
        return sink(&bytes);
    }
    let (nchunks, at) = chunks_of(schunk, &range)?;
    let mut cut = cut(range, at, sink);
    schunk.decode_ordered(nchunks, budget, |_, bytes| cut(bytes))
}

/// Decodes only the blocks that hold the range, box by box.
fn array_part<E: From<b2frame::Error> + From<Error>>(
    array: &NdArray,
    range: Range<u64>,
    budget: &Budget,
    sink: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let array = array.clone().budget(budget.clone());
    if range == (0..array.nbytes()) {
        return array.for_each_band(sink);
    }
    let itemsize = array.typesize().max(1) as u64;
    let items = range.start / itemsize..range.end.div_ceil(itemsize);
    let max_items = (budget.max_memory / 4 / itemsize).max(1);
    let mut cut = cut(range, items.start.saturating_mul(itemsize), sink);
    let mut bytes = vec![];
    for bounds in RowMajor::new(array.shape(), &array.chunkshape(), items, max_items) {
        resize(&mut bytes, count(&bounds).saturating_mul(itemsize))?;
        array.read_bytes(selection(&bounds), &mut bytes)?;
        cut(&bytes)?;
    }
    Ok(())
}

/// The chunks that hold the bytes `range`, and the position of the first one in the content.
fn chunks_of(schunk: &SChunk, range: &Range<u64>) -> b2frame::Result<(Range<u64>, u64)> {
    if let ChunkSize::Fixed(size) = schunk.chunksize() {
        let size = u64::from(size.get());
        let first = range.start / size;
        return Ok((first..range.end.div_ceil(size), first * size));
    }
    let (mut nchunk, mut at) = (0, 0);
    let mut first = None;
    while at < range.end && nchunk < schunk.nchunks() {
        let end = at + schunk.chunk_nbytes(nchunk)? as u64;
        if end > range.start {
            first = first.or(Some((nchunk, at)));
        }
        (nchunk, at) = (nchunk + 1, end);
    }
    let (first, start) = first.unwrap_or((nchunk, at));
    Ok((first..nchunk, start))
}

//! Parts of a chunk: its header and block starts first, then the blocks that hold the part.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use blosc_chunk::partial::{ChunkIndex, IndexStep};
use zarrs_codec::{
    ArrayBytesRaw, BytesPartialDecoderTraits, BytesRepresentation, CodecError, CodecOptions,
};
use zarrs_storage::StorageError;
use zarrs_storage::byte_range::{ByteRange, ByteRangeIterator};

use crate::codec::{BloscCodec, Reader, check_nbytes, failed};

/// Bytes of a chunk that are read first: they hold the starts of a thousand blocks.
const HEAD_NBYTES: u64 = 4 << 10;
/// One request fetches blocks with fewer bytes between them.
const MERGE_GAP_NBYTES: usize = 4 << 10;

/// A chunk that is read in parts.
pub(crate) struct Partial {
    codec: Arc<BloscCodec>,
    input: Arc<dyn BytesPartialDecoderTraits>,
    decoded: BytesRepresentation,
    /// Read with the first part.
    index: Mutex<Option<Arc<ChunkIndex>>>,
}

impl Partial {
    pub(crate) fn new(
        codec: Arc<BloscCodec>,
        input: Arc<dyn BytesPartialDecoderTraits>,
        decoded: BytesRepresentation,
    ) -> Self {
        Self { codec, input, decoded, index: Mutex::new(None) }
    }

    /// Header and block starts; `None` for a missing chunk.
    fn index(&self, options: &CodecOptions) -> Result<Option<Arc<ChunkIndex>>, CodecError> {
        let known = || self.index.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = &*known() {
            return Ok(Some(Arc::clone(index)));
        }
        let mut wanted = HEAD_NBYTES;
        loop {
            let range = ByteRange::FromStart(0, Some(wanted));
            // In some stores a range past the end is an error: then the chunk is short.
            let head = match self.input.partial_decode(range, options) {
                Ok(head) => head,
                Err(_) => self.input.decode(options)?,
            };
            let Some(head) = head else { return Ok(None) };
            match ChunkIndex::parse(&head).map_err(failed)? {
                IndexStep::Ready(index) => {
                    check_nbytes(index.header(), &self.decoded)?;
                    let index = Arc::new(index);
                    *known() = Some(Arc::clone(&index));
                    return Ok(Some(index));
                }
                IndexStep::Needs(len) if len as u64 > wanted => wanted = len as u64,
                IndexStep::Needs(_) => return Err(failed("a chunk that is cut")),
            }
        }
    }
}

impl BytesPartialDecoderTraits for Partial {
    fn exists(&self) -> Result<bool, StorageError> {
        self.input.exists()
    }

    fn size_held(&self) -> usize {
        self.input.size_held()
    }

    fn supports_partial_decode(&self) -> bool {
        self.input.supports_partial_decode()
    }

    fn partial_decode_many(
        &self,
        regions: ByteRangeIterator<'_>,
        options: &CodecOptions,
    ) -> Result<Option<Vec<ArrayBytesRaw<'_>>>, CodecError> {
        let Some(index) = self.index(options)? else { return Ok(None) };
        let nbytes = index.header().nbytes() as u64;
        let plan = |region: ByteRange| {
            let narrow = |at: u64| usize::try_from(at).map_err(failed);
            let range = narrow(region.start(nbytes))?..narrow(region.end(nbytes))?;
            index.plan(range, MERGE_GAP_NBYTES).map_err(failed)
        };
        let plans = regions.map(plan).collect::<Result<Vec<_>, _>>()?;
        let ranges: Vec<ByteRange> = plans
            .iter()
            .flat_map(|plan| plan.ranges())
            .map(|range| ByteRange::FromStart(range.start as u64, Some(range.len() as u64)))
            .collect();
        let parts = match ranges.is_empty() {
            true => vec![],
            false => {
                let parts =
                    self.input.partial_decode_many(Box::new(ranges.into_iter()), options)?;
                let Some(parts) = parts else { return Ok(None) };
                parts
            }
        };
        let mut parts = parts.iter();
        let Reader(scratch) = &mut *self.codec.reader();
        let mut decoded = Vec::with_capacity(plans.len());
        for plan in &plans {
            let own: Vec<_> = parts.by_ref().take(plan.ranges().len()).collect();
            let mut data = vec![0; plan.data().len()];
            index.decode(plan, &own, &mut data, scratch).map_err(failed)?;
            decoded.push(Cow::Owned(data));
        }
        Ok(Some(decoded))
    }
}

//! Frames that are mostly runs of one value, which chunks say without data: an item of each run is
//! looked at, and counts as often as it is there. So a blank array of any size takes no time.

use core::ops::Range;
use std::sync::Arc;

use b2frame::{Budget, NdArray, SChunk};
use blosc_chunk::SpecialKind;

use crate::{
    content::source::Source,
    error::Result,
    formats::stored_array::{count, selection},
    inputs::object::Object,
};

/// Takes items, and how often each is there.
pub(super) type ItemSink<'a> = &'a mut dyn FnMut(&[u8], u64);

/// A frame of which less than half has to be decoded.
pub(super) struct Runs {
    schunk: Arc<SChunk>,
    array: Option<NdArray>,
    /// Bytes of data in chunks that are no runs.
    pub(super) decoded: u64,
}

impl Runs {
    /// The frame that a source is, if it is mostly runs of items of this size (bytes).
    ///
    /// # Errors
    ///
    /// Chunks that are not where the index says.
    pub(super) fn find(source: &Source, itemsize: usize) -> Result<Option<Self>> {
        let Source::Object(Object::Frame(schunk)) = source else { return Ok(None) };
        let is_plain = schunk.typesize() == itemsize && schunk.chunksize().fixed().is_some();
        // Small ones are read as a whole sooner.
        if !is_plain || schunk.nbytes() < MIN_NBYTES {
            return Ok(None);
        }
        let mut decoded = 0u64;
        for info in schunk.chunk_infos() {
            let info = info?;
            decoded = decoded.saturating_add(if info.special.is_none() { info.nbytes } else { 0 });
            if decoded > schunk.nbytes() / 2 {
                return Ok(None);
            }
        }
        let array = schunk.nd_array()?;
        Ok(Some(Self { schunk: Arc::clone(schunk), array, decoded }))
    }

    /// Hands all items of the content to `sink`, in no order.
    ///
    /// # Errors
    ///
    /// Damage.
    pub(super) fn for_each(&self, budget: &Budget, sink: ItemSink<'_>) -> Result<()> {
        let (mut bytes, mut known) = (vec![], vec![]);
        for info in self.schunk.chunk_infos() {
            let info = info?;
            let bounds = self.bounds(info.nchunk, info.nbytes);
            let nitems = count(&bounds);
            match info.special {
                None => {
                    for part in parts(&bounds, self.schunk.typesize(), budget.max_memory / 4) {
                        self.read(&part, &mut bytes)?;
                        sink(&bytes, 1);
                    }
                }
                Some(kind) => {
                    // What only the index says is the same item each time.
                    let known = match known.iter().find(|(of, _)| *of == kind) {
                        Some((_, item)) => item,
                        None => {
                            let item: Vec<Range<u64>> =
                                bounds.iter().map(|range| range.start..range.start + 1).collect();
                            self.read(&item, &mut bytes)?;
                            if kind == SpecialKind::Value || info.stored.is_some() {
                                sink(&bytes, nitems);
                                continue;
                            }
                            known.push((kind, bytes.clone()));
                            &bytes
                        }
                    };
                    sink(known, nitems);
                }
            }
        }
        Ok(())
    }

    /// The items of a chunk that are in the array; of a frame without one, their numbers.
    fn bounds(&self, nchunk: u64, nbytes: u64) -> Vec<Range<u64>> {
        let Some(array) = &self.array else {
            let typesize = self.schunk.typesize().max(1) as u64;
            let size = self.schunk.chunksize().fixed().map_or(0, u64::from);
            let start = nchunk.saturating_mul(size) / typesize;
            return core::iter::once(start..start + nbytes / typesize).collect();
        };
        let mut number = nchunk;
        let dims = array.meta().grid().into_iter().zip(array.shape()).zip(array.chunkshape());
        let mut bounds: Vec<Range<u64>> = dims
            .rev()
            .map(|((grid, len), chunk)| {
                let start = (number % grid.max(1)) * u64::from(chunk);
                number /= grid.max(1);
                start..start.saturating_add(chunk.into()).min(*len)
            })
            .collect();
        bounds.reverse();
        bounds
    }

    fn read(&self, bounds: &[Range<u64>], bytes: &mut Vec<u8>) -> Result<()> {
        let typesize = self.schunk.typesize() as u64;
        let len = usize::try_from(count(bounds).saturating_mul(typesize)).unwrap_or(usize::MAX);
        bytes.resize(len, 0);
        match (&self.array, bounds) {
            (Some(array), _) => array.read_bytes(selection(bounds), bytes)?,
            (None, [items]) => self.schunk.read_bytes(items.start * typesize, bytes)?,
            (None, _) => {}
        }
        Ok(())
    }
}

/// A box in parts along its first dimension, of at most `max_nbytes` bytes where a row has fewer.
fn parts(bounds: &[Range<u64>], typesize: usize, max_nbytes: u64) -> Vec<Vec<Range<u64>>> {
    let Some((first, inner)) = bounds.split_first() else { return vec![vec![]] };
    let row = count(inner).saturating_mul(typesize as u64).max(1);
    let step = usize::try_from((max_nbytes / row).max(1)).unwrap_or(usize::MAX);
    let part = |start: u64| {
        let end = start.saturating_add(step as u64).min(first.end);
        core::iter::once(start..end).chain(inner.iter().cloned()).collect()
    };
    first.clone().step_by(step).map(part).collect()
}

/// Frames of less data are read as a whole (bytes).
const MIN_NBYTES: u64 = 64 << 20;

//! Statistics of frames that are mostly runs. One item of a run is read and counts for all, so that
//! a blank array of any size takes no time.

use core::ops::Range;
use std::sync::Arc;

use b2frame::{NdArray, SChunk};
use blosc_chunk::SpecialKind;

use super::ItemSink;
use crate::Budget;
use crate::boxes::{count, selection};
use crate::error::Result;
use crate::size::as_len;

/// A frame that is mostly runs: less than half of it must be decoded.
#[derive(Debug)]
pub struct Runs {
    schunk: Arc<SChunk>,
    array: Option<NdArray>,
    /// Bytes of data in other chunks.
    pub decoded: u64,
}

impl Runs {
    /// The frame, if it is large and mostly runs of items of this size (bytes).
    ///
    /// # Errors
    ///
    /// Chunks that are not at the positions in the index.
    pub fn find(schunk: &Arc<SChunk>, itemsize: usize) -> Result<Option<Self>> {
        let is_plain = schunk.typesize() == itemsize && schunk.chunksize().fixed().is_some();
        // A small frame is read faster as a whole.
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

    /// Hands all items of the content to `sink`, in any order.
    ///
    /// # Errors
    ///
    /// Damage.
    pub fn for_each(&self, budget: &Budget, sink: ItemSink<'_>) -> Result<()> {
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
                    // A run within the index gives the same item each time.
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

    /// The items of a chunk within the array; for a frame without an array, their numbers.
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
        let len = as_len(count(bounds).saturating_mul(typesize));
        bytes.resize(len, 0);
        match (&self.array, bounds) {
            (Some(array), _) => array.read_bytes(selection(bounds), bytes)?,
            (None, [items]) => self.schunk.read_bytes(items.start * typesize, bytes)?,
            (None, _) => {}
        }
        Ok(())
    }
}

/// Cuts a box along its first dimension to parts of at most `max_nbytes` bytes, or of one row.
fn parts(bounds: &[Range<u64>], typesize: usize, max_nbytes: u64) -> Vec<Vec<Range<u64>>> {
    let Some((first, inner)) = bounds.split_first() else { return vec![vec![]] };
    let row = count(inner).saturating_mul(typesize as u64).max(1);
    let step = as_len((max_nbytes / row).max(1));
    let part = |start: u64| {
        let end = start.saturating_add(step as u64).min(first.end);
        core::iter::once(start..end).chain(inner.iter().cloned()).collect()
    };
    first.clone().step_by(step).map(part).collect()
}

/// Frames of less data are read as a whole (bytes).
const MIN_NBYTES: u64 = 64 << 20;

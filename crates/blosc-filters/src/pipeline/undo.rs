//! The filters that decoding has to undo, found once for all blocks of a chunk.

use super::{Pipeline, find};
use crate::filter::check_lengths;
use crate::internal::StoreHint;
use crate::{FilterCx, FilterId, FilterSlot, Registry, Result};

/// The filters that decoding has to undo: the filters of a [`Pipeline`], except those whose inverse
/// only copies.
///
/// ```
/// use blosc_filters::{FilterCx, Pipeline, Registry};
///
/// let (registry, cx) = (Registry::builtin(), FilterCx::new(3));
/// let undo = Pipeline::SHUFFLE.undo(&registry, &cx)?;
/// let mut dest = [0; 6];
/// undo.apply(&cx, &mut b"aAbBcC".clone(), &mut dest)?;
/// assert_eq!(&dest, b"abcABC");
/// assert!(Pipeline::SHUFFLE.undo(&registry, &FilterCx::new(1))?.is_nothing());
/// # Ok::<(), blosc_filters::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Undo<'r> {
    registry: &'r Registry,
    /// The pipeline without the filters that only copy.
    pipeline: Pipeline,
    /// Number of remaining filters.
    nfilters: u8,
    /// The remaining filter, if it is only one.
    only: Option<FilterSlot>,
}

impl Undo<'_> {
    /// Whether there is nothing to undo, so that a caller can decode to the final destination.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.nfilters == 0
    }

    /// The filter, if it is only one.
    #[must_use]
    pub fn only(&self) -> Option<FilterSlot> {
        self.only
    }

    /// Undoes the filters. Both buffers are equally long; the result is in `dest`, and `src` holds
    /// anything afterwards. [`FilterCx::stores`] decides how the last filter writes `dest`.
    ///
    /// # Errors
    ///
    /// [`Error::Length`](crate::Error::Length), or [`Error::Param`](crate::Error::Param) from a
    /// filter; `dest` then holds anything.
    pub fn apply(&self, cx: &FilterCx<'_>, src: &mut [u8], dest: &mut [u8]) -> Result {
        check_lengths(src, dest)?;
        if let Some(slot) = self.only() {
            return find(self.registry, slot.id)?.backward(cx, slot.meta, src, dest);
        }
        let (mut in_dest, mut remaining) = (false, self.nfilters);
        for slot in self.pipeline.active().rev() {
            let filter = find(self.registry, slot.id)?;
            let (from, to) =
                if in_dest { (&mut *dest, &mut *src) } else { (&mut *src, &mut *dest) };
            in_dest = !in_dest;
            remaining -= 1;
            // The next filter or the copy below reads it, so it belongs in the cache.
            let stores = if remaining == 0 && in_dest { cx.stores } else { StoreHint::Cached };
            filter.backward(&FilterCx { stores, ..*cx }, slot.meta, from, to)?;
        }
        if !in_dest {
            cx.stores.copy(cx.simd, src, dest);
        }
        Ok(())
    }
}

impl core::fmt::Debug for Undo<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Undo").field(&self.pipeline).finish()
    }
}

impl Pipeline {
    /// Finds the filters that decoding has to undo. The reference in `cx` does not matter.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownFilter`](crate::Error::UnknownFilter).
    pub fn undo<'r>(&self, registry: &'r Registry, cx: &FilterCx<'_>) -> Result<Undo<'r>> {
        let (mut pipeline, mut nfilters, mut only) = (*self, 0, None);
        if !self.is_empty() {
            for (nslot, slot) in
                self.slots().enumerate().filter(|(_, slot)| slot.id != FilterId::NOFILTER)
            {
                if find(registry, slot.id)?.backward_is_identity(cx, slot.meta) {
                    pipeline.ids[nslot] = FilterId::NOFILTER.0;
                } else {
                    nfilters += 1;
                    only = if nfilters == 1 { Some(slot) } else { None };
                }
            }
        }
        Ok(Undo { registry, pipeline, nfilters, only })
    }
}

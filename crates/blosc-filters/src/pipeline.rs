//! Up to six filters in a row ("The pipeline" in the format document).

mod spec;
mod undo;

pub use undo::Undo;

use crate::filter::check_lengths;
use crate::{Error, Filter, FilterCx, FilterId, Registry, Result};

/// One slot of a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FilterSlot {
    /// The filter, or [`FilterId::NOFILTER`] if the slot is empty.
    pub id: FilterId,
    /// The filter's parameter; each filter defines its meaning.
    pub meta: u8,
}

/// The filters of a chunk, in six slots. Encoding runs slots 0 to 5, decoding 5 to 0. Slots may be
/// empty anywhere.
///
/// It holds the bytes of a header, unchecked: it keeps ids that no [`Registry`] knows.
///
/// ```
/// use blosc_filters::{FilterId, Pipeline};
/// let pipeline = Pipeline::parse("trunc:10, shuffle")?;
/// assert_eq!(pipeline.ids(), [0, 0, 0, 0, 4, 1]);
/// assert_eq!(pipeline.metas(), [0, 0, 0, 0, 10, 0]);
/// assert_eq!(pipeline.to_string(), "trunc_prec:10, shuffle");
/// # Ok::<(), blosc_filters::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Pipeline {
    ids: [u8; SLOTS],
    metas: [u8; SLOTS],
}

impl Pipeline {
    /// No filter at all.
    pub const EMPTY: Self = Self::from_slots([FilterId::NOFILTER.0; SLOTS], [0; SLOTS]);

    /// Shuffle in the last slot, which is C-Blosc2's default.
    pub const SHUFFLE: Self = Self::from_slots([0, 0, 0, 0, 0, 1], [0; SLOTS]);

    /// From the bytes of a chunk header.
    #[must_use]
    pub const fn from_slots(ids: [u8; SLOTS], metas: [u8; SLOTS]) -> Self {
        Self { ids, metas }
    }

    /// The same filters, moved up to the last slots, and `slot` after them.
    ///
    /// # Errors
    ///
    /// [`Error::Spec`] if there are six already.
    pub fn push(self, slot: FilterSlot) -> Result<Self> {
        let nfilters = self.active().count();
        if nfilters == SLOTS {
            return Err(Error::Spec { nfilter: SLOTS, what: crate::Spec::TooMany });
        }
        let mut pipeline = Self::EMPTY;
        for (nslot, slot) in (SLOTS - 1 - nfilters..).zip(self.active().chain([slot])) {
            (pipeline.ids[nslot], pipeline.metas[nslot]) = (slot.id.0, slot.meta);
        }
        Ok(pipeline)
    }

    /// The same filters with explicit parameters: bytedelta's meta of 0 becomes the typesize, since
    /// C-Blosc2 refuses 0 in chunks that are not part of a super-chunk. (It stays 0 if the typesize
    /// does not fit.)
    #[must_use]
    pub fn with_typesize(mut self, typesize: usize) -> Self {
        let streams = u8::try_from(typesize).unwrap_or(0);
        for (id, meta) in self.ids.iter().zip(&mut self.metas) {
            if matches!(FilterId(*id), FilterId::BYTEDELTA | FilterId::BYTEDELTA_LEGACY)
                && *meta == 0
            {
                *meta = streams;
            }
        }
        self
    }

    /// The filter ids for a chunk header.
    #[must_use]
    pub const fn ids(&self) -> [u8; SLOTS] {
        self.ids
    }

    /// The meta bytes for a chunk header.
    #[must_use]
    pub const fn metas(&self) -> [u8; SLOTS] {
        self.metas
    }

    /// The six slots.
    pub fn slots(&self) -> impl DoubleEndedIterator<Item = FilterSlot> + '_ {
        self.ids.iter().zip(&self.metas).map(|(&id, &meta)| FilterSlot { id: FilterId(id), meta })
    }

    /// The slots that hold a filter, in encoding order.
    pub fn active(&self) -> impl DoubleEndedIterator<Item = FilterSlot> + '_ {
        self.slots().filter(|slot| slot.id != FilterId::NOFILTER)
    }

    /// Whether a slot holds this filter.
    #[must_use]
    pub fn contains(&self, id: FilterId) -> bool {
        id != FilterId::NOFILTER && self.ids.contains(&id.0)
    }

    /// Whether no slot holds a filter.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids == Self::EMPTY.ids
    }

    /// Whether a filter loses data. Ids that the registry does not know count as lossless.
    #[must_use]
    pub fn is_lossy(&self, registry: &Registry) -> bool {
        self.active().any(|slot| registry.get(slot.id).is_some_and(Filter::is_lossy))
    }

    /// Fails if a filter is not in the registry.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownFilter`] with the first unknown id.
    pub fn check_known(&self, registry: &Registry) -> Result {
        self.active().try_for_each(|slot| find(registry, slot.id).map(|_| ()))
    }

    /// Whether [`backward`](Self::backward) only copies, so that a caller can decode to the final
    /// destination. False if a filter is unknown.
    #[must_use]
    pub fn backward_is_identity(&self, registry: &Registry, cx: &FilterCx<'_>) -> bool {
        self.undo(registry, cx).is_ok_and(|undo| undo.is_nothing())
    }

    /// Filters a block into `dest`; `src` stays the same. The three buffers are equally long, but
    /// `scratch` may be empty if there is at most one filter.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownFilter`], [`Error::Length`], or [`Error::Param`] from a filter; `dest` then
    /// holds anything.
    pub fn forward(
        &self,
        registry: &Registry,
        cx: &FilterCx<'_>,
        src: &[u8],
        dest: &mut [u8],
        scratch: &mut [u8],
    ) -> Result {
        let mut remaining = self.active().count();
        check_lengths(src, dest)?;
        if remaining > 1 {
            check_lengths(src, scratch)?;
        }
        self.check_known(registry)?;
        if remaining == 0 {
            dest.copy_from_slice(src);
        }
        // Whether the data are still in `src`; otherwise they are in `scratch`. The last filter
        // must write to `dest`.
        let mut at_start = true;
        for slot in self.active() {
            let filter = find(registry, slot.id)?;
            let (from, to) = if remaining % 2 == 1 {
                (&mut *scratch, &mut *dest)
            } else {
                (&mut *dest, &mut *scratch)
            };
            filter.forward(cx, slot.meta, if at_start { src } else { from }, to)?;
            (at_start, remaining) = (false, remaining - 1);
        }
        Ok(())
    }

    /// Undoes [`forward`](Self::forward). Both buffers are equally long; the result is in `dest`,
    /// and `src` holds anything afterwards.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownFilter`], [`Error::Length`], or [`Error::Param`] from a filter; `dest` then
    /// holds anything.
    pub fn backward(
        &self,
        registry: &Registry,
        cx: &FilterCx<'_>,
        src: &mut [u8],
        dest: &mut [u8],
    ) -> Result {
        check_lengths(src, dest)?;
        self.undo(registry, cx)?.apply(cx, src, dest)
    }
}

fn find(registry: &Registry, id: FilterId) -> Result<&dyn Filter> {
    registry.get(id).ok_or(Error::UnknownFilter { id })
}

/// Number of filters in a chunk header.
const SLOTS: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    fn round_trip(pipeline: &Pipeline, src: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let (registry, cx) = (Registry::builtin(), FilterCx::new(4));
        let (mut filtered, mut scratch) = (vec![1; src.len()], vec![2; src.len()]);
        pipeline.forward(&registry, &cx, src, &mut filtered, &mut scratch).unwrap();
        let (mut consumed, mut restored) = (filtered.clone(), vec![3; src.len()]);
        pipeline.backward(&registry, &cx, &mut consumed, &mut restored).unwrap();
        (filtered, restored)
    }

    #[test]
    fn any_number_of_filters_in_any_slots_is_undone() {
        let src: Vec<u8> = (0..1003u32).map(|i| (i * i % 253) as u8).collect();
        for nfilters in 0..=6 {
            for gap in 0..=(6 - nfilters) {
                let ids = core::array::from_fn(|slot| {
                    if (gap..gap + nfilters).contains(&slot) { [1, 2, 3, 2, 1, 2][slot] } else { 0 }
                });
                let (filtered, restored) = round_trip(&Pipeline::from_slots(ids, [0; 6]), &src);
                assert_eq!((filtered == src, restored == src), (nfilters == 0, true), "{ids:?}");
            }
        }
    }

    #[test]
    fn filters_run_in_slot_order() {
        let src = *b"abcdABCDabcd";
        let (filtered, _) = round_trip(&Pipeline::parse("delta,shuffle").unwrap(), &src);
        assert_eq!(filtered, *b"a\x20\x20b\x20\x20c\x20\x20d\x20\x20");
    }

    #[test]
    fn truncation_is_skipped_when_decoding_whatever_its_meta() {
        let (registry, cx) = (Registry::builtin(), FilterCx::new(3));
        let pipeline = Pipeline::from_slots([4, 0, 0, 0, 0, 0], [0; 6]);
        assert!(pipeline.backward_is_identity(&registry, &cx));
        let mut restored = *b"...";
        pipeline.backward(&registry, &cx, &mut b"abc".clone(), &mut restored).unwrap();
        assert_eq!(&restored, b"abc");
        assert!(pipeline.forward(&registry, &cx, b"abc", &mut restored, &mut [0; 3]).is_err());
    }

    #[test]
    fn unknown_filters_and_other_lengths_are_refused() {
        let (registry, cx) = (Registry::builtin(), FilterCx::new(4));
        let pipeline = Pipeline::from_slots([1, 99, 0, 0, 0, 0], [0; 6]);
        let unknown = Err(Error::UnknownFilter { id: FilterId(99) });
        assert_eq!(pipeline.forward(&registry, &cx, &[0; 9], &mut [0; 9], &mut [0; 9]), unknown);
        assert_eq!(pipeline.backward(&registry, &cx, &mut [0; 9], &mut [0; 9]), unknown);
        let length = Err(Error::Length { src: 9, dest: 8 });
        let shuffle = Pipeline::SHUFFLE;
        assert_eq!(shuffle.forward(&registry, &cx, &[0; 9], &mut [0; 8], &mut [0; 9]), length);
        let two = Pipeline::parse("delta, shuffle").unwrap();
        assert_eq!(two.forward(&registry, &cx, &[0; 9], &mut [0; 9], &mut [0; 8]), length);
        assert_eq!(shuffle.forward(&registry, &cx, &[0; 9], &mut [0; 9], &mut []), Ok(()));
        assert_eq!(shuffle.backward(&registry, &cx, &mut [0; 9], &mut [0; 8]), length);
    }

    #[test]
    fn the_typesize_is_spelled_out_where_bytedelta_leaves_it_open() {
        let pipeline = Pipeline::parse("shuffle, bytedelta, bytedelta:3").unwrap();
        assert_eq!(pipeline.with_typesize(8).metas(), [0, 0, 0, 0, 8, 3]);
        assert_eq!(pipeline.with_typesize(256), pipeline);
    }

    #[test]
    fn push_keeps_the_order_and_uses_the_last_slots() {
        let slot = |id, meta| FilterSlot { id: FilterId(id), meta };
        let mut pipeline =
            Pipeline::from_slots([3, 0, 0, 1, 0, 0], [0, 0, 0, 2, 0, 0]).push(slot(35, 4)).unwrap();
        assert_eq!((pipeline.ids(), pipeline.metas()), ([0, 0, 0, 3, 1, 35], [0, 0, 0, 0, 2, 4]));
        for _ in 0..3 {
            pipeline = pipeline.push(slot(2, 0)).unwrap();
        }
        assert!(pipeline.push(slot(2, 0)).is_err());
    }
}

//! The available filters of a program: those of the format, and its own.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use crate::{Error, Filter, FilterId, Result};
use crate::{bitshuffle, bytedelta, delta, int_trunc, ndcell, ndmean, shuffle, trunc_prec};

/// The filters by id. Cloning is cheap; a clone does not see later registrations.
#[derive(Clone, Default)]
pub struct Registry {
    custom: Arc<Vec<Arc<dyn Filter>>>,
}

/// Name and properties of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Description<'a> {
    /// The number in chunk headers.
    pub id: FilterId,
    /// The name in specifications and messages.
    pub name: &'a str,
    /// Whether decoding may give other bytes than were encoded.
    pub is_lossy: bool,
}

impl Registry {
    /// The filters of the format.
    #[must_use]
    pub fn builtin() -> Self {
        Self::default()
    }

    /// Adds a filter. Ids from 160 on are for users; 37 to 159 are for filters known to the Blosc
    /// project.
    ///
    /// # Errors
    ///
    /// [`Error::ReservedId`] for ids below 37, [`Error::IdTaken`] if another filter has this id.
    pub fn register(&mut self, filter: Arc<dyn Filter>) -> Result {
        let id = filter.id();
        if id <= FilterId::INT_TRUNC {
            return Err(Error::ReservedId { id });
        }
        if self.get(id).is_some() {
            return Err(Error::IdTaken { id });
        }
        Arc::make_mut(&mut self.custom).push(filter);
        Ok(())
    }

    /// The filter of this id.
    #[must_use]
    pub fn get(&self, id: FilterId) -> Option<&dyn Filter> {
        if let Some(filter) = builtin(id) {
            return Some(filter);
        }
        self.custom.iter().find(|filter| filter.id() == id).map(|filter| &**filter)
    }

    /// Name and properties of the filter with this id.
    #[must_use]
    pub fn describe(&self, id: FilterId) -> Option<Description<'_>> {
        self.get(id).map(describe)
    }

    /// All filters, beginning with those of the format.
    pub fn iter(&self) -> impl Iterator<Item = Description<'_>> {
        let builtin = (0..=FilterId::INT_TRUNC.0).filter_map(|id| builtin(FilterId(id)));
        builtin.chain(self.custom.iter().map(|filter| &**filter)).map(describe)
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

fn describe(filter: &dyn Filter) -> Description<'_> {
    Description { id: filter.id(), name: filter.name(), is_lossy: filter.is_lossy() }
}

fn builtin(id: FilterId) -> Option<&'static dyn Filter> {
    Some(match id {
        FilterId::SHUFFLE => &shuffle::FILTER,
        FilterId::BITSHUFFLE => &bitshuffle::FILTER,
        FilterId::DELTA => &delta::FILTER,
        FilterId::TRUNC_PREC => &trunc_prec::FILTER,
        FilterId::NDCELL => &ndcell::FILTER,
        FilterId::NDMEAN => &ndmean::FILTER,
        FilterId::BYTEDELTA_LEGACY => &bytedelta::LEGACY,
        FilterId::BYTEDELTA => &bytedelta::FILTER,
        FilterId::INT_TRUNC => &int_trunc::FILTER,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FilterCx;

    struct Copy(u8);

    impl Filter for Copy {
        fn id(&self) -> FilterId {
            FilterId(self.0)
        }
        fn name(&self) -> &'static str {
            "copy"
        }
        fn forward(&self, _: &FilterCx<'_>, _: u8, src: &[u8], dest: &mut [u8]) -> Result {
            dest.copy_from_slice(src);
            Ok(())
        }
        fn backward(&self, _: &FilterCx<'_>, _: u8, src: &[u8], dest: &mut [u8]) -> Result {
            dest.copy_from_slice(src);
            Ok(())
        }
    }

    #[test]
    fn builtin_filters_have_the_names_of_the_format() {
        for described in Registry::builtin().iter() {
            assert_eq!(Some(described.name), described.id.name());
        }
    }

    #[test]
    fn a_registered_filter_is_found_and_clones_made_before_do_not_have_it() {
        let mut registry = Registry::builtin();
        let before = registry.clone();
        registry.register(Arc::new(Copy(200))).unwrap();
        assert_eq!(registry.describe(FilterId(200)).unwrap().name, "copy");
        assert!(before.get(FilterId(200)).is_none());
    }

    #[test]
    fn ids_of_the_format_and_taken_ones_are_refused() {
        let mut registry = Registry::builtin();
        for id in [0, 1, 5, 31, 36] {
            assert_eq!(
                registry.register(Arc::new(Copy(id))),
                Err(Error::ReservedId { id: FilterId(id) })
            );
        }
        registry.register(Arc::new(Copy(37))).unwrap();
        assert_eq!(registry.register(Arc::new(Copy(37))), Err(Error::IdTaken { id: FilterId(37) }));
    }
}

//! A frame that is changed before it is written: the bytes that differ from those of the storage
//! are in memory, the others stay where they are.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, PoisonError, RwLock};

use blosc_io::{MemStore, ReadAt, Sync, Windowed, WriteAt};

use crate::error::{Error, Result};

/// Bytes that are kept together (bytes).
const PAGE_NBYTES: usize = 1 << 16;

/// The bytes of a store with changes over them. Clones share the changes.
#[derive(Clone)]
pub(crate) struct Draft(Arc<RwLock<Pages>>);

struct Pages {
    base: Arc<dyn ReadAt>,
    /// Bytes of the base that are still part of the whole.
    base_len: u64,
    changed: BTreeMap<u64, Vec<u8>>,
    len: u64,
}

impl Draft {
    /// Nothing yet.
    pub(crate) fn empty() -> Self {
        let base = Arc::new(MemStore::default());
        Self(Arc::new(RwLock::new(Pages { base, base_len: 0, changed: BTreeMap::new(), len: 0 })))
    }

    /// The bytes of a store.
    pub(crate) fn over(base: Arc<dyn ReadAt>) -> io::Result<Self> {
        let len = base.len()?;
        let pages = Pages { base, base_len: len, changed: BTreeMap::new(), len };
        Ok(Self(Arc::new(RwLock::new(pages))))
    }

    /// The first `len` bytes of it, those of a frame.
    pub(crate) fn into_frame(self, len: u64, name: &str) -> Result<Arc<dyn ReadAt>> {
        let window = Windowed::new(self, 0, len).map_err(|source| Error::io(name, source))?;
        Ok(Arc::new(window))
    }
}

impl Pages {
    /// A page as it is.
    fn page(&self, npage: u64) -> io::Result<Vec<u8>> {
        let mut page = vec![0; PAGE_NBYTES];
        let start = npage.saturating_mul(PAGE_NBYTES as u64);
        let left = usize::try_from(self.base_len.saturating_sub(start)).unwrap_or(usize::MAX);
        let part = page.get_mut(..left.min(PAGE_NBYTES)).unwrap_or_default();
        self.base.read_exact_at(start, part)?;
        Ok(page)
    }
}

/// The number of the page of a position, where that lies in it, and the bytes from there on.
fn place_of(at: u64) -> (u64, usize, usize) {
    let size = PAGE_NBYTES as u64;
    let npage = at.checked_div(size).unwrap_or_default();
    let inner = usize::try_from(at.checked_rem(size).unwrap_or_default()).unwrap_or_default();
    (npage, inner, PAGE_NBYTES.saturating_sub(inner))
}

impl ReadAt for Draft {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.read().unwrap_or_else(PoisonError::into_inner).len)
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let pages = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let (npage, inner, rest) = place_of(at);
        let left = usize::try_from(pages.len.saturating_sub(at)).unwrap_or(usize::MAX);
        let count = buf.len().min(rest).min(left);
        let Some(dest) = buf.get_mut(..count).filter(|dest| !dest.is_empty()) else {
            return Ok(0);
        };
        if let Some(page) = pages.changed.get(&npage) {
            let end = inner.saturating_add(count);
            dest.copy_from_slice(page.get(inner..end).unwrap_or_default());
            return Ok(count);
        }
        let stored = usize::try_from(pages.base_len.saturating_sub(at)).unwrap_or(usize::MAX);
        let (stored, zeros) = dest.split_at_mut(stored.min(count));
        pages.base.read_exact_at(at, stored)?;
        zeros.fill(0);
        Ok(count)
    }
}

impl WriteAt for Draft {
    fn write_at(&mut self, mut at: u64, mut bytes: &[u8]) -> io::Result<()> {
        let mut pages = self.0.write().unwrap_or_else(PoisonError::into_inner);
        while !bytes.is_empty() {
            let (npage, inner, rest) = place_of(at);
            let (now, later) = bytes.split_at(bytes.len().min(rest));
            if !pages.changed.contains_key(&npage) {
                let page = pages.page(npage)?;
                pages.changed.insert(npage, page);
            }
            let end = inner.saturating_add(now.len());
            if let Some(dest) =
                pages.changed.get_mut(&npage).and_then(|page| page.get_mut(inner..end))
            {
                dest.copy_from_slice(now);
            }
            at = at.saturating_add(now.len() as u64);
            pages.len = pages.len.max(at);
            bytes = later;
        }
        Ok(())
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        let mut pages = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if len < pages.len {
            let (npage, inner, _) = place_of(len);
            let _cut = pages.changed.split_off(&npage.saturating_add(1));
            if let Some(page) = pages.changed.get_mut(&npage) {
                page.get_mut(inner..).unwrap_or_default().fill(0);
            }
            pages.base_len = pages.base_len.min(len);
        }
        pages.len = len;
        Ok(())
    }

    fn sync(&mut self, _: Sync) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_draft_is_a_store_over_another_one(
            len in 0_usize..200_000,
            steps in prop::collection::vec((0..3_u8, 0_u64..300_000, 0_usize..70_000), 0..12),
        ) {
            let base: Vec<u8> = (0..=250).cycle().take(len).collect();
            let mut draft = Draft::over(Arc::new(MemStore::new(base.clone()))).unwrap();
            let mut model = MemStore::new(base);
            for (kind, at, count) in steps {
                if kind == 0 {
                    draft.set_len(at).unwrap();
                    model.set_len(at).unwrap();
                } else {
                    let bytes: Vec<u8> = (kind..90).cycle().take(count).collect();
                    if !bytes.is_empty() {
                        draft.write_at(at, &bytes).unwrap();
                        model.write_at(at, &bytes).unwrap();
                    }
                }
                let mut found = vec![0; usize::try_from(draft.len().unwrap()).unwrap()];
                draft.read_exact_at(0, &mut found).unwrap();
                prop_assert!(found == model.as_bytes());
            }
        }
    }

    #[test]
    fn an_empty_draft_passes_the_suite() {
        let mut draft = Draft::empty();
        draft.write_at(3, b"abc").unwrap();
        blosc_io::testing::check_read_at(&draft, b"\0\0\0abc").unwrap();
    }
}

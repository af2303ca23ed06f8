//! A frame under change before it is written. Only changed bytes are in memory; the others stay in
//! the storage. With a directory, a draft moves most changed bytes to an unnamed file there, so
//! that memory does not grow with the frame.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use blosc_io::{FileStore, MemStore, ReadAt, Sync, Windowed, WriteAt};

use crate::error::{Error, Result};

/// Length of a page: positions inside have 16 bits (bytes).
const PAGE_NBYTES: usize = 1 << u16::BITS;
/// Changed pages of a draft that stay in memory if a file holds the others.
const MAX_PAGES: usize = 8;

/// The bytes of a store with changes over them. Clones share the changes.
#[derive(Clone)]
pub(crate) struct Draft(Arc<RwLock<Pages>>);

struct Pages {
    base: Arc<dyn ReadAt>,
    /// Bytes of the base that are still part of the result.
    base_len: u64,
    changed: BTreeMap<u64, Vec<u8>>,
    len: u64,
    spill: Option<Spill>,
}

/// Changed pages outside of memory.
struct Spill {
    dir: PathBuf,
    /// Created on first use.
    file: Option<FileStore>,
    /// The pages in the file, each at its own position.
    pages: BTreeSet<u64>,
}

impl Draft {
    /// An empty draft.
    pub(crate) fn empty() -> Self {
        Self::with_base(Arc::new(MemStore::default()), 0)
    }

    /// A draft over the bytes of a store.
    pub(crate) fn over(base: Arc<dyn ReadAt>) -> io::Result<Self> {
        let len = base.len()?;
        Ok(Self::with_base(base, len))
    }

    fn with_base(base: Arc<dyn ReadAt>, len: u64) -> Self {
        let changed = BTreeMap::new();
        Self(Arc::new(RwLock::new(Pages { base, base_len: len, changed, len, spill: None })))
    }

    /// Sets a directory for a file of changed bytes; without one they stay in memory.
    pub(crate) fn spill_in(self, dir: Option<PathBuf>) -> Self {
        let spill = dir.map(|dir| Spill { dir, file: None, pages: BTreeSet::new() });
        self.0.write().unwrap_or_else(PoisonError::into_inner).spill = spill;
        self
    }

    /// The first `len` bytes, which are a frame.
    pub(crate) fn into_frame(self, len: u64, name: &str) -> Result<Arc<dyn ReadAt>> {
        let window = Windowed::new(self, 0, len).map_err(|source| Error::io(name, source))?;
        Ok(Arc::new(window))
    }
}

impl Pages {
    /// The present content of a page.
    fn page(&self, npage: u64) -> io::Result<Vec<u8>> {
        let mut page = vec![0; PAGE_NBYTES];
        let start = npage.saturating_mul(PAGE_NBYTES as u64);
        if let Some(file) = self.file_of(npage) {
            file.read_exact_at(start, &mut page)?;
            return Ok(page);
        }
        let left = usize::try_from(self.base_len.saturating_sub(start)).unwrap_or(usize::MAX);
        let (stored, _zeros) = page.split_at_mut(left.min(PAGE_NBYTES));
        self.base.read_exact_at(start, stored)?;
        Ok(page)
    }

    /// The file that holds a page.
    fn file_of(&self, npage: u64) -> Option<&FileStore> {
        let spill = self.spill.as_ref().filter(|spill| spill.pages.contains(&npage))?;
        spill.file.as_ref()
    }

    /// Brings a page into memory for a change.
    fn page_mut(&mut self, npage: u64) -> io::Result<&mut Vec<u8>> {
        if !self.changed.contains_key(&npage) {
            if self.changed.len() >= MAX_PAGES {
                self.spill_all()?;
            }
            let page = self.page(npage)?;
            if let Some(spill) = &mut self.spill {
                spill.pages.remove(&npage);
            }
            self.changed.insert(npage, page);
        }
        Ok(self.changed.entry(npage).or_default())
    }

    /// Moves all pages to the file, if a file is allowed.
    fn spill_all(&mut self) -> io::Result<()> {
        let Some(spill) = &mut self.spill else { return Ok(()) };
        if spill.file.is_none() {
            match tempfile::tempfile_in(&spill.dir) {
                Ok(file) => spill.file = Some(FileStore::from_file(file)),
                // Some systems lack files without a name.
                Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                    self.spill = None;
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        let Some(file) = &mut spill.file else { return Ok(()) };
        for (npage, page) in &self.changed {
            file.write_at(npage.saturating_mul(PAGE_NBYTES as u64), page)?;
            spill.pages.insert(*npage);
        }
        self.changed.clear();
        Ok(())
    }
}

#[cold]
fn short_page() -> io::Error {
    io::Error::other("a page of a draft is too short")
}

/// The number of the page of a position, the position in the page, and the bytes from there on.
fn place_of(at: u64) -> (u64, usize, usize) {
    let [low, high, ..] = at.to_le_bytes();
    let (npage, inner) = (at >> u16::BITS, usize::from(u16::from_le_bytes([low, high])));
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
            let part = page.get(inner..inner.saturating_add(count)).ok_or_else(short_page)?;
            dest.copy_from_slice(part);
            return Ok(count);
        }
        if let Some(file) = pages.file_of(npage) {
            file.read_exact_at(at, dest)?;
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
            let end = inner.saturating_add(now.len());
            let dest = pages.page_mut(npage)?.get_mut(inner..end).ok_or_else(short_page)?;
            dest.copy_from_slice(now);
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
            if let Some(spill) = &mut pages.spill {
                let _cut = spill.pages.split_off(&npage.saturating_add(1));
            }
            if pages.changed.contains_key(&npage) || pages.file_of(npage).is_some() {
                pages.page_mut(npage)?.get_mut(inner..).ok_or_else(short_page)?.fill(0);
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
            steps in prop::collection::vec((0..3_u8, 0_u64..1_500_000, 0_usize..700_000), 0..12),
            has_file in any::<bool>(),
        ) {
            let base: Vec<u8> = (0..=250).cycle().take(len).collect();
            let draft = Draft::over(Arc::new(MemStore::new(base.clone()))).unwrap();
            let dir = tempfile::tempdir().unwrap();
            let mut draft = draft.spill_in(has_file.then(|| dir.path().to_owned()));
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
                let pages = draft.0.read().unwrap();
                prop_assert!(!has_file || pages.changed.len() <= MAX_PAGES);
                // The file has no name, where the system has such files.
                let is_named = std::fs::read_dir(dir.path()).unwrap().next().is_some();
                prop_assert!(!is_named || !cfg!(unix));
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

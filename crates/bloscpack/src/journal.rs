//! The journal of a change in place, for surviving a crash: the overwritten bytes, kept after the
//! end of the file until the change is complete ("Interrupted changes" in the format document).
//!
//! ```text
//! | live file | .. new data grow here .. | entry, entry, ... | footer |
//!             ^ length before            ^ start                      ^ end of the file
//! entry   position u64, length u64, the overwritten bytes
//! footer  "blpkundo", start u64, length before u64, entries u64, CRC-32 of the entries, CRC-32 of the footer
//! ```
//!
//! The journal is on disk before the first byte is overwritten, and cutting the file removes it.
//! Other readers see trailing bytes, which have no meaning in this format. This crate shows the
//! file in its former state.

use core::ops::Range;
use std::io;

use blosc_container::crc32::{Crc32, crc32};
use blosc_io::{ReadAt, Stamp, Sync, WriteAt};
use zerocopy::{FromZeros, IntoBytes};

use crate::raw::{RawJournalEntry as RawEntry, RawJournalFooter as RawFooter};

const MAGIC: [u8; 8] = *b"blpkundo";

/// More entries than any change needs: header, metadata, offsets, last chunk.
const MAX_ENTRIES: u64 = 8;

/// Bytes that are read or written at once.
const COPY_NBYTES: usize = 1 << 16;

const FOOTER_LEN: usize = size_of::<RawFooter>();
/// Position of its last field, the sum of the bytes before (bytes).
const CRC_AT: usize = FOOTER_LEN - size_of::<u32>();
const ENTRY_LEN: u64 = size_of::<RawEntry>() as u64;

/// Former bytes of the file, and their position in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kept {
    at: u64,
    len: u64,
    from: u64,
}

/// The journal of an interrupted change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Journal {
    len_before: u64,
    kept: Vec<Kept>,
}

impl Journal {
    /// Looks for a complete journal at the end of a file.
    pub(crate) fn find(store: &dyn ReadAt) -> io::Result<Option<Self>> {
        let Some(end) = store.len()?.checked_sub(FOOTER_LEN as u64) else { return Ok(None) };
        let mut footer = RawFooter::new_zeroed();
        store.read_exact_at(end, footer.as_mut_bytes())?;
        let (start, len_before) = (footer.start.get(), footer.len_before.get());
        let whole = footer.magic == MAGIC && footer.crc_footer.get() == crc_of(&footer);
        if !whole || start > end || len_before > start || footer.nentries.get() > MAX_ENTRIES {
            return Ok(None);
        }
        if crc_of_range(store, start, end)? != footer.crc_entries.get() {
            return Ok(None);
        }
        let kept = read_entries(store, start, end, footer.nentries.get())?;
        Ok(kept
            .filter(|kept| kept.iter().all(|kept| kept.fits(len_before)))
            .map(|kept| Self { len_before, kept }))
    }

    /// Keeps the bytes of `ranges` (position and length) of a file of `len_before` bytes in a
    /// journal at or after byte `start`, and returns when it is on disk.
    pub(crate) fn begin(
        store: &mut dyn WriteAt,
        start: u64,
        len_before: u64,
        ranges: &[(u64, u64)],
    ) -> io::Result<()> {
        let start = start.max(store.len()?);
        let mut end = start;
        for (at, len) in ranges.iter().copied() {
            let entry = RawEntry { at: at.into(), len: len.into() };
            store.write_at(end, entry.as_bytes())?;
            let data = end.saturating_add(ENTRY_LEN);
            copy(store, at, data, len)?;
            end = data.saturating_add(len);
        }
        let mut footer = RawFooter {
            magic: MAGIC,
            start: start.into(),
            len_before: len_before.into(),
            nentries: (ranges.len() as u64).into(),
            crc_entries: crc_of_range(store, start, end)?.into(),
            crc_footer: 0.into(),
        };
        footer.crc_footer = crc_of(&footer).into();
        store.write_at(end, footer.as_bytes())?;
        store.sync(Sync::All)
    }

    /// Restores the former content of the file.
    pub(crate) fn roll_back(&self, store: &mut dyn WriteAt) -> io::Result<()> {
        for kept in &self.kept {
            copy(store, kept.from, kept.at, kept.len)?;
        }
        store.sync(Sync::Data)?;
        store.set_len(self.len_before)?;
        store.sync(Sync::All)
    }
}

/// Completes a change, which cannot be undone afterwards.
pub(crate) fn commit(store: &mut dyn WriteAt, len: u64) -> io::Result<()> {
    store.sync(Sync::Data)?;
    store.set_len(len)?;
    store.sync(Sync::All)
}

/// A store in its state before an interrupted change, if there was one.
#[derive(Debug)]
pub(crate) struct Before<S> {
    store: S,
    journal: Option<Journal>,
}

impl<S: ReadAt> Before<S> {
    pub(crate) fn new(store: S) -> io::Result<Self> {
        let journal = Journal::find(&store)?;
        Ok(Self { store, journal })
    }

    /// Whether there was an interrupted change.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.journal.is_some()
    }

    /// The store in its present state, until [`refresh`](Self::refresh) looks for a journal.
    pub(crate) const fn unread(store: S) -> Self {
        Self { store, journal: None }
    }

    /// Looks for a journal again.
    pub(crate) fn refresh(&mut self) -> io::Result<()> {
        self.journal = Journal::find(&self.store)?;
        Ok(())
    }

    /// The store in its present state.
    pub(crate) const fn store(&self) -> &S {
        &self.store
    }

    pub(crate) fn into_inner(self) -> S {
        self.store
    }
}

impl<S: ReadAt> ReadAt for Before<S> {
    fn len(&self) -> io::Result<u64> {
        self.journal.as_ref().map_or_else(|| self.store.len(), |journal| Ok(journal.len_before))
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let Some(journal) = &self.journal else { return self.store.read_at(at, buf) };
        let (from, len) = journal.locate(at);
        let len = usize::try_from(len).unwrap_or(usize::MAX).min(buf.len());
        self.store.read_at(from, buf.split_at_mut(len).0)
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        match &self.journal {
            None => self.store.read_ranges(ranges),
            Some(_) => ranges.iter().map(|range| self.read_range(range)).collect(),
        }
    }

    fn in_memory(&self) -> Option<&[u8]> {
        self.store.in_memory().filter(|_| self.journal.is_none())
    }

    fn stamp(&self) -> Option<Stamp> {
        self.store.stamp()
    }
}

impl<S: ReadAt> Before<S> {
    fn read_range(&self, range: &Range<u64>) -> io::Result<Vec<u8>> {
        let len = range.end.checked_sub(range.start).and_then(|len| usize::try_from(len).ok());
        let mut bytes = vec![0; len.ok_or(io::ErrorKind::InvalidInput)?];
        self.read_exact_at(range.start, &mut bytes)?;
        Ok(bytes)
    }
}

impl Journal {
    /// The position that now holds byte `at` of the former file, and the number of bytes together
    /// there.
    fn locate(&self, at: u64) -> (u64, u64) {
        let mut left = self.len_before.saturating_sub(at);
        for kept in &self.kept {
            match at.checked_sub(kept.at) {
                Some(inside) if inside < kept.len => {
                    return (kept.from.saturating_add(inside), kept.len.saturating_sub(inside));
                }
                Some(_) => {}
                None => left = left.min(kept.at.saturating_sub(at)),
            }
        }
        (at, left)
    }
}

impl Kept {
    fn fits(&self, len_before: u64) -> bool {
        self.at.checked_add(self.len).is_some_and(|end| end <= len_before)
    }
}

/// The entries, if they fill the range exactly.
fn read_entries(
    store: &dyn ReadAt,
    start: u64,
    end: u64,
    nentries: u64,
) -> io::Result<Option<Vec<Kept>>> {
    let mut kept = vec![];
    let mut next = start;
    for _ in 0..nentries {
        let from = next.saturating_add(ENTRY_LEN);
        if from > end {
            return Ok(None);
        }
        let mut entry = RawEntry::new_zeroed();
        store.read_exact_at(next, entry.as_mut_bytes())?;
        let len = entry.len.get();
        kept.push(Kept { at: entry.at.get(), len, from });
        next = from.saturating_add(len);
    }
    Ok((next == end).then_some(kept))
}

fn crc_of(footer: &RawFooter) -> u32 {
    crc32(footer.as_bytes().split_at(CRC_AT).0)
}

fn crc_of_range(store: &(impl ReadAt + ?Sized), start: u64, end: u64) -> io::Result<u32> {
    let mut hasher = Crc32::default();
    let mut buf = vec![0; COPY_NBYTES];
    for (at, len) in pieces(start, end.saturating_sub(start)) {
        // Only the last piece is shorter.
        buf.truncate(len);
        store.read_exact_at(at, &mut buf)?;
        hasher.update(&buf);
    }
    Ok(hasher.finish())
}

/// Copies bytes within a store. The ranges must not overlap.
fn copy(store: &mut (impl WriteAt + ?Sized), from: u64, to: u64, len: u64) -> io::Result<()> {
    let mut buf = vec![0; COPY_NBYTES];
    for (at, len) in pieces(0, len) {
        // Only the last piece is shorter.
        buf.truncate(len);
        store.read_exact_at(from.saturating_add(at), &mut buf)?;
        store.write_at(to.saturating_add(at), &buf)?;
    }
    Ok(())
}

/// A range in pieces: position and length of each.
fn pieces(start: u64, len: u64) -> impl Iterator<Item = (u64, usize)> {
    let end = start.saturating_add(len);
    let mut next = start;
    core::iter::from_fn(move || {
        let at = next;
        let len = usize::try_from(end.saturating_sub(at)).unwrap_or(COPY_NBYTES).min(COPY_NBYTES);
        next = at.saturating_add(len as u64);
        (len > 0).then_some((at, len))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use blosc_io::MemStore;

    fn read(store: &impl ReadAt) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(store.len().unwrap()).unwrap()];
        store.read_exact_at(0, &mut bytes).unwrap();
        bytes
    }

    /// 200,000 bytes, of which two ranges are kept and overwritten.
    fn changed() -> (Vec<u8>, MemStore) {
        let before: Vec<u8> = (0..200_000_u32).map(|n| n.to_le_bytes()[0]).collect();
        let mut store = MemStore::new(before.clone());
        Journal::begin(&mut store, 300_000, 200_000, &[(0, 32), (100_000, 100_000)]).unwrap();
        store.write_at(0, &[0xee; 32]).unwrap();
        store.write_at(100_000, &[0xee; 150_000]).unwrap();
        (before, store)
    }

    #[test]
    fn the_former_file_is_seen_and_restored() {
        let (before, mut store) = changed();
        let view = Before::new(&store).unwrap();
        assert!(view.is_interrupted());
        assert_eq!(read(&view), before);
        let mut middle = [0; 20];
        view.read_exact_at(99_990, &mut middle).unwrap();
        assert_eq!(middle, before[99_990..100_010]);
        assert_eq!(view.read_at(200_000, &mut middle).unwrap(), 0);
        Journal::find(&store).unwrap().unwrap().roll_back(&mut store).unwrap();
        assert_eq!(store.as_bytes(), before);
    }

    #[test]
    fn a_cut_file_has_no_journal() {
        let (_, store) = changed();
        let bytes = store.into_bytes();
        for cut in [1, 39, 40, 41, 1000] {
            let cut = MemStore::new(bytes[..bytes.len() - cut].to_vec());
            assert_eq!(Journal::find(&cut).unwrap(), None);
        }
        assert_eq!(Journal::find(&MemStore::new(vec![0; 39])).unwrap(), None);
    }

    #[test]
    fn a_changed_journal_is_none() {
        let (_, store) = changed();
        let bytes = store.into_bytes();
        let end = bytes.len();
        for at in [300_000, 300_016, 350_000, end - 41].into_iter().chain(end - 40..end) {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x10;
            assert_eq!(Journal::find(&MemStore::new(bytes)).unwrap(), None, "{at}");
        }
    }

    #[test]
    fn forged_journals_are_refused() {
        let forge = |start: u64, len_before: u64, nentries: u64, entries: &[u8]| {
            let mut footer = RawFooter {
                magic: MAGIC,
                start: start.into(),
                len_before: len_before.into(),
                nentries: nentries.into(),
                crc_entries: crc32(entries).into(),
                crc_footer: 0.into(),
            };
            footer.crc_footer = crc_of(&footer).into();
            let store = MemStore::new([&[7; 100], entries, footer.as_bytes()].concat());
            Journal::find(&store).unwrap()
        };
        let entry = |at: u64, len: u64| [at.to_le_bytes(), len.to_le_bytes()].concat();
        assert_eq!(forge(100, 100, 0, &[]), Some(Journal { len_before: 100, kept: vec![] }));
        assert_eq!(forge(100, 101, 0, &[]), None);
        assert_eq!(forge(u64::MAX, 100, 0, &[]), None);
        assert_eq!(forge(100, 100, 9, &[]), None);
        assert_eq!(forge(100, 100, 1, &[]), None);
        assert_eq!(forge(100, 100, 1, &entry(0, 1)), None);
        assert_eq!(forge(100, 100, 1, &entry(u64::MAX, 0)), None);
        assert_eq!(forge(100, 100, 1, &entry(0, u64::MAX)), None);
        assert!(forge(100, 100, 1, &entry(100, 0)).is_some());
    }
}

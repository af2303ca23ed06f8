//! The offsets section: the position of each chunk ("Offsets section" in the format document).

use std::io::Read;

use crate::error::Bounded;
use crate::input::{Input, truncated};
use crate::{Corrupt, Error, FileLimits, Header, OffsetsUse, Part, Result};

/// Bytes of an entry.
pub(crate) const ENTRY_LEN: u64 = 8;

/// The entry of a chunk that does not exist, or not yet.
pub(crate) const UNSET_OFFSET: i64 = -1;

/// Each byte of such an entry.
pub(crate) const UNSET_BYTE: u8 = 0xff;

/// The least bytes of a chunk.
const MIN_CHUNK_NBYTES: u64 = 16;

/// The positions of the chunks by the file's table.
///
/// In a table that is set, the positions increase and lie after the table. Reading a chunk checks
/// whether it exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offsets {
    entries: Entries,
    /// Number of reserved entries.
    reserved: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Entries {
    Set(Box<[u64]>),
    /// This number of entries of -1.
    Unset(u64),
    /// Not read.
    Ignored(u64),
}

impl Offsets {
    /// The position of each chunk's header (bytes from the start of the file). `None` if the writer
    /// was interrupted before it set them, or if the options ignore them.
    #[must_use]
    pub fn positions(&self) -> Option<&[u64]> {
        if let Entries::Set(entries) = &self.entries { Some(entries) } else { None }
    }

    /// Number of entries for chunks of the file, set or not.
    #[must_use]
    pub fn len(&self) -> u64 {
        match &self.entries {
            Entries::Set(entries) => entries.len() as u64,
            Entries::Unset(n) | Entries::Ignored(n) => *n,
        }
    }

    /// Whether there are no chunks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether all entries are -1, because the writer was interrupted.
    #[must_use]
    pub fn is_unset(&self) -> bool {
        matches!(self.entries, Entries::Unset(n) if n > 0)
    }

    /// Number of entries that are free for appended chunks.
    #[must_use]
    pub fn reserved(&self) -> u64 {
        self.reserved
    }

    /// Reads the section of a file with this header.
    pub(crate) fn read<R: Read>(
        input: &mut Input<R>,
        header: &Header,
        limits: &FileLimits,
        mode: OffsetsUse,
    ) -> Result<Self> {
        let nchunks = header.nchunks.unwrap_or(0);
        let reserved = header.max_app_chunks;
        let len = section_len(header).ok_or_else(|| too_long(input))?;
        input.check(Part::Offsets, len)?;
        if mode == OffsetsUse::Ignore {
            input.skip(Part::Offsets, len)?;
            return Ok(Self { entries: Entries::Ignored(nchunks), reserved });
        }
        if nchunks > limits.max_chunks {
            let (needed, limit) = (nchunks, limits.max_chunks);
            return Err(Error::Limit { what: Bounded::Chunks, needed, limit });
        }
        let mut table = Table::new(input, len);
        let mut left = len;
        let mut buf = [0; 4096];
        while left > 0 {
            let part = left.min(buf.len() as u64);
            let piece = buf.get_mut(..usize::try_from(part).unwrap_or(0)).unwrap_or_default();
            input.exact(Part::Offsets, piece)?;
            for entry in piece.as_chunks().0 {
                table.push(i64::from_le_bytes(*entry), nchunks)?;
            }
            left = left.saturating_sub(part);
        }
        Ok(Self { entries: table.finish()?, reserved })
    }
}

/// Bytes of the offsets section; `None` if they cannot be counted.
pub(crate) fn section_len(header: &Header) -> Option<u64> {
    if !header.offsets {
        return Some(0);
    }
    header.nchunks?.checked_add(header.max_app_chunks)?.checked_mul(ENTRY_LEN)
}

fn too_long<R: Read>(input: &Input<R>) -> Error {
    let left = input.end().map_or(0, |end| end.saturating_sub(input.position()));
    truncated(input.position(), Part::Offsets, u64::MAX, left)
}

/// Checks entry after entry.
struct Table {
    /// Number of the next entry.
    entry: u64,
    /// The start of the section.
    at: u64,
    /// The start of the chunks.
    min: u64,
    /// The last possible position of a chunk.
    max: u64,
    set: Vec<u64>,
    unset: u64,
}

impl Table {
    fn new<R: Read>(input: &Input<R>, len: u64) -> Self {
        let max = input.end().unwrap_or(i64::MAX.unsigned_abs()).saturating_sub(MIN_CHUNK_NBYTES);
        Self {
            entry: 0,
            at: input.position(),
            min: input.position().saturating_add(len),
            max,
            set: vec![],
            unset: 0,
        }
    }

    fn push(&mut self, offset: i64, nchunks: u64) -> Result<()> {
        let result =
            if self.entry < nchunks { self.push_used(offset) } else { self.check_reserved(offset) };
        let at = self.at.saturating_add(self.entry.saturating_mul(ENTRY_LEN));
        self.entry = self.entry.saturating_add(1);
        result.map_err(|what| Error::corrupt(at, what))
    }

    fn push_used(&mut self, offset: i64) -> Result<(), Corrupt> {
        let (entry, min, max) = (self.entry, self.min, self.max);
        if offset == UNSET_OFFSET && self.set.is_empty() {
            self.unset = self.unset.saturating_add(1);
            return Ok(());
        }
        if offset == UNSET_OFFSET || self.unset > 0 {
            return Err(Corrupt::OffsetUnset { entry });
        }
        let position = u64::try_from(offset).ok().filter(|position| (min..=max).contains(position));
        let position = position.ok_or(Corrupt::OffsetRange { entry, offset, min, max })?;
        match self.set.last() {
            Some(&previous) if previous >= position => {
                Err(Corrupt::OffsetOrder { entry, offset: position, previous })
            }
            _ => {
                self.set.push(position);
                Ok(())
            }
        }
    }

    fn check_reserved(&self, offset: i64) -> Result<(), Corrupt> {
        if offset == UNSET_OFFSET {
            Ok(())
        } else {
            Err(Corrupt::ReserveUsed { entry: self.entry, offset })
        }
    }

    fn finish(self) -> Result<Entries> {
        Ok(if self.unset > 0 { Entries::Unset(self.unset) } else { Entries::Set(self.set.into()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(nchunks: u64, max_app_chunks: u64) -> Header {
        let mut header = Header::parse(&[&b"blpk\x03\x01\0\x08"[..], &[0; 24]].concat()).unwrap();
        header.nchunks = Some(nchunks);
        header.max_app_chunks = max_app_chunks;
        header
    }

    /// Reads a table at byte 32 of a file of 200 bytes.
    fn read(nchunks: u64, entries: &[i64]) -> Result<Offsets> {
        let bytes: Vec<u8> = entries.iter().flat_map(|entry| entry.to_le_bytes()).collect();
        let header = header(nchunks, entries.len() as u64 - nchunks);
        let mut input = Input::new(&bytes[..], 32, Some(200));
        Offsets::read(&mut input, &header, &FileLimits::default(), OffsetsUse::Check)
    }

    fn error(nchunks: u64, entries: &[i64]) -> (u64, Corrupt) {
        match read(nchunks, entries) {
            Err(Error::Corrupt { at, what }) => (at, what),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn set_and_reserved_entries() {
        let offsets = read(2, &[64, 100, -1, -1]).unwrap();
        assert_eq!(offsets.positions(), Some(&[64, 100][..]));
        assert_eq!((offsets.len(), offsets.reserved(), offsets.is_unset()), (2, 2, false));
    }

    #[test]
    fn all_unset_is_an_interrupted_writer() {
        let offsets = read(2, &[-1, -1, -1]).unwrap();
        assert_eq!((offsets.positions(), offsets.len(), offsets.is_unset()), (None, 2, true));
    }

    #[test]
    fn wrong_entries_are_named() {
        assert_eq!(error(2, &[56, -1, -1]), (40, Corrupt::OffsetUnset { entry: 1 }));
        assert_eq!(error(2, &[-1, 56, -1]), (40, Corrupt::OffsetUnset { entry: 1 }));
        let range = |offset| Corrupt::OffsetRange { entry: 0, offset, min: 48, max: 184 };
        for offset in [-5, 40, 185, 1_000_000_000, i64::MIN] {
            assert_eq!(error(1, &[offset, -1]), (32, range(offset)));
        }
        let order = Corrupt::OffsetOrder { entry: 1, offset: 60, previous: 60 };
        assert_eq!(error(2, &[60, 60]), (40, order));
        assert_eq!(error(1, &[60, 90]), (40, Corrupt::ReserveUsed { entry: 1, offset: 90 }));
    }

    #[test]
    fn a_table_longer_than_the_file_is_not_read() {
        for nchunks in [22, 1 << 40, 1 << 62] {
            let mut input = Input::new(&b""[..], 32, Some(200));
            let result = Offsets::read(
                &mut input,
                &header(nchunks, 0),
                &FileLimits::default(),
                OffsetsUse::Check,
            );
            let Err(Error::Corrupt { what: Corrupt::Truncated { part, left, .. }, .. }) = result
            else {
                panic!("{result:?}")
            };
            assert_eq!((part, left), (Part::Offsets, 168));
        }
    }

    #[test]
    fn a_limit_bounds_the_positions_in_memory() {
        let limits = FileLimits { max_chunks: 3, ..FileLimits::default() };
        let mut input = Input::new(std::io::repeat(0xff), 32, None);
        let result = Offsets::read(&mut input, &header(4, 0), &limits, OffsetsUse::Check);
        assert!(matches!(result, Err(Error::Limit { what: Bounded::Chunks, needed: 4, limit: 3 })));
    }

    #[test]
    fn ignored_entries_are_not_looked_at() {
        let mut input = Input::new(&[7; 24][..], 32, None);
        let offsets =
            Offsets::read(&mut input, &header(2, 1), &FileLimits::default(), OffsetsUse::Ignore)
                .unwrap();
        assert_eq!((offsets.positions(), offsets.len(), offsets.is_unset()), (None, 2, false));
    }
}

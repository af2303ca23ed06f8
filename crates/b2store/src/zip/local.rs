//! The headers before the data of members, and a search for members by their headers if the
//! directory is damaged.

use std::collections::BTreeSet;
use std::io;

use blosc_io::ReadAt;

use super::{Entry, Member, is_value};
use crate::error::{Error, Result};
use crate::write::crc32_of;

/// The header before the data of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LocalHeader {
    pub(super) name: Vec<u8>,
    pub(super) flags: u16,
    pub(super) method: u16,
    pub(super) crc32: u32,
    /// Length of the data in the archive, and when inflated (bytes).
    pub(super) stored: u64,
    pub(super) plain: u64,
    /// Position of the header, and of the data.
    pub(super) start: u64,
    pub(super) position: u64,
    /// Bytes of the extra field.
    pub(super) extra_len: u64,
}

impl LocalHeader {
    /// The header at a position of a store of `len` bytes, if there is one.
    pub(super) fn read(store: &dyn ReadAt, start: u64, len: u64) -> io::Result<Option<Self>> {
        let mut fixed = [0; LOCAL_NBYTES];
        if start.checked_add(LOCAL_NBYTES as u64).is_none_or(|end| end > len) {
            return Ok(None);
        }
        store.read_exact_at(start, &mut fixed)?;
        let u16_at = |at| u16::from_le_bytes(bytes_at(&fixed, at));
        let u32_at = |at| u32::from_le_bytes(bytes_at(&fixed, at));
        let (name_len, extra_len) = (usize::from(u16_at(26)), usize::from(u16_at(28)));
        let mut rest = vec![0; name_len.saturating_add(extra_len)];
        let names = start.saturating_add(LOCAL_NBYTES as u64);
        let position = names.saturating_add(rest.len() as u64);
        if !fixed.starts_with(&LOCAL_SIGNATURE) || position > len {
            return Ok(None);
        }
        store.read_exact_at(names, &mut rest)?;
        let (name, extra) = rest.split_at(name_len);
        // The field of zip64 has the inflated length first.
        let length = |at, in_zip64| match u32_at(at) {
            u32::MAX => zip64_number(extra, in_zip64).unwrap_or(u64::MAX),
            nbytes => nbytes.into(),
        };
        Ok(Some(Self {
            name: name.to_vec(),
            flags: u16_at(6),
            method: u16_at(8),
            crc32: u32_at(14),
            stored: length(18, 8),
            plain: length(22, 0),
            start,
            position,
            extra_len: extra_len as u64,
        }))
    }

    /// Whether the sum and the lengths follow the data, because the writer did not know them
    /// before, and were not read there.
    pub(super) const fn is_late(&self) -> bool {
        self.flags & DESCRIPTOR_FLAG != 0 && self.crc32 == 0
    }

    /// The header with the sum and the lengths that follow the data, which end before `limit`.
    pub(super) fn with_descriptor(mut self, store: &dyn ReadAt, limit: u64) -> io::Result<Self> {
        let at = limit.checked_sub(DESCRIPTOR_NBYTES as u64).filter(|at| *at >= self.position);
        let is_late = self.is_late() && self.stored == 0 && self.plain == 0;
        let Some(at) = at.filter(|_| is_late) else { return Ok(self) };
        let mut descriptor = [0; DESCRIPTOR_NBYTES];
        store.read_exact_at(at, &mut descriptor)?;
        let stored = u32::from_le_bytes(bytes_at(&descriptor, 8)).into();
        if descriptor.starts_with(b"PK\x07\x08") && self.position.checked_add(stored) == Some(at) {
            self.crc32 = u32::from_le_bytes(bytes_at(&descriptor, 4));
            self.plain = u32::from_le_bytes(bytes_at(&descriptor, 12)).into();
            self.stored = stored;
        }
        Ok(self)
    }

    /// The name, if it can be that of a value of a store.
    pub(super) fn value_name(&self) -> Option<&str> {
        core::str::from_utf8(&self.name).ok().filter(|name| is_value(name))
    }
}

/// The members of an archive without a directory: each has a header before its data. A member with
/// a damaged length ends at the next header.
pub(super) fn found_members(store: &dyn ReadAt, max_members: u64) -> Result<Vec<Member>> {
    let wrong = |source| Error::io("the archive", source);
    let len = store.len().map_err(wrong)?;
    let (mut members, mut names) = (Vec::new(), BTreeSet::new());
    let mut at = 0;
    while let Some((member, next)) = next_member(store, at, len).map_err(wrong)? {
        if members.len() as u64 >= max_members {
            let (name, unit) = ("the archive".to_owned(), "members");
            let needed = max_members.saturating_add(1);
            return Err(Error::Limit { name, needed, limit: max_members, unit });
        }
        at = next;
        if names.insert(member.name.clone()) {
            members.push(member);
        }
    }
    Ok(members)
}

/// The first member whose header is at `at` or later, and the position after its data.
fn next_member(store: &dyn ReadAt, at: u64, len: u64) -> io::Result<Option<(Member, u64)>> {
    let Some((name, local)) = find_header(store, at, len)? else { return Ok(None) };
    let (position, crc32) = (local.position, local.crc32);
    let end = position.saturating_add(local.stored);
    // If the next header is damaged as well, the checksum confirms the length.
    let is_right = !local.is_late()
        && end <= len
        && (end == len || is_record(store, end, len)? || crc32_of(store, position..end)? == crc32);
    let next = match is_right {
        true => end,
        false => match find_header(store, position, len)? {
            Some((_, next)) => next.start,
            None => find_record(store, position, len)?,
        },
    };
    let local = local.with_descriptor(store, next)?;
    let is_known = local.flags & DESCRIPTOR_FLAG != 0 && !local.is_late();
    let member = Member {
        name,
        position,
        nbytes: if is_known { local.stored } else { next.saturating_sub(position) },
        method: local.method,
        is_encrypted: local.flags & 1 != 0,
        crc32: local.crc32,
        start: local.start,
        differs: None,
        is_lost: false,
    };
    Ok(Some((member, next)))
}

/// The entries of a directory that is damaged, or has lost its end: all positions are searched.
pub(super) fn found_entries(store: &dyn ReadAt, max_entries: u64) -> Result<Vec<(u64, Entry)>> {
    let wrong = |source| Error::io("the archive", source);
    let len = store.len().map_err(wrong)?;
    let mut entries = Vec::new();
    let scan = &mut |at, signature| {
        if signature == DIRECTORY_SIGNATURES[0]
            && let Some(entry) = entry_at(store, at, len)?
        {
            entries.push((at, entry));
        }
        Ok(entries.len() as u64 >= max_entries)
    };
    find(store, 0, len, scan).map_err(wrong)?;
    Ok(entries)
}

/// The entry at a position. Entries with 64-bit numbers, which are stored elsewhere, are ignored.
fn entry_at(store: &dyn ReadAt, at: u64, len: u64) -> io::Result<Option<Entry>> {
    let mut fixed = [0; ENTRY_NBYTES];
    let names = at.saturating_add(ENTRY_NBYTES as u64);
    if names > len {
        return Ok(None);
    }
    store.read_exact_at(at, &mut fixed)?;
    let u16_at = |at| u16::from_le_bytes(bytes_at(&fixed, at));
    let u32_at = |at| u32::from_le_bytes(bytes_at(&fixed, at));
    let mut name = vec![0; usize::from(u16_at(28))];
    let is_small = [20, 24, 42].into_iter().all(|at| u32_at(at) != u32::MAX);
    if !is_small || names.saturating_add(name.len() as u64) > len {
        return Ok(None);
    }
    store.read_exact_at(names, &mut name)?;
    Ok(Some(Entry {
        is_dir: name.ends_with(b"/"),
        name,
        flags: u16_at(8),
        method: u16_at(10),
        crc32: u32_at(16),
        stored: u32_at(20).into(),
        plain: u32_at(24).into(),
        start: u32_at(42).into(),
    }))
}

/// Whether a local header or a record of the directory begins at a position.
fn is_record(store: &dyn ReadAt, at: u64, len: u64) -> io::Result<bool> {
    let mut signature = [0; 4];
    if at.checked_add(4).is_none_or(|end| end > len) {
        return Ok(false);
    }
    store.read_exact_at(at, &mut signature)?;
    Ok(signature == LOCAL_SIGNATURE || DIRECTORY_SIGNATURES.contains(&signature))
}

/// The next header with the name of a file of a store, and that name.
fn find_header(store: &dyn ReadAt, at: u64, len: u64) -> io::Result<Option<(String, LocalHeader)>> {
    let named = |local: LocalHeader| Some((local.value_name()?.to_owned(), local));
    // Usually members follow each other.
    if let Some(found) = LocalHeader::read(store, at, len)?.and_then(named) {
        return Ok(Some(found));
    }
    let mut found = None;
    find(store, at, len, &mut |start, signature| {
        if signature == LOCAL_SIGNATURE {
            found = LocalHeader::read(store, start, len)?.and_then(named);
        }
        Ok(found.is_some())
    })?;
    Ok(found)
}

/// Position of the directory after `at`, or the end if there is none.
fn find_record(store: &dyn ReadAt, at: u64, len: u64) -> io::Result<u64> {
    let is_wanted = &mut |_, signature| Ok(DIRECTORY_SIGNATURES.contains(&signature));
    Ok(find(store, at, len, is_wanted)?.unwrap_or(len))
}

/// The next position whose four bytes `is_wanted` accepts. It sees only bytes that begin a record.
fn find(
    store: &dyn ReadAt,
    at: u64,
    len: u64,
    is_wanted: &mut dyn FnMut(u64, [u8; 4]) -> io::Result<bool>,
) -> io::Result<Option<u64>> {
    let (mut at, mut buffer) = (at, vec![0; SCAN_NBYTES]);
    while at.saturating_add(4) <= len {
        let left = usize::try_from(len.saturating_sub(at)).unwrap_or(usize::MAX);
        let part = buffer.get_mut(..left.min(SCAN_NBYTES)).unwrap_or_default();
        store.read_exact_at(at, part)?;
        for (start, window) in part.windows(4).enumerate() {
            let [b'P', b'K', c, d] = *window else { continue };
            let start = at.saturating_add(start as u64);
            if is_wanted(start, [b'P', b'K', c, d])? {
                return Ok(Some(start));
            }
        }
        // A signature may span the end.
        at = at.saturating_add((part.len() as u64).saturating_sub(3).max(1));
    }
    Ok(None)
}

/// A number of 64 bits in the field of zip64.
fn zip64_number(mut extra: &[u8], at: usize) -> Option<u64> {
    loop {
        let (head, rest) = extra.split_first_chunk::<4>()?;
        let [a, b, c, d] = *head;
        let (kind, len) = (u16::from_le_bytes([a, b]), usize::from(u16::from_le_bytes([c, d])));
        let field = rest.get(..len)?;
        if kind == 1 {
            return field.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
        }
        extra = rest.get(len..)?;
    }
}

/// Bytes of a header at a position inside of it.
fn bytes_at<const N: usize>(header: &[u8], at: usize) -> [u8; N] {
    header.get(at..).and_then(|bytes| bytes.first_chunk()).copied().unwrap_or([0; N])
}

/// The first bytes of a local header.
const LOCAL_SIGNATURE: [u8; 4] = *b"PK\x03\x04";
/// The first bytes of the records of a directory: a member, the end, and the end of zip64.
const DIRECTORY_SIGNATURES: [[u8; 4]; 3] = [*b"PK\x01\x02", *b"PK\x05\x06", *b"PK\x06\x06"];
/// The header of a member without its name (bytes).
pub(super) const LOCAL_NBYTES: usize = 30;
/// An entry of the directory without its name (bytes).
const ENTRY_NBYTES: usize = 46;
/// The sum and the lengths after the data (bytes).
const DESCRIPTOR_NBYTES: usize = 16;
/// The flag of members with a sum and lengths after their data.
pub(super) const DESCRIPTOR_FLAG: u16 = 1 << 3;
/// Bytes that one search reads.
const SCAN_NBYTES: usize = 1 << 16;

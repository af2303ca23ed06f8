//! The directory of a zip archive: its members and the positions of their bytes ("Zip stores" in
//! `docs/formats/store.md`).
//!
//! `rawzip` parses the records. This module makes the checks that `rawzip` leaves to its caller:
//! names, duplicates, agreement of local headers with the directory, and that no two members share
//! bytes. If a header and the directory differ, the bytes decide: the one whose CRC-32 matches them
//! is trusted, and the difference is reported. Members are read in place; no data are ever
//! inflated.

mod any;
mod local;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use b2frame::probe::{Kind, PROBE_LEN, probe};
use blosc_io::ReadAt;
use rawzip::{
    ErrorKind, MAX_CENTRAL_DIRECTORY_RECORD_SIZE, ReaderAt, ZipArchive, ZipFileHeaderRecord,
};

pub use any::{ArchiveMember, archive_members, surviving_members};
use local::{DESCRIPTOR_FLAG, LOCAL_NBYTES, LocalHeader};

use crate::error::{Error, Result};
use crate::files::{ends_of, prefetch_within};
use crate::key::{self, KeyFault};
use crate::write::crc32_of;

/// The error of an archive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ZipFault {
    /// A record is damaged.
    #[error("{0}")]
    Record(rawzip::Error),
    /// The file has no directory at its end, and no record of its position.
    #[error("cut off: the directory, which stands at the end, is missing")]
    NoDirectory,
    /// The directory has more or fewer members than the end record says.
    #[error("{found} members, {stated} in the end record")]
    Count {
        /// The number found.
        found: u64,
        /// The number in the end record.
        stated: u64,
    },
    /// A member with a name that a file of a store must not have.
    #[error("member {name:?}: {fault}")]
    Name {
        /// The name.
        name: String,
        /// The error in the name.
        fault: KeyFault,
    },
    /// A member whose name is marked as UTF-8 but is not.
    #[error("member {}: the name is not UTF-8", name.escape_ascii())]
    Utf8 {
        /// The name.
        name: Vec<u8>,
    },
    /// Two members with one name.
    #[error("two members {name:?}")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// The local header of a member differs from the directory, and the sum of the bytes matches
    /// neither.
    #[error(
        "member {name:?}: its local header has another {field} than the directory, and its bytes \
         another CRC-32"
    )]
    Local {
        /// The name.
        name: String,
        /// The fields that differ.
        field: &'static str,
    },
    /// The local header of a member differs from the directory; the sum of the bytes matches one of
    /// the two, so the member is readable.
    #[error("member {name:?}: its local header has another {field} than the directory")]
    Header {
        /// The name.
        name: String,
        /// The fields that differ.
        field: &'static str,
    },
    /// Bytes of a member that overlap the next one or the directory, or lie outside of the file.
    #[error("member {name:?} ends at {end}, past {limit}")]
    Overlap {
        /// The name.
        name: String,
        /// Position after its last byte.
        end: u64,
        /// Position of the next member or the directory.
        limit: u64,
    },
}

/// A member, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) name: String,
    /// Position of its data in the archive (bytes).
    pub(crate) position: u64,
    /// Bytes of its data in the archive.
    pub(crate) nbytes: u64,
    pub(crate) method: u16,
    pub(crate) is_encrypted: bool,
    pub(crate) crc32: u32,
    /// Position of its local header.
    start: u64,
    /// The field in which the local header and the directory differ.
    pub(crate) differs: Option<&'static str>,
    /// Whether they differ, and no bytes match the sum of either: the position is a guess.
    pub(crate) is_lost: bool,
}

/// The members of an archive, sorted by name, without directories.
pub(crate) fn members(store: &Arc<dyn ReadAt>, max_members: u64) -> Result<Vec<Member>> {
    members_within(store, max_members).map(|(members, _)| members)
}

/// As [`members`], with the numbers of bytes in the file before and after the archive.
pub(crate) fn members_within(
    store: &Arc<dyn ReadAt>,
    max_members: u64,
) -> Result<(Vec<Member>, [u64; 2])> {
    let directory = Directory::read(store, max_members)?;
    let mut members = Vec::with_capacity(directory.entries.len());
    let finder = Finder::new(&**store)?;
    for (entry, limit) in with_limits(&directory.entries, directory.position) {
        members.extend(finder.member(entry, limit)?);
    }
    check_overlaps(&mut members, directory.position)?;
    members.sort_by(|a, b| a.name.cmp(&b.name));
    for pair in members.windows(2) {
        if let [a, b] = pair
            && a.name == b.name
        {
            return Err(ZipFault::Duplicate { name: a.name.clone() }.into());
        }
    }
    Ok((members, directory.outside))
}

/// The members of a damaged archive, sorted by name, and whether its directory is damaged. If no
/// sum matches, the position is the nearest guess.
pub(crate) fn saved_members(
    store: &Arc<dyn ReadAt>,
    max_members: u64,
) -> Result<(Vec<Member>, bool)> {
    let (listed, is_damaged) = match members(store, max_members) {
        Ok(members) if members.iter().all(|member| !member.is_lost) => return Ok((members, false)),
        Ok(members) => (members, false),
        Err(Error::Zip(_)) => (listed_members(store, max_members)?, true),
        Err(error) => return Err(error),
    };
    let mut members: BTreeMap<String, Member> = BTreeMap::new();
    let mut starts = BTreeSet::new();
    let (lost, sound): (Vec<_>, Vec<_>) = listed.into_iter().partition(|member| member.is_lost);
    for member in sound {
        starts.insert(member.start);
        members.entry(member.name.clone()).or_insert(member);
    }
    for member in local::found_members(&**store, max_members)? {
        if starts.insert(member.start) && !members.contains_key(&member.name) {
            // The directory has the member at another position, or with another name.
            let differs = (!is_damaged).then_some("place");
            members.insert(member.name.clone(), Member { differs, ..member });
        }
    }
    for member in lost {
        if !starts.contains(&member.start) {
            let guess = Member { is_lost: false, ..member };
            members.entry(guess.name.clone()).or_insert(guess);
        }
    }
    Ok((members.into_values().collect(), is_damaged))
}

/// The readable members of a damaged directory: members whose bytes match their sum, and the others
/// as lost ones.
fn listed_members(store: &Arc<dyn ReadAt>, max_members: u64) -> Result<Vec<Member>> {
    let found = local::found_entries(&**store, max_members)?;
    let directory = found.first().map_or(0, |(at, _)| *at);
    let mut entries: Vec<Entry> = found.into_iter().map(|(_, entry)| entry).collect();
    entries.sort_by_key(|entry| entry.start);
    let finder = Finder::new(&**store)?;
    let mut members = Vec::new();
    for (entry, limit) in with_limits(&entries, directory) {
        let Ok(Some(member)) = finder.member(entry, limit) else { continue };
        let end = member.position.saturating_add(member.nbytes);
        let is_lost = !is_value(&member.name)
            || end > limit
            || !finder.fits(member.position, member.nbytes, member.crc32, limit)?;
        members.push(Member { is_lost, ..member });
    }
    members.retain(|member| is_value(&member.name));
    Ok(members)
}

/// The entries of a directory, unchecked.
struct Directory {
    /// The entries, sorted by the positions of their headers.
    entries: Vec<Entry>,
    /// Position of the directory (bytes).
    position: u64,
    /// Numbers of bytes in the file before and after the archive.
    outside: [u64; 2],
}

impl Directory {
    fn read(store: &Arc<dyn ReadAt>, max_members: u64) -> Result<Self> {
        let at = At(&**store);
        let len = store.len().map_err(wrong)?;
        let mut buffer = vec![0; MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
        let located = ZipArchive::with_max_search_space(MAX_COMMENT_NBYTES);
        let archive =
            located.locate_in_reader(at, &mut buffer, len).map_err(|(_, error)| record(error))?;
        let stated = archive.entries_hint();
        if stated > max_members {
            let (name, unit) = ("the archive".to_owned(), "members");
            return Err(Error::Limit { name, needed: stated, limit: max_members, unit });
        }
        announce_members(&archive, &**store, &mut buffer);
        let mut entries = Vec::new();
        let mut headers = archive.entries(&mut buffer);
        while let Some(header) = headers.next_entry().map_err(record)? {
            entries.push(Entry::new(&header));
            if entries.len() as u64 > stated {
                break;
            }
        }
        let found = entries.len() as u64;
        if found != stated {
            return Err(ZipFault::Count { found, stated }.into());
        }
        entries.sort_by_key(|entry| entry.start);
        let position = archive.directory_offset();
        let start = entries.first().map_or(position, |entry| entry.start);
        let before = bytes_before(&**store, start, position, archive.eocd_offset())?;
        let outside = [before, len.saturating_sub(archive.end_offset())];
        Ok(Self { entries, position, outside })
    }
}

/// Number of bytes in a file before its archive: the distance of the directory from the position
/// that the end record, at byte `end`, gives for it. Members that are no longer listed do not
/// count.
fn bytes_before(store: &dyn ReadAt, start: u64, directory: u64, end: u64) -> Result<u64> {
    if start == 0 {
        return Ok(0);
    }
    let mut stated = [0; 4];
    store.read_exact_at(end.saturating_add(DIRECTORY_AT), &mut stated).map_err(wrong)?;
    match u32::from_le_bytes(stated) {
        // The position is in another record.
        u32::MAX => Ok(0),
        stated => Ok(directory.saturating_sub(stated.into())),
    }
}

/// Position, in the end record, of the directory's position (bytes).
const DIRECTORY_AT: u64 = 16;

/// Each entry, and the position of the next one or of the directory.
fn with_limits(entries: &[Entry], directory: u64) -> impl Iterator<Item = (&Entry, u64)> {
    let starts = entries.iter().skip(1).map(|entry| entry.start).chain([directory]);
    entries.iter().zip(starts)
}

/// The fields of a member in the directory.
#[derive(Debug)]
struct Entry {
    name: Vec<u8>,
    flags: u16,
    method: u16,
    crc32: u32,
    /// Length of the data in the archive, and when inflated (bytes).
    stored: u64,
    plain: u64,
    /// Position of the local header.
    start: u64,
    is_dir: bool,
}

impl Entry {
    fn new(header: &ZipFileHeaderRecord<'_>) -> Self {
        Self {
            name: header.file_path().as_bytes().to_vec(),
            flags: header.flags().bits(),
            method: header.compression_method().as_u16(),
            crc32: header.crc32(),
            stored: header.compressed_size_hint(),
            plain: header.uncompressed_size_hint(),
            start: header.local_header_offset(),
            is_dir: header.is_dir(),
        }
    }

    /// Position of the data if there is no extra field.
    fn after_name(&self) -> u64 {
        let header = LOCAL_NBYTES.saturating_add(self.name.len());
        self.start.saturating_add(header as u64)
    }

    /// The name as text.
    fn text(&self) -> Result<String> {
        if self.flags & UTF8_FLAG != 0 {
            let text = String::from_utf8(self.name.clone());
            return text.map_err(|_| ZipFault::Utf8 { name: self.name.clone() }.into());
        }
        Ok(self.name.iter().map(|byte| cp437(*byte)).collect())
    }

    /// The name of the member: from the local header, if the name in the directory cannot be that
    /// of a value.
    fn name(&self, local: Option<&LocalHeader>) -> Result<String> {
        let text = self.text();
        let is_ours = text.as_ref().is_ok_and(|text| is_value(text));
        match local.and_then(LocalHeader::value_name).filter(|_| !is_ours) {
            Some(name) => Ok(name.to_owned()),
            None => text,
        }
    }

    /// The first field in which a local header differs.
    fn difference(&self, local: &LocalHeader) -> Option<&'static str> {
        let is_late = local.is_late() && self.flags & DESCRIPTOR_FLAG != 0;
        let is_same = |found: u64, stated: u64| {
            found == stated || (is_late && [0, u32::MAX.into(), u64::MAX].contains(&found))
        };
        let fields = [
            (local.name == self.name, "name"),
            (local.flags == self.flags, "flags"),
            (local.method == self.method, "method"),
            (is_same(local.crc32.into(), self.crc32.into()), "CRC-32"),
            (is_same(local.stored, self.stored) && is_same(local.plain, self.plain), "length"),
        ];
        fields.into_iter().find(|(is_same, _)| !is_same).map(|(_, field)| field)
    }
}

/// Finds the bytes of members. The directory is trusted if its sum matches the bytes; otherwise the
/// local header, if its sum matches.
struct Finder<'a> {
    store: &'a dyn ReadAt,
    len: u64,
}

impl<'a> Finder<'a> {
    fn new(store: &'a dyn ReadAt) -> Result<Self> {
        Ok(Self { store, len: store.len().map_err(wrong)? })
    }

    /// The member of an entry, which ends before `limit`; `None` for a directory.
    fn member(&self, entry: &Entry, limit: u64) -> Result<Option<Member>> {
        let local = LocalHeader::read(self.store, entry.start, self.len).map_err(wrong)?;
        let local = local.map(|local| local.with_descriptor(self.store, limit.min(self.len)));
        let local = local.transpose().map_err(wrong)?;
        if entry.is_dir && local.as_ref().is_some_and(|local| local.name == entry.name) {
            return Ok(None);
        }
        let name = entry.name(local.as_ref())?;
        key::check_names(&name).map_err(|fault| ZipFault::Name { name: name.clone(), fault })?;
        let mut member = Member {
            name,
            position: local.as_ref().map_or(entry.start, |local| local.position),
            nbytes: entry.stored,
            method: entry.method,
            is_encrypted: entry.flags & ENCRYPTED_FLAGS != 0,
            crc32: entry.crc32,
            start: entry.start,
            differs: None,
            is_lost: false,
        };
        let field = match &local {
            None => Some("signature"),
            Some(local) => entry.difference(local),
        };
        if field.is_none() && (!self.is_readable(&member) || self.is_frame(&member, limit)?) {
            return Ok(Some(member));
        }
        self.resolve(&mut member, entry, local.as_ref(), (field, limit))?;
        Ok(Some(member))
    }

    /// Searches for bytes that match the sum of the directory or of the local header.
    fn resolve(
        &self,
        member: &mut Member,
        entry: &Entry,
        local: Option<&LocalHeader>,
        (field, limit): (Option<&'static str>, u64),
    ) -> Result<()> {
        // If the header gives the name, it belongs to the member, and no other position is
        // possible.
        let is_named_by_header = entry.text().ok().as_ref() != Some(&member.name);
        let places = match local.filter(|_| is_named_by_header) {
            Some(local) => vec![local.position],
            None => self.places(entry, local, limit)?,
        };
        for position in places {
            if self.fits(position, entry.stored, entry.crc32, limit)? {
                member.position = position;
                let is_moved = local.is_some_and(|local| local.position != position);
                let moved = is_moved.then_some("length of the extra field");
                member.settle(field.or(moved));
                return Ok(());
            }
        }
        // The header of another member proves nothing about this one.
        let own = local.filter(|local| local.value_name() == Some(member.name.as_str()));
        if let Some(local) = own.filter(|local| !local.is_late())
            && self.fits(local.position, local.stored, local.crc32, limit)?
        {
            member.position = local.position;
            (member.nbytes, member.crc32) = (local.stored, local.crc32);
            member.settle(field);
            return Ok(());
        }
        // If the headers agree, the data are damaged, and reading them will report it. The position
        // of data that zip has compressed cannot be checked.
        let is_packed =
            local.is_some_and(|local| local.method == entry.method) && entry.method != 0;
        member.differs = field;
        member.is_lost = field.is_some() && !is_packed;
        if member.is_lost {
            member.position = guess(entry, local, limit);
        }
        Ok(())
    }

    /// The possible positions of the data: the one in the local header, the one after the name, and
    /// near starts of frames: writers that align data leave a gap.
    fn places(&self, entry: &Entry, local: Option<&LocalHeader>, limit: u64) -> Result<Vec<u64>> {
        let after_name = entry.after_name();
        let end = limit.min(self.len).min(after_name.saturating_add(MAX_PADDING));
        let mut places: Vec<u64> = local.map(|local| local.position).into_iter().collect();
        places.push(after_name);
        let nbytes = usize::try_from(end.saturating_sub(after_name)).unwrap_or(0);
        let mut bytes = vec![0; nbytes];
        self.store.read_exact_at(after_name, &mut bytes).map_err(wrong)?;
        let begins = bytes.windows(PROBE_LEN).enumerate();
        let begins = begins.filter(|(_, window)| probe(window) == Kind::Frame);
        places.extend(begins.take(2).map(|(at, _)| after_name.saturating_add(at as u64)));
        Ok(places)
    }

    /// Whether bytes that end before `limit` match this sum. No two entries share bytes between
    /// their start and their limit, so few bytes are summed twice.
    fn fits(&self, position: u64, nbytes: u64, crc32: u32, limit: u64) -> Result<bool> {
        let end = position.checked_add(nbytes).filter(|end| *end <= limit.min(self.len));
        // No frame is empty; a zeroed entry has the sum of no bytes.
        let Some(end) = end.filter(|_| nbytes > 0) else { return Ok(false) };
        Ok(crc32_of(self.store, position..end).map_err(wrong)? == crc32)
    }

    /// Whether a member is a frame that can be read in place, according to the directory.
    fn is_readable(&self, member: &Member) -> bool {
        is_value(&member.name) && member.method == 0 && !member.is_encrypted
    }

    /// Whether a frame begins at the position of a member that ends before `limit`.
    fn is_frame(&self, member: &Member, limit: u64) -> Result<bool> {
        let (mut head, position) = ([0; PROBE_LEN], member.position);
        if position.checked_add(member.nbytes).is_none_or(|end| end > limit) {
            return Ok(false);
        }
        let left = usize::try_from(self.len.saturating_sub(position)).unwrap_or(PROBE_LEN);
        let head = head.get_mut(..left.min(PROBE_LEN)).unwrap_or_default();
        self.store.read_exact_at(position, head).map_err(wrong)?;
        Ok(probe(head) == Kind::Frame)
    }
}

/// The likely position of an entry's data if no sum matches: the one in a header with its name, or
/// just before the next header.
fn guess(entry: &Entry, local: Option<&LocalHeader>, limit: u64) -> u64 {
    let after_name = entry.after_name();
    let fits = |place: &u64| place.saturating_add(entry.stored) <= limit;
    let by_header = local.filter(|local| local.name == entry.name);
    let by_header = by_header.map(|local| local.position);
    let before_next = limit.checked_sub(entry.stored).filter(|place| *place >= after_name);
    let near = before_next.filter(|place| place.saturating_sub(after_name) < MAX_PADDING);
    by_header.filter(fits).or(near).unwrap_or(after_name)
}

impl Member {
    /// Notes that the bytes match the sum, so they are stored as they are.
    fn settle(&mut self, differs: Option<&'static str>) {
        self.differs = differs;
        if differs.is_some() {
            (self.method, self.is_encrypted) = (0, false);
        }
    }
}

/// Whether the name is that of a value of a store, or of its embedded values.
fn is_value(name: &str) -> bool {
    let is_ours = name == crate::store::EMBED_FILE || key::key_of_file(name).is_some();
    is_ours && key::check_names(name).is_ok()
}

/// Announces to far storage the local headers of all members, with the starts and ends of the
/// frames. Reading the directory will report its errors.
fn announce_members(archive: &ZipArchive<At<'_>>, store: &dyn ReadAt, buffer: &mut [u8]) {
    if store.prefetch_limit() == 0 {
        return;
    }
    let mut ranges = Vec::new();
    let mut entries = archive.entries(buffer);
    while let Ok(Some(header)) = entries.next_entry() {
        let start = header.local_header_offset();
        let name_len = header.file_path().as_bytes().len() as u64;
        let nbytes = header.compressed_size_hint();
        let len = nbytes.saturating_add(name_len).saturating_add(MAX_LOCAL_NBYTES);
        ranges.extend(ends_of(start..start.saturating_add(len)));
    }
    prefetch_within(store, ranges.into_iter());
}

/// The largest length of a local header without its name (bytes): some writers align the data.
const MAX_LOCAL_NBYTES: u64 = 128;

/// Checks that members follow each other, before the directory.
fn check_overlaps(members: &mut [Member], directory: u64) -> Result<()> {
    members.sort_by_key(|member| member.start);
    let starts = members.iter().skip(1).map(|member| member.start).chain([directory]);
    for (member, limit) in members.iter().zip(starts) {
        let end = member.position.saturating_add(member.nbytes);
        if end > limit || member.start >= limit {
            return Err(ZipFault::Overlap { name: member.name.clone(), end, limit }.into());
        }
    }
    Ok(())
}

fn wrong(source: io::Error) -> Error {
    Error::io("the archive", source)
}

fn record(error: rawzip::Error) -> Error {
    match error.kind() {
        ErrorKind::MissingEndOfCentralDirectory => ZipFault::NoDirectory.into(),
        // A failure of the storage says nothing about the archive.
        ErrorKind::IO(source) if source.kind() != io::ErrorKind::UnexpectedEof => {
            let same = || io::Error::new(source.kind(), source.to_string());
            wrong(source.raw_os_error().map_or_else(same, io::Error::from_raw_os_error))
        }
        _ => ZipFault::Record(error).into(),
    }
}

/// The longest comment of an archive, with its end records (bytes): the range of the search for the
/// end record.
const MAX_COMMENT_NBYTES: u64 = 1 << 17;

/// The flag of names in UTF-8.
const UTF8_FLAG: u16 = 1 << 11;
/// The flags of encrypted data (weakly and strongly), and of masked headers.
const ENCRYPTED_FLAGS: u16 = 1 | 1 << 6 | 1 << 13;

/// The largest gap for alignment between a header and its data (bytes).
const MAX_PADDING: u64 = 1 << 16;

/// A store, in the form that `rawzip` reads.
struct At<'a>(&'a dyn ReadAt);

impl ReaderAt for At<'_> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(offset, buf)
    }
}

/// A character of code page 437, the encoding of names that are not marked as UTF-8.
fn cp437(byte: u8) -> char {
    let upper = byte.checked_sub(128).and_then(|n| CP437_UPPER.chars().nth(n.into()));
    upper.unwrap_or(char::from(byte))
}

/// The characters 128 to 255 of code page 437.
const CP437_UPPER: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_page_437_has_128_upper_characters() {
        assert_eq!(CP437_UPPER.chars().count(), 128);
        assert_eq!((cp437(b'a'), cp437(0x84), cp437(0xff)), ('a', 'ä', '\u{a0}'));
    }
}

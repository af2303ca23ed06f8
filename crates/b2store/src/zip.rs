//! The directory of a zip archive: which members there are and where their bytes lie ("Zip stores"
//! in `docs/formats/store.md`).
//!
//! `rawzip` parses the records. What it leaves to its caller is checked here: names, duplicates,
//! that local headers agree with the directory, and that no two members share bytes. Members are
//! read in place; nothing is ever inflated.

use std::io;
use std::sync::Arc;

use blosc_io::ReadAt;
use rawzip::{
    ErrorKind, MAX_CENTRAL_DIRECTORY_RECORD_SIZE, ReaderAt, ZipArchive, ZipFileHeaderRecord,
};

use crate::error::{Error, Result};
use crate::files::{ends_of, prefetch_within};
use crate::key::{self, KeyFault};
use crate::write::crc32_of;

/// What is wrong with an archive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ZipFault {
    /// A record is damaged.
    #[error("{0}")]
    Record(rawzip::Error),
    /// There is no directory at the end, nor a record that says where it is.
    #[error("cut off: the directory, which stands at the end, is missing")]
    NoDirectory,
    /// The directory has more or fewer members than the end record says.
    #[error("{found} members, {stated} in the end record")]
    Count {
        /// Those found.
        found: u64,
        /// Those of the end record.
        stated: u64,
    },
    /// A member with a name that no file of a store may have.
    #[error("member {name:?}: {fault}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        fault: KeyFault,
    },
    /// A member whose name is said to be UTF-8, and is not.
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
    /// The local header of a member says something else than the directory.
    #[error("member {name:?}: its local header has another {field}")]
    Local {
        /// The name.
        name: String,
        /// What differs.
        field: &'static str,
    },
    /// Bytes of a member that are also those of the next one or of the directory, or that lie
    /// outside of the file.
    #[error("member {name:?} ends at {end}, past {limit}")]
    Overlap {
        /// The name.
        name: String,
        /// Position after its last byte.
        end: u64,
        /// Where the next member or the directory starts.
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
}

/// The members of an archive, sorted by name, without directories.
pub(crate) fn members(store: &Arc<dyn ReadAt>, max_members: u64) -> Result<Vec<Member>> {
    let at = At(&**store);
    let len = store.len().map_err(|source| Error::io("the archive", source))?;
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
    let mut members = Vec::new();
    let mut found: u64 = 0;
    let mut local = vec![0; MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
    let mut entries = archive.entries(&mut buffer);
    while let Some(header) = entries.next_entry().map_err(record)? {
        found = found.saturating_add(1);
        if found > stated {
            break;
        }
        if let Some(member) = member(&archive, &header, &mut local)? {
            members.push(member);
        }
    }
    if found != stated {
        return Err(ZipFault::Count { found, stated }.into());
    }
    check_overlaps(&mut members, archive.directory_offset())?;
    members.sort_by(|a, b| a.name.cmp(&b.name));
    for pair in members.windows(2) {
        if let [a, b] = pair
            && a.name == b.name
        {
            return Err(ZipFault::Duplicate { name: a.name.clone() }.into());
        }
    }
    Ok(members)
}

/// Announces to far storage the local headers of all members, and with them where the frames begin
/// and end. What is wrong with the directory is told when it is read.
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

/// Bytes of a local header without its name, at most: some writers align the data.
const MAX_LOCAL_NBYTES: u64 = 128;

/// One member, whose local header agrees with the directory; `None` for a directory.
fn member(
    archive: &ZipArchive<At<'_>>,
    header: &ZipFileHeaderRecord<'_>,
    buffer: &mut [u8],
) -> Result<Option<Member>> {
    let raw = header.file_path().as_bytes().to_vec();
    let flags = header.flags();
    let entry = archive.get_entry(header.wayfinder()).map_err(record)?;
    let local = entry.local_header(buffer).map_err(record)?;
    let name = if flags.is_utf8() {
        String::from_utf8(raw.clone()).map_err(|_| ZipFault::Utf8 { name: raw.clone() })?
    } else {
        raw.iter().map(|byte| cp437(*byte)).collect()
    };
    let differs = |field| Error::Zip(ZipFault::Local { name: name.clone(), field });
    if local.file_path().as_bytes() != raw {
        return Err(differs("name"));
    }
    let method = header.compression_method();
    if local.compression_method() != method {
        return Err(differs("method"));
    }
    let (position, end) = entry.compressed_data_range();
    if header.is_dir() {
        return Ok(None);
    }
    key::check_names(&name).map_err(|fault| ZipFault::Name { name: name.clone(), fault })?;
    let is_encrypted = flags.is_encrypted() || flags.has_strong_encryption() || flags.is_masked();
    Ok(Some(Member {
        name,
        position,
        nbytes: end.saturating_sub(position),
        method: method.as_u16(),
        is_encrypted,
        crc32: header.crc32(),
        start: header.local_header_offset(),
    }))
}

/// Members follow each other, before the directory.
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

/// The members of an archive without a directory: each has a header before its data. One whose
/// length is damaged ends where the next header is.
pub(crate) fn found_members(store: &dyn ReadAt, max_members: u64) -> Result<Vec<Member>> {
    let wrong = |source| Error::io("the archive", source);
    let len = store.len().map_err(wrong)?;
    let mut members: Vec<Member> = Vec::new();
    let mut at = 0;
    while let Some((mut member, next)) = next_member(store, at, len).map_err(wrong)? {
        if members.len() as u64 >= max_members {
            let (name, unit) = ("the archive".to_owned(), "members");
            let needed = max_members.saturating_add(1);
            return Err(Error::Limit { name, needed, limit: max_members, unit });
        }
        at = next;
        if !members.iter().any(|other| other.name == member.name) {
            member.nbytes = next.saturating_sub(member.position);
            members.push(member);
        }
    }
    members.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(members)
}

/// The first member whose header is at `at` or later, and the position after its data.
fn next_member(store: &dyn ReadAt, at: u64, len: u64) -> io::Result<Option<(Member, u64)>> {
    let mut at = at;
    while let Some(start) = find_header(store, at, len)? {
        let Some(member) = local_member(store, start, len)? else {
            at = start.saturating_add(1);
            continue;
        };
        let end = member.position.saturating_add(member.nbytes);
        // Where the next header is damaged as well, the checksum tells that the length is right.
        let is_right = end <= len
            && (end == len
                || record_at(store, end, len)?.is_some()
                || crc32_of(store, member.position..end)? == member.crc32);
        let next = match is_right {
            true => end,
            false => find_header(store, member.position, len)?.unwrap_or(len),
        };
        return Ok(Some((member, next)));
    }
    Ok(None)
}

/// The signature of a local header or of a record of the directory at a position.
fn record_at(store: &dyn ReadAt, at: u64, len: u64) -> io::Result<Option<[u8; 4]>> {
    let mut signature = [0; 4];
    if at.checked_add(4).is_none_or(|end| end > len) {
        return Ok(None);
    }
    store.read_exact_at(at, &mut signature)?;
    let is_one = [LOCAL_SIGNATURE, *b"PK\x01\x02", *b"PK\x05\x06"].contains(&signature);
    Ok(is_one.then_some(signature))
}

/// The position of the next local header with the name of a file of a store.
fn find_header(store: &dyn ReadAt, at: u64, len: u64) -> io::Result<Option<u64>> {
    let (mut at, mut buffer) = (at, vec![0; SCAN_NBYTES]);
    while at.saturating_add(LOCAL_NBYTES as u64) <= len {
        let left = usize::try_from(len.saturating_sub(at)).unwrap_or(usize::MAX);
        let part = buffer.get_mut(..left.min(SCAN_NBYTES)).unwrap_or_default();
        store.read_exact_at(at, part)?;
        let starts = part.windows(4).enumerate();
        for (start, _) in starts.filter(|(_, window)| *window == LOCAL_SIGNATURE) {
            let start = at.saturating_add(start as u64);
            if local_member(store, start, len)?.is_some() {
                return Ok(Some(start));
            }
        }
        // A signature may lie across the end.
        at = at.saturating_add((part.len() as u64).saturating_sub(3).max(1));
    }
    Ok(None)
}

/// The member whose local header is at a position, as far as the header says; `None` if it is none
/// of a store.
fn local_member(store: &dyn ReadAt, start: u64, len: u64) -> io::Result<Option<Member>> {
    let mut fixed = [0; LOCAL_NBYTES];
    if start.checked_add(LOCAL_NBYTES as u64).is_none_or(|end| end > len) {
        return Ok(None);
    }
    store.read_exact_at(start, &mut fixed)?;
    let u16_at = |at: usize| {
        let bytes = fixed.get(at..).and_then(|bytes| bytes.first_chunk::<2>());
        bytes.map_or(0, |bytes| u16::from_le_bytes(*bytes))
    };
    let u32_at = |at: usize| {
        let bytes = fixed.get(at..).and_then(|bytes| bytes.first_chunk::<4>());
        bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
    };
    let (name_len, extra_len) = (usize::from(u16_at(26)), usize::from(u16_at(28)));
    let mut rest = vec![0; name_len.saturating_add(extra_len)];
    let names = start.saturating_add(LOCAL_NBYTES as u64);
    let position = names.saturating_add(rest.len() as u64);
    if !fixed.starts_with(&LOCAL_SIGNATURE) || position > len {
        return Ok(None);
    }
    store.read_exact_at(names, &mut rest)?;
    let (name, extra) = rest.split_at(name_len);
    let Ok(name) = core::str::from_utf8(name) else { return Ok(None) };
    let is_value = name == crate::store::EMBED_PATH || key::key_of_file(name).is_some();
    if !is_value || key::check_names(name).is_err() {
        return Ok(None);
    }
    let nbytes = match u32_at(18) {
        u32::MAX => zip64_len(extra).unwrap_or(u64::MAX),
        nbytes => nbytes.into(),
    };
    Ok(Some(Member {
        name: name.to_owned(),
        position,
        nbytes,
        method: u16_at(8),
        is_encrypted: u16_at(6) & 1 != 0,
        crc32: u32_at(14),
        start,
    }))
}

/// The length of the stored data in the extra field of zip64, which has that of the plain data
/// first.
fn zip64_len(mut extra: &[u8]) -> Option<u64> {
    loop {
        let (head, rest) = extra.split_first_chunk::<4>()?;
        let [a, b, c, d] = *head;
        let (kind, len) = (u16::from_le_bytes([a, b]), usize::from(u16::from_le_bytes([c, d])));
        let field = rest.get(..len)?;
        if kind == 1 {
            return field.get(8..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
        }
        extra = rest.get(len..)?;
    }
}

/// How the header of a member begins.
const LOCAL_SIGNATURE: [u8; 4] = *b"PK\x03\x04";
/// The header of a member without its name (bytes).
const LOCAL_NBYTES: usize = 30;
/// Bytes that are searched at once.
const SCAN_NBYTES: usize = 1 << 16;

fn record(error: rawzip::Error) -> Error {
    match error.kind() {
        ErrorKind::MissingEndOfCentralDirectory => ZipFault::NoDirectory.into(),
        _ => ZipFault::Record(error).into(),
    }
}

/// The longest comment of an archive and its end records (bytes): where the end record is looked
/// for.
const MAX_COMMENT_NBYTES: u64 = 1 << 17;

/// A store as `rawzip` reads it.
struct At<'a>(&'a dyn ReadAt);

impl ReaderAt for At<'_> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(offset, buf)
    }
}

/// A character of code page 437, which names have that are not said to be UTF-8.
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

//! The directory of a zip archive: which members there are and where their bytes lie ("Zip stores"
//! in `docs/formats/store.md`).
//!
//! `rawzip` parses the records. What it leaves to its caller is checked here: names, duplicates,
//! that local headers agree with the directory, and that no two members share bytes. Members are
//! read in place; nothing is ever inflated.

use std::io;
use std::sync::Arc;

use blosc_io::ReadAt;
use rawzip::{MAX_CENTRAL_DIRECTORY_RECORD_SIZE, ReaderAt, ZipArchive, ZipFileHeaderRecord};

use crate::error::{Error, Result};
use crate::key::{self, KeyFault};

/// What is wrong with an archive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ZipFault {
    /// A record is damaged, or the end record is missing.
    #[error("{0}")]
    Record(rawzip::Error),
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

fn record(error: rawzip::Error) -> Error {
    ZipFault::Record(error).into()
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

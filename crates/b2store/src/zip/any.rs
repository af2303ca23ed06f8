//! The files in a zip archive that is not a store.

use std::sync::Arc;

use blosc_io::ReadAt;

use super::local::LocalHeader;
use super::{Directory, ENCRYPTED_FLAGS, ZipFault, with_limits, wrong};
use crate::error::{Corrupt, Error, Result};
use crate::store::OpenOptions;
use crate::write::crc32_of;

/// A file in a zip archive of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArchiveMember {
    /// Its name.
    pub name: String,
    /// Position of its data in the archive (bytes).
    pub position: u64,
    /// Length of its data in the archive (bytes).
    pub stored_nbytes: u64,
    /// Length of the file (bytes).
    pub nbytes: u64,
    /// Whether zip has compressed it, by Deflate.
    pub is_packed: bool,
    crc32: u32,
    unread: Option<Unread>,
}

/// Why the data of a file are not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unread {
    Encrypted,
    /// The number of a method of compression.
    Method(u16),
}

impl ArchiveMember {
    /// Refuses a file whose data no reader of this crate decodes.
    ///
    /// # Errors
    ///
    /// [`Corrupt::Encrypted`], [`Corrupt::Compressed`].
    pub fn check_readable(&self) -> Result<()> {
        let what = match self.unread {
            None => return Ok(()),
            Some(Unread::Encrypted) => Corrupt::Encrypted,
            Some(Unread::Method(method)) => Corrupt::Compressed { method },
        };
        Err(Error::corrupt(&self.name, what))
    }

    /// Compares the bytes of the file with the sum in the archive.
    ///
    /// # Errors
    ///
    /// [`Corrupt::Crc`]; unreadable bytes.
    pub fn check(&self, plain: &dyn ReadAt) -> Result<()> {
        let len = plain.len().map_err(|source| Error::io(&self.name, source))?;
        let found = crc32_of(plain, 0..len).map_err(|source| Error::io(&self.name, source))?;
        match found == self.crc32 {
            true => Ok(()),
            false => Err(Error::corrupt(&self.name, Corrupt::Crc { found, stored: self.crc32 })),
        }
    }

    /// The error for data that cannot be decompressed.
    #[must_use]
    pub fn damaged(&self) -> Error {
        Error::corrupt(&self.name, Corrupt::Packed)
    }
}

/// The files in a zip archive, which need not be a store, by their positions; also those of which
/// [`check_readable`](ArchiveMember::check_readable) says that they are not read.
///
/// # Errors
///
/// A directory that is damaged or too long; data outside of the archive.
pub fn archive_members(store: &Arc<dyn ReadAt>) -> Result<Vec<ArchiveMember>> {
    let directory = Directory::read(store, OpenOptions::default().max_files)?;
    let len = store.len().map_err(wrong)?;
    let mut members = Vec::new();
    for (entry, limit) in with_limits(&directory.entries, directory.position) {
        if entry.is_dir {
            continue;
        }
        let name = entry.text()?;
        let local = LocalHeader::read(&**store, entry.start, len).map_err(wrong)?;
        let position = local.map_or(entry.after_name(), |local| local.position);
        let end = position.saturating_add(entry.stored);
        if end > limit {
            return Err(ZipFault::Overlap { name, end, limit }.into());
        }
        let unread = match entry.method {
            _ if entry.flags & ENCRYPTED_FLAGS != 0 => Some(Unread::Encrypted),
            0 | DEFLATE => None,
            method => Some(Unread::Method(method)),
        };
        members.push(ArchiveMember {
            name,
            position,
            stored_nbytes: entry.stored,
            nbytes: entry.plain,
            is_packed: entry.method == DEFLATE,
            crc32: entry.crc32,
            unread,
        });
    }
    Ok(members)
}

/// The files of an archive whose directory is missing or damaged, by the headers before them, up to
/// the first header that does not say where the next one is. The last file may go on after the end.
///
/// # Errors
///
/// An archive that cannot be read, or has too many files.
pub fn surviving_members(store: &Arc<dyn ReadAt>) -> Result<Vec<ArchiveMember>> {
    let (mut members, mut at) = (Vec::new(), 0);
    let len = store.len().map_err(wrong)?;
    while let Some(local) = LocalHeader::read(&**store, at, len).map_err(wrong)? {
        let known = [0, DEFLATE].contains(&local.method) && !local.is_late();
        let (true, Ok(name)) = (known, String::from_utf8(local.name)) else { break };
        let limit = OpenOptions::default().max_files;
        if members.len() as u64 >= limit {
            let needed = limit.saturating_add(1);
            return Err(Error::Limit { name, needed, limit, unit: "members" });
        }
        at = local.position.saturating_add(local.stored);
        members.push(ArchiveMember {
            name,
            position: local.position,
            stored_nbytes: local.stored,
            nbytes: local.plain,
            is_packed: local.method == DEFLATE,
            crc32: local.crc32,
            unread: None,
        });
    }
    Ok(members)
}

const DEFLATE: u16 = 8;

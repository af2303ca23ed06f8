//! A zip archive as a folder, in the form of zarr-python's `ZipStore`.
//!
//! Stored members are read in place; deflated members are inflated into memory. If two members
//! share a name the last one counts, as in Python.

use core::fmt;
use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::sync::Arc;

use blosc_io::tree::{Entry, Listing};
use blosc_io::{FileStore, MemStore, ReadAt, Tree, Windowed};
use rawzip::{CompressionMethod, MAX_CENTRAL_DIRECTORY_RECORD_SIZE, ReaderAt, ZipArchive};

use super::files::METADATA;
use super::{invalid, unsupported};

/// The first bytes of an archive.
pub(super) const SIGNATURE: [u8; 4] = *b"PK\x03\x04";
/// Most members of an archive.
const MAX_MEMBERS: u64 = 10_000_000;
/// Most bytes of an inflated member.
const MAX_INFLATED_NBYTES: u64 = 1 << 31;

/// A member.
#[derive(Clone, Copy, Debug)]
struct Member {
    /// The position and the length of its bytes.
    position: u64,
    stored: u64,
    nbytes: u64,
    method: CompressionMethod,
    is_encrypted: bool,
    crc32: u32,
}

/// The members of an archive by their paths.
pub(super) struct ZipTree {
    file: Arc<FileStore>,
    members: BTreeMap<String, Member>,
    listing: Listing,
}

impl fmt::Debug for ZipTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ZipTree").field("members", &self.members.len()).finish_non_exhaustive()
    }
}

struct At<'a>(&'a FileStore);

impl ReaderAt for At<'_> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(offset, buf)
    }
}

impl ZipTree {
    /// Reads the directory of an archive; `None` if no member is metadata of Zarr. If all members
    /// lie in one folder, their paths begin there.
    ///
    /// # Errors
    ///
    /// A damaged archive.
    pub(super) fn open(file: FileStore) -> io::Result<Option<Self>> {
        let found = members(&file)?;
        let metadata = found.keys().filter(|path| is_metadata(path));
        let Some(top) = metadata.min_by_key(|path| path.matches('/').count()) else {
            return Ok(None);
        };
        let root = top.rfind('/').map_or(String::new(), |end| format!("{}/", &top[..end]));
        let below =
            |(path, member): (String, Member)| Some((path.strip_prefix(&root)?.to_owned(), member));
        let members: BTreeMap<String, Member> = found.into_iter().filter_map(below).collect();
        let listing = members.keys().cloned().collect();
        Ok(Some(Self { file: Arc::new(file), members, listing }))
    }
}

fn is_metadata(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| METADATA.contains(&name))
}

fn members(file: &FileStore) -> io::Result<BTreeMap<String, Member>> {
    let len = file.len()?;
    let mut buffer = vec![0; MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
    let located = ZipArchive::with_max_search_space(1 << 17);
    let archive = located
        .locate_in_reader(At(file), &mut buffer, len)
        .map_err(|(_, error)| invalid(error))?;
    if archive.entries_hint() > MAX_MEMBERS {
        return Err(unsupported(format!("an archive of more than {MAX_MEMBERS} members")));
    }
    let mut listed = vec![];
    let mut entries = archive.entries(&mut buffer);
    while let Some(entry) = entries.next_entry().map_err(invalid)? {
        if entry.is_dir() {
            continue;
        }
        let path = String::from_utf8_lossy(entry.file_path().as_bytes()).into_owned();
        let member = Member {
            position: 0,
            stored: 0,
            nbytes: entry.uncompressed_size_hint(),
            method: entry.compression_method(),
            is_encrypted: entry.flags().is_encrypted(),
            crc32: entry.crc32(),
        };
        listed.push((path, member, entry.wayfinder()));
    }
    let mut found = BTreeMap::new();
    // Examining each member of an unrelated archive would take too long.
    if !listed.iter().any(|(path, ..)| is_metadata(path)) {
        return Ok(found);
    }
    for (path, member, wayfinder) in listed {
        let entry = archive.get_entry(wayfinder).map_err(invalid)?;
        let (position, end) = entry.compressed_data_range();
        let stored = end.saturating_sub(position);
        found.insert(path, Member { position, stored, ..member });
    }
    Ok(found)
}

impl Tree for ZipTree {
    fn open(&self, path: &str) -> io::Result<Box<dyn ReadAt>> {
        let member = self.members.get(path).ok_or_else(|| self.listing.no_file(path))?;
        // A member that is passed over would be taken for the fill value.
        if member.is_encrypted {
            return Err(unsupported(format!("member {path}, which is encrypted")));
        }
        let stored = Windowed::new(Arc::clone(&self.file), member.position, member.stored)?;
        match member.method {
            CompressionMethod::STORE => return Ok(Box::new(stored)),
            CompressionMethod::DEFLATE => {}
            method => {
                let text = format!("member {path}, which is compressed by {method}");
                return Err(unsupported(text));
            }
        }
        if member.nbytes > MAX_INFLATED_NBYTES {
            return Err(unsupported("a deflated member of more than 2 GiB"));
        }
        let mut packed = vec![0; usize::try_from(member.stored).map_err(invalid)?];
        stored.read_exact_at(0, &mut packed)?;
        let mut bytes = vec![];
        let inflated = flate2::read::DeflateDecoder::new(&*packed);
        inflated.take(member.nbytes.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 != member.nbytes {
            return Err(invalid(format!("member {path}: another length than the directory says")));
        }
        let mut crc = flate2::Crc::new();
        crc.update(&bytes);
        match crc.sum() == member.crc32 {
            true => Ok(Box::new(MemStore::new(bytes))),
            false => {
                Err(invalid(format!("member {path}: another checksum than the directory says")))
            }
        }
    }

    fn len_of(&self, path: &str) -> io::Result<u64> {
        let member = self.members.get(path).ok_or_else(|| self.listing.no_file(path))?;
        Ok(member.nbytes)
    }

    fn list(&self, path: &str) -> io::Result<Vec<Entry>> {
        self.listing.entries(path)
    }
}

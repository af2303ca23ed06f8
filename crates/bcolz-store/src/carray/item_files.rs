//! Chunks of which single rows are requested again and again, in too much disorder for their blocks
//! to be kept: of each, its open file and where in it the bytes of its items are.

use core::ops::Range;
use std::collections::{HashMap, VecDeque, hash_map::Entry};
use std::io;

use blosc_chunk::{Chunk, internal::ItemIndex};
use blosc_container::block_cache::settled_stamp;
use blosc_io::{ReadAt, Stamp};

use super::CArray;
use crate::chunk_file::{self, ChunkFile, PREAMBLE};
use crate::error::{Error, Result};
use crate::layout::chunk_path;

/// The chunks that were requested.
#[derive(Default)]
pub(super) struct ItemFiles {
    chunks: HashMap<u64, Known>,
    /// Bytes of memory that the indexes take.
    pub(super) nbytes: usize,
    /// Chunks whose files are open, the one that was opened first in front.
    open: VecDeque<u64>,
}

enum Known {
    /// One row of it was requested.
    Requested,
    Indexed(Box<Indexed>),
    /// It has no index, or there was no room for one.
    NotIndexed,
}

struct Indexed {
    index: ItemIndex,
    stamp: Stamp,
    /// Kept open, as finding and opening a file takes as long as ten reads of it.
    file: Option<Box<dyn ReadAt>>,
}

impl ItemFiles {
    /// Whether there is an index for a chunk.
    pub(super) fn has_index(&self, nchunk: u64) -> bool {
        matches!(self.chunks.get(&nchunk), Some(Known::Indexed(_)))
    }

    /// Reads some bytes of the data of a chunk by its index, which is made when the chunk is
    /// requested the second time. False if that cannot be.
    pub(super) fn read(
        &mut self,
        array: &CArray,
        nchunk: u64,
        bytes: Range<usize>,
        dest: &mut [u8],
        packed: &mut Vec<u8>,
    ) -> Result<bool> {
        let is_full = self.chunks.len() >= MAX_CHUNKS && !self.chunks.contains_key(&nchunk);
        if bytes.len() > MAX_ROW_NBYTES || is_full {
            return Ok(false);
        }
        let known = match self.chunks.entry(nchunk) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(entry) => {
                entry.insert(Known::Requested);
                return Ok(false);
            }
        };
        let (path, mut opened) = (|| chunk_path(&array.path, nchunk), false);
        let io = |source| Error::io(path(), source);
        if matches!(known, Known::Requested) {
            let room = usize::try_from(array.options.cache)
                .unwrap_or(usize::MAX)
                .saturating_sub(self.nbytes);
            match Indexed::open(array, nchunk, room, packed)? {
                // Too new: its stamp would not tell a change.
                None => return Ok(false),
                Some(indexed) => *known = indexed,
            }
            opened = true;
        }
        let Known::Indexed(indexed) = known else { return Ok(false) };
        if opened {
            self.nbytes = self.nbytes.saturating_add(indexed.index.capacity());
        }
        if indexed.file.is_none() || cfg!(not(unix)) {
            // Only Unix tells by the stamp of an open file that another one got its name.
            indexed.file = Some(chunk_file::open(&*array.tree, &path())?);
            opened = true;
        }
        let Some(file) = &indexed.file else { return Ok(false) };
        let is_same = file.stamp() == Some(indexed.stamp);
        let is_read = is_same && read_items(&indexed.index, file, bytes, dest).map_err(io)?;
        if !is_read {
            self.nbytes = self.nbytes.saturating_sub(indexed.index.capacity());
            // Its items are too hard to find, or it was changed.
            *known = if is_same { Known::NotIndexed } else { Known::Requested };
            self.open.retain(|open| *open != nchunk);
        } else if opened {
            self.note_open(nchunk);
        }
        Ok(is_read)
    }

    /// Notes a file that was opened, and closes the oldest one beyond the limit.
    fn note_open(&mut self, nchunk: u64) {
        if self.open.contains(&nchunk) {
            return;
        }
        self.open.push_back(nchunk);
        if self.open.len() > MAX_OPEN_FILES
            && let Some(oldest) = self.open.pop_front()
            && let Some(Known::Indexed(oldest)) = self.chunks.get_mut(&oldest)
        {
            oldest.file = None;
        }
    }
}

impl Indexed {
    /// Opens and indexes the file of a chunk; none if it was written a moment ago.
    fn open(
        array: &CArray,
        nchunk: u64,
        room: usize,
        packed: &mut Vec<u8>,
    ) -> Result<Option<Known>> {
        let path = chunk_path(&array.path, nchunk);
        let file = chunk_file::open(&*array.tree, &path)?;
        let Some(stamp) = settled_stamp(file.stamp()) else { return Ok(None) };
        let file = ChunkFile::parse(file, path, array.expected(nchunk))?;
        let mut reader = file.reader(packed);
        array.compare_file(&file, &mut reader)?;
        let bytes = reader.into_bytes().map_err(|error| file.error(error))?;
        let index = Chunk::parse(bytes)
            .ok()
            .and_then(|chunk| ItemIndex::new(&chunk))
            .filter(|index| index.capacity() <= room);
        Ok(Some(index.map_or(Known::NotIndexed, |index| {
            Known::Indexed(Box::new(Self { index, stamp, file: Some(file.into_file()) }))
        })))
    }
}

impl core::fmt::Debug for ItemFiles {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ItemFiles").field("open", &self.open).finish_non_exhaustive()
    }
}

fn read_items(
    index: &ItemIndex,
    file: &dyn ReadAt,
    bytes: Range<usize>,
    dest: &mut [u8],
) -> io::Result<bool> {
    index.read(bytes, dest, &mut |at, dest| {
        file.read_exact_at(PREAMBLE.len().saturating_add(at) as u64, dest)
    })
}

/// Longer rows are decoded (bytes): each byte of a row is looked for on its own.
const MAX_ROW_NBYTES: usize = 16;

/// Chunks that are remembered at most, apart from the indexes in half a megabyte.
const MAX_CHUNKS: usize = 7 << 10;

/// A fifth of the files that Linux lets a process have open by default.
const MAX_OPEN_FILES: usize = 192;

#[cfg(test)]
mod tests {
    use core::time::Duration;
    use std::fs::{self, File};
    use std::path::Path;
    use std::time::SystemTime;

    use super::*;
    use crate::{CArrayWriter, Cname, CreateOptions, Dtype, OpenOptions, StorageParams};

    const CHUNKLEN: u32 = 2048;
    const ROWS: u32 = 12 * CHUNKLEN;

    /// A random walk in `at`, whose files are old.
    fn create(at: &Path, cname: &str) {
        let cparams = StorageParams::default().cname(Cname::from_name(cname).unwrap());
        let options = CreateOptions::new(Dtype::parse("<f8").unwrap())
            .chunklen(Some(CHUNKLEN.into()))
            .cparams(cparams);
        let mut writer = CArrayWriter::create(at, &options).unwrap();
        let walk = |n: u32| (f64::from(n) + f64::from(n.wrapping_mul(2_654_435_761) >> 28)) / 100.0;
        writer
            .append((0..ROWS).map(|n| walk(n).to_le_bytes()).collect::<Vec<_>>().as_flattened())
            .unwrap();
        writer.finish().unwrap();
        age(at, 3600);
    }

    /// Makes all chunks this number of seconds old.
    fn age(at: &Path, seconds: u64) {
        for chunk in fs::read_dir(at.join("data")).unwrap() {
            let path = chunk.unwrap().path();
            let time = SystemTime::now() - Duration::from_secs(seconds);
            File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
        }
    }

    /// One row of each chunk after another, several times.
    fn disorder() -> impl Iterator<Item = u64> {
        (0..40).flat_map(|n: u64| {
            (0..12).map(move |chunk| chunk * 2048 + n * 997 * (chunk + 1) % 2048)
        })
    }

    fn compare(array: &CArray, cache: u64, indexed: bool) {
        let all: Vec<f64> = array.read_as(0..ROWS.into()).unwrap();
        let mut rows = array.row_reader();
        for row in disorder() {
            assert_eq!(rows.item::<f64>(row).unwrap(), all[usize::try_from(row).unwrap()], "{row}");
        }
        let (has, nbytes) = rows.indexes_of(0);
        assert_eq!(has, indexed);
        assert!(nbytes as u64 <= cache);
    }

    #[test]
    fn rows_in_disorder_are_those_of_the_array() {
        let dir = tempfile::tempdir().unwrap();
        for (cname, is_lz4) in [("lz4", true), ("lz4hc", true), ("blosclz", false)] {
            let root = dir.path().join(cname);
            create(&root, cname);
            for cache in [20_000, 0, 1 << 20] {
                let options = OpenOptions::default().cache(cache);
                let array = CArray::open_in(
                    std::sync::Arc::new(crate::tree::DirTree::new(&root)),
                    "",
                    &options,
                );
                // With room for all blocks, no chunk is requested a third time.
                compare(&array.unwrap(), cache, is_lz4 && cache == 20_000);
            }
        }
    }

    #[test]
    fn changed_files_are_looked_at_again() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("a");
        create(&root, "lz4");
        let options = OpenOptions::default().cache(20_000);
        let tree = std::sync::Arc::new(crate::tree::DirTree::new(&root));
        let array = CArray::open_in(tree, "", &options).unwrap();
        let mut rows = array.row_reader();
        for row in disorder() {
            rows.item::<f64>(row).unwrap();
        }
        assert!(rows.indexes_of(5).0);
        let mut writer = CArrayWriter::open(&root).unwrap();
        let data = (0..2048).map(|n| f64::from(n * n % 1000).to_le_bytes()).collect::<Vec<_>>();
        writer.write_rows(5 * 2048, data.as_flattened()).unwrap();
        writer.finish().unwrap();
        age(&root, 1800);
        for row in [10, 4000, 20_000, 5 * 2048 + 77] {
            rows.item::<f64>(row).unwrap();
        }
        assert_eq!(rows.item::<f64>(5 * 2048 + 100).unwrap(), 0.0);
        assert!(!rows.indexes_of(5).0 || rows.item::<f64>(5 * 2048 + 101).unwrap() == 201.0);
    }

    #[test]
    fn the_files_that_were_opened_first_are_closed() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("a");
        let options = CreateOptions::new(Dtype::parse("<i4").unwrap()).chunklen(Some(512));
        let nchunks = u32::try_from(MAX_OPEN_FILES).unwrap() + 8;
        let values: Vec<u8> = (0..nchunks * 512).flat_map(|n| (n / 3).to_le_bytes()).collect();
        let mut writer = CArrayWriter::create(&root, &options).unwrap();
        writer.append(&values).unwrap();
        writer.finish().unwrap();
        age(&root, 3600);
        let tree = std::sync::Arc::new(crate::tree::DirTree::new(&root));
        let array = CArray::open_in(tree, "", &OpenOptions::default().cache(1 << 20)).unwrap();
        let (mut files, mut packed, mut item) = (ItemFiles::default(), Vec::new(), [0; 4]);
        for round in 0..3 {
            for nchunk in 0..nchunks {
                let bytes = 40..44;
                let is_read =
                    files.read(&array, nchunk.into(), bytes, &mut item, &mut packed).unwrap();
                assert_eq!(is_read, round > 0);
                let expected = (nchunk * 512 + 10) / 3;
                assert!(!is_read || u32::from_le_bytes(item) == expected);
            }
        }
        assert_eq!(files.open.len(), MAX_OPEN_FILES);
        let is_open = |known: &&Known| matches!(known, Known::Indexed(it) if it.file.is_some());
        assert_eq!(files.chunks.values().filter(is_open).count(), MAX_OPEN_FILES);
    }
}

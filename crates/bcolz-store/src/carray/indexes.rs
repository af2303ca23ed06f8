//! Chunks of which single rows are requested again and again, in too much disorder for their blocks to
//! be kept: of each, where the bytes of its items are in its file.

use core::ops::Range;
use std::collections::{HashMap, hash_map::Entry};
use std::io;

use blosc_chunk::{Chunk, internal::ItemIndex};
use blosc_io::{ReadAt, Stamp};

use super::CArray;
use super::files::Files;
use super::recent::is_fresh;
use crate::chunk_file::{self, ChunkFile, PREAMBLE};
use crate::error::{Error, Result};
use crate::layout::chunk_path;

/// The state of each chunk that was requested.
#[derive(Debug, Default)]
pub(super) struct Indexes {
    chunks: HashMap<u64, Known>,
    /// Bytes of memory that the indexes take.
    pub(super) nbytes: usize,
    /// Those that were read by an index.
    files: Files,
}

#[derive(Debug)]
enum Known {
    /// One row of it was requested.
    Once,
    Index {
        index: Box<ItemIndex>,
        stamp: Stamp,
    },
    /// It has no index, or there was no room for one.
    Nothing,
}

impl Indexes {
    /// Whether there is an index for a chunk.
    pub(super) fn has(&self, nchunk: u64) -> bool {
        matches!(self.chunks.get(&nchunk), Some(Known::Index { .. }))
    }

    /// Reads some bytes of the data of a chunk by its index, which is made when the chunk is requested the
    /// second time. False if that cannot be.
    pub(super) fn read(
        &mut self,
        array: &CArray,
        nchunk: u64,
        bytes: Range<usize>,
        dest: &mut [u8],
        packed: &mut Vec<u8>,
    ) -> Result<bool> {
        if bytes.len() > LONGEST
            || (self.chunks.len() >= MOST && !self.chunks.contains_key(&nchunk))
        {
            return Ok(false);
        }
        let known = self.chunks.entry(nchunk);
        let is_new = matches!(known, Entry::Vacant(_));
        let known = known.or_insert(Known::Once);
        if is_new || matches!(known, Known::Nothing) {
            return Ok(false);
        }
        let path = || chunk_path(&array.path, nchunk);
        let open = || chunk_file::open(&*array.tree, &path());
        let io = |source| Error::io(path(), source);
        if let Known::Index { index, stamp } = known {
            let file = self.files.file(nchunk, open)?;
            let is_same = file.stamp() == Some(*stamp);
            if is_same && read_by(index, file, bytes, dest).map_err(io)? {
                return Ok(true);
            }
            self.files.close(nchunk);
            self.nbytes -= index.capacity();
            // Its items are too hard to find, or it was changed.
            *known = if is_same { Known::Nothing } else { Known::Once };
            return Ok(false);
        }
        let file = open()?;
        let Some(stamp) = file.stamp().filter(|stamp| !is_fresh(*stamp)) else { return Ok(false) };
        let file = ChunkFile::parse(file, path(), array.expected(nchunk))?;
        let index = Chunk::parse(file.read_to(packed)?)
            .ok()
            .and_then(|chunk| ItemIndex::new(&chunk))
            .map(Box::new);
        let room =
            usize::try_from(array.options.cache).unwrap_or(usize::MAX).saturating_sub(self.nbytes);
        let Some(index) = index.filter(|index| index.capacity() <= room) else {
            *known = Known::Nothing;
            return Ok(false);
        };
        let is_read = read_by(&index, file.file(), bytes, dest).map_err(io)?;
        self.nbytes += index.capacity();
        *known = Known::Index { index, stamp };
        Ok(is_read)
    }
}

fn read_by(
    index: &ItemIndex,
    file: &dyn ReadAt,
    bytes: Range<usize>,
    dest: &mut [u8],
) -> io::Result<bool> {
    index.read(bytes, dest, &mut |at, dest| file.read_exact_at((PREAMBLE.len() + at) as u64, dest))
}

/// Longer rows are decoded: each byte of a row is looked for on its own.
const LONGEST: usize = 16;

/// Chunks that are remembered at most, apart from the indexes in half a megabyte.
const MOST: usize = 7 << 10;

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
}

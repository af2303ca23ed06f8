//! `.b2sums`, a file beside `__attrs__` with a checksum of every other file of an array
//! (`docs/formats/bcolz.md`, "Checksums"). bcolz ignores it.
//!
//! ```text
//!  0   b2sums\0\x01          magic and version
//!  8   rows                  u64, all numbers are little-endian
//! 16   length, XXH3-64       of meta/sizes
//! 32   length, XXH3-64       of meta/storage
//! 48   length, XXH3-64       of __attrs__; the length 2^64 - 1: unknown
//! 64   nchunks               u64
//! 72   length, XXH3-64       of each chunk file; the length 2^64 - 1: unknown
//! ..   XXH3-64               of all bytes before
//! ```
//!
//! A writer marks a chunk's sum as unknown before it replaces the chunk's file, and writes the new
//! sums after `meta/sizes`. So a kill at any moment leaves sums that are right, unknown, or of
//! another `meta/sizes`. In the last case a program without sums has changed the array.

use core::ops::Range;

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::carray::CArray;
use crate::chunk_file::{ChunkFile, PREAMBLE};
use crate::error::{Blame, Corrupt, Error, Result};
use crate::files::{has_file, join, read_metadata, read_within};
use crate::layout::chunk_path;
use crate::meta;
use crate::tree::Tree;

/// Length and sum of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileSum {
    pub(crate) nbytes: u64,
    pub(crate) sum: u64,
}

/// The content of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sums {
    /// Rows of the array.
    pub(crate) len: u64,
    pub(crate) sizes: FileSum,
    pub(crate) storage: FileSum,
    pub(crate) attrs: FileSum,
    pub(crate) chunks: Vec<FileSum>,
}

/// The result of looking for sums.
#[derive(Debug)]
pub(crate) enum Found<T> {
    Missing,
    /// The file is damaged.
    Damaged,
    Sums(T),
}

impl Found<Vec<u8>> {
    /// The content of the bytes of the file.
    pub(crate) fn parsed<T>(self, parse: impl FnOnce(&[u8]) -> Option<T>) -> Found<T> {
        match self {
            Self::Missing => Found::Missing,
            Self::Damaged => Found::Damaged,
            Self::Sums(bytes) => parse(&bytes).map_or(Found::Damaged, Found::Sums),
        }
    }
}

impl FileSum {
    /// The sum of a file that is about to be replaced.
    pub(crate) const UNKNOWN: Self = Self { nbytes: u64::MAX, sum: 0 };

    /// The sum of the bytes of a whole file.
    pub(crate) fn of_file(bytes: &[u8]) -> Self {
        Self { nbytes: bytes.len() as u64, sum: xxh3_64(bytes) }
    }

    /// The sum of a chunk file whose preamble was checked, by its chunk.
    pub(crate) fn of_chunk(chunk: &[u8]) -> Self {
        let mut hasher = Xxh3::new();
        hasher.update(&PREAMBLE);
        hasher.update(chunk);
        Self {
            nbytes: (PREAMBLE.len() as u64).saturating_add(chunk.len() as u64),
            sum: hasher.digest(),
        }
    }

    /// The sum of the attributes of the data set at `path`; unknown if there are none.
    pub(crate) fn of_attrs(tree: &dyn Tree, path: &str) -> Result<Self> {
        let bytes = read_metadata(tree, &meta::attrs_path(path))?.unwrap_or_default();
        Ok(if bytes.is_empty() { Self::UNKNOWN } else { Self::of_file(&bytes) })
    }

    pub(crate) fn is_known(&self) -> bool {
        self.nbytes != u64::MAX
    }
}

impl Sums {
    /// The sums of a new, empty array.
    pub(crate) fn new(sizes: &str, storage: &str, attrs: &str) -> Self {
        Self {
            len: 0,
            sizes: FileSum::of_file(sizes.as_bytes()),
            storage: FileSum::of_file(storage.as_bytes()),
            attrs: FileSum::of_file(attrs.as_bytes()),
            chunks: Vec::new(),
        }
    }

    /// Whether the array at `path` has sums, even damaged ones.
    pub(crate) fn exist(tree: &dyn Tree, path: &str) -> Result<bool> {
        match has_file(tree, &sums_path(path)) {
            // The path is no ordinary file.
            Err(Error::Corrupt { .. }) => Ok(true),
            found => found,
        }
    }

    /// Reads the sums of the array at `path`.
    pub(crate) fn read(tree: &dyn Tree, path: &str) -> Result<Found<Self>> {
        Ok(read_file(tree, path)?.parsed(Self::parse))
    }

    /// Computes the sums of an array on disk from all of its files.
    pub(crate) fn compute(array: &CArray) -> Result<Self> {
        let (sizes, storage) = (meta::sizes_path(&array.path), meta::storage_path(&array.path));
        let of_metadata = |path: &str| {
            let bytes = read_metadata(&*array.tree, path)?.unwrap_or_default();
            Ok::<_, Error>(FileSum::of_file(&bytes))
        };
        let mut sums = Self {
            len: array.len(),
            sizes: of_metadata(&sizes)?,
            storage: of_metadata(&storage)?,
            attrs: FileSum::of_attrs(&*array.tree, &array.path)?,
            chunks: Vec::new(),
        };
        sums.complete(array)?;
        Ok(sums)
    }

    /// Recomputes stale sums, which another program or a kill left: full chunks whose files still
    /// have their length keep their sums, the others get new ones.
    pub(crate) fn update(&mut self, array: &CArray) -> Result<()> {
        let sizes = read_metadata(&*array.tree, &meta::sizes_path(&array.path))?;
        let sizes = FileSum::of_file(&sizes.unwrap_or_default());
        if sizes != self.sizes {
            let nfull =
                self.len.min(array.len()).checked_div(array.layout.chunklen).unwrap_or_default();
            for (nchunk, sum) in (0..).zip(&mut self.chunks) {
                let len = array.tree.len_of(&chunk_path(&array.path, nchunk));
                // Every change of the length rewrites the partial chunk.
                if nchunk >= nfull || len.ok() != Some(sum.nbytes) {
                    *sum = FileSum::UNKNOWN;
                }
            }
        }
        (self.sizes, self.len) = (sizes, array.len());
        // A damaged chunk has no sum; verifying reports it. A chunk with an I/O error may be sound.
        self.complete(array).or_else(|error| match error.blame() {
            Blame::Io => Err(error),
            _ => Ok(()),
        })
    }

    /// Computes the unknown sums, and returns the first error of a chunk.
    fn complete(&mut self, array: &CArray) -> Result<()> {
        let nchunks = usize::try_from(array.nchunks()).unwrap_or(usize::MAX);
        self.chunks.truncate(nchunks);
        let (mut buffer, mut result) = (Vec::new(), Ok(()));
        for nchunk in 0..array.nchunks() {
            let at = usize::try_from(nchunk).unwrap_or(usize::MAX);
            if self.chunks.get(at).is_none_or(|sum| !sum.is_known()) {
                match array.open_chunk(nchunk).and_then(|file| sum_chunk(&file, &mut buffer)) {
                    Ok(sum) => self.set_chunk(nchunk, sum),
                    // Stops at the first missing chunk, as a false length would never end.
                    Err(error @ Error::Corrupt { what: Corrupt::Missing, .. }) => {
                        return Err(error);
                    }
                    Err(error) => result = result.and(Err(error)),
                }
            }
        }
        result
    }

    /// Sets the sum of a chunk; missing sums before it become unknown.
    pub(crate) fn set_chunk(&mut self, nchunk: u64, sum: FileSum) {
        let Ok(nchunk) = usize::try_from(nchunk) else { return };
        if self.chunks.len() <= nchunk {
            self.chunks.resize(nchunk.saturating_add(1), FileSum::UNKNOWN);
        }
        if let Some(old) = self.chunks.get_mut(nchunk) {
            *old = sum;
        }
    }

    /// Makes the sums of some chunks unknown; false if all of them already are.
    pub(crate) fn forget_chunks(&mut self, nchunks: Range<u64>) -> bool {
        let at = |nchunk| usize::try_from(nchunk).unwrap_or(usize::MAX).min(self.chunks.len());
        let (start, end) = (at(nchunks.start), at(nchunks.end));
        let chunks = self.chunks.get_mut(start..end).unwrap_or_default();
        let is_change = chunks.iter().any(FileSum::is_known);
        chunks.fill(FileSum::UNKNOWN);
        is_change
    }

    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let (numbers, []) = unsealed(MAGIC, bytes)?.as_chunks::<8>() else { return None };
        let mut numbers = numbers.iter().map(|number| u64::from_le_bytes(*number));
        let len = numbers.next()?;
        let mut file_sum = || Some(FileSum { nbytes: numbers.next()?, sum: numbers.next()? });
        let (sizes, storage, attrs) = (file_sum()?, file_sum()?, file_sum()?);
        let nchunks = numbers.next()?;
        let mut chunks = Vec::new();
        while let (Some(nbytes), Some(sum)) = (numbers.next(), numbers.next()) {
            chunks.push(FileSum { nbytes, sum });
        }
        (chunks.len() as u64 == nchunks).then_some(Self { len, sizes, storage, attrs, chunks })
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let mut push = |number: u64| bytes.extend(number.to_le_bytes());
        push(self.len);
        for file in [self.sizes, self.storage, self.attrs] {
            push(file.nbytes);
            push(file.sum);
        }
        push(self.chunks.len() as u64);
        for file in &self.chunks {
            push(file.nbytes);
            push(file.sum);
        }
        sealed(bytes)
    }
}

/// The bytes of the file of sums of the array or table at `path`.
pub(crate) fn read_file(tree: &dyn Tree, path: &str) -> Result<Found<Vec<u8>>> {
    match read_within(tree, &sums_path(path), MAX_NBYTES) {
        Ok(None) => Ok(Found::Missing),
        Ok(Some(bytes)) => Ok(Found::Sums(bytes)),
        // The path is no ordinary file, or the file is too long for sums.
        Err(Error::Corrupt { .. }) => Ok(Found::Damaged),
        Err(error) => Err(error),
    }
}

/// Bytes with their sum at the end.
pub(crate) fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = xxh3_64(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// The bytes between the magic and the sum; `None` if either is another.
pub(crate) fn unsealed<'a>(magic: &[u8], bytes: &'a [u8]) -> Option<&'a [u8]> {
    let (bytes, sum) = bytes.split_last_chunk::<8>()?;
    let content = bytes.strip_prefix(magic)?;
    (u64::from_le_bytes(*sum) == xxh3_64(bytes)).then_some(content)
}

/// The sum of a chunk file.
fn sum_chunk(file: &ChunkFile, buffer: &mut Vec<u8>) -> Result<FileSum> {
    let mut reader = file.reader(buffer);
    Ok(FileSum::of_chunk(reader.bytes().map_err(|error| file.error(error))?))
}

/// The file of the sums of the array at `path`.
pub(crate) fn sums_path(path: &str) -> String {
    join(path, ".b2sums")
}

/// Magic and version.
pub(crate) const MAGIC: &[u8] = b"b2sums\0\x01";

/// The longest file of sums that is read (bytes): no array has more chunks.
const MAX_NBYTES: u64 = 1 << 30;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_read_as_they_were_written_and_every_flipped_bit_is_noticed() {
        let mut sums = Sums::new("sizes", "storage", "attrs");
        sums.len = 25;
        sums.set_chunk(1, FileSum::of_file(b"abc"));
        assert_eq!(sums.chunks, [FileSum::UNKNOWN, FileSum::of_file(b"abc")]);
        let bytes = sums.to_bytes();
        assert_eq!(bytes.len(), 72 + 2 * 16 + 8);
        assert_eq!(Sums::parse(&bytes), Some(sums));
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Sums::parse(&damaged), None, "{bit}");
        }
        assert!((0..bytes.len()).all(|len| Sums::parse(&bytes[..len]).is_none()));
    }

    #[test]
    fn a_chunk_has_the_sum_of_its_file() {
        let file = [&PREAMBLE[..], b"some chunk"].concat();
        assert_eq!(FileSum::of_chunk(b"some chunk"), FileSum::of_file(&file));
    }
}

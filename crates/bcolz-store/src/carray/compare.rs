//! Comparing the files of chunks with their checksums while they are read.
//!
//! The first read of a file compares all of it, even if only a part is wanted. Writers mark a sum
//! as unknown before they replace the file (`sums.rs`). So if a file differs and its sum has
//! changed meanwhile, the file belongs to a later state and is sound.

use core::sync::atomic::{AtomicU64, Ordering};

use blosc_container::chunk_reader::ChunkReader;

use super::CArray;
use crate::chunk_file::ChunkFile;
use crate::error::{Corrupt, Error, Result};
use crate::files::read_metadata;
use crate::meta;
use crate::sums::{FileSum, Found, Sums, sums_path};

/// The checksums of an array that is being read.
#[derive(Debug)]
pub(super) enum Compared {
    /// No sums, or sums of another state than the opened one.
    Nothing,
    /// The path and fault of a damaged file: the checksums, or `meta/storage`, which holds the
    /// dtype.
    Damaged(String, Corrupt),
    /// The sums of the files, with a bit for each file that was compared.
    Files(Sums, Box<[AtomicU64]>),
}

impl CArray {
    /// Compares the file of a chunk, unless an earlier read did; `reader` reads the file.
    pub(super) fn compare_file(
        &self,
        file: &ChunkFile,
        reader: &mut ChunkReader<'_>,
    ) -> Result<()> {
        if !self.options.mismatch.is_compared() {
            return Ok(());
        }
        let Some(what) = self.mismatch_of(file, reader)? else { return Ok(()) };
        self.options.mismatch.found(Error::corrupt(file.path(), what))
    }

    /// The mismatch of a file that no earlier read found sound.
    fn mismatch_of(
        &self,
        file: &ChunkFile,
        reader: &mut ChunkReader<'_>,
    ) -> Result<Option<Corrupt>> {
        let (sums, seen) = match self.compared()? {
            Compared::Nothing => return Ok(None),
            Compared::Damaged(path, what) => {
                let error = Error::corrupt(path.clone(), what.clone());
                return self.options.mismatch.found(error).map(|()| None);
            }
            Compared::Files(sums, seen) => (sums, seen),
        };
        let Some((word, bit)) = bit_of(seen, file.nchunk()) else { return Ok(None) };
        if word.load(Ordering::Relaxed) & bit != 0 {
            return Ok(None);
        }
        let bytes = reader.bytes().map_err(|error| file.error(error))?;
        let found = sums.mismatch(file.nchunk(), FileSum::of_chunk(bytes));
        if found.is_some() && !self.is_later_state(sums)? {
            // Remembers no success, so that each later read fails as well.
            return Ok(found);
        }
        word.fetch_or(bit, Ordering::Relaxed);
        Ok(None)
    }

    /// Whether the files of chunks are compared with checksums.
    pub(crate) fn compares_files(&self) -> bool {
        let is_compared = self.options.mismatch.is_compared();
        is_compared && matches!(self.compared(), Ok(Compared::Files(..)))
    }

    /// The checksums, read when the first chunk is.
    fn compared(&self) -> Result<&Compared> {
        if let Some(compared) = self.compared.get() {
            return Ok(compared);
        }
        let compared = match Sums::read(&*self.tree, &self.path)? {
            Found::Missing => Compared::Nothing,
            Found::Damaged => Compared::Damaged(sums_path(&self.path), Corrupt::Sums),
            Found::Sums(sums) => match self.storage_mismatch(&sums)? {
                Some(what) => Compared::Damaged(meta::storage_path(&self.path), what),
                None if self.is_opened_state(&sums)? => {
                    let nwords = sums.chunks.len().div_ceil(64);
                    Compared::Files(sums, (0..nwords).map(|_| AtomicU64::new(0)).collect())
                }
                None => Compared::Nothing,
            },
        };
        Ok(self.compared.get_or_init(|| compared))
    }

    /// The mismatch of `meta/storage`. No program rewrites that file, unless it replaces the whole
    /// array.
    pub(crate) fn storage_mismatch(&self, sums: &Sums) -> Result<Option<Corrupt>> {
        let bytes = read_metadata(&*self.tree, &meta::storage_path(&self.path))?;
        let found = FileSum::of_file(&bytes.unwrap_or_default());
        let is_same = found == sums.storage
            || !matches!(Sums::read(&*self.tree, &self.path)?, Found::Sums(now) if now == *sums);
        let what = || Corrupt::Checksum { found: found.sum, stored: sums.storage.sum };
        Ok((!is_same).then(what))
    }

    /// Whether the sums are those of the current `meta/sizes`, and of the state that was opened.
    fn is_opened_state(&self, sums: &Sums) -> Result<bool> {
        let bytes = read_metadata(&*self.tree, &meta::sizes_path(&self.path))?.unwrap_or_default();
        let parsed = meta::parse_object(&self.path, &bytes)
            .and_then(|json| meta::Sizes::parse(&json, &self.path));
        let is_opened = parsed.is_ok_and(|parsed| parsed == self.sizes);
        Ok(is_opened && FileSum::of_file(&bytes) == sums.sizes)
    }

    /// Whether a writer has changed the array since its sums were read.
    fn is_later_state(&self, sums: &Sums) -> Result<bool> {
        Ok(match Sums::read(&*self.tree, &self.path)? {
            Found::Sums(now) => now != *sums || !self.is_opened_state(&now)?,
            Found::Missing | Found::Damaged => true,
        })
    }
}

impl Sums {
    /// The fault of a file with this sum; `None` for a file whose length changed, as a writer may
    /// have replaced it.
    pub(super) fn mismatch(&self, nchunk: u64, found: FileSum) -> Option<Corrupt> {
        let stored = self.chunks.get(usize::try_from(nchunk).ok()?)?;
        (stored.is_known() && stored.nbytes == found.nbytes && stored.sum != found.sum)
            .then_some(Corrupt::Checksum { found: found.sum, stored: stored.sum })
    }
}

/// The bit of a file; `None` if it has no sum.
fn bit_of(seen: &[AtomicU64], nchunk: u64) -> Option<(&AtomicU64, u64)> {
    let word = usize::try_from(nchunk / 64).ok().and_then(|at| seen.get(at));
    word.map(|word| (word, 1 << (nchunk % 64)))
}

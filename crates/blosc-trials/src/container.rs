//! A small sound sample of each container, and all operations of its reader.

pub(crate) mod bcolz;
pub(crate) mod bloscpack;
mod chunks;
pub(crate) mod frames;
pub mod stored_chunks;
mod stores;

use core::ops::Range;
use std::{fs, path::Path, sync::Arc};

use b2frame::Budget;
use blosc_chunk::{DParams, Limits, Threads};
use blosc_io::{
    MemStore,
    tree::{MemTree, Tree, join, parent},
};

use crate::failure::{Context, Result, fail};

/// The most bytes of data in a chunk.
pub const MAX_NBYTES: u64 = 1 << 18;

/// The most chunks and values that are read one by one.
const MAX_NCHUNKS: usize = 200;

/// The files of a container by their paths, in order. A one-file container has one file.
#[derive(Clone, Debug)]
pub struct Files(pub Vec<(String, Vec<u8>)>);

/// The name of the file of a one-file container.
const ONE_FILE: &str = "file";

impl Files {
    fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(vec![(ONE_FILE.to_owned(), bytes)])
    }

    /// All files below `root`.
    ///
    /// # Errors
    ///
    /// Errors of the tree.
    pub fn from_tree(tree: &dyn Tree, root: &str) -> Result<Self> {
        let (mut found, mut dirs) = (vec![], vec![String::new()]);
        while let Some(dir) = dirs.pop() {
            for entry in tree.list(&join(root, &dir))? {
                let path = join(&dir, &entry.name);
                if entry.is_dir {
                    dirs.push(path);
                    continue;
                }
                let file = tree.open(&join(root, &path))?;
                let mut bytes = vec![0; usize::try_from(file.len()?)?];
                file.read_exact_at(0, &mut bytes)?;
                found.push((path, bytes));
            }
        }
        found.sort();
        Ok(Self(found))
    }

    /// The file at `path`, or all files below it.
    ///
    /// # Errors
    ///
    /// Errors of the system.
    pub fn from_disk(path: &Path) -> Result<Self> {
        if path.is_file() {
            return Ok(Self::from_bytes(fs::read(path).at(path.display())?));
        }
        let (mut found, mut dirs) = (vec![], vec![String::new()]);
        while let Some(dir) = dirs.pop() {
            for entry in fs::read_dir(path.join(&dir)).at(path.display())? {
                let entry = entry?;
                let name = join(&dir, &entry.file_name().to_string_lossy());
                match entry.path().is_dir() {
                    true => dirs.push(name),
                    false => found.push((name, fs::read(entry.path())?)),
                }
            }
        }
        found.sort();
        Ok(Self(found))
    }

    /// Whether it is a one-file container, not a directory with one file.
    #[must_use]
    pub fn is_one_file(&self) -> bool {
        matches!(self.0.as_slice(), [(name, _)] if name == ONE_FILE)
    }

    /// The bytes of a one-file container.
    fn bytes(&self) -> &[u8] {
        self.0.first().map_or(&[], |(_, bytes)| bytes)
    }

    fn store(&self) -> MemStore {
        MemStore::new(self.bytes().to_vec())
    }

    pub(crate) fn tree(&self) -> Result<Arc<MemTree>> {
        let tree = MemTree::new();
        for (path, bytes) in &self.0 {
            let mut dirs: Vec<&str> = vec![];
            let mut dir = parent(path);
            while !dir.is_empty() {
                dirs.push(dir);
                dir = parent(dir);
            }
            for dir in dirs.into_iter().rev() {
                if tree.list(dir).is_err() {
                    tree.create_dir(dir)?;
                }
            }
            tree.write(path, bytes)?;
        }
        Ok(Arc::new(tree))
    }

    /// All bytes of all files.
    fn parts(&self) -> Vec<Part> {
        let parts = self.0.iter().enumerate();
        parts.map(|(nfile, (_, bytes))| (nfile, 0..bytes.len())).collect()
    }

    /// Bytes of all files.
    #[must_use]
    pub fn nbytes(&self) -> usize {
        self.0.iter().map(|(_, bytes)| bytes.len()).sum()
    }
}

/// A chunk of a sample.
#[derive(Clone, Debug)]
pub struct StoredChunk {
    /// Its number in its frame, file or column.
    pub number: usize,
    /// The number of its file.
    pub nfile: usize,
    /// The bytes of that file that hold its data.
    pub stored: Range<usize>,
    /// Its data (bytes).
    pub data: Vec<u8>,
}

/// The number of a file, and bytes of it.
pub type Part = (usize, Range<usize>);

/// Bytes 0x3e to 0x43 of a frame are numbers of threads, which C-Blosc2 rewrites at will: no sum
/// covers them.
const THREADS: Range<usize> = 0x3e..0x44;

/// The parts covered by the seal of a frame, which takes these bytes of a file.
fn parts_of_frame(nfile: usize, frame: Range<usize>) -> [Part; 2] {
    let (start, end) = (frame.start, frame.end);
    [(nfile, start..start + THREADS.start), (nfile, start + THREADS.end..end)]
}

/// The data of each chunk of the sample that rescue returned at its position.
pub type Rescued = Vec<Option<Vec<u8>>>;

/// A sound container.
pub struct Sample {
    /// Its name in reports.
    pub container: &'static str,
    /// Whether it has checksums.
    pub is_sealed: bool,
    /// Its files.
    pub files: Files,
    /// Its chunks.
    pub chunks: Vec<StoredChunk>,
    /// The parts of files that checksums cover.
    pub covered: Vec<Part>,
    /// Opens it, reads all facts, verifies; returns the first fault.
    pub verify: fn(&Files) -> Result<()>,
    /// Reads all data, as far as the limits allow.
    pub read: fn(&Files) -> Result<()>,
    /// Returns the readable chunks, if the container has a rescue.
    pub rescue: Option<fn(&Files) -> Result<Rescued>>,
}

impl Sample {
    /// Whether it has checksums, as a word.
    pub(crate) fn sealed(&self) -> &'static str {
        if self.is_sealed { "sealed" } else { "unsealed" }
    }

    /// Checks that it is sound, and that its rescue returns all of it.
    fn checked(self) -> Result<Self> {
        let place = format!("{} (sealed: {})", self.container, self.is_sealed);
        (self.verify)(&self.files).at(&place)?;
        (self.read)(&self.files).at(&place)?;
        let Some(rescue) = self.rescue else { return Ok(self) };
        let rescued = rescue(&self.files).at(&place)?;
        let is_right = |(chunk, data): (&StoredChunk, &Option<Vec<u8>>)| {
            data.as_ref().is_some_and(|data| *data == chunk.data)
        };
        let is_all = rescued.len() == self.chunks.len();
        if is_all && self.chunks.iter().zip(&rescued).all(is_right) {
            return Ok(self);
        }
        fail(format!("{place}: rescue of the sound sample gives other data"))
    }
}

/// Samples of all containers, sealed and unsealed.
///
/// # Errors
///
/// A sample is not sound.
pub fn samples() -> Result<Vec<Sample>> {
    let mut all = vec![];
    for is_sealed in [true, false] {
        all.extend(frames::samples(is_sealed)?);
        all.push(bloscpack::sample(is_sealed)?);
        all.extend(bcolz::samples(is_sealed)?);
        all.extend(stores::samples(is_sealed)?);
    }
    all.extend(chunks::samples()?);
    all.into_iter().map(Sample::checked).collect()
}

/// Files of other programs, with contents that the samples lack.
const FIXTURES: [(&str, &str); 22] = [
    ("frame", "frames/tiny.b2frame"),
    ("frame", "frames/fixed-updated.b2frame"),
    ("frame", "frames/special-nan.b2frame"),
    ("frame", "frames/variable-with-one-special.b2frame"),
    ("frame", "frames/vl-blocks.b2frame"),
    ("b2nd", "frames/tiny-nd.b2nd"),
    ("b2nd", "frames/nd-struct.b2nd"),
    ("frame", "frames/legacy/beta1-lz4-shuffle-i8-meta.b2frame"),
    ("frame", "frames/legacy/beta3-zstd-bitshuffle-i4-meta-usermeta.b2frame"),
    ("frame", "frames/legacy/untagged-2021-01-le.b2frame"),
    ("frame", "frames/legacy/untagged-2021-02-vlmeta.b2frame"),
    ("blp", "bloscpack/real_np_struct.blp"),
    ("blp", "bloscpack/real_np_struct_nested.blp"),
    ("blp", "bloscpack/synth_v2.blp"),
    ("blp", "bloscpack/real_append_reserve_used_up.blp"),
    ("blp", "bloscpack/old_v1.blp"),
    ("carray", "bcolz/ca_attrs"),
    ("ctable", "bcolz/ct_struct_column"),
    ("b2z", "stores/table-basic.b2z"),
    ("b2z", "stores/dict-basic.b2z"),
    ("b2d", "stores/table-nulls-mask.b2d"),
    ("b2e", "stores/embed-basic.b2e"),
];

/// Files of other programs, with unknown chunks and checksums.
///
/// # Errors
///
/// A file cannot be read.
pub fn fixtures() -> Result<Vec<Sample>> {
    let samples = samples()?;
    let mut all = vec![];
    for (container, path) in FIXTURES {
        let Some(like) = samples.iter().rfind(|sample| sample.container == container) else {
            return fail(format!("{container}: no such container"));
        };
        let files = Files::from_disk(&blosc_testdata::fixture::path(path))?;
        all.push(Sample { files, chunks: vec![], covered: vec![], ..*like });
    }
    Ok(all)
}

/// Larger samples of the containers that have their chunks, or their index, in one file.
///
/// # Errors
///
/// A sample is not sound.
pub fn large_samples() -> Result<Vec<Sample>> {
    let mut all = frames::large_samples()?;
    all.push(bloscpack::large_sample()?);
    all.push(chunks::large_sample()?);
    all.into_iter().map(Sample::checked).collect()
}

/// Bytes that compress a little: of each item, half is noise.
#[must_use]
pub fn data(nbytes: usize, seed: u32) -> Vec<u8> {
    let mut draw = blosc_testdata::data::XorShift32::new(seed);
    let bytes = (0..nbytes).map(|n| match n % 4 {
        0 | 1 => draw.next_hi().to_le_bytes()[0],
        2 => (n / 64).to_le_bytes()[0],
        _ => 0,
    });
    bytes.collect()
}

pub(crate) fn dparams() -> DParams {
    DParams::default().limits(Limits::default().max_nbytes(MAX_NBYTES))
}

pub(crate) fn budget() -> Budget {
    Budget::default().threads(Threads::One).max_memory(1 << 20)
}

/// The position of these bytes in the only file.
fn find(bytes: &[u8], part: &[u8]) -> Result<Range<usize>> {
    match bytes.windows(part.len()).position(|window| window == part) {
        Some(at) => Ok(at..at + part.len()),
        None => fail("the stored chunk is not in the file"),
    }
}

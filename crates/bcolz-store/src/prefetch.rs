//! Announcing reads to storage that is far away: all metadata of a table at once, and the chunks of
//! all of its columns.
//!
//! Announcing reports no error: reading the file does. Near storage gets no announcement
//! ([`Tree::prefetch_limit`]).

use core::ops::Range;

use crate::carray::CArray;
use crate::ctable::CTable;
use crate::files::join;
use crate::layout::chunk_path;
use crate::meta;
use crate::names::names_path;
use crate::sums::sums_path;
use crate::tree::Tree;

/// A file up to this size (bytes) is fetched as a whole: its blocks would take another round.
const MAX_WHOLE_NBYTES: u64 = 128 << 10;
/// Bytes of a longer chunk file that hold its block starts.
const HEAD_NBYTES: u64 = 2 << 10;
/// Most bytes of a metadata file that are announced.
const METADATA_NBYTES: u64 = 64 << 10;

/// A part of a chunk: its number, and bytes of its data.
pub(crate) type ChunkPart = (u64, Range<usize>);

/// Announces the metadata of the array or table at `path`, and of its possible columns.
pub(crate) fn announce_metadata(tree: &dyn Tree, path: &str) {
    let limit = tree.prefetch_limit();
    if limit == 0 {
        return;
    }
    let mut paths = vec![names_path(path)];
    let columns = tree.list(path).unwrap_or_default().into_iter().filter(|entry| entry.is_dir);
    let columns = columns.map(|entry| join(path, &entry.name));
    for array in core::iter::once(path.to_owned()).chain(columns) {
        paths.extend([
            meta::sizes_path(&array),
            meta::storage_path(&array),
            meta::attrs_path(&array),
            sums_path(&array),
        ]);
    }
    let mut nbytes = 0_u64;
    let parts = paths.into_iter().filter_map(|path| {
        let len = tree.len_of(&path).ok()?.min(METADATA_NBYTES);
        nbytes = nbytes.saturating_add(len);
        (nbytes <= limit).then_some((path, 0..len))
    });
    tree.prefetch(&parts.collect::<Vec<_>>());
}

impl CArray {
    /// Bytes that may be announced at once; 0 if the files are near.
    pub(crate) fn prefetch_limit(&self) -> u64 {
        self.tree.prefetch_limit()
    }

    /// Announces to far storage the headers and block starts for some rows, without waiting.
    /// Reading rows does this by itself. A caller that reads several columns announces all of them
    /// first, to save rounds: the heads of each, and then the blocks of each.
    pub fn prefetch_heads(&self, rows: Range<u64>) {
        self.announce_heads(&self.parts_to_announce(rows));
    }

    /// Announces the blocks of some rows; waits for their heads.
    pub fn prefetch_blocks(&self, rows: Range<u64>) {
        self.prefetch_parts(&self.parts_to_announce(rows));
    }

    /// Announces parts of chunks.
    pub(crate) fn prefetch_parts(&self, parts: &[ChunkPart]) {
        let mut buffer = Vec::new();
        for (nchunk, bytes) in self.announce_heads(parts) {
            let Ok(file) = self.open_chunk(nchunk) else { continue };
            if let Ok(needed) = file.reader(&mut buffer).needs(core::slice::from_ref(&bytes)) {
                file.into_file().prefetch(&needed);
            }
        }
    }

    /// The first of these parts, at least one, up to the prefetch limit.
    pub(crate) fn first_parts(&self, parts: impl Iterator<Item = ChunkPart>) -> Vec<ChunkPart> {
        let limit = self.prefetch_limit();
        let (mut first, mut nbytes) = (Vec::new(), 0_u64);
        for part in parts {
            let len = self.file_len(part.0).unwrap_or(0);
            let weight = match self.is_whole(len, &part.1) {
                true => len,
                false => len.min((part.1.len() as u64).saturating_add(HEAD_NBYTES)),
            };
            nbytes = nbytes.saturating_add(weight);
            if nbytes > limit && !first.is_empty() {
                break;
            }
            first.push(part);
        }
        first
    }

    /// Announces whole short files, and the starts of the longer ones; returns the parts of the
    /// longer ones, whose blocks are still to be announced.
    fn announce_heads(&self, parts: &[ChunkPart]) -> Vec<ChunkPart> {
        let (mut first, mut longer) = (Vec::new(), Vec::new());
        for (nchunk, bytes) in parts {
            let Ok(len) = self.file_len(*nchunk) else { continue };
            let path = chunk_path(self.path(), *nchunk);
            if self.is_whole(len, bytes) {
                first.push((path, 0..len));
            } else {
                first.push((path, 0..len.min(HEAD_NBYTES)));
                longer.push((*nchunk, bytes.clone()));
            }
        }
        self.tree.prefetch(&first);
        longer
    }

    /// Whether to fetch all of a file of `len` bytes for these bytes of its data. A file with a
    /// checksum is fetched whole, as all of it is compared.
    fn is_whole(&self, len: u64, bytes: &Range<usize>) -> bool {
        let is_most = bytes.len() as u64 > self.layout.chunk_nbytes() / 2;
        len <= MAX_WHOLE_NBYTES || is_most || self.compares_files()
    }

    fn parts_to_announce(&self, rows: Range<u64>) -> Vec<ChunkPart> {
        if self.prefetch_limit() == 0 {
            return vec![];
        }
        let rows = rows.start..rows.end.min(self.len());
        self.first_parts(self.parts_of(rows))
    }
}

impl CTable {
    /// Announces to far storage the rows of columns that will be read, so that all columns arrive
    /// in the same rounds.
    pub fn prefetch<'a>(&self, names: impl IntoIterator<Item = &'a str>, rows: Range<u64>) {
        if self.tree.prefetch_limit() == 0 {
            return;
        }
        let columns: Vec<_> = names.into_iter().flat_map(|name| self.column(name)).collect();
        columns.iter().for_each(|column| column.prefetch_heads(rows.clone()));
        columns.iter().for_each(|column| column.prefetch_blocks(rows.clone()));
    }
}

//! The state of a frame: a super-chunk shows it, a [`Draft`](super::Draft) owns and changes it.

mod open;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use blosc_chunk::CParams;
use blosc_io::MemStore;

use crate::error::{Error, Param, Result};
use crate::header::{ChunkSize, FrameHeader, FrameLayout};
use crate::metalayers::Metalayers;
use crate::offsets::{Index, Section};
use crate::seal::Mark;
use crate::source::Source;
use crate::sparse::Folder;
use crate::writer::Start;

pub(crate) use open::{read_meta, read_trailer, read_trailer_as};

/// Header, metadata, index, and the stores of the bytes.
///
/// Each change keeps the parts consistent: the header says whether there are vlmetalayers, and
/// decides what the numbers of the index mean (files, or positions in a data section, and its
/// length).
#[derive(Clone)]
pub(crate) struct FrameState {
    /// The store of header, index and trailer.
    source: Source,
    /// The files of chunks, unless the chunks are in `source`.
    folder: Option<Folder>,
    /// The path by which the frame can be opened again, as an absolute path.
    path: Option<PathBuf>,
    layout: FrameLayout,
    header: FrameHeader,
    trailer_len: u32,
    meta: Metalayers,
    vlmeta: Metalayers,
    /// The seal in the trailer.
    mark: Mark,
    index: Index,
}

/// All of a frame except its chunks, in today's layout.
pub(crate) struct Parts {
    pub header: FrameHeader,
    pub meta: Metalayers,
    pub vlmeta: Metalayers,
    pub trailer_len: u32,
    pub mark: Mark,
}

impl Parts {
    /// The state of a frame that is not written yet.
    pub(crate) fn unwritten(start: Start) -> Self {
        let Start { header, meta, vlmeta, .. } = start;
        let trailer_len = u32::try_from(vlmeta.bytes().len()).unwrap_or(u32::MAX);
        Self { header, meta, vlmeta, trailer_len, mark: Mark::default() }
    }
}

impl FrameState {
    /// A frame without chunks.
    pub(crate) fn new(source: Source, folder: Option<Folder>, parts: Parts) -> Self {
        let Parts { header, meta, vlmeta, trailer_len, mark } = parts;
        let (path, layout) = (None, FrameLayout::Current);
        let index = Index::empty(Section::of_header(&header));
        Self { source, folder, path, layout, header, trailer_len, meta, vlmeta, mark, index }
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// The files of chunks of a sparse frame.
    pub(crate) fn folder(&self) -> Option<&Folder> {
        self.folder.as_ref()
    }

    /// The path by which the frame can be opened again, as an absolute path.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    pub(crate) fn layout(&self) -> FrameLayout {
        self.layout
    }

    pub(crate) fn header(&self) -> &FrameHeader {
        &self.header
    }

    /// Length of the trailer (bytes).
    pub(crate) fn trailer_len(&self) -> u32 {
        self.trailer_len
    }

    pub(crate) fn meta(&self) -> &Metalayers {
        &self.meta
    }

    /// The vlmetalayers, contents as stored.
    pub(crate) fn vlmeta(&self) -> &Metalayers {
        &self.vlmeta
    }

    /// The seal in the trailer.
    pub(crate) fn mark(&self) -> &Mark {
        &self.mark
    }

    pub(crate) fn index(&self) -> &Index {
        &self.index
    }

    pub(crate) fn nchunks(&self) -> u64 {
        self.index.nchunks()
    }

    /// Bytes of an item.
    pub(crate) fn typesize(&self) -> usize {
        usize::try_from(self.header.typesize().get()).unwrap_or(usize::MAX)
    }

    /// The size of a chunk that the chunk size and the total give (bytes); `None` unless chunks
    /// have a fixed size.
    pub(crate) fn expected_nbytes(&self, nchunk: u64) -> Result<Option<usize>> {
        let nchunks = self.nchunks();
        if nchunk >= nchunks {
            return Err(Param::ChunkNumber { nchunk, nchunks }.into());
        }
        let ChunkSize::Fixed(chunksize) = self.header.chunksize() else { return Ok(None) };
        let chunksize = u64::from(chunksize.get());
        let left = self.header.nbytes().saturating_sub(nchunk.saturating_mul(chunksize));
        Ok(usize::try_from(left.min(chunksize)).ok())
    }
}

/// Changes of the state.
impl FrameState {
    /// Sets the path by which the frame can be opened again.
    pub(crate) fn set_path(&mut self, path: &Path) {
        self.path = std::path::absolute(path).ok();
    }

    /// Replaces the store. The reference to the old store is dropped before `make` is called, so
    /// that `make` can find out who owns it last.
    pub(crate) fn replace_source(&mut self, make: impl FnOnce() -> Source) {
        self.source = Source::new(Arc::new(MemStore::default()), self.source.base());
        self.source = make();
    }

    /// Notes the lengths and the header that were written.
    pub(crate) fn set_written(&mut self, header: FrameHeader, index_len: u64, trailer_len: u32) {
        (self.header, self.trailer_len) = (header, trailer_len);
        self.index.set_position(self.header.index_position(), index_len);
        self.set_section();
    }

    /// Makes the index a table of these numbers.
    pub(crate) fn set_table(&mut self, table: Vec<u64>) {
        self.index.set_table(table);
    }

    /// Makes the index a table for chunks with this sum of uncompressed sizes (bytes).
    pub(crate) fn set_chunks(&mut self, table: Vec<u64>, nbytes: u64) {
        self.index.set_table(table);
        self.header.set_nbytes(nbytes);
        self.set_section();
    }

    /// Keeps the chunks for which `keep`, called once for each in order, is true, and notes their
    /// uncompressed size. Works in place: a damaged header may claim a huge table.
    pub(crate) fn retain_chunks(
        &mut self,
        mut keep: impl FnMut() -> bool,
        nbytes: u64,
    ) -> Result<()> {
        self.index.edit(|table| {
            table.retain(|_| keep());
            Ok(())
        })?;
        self.header.set_nbytes(nbytes);
        self.set_section();
        Ok(())
    }

    /// Inserts a chunk of `nbytes` uncompressed bytes in the index, which is a table.
    pub(crate) fn insert_chunk(&mut self, nchunk: u64, number: u64, nbytes: usize) -> Result<()> {
        self.index.edit(|table| {
            let at = as_index(nchunk, table.len().saturating_add(1))?;
            table.insert(at, number);
            Ok(())
        })?;
        self.resize_chunk(0, nbytes)
    }

    /// Removes a chunk of `nbytes` uncompressed bytes from the index, which is a table.
    pub(crate) fn remove_chunk(&mut self, nchunk: u64, nbytes: usize) -> Result<()> {
        self.index.edit(|table| {
            table.remove(as_index(nchunk, table.len())?);
            Ok(())
        })?;
        self.resize_chunk(nbytes, 0)
    }

    /// Gives a chunk another number in the index, which is a table.
    pub(crate) fn set_number(&mut self, nchunk: u64, number: u64) -> Result<()> {
        self.index.edit(|table| {
            let at = as_index(nchunk, table.len())?;
            *table.get_mut(at).ok_or_else(no_such_chunk)? = number;
            Ok(())
        })
    }

    /// Replaces a chunk of `old` uncompressed bytes by one of `new` bytes.
    pub(crate) fn replace_chunk(
        &mut self,
        nchunk: u64,
        number: u64,
        old: usize,
        new: usize,
    ) -> Result<()> {
        self.set_number(nchunk, number)?;
        self.resize_chunk(old, new)
    }

    /// Changes the uncompressed size of a chunk from `old` to `new`. An unset chunk size becomes
    /// `new`.
    fn resize_chunk(&mut self, old: usize, new: usize) -> Result<()> {
        self.header.replace_nbytes(old, new)?;
        self.set_section();
        Ok(())
    }

    /// Sets the length of the data section (bytes).
    pub(crate) fn set_cbytes(&mut self, cbytes: u64) -> Result<()> {
        self.header.set_cbytes(cbytes)?;
        self.set_section();
        Ok(())
    }

    /// Updates the section after a change of the header; even the first chunk changes it, since a
    /// frame without data has no data section.
    fn set_section(&mut self) {
        self.index.set_section(Section::of_header(&self.header));
    }

    /// Adds the bytes of a chunk that got a file of its own.
    pub(crate) fn add_file(&mut self, cbytes: u64) {
        self.header.add_cbytes(cbytes);
    }

    /// Subtracts the bytes of a chunk whose file is no longer needed.
    pub(crate) fn subtract_file(&mut self, cbytes: u64) {
        self.header.subtract_cbytes(cbytes);
    }

    /// Lets each chunk have its own size from now on.
    pub(crate) fn set_variable_chunks(&mut self) {
        self.header.set_variable_chunks();
    }

    /// Lets each chunk have its own size, and blocks of individual sizes.
    pub(crate) fn set_vl_blocks(&mut self) {
        self.header.set_vl_blocks();
    }

    /// Sets how new chunks are compressed. The typesize stays.
    pub(crate) fn set_cparams(&mut self, cparams: &CParams) -> Result<()> {
        self.header.set_cparams(cparams)
    }

    /// Sets the filters for new chunks, slot 0 first.
    pub(crate) fn set_filters(&mut self, filters: [u8; 6], filters_meta: [u8; 6]) {
        self.header.set_filters(filters, filters_meta);
    }

    /// Replaces the content of the metalayer of this name, if the length stays.
    pub(crate) fn overwrite_meta(&mut self, name: &[u8], content: &[u8]) -> bool {
        self.meta.overwrite(name, content)
    }

    /// Sets the metalayers. The header keeps its length until it is written, or fits them.
    pub(crate) fn set_meta(&mut self, meta: Metalayers) {
        self.meta = meta;
    }

    /// Gives the header the length that its metalayers need.
    pub(crate) fn fit_header(&mut self) {
        self.header.set_header_len(self.meta.header_len());
    }

    /// Sets the vlmetalayers.
    pub(crate) fn set_vlmeta(&mut self, vlmeta: Metalayers) {
        self.header.set_has_vlmeta(!vlmeta.is_empty());
        self.vlmeta = vlmeta;
    }

    /// Sets the seal in the trailer.
    pub(crate) fn set_mark(&mut self, mark: Mark) {
        self.mark = mark;
    }
}

/// A chunk number as an index below `end` in memory.
fn as_index(nchunk: u64, end: usize) -> Result<usize> {
    usize::try_from(nchunk).ok().filter(|at| *at < end).ok_or_else(no_such_chunk)
}

fn no_such_chunk() -> Error {
    Error::internal("the index has no such chunk")
}

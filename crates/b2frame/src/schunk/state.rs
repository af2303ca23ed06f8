//! What a frame consists of: a super-chunk shows it, an editor changes it.

use std::sync::Arc;

use blosc_io::MemStore;

use crate::header::FrameHeader;
use crate::metalayers::Metalayers;
use crate::offsets::{Index, Section};
use crate::seal::Mark;
use crate::source::Source;
use crate::sparse::Folder;
use crate::writer::Start;

/// Header, metadata, index, and where the bytes are.
///
/// Editors change it through [`SChunk::state_mut`](super::SChunk::state_mut) only.
pub(crate) struct FrameState {
    /// Where header, index and trailer are.
    pub source: Source,
    /// Where the chunks are, unless they are in `source`.
    pub folder: Option<Folder>,
    pub header: FrameHeader,
    pub trailer_len: u32,
    pub meta: Metalayers,
    pub vlmeta: Metalayers,
    /// What the trailer says of the seal.
    pub mark: Mark,
    pub index: Index,
}

impl FrameState {
    /// A frame that is not written yet.
    pub(crate) fn new(source: Source, folder: Option<Folder>, start: Start) -> Self {
        let Start { header, meta, vlmeta, .. } = start;
        let mut index = Index::empty();
        index.set_table(vec![]);
        if folder.is_some() {
            index.set_section(Section::Files);
        }
        let trailer_len = u32::try_from(vlmeta.bytes().len()).unwrap_or(u32::MAX);
        let mark = Mark::default();
        Self { source, folder, header, trailer_len, meta, vlmeta, mark, index }
    }

    /// Drops the share of the store, so that its last owner can be told.
    pub(crate) fn release_source(&mut self) {
        self.source = Source::new(Arc::new(MemStore::default()), self.source.base());
    }

    /// Takes over what was written: the header, and where the index chunk is.
    pub(crate) fn set_written(&mut self, header: FrameHeader, index_len: u64) {
        self.index.set_position(header.index_position(), index_len);
        if self.folder.is_none() {
            self.index.set_section(Section::Bytes(header.cbytes()));
        }
        self.header = header;
    }

    /// Sets the vlmetalayers.
    pub(crate) fn set_vlmeta(&mut self, vlmeta: Metalayers) {
        self.header.set_has_vlmeta(!vlmeta.is_empty());
        self.vlmeta = vlmeta;
    }
}

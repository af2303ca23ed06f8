//! A frame under construction or change.
//!
//! ```text
//!   Draft ----- state -----> FrameState <--+
//!     |  \                                 |   from the first reading to the next change
//!     |   +--- snapshot ---> SChunk -------+
//!     |                        |
//!     +------ context -------> options, buffers
//! ```

use core::ops::Deref;
use std::sync::{Arc, OnceLock};

use blosc_chunk::Registries;
use blosc_container::pool::Pool;

use super::{ChunkInfo, FrameState, ReadContext, SChunk};
use crate::error::Result;
use crate::header::FrameLayout;
use crate::params::OpenOptions;
use crate::source::Source;
use crate::sparse::Folder;

/// The owner of a frame's state. A super-chunk that shows the present state reads and decodes
/// chunks.
pub(crate) struct Draft {
    state: Arc<FrameState>,
    context: Arc<ReadContext>,
    snapshot: OnceLock<SChunk>,
}

impl Draft {
    /// A frame with this state.
    pub(crate) fn new(state: FrameState, options: OpenOptions) -> Self {
        let options = options.for_items_of(state.header(), state.meta());
        Self::with_options(state, options)
    }

    /// As [`new`](Self::new), with options that already fit its items.
    fn with_options(state: FrameState, options: OpenOptions) -> Self {
        let context = Arc::new(ReadContext { options, pool: Pool::default() });
        Self { state: Arc::new(state), context, snapshot: OnceLock::new() }
    }

    /// The frame of a super-chunk that has no other owner.
    pub(crate) fn of_schunk(schunk: SChunk) -> Self {
        let SChunk { state, context, .. } = schunk;
        Self { state, context, snapshot: OnceLock::new() }
    }

    /// Reads a frame; `source` has the index of a sparse one.
    pub(crate) fn open(
        source: Source,
        folder: Option<Folder>,
        options: OpenOptions,
    ) -> Result<Self> {
        let (state, options) = FrameState::open(source, folder, options)?;
        let mut draft = Self::with_options(state, options);
        // Frames of beta.1 do not store their filters, but chunks do. Reading the chunk will report
        // its damage.
        if draft.layout() == FrameLayout::Beta1
            && let Ok(ChunkInfo { stored: Some(stored), .. }) = draft.snapshot().chunk_info(0)
        {
            draft.change().set_filters(stored.pipeline.ids(), stored.pipeline.metas());
        }
        Ok(draft)
    }

    /// The options of reading.
    pub(crate) fn options(&self) -> &OpenOptions {
        &self.context.options
    }

    /// The available codecs and filters.
    pub(crate) fn registries(&self) -> &Registries {
        &self.context.options.dparams.registries
    }

    /// The present super-chunk. Its chunks are not compared with the seal while they are read:
    /// editors keep sums of their own, and rescue reads damaged chunks.
    pub(crate) fn snapshot(&self) -> &SChunk {
        let (state, context) = (&self.state, &self.context);
        self.snapshot.get_or_init(|| SChunk::new(state.clone(), context.clone()).unwatched())
    }

    /// Uncompressed size of a chunk (bytes); usually the state alone tells it.
    pub(crate) fn chunk_nbytes(&self, nchunk: u64) -> Result<usize> {
        match self.expected_nbytes(nchunk)? {
            Some(nbytes) => Ok(nbytes),
            None => self.snapshot().chunk_nbytes(nchunk),
        }
    }

    /// The state, to be changed.
    pub(crate) fn change(&mut self) -> &mut FrameState {
        self.snapshot.take();
        // The snapshot was the only other owner, since callers only borrow it: the state is never
        // copied.
        Arc::make_mut(&mut self.state)
    }

    /// The super-chunk, after the last change.
    pub(crate) fn finish(self) -> SChunk {
        let Self { state, context, .. } = self;
        SChunk::new(state, context)
    }
}

impl Deref for Draft {
    type Target = FrameState;

    fn deref(&self) -> &FrameState {
        &self.state
    }
}

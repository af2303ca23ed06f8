//! A frame that is put together or changed.
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

/// The owner of a frame's state. What reads and decodes chunks is a super-chunk that shows the
/// state as it is.
pub(crate) struct Draft {
    state: Arc<FrameState>,
    context: Arc<ReadContext>,
    snapshot: OnceLock<SChunk>,
}

impl Draft {
    /// A frame that consists of this.
    pub(crate) fn new(state: FrameState, options: OpenOptions) -> Self {
        let options = options.for_items_of(state.header(), state.meta());
        Self::with_options(state, options)
    }

    /// The same with options that are for its items already.
    fn with_options(state: FrameState, options: OpenOptions) -> Self {
        let context = Arc::new(ReadContext { options, pool: Pool::default() });
        Self { state: Arc::new(state), context, snapshot: OnceLock::new() }
    }

    /// The frame of a super-chunk that nobody has any more.
    pub(crate) fn of_schunk(schunk: SChunk) -> Self {
        let SChunk { state, context, .. } = schunk;
        Self { state, context, snapshot: OnceLock::new() }
    }

    /// Reads a frame. Of a sparse one, `source` has the index.
    pub(crate) fn open(
        source: Source,
        folder: Option<Folder>,
        options: OpenOptions,
    ) -> Result<Self> {
        let (state, options) = FrameState::open(source, folder, options)?;
        let mut draft = Self::with_options(state, options);
        // Frames of beta.1 do not say how they were filtered, but chunks do. Damage is reported
        // when the chunk is read.
        if draft.layout() == FrameLayout::Beta1
            && let Ok(ChunkInfo { stored: Some(stored), .. }) = draft.snapshot().chunk_info(0)
        {
            draft.change().set_filters(stored.pipeline.ids(), stored.pipeline.metas());
        }
        Ok(draft)
    }

    /// How it is read.
    pub(crate) fn options(&self) -> &OpenOptions {
        &self.context.options
    }

    /// The codecs and filters there are.
    pub(crate) fn registries(&self) -> &Registries {
        &self.context.options.dparams.registries
    }

    /// The super-chunk as it is. Its chunks are not compared with the seal while they are read:
    /// editors keep sums of their own, and rescue reads what is damaged.
    pub(crate) fn snapshot(&self) -> &SChunk {
        let (state, context) = (&self.state, &self.context);
        self.snapshot.get_or_init(|| SChunk::new(state.clone(), context.clone()).unwatched())
    }

    /// Uncompressed size of a chunk (bytes): seldom needs more than the state.
    pub(crate) fn chunk_nbytes(&self, nchunk: u64) -> Result<usize> {
        match self.expected_nbytes(nchunk)? {
            Some(nbytes) => Ok(nbytes),
            None => self.snapshot().chunk_nbytes(nchunk),
        }
    }

    /// The state, to be changed.
    pub(crate) fn change(&mut self) -> &mut FrameState {
        self.snapshot.take();
        // That was the only other owner, since nobody can keep more than a reference to it: the
        // state is never copied.
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

//! The table of chunks, made row by row while it is printed: a frame may have millions.

use b2frame::{ChunkInfo, SChunk};
use blosc_chunk::{ChunkHeader, SpecialKind};
use serde::{Serialize, Serializer};

use crate::{
    error::{Error, Result, chain},
    memory,
    render::ErrorPosition,
    report::filter_names,
};

/// The first chunks of some frames: a small file may claim to have millions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkTable<'a> {
    pub(crate) frames: &'a [SChunk],
    pub(crate) max_rows: u64,
}

/// Chunks that are listed with `-vv`; `-vvv` lists all.
pub(crate) const MAX_LISTED_CHUNKS: u64 = 100_000;

/// One chunk, or the reason why it cannot be read.
#[derive(Debug, Default, Serialize)]
pub(crate) struct ChunkRow {
    /// Frame, from 0, when it is not the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) frame: Option<usize>,
    pub(crate) nchunk: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) offset: Option<u64>,
    pub(crate) cbytes: u64,
    pub(crate) nbytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) special: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) codec: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) filters: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) blocksize: Option<usize>,
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub(crate) memcpyed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

impl<'a> ChunkTable<'a> {
    /// The rows, in order.
    pub(crate) fn rows(self) -> impl Iterator<Item = ChunkRow> + use<'a> {
        let rows = self.frames.iter().enumerate().flat_map(|(nframe, schunk)| {
            let frame = (nframe > 0).then_some(nframe);
            (0..schunk.nchunks()).map(move |nchunk| match schunk.chunk_info(nchunk) {
                Ok(info) => ChunkRow::new(frame, &info),
                Err(error) => ChunkRow::bad(frame, nchunk, &error.into()),
            })
        });
        rows.take(memory::as_len(self.max_rows))
    }

    /// Chunks without a row.
    pub(crate) fn nleft_out(self) -> u64 {
        let all = self.frames.iter().fold(0u64, |all, frame| all.saturating_add(frame.nchunks()));
        all.saturating_sub(self.max_rows)
    }
}

impl Serialize for ChunkTable<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.rows())
    }
}

impl ChunkRow {
    fn new(frame: Option<usize>, info: &ChunkInfo) -> Self {
        let stored = info.stored.as_ref();
        Self {
            frame,
            nchunk: info.nchunk,
            offset: info.offset,
            cbytes: info.cbytes,
            nbytes: info.nbytes,
            special: info.special.map(special_name),
            codec: stored.map(|stored| stored.codec.to_string()),
            filters: stored.map(|stored| filter_names(&stored.pipeline)),
            blocksize: stored.filter(|stored| !stored.is_vl).map(|stored| stored.blocksize),
            memcpyed: stored.is_some_and(|stored| stored.is_memcpyed),
            error: None,
        }
    }

    /// A chunk of a format that describes chunks only by their headers.
    pub(super) fn of_header(nchunk: u64, offset: u64, header: &ChunkHeader) -> Self {
        Self {
            nchunk,
            offset: Some(offset),
            cbytes: header.cbytes() as u64,
            nbytes: header.nbytes() as u64,
            codec: Some(header.codec_id().to_string()),
            filters: Some(filter_names(&header.pipeline())),
            blocksize: Some(header.blocksize()),
            memcpyed: header.is_memcpyed(),
            ..Self::default()
        }
    }

    pub(super) fn bad(frame: Option<usize>, nchunk: u64, error: &Error) -> Self {
        let offset = ErrorPosition::of_error(error).offset;
        Self { frame, nchunk, offset, error: Some(chain(error)), ..Self::default() }
    }
}

/// The name of a run.
pub(super) fn special_name(kind: SpecialKind) -> &'static str {
    match kind {
        SpecialKind::Zeros => "zeros",
        SpecialKind::Nans => "nan",
        SpecialKind::Value => "value",
        SpecialKind::Uninit => "uninit",
    }
}

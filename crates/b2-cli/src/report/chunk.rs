//! A bare chunk, as `b2 info` describes it: keys of schema `b2.info/1`, and its blocks.

use blosc_chunk::{
    Chunk, ChunkHeader, Scratch,
    block::{BlockRef, StreamKind, StreamRef},
    validate::{Depth, Note, Validation},
};
use serde::{Serialize, Serializer};

use super::{FileSummary, Problems, chunks::special_name, filter_metas, filter_names, readers};
use crate::{
    error::{Result, chain},
    exit::Code,
    formats::BareChunk,
};

/// The report of one chunk.
#[derive(Debug, Serialize)]
pub(crate) struct ChunkReport<'a> {
    #[serde(flatten)]
    pub(crate) file: FileSummary<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dead_bytes: Option<u64>,
    pub(crate) header_bytes: usize,
    pub(crate) nblocks: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) blocksize: Option<usize>,
    pub(crate) typesize: usize,
    pub(crate) codec: String,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) codec_meta: u8,
    pub(crate) filters: Vec<String>,
    pub(crate) filters_meta: Vec<u8>,
    pub(crate) split: bool,
    pub(crate) dict: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dict_bytes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) special: Option<&'static str>,
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub(crate) memcpyed: bool,
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub(crate) vl_blocks: bool,
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub(crate) lazy: bool,
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub(crate) instrumented: bool,
    /// Unusual facts that do not stop a reader.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
    /// Facts that could not be read, and why.
    #[serde(skip_serializing_if = "Problems::is_empty")]
    pub(crate) problems: Problems,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) blocks: Option<BlockTable<'a>>,
    /// The first releases that open it.
    #[serde(skip)]
    pub(crate) opens_with: String,
}

impl<'a> ChunkReport<'a> {
    /// From the header, and with all `bytes` of the chunk also from its blocks.
    pub(crate) fn new(
        path: &'a str,
        chunk: &BareChunk,
        bytes: Option<&'a [u8]>,
        table: bool,
    ) -> Self {
        let mut report = Self::of_header(path, chunk.header());
        report.file.file_bytes = chunk.stored();
        report.dead_bytes = report.lazy.then_some(0);
        if let Some(bytes) = bytes.filter(|_| !report.lazy) {
            report.look_inside(bytes, chunk, table);
        }
        report
    }

    fn of_header(path: &'a str, header: &ChunkHeader) -> Self {
        let (nbytes, cbytes) = (header.nbytes() as u64, header.cbytes() as u64);
        let plain = header.is_memcpyed() || header.special().is_some() || nbytes == 0;
        Self {
            file: FileSummary::new(path, "chunk", header.version()).sizes(nbytes, cbytes, cbytes),
            dead_bytes: None,
            header_bytes: header.header_len(),
            nblocks: if plain { 0 } else { header.nblocks() },
            blocksize: (!header.is_vl()).then_some(header.blocksize()),
            typesize: header.typesize(),
            codec: header.codec_id().to_string(),
            codec_meta: header.codec_meta(),
            filters: filter_names(&header.pipeline()),
            filters_meta: filter_metas(&header.pipeline()),
            split: header.is_split() && !plain && !header.is_vl() && header.typesize() > 1,
            dict: header.has_dict(),
            dict_bytes: None,
            special: header.special().map(special_name),
            memcpyed: header.is_memcpyed(),
            vl_blocks: header.is_vl(),
            lazy: header.is_lazy(),
            instrumented: header.is_instrumented(),
            warnings: Vec::new(),
            problems: Problems::default(),
            blocks: None,
            opens_with: readers::opens_chunk(header),
        }
    }

    fn look_inside(&mut self, bytes: &'a [u8], stored: &BareChunk, table: bool) {
        let chunk = match Chunk::parse(bytes) {
            Ok(chunk) => chunk,
            Err(error) => return self.problems.add_text(chain(&error), Code::Data),
        };
        self.nblocks = chunk.nblocks();
        self.blocksize = chunk.blocksize().or(self.blocksize);
        self.dict_bytes = chunk.dict().map(<[u8]>::len);
        let found = chunk.validate(Depth::Structure, &mut Scratch::new(stored.dparams()));
        self.learn(&found);
        self.blocks = table.then_some(BlockTable(chunk));
    }

    fn learn(&mut self, found: &Validation) {
        self.dead_bytes = found.is_ok().then(|| dead_bytes(&found.notes));
        if let Some(error) = found.first_error() {
            self.problems.add_text(chain(error), Code::Data);
        }
        self.warnings = found.notes.iter().filter_map(blosc_data::formats::chunk::note).collect();
        if let Some(block) = found.blocks.first().filter(|block| block.error.is_none()) {
            // Only the blocks tell whether a chunk of Blosc 1 is split.
            self.split = block.nstored + block.ncoded + block.nruns > 1;
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(byte: &u8) -> bool {
    *byte == 0
}

fn dead_bytes(notes: &[Note]) -> u64 {
    let gaps =
        notes.iter().map(|note| if let Note::Gaps { nbytes } = note { *nbytes as u64 } else { 0 });
    gaps.sum()
}

/// The blocks of a chunk, made row by row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockTable<'a>(Chunk<'a>);

/// One block, or the reason why it cannot be read.
#[derive(Debug, Default, Serialize)]
pub(crate) struct BlockRow {
    pub(crate) nblock: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) offset: Option<usize>,
    pub(crate) cbytes: usize,
    pub(crate) nbytes: usize,
    pub(crate) split: bool,
    pub(crate) streams: Vec<StreamRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

/// One stream of a block.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct StreamRow {
    pub(crate) offset: usize,
    pub(crate) cbytes: usize,
    pub(crate) nbytes: usize,
    pub(crate) kind: &'static str,
    /// The byte that a run repeats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<u8>,
}

impl<'a> BlockTable<'a> {
    /// The rows in order; none if the block starts contradict each other, which is a problem of the
    /// chunk.
    pub(crate) fn rows(self) -> impl Iterator<Item = BlockRow> + use<'a> {
        let blocks = self.0.blocks().into_iter().flatten().enumerate();
        blocks.map(|(nblock, block)| match block {
            Ok(block) => BlockRow::new(&block),
            Err(error) => BlockRow::bad(nblock, &error),
        })
    }
}

impl Serialize for BlockTable<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.rows())
    }
}

impl BlockRow {
    fn new(block: &BlockRef) -> Self {
        Self {
            nblock: block.nblock(),
            offset: Some(block.offset()),
            cbytes: block.cbytes(),
            nbytes: block.data().len(),
            split: block.streams().len() > 1,
            streams: block.streams().iter().map(StreamRow::new).collect(),
            error: None,
        }
    }

    fn bad(nblock: usize, error: &blosc_chunk::Error) -> Self {
        Self { nblock, error: Some(chain(error)), ..Self::default() }
    }

    /// A summary of the streams: `3 coded, 1 stored, runs of 0 and 255`.
    pub(crate) fn summary(&self) -> String {
        let of = |kind| self.streams.iter().filter(move |stream| stream.kind == kind);
        let counted = ["coded", "stored"].into_iter().map(|kind| (of(kind).count(), kind));
        let counted = counted.filter(|(n, _)| *n > 0).map(|(n, kind)| format!("{n} {kind}"));
        let values: Vec<_> =
            of("run").filter_map(|stream| stream.value).map(|v| v.to_string()).collect();
        let runs = (!values.is_empty())
            .then(|| format!("{} of {}", plural(values.len()), values.join(", ")));
        counted.chain(runs).collect::<Vec<_>>().join(", ")
    }
}

fn plural(nruns: usize) -> &'static str {
    if nruns == 1 { "run" } else { "runs" }
}

impl StreamRow {
    pub(crate) fn new(stream: &StreamRef) -> Self {
        let (kind, value) = match stream.kind {
            StreamKind::Stored => ("stored", None),
            StreamKind::Coded => ("coded", None),
            StreamKind::Run(value) => ("run", Some(value)),
        };
        Self { offset: stream.offset, cbytes: stream.cbytes(), nbytes: stream.nbytes, kind, value }
    }
}

//! One input, as `b2 info` describes it: the keys of schema `b2.info/1`.

use b2frame::{SChunk, header::FrameHeader};
use blosc_chunk::{Dict, SplitMode};
use blosc_data::formats::frame::format_name;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{ChunkTable, FileSummary, Problems, filter_metas, filter_names, noted, readers};
use crate::{error::Result, formats::msgpack_json, inputs::frame_bytes};

/// All frames of one input together; the parameters are those of the first.
#[derive(Debug, Serialize)]
pub(crate) struct InfoReport<'a> {
    #[serde(flatten)]
    pub(crate) file: FileSummary<'a>,
    pub(crate) dead_bytes: u64,
    pub(crate) nchunks: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) chunksize: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) blocksize: Option<u64>,
    pub(crate) typesize: u64,
    pub(crate) codec: String,
    pub(crate) clevel: u8,
    pub(crate) filters: Vec<String>,
    pub(crate) filters_meta: Vec<u8>,
    pub(crate) split: &'static str,
    pub(crate) dict: bool,
    pub(crate) special: SpecialCounts,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(crate) array: Option<ArrayInfo>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) metalayers: Map<String, Value>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) vlmetalayers: Map<String, Value>,
    /// The content of the first frame, unless it is bytes or an array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<String>,
    /// Facts that could not be read, and why.
    #[serde(skip_serializing_if = "Problems::is_empty")]
    pub(crate) problems: Problems,
    /// Each frame, when there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) frames: Vec<FrameRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) chunks: Option<ChunkTable<'a>>,
    /// Chunks that are not listed, when chunks are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) chunks_left_out: Option<u64>,
    #[serde(skip)]
    pub(crate) parts: Parts,
    /// The kind of the checksums that the first frame has.
    #[serde(rename = "checksum")]
    pub(crate) checksums: &'static str,
    /// The first release of C-Blosc2 that opens it.
    #[serde(skip)]
    pub(crate) opens_with: String,
}

/// Chunks that are runs of one value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct SpecialCounts {
    pub(crate) zeros: u64,
    pub(crate) nan: u64,
    pub(crate) value: u64,
    pub(crate) uninit: u64,
}

/// An n-dimensional array.
#[derive(Debug, Serialize)]
pub(crate) struct ArrayInfo {
    pub(crate) shape: Vec<u64>,
    pub(crate) chunkshape: Vec<u32>,
    pub(crate) blockshape: Vec<u32>,
    pub(crate) dtype: String,
}

/// One frame of several.
#[derive(Debug, Serialize)]
pub(crate) struct FrameRow {
    pub(crate) offset: u64,
    pub(crate) file_bytes: u64,
    pub(crate) nbytes: u64,
    pub(crate) nchunks: u64,
}

/// Bytes of the parts of the first frame, for the text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parts {
    pub(crate) header: u64,
    pub(crate) index: u64,
    pub(crate) trailer: u64,
}

impl<'a> InfoReport<'a> {
    /// Describes `frames`, the frames of the input `path`. Unreadable chunks are left out of the
    /// sums and noted as a problem: finding damage is the task of `verify`.
    pub(crate) fn new(
        path: &'a str,
        frames: &'a [SChunk],
        first: &'a SChunk,
        table: Option<ChunkTable<'a>>,
    ) -> Self {
        let mut report = Self::of_first(path, first);
        for schunk in frames {
            report.add(schunk);
        }
        report.file.update_ratio();
        if frames.len() > 1 {
            report.frames = frames.iter().map(FrameRow::new).collect();
        }
        report.chunks = table;
        report.chunks_left_out = table.map(ChunkTable::nleft_out).filter(|nleft| *nleft > 0);
        report
    }

    /// The parameters of the first frame.
    fn of_first(path: &'a str, first: &SChunk) -> Self {
        let (header, cparams) = (first.header(), first.cparams());
        let mut problems = Problems::default();
        let array = noted(&mut problems, array(first)).flatten();
        let blocksize = noted(&mut problems, blocksize(first)).flatten();
        let vlmetalayers = vlmetalayers(first, &mut problems);
        Self {
            file: FileSummary::new(
                path,
                format_name(first, array.is_some()),
                header.flags().version(),
            ),
            dead_bytes: 0,
            nchunks: 0,
            chunksize: first.chunksize().fixed().map(u64::from),
            blocksize,
            typesize: first.typesize() as u64,
            codec: cparams.codec.to_string(),
            clevel: cparams.clevel.get(),
            filters: filter_names(&cparams.filters),
            filters_meta: filter_metas(&cparams.filters),
            split: split_name(cparams.split),
            dict: cparams.dict != Dict::None,
            special: SpecialCounts::default(),
            array,
            metalayers: metalayers(first),
            vlmetalayers,
            content: None,
            problems,
            frames: Vec::new(),
            chunks: None,
            chunks_left_out: None,
            parts: Parts::new(first, header),
            checksums: if first.is_sealed() { "xxh3" } else { "none" },
            opens_with: readers::opens_frame(first),
        }
    }

    /// Adds the sums of one frame.
    fn add(&mut self, schunk: &SChunk) {
        self.file.nbytes = self.file.nbytes.saturating_add(schunk.nbytes());
        self.file.file_bytes = self.file.file_bytes.saturating_add(frame_bytes(schunk));
        self.nchunks = self.nchunks.saturating_add(schunk.nchunks());
        let Some(usage) = noted(&mut self.problems, schunk.usage()) else {
            return;
        };
        self.file.cbytes = self.file.cbytes.saturating_add(usage.cbytes);
        self.dead_bytes = self.dead_bytes.saturating_add(usage.dead_bytes);
        self.special.zeros += usage.zeros;
        self.special.nan += usage.nans;
        self.special.value += usage.value;
        self.special.uninit += usage.uninit;
    }
}

impl FrameRow {
    fn new(schunk: &SChunk) -> Self {
        Self {
            offset: schunk.offset(),
            file_bytes: frame_bytes(schunk),
            nbytes: schunk.nbytes(),
            nchunks: schunk.nchunks(),
        }
    }
}

impl Parts {
    fn new(schunk: &SChunk, header: &FrameHeader) -> Self {
        Self {
            header: header.header_len().into(),
            index: schunk.index_len(),
            trailer: schunk.trailer_len(),
        }
    }
}

fn array(schunk: &SChunk) -> Result<Option<ArrayInfo>> {
    let typesize = schunk.header().typesize().get();
    Ok(schunk.nd_meta()?.map(|meta| ArrayInfo {
        shape: meta.shape().to_vec(),
        chunkshape: meta.chunkshape().to_vec(),
        blockshape: meta.blockshape().to_vec(),
        dtype: meta.dtype_text(typesize).into_owned(),
    }))
}

/// The block size in the header, or else that of the first stored chunk.
fn blocksize(schunk: &SChunk) -> Result<Option<u64>> {
    if let Some(blocksize) = schunk.header().blocksize() {
        return Ok(Some(blocksize.get().into()));
    }
    if schunk.nchunks() == 0 {
        return Ok(None);
    }
    let stored = schunk.chunk_info(0)?.stored.filter(|stored| !stored.is_vl);
    Ok(stored.map(|stored| stored.blocksize as u64))
}

/// The metalayers; of several with one name the first one counts.
fn metalayers(schunk: &SChunk) -> Map<String, Value> {
    let mut map = Map::new();
    for layer in schunk.meta().iter() {
        map.entry(layer.name_text()).or_insert_with(|| msgpack_json::to_same_value(layer.content));
    }
    map
}

fn vlmetalayers(schunk: &SChunk, problems: &mut Problems) -> Map<String, Value> {
    let mut map = Map::new();
    let vlmeta = schunk.vlmeta();
    for layer in vlmeta.stored().iter() {
        if let Some(content) = noted(problems, vlmeta.decode(layer)) {
            map.entry(layer.name_text()).or_insert_with(|| msgpack_json::to_same_value(&content));
        }
    }
    map
}

fn split_name(split: SplitMode) -> &'static str {
    match split {
        SplitMode::Always => "always",
        SplitMode::Never => "never",
        SplitMode::Auto => "auto",
        _ => "forward",
    }
}

/// The name of a format, as its documents spell it.
pub(crate) fn title(format: &str) -> String {
    match format {
        "hdf5" => "HDF5".to_owned(),
        _ => {
            let mut letters = format.chars();
            let first: Vec<char> =
                letters.next().into_iter().flat_map(char::to_uppercase).collect();
            first.into_iter().chain(letters).collect()
        }
    }
}

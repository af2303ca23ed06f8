//! A Bloscpack file, as `b2 info` describes it: keys of schema `b2.info/1`.

use bloscpack::{Metadata, PackedChunk, Version};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{ChunkRow, FileSummary, Problems, filter_metas, filter_names, noted};
use crate::{error::Result, formats::Blp};

/// The report of one file.
#[derive(Serialize)]
pub(crate) struct BlpReport<'a> {
    #[serde(flatten)]
    pub(crate) file: FileSummary<'a>,
    /// Bytes after the last chunk.
    pub(crate) dead_bytes: u64,
    pub(crate) nchunks: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) chunk_size: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_chunk: Option<u32>,
    pub(crate) offsets: bool,
    pub(crate) max_app_chunks: u64,
    pub(crate) checksum: &'static str,
    pub(crate) typesize: u64,
    #[serde(flatten)]
    pub(crate) first: Option<FirstChunk>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(crate) array: Option<ArrayKeys>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) metadata: Option<Value>,
    /// Bytes of the metadata as they are stored, and the room for them.
    #[serde(skip)]
    pub(crate) metadata_bytes: Option<(u32, u32)>,
    /// Unusual facts that do not stop a reader.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
    /// Facts that could not be read, and why.
    #[serde(skip_serializing_if = "Problems::is_empty")]
    pub(crate) problems: Problems,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) chunks: Option<BlpChunks<'a>>,
}

/// Compression of the first chunk; others may differ.
#[derive(Debug, Serialize)]
pub(crate) struct FirstChunk {
    pub(crate) codec: String,
    pub(crate) filters: Vec<String>,
    pub(crate) filters_meta: Vec<u8>,
    pub(crate) blocksize: usize,
}

/// The description that makes the file an array.
#[derive(Debug, Serialize)]
pub(crate) struct ArrayKeys {
    pub(crate) shape: Vec<u64>,
    pub(crate) dtype: String,
    pub(crate) order: &'static str,
}

/// The chunks of a file, as rows that are made while they are printed.
#[derive(Clone, Copy)]
pub(crate) struct BlpChunks<'a>(pub(crate) &'a Blp);

impl<'a> BlpReport<'a> {
    /// From the headers and the first chunk.
    ///
    /// # Errors
    ///
    /// When the chunks cannot be counted.
    pub(crate) fn new(path: &'a str, blp: &'a Blp, table: bool) -> Result<Self> {
        let (file, header) = (&blp.file, blp.file.header());
        let nchunks = file.nchunks()?;
        let mut problems = Problems::default();
        let first = match nchunks {
            0 => None,
            _ => noted(&mut problems, file.packed_chunk(0)),
        };
        let array = noted(&mut problems, file.array_info()).flatten();
        let dead_bytes = noted(&mut problems, file.trailing_bytes()).unwrap_or(0);
        let start = if nchunks == 0 { file.file_len() } else { file.position(0)? };
        let digests = nchunks * header.checksum().digest_len() as u64;
        let cbytes = file
            .file_len()
            .saturating_sub(dead_bytes)
            .saturating_sub(start)
            .saturating_sub(digests);
        Ok(Self {
            file: FileSummary::new(path, "blp", header.version().number()).sizes(
                blp.nbytes(),
                cbytes,
                file.file_len(),
            ),
            dead_bytes,
            nchunks,
            chunk_size: header.chunksize(),
            last_chunk: header.last_chunk(),
            offsets: header.has_offsets(),
            max_app_chunks: header.max_app_chunks(),
            checksum: blp.checksum(),
            typesize: blp.typesize(),
            first: first.as_ref().map(FirstChunk::new),
            array: array.map(|array| ArrayKeys {
                shape: array.shape().to_vec(),
                dtype: array.dtype().to_string(),
                order: if array.order() == bloscpack::numpy::Order::F { "F" } else { "C" },
            }),
            metadata: file.metadata().and_then(Metadata::json).cloned(),
            metadata_bytes: file
                .metadata_header()
                .map(|header| (header.meta_comp_size(), header.max_meta_size())),
            warnings: warnings(blp),
            problems,
            chunks: table.then_some(BlpChunks(blp)),
        })
    }
}

fn warnings(blp: &Blp) -> Vec<String> {
    let (file, header) = (&blp.file, blp.file.header());
    let unset =
        file.offsets().is_some_and(|offsets| !offsets.is_empty() && offsets.positions().is_none());
    let odd = [
        (unset, "the offsets are not set: the writer was interrupted"),
        (file.is_interrupted(), "a change was interrupted; the file is seen as it was before"),
        (
            header.nchunks().is_none() && header.version() == Version::V3,
            "the number of chunks is not in the header; Bloscpack 0.16.0 decodes such a file to nothing",
        ),
    ];
    odd.iter().filter(|(is_so, _)| *is_so).map(|(_, text)| (*text).to_owned()).collect()
}

impl FirstChunk {
    fn new(chunk: &PackedChunk) -> Self {
        let header = chunk.header();
        Self {
            codec: header.codec_id().to_string(),
            filters: filter_names(&header.pipeline()),
            filters_meta: filter_metas(&header.pipeline()),
            blocksize: header.blocksize(),
        }
    }
}

impl<'a> BlpChunks<'a> {
    /// The rows, in order.
    pub(crate) fn rows(self) -> impl Iterator<Item = ChunkRow> + use<'a> {
        let file = &self.0.file;
        let nchunks = file.nchunks().unwrap_or(0);
        (0..nchunks).map(move |nchunk| match file.packed_chunk(nchunk) {
            Ok(chunk) => ChunkRow::of_header(nchunk, chunk.position(), chunk.header()),
            Err(error) => ChunkRow::bad(None, nchunk, &error.into()),
        })
    }
}

impl Serialize for BlpChunks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.rows())
    }
}

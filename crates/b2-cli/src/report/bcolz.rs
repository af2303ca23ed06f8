//! A data set of bcolz, as `b2 info` describes it: keys of schema `b2.info/1`.

use bcolz_store::verify::{Fault, Note};
use bcolz_store::{CArray, CTable, Column, DataSet, Shuffle};
use blosc_chunk::{ChunkHeader, CodecId};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::{ChunkRow, Problems, dtype_text, filter_names, noted};
use crate::{
    error::Error,
    formats::{Bcolz, bcolz},
    render::size,
};

/// The report of one data set.
#[derive(Serialize)]
#[serde(tag = "schema", rename = "b2.info/1")]
pub(crate) struct BcolzReport<'a> {
    pub(crate) path: &'a str,
    #[serde(flatten)]
    pub(crate) body: Body<'a>,
    pub(crate) file_bytes: u64,
    /// Bytes of files that nothing refers to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dead_bytes: Option<u64>,
    /// Unusual facts that do not stop a reader.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
    /// Facts that could not be read, and why.
    #[serde(skip_serializing_if = "Problems::is_empty")]
    pub(crate) problems: Problems,
    /// Whether `b2 rescue` has work to do.
    #[serde(skip)]
    pub(crate) needs_rescue: bool,
}

/// The keys of arrays, and those of tables.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Body<'a> {
    Array(Box<ArrayReport<'a>>),
    Table(TableReport<'a>),
}

/// An array, or a column of a table.
#[derive(Serialize)]
pub(crate) struct ArrayReport<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<&'a str>,
    pub(crate) format: &'static str,
    pub(crate) format_version: u8,
    pub(crate) nbytes: u64,
    pub(crate) cbytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cratio: Option<f64>,
    pub(crate) nchunks: u64,
    /// Bytes and rows of a full chunk.
    pub(crate) chunksize: u64,
    pub(crate) chunklen: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) blocksize: Option<u64>,
    pub(crate) typesize: usize,
    pub(crate) codec: String,
    pub(crate) clevel: u8,
    pub(crate) filters: Vec<String>,
    pub(crate) filters_meta: Vec<u8>,
    pub(crate) shape: &'a [u64],
    pub(crate) dtype: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dflt: Option<Value>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) attrs: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) chunks: Option<ArrayChunks<'a>>,
}

/// A table.
#[derive(Serialize)]
pub(crate) struct TableReport<'a> {
    pub(crate) format: &'static str,
    pub(crate) nbytes: u64,
    pub(crate) cbytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cratio: Option<f64>,
    pub(crate) nchunks: u64,
    pub(crate) rows: u64,
    pub(crate) columns: Vec<ArrayReport<'a>>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) attrs: Map<String, Value>,
}

/// The chunks of an array, as rows that are made while they are printed.
#[derive(Clone, Copy)]
pub(crate) struct ArrayChunks<'a>(pub(crate) &'a CArray);

impl<'a> BcolzReport<'a> {
    /// From the metadata and the headers of the chunks.
    pub(crate) fn new(path: &'a str, set: &'a Bcolz, table: bool) -> Self {
        let mut problems = Problems::default();
        let (body, notes): (_, Vec<&Note>) = match &set.set {
            DataSet::CArray(array) => {
                let report = ArrayReport::new(None, array, table, &mut problems);
                (Body::Array(Box::new(report)), array.notes().iter().collect())
            }
            DataSet::CTable(ctable) => (
                Body::Table(TableReport::new(ctable, table, &mut problems)),
                ctable.notes().collect(),
            ),
        };
        let dead = match &set.set {
            DataSet::CArray(array) => array.dead_nbytes(),
            DataSet::CTable(table) => table.dead_nbytes(),
        };
        let is_torn = notes.iter().any(|note| matches!(note.fault, Fault::ColumnLengths { .. }));
        Self {
            path,
            body,
            file_bytes: noted(&mut problems, set.file_nbytes()).unwrap_or(0),
            dead_bytes: noted(&mut problems, dead),
            warnings: notes.into_iter().map(bcolz::note).collect(),
            needs_rescue: is_torn || problems.is_damage(),
            problems,
        }
    }
}

impl<'a> TableReport<'a> {
    fn new(table: &'a CTable, chunks: bool, problems: &mut Problems) -> Self {
        let column = |Column { name, array, .. }: &'a Column| {
            let mut report = ArrayReport::new(Some(name), array, chunks, problems);
            report.name = Some(name);
            report
        };
        let columns: Vec<_> = table.columns().iter().map(column).collect();
        let sum =
            |of: fn(&ArrayReport<'_>) -> u64| columns.iter().map(of).fold(0, u64::saturating_add);
        let (nbytes, cbytes) = (sum(|column| column.nbytes), sum(|column| column.cbytes));
        Self {
            format: "ctable",
            nbytes,
            cbytes,
            cratio: size::cratio(nbytes, cbytes),
            nchunks: sum(|column| column.nchunks),
            rows: table.len(),
            attrs: noted(problems, table.attrs())
                .map(|attrs| blosc_data::json::attrs::to_map(&attrs))
                .unwrap_or_default(),
            columns,
        }
    }
}

impl<'a> ArrayReport<'a> {
    fn new(
        name: Option<&'a str>,
        array: &'a CArray,
        chunks: bool,
        problems: &mut Problems,
    ) -> Self {
        let cbytes = noted(problems, cbytes(array)).unwrap_or(0);
        let first = (array.nchunks() > 0).then(|| array.chunk_header(0).ok()).flatten();
        let attrs = noted(problems, array.attrs());
        let (codec, filters) = pipeline(array, first.as_ref());
        let nbytes = array.nbytes();
        Self {
            name,
            format: "carray",
            format_version: 1,
            nbytes,
            cbytes,
            cratio: size::cratio(nbytes, cbytes),
            nchunks: array.nchunks(),
            chunksize: array.chunklen().saturating_mul(array.rowsize() as u64),
            chunklen: array.chunklen(),
            blocksize: first.map(|header| header.blocksize() as u64),
            typesize: array.dtype().itemsize(),
            codec,
            clevel: array.cparams().clevel,
            // bcolz has no filter with a parameter.
            filters_meta: vec![0; filters.len()],
            filters,
            shape: array.shape(),
            dtype: dtype_text(array.dtype()),
            dflt: array.dflt().map(blosc_data::json::attrs::to_value),
            attrs: attrs.map(|attrs| blosc_data::json::attrs::to_map(&attrs)).unwrap_or_default(),
            chunks: chunks.then_some(ArrayChunks(array)),
        }
    }
}

/// Bytes of all chunks with their headers. The sum stops at a missing chunk, since the length may
/// be false.
fn cbytes(array: &CArray) -> bcolz_store::Result<u64> {
    (0..array.nchunks())
        .try_fold(0, |sum, nchunk| Ok(sum + array.chunk_header(nchunk)?.cbytes() as u64))
}

/// Codec and filters, from the header of the first chunk. The header does not tell LZ4 from LZ4HC.
fn pipeline(array: &CArray, first: Option<&ChunkHeader>) -> (String, Vec<String>) {
    let (cname, shuffle) = (array.cparams().cname.name(), array.cparams().shuffle);
    let filter = match shuffle {
        Shuffle::None => vec![],
        Shuffle::Byte => vec!["shuffle".to_owned()],
        Shuffle::Bit => vec!["bitshuffle".to_owned()],
    };
    let Some(header) = first else { return (cname.to_owned(), filter) };
    let named = CodecId::from_name(cname).filter(|codec| codec.format() == header.format());
    let codec = named.map_or_else(|| header.codec_id().to_string(), |_| cname.to_owned());
    (codec, filter_names(&header.pipeline()))
}

impl<'a> ArrayChunks<'a> {
    /// The rows in order. They end after some chunks that cannot be read.
    pub(crate) fn rows(self) -> impl Iterator<Item = ChunkRow> + use<'a> {
        let array = self.0;
        let mut nbad = 0;
        (0..array.nchunks()).map_while(move |nchunk| {
            (nbad < MAX_BAD).then(|| match array.chunk_header(nchunk) {
                // A chunk file of bcolz starts with a header of 16 bytes, before the chunk.
                Ok(header) => ChunkRow::of_header(nchunk, 16, &header),
                Err(error) => {
                    nbad += 1;
                    ChunkRow::bad(None, nchunk, &Error::from(error))
                }
            })
        })
    }
}

impl Serialize for ArrayChunks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.rows())
    }
}

/// Unreadable chunks that get a row.
const MAX_BAD: u32 = 100;

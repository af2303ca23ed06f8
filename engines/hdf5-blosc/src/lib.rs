//! The Blosc filters of HDF5 as functions over the chunks of a data set, and its
//! [types](datatype) in the words of NumPy.
//!
//! | filter | a stored chunk is | `client_data` (`cd_values`) |
//! |---|---|---|
//! | 32001 | a chunk of Blosc 1 | revision, version, typesize, bytes of a chunk, level, shuffle, codec |
//! | 32026 | a Blosc2 frame: an n-dimensional array, or a super-chunk of one chunk | the same, then dimensions and shape |
//!
//! [`other`] has LZF, LZ4, bitshuffle and Zstandard, which the same programs write.
//!
//! Each decoder takes the bytes of a chunk as they are stored and gives those that the filter got.
//! It takes no more memory than `max_nbytes`, or than `client_data` say if that is less.
#![cfg_attr(all(doctest, feature = "hdf5-reader"), doc = include_str!("../README.md"))]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

use std::sync::Arc;

use b2frame::nd::{NdMeta, Selection};
use b2frame::probe::{Kind, probe};
use b2frame::{FrameParams, NdArray, OpenOptions, SChunk};
use blosc_chunk::{CParams, Chunk, DParams, Limits, Scratch, Target, Threads};
use blosc_io::MemStore;

pub mod datatype;
pub mod other;

pub use blosc_chunk;

/// The filter that stores chunks of Blosc 1.
pub const FILTER_BLOSC: u16 = 32001;
/// The filter that stores Blosc2 frames.
pub const FILTER_BLOSC2: u16 = 32026;

/// Why a chunk is not decoded or encoded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A chunk of Blosc that is damaged, or of a kind that is not known.
    #[error("filter {FILTER_BLOSC}")]
    Chunk(#[from] blosc_chunk::Error),
    /// A frame that is damaged.
    #[error("filter {FILTER_BLOSC2}")]
    Frame(#[from] b2frame::Error),
    /// More data than the data set has room for.
    #[error("a chunk of {nbytes} bytes of data, of which {max_nbytes} are allowed")]
    TooLong {
        /// The size in the chunk.
        nbytes: u64,
        /// The limit.
        max_nbytes: u64,
    },
    /// A stream of another filter that is damaged.
    #[error("filter {filter}")]
    Codec {
        /// The number of the filter.
        filter: u16,
        /// The fault.
        source: blosc_codecs::Error,
    },
    /// A chunk of another filter that is damaged.
    #[error("filter {filter}: {what}")]
    Other {
        /// The number of the filter.
        filter: u16,
        /// The fault.
        what: &'static str,
    },
    /// Bytes that are neither a frame nor a chunk.
    #[error("neither a Blosc2 frame nor a chunk")]
    Unknown,
}

/// The result of this crate.
pub type Result<T> = core::result::Result<T, Error>;

/// The least of what the caller allows and what the filter's parameters say.
fn limit(client_data: &[u32], max_nbytes: u64) -> u64 {
    match client_data.get(3) {
        Some(0) | None => max_nbytes,
        Some(nbytes) => max_nbytes.min(u64::from(*nbytes)),
    }
}

fn check(nbytes: u64, max_nbytes: u64) -> Result<()> {
    if nbytes > max_nbytes { Err(Error::TooLong { nbytes, max_nbytes }) } else { Ok(()) }
}

fn dparams(max_nbytes: u64) -> DParams {
    DParams::default().threads(Threads::One).limits(Limits::none().max_nbytes(max_nbytes))
}

/// Decodes a chunk that filter 32001 stored: a chunk of Blosc 1.
///
/// ```
/// let params = hdf5_blosc::blosc_chunk::CParams::default().typesize(4);
/// let data = [1, 0, 0, 0].repeat(1000);
/// let (stored, client_data) = hdf5_blosc::encode_32001(&data, params)?;
/// assert_eq!(hdf5_blosc::decode_32001(&stored, &client_data, 4000)?, data);
/// # Ok::<(), hdf5_blosc::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Chunk`], [`Error::TooLong`].
pub fn decode_32001(stored: &[u8], client_data: &[u32], max_nbytes: u64) -> Result<Vec<u8>> {
    let max_nbytes = limit(client_data, max_nbytes);
    let chunk = Chunk::parse(stored)?;
    check(chunk.header().nbytes() as u64, max_nbytes)?;
    let mut data = vec![0; chunk.header().nbytes()];
    chunk.decode_into(&mut data, &mut Scratch::new(&dparams(max_nbytes)))?;
    Ok(data)
}

/// Decodes a chunk that filter 32026 stored: the items of an n-dimensional array in C order, or the
/// content of a super-chunk; some writers store a bare chunk.
///
/// # Errors
///
/// [`Error::Frame`], [`Error::Chunk`], [`Error::TooLong`], [`Error::Unknown`].
pub fn decode_32026(stored: &[u8], client_data: &[u32], max_nbytes: u64) -> Result<Vec<u8>> {
    let max_nbytes = limit(client_data, max_nbytes);
    match probe(stored) {
        Kind::Frame | Kind::OlderFrame => {}
        Kind::Chunk => return decode_32001(stored, client_data, max_nbytes),
        _ => return Err(Error::Unknown),
    }
    // The padding of an array is decoded as well, a block at a time.
    let options =
        OpenOptions::default().dparams(dparams(max_nbytes.saturating_mul(4).max(1 << 20)));
    let schunk = SChunk::from_store_with(Arc::new(MemStore::new(stored.to_vec())), &options)?;
    if schunk.meta().get(NdMeta::NAME).is_some() {
        let array = NdArray::from_schunk(schunk)?;
        let itemsize = array.dtype().itemsize() as u64;
        check(array.nitems().saturating_mul(itemsize), max_nbytes)?;
        return Ok(array.to_bytes(Selection::ALL)?);
    }
    check(schunk.nbytes(), max_nbytes)?;
    let mut data = vec![0; usize::try_from(schunk.nbytes()).unwrap_or(usize::MAX)];
    schunk.read_bytes(0, &mut data)?;
    Ok(data)
}

/// Encodes a chunk as filter 32001 does. Gives the bytes to store and the filter's parameters.
///
/// # Errors
///
/// [`Error::Chunk`] for parameters that make no sense.
pub fn encode_32001(data: &[u8], params: CParams) -> Result<(Vec<u8>, [u32; 7])> {
    let params = params.target(Target::Blosc1_14);
    let client_data = client_data([2, 2], data.len(), &params);
    Ok((blosc_chunk::compress(data, &params)?, client_data))
}

/// Encodes a chunk of a data set as filter 32026 does for one dimension: a frame of one chunk.
/// Gives the bytes to store and the filter's parameters.
///
/// # Errors
///
/// [`Error::Frame`] for parameters that make no sense.
pub fn encode_32026(data: &[u8], params: CParams) -> Result<(Vec<u8>, [u32; 7])> {
    let client_data = client_data([1, 0], data.len(), &params);
    let frame =
        FrameParams::new(params).chunksize(data.len().max(1)).checksums(b2frame::Checksums::None);
    Ok((b2frame::to_cframe(data, &frame)?, client_data))
}

fn client_data(version: [u32; 2], nbytes: usize, params: &CParams) -> [u32; 7] {
    let [revision, format] = version;
    let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let filters = params.filters.ids();
    let shuffle = filters.iter().copied().find(|id| *id != 0).unwrap_or(0);
    let level = params.clevel.get();
    let codec = params.codec.0;
    let (typesize, nbytes) = (narrow(params.typesize), narrow(nbytes));
    [revision, format, typesize, nbytes, level.into(), shuffle.into(), codec.into()]
}

/// Gives the reader both filters, and those of [`other`].
#[cfg(feature = "hdf5-reader")]
pub fn register(registry: &mut hdf5_reader::FilterRegistry) {
    type Decode = fn(&[u8], &[u32], u64) -> Result<Vec<u8>>;
    let filters: [(u16, Decode); 6] = [
        (FILTER_BLOSC, decode_32001),
        (FILTER_BLOSC2, decode_32026),
        (other::FILTER_LZF, other::decode_lzf),
        (other::FILTER_LZ4, other::decode_lz4),
        (other::FILTER_BITSHUFFLE, other::decode_bitshuffle),
        (other::FILTER_ZSTD, other::decode_zstd),
    ];
    for (id, decode) in filters {
        let filter =
            move |description: &hdf5_reader::messages::filter_pipeline::FilterDescription,
                  stored: &[u8],
                  _: usize| {
                // The reader gives filters of others no limit: they have that of their parameters.
                decode(stored, &description.client_data, MAX_CHUNK_NBYTES)
                    .map_err(|error| hdf5_reader::error::Error::FilterError(chain(&error)))
            };
        registry.register(id, Box::new(filter));
    }
}

/// The largest chunk of HDF5 (bytes).
#[cfg(feature = "hdf5-reader")]
const MAX_CHUNK_NBYTES: u64 = u32::MAX as u64;

/// An error and its causes in one line.
#[cfg(feature = "hdf5-reader")]
fn chain(error: &dyn core::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let link = error.to_string();
        if !text.ends_with(&link) {
            text = format!("{text}: {link}");
        }
        cause = error.source();
    }
    text
}

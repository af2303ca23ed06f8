//! One chunk file: 16 bytes of Bloscpack version 1, then one Blosc 1 chunk ("Chunk files").

use blosc_chunk::ChunkHeader;
use blosc_container::{
    buffer::resized,
    chunk_reader::{ChunkReader, ReadError},
};
use blosc_io::ReadAt;

use crate::error::{Corrupt, Error, Result};
use crate::files;
use crate::tree::Tree;

/// Bytes that the first read of a file takes: mostly enough to hold the block starts.
const HEAD_NBYTES: usize = 2048;

/// The first bytes of every chunk file: magic, version 1, three zeros, one chunk.
pub(crate) const PREAMBLE: [u8; 16] = *b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0";

/// An opened chunk file whose headers agree with each other, with the length of the file and with
/// the array.
pub(crate) struct ChunkFile {
    pub(crate) header: ChunkHeader,
    file: Box<dyn ReadAt>,
    path: String,
    nchunk: u64,
    /// The first bytes of the chunk.
    head: Vec<u8>,
}

/// The properties that a chunk must have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected {
    pub(crate) nchunk: u64,
    /// Fewest and most bytes of data.
    pub(crate) nbytes: (u64, u64),
    pub(crate) rowsize: u64,
    /// The most bytes of data that the caller accepts.
    pub(crate) limit: u64,
}

impl ChunkFile {
    pub(crate) fn open(tree: &dyn Tree, path: String, expected: Expected) -> Result<Self> {
        let file = open(tree, &path)?;
        Self::parse(file, path, expected)
    }

    /// Parses a chunk file that is already open.
    pub(crate) fn parse(file: Box<dyn ReadAt>, path: String, expected: Expected) -> Result<Self> {
        let len = file.len().map_err(|source| Error::io(&path, source))?;
        let needed = PREAMBLE.len().saturating_add(ChunkHeader::MIN_LEN) as u64;
        if len < needed {
            return Err(Error::corrupt(path, Corrupt::Truncated { len, needed }));
        }
        let mut head = [0; HEAD_NBYTES];
        let head_len = usize::try_from(len).unwrap_or(HEAD_NBYTES).min(HEAD_NBYTES);
        let head = head.get_mut(..head_len).unwrap_or_default();
        file.read_exact_at(0, head).map_err(|source| Error::io(&path, source))?;
        let (preamble, chunk) = head.split_at(PREAMBLE.len());
        check_preamble(preamble).map_err(|what| Error::corrupt(&path, what))?;
        let header = parse_header(chunk, len, expected, &path)?;
        Ok(Self { header, file, path, nchunk: expected.nchunk, head: chunk.to_vec() })
    }

    /// Reads parts of the chunk, or all of it; `buffer` only grows.
    pub(crate) fn reader<'a>(&'a self, buffer: &'a mut Vec<u8>) -> ChunkReader<'a> {
        let head_len = self.head.len();
        resized(buffer, head_len).copy_from_slice(&self.head);
        let at = PREAMBLE.len() as u64;
        ChunkReader::with_header(&*self.file, at, self.header, buffer, head_len)
    }

    /// The error of reading the chunk.
    pub(crate) fn error(&self, error: ReadError) -> Error {
        match error {
            ReadError::Io { source, .. } => Error::io(&self.path, source),
            ReadError::Chunk(source) => {
                Error::Chunk { path: self.path.clone(), nchunk: self.nchunk, source }
            }
        }
    }

    /// Its path in the tree.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// The number of the chunk.
    pub(crate) fn nchunk(&self) -> u64 {
        self.nchunk
    }

    /// The file, preamble included.
    pub(crate) fn into_file(self) -> Box<dyn ReadAt> {
        self.file
    }
}

/// Opens the file at `path`.
pub(crate) fn open(tree: &dyn Tree, path: &str) -> Result<Box<dyn ReadAt>> {
    tree.open(path).map_err(|error| files::open_error(path, error))
}

fn check_preamble(bytes: &[u8]) -> Result<(), Corrupt> {
    let Ok(bytes) = <[u8; 16]>::try_from(bytes) else { return Ok(()) };
    let [m0, m1, m2, m3, version, r0, r1, r2, count @ ..] = bytes;
    let (found, reserved) = ([m0, m1, m2, m3], [r0, r1, r2]);
    match i64::from_le_bytes(count) {
        _ if found != *b"blpk" => Err(Corrupt::Magic { found }),
        _ if version != 1 => Err(Corrupt::Version { found: version }),
        _ if reserved != [0; 3] => Err(Corrupt::Reserved { found: reserved }),
        1 => Ok(()),
        found => Err(Corrupt::ChunkCount { found }),
    }
}

fn parse_header(bytes: &[u8], len: u64, expected: Expected, path: &str) -> Result<ChunkHeader> {
    if let [version @ 3..=6, ..] = *bytes {
        return Err(Error::corrupt(path, Corrupt::ChunkVersion { version }));
    }
    let header =
        ChunkHeader::parse(bytes).map_err(|source| impossible(bytes, expected, path, source))?;
    let end = PREAMBLE.len().saturating_add(header.cbytes()) as u64;
    if len != end {
        let what = if len < end {
            Corrupt::Truncated { len, needed: end }
        } else {
            Corrupt::Trailing { len, end }
        };
        return Err(Error::corrupt(path, what));
    }
    let nbytes = header.nbytes() as u64;
    if let Some(what) = expected.size_fault(nbytes) {
        return Err(Error::corrupt(path, what));
    }
    if nbytes > expected.limit {
        return Err(Error::Limit { path: path.to_owned(), needed: nbytes, limit: expected.limit });
    }
    Ok(header)
}

/// The error for a header that no chunk can have. A size that is wrong here as well makes the
/// clearer message.
fn impossible(bytes: &[u8], expected: Expected, path: &str, source: blosc_chunk::Error) -> Error {
    if let [_, _, _, _, a, b, c, d, ..] = *bytes
        && let Some(what) = expected.size_fault(u32::from_le_bytes([a, b, c, d]).into())
    {
        return Error::corrupt(path, what);
    }
    Error::Chunk { path: path.to_owned(), nchunk: expected.nchunk, source }
}

impl Expected {
    /// The fault of a number of data bytes, if any.
    fn size_fault(&self, nbytes: u64) -> Option<Corrupt> {
        let ((min, max), rowsize) = (self.nbytes, self.rowsize);
        let fits = (min..=max).contains(&nbytes) && nbytes.is_multiple_of(rowsize.max(1));
        (!fits).then_some(Corrupt::ChunkSize { nbytes, min, max, rowsize })
    }
}

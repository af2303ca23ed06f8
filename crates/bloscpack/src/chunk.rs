//! One chunk of a file with its digest, still packed ("Chunks" in the format document).

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "lengths are those of a checked header"
)]

use std::io::Read;

use blosc_chunk::ChunkHeader;

use crate::checksum::Digest;
use crate::error::Bounded;
use crate::input::Input;
use crate::{Checksum, Corrupt, Error, Header, Mismatch, Part, Result};

/// The version of the chunk format of all Blosc 1 releases, and the only one in `.blp` files.
pub(crate) const CHUNK_VERSION: u8 = 2;

/// A chunk as it stands in the file: header, body and digest.
#[derive(Clone, Debug, PartialEq)]
pub struct PackedChunk {
    nchunk: u64,
    at: u64,
    header: ChunkHeader,
    bytes: Vec<u8>,
    digest: Digest,
}

impl PackedChunk {
    /// A new chunk, at a position in a file.
    pub(crate) fn new(nchunk: u64, at: u64, bytes: Vec<u8>, checksum: Checksum) -> Result<Self> {
        let parsed = ChunkHeader::parse(&bytes);
        let header = parsed.map_err(|source| Error::Chunk { nchunk, at, source })?;
        let digest = checksum.digest(&bytes);
        Ok(Self { nchunk, at, header, bytes, digest })
    }

    /// The number of the chunk, from 0.
    #[must_use]
    pub const fn nchunk(&self) -> u64 {
        self.nchunk
    }

    /// Position of the chunk (bytes from the start of the file).
    #[must_use]
    pub const fn position(&self) -> u64 {
        self.at
    }

    /// The chunk's own header.
    #[must_use]
    pub const fn header(&self) -> &ChunkHeader {
        &self.header
    }

    /// The chunk, header included: a complete Blosc 1 buffer.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The chunk, without a copy.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The digest as it is stored.
    #[must_use]
    pub const fn digest(&self) -> &Digest {
        &self.digest
    }

    /// Position of the next chunk (bytes from the start of the file).
    #[must_use]
    pub fn end(&self) -> u64 {
        self.at
            .saturating_add(self.bytes.len() as u64)
            .saturating_add(self.digest.as_bytes().len() as u64)
    }

    /// Checks that the digest is that of the bytes.
    pub(crate) fn check_digest(&self, checksum: Checksum) -> Result<()> {
        if checksum.digest(&self.bytes) == self.digest {
            return Ok(());
        }
        Err(Error::corrupt(self.at, Corrupt::Digest { nchunk: self.nchunk, checksum }))
    }
}

/// The properties that the file requires of a chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected<'a> {
    pub(crate) nchunk: u64,
    pub(crate) header: &'a Header,
    pub(crate) limits: &'a blosc_chunk::Limits,
    pub(crate) mismatch: &'a Mismatch,
}

impl Expected<'_> {
    /// Checks that this can be the header of the chunk, which begins at byte `at`.
    pub(crate) fn check(&self, header: &ChunkHeader, at: u64) -> Result<()> {
        if header.version() > CHUNK_VERSION {
            let (nchunk, version) = (self.nchunk, header.version());
            return Err(Error::corrupt(at, Corrupt::ChunkVersion { nchunk, version }));
        }
        self.header
            .check_nbytes(self.nchunk, nbytes(header))
            .map_err(|what| Error::corrupt(at, what))?;
        let (needed, limit) = (header.nbytes() as u64, self.limits.max_nbytes);
        if needed > limit {
            return Err(Error::Limit { what: Bounded::Chunk, needed, limit });
        }
        Ok(())
    }
}

/// Reads the header of the chunk that begins here; `None` at the end of the file.
pub(crate) fn read_header<R: Read>(
    input: &mut Input<R>,
    expected: Expected<'_>,
) -> Result<Option<(ChunkHeader, [u8; ChunkHeader::MIN_LEN])>> {
    let at = input.position();
    let mut bytes = [0; ChunkHeader::MIN_LEN];
    let left = input.up_to(&mut bytes)? as u64;
    if left == 0 {
        return Ok(None);
    }
    if left < bytes.len() as u64 {
        return Err(crate::input::truncated(at, Part::ChunkHeader, bytes.len() as u64, left));
    }
    let header = parse_header(&bytes, expected.nchunk, at)?;
    expected.check(&header, at)?;
    let rest = (header.cbytes() - bytes.len()) as u64;
    input.check(Part::Chunk, rest)?;
    Ok(Some((header, bytes)))
}

/// Reads the chunk that begins here, and checks its digest; `None` at the end of the file.
pub(crate) fn read_chunk<R: Read>(
    input: &mut Input<R>,
    expected: Expected<'_>,
) -> Result<Option<PackedChunk>> {
    read_chunk_to(vec![], input, expected)
}

/// As [`read_chunk`], into a buffer left from another chunk.
pub(crate) fn read_chunk_to<R: Read>(
    mut bytes: Vec<u8>,
    input: &mut Input<R>,
    expected: Expected<'_>,
) -> Result<Option<PackedChunk>> {
    let at = input.position();
    let Some((header, first)) = read_header(input, expected)? else { return Ok(None) };
    let rest = (header.cbytes() - first.len()) as u64;
    input.append_to(Part::Chunk, &first, rest, &mut bytes)?;
    let mut digest = [0; Digest::MAX_LEN];
    let digest = &mut digest[..expected.header.checksum.digest_len()];
    input.exact(Part::Digest, digest)?;
    let chunk =
        PackedChunk { nchunk: expected.nchunk, at, header, bytes, digest: Digest::new(digest) };
    if expected.mismatch.is_compared()
        && let Err(error) = chunk.check_digest(expected.header.checksum)
    {
        expected.mismatch.found(error)?;
    }
    Ok(Some(chunk))
}

/// A chunk's header, if it is one of Blosc 1.
pub(crate) fn parse_header(
    bytes: &[u8; ChunkHeader::MIN_LEN],
    nchunk: u64,
    at: u64,
) -> Result<ChunkHeader> {
    if let [version @ 3..=6, ..] = *bytes {
        return Err(Error::corrupt(at, Corrupt::ChunkVersion { nchunk, version }));
    }
    ChunkHeader::parse(bytes).map_err(|source| Error::Chunk { nchunk, at, source })
}

/// Data of a chunk (bytes).
pub(crate) fn nbytes(header: &ChunkHeader) -> u32 {
    // A chunk header holds 31 bits.
    u32::try_from(header.nbytes()).unwrap_or(u32::MAX)
}

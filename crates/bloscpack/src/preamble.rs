//! The parts before the chunks: header, metadata and offsets.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "positions are sums of checked lengths"
)]

use std::io::Read;

use crate::input::Input;
use crate::metadata::MetadataHeader;
use crate::{Header, Metadata, Offsets, Part, RcHeader, ReadOptions, Result, offsets};

/// The parts before the chunks, checked as far as possible without the chunks.
#[derive(Clone, Debug)]
pub(crate) struct Preamble {
    pub(crate) header: Header,
    /// Present even if the metadata are skipped.
    pub(crate) metadata_header: Option<MetadataHeader>,
    pub(crate) metadata: Option<Metadata>,
    pub(crate) offsets: Option<Offsets>,
    /// The start of the first chunk.
    pub(crate) chunks_at: u64,
}

impl Preamble {
    pub(crate) fn read<R: Read>(input: &mut Input<R>, options: &ReadOptions) -> Result<Self> {
        let header = read_header(input, options.rc_header)?;
        let (mut metadata_header, mut metadata, mut offsets) = (None, None, None);
        if header.metadata {
            let (read_header, read) = Metadata::read(input, &options.limits, options.metadata)?;
            (metadata_header, metadata) = (Some(read_header), read);
        }
        if header.offsets {
            offsets = Some(Offsets::read(input, &header, &options.limits, options.offsets)?);
        }
        Ok(Self { header, metadata_header, metadata, offsets, chunks_at: input.position() })
    }

    /// Position of the offsets section, or of the place for one.
    pub(crate) fn offsets_at(&self) -> u64 {
        self.chunks_at.saturating_sub(offsets::section_len(&self.header).unwrap_or(0))
    }

    /// The position of a chunk by the offsets.
    pub(crate) fn position(&self, nchunk: u64) -> Option<u64> {
        let positions = self.offsets.as_ref()?.positions()?;
        positions.get(usize::try_from(nchunk).ok()?).copied()
    }

    /// The least bytes of a chunk and its digest.
    pub(crate) fn min_chunk_len(&self) -> u64 {
        16 + self.header.checksum.digest_len() as u64
    }
}

fn read_header<R: Read>(input: &mut Input<R>, rc_header: RcHeader) -> Result<Header> {
    let mut bytes = [0; Header::MAX_LEN];
    let mut len = input.up_to(&mut bytes[..Header::PREFIX_LEN])?;
    if rc_header == RcHeader::Assume {
        return Header::parse_rc(&bytes[..len]);
    }
    let version = Header::version_of(&bytes[..len])?;
    len += input.up_to(&mut bytes[len..version.header_len()])?;
    Header::parse(&bytes[..len])
}

impl<R: Read> Input<R> {
    /// Checks that the header's number of chunks fits into the file.
    pub(crate) fn check_chunks(&self, preamble: &Preamble) -> Result<()> {
        let nchunks = preamble.header.nchunks.unwrap_or(0);
        self.check(Part::Chunk, nchunks.saturating_mul(preamble.min_chunk_len()))
    }
}

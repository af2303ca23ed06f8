//! The decisions before the first block: the header, the blocks, and whether to compress.

use std::sync::Arc;

use blosc_codecs::FormatId;
use blosc_filters::FilterId;

use crate::blocksize::{blocksize, is_split};
use crate::error::{Error, Param, Result};
use crate::flags::{Blosc2Flags, Blosc2Flags2, Flags};
use crate::header::{ChunkHeader, MIN_BUFFER_1, MIN_BUFFER_2, field};
use crate::layout::{Grid, MAX_DICT_NBYTES};
use crate::params::{CParams, Target};
use crate::raw::{RawExtension, RawHeader};
use crate::special::SpecialKind;

/// The header without the final size, and the sizes of the blocks.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) header: ChunkHeader,
    pub(super) grid: Grid,
    /// Number of streams of a full block.
    nstreams: usize,
    /// The dictionary of all streams.
    pub(super) dict: Option<Arc<[u8]>>,
}

impl Plan {
    /// Plans a chunk for `nbytes` bytes of data and a destination of `room` bytes.
    pub(super) fn new(params: &CParams, nbytes: usize, room: usize) -> Result<Self> {
        let header_len =
            if params.target.is_blosc1() { ChunkHeader::MIN_LEN } else { ChunkHeader::MAX_LEN };
        let max = i32::MAX as usize - header_len;
        let too_long = Error::Param(Param::Nbytes { nbytes, max });
        let size = u32::try_from(nbytes).ok().filter(|_| nbytes <= max).ok_or(too_long)?;
        let blocksize = if nbytes == 0 { 1 } else { blocksize(params, nbytes) };
        let grid = Grid::new(nbytes, blocksize);
        let split = is_split(params, blocksize);
        let header = header(params, size, blocksize, split);
        let table = header_len + 4 * grid.nblocks;
        let stored = is_stored(params, &grid) || table > room.min(nbytes + header_len);
        let nstreams = if split { header.typesize() } else { 1 };
        Ok(Self {
            header: if stored { stored_header(header) } else { header },
            grid,
            nstreams,
            dict: None,
        })
    }

    /// Plans a VL-block chunk.
    pub(super) fn new_vl(params: &CParams, blocks: &[&[u8]]) -> Result<Self> {
        if params.target < Target::Blosc3_0 {
            let target = params.target;
            return Err(Error::Param(Param::ForTarget { what: "VL-blocks", target }));
        }
        if let Some(nblock) = blocks.iter().position(|block| block.is_empty()) {
            return Err(Error::Param(Param::EmptyBlock { nblock }));
        }
        let nbytes = blocks.iter().fold(0usize, |sum, block| sum.saturating_add(block.len()));
        let nblocks = blocks.len();
        let cbytes =
            nblocks.saturating_mul(8).saturating_add(ChunkHeader::MAX_LEN + 4 + MAX_DICT_NBYTES);
        let max = (i32::MAX as usize).saturating_sub(cbytes);
        match u32::try_from(nbytes) {
            _ if nblocks == 0 => Err(Error::Param(Param::NoBlocks)),
            Ok(size) if nbytes <= max => Ok(Self::vl(params, size, nblocks)),
            _ => Err(Error::Param(Param::Nbytes { nbytes, max })),
        }
    }

    fn vl(params: &CParams, nbytes: u32, nblocks: usize) -> Self {
        let header = header(params, nbytes, nblocks, false).with_version(6);
        let extension = RawExtension { blosc2_flags2: Blosc2Flags2::VL, ..*header.extension() };
        let header = header.with_extension(extension);
        let blocksize = nbytes as usize;
        Self {
            header,
            grid: Grid { nbytes: blocksize, blocksize, nblocks },
            nstreams: 1,
            dict: None,
        }
    }

    /// The same with a dictionary for all streams.
    pub(super) fn with_dict(mut self, dict: Option<Arc<[u8]>>) -> Self {
        if dict.is_some() {
            let flags = self.header.blosc2_flags().with(Blosc2Flags::DICT);
            self.header = self.header.with_blosc2_flags(flags);
        }
        self.dict = dict;
        self
    }

    /// Where the blocks begin.
    pub(super) fn table_end(&self) -> usize {
        self.dict_start() + self.dict.as_ref().map_or(0, |dict| 4 + dict.len())
    }

    /// Start of the dictionary, if there is one.
    fn dict_start(&self) -> usize {
        self.header.header_len() + 4 * self.grid.nblocks
    }

    /// Writes the dictionary; `dest` reaches to the blocks at least.
    pub(super) fn write_dict(&self, dest: &mut [u8]) {
        let Some(dict) = &self.dict else { return };
        let section = &mut dest[self.dict_start()..self.table_end()];
        section[..4].copy_from_slice(&field(dict.len()).to_le_bytes());
        section[4..].copy_from_slice(dict);
    }

    /// The forms that streams of the chunk can have.
    pub(super) fn form(&self) -> Form {
        match self.header.is_extended() {
            false => Form::Blosc1,
            true if self.header.is_vl() => Form::Vl,
            true => Form::Blosc2,
        }
    }

    /// Number of streams of a block of `nbytes` bytes.
    pub(super) fn nstreams(&self, nbytes: usize) -> usize {
        if nbytes < self.grid.blocksize { 1 } else { self.nstreams }
    }

    /// Number of streams of all blocks.
    pub(super) fn all_streams(&self) -> usize {
        let full = self.grid.nbytes / self.grid.blocksize;
        full * self.nstreams + (self.grid.nblocks - full)
    }

    /// The header of the chunk, once its size is known.
    pub(super) fn finish(&self, cbytes: usize) -> ChunkHeader {
        self.header.with_cbytes(cbytes)
    }

    /// The header of a chunk whose streams are all runs of zeros.
    pub(super) fn zeros(&self) -> ChunkHeader {
        let special = SpecialKind::Zeros.code() << 4;
        let flags = self.header.blosc2_flags().without(Blosc2Flags::DICT).with(special);
        self.finish(ChunkHeader::MAX_LEN).with_blosc2_flags(flags)
    }

    /// The header of a chunk that did not get smaller.
    pub(super) fn memcpyed(&self) -> ChunkHeader {
        memcpyed(self.header, self.header.flags().with(Flags::MEMCPYED))
    }
}

/// How streams are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A size, and stored or coded bytes.
    Blosc1,
    /// The same, or a run.
    Blosc2,
    /// The size of the data, and stored or coded bytes.
    Vl,
}

/// Whether the data are stored without compressing: data that are too short, and data that some
/// reader of Blosc 1 would damage. C-Blosc before 1.18 and C-Blosc2 forget the cut item at the end
/// of a bit-shuffled block, if a multiple of 8 items precedes it.
fn is_stored(params: &CParams, grid: &Grid) -> bool {
    let blosc1 = params.target.is_blosc1();
    let min = if blosc1 { MIN_BUFFER_1 } else { MIN_BUFFER_2 };
    if params.clevel.get() == 0 || grid.nbytes < min {
        return true;
    }
    let (last, typesize) =
        (grid.range(grid.nblocks - 1).len(), usize::from(params.stored_typesize()));
    let forgets = last % typesize != 0 && (last / typesize).is_multiple_of(8);
    blosc1 && forgets && params.filters.contains(FilterId::BITSHUFFLE)
}

/// The header of a chunk that is stored without compressing: C-Blosc2 clears the other flags then,
/// C-Blosc does not.
fn stored_header(header: ChunkHeader) -> ChunkHeader {
    if header.is_extended() {
        memcpyed(header, Flags(Flags::EXTENDED | Flags::MEMCPYED))
    } else {
        memcpyed(header, header.flags().with(Flags::MEMCPYED))
    }
}

fn memcpyed(header: ChunkHeader, flags: Flags) -> ChunkHeader {
    let blosc2_flags = header.blosc2_flags().without(Blosc2Flags::DICT);
    let cbytes = header.header_len() + header.nbytes();
    header.with_flags(flags).with_blosc2_flags(blosc2_flags).with_cbytes(cbytes)
}

fn header(params: &CParams, nbytes: u32, blocksize: usize, split: bool) -> ChunkHeader {
    let blosc1 = params.target.is_blosc1();
    let raw = RawHeader {
        version: if blosc1 { 2 } else { 5 },
        versionlz: 1,
        flags: flags(params, split).0,
        typesize: params.stored_typesize().max(1),
        nbytes: field(nbytes as usize).into(),
        blocksize: field(blocksize.max(1)).into(),
        cbytes: 0.into(),
    };
    ChunkHeader::new(raw, if blosc1 { RawExtension::NONE } else { extension(params) })
}

fn flags(params: &CParams, split: bool) -> Flags {
    let bit = |id, bit| if params.filters.contains(id) { bit } else { 0 };
    let filters = if params.target.is_blosc1() {
        bit(FilterId::SHUFFLE, Flags::SHUFFLE) | bit(FilterId::BITSHUFFLE, Flags::BITSHUFFLE)
    } else {
        Flags::EXTENDED | bit(FilterId::DELTA, Flags::DELTA)
    };
    let unsplit = if split { 0 } else { Flags::UNSPLIT };
    let FormatId(format) = params.codec.format();
    Flags(filters | unsplit).with_format(FormatId(format))
}

fn extension(params: &CParams) -> RawExtension {
    let CParams { codec, codec_meta, filters, .. } = params;
    let codec = RawExtension { udcodec: codec.0, compcode_meta: *codec_meta, ..RawExtension::NONE };
    codec.with_pipeline(*filters)
}

//! Rescuing a chunk without a container: every block that decodes keeps its position.

use blosc_chunk::{
    CParams, Chunk, ChunkHeader, CodecId, DParams, Encoder, Pipeline, Registries, Scratch, Target,
};

use super::blocks::{self, Blocks};
use super::{ChunkState, Fill, RescueOptions};

/// The rescued parts of a damaged chunk.
#[derive(Clone, Debug)]
pub struct ChunkSalvage {
    /// The state of each block of the damaged chunk, including blocks that were cut out. A chunk
    /// without blocks counts as one block; an uncompressed one has the blocks that compressing
    /// would make.
    pub blocks: Vec<ChunkState>,
    /// Damage outside of the blocks.
    pub damage: Vec<ChunkDamage>,
    /// Bytes of fill in the data.
    pub filled: u64,
    header: ChunkHeader,
    registries: Registries,
    data: Vec<u8>,
    /// The ends of the remaining blocks in the data.
    ends: Vec<usize>,
}

/// A part of a chunk, other than a block, that was damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChunkDamage {
    /// The header states another length than the chunk has.
    #[error("the header says {stated} bytes, there are {found}")]
    Length {
        /// The stated length (bytes).
        stated: u64,
        /// The actual length (bytes).
        found: u64,
    },
    /// A bit of the header is wrong: with the bit changed, everything is readable.
    #[error(
        "the header is damaged: all can be read if its byte {at} is {taken:#04x} instead \
         of {found:#04x}"
    )]
    Header {
        /// The position of its byte.
        at: usize,
        /// That byte as found.
        found: u8,
        /// The byte that rescuing assumed.
        taken: u8,
    },
}

/// The reason why a chunk cannot be rescued.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChunkError {
    /// There is no header, or the error is not damage: an unknown codec, a limit.
    #[error(transparent)]
    Chunk(#[from] blosc_chunk::Error),
    /// The fill does not suit the items.
    #[error("the fill has {found} bytes, an item {typesize}")]
    Fill {
        /// Bytes of the fill; 0 if no item of this size can be NaN.
        found: usize,
        /// Bytes of an item.
        typesize: usize,
    },
}

impl ChunkSalvage {
    /// Reads all readable blocks of the chunk in `bytes`.
    ///
    /// The header determines the blocks. If not all blocks are readable by it, or bytes are left
    /// over, each of its bits is tried with the opposite value, and changed if the whole chunk is
    /// then sound. More than one wrong bit cannot be corrected.
    ///
    /// ```
    /// use blosc_chunk::{CParams, DParams, compress, decompress};
    /// use blosc_container::rescue::{ChunkSalvage, ChunkState, RescueOptions};
    ///
    /// let data: Vec<u8> = (0..10_000_u32).flat_map(|n| (n * n).to_le_bytes()).collect();
    /// let mut chunk = compress(&data, &CParams::default().typesize(4).blocksize(Some(8000)))?;
    /// chunk.truncate(chunk.len() - 10);
    /// let options = RescueOptions::default();
    /// let saved = ChunkSalvage::from_bytes(&chunk, &DParams::default(), &options)?;
    /// assert_eq!((saved.count(ChunkState::Good), saved.count(ChunkState::Lost)), (4, 1));
    /// assert_eq!(decompress(&saved.to_chunk()?)?[..32_000], data[..32_000]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ChunkError::Chunk`] if there is no header, for unknown codecs and filters, and for limits;
    /// [`ChunkError::Fill`].
    pub fn from_bytes(
        bytes: &[u8],
        dparams: &DParams,
        rescue: &RescueOptions,
    ) -> Result<Self, ChunkError> {
        let mut scratch = Scratch::new(dparams);
        let read =
            ChunkHeader::parse(bytes).and_then(|header| read_by(bytes, header, &mut scratch));
        let mut damage = vec![];
        let read = match read {
            Ok(read) if read.is_sound() => read,
            Err(error @ blosc_chunk::Error::Limit { .. }) => return Err(error.into()),
            nothing => match with_one_bit(bytes, &mut scratch) {
                Some((what, read)) => {
                    damage.push(what);
                    read
                }
                None => nothing?,
            },
        };
        let Read { header, blocks, len } = read;
        if len != header.cbytes() || bytes.len() != len {
            let (stated, found) = (header.cbytes() as u64, bytes.len() as u64);
            damage.push(ChunkDamage::Length { stated, found });
        }
        let registries = dparams.registries.clone();
        Self { blocks: vec![], damage, filled: 0, header, registries, data: vec![], ends: vec![] }
            .take_blocks(blocks, &rescue.fill)
    }

    /// Takes the blocks, and fills the lost ones or cuts them out.
    fn take_blocks(mut self, blocks: Blocks, fill: &Fill) -> Result<Self, ChunkError> {
        let Blocks { data, found, .. } = blocks;
        self.blocks = found.iter().map(|(_, state)| *state).collect();
        let typesize = self.header.typesize();
        let item = match fill {
            // Items that are too wide for the header have typesize 1.
            Fill::Value(item) if typesize == 1 && !item.is_empty() => Some(item.clone()),
            fill => fill.item(typesize),
        };
        for (range, state) in found {
            if state != ChunkState::Lost {
                self.data.extend_from_slice(data.get(range).unwrap_or_default());
            } else if *fill == Fill::Cut {
                continue;
            } else {
                let item = item.as_ref().ok_or(ChunkError::Fill { found: fill.len(), typesize })?;
                let skipped = range.start.checked_rem(item.len()).unwrap_or(0);
                self.data.extend(item.iter().cycle().skip(skipped).take(range.len()));
                self.filled = self.filled.saturating_add(range.len() as u64);
            }
            self.ends.push(self.data.len());
        }
        Ok(self)
    }

    /// Whether nothing was damaged.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.damage.is_empty() && self.blocks.iter().all(|state| *state == ChunkState::Good)
    }

    /// Number of blocks in this state.
    #[must_use]
    pub fn count(&self, state: ChunkState) -> u64 {
        self.blocks.iter().filter(|found| **found == state).count() as u64
    }

    /// The header of the damaged chunk, after any correction.
    #[must_use]
    pub fn header(&self) -> &ChunkHeader {
        &self.header
    }

    /// The data, with lost blocks filled or cut out.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// The data before the first block that is not good.
    #[must_use]
    pub fn data_before_damage(&self) -> &[u8] {
        let ngood = self.blocks.iter().take_while(|state| **state == ChunkState::Good).count();
        let end = ngood.checked_sub(1).and_then(|last| self.ends.get(last)).copied();
        self.data.get(..end.unwrap_or(0)).unwrap_or_default()
    }

    /// The data as a sound chunk, compressed like the damaged one. Lossy filters and codecs are
    /// left out: their output is compressed without loss. Filters that work with the shape of a
    /// block are left out, too, since a chunk does not have the shape.
    ///
    /// # Errors
    ///
    /// As [`Encoder::encode`].
    pub fn to_chunk(&self) -> Result<Vec<u8>, blosc_chunk::Error> {
        let mut encoder = Encoder::new(self.cparams())?;
        if !self.header.is_vl() || self.ends.is_empty() {
            return encoder.encode(&self.data);
        }
        let starts = core::iter::once(&0).chain(&self.ends);
        let block = |(start, end): (&usize, &usize)| self.data.get(*start..*end);
        let blocks: Vec<&[u8]> = starts.zip(&self.ends).filter_map(block).collect();
        encoder.encode_vl(&blocks)
    }

    fn cparams(&self) -> CParams {
        let (header, registries) = (&self.header, &self.registries);
        let blocksize = (!header.is_vl()).then_some(header.blocksize());
        let plain = CParams::default()
            .typesize(header.typesize())
            .blocksize(blocksize)
            .registries(registries.clone());
        let codec = registries.codecs.get(header.codec_id());
        let is_lossy = codec.is_some_and(|codec| codec.is_lossy())
            || header.pipeline().is_lossy(&registries.filters);
        let needs_shape = header.pipeline().active().any(|slot| slot.id.needs_block_shape());
        let [oldest, newest] = match (header.is_extended(), header.is_vl()) {
            (false, _) => [Target::Blosc1_3, Target::Blosc1_14],
            (true, false) => [Target::Blosc2_0, Target::Blosc3_0],
            (true, true) => [Target::Blosc3_0; 2],
        };
        let like = plain
            .clone()
            .codec(header.codec_id())
            .codec_meta(header.codec_meta())
            .filters(header.pipeline());
        [oldest, newest]
            .map(|target| like.clone().target(target))
            .into_iter()
            .find(|cparams| !is_lossy && !needs_shape && cparams.check().is_ok())
            .unwrap_or_else(|| {
                plain.blocksize(None).target(newest).codec(CodecId::LZ4).filters(Pipeline::SHUFFLE)
            })
    }
}

/// A chunk that was read with a certain header.
struct Read {
    header: ChunkHeader,
    blocks: Blocks,
    /// The number of bytes that were taken as the chunk.
    len: usize,
}

impl Read {
    /// Whether all of it is readable, without bytes left over.
    fn is_sound(&self) -> bool {
        self.blocks.count(ChunkState::Good) == self.blocks.found.len() && !self.blocks.has_gaps
    }
}

/// Reads the blocks. If the stated length and the actual one differ, the one that makes more blocks
/// readable counts.
fn read_by(
    bytes: &[u8],
    header: ChunkHeader,
    scratch: &mut Scratch,
) -> Result<Read, blosc_chunk::Error> {
    let stated = bytes.get(..header.cbytes()).unwrap_or(bytes);
    let read = |bytes: &[u8], scratch: &mut Scratch| {
        let blocks = blocks::read(bytes, &header, scratch)?;
        Ok::<_, blosc_chunk::Error>(Read { header, blocks, len: bytes.len() })
    };
    let by_stated = read(stated, scratch)?;
    let nlost = by_stated.blocks.count(ChunkState::Lost);
    if nlost == 0 || stated.len() == bytes.len() {
        return Ok(by_stated);
    }
    let by_found = read(bytes, scratch)?;
    let is_better = by_found.blocks.count(ChunkState::Lost) < nlost;
    Ok(if is_better { by_found } else { by_stated })
}

/// Changes each bit of the header until everything is readable. The blocks are then doubtful: other
/// headers may give other data.
fn with_one_bit(bytes: &[u8], scratch: &mut Scratch) -> Option<(ChunkDamage, Read)> {
    let mut changed = bytes.to_vec();
    for at in 0..bytes.len().min(ChunkHeader::MAX_LEN) {
        let found = *changed.get(at)?;
        for taken in (0..u8::BITS).map(|bit| found ^ 1u8.rotate_left(bit)) {
            *changed.get_mut(at)? = taken;
            if let Some(mut read) = read_whole(&changed, scratch) {
                read.blocks.found.iter_mut().for_each(|(_, state)| *state = ChunkState::Doubtful);
                return Some((ChunkDamage::Header { at, found, taken }, read));
            }
        }
        *changed.get_mut(at)? = found;
    }
    None
}

/// Reads a chunk that is sound, has the right length, and is not empty.
fn read_whole(bytes: &[u8], scratch: &mut Scratch) -> Option<Read> {
    let header = ChunkHeader::parse(bytes).ok()?;
    let is_exact = header.cbytes() == bytes.len() && header.nbytes() > 0;
    let chunk = Chunk::parse(bytes).ok().filter(|_| is_exact && header.special().is_none())?;
    if chunk.nblocks() > 0 {
        // Most guesses fail at the first block.
        let nbytes = chunk.block_data(0).ok()?.len();
        let limit = scratch.params().limits.max_nbytes;
        let mut block = vec![0; Some(nbytes).filter(|nbytes| *nbytes as u64 <= limit)?];
        chunk.read_block(0, &mut block, scratch).ok()?;
    }
    let blocks = blocks::read(bytes, &header, scratch).ok()?;
    Some(Read { header, blocks, len: bytes.len() }).filter(Read::is_sound)
}

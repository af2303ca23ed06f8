//! Seals: sums that prove that the bytes of a frame are as they were written
//! (`docs/formats/seal.md`).
//!
//! ```text
//!   header | chunks ........................ | index | vlmetalayers | fingerprint
//!      |        each: its term                 \_________  _________/     |
//!      |            \_____ sum of all terms ________ + ___ tail ______ =  |
//!      header sum, in the vlmetalayer `b2seal`
//! ```
//!
//! The seal is a sum of terms, not a sum over all bytes: a writer that appends a chunk adds its
//! term, a writer that replaces a chunk subtracts the old term, and neither reads the whole frame.

mod state;
mod watch;

use std::collections::HashMap;

use blosc_chunk::{CParams, Chunk, Level, Registries};
use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_128_with_seed};

use crate::error::{Error, Result};
use crate::header::FrameHeader;
use crate::metalayers::{MAX_VLMETALAYERS_WRITTEN, Metalayers, Section};
use crate::msgpack::{BIN32, FIXARRAY, UINT64};
use crate::offsets::Offset;
use crate::params::Checksums;
use crate::schunk::SChunk;
use crate::trailer;

pub(crate) use state::ChunkSums;
pub use state::{SealState, seal};
pub(crate) use watch::{Bytes, SealWatch, bytes_of, is_stored_plain};

/// The name of the vlmetalayer with the sums that do not fit the fingerprint.
pub(crate) const LAYER: &[u8] = b"b2seal";
/// The type of a fingerprint of 128 bits.
pub(crate) const FINGERPRINT_TYPE: u8 = 3;
/// Length of the fingerprint, the last bytes of a frame.
const FINGERPRINT_LEN: usize = 16;
/// Bits in which a damaged sum may differ from the right one. Sums of different bytes differ in
/// about 64 of 128 bits, and in at most this many only once in some 10^13 cases.
const MAX_WRONG_SEAL_BITS: u32 = 24;
/// Added to a sum, makes it wrong, however often it is added.
const OTHER_SUM: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
/// The layer's version.
const VERSION: u8 = 1;
/// Position of the numbers of threads in a header; the sum ignores them (bytes).
const THREADS: core::ops::Range<usize> = 0x3e..0x44;

/// The seal in a trailer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pub kind: u8,
    pub fingerprint: [u8; FINGERPRINT_LEN],
    /// The vlmetalayer as stored: a chunk.
    pub layer: Option<Vec<u8>>,
}

impl Mark {
    /// The body sum, if there is one. If the layer exists, another type is damage: programs without
    /// support for seals write zeros.
    pub(crate) fn body(&self) -> Option<u128> {
        let sum = u128::from_be_bytes(self.fingerprint);
        let is_ours = self.has_type() || self.layer.is_some();
        (is_ours && sum != 0).then_some(sum)
    }

    /// Whether the fingerprint has the type of a body sum.
    pub(crate) fn has_type(&self) -> bool {
        self.kind == FINGERPRINT_TYPE
    }

    /// The decoded vlmetalayer, if it is readable.
    pub(crate) fn layer(&self) -> Option<Layer> {
        let chunk = Chunk::parse(self.layer.as_deref()?).ok()?;
        // This crate stores the layer without compression.
        if chunk.header().nbytes() > chunk.header().cbytes() {
            return None;
        }
        Layer::parse(&blosc_chunk::decompress(self.layer.as_deref()?).ok()?)
    }
}

/// The content of the vlmetalayer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layer {
    pub header: u64,
    /// Unused bytes of a contiguous frame.
    pub dead_nbytes: u64,
    /// The lower half of the term of each entry of the index; empty without a table.
    pub chunks: Vec<u64>,
}

impl Layer {
    fn encode(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![FIXARRAY | 4, VERSION];
        for number in [self.header, self.dead_nbytes] {
            bytes.push(UINT64);
            bytes.extend(number.to_be_bytes());
        }
        bytes.push(BIN32);
        let nbytes = self.chunks.len().saturating_mul(8);
        let nbytes = u32::try_from(nbytes);
        let nbytes = nbytes.map_err(|_| Error::internal("more sums than a layer can have"))?;
        bytes.extend(nbytes.to_be_bytes());
        bytes.extend(self.chunks.iter().flat_map(|sum| sum.to_be_bytes()));
        Ok(bytes)
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let number = |bytes: &[u8]| match bytes.split_first()? {
            (&UINT64, number) => Some(u64::from_be_bytes(number.try_into().ok()?)),
            _ => None,
        };
        let (lead, rest) = bytes.split_at_checked(2)?;
        let (header, rest) = rest.split_at_checked(9)?;
        let (dead_nbytes, rest) = rest.split_at_checked(9)?;
        let (marker, rest) = rest.split_first()?;
        let (len, table) = rest.split_first_chunk()?;
        let is_whole = u32::from_be_bytes(*len) as usize == table.len();
        if lead != [FIXARRAY | 4, VERSION] || *marker != BIN32 || !is_whole {
            return None;
        }
        let chunks = table.chunks_exact(8).filter_map(|sum| sum.try_into().ok());
        Some(Self {
            header: number(header)?,
            dead_nbytes: number(dead_nbytes)?,
            chunks: chunks.map(u64::from_be_bytes).collect(),
        })
    }
}

/// The term of a stored chunk in the body sum: from its bytes and its number in the index.
pub(crate) fn chunk_term(number: u64, chunk: &[u8]) -> u128 {
    xxh3_128_with_seed(chunk, number)
}

/// The term of all bytes after the chunks: from the index chunk, or the trailer if there is none,
/// up to the fingerprint. `at` is the position of the first byte, counted from the end of the
/// header.
fn tail_term(at: u64, parts: &[&[u8]]) -> u128 {
    let mut hasher = Xxh3::with_seed(at);
    parts.iter().for_each(|part| hasher.update(part));
    hasher.digest128()
}

/// The sum of a header: of all its bytes except the numbers of threads.
pub(crate) fn header_sum(header: &[u8]) -> u64 {
    let mut header = header.to_vec();
    header.get_mut(THREADS).into_iter().for_each(|threads| threads.fill(0));
    xxh3_64(&header)
}

/// The lower half of a term, for the table.
fn low_half(term: u128) -> u64 {
    let [low, _]: [[u8; 8]; 2] = zerocopy::transmute!(term.to_le_bytes());
    u64::from_le_bytes(low)
}

/// The sum of the chunks of a frame under construction or change.
#[derive(Clone, Debug, Default)]
pub(crate) struct BodySum {
    /// Sum of the terms of all entries of the index.
    sum: u128,
    /// Stored bytes of these entries.
    pub live_nbytes: u64,
    /// Number to entry of the table, if there is one.
    table: Option<HashMap<u64, u64>>,
    /// Terms and lengths of chunks that were stored since the last commit.
    stored: HashMap<u64, (u128, u64)>,
}

impl BodySum {
    /// The sum of a frame without chunks, if it is to have a seal.
    pub(crate) fn new(checksums: Checksums) -> Option<Self> {
        let table = match checksums {
            Checksums::None => return None,
            Checksums::Body => None,
            Checksums::Chunks => Some(HashMap::new()),
        };
        Some(Self { table, ..Self::default() })
    }

    /// The sum of an existing frame, from its fingerprint; chunks are not read.
    pub(crate) fn of_frame(schunk: &SChunk) -> Result<Option<Self>> {
        let Some((body, layer)) = schunk.state().mark().body().zip(schunk.state().mark().layer())
        else {
            return Ok(None);
        };
        let sum = body.wrapping_sub(schunk.tail_sum()?);
        let table = if layer.chunks.is_empty() {
            None
        } else {
            let numbers = schunk.offsets()?;
            Some(numbers.into_iter().zip(layer.chunks).collect())
        };
        let parts = [
            u64::from(schunk.header().header_len()),
            schunk.index_len(),
            schunk.trailer_len(),
            layer.dead_nbytes,
        ];
        let others = parts.into_iter().fold(0, u64::saturating_add);
        let live_nbytes = schunk.frame_len().saturating_sub(others);
        Ok(Some(Self { sum, live_nbytes, table, stored: HashMap::new() }))
    }

    /// Makes the sum wrong.
    pub(crate) fn spoil(&mut self) {
        self.sum = self.sum.wrapping_add(OTHER_SUM);
    }

    /// Number to entry of the table, if there is one.
    pub(crate) fn table(&self) -> Option<&HashMap<u64, u64>> {
        self.table.as_ref()
    }

    /// Whether there is a table.
    pub(crate) fn checksums(&self) -> Checksums {
        if self.table.is_some() { Checksums::Chunks } else { Checksums::Body }
    }

    /// Notes the bytes of a chunk that may be entered into the index.
    pub(crate) fn note_stored(&mut self, number: u64, chunk: &[u8]) {
        self.stored.insert(number, (chunk_term(number, chunk), chunk.len() as u64));
    }

    /// Notes the bytes of a chunk that was written over the one of this entry.
    pub(crate) fn replace(&mut self, number: u64, chunk: &[u8]) -> Result<()> {
        self.remove(number);
        self.note_stored(number, chunk);
        self.add(number)
    }

    /// Adds an entry of the index, whose chunk was noted unless the entry is a run.
    pub(crate) fn add(&mut self, number: u64) -> Result<()> {
        if !is_stored(number) {
            return Ok(());
        }
        let noted = self.stored.get(&number).copied();
        let (term, nbytes) = noted.ok_or(Error::internal("a chunk without a sum"))?;
        self.add_term(number, term, nbytes);
        Ok(())
    }

    fn add_term(&mut self, number: u64, term: u128, nbytes: u64) {
        self.sum = self.sum.wrapping_add(term);
        self.live_nbytes = self.live_nbytes.saturating_add(nbytes);
        if let Some(table) = &mut self.table {
            table.insert(number, low_half(term));
        }
    }

    /// Adds a chunk that is stored once and entered into the index.
    pub(crate) fn add_chunk(&mut self, number: u64, chunk: &[u8]) {
        self.add_term(number, chunk_term(number, chunk), chunk.len() as u64);
    }

    /// Whether the term of a chunk is known without reading it.
    pub(crate) fn knows(&self, number: u64) -> bool {
        self.stored.contains_key(&number)
    }

    /// Subtracts an entry of the index.
    pub(crate) fn remove(&mut self, number: u64) {
        if let Some((term, nbytes)) = self.stored.get(&number) {
            self.sum = self.sum.wrapping_sub(*term);
            self.live_nbytes = self.live_nbytes.saturating_sub(*nbytes);
        }
    }

    /// Forgets the terms that only the changes before a commit needed.
    pub(crate) fn note_commit(&mut self) {
        self.stored = HashMap::new();
    }

    /// The sum of the same chunks under other numbers: wrong terms stay wrong.
    pub(crate) fn moved(&self, moved: &Moved) -> Self {
        let sum = self.sum.wrapping_sub(moved.old).wrapping_add(moved.new);
        let table = self.table.as_ref().map(|table| {
            let entry = |(old, new): (&u64, &(u64, u128, u128))| {
                let (number, old_term, new_term) = *new;
                let was = table.get(old).copied().unwrap_or(0);
                (number, was ^ low_half(old_term) ^ low_half(new_term))
            };
            moved.numbers.iter().map(entry).collect()
        });
        Self { sum, live_nbytes: moved.nbytes, table, stored: HashMap::new() }
    }

    /// An entry for each chunk: 0 for runs, and for chunks without an entry in the old seal, so
    /// that a reader finds a mismatch.
    fn table_of(&self, numbers: &[u64]) -> Vec<u64> {
        let Some(table) = &self.table else { return vec![] };
        numbers.iter().map(|number| table.get(number).copied().unwrap_or(0)).collect()
    }
}

/// The seal of a copy.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SealFrom<'a> {
    /// No seal.
    Nothing,
    /// A new seal.
    Fresh(Checksums),
    /// The seal of the copied chunks, so that damage stays visible, with these checksums.
    Old(&'a BodySum, Checksums),
}

/// Chunks that were copied from one frame to another.
#[derive(Clone, Debug, Default)]
pub(crate) struct Moved {
    /// Sums over all entries of the index, before and after.
    old: u128,
    new: u128,
    nbytes: u64,
    /// Old number to new number, old term and new term.
    numbers: HashMap<u64, (u64, u128, u128)>,
}

impl Moved {
    /// Notes an entry of the index whose chunk has another number now.
    pub(crate) fn note(&mut self, old: u64, new: u64, chunk: &[u8]) {
        self.numbers.insert(old, (new, chunk_term(old, chunk), chunk_term(new, chunk)));
        self.nbytes = self.nbytes.saturating_add(chunk.len() as u64);
        self.note_again(old);
    }

    /// A new seal of the copy, for chunks that are trusted.
    fn fresh(&self, checksums: Checksums) -> Option<BodySum> {
        let seal = BodySum::new(checksums)?;
        let entry = |(new, _, term): &(u64, u128, u128)| (*new, low_half(*term));
        let table = seal.table.map(|_| self.numbers.values().map(entry).collect());
        Some(BodySum { sum: self.new, live_nbytes: self.nbytes, table, ..BodySum::default() })
    }

    /// Whether the chunks match a seal.
    pub(crate) fn is_right(&self, seal: &BodySum) -> bool {
        self.old == seal.sum
    }

    /// The seal of the copy.
    pub(crate) fn seal(&self, from: SealFrom<'_>) -> Option<BodySum> {
        match from {
            SealFrom::Nothing => None,
            SealFrom::Fresh(checksums) => self.fresh(checksums),
            SealFrom::Old(_, Checksums::None) => None,
            SealFrom::Old(seal, checksums) => {
                let mut moved = seal.moved(self);
                moved.table = match (checksums, moved.table.take()) {
                    // The old seal tells only that some chunk is damaged, not which one.
                    (Checksums::Chunks, None) => self.fresh(checksums).and_then(|it| it.table),
                    (Checksums::Chunks, table) => table,
                    _ => None,
                };
                Some(moved)
            }
        }
    }

    /// Notes another entry of the same chunk.
    pub(crate) fn note_again(&mut self, old: u64) {
        if let Some((_, old, new)) = self.numbers.get(&old) {
            self.old = self.old.wrapping_add(*old);
            self.new = self.new.wrapping_add(*new);
        }
    }
}

/// The end of a frame after its chunks, before encoding.
pub(crate) struct Ending<'a> {
    /// The sum of the chunks, if the frame is to have a seal.
    pub seal: Option<&'a BodySum>,
    /// The old seal of a frame, if it is not updated.
    pub old_mark: &'a Mark,
    pub meta: &'a Metalayers,
    pub vlmeta: &'a Metalayers,
    /// The numbers of the index, and the length of its chunk (bytes).
    pub numbers: &'a [u64],
    pub index_len: u64,
    pub registries: &'a Registries,
}

/// A trailer, and the seal in it.
#[derive(Debug)]
pub(crate) struct Sealed {
    pub trailer: Vec<u8>,
    pub mark: Mark,
}

impl Ending<'_> {
    /// The trailer of a frame, which begins at `start`, after the bytes `lead` from the index chunk
    /// on. Also updates the header fields that depend on the trailer.
    pub(crate) fn encode(
        &self,
        header: &mut FrameHeader,
        start: u64,
        lead: &[u8],
    ) -> Result<Sealed> {
        let Some(seal) = self.seal else {
            let mark = Mark { layer: self.old_mark.layer.clone(), ..Mark::default() };
            let trailer = trailer::around(self.vlmeta, mark.layer.as_deref())?;
            self.set_len(header, start, &trailer, mark.layer.is_some());
            return Ok(Sealed { trailer, mark });
        };
        // C-Blosc2 writes at most this many vlmetalayers. Without room, the fingerprint stands
        // alone.
        let has_layer = self.vlmeta.len() < MAX_VLMETALAYERS_WRITTEN;
        let mut layer = Layer { chunks: seal.table_of(self.numbers), ..Layer::default() };
        let build = |layer: &Layer| {
            let chunk = has_layer.then(|| self.store_layer(layer)).transpose()?;
            Ok::<_, Error>((trailer::around(self.vlmeta, chunk.as_deref())?, chunk))
        };
        // The length of the trailer does not depend on the sums.
        let (trailer, _) = build(&layer)?;
        self.set_len(header, start, &trailer, has_layer);
        let live = [
            u64::from(header.header_len()),
            seal.live_nbytes,
            self.index_len,
            trailer.len() as u64,
        ];
        let live = live.into_iter().fold(0, u64::saturating_add);
        layer.dead_nbytes = header.frame_len().saturating_sub(live);
        layer.header = header_sum(&header.encode_with(self.meta)?);
        let (mut trailer, chunk) = build(&layer)?;
        let lead_len = u64::from(header.header_len()).saturating_add(lead.len() as u64);
        let at = start.checked_sub(lead_len);
        let at = at.ok_or(Error::internal("the index lies within the header"))?;
        let no_room = || Error::internal("a trailer without a fingerprint");
        let (head, end) = trailer.split_last_chunk_mut().ok_or_else(no_room)?;
        *head.last_mut().ok_or_else(no_room)? = FINGERPRINT_TYPE;
        let sum = seal.sum.wrapping_add(tail_term(at, &[lead, head]));
        *end = sum.to_be_bytes();
        let mark = Mark { kind: FINGERPRINT_TYPE, layer: chunk, fingerprint: *end };
        Ok(Sealed { trailer, mark })
    }

    fn set_len(&self, header: &mut FrameHeader, start: u64, trailer: &[u8], has_layer: bool) {
        header.set_frame_len(start.saturating_add(trailer.len() as u64));
        header.set_has_vlmeta(has_layer || !self.vlmeta.is_empty());
    }

    /// The layer as stored; its length does not depend on the sums.
    fn store_layer(&self, layer: &Layer) -> Result<Vec<u8>> {
        let params = CParams::default()
            .clevel(Level::NONE)
            .typesize(1)
            .special_values(false)
            .registries(self.registries.clone());
        blosc_chunk::compress(&layer.encode()?, &params)
            .map_err(|source| Error::Compress { nchunk: 0, source })
    }
}

/// Whether a number of the index refers to a stored chunk.
pub(crate) fn is_stored(number: u64) -> bool {
    matches!(Offset::parse(0, number), Ok(Offset::Stored(_)))
}

/// The section of a trailer with these vlmetalayers and this layer.
pub(crate) fn section(vlmeta: &Metalayers, layer: Option<&[u8]>) -> Result<Vec<u8>> {
    let layers = vlmeta.iter().map(|layer| (layer.name, layer.content));
    let layers: Vec<(&[u8], &[u8])> = layers.chain(layer.map(|layer| (LAYER, layer))).collect();
    Ok(Metalayers::build(layers, Section::TRAILER)?.bytes().to_vec())
}

//! Decodes every chunk of a damaged frame, and handles the chunks that fail.

use blosc_chunk::internal::fill_special;
use blosc_chunk::validate::{Depth, Note};
use blosc_chunk::{Chunk, Scratch, Special, SpecialKind};

use super::{ChunkState, Damage, Entries, Fill, RescueOptions, Salvage, is_damage};
use crate::error::{Error, Limited, Param, Result};
use crate::legacy::FrameLayout;
use crate::metalayers::{Metalayers, Section};
use crate::nd::NdMeta;
use crate::offsets::Offset;
use crate::schunk::{ChunkBytes, Draft, Location, SChunk, check_limit};

/// Decodes every chunk, and replaces a chunk that fails by a run.
pub(super) fn decode_chunks(
    mut frame: Draft,
    entries: Entries,
    mut damage: Vec<Damage>,
    rescue: &RescueOptions,
) -> Result<Salvage> {
    let header = frame.header();
    let (run, mut value) = match &rescue.fill {
        Fill::NaN => (SpecialKind::Nans, None),
        Fill::Value(item) => (SpecialKind::Zeros, Some(item.clone())),
        _ => (SpecialKind::Zeros, None),
    };
    let typesize = u64::from(header.typesize().get());
    if let Some(item) = value.as_ref().filter(|item| item.len() as u64 != typesize) {
        return Err(Param::BufferLen { len: item.len() as u64, expected: typesize }.into());
    }
    let run = Offset::of_special(run).unwrap_or_default();
    let chunksize = header.chunksize().fixed();
    let Entries { numbers, states: mut chunks } = entries;
    frame.change().set_table(numbers);
    let (mut unreadable, mut decoded) = (vec![], 0);
    let limit = rescue.max_nbytes.unwrap_or(u64::MAX);
    let is_there = |(_, state): &(u64, &mut ChunkState)| **state != ChunkState::Lost;
    let schunk = frame.snapshot();
    for (nchunk, state) in (0u64..).zip(&mut chunks).filter(is_there) {
        match check_chunk(schunk, nchunk, &mut decoded, limit) {
            Ok(_) if is_unreadable(schunk, nchunk)? => unreadable.push(nchunk),
            Ok(_) => {}
            Err(error) if !is_damage(&error) => return Err(error),
            Err(_) => *state = ChunkState::Lost,
        }
    }
    let is_cut = rescue.fill == Fill::Cut || chunksize.is_none();
    if is_cut && chunks.contains(&ChunkState::Lost) {
        value = None;
        cut(&mut frame, &chunks, &mut damage)?;
        let is_lost = |at: &usize| chunks.get(*at) == Some(&ChunkState::Lost);
        for nchunk in &mut unreadable {
            let before = 0..usize::try_from(*nchunk).unwrap_or(usize::MAX);
            *nchunk = nchunk.saturating_sub(before.filter(is_lost).count() as u64);
        }
    } else {
        let frame = frame.change();
        for (nchunk, _) in (0u64..).zip(&chunks).filter(|(_, state)| **state == ChunkState::Lost) {
            frame.set_number(nchunk, run)?;
        }
    }
    // Readers refuse all chunks of an array whose shape does not fit them.
    let is_wrong = matches!(frame.snapshot().nd_meta(), Err(Error::Corrupt { .. }));
    if is_wrong && take_shape(&mut frame)? {
        damage.push(Damage::Description);
    }
    let schunk = frame.finish().unwatched();
    Ok(Salvage { schunk, chunks, damage, seal: None, value, unreadable, is_opened: false })
}

/// Decodes a chunk. A run in the index has no bytes that could be damaged, except its entry.
fn check_chunk(schunk: &SChunk, nchunk: u64, decoded: &mut u64, limit: u64) -> Result<()> {
    if schunk.layout() == FrameLayout::Current {
        match schunk.locate(nchunk)? {
            Location::Special { kind: SpecialKind::Nans, .. } => {
                let (typesize, mut item) = (schunk.typesize(), vec![0; schunk.typesize()]);
                let filled = fill_special(Special::Nans, typesize, &mut item);
                return filled.map_err(|source| Error::Chunk { nchunk, at: 0, source });
            }
            Location::Special { .. } => return Ok(()),
            Location::Stored { header, .. } if header.special().is_some() => {
                let ChunkBytes::Stored(bytes) = schunk.chunk(nchunk)? else { return Ok(()) };
                let parsed = Chunk::parse(&bytes).map(drop);
                return parsed.map_err(|source| Error::Chunk { nchunk, at: 0, source });
            }
            Location::Stored { header, .. } => {
                *decoded = decoded.saturating_add(header.nbytes() as u64);
                check_limit(Limited::Data, *decoded, limit)?;
            }
        }
    }
    schunk.decode_chunk(nchunk).map(drop)
}

/// Whether C-Blosc2 wrote a chunk in a form that it cannot read.
fn is_unreadable(schunk: &SChunk, nchunk: u64) -> Result<bool> {
    let bytes = match schunk.chunk(nchunk)? {
        ChunkBytes::Stored(bytes) => bytes,
        // C-Blosc2 cannot read a run that ends within an item.
        ChunkBytes::Special { nbytes, .. } => {
            return Ok(nbytes.checked_rem(schunk.typesize()) != Some(0));
        }
    };
    let Ok(chunk) = Chunk::parse(&bytes) else { return Ok(false) };
    let report = chunk.validate(Depth::Header, &mut Scratch::default());
    let is_one =
        |note: &Note| matches!(note, Note::Blocksize { .. } | Note::DictOfCopy | Note::Mislabelled);
    Ok(report.notes.iter().any(is_one))
}

/// Removes the lost chunks, and the shape of an array with them.
fn cut(frame: &mut Draft, chunks: &[ChunkState], damage: &mut Vec<Damage>) -> Result<()> {
    let mut nbytes = 0u64;
    for (nchunk, state) in (0u64..).zip(chunks) {
        if *state != ChunkState::Lost {
            nbytes = nbytes.saturating_add(frame.chunk_nbytes(nchunk)? as u64);
        }
    }
    if take_shape(frame)? {
        damage.push(Damage::Shape);
    }
    let mut states = chunks.iter();
    frame.change().retain_chunks(|| states.next() != Some(&ChunkState::Lost), nbytes)?;
    Ok(())
}

/// Removes the shape of an array from the metalayers. Returns whether there was one.
fn take_shape(frame: &mut Draft) -> Result<bool> {
    let is_shape =
        |name: &[u8]| [NdMeta::NAME, NdMeta::OLD_NAME].map(str::as_bytes).contains(&name);
    let meta = frame.meta();
    let others: Vec<_> = meta.iter().filter(|layer| !is_shape(layer.name)).collect();
    if others.len() == meta.len() {
        return Ok(false);
    }
    let others = others.iter().map(|layer| (layer.name, layer.content));
    let others = Metalayers::build(others, Section::HEADER)?;
    frame.change().set_meta(others);
    Ok(true)
}

//! Every chunk of a damaged frame decoded, and what becomes of those that do not decode.

use blosc_chunk::validate::{Depth, Note};
use blosc_chunk::{Chunk, Scratch, SpecialKind};

use super::{ChunkState, Damage, Entry, Fill, RescueOptions, Salvage, is_damage};
use crate::error::{Param, Result};
use crate::metalayers::{Metalayers, Section};
use crate::nd::NdMeta;
use crate::offsets::Offset;
use crate::schunk::{ChunkBytes, SChunk};

/// Decodes every chunk, and puts a run where one does not decode.
pub(super) fn decode_chunks(
    mut schunk: SChunk,
    entries: Vec<Entry>,
    mut damage: Vec<Damage>,
    rescue: &RescueOptions,
) -> Result<Salvage> {
    let header = schunk.header();
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
    let table = entries.iter().map(|(at, _)| at.unwrap_or(run)).collect();
    schunk.state_mut().index.set_table(table);
    let (mut chunks, mut unreadable) = (vec![], vec![]);
    for (nchunk, (at, state)) in (0u64..).zip(&entries) {
        let state = match schunk.decode_chunk(nchunk) {
            Ok(_) => *state,
            // NaN does not fit items of every size.
            Err(_) if at.is_none() => ChunkState::Lost,
            Err(error) if !is_damage(&error) => return Err(error),
            Err(_) => ChunkState::Lost,
        };
        if state != ChunkState::Lost && is_unreadable(&schunk, nchunk)? {
            unreadable.push(nchunk);
        }
        chunks.push(state);
    }
    let is_cut = rescue.fill == Fill::Cut || chunksize.is_none();
    if is_cut && chunks.contains(&ChunkState::Lost) {
        value = None;
        cut(&mut schunk, &chunks, &mut damage)?;
        let is_lost = |at: &usize| chunks.get(*at) == Some(&ChunkState::Lost);
        for nchunk in &mut unreadable {
            let before = 0..usize::try_from(*nchunk).unwrap_or(usize::MAX);
            *nchunk = nchunk.saturating_sub(before.filter(is_lost).count() as u64);
        }
    } else {
        let lost = |n: usize| chunks.get(n) == Some(&ChunkState::Lost);
        schunk.state_mut().index.edit(|table| {
            for (_, at) in table.iter_mut().enumerate().filter(|(n, _)| lost(*n)) {
                *at = run;
            }
        });
    }
    Ok(Salvage { schunk, chunks, damage, seal: None, value, unreadable })
}

/// Whether C-Blosc2 has written a chunk in a form that it cannot read back.
fn is_unreadable(schunk: &SChunk, nchunk: u64) -> Result<bool> {
    let ChunkBytes::Stored(bytes) = schunk.chunk(nchunk)? else { return Ok(false) };
    let Ok(chunk) = Chunk::parse(&bytes) else { return Ok(false) };
    let report = chunk.validate(Depth::Header, &mut Scratch::default());
    let is_one =
        |note: &Note| matches!(note, Note::Blocksize { .. } | Note::DictOfCopy | Note::Mislabelled);
    Ok(report.notes.iter().any(is_one))
}

/// Takes the lost chunks out, and the shape of an array with them.
fn cut(schunk: &mut SChunk, chunks: &[ChunkState], damage: &mut Vec<Damage>) -> Result<()> {
    let mut nbytes = 0u64;
    for (nchunk, state) in (0u64..).zip(chunks) {
        if *state != ChunkState::Lost {
            nbytes = nbytes.saturating_add(schunk.chunk_nbytes(nchunk)? as u64);
        }
    }
    let is_shape =
        |name: &[u8]| [NdMeta::NAME, NdMeta::OLD_NAME].map(str::as_bytes).contains(&name);
    let state = schunk.state_mut();
    if state.meta.iter().any(|layer| is_shape(layer.name)) {
        damage.push(Damage::Shape);
        let others: Vec<_> = state.meta.iter().filter(|layer| !is_shape(layer.name)).collect();
        let others = others.iter().map(|layer| (layer.name, layer.content));
        state.meta = Metalayers::build(others, Section::HEADER)?;
    }
    state.header.set_nbytes(nbytes);
    let mut states = chunks.iter();
    state.index.edit(|table| table.retain(|_| states.next() != Some(&ChunkState::Lost)));
    Ok(())
}

//! Single chunks through the C functions of C-Blosc2: every parameter of a context, parts of a
//! chunk, masked blocks, chunks without data, VL-blocks, short headers.
//!
//! The faults of the C library against its own format are known ("Upstream defects" in the format
//! document), and expected here case by case; such cases are counted. Any other difference is a
//! failure.

mod call;
mod special;
mod theirs;
mod vl;

use blosc_chunk::{
    Chunk, DParams, Decoder, Encoder, Kind, Limits, Scratch, Target, Threads,
    error::Blame,
    raw::Flags,
    validate::{Depth, Note},
};
use serde_json::Value;

use super::{
    Bench, Case, Verdict,
    case::{BITSHUFFLE, DELTA, SHUFFLE},
    chunks::{cname, threads},
    compare,
    oracle::Reply,
};
use crate::failure::{Context, Result, fail};
use call::{Call, without_layers};
use theirs::{Theirs, check_sizes};

pub(super) use special::{read as special_read, write as special_write};
pub(super) use theirs::is_misread;
pub(super) use vl::{read as vl_read, write as vl_write};

/// C writes a chunk; `blosc-chunk` reads all of it, parts and blocks of it, and checks it.
pub(super) fn read(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let call = Call::draw(case);
    read_call(bench, &call, call.json("c_write")).at(format!("{call:?}"))
}

/// As [`read`], with a header of 16 bytes.
pub(super) fn compat_read(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let mut call = Call::draw(case);
    (call.case, call.shape) = (Case { dict: false, splitmode: 4, ..without_layers(case) }, vec![]);
    let delta = case.recipe.seed.is_multiple_of(3);
    if delta {
        call.case.filters[4] = DELTA;
    }
    let mut request = call.json("c_compat_write");
    request["cname"] = cname(case.codec).into();
    request["shuffle"] = case.blosc1_shuffle().into();
    request["delta"] = delta.into();
    read_call(bench, &call, request).at(format!("{call:?}"))
}

/// `blosc-chunk` writes a chunk, for any target; C reads all of it, and parts.
pub(super) fn write(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let mut call = Call::draw(case);
    fit_target(&mut call);
    write_call(bench, &call).at(format!("{call:?}"))
}

fn read_call(bench: &mut Bench, call: &Call, request: Value) -> Result<Verdict> {
    let Some(chunk) = written(bench, request, &[&call.case.data()])? else {
        return Ok(Verdict::Refused);
    };
    let found = decode(call, &chunk);
    if let Ok(found) = &found {
        check_ours(call, &chunk, found)?;
    }
    let theirs = Theirs::try_ask(bench, call, &chunk)?;
    judge(call, &chunk, theirs, found)
}

fn write_call(bench: &mut Bench, call: &Call) -> Result<Verdict> {
    let (data, params) = (call.case.data(), call.params());
    let mut encoder = match Encoder::new(params.clone()) {
        Err(error) if error.blame() == Blame::Usage => return Ok(Verdict::Refused),
        encoder => encoder?,
    };
    let chunk = encoder.encode(&data)?;
    let serial = Encoder::new(params.threads(Threads::One))?.encode(&data)?;
    compare("one thread and several", &serial, &chunk)?;
    let found = decode(call, &chunk)?;
    if !call.is_lossy() {
        compare("read by us", &data, &found)?;
    }
    check_ours(call, &chunk, &found)?;
    let theirs = Theirs::ask(bench, call, &chunk)?;
    let content = theirs.content().unwrap_or_default();
    compare("read by the oracle", &found, content)?;
    theirs.check_parts(call, &chunk, content)
}

/// The chunk that C wrote, unless it refused or crashed.
fn written(bench: &mut Bench, request: Value, parts: &[&[u8]]) -> Result<Option<Vec<u8>>> {
    let Some(reply) = bench.oracle.try_ask(request, parts)? else { return Ok(None) };
    let is_written = reply.facts["code"].as_i64().unwrap_or(-1) > 0;
    is_written.then(|| reply.into_first()).transpose()
}

/// Compares the data that C reads from its own chunk with `found`. C cannot read all of its own
/// chunks, and some of the data that it reads are wrong; if the data are known, they decide.
fn judge(
    call: &Call,
    chunk: &[u8],
    theirs: Option<Theirs>,
    found: Result<Vec<u8>>,
) -> Result<Verdict> {
    let content = theirs.as_ref().and_then(Theirs::content);
    let parsed = match Chunk::parse(chunk) {
        Err(_) if content.is_none() => return Ok(Verdict::Lost),
        parsed => parsed?,
    };
    let known = is_exact(call, &parsed).then(|| call.case.data());
    let is_right = known.as_ref().is_none_or(|data| content == Some(data.as_slice()));
    let is_read = content.is_some() && is_right && !call.loses_delta() && !is_salvaged(&parsed);
    let found = match found {
        Ok(found) => found,
        Err(failure) if is_read => return Err(failure),
        Err(_) => return Ok(Verdict::Lost),
    };
    if let Some(data) = &known {
        compare("decoded", data, &found)?;
    }
    let (Some(theirs), Some(content), true) = (&theirs, content, is_read) else {
        return Ok(Verdict::Rescued);
    };
    let sound = sound(call, &parsed);
    compare("decoded, sound part", &content[..sound], &found[..sound])?;
    check_sizes(&parsed, theirs)?;
    theirs.check_parts(call, chunk, content)
}

/// Whether the chunk decodes to its input. Delta in C loses the bytes after the last whole item of
/// a block. Three filters write into the data; then C stores the changed data, or refers to them,
/// or filters them again after training a dictionary. Few data with a dictionary are compressed but
/// marked as a copy, even if there are fewer than an item has. And blocks shorter than an item are
/// split into empty streams.
fn is_exact(call: &Call, chunk: &Chunk<'_>) -> bool {
    let refers = call.has(DELTA) && chunk.nblocks() > 1;
    let overwritten =
        call.nfilters() > 2 && (chunk.header().is_memcpyed() || refers || call.case.dict);
    let lossy = call.is_lossy() && !chunk.header().is_memcpyed();
    let header = chunk.header();
    let few = call.case.dict && (header.nbytes() < header.typesize() || is_marked(chunk));
    let cut = header.is_split() && header.blocksize().min(header.nbytes()) < header.typesize();
    let lost = lossy || overwritten || few || (cut && !header.is_memcpyed());
    !lost && sound(call, chunk) == chunk.header().nbytes()
}

/// Whether the chunk has the flags of a copy that C chose before it tried to compress.
fn is_marked(chunk: &Chunk<'_>) -> bool {
    chunk.header().is_memcpyed() && chunk.header().flags().0 == Flags::EXTENDED | Flags::MEMCPYED
}

/// Bytes of the data that C has not lost by delta.
fn sound(call: &Call, chunk: &Chunk<'_>) -> usize {
    let (header, width) = (chunk.header(), call.delta_width());
    let nbytes = header.nbytes();
    if header.is_memcpyed() || !call.has(DELTA) || nbytes == 0 {
        return nbytes;
    }
    let blocksize = chunk.blocksize().unwrap_or(header.blocksize()).min(nbytes);
    let last = nbytes % blocksize;
    match blocksize.is_multiple_of(width) {
        true if last.is_multiple_of(width) => nbytes,
        true => nbytes - last,
        false => 0,
    }
}

/// Whether C stored another block size than it used, so it cannot read the chunk.
fn is_salvaged(chunk: &Chunk<'_>) -> bool {
    let notes = chunk.validate(Depth::Header, &mut Scratch::default()).notes;
    notes.iter().any(|note| matches!(note, Note::Blocksize { .. }))
}

fn dparams(call: &Call, nthreads: usize) -> DParams {
    let params = call.params();
    DParams::default()
        .limits(Limits::none().max_nbytes(1 << 24))
        .threads(threads(nthreads))
        .blockshape(params.blockshape)
}

fn decode(call: &Call, chunk: &[u8]) -> Result<Vec<u8>> {
    Decoder::new(dparams(call, call.case.threads)).decode(chunk).at("decoding")
}

/// Checks that all ways of reading a chunk agree with each other.
fn check_ours(call: &Call, bytes: &[u8], content: &[u8]) -> Result<()> {
    let chunk = Chunk::parse(bytes)?;
    let mut scratch = Scratch::new(&dparams(call, 1));
    let report = chunk.validate(Depth::Decode, &mut scratch);
    if !report.is_ok() {
        return fail(format!("validate: {report:?}"));
    }
    let typesize = call.stored_typesize();
    for items in call.items() {
        let bytes = items.start * typesize..items.end * typesize;
        let mut part = vec![0xAA; bytes.len()];
        chunk.read_items(items.clone(), &mut part, &mut scratch).at(format!("items {items:?}"))?;
        compare(&format!("items {items:?}"), &content[bytes], &part)?;
    }
    if chunk.header().kind() != Kind::Regular {
        return Ok(());
    }
    let mask = mask(call, &chunk);
    let mut part = vec![0xAA; content.len()];
    chunk.read_blocks(|nblock| !mask[nblock], &mut part, &mut scratch).at("masked")?;
    compare("masked", &masked(&chunk, &mask, content)?, &part)
}

/// The blocks to leave out. The first one stays if C would need it.
fn mask(call: &Call, chunk: &Chunk<'_>) -> Vec<bool> {
    let first = usize::from(call.has(DELTA));
    (0..chunk.nblocks())
        .map(|nblock| nblock >= first && (nblock + call.room).is_multiple_of(3))
        .collect()
}

/// `content` with the masked blocks set to 0xAA.
fn masked(chunk: &Chunk<'_>, mask: &[bool], content: &[u8]) -> Result<Vec<u8>> {
    let mut masked = content.to_vec();
    for (nblock, _) in mask.iter().enumerate().filter(|(_, is_masked)| **is_masked) {
        masked[chunk.block_data(nblock)?].fill(0xAA);
    }
    Ok(masked)
}

/// Changes the parameters that the target does not know.
fn fit_target(call: &mut Call) {
    let case = &mut call.case;
    match call.target {
        Target::Blosc3_0 => {}
        Target::Blosc2_0 => {
            let slots = case.filters.iter().zip(&mut case.filters_meta);
            slots.filter(|(id, _)| **id == SHUFFLE).for_each(|(_, meta)| *meta = 0);
            let first = case.filters.iter().find(|id| **id != 0).copied();
            if first != Some(DELTA) {
                case.filters.iter_mut().filter(|id| **id == DELTA).for_each(|id| *id = 0);
            }
            case.dict &= case.codec == 5;
        }
        _ => {
            let shuffle =
                case.filters.iter().find(|id| matches!(**id, SHUFFLE | BITSHUFFLE)).copied();
            let shuffle =
                if call.target == Target::Blosc1_3 { shuffle.map(|_| SHUFFLE) } else { shuffle };
            case.filters = [0, 0, 0, 0, 0, shuffle.unwrap_or(0)];
            (case.filters_meta, case.dict, case.splitmode) = ([0; 6], false, 4);
            let is_new = case.codec > 5 || (case.codec == 5 && call.target == Target::Blosc1_3);
            case.codec = if is_new { 4 } else { case.codec };
            call.codec_meta = 0;
        }
    }
}

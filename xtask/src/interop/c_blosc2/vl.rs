//! VL-block chunks: every block alone, all of them, and the whole chunk.

use blosc_chunk::{Chunk, Encoder, Scratch, Target, Threads, error::Blame, validate::Depth};

use super::call::{BYTEDELTA, OLD_BYTEDELTA, without_layers};
use super::{
    Bench, Call, Case, DELTA, Reply, Result, Verdict, compare, decode, dparams, fail, written,
};
use crate::{failure::Context, interop::case::Draw};

/// C writes blocks; `blosc-chunk` reads each of them, and all.
pub(in crate::interop) fn read(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let mut call = draw(case);
    if call.case.codec == 0 {
        // C-Blosc2 crashes on blocks for BloscLZ at level 0.
        call.case.level = call.case.level.max(1);
    }
    read_call(bench, &call).at(format!("{call:?}"))
}

/// `blosc-chunk` writes blocks; C reads each of them, and all.
pub(in crate::interop) fn write(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let call = draw(case);
    write_call(bench, &call).at(format!("{call:?}"))
}

fn read_call(bench: &mut Bench, call: &Call) -> Result<Verdict> {
    let data = call.case.data();
    let blocks = cut(call, &data);
    let Some(chunk) = written(bench, call.json("c_vl_write"), &blocks)? else {
        return Ok(Verdict::Refused);
    };
    let found = read_blocks(call, &chunk)?;
    compare("number of blocks", &blocks.len().to_le_bytes(), &found.len().to_le_bytes())?;
    for (block, found) in blocks.iter().zip(&found) {
        if is_exact(call, block) {
            compare("block", block, found)?;
        }
    }
    if call.loses_delta() {
        return Ok(Verdict::Rescued);
    }
    let reply = bench.oracle.ask(call.read_json("c_vl_read"), &[&chunk])?;
    check_read(call, &reply, &found)
}

fn write_call(bench: &mut Bench, call: &Call) -> Result<Verdict> {
    let (data, params) = (call.case.data(), call.params());
    let blocks = cut(call, &data);
    let mut encoder = match Encoder::new(params.clone()) {
        Err(error) if error.blame() == Blame::Usage => return Ok(Verdict::Refused),
        encoder => encoder?,
    };
    let chunk = encoder.encode_vl(&blocks)?;
    let serial = Encoder::new(params.threads(Threads::One))?.encode_vl(&blocks)?;
    compare("one thread and several", &serial, &chunk)?;
    let found = read_blocks(call, &chunk)?;
    if !call.is_lossy() {
        compare("read by us", &blocks.concat(), &found.concat())?;
    }
    let reply = bench.oracle.ask(call.read_json("c_vl_read"), &[&chunk])?;
    check_read(call, &reply, &found)
}

/// A call without arrays, and with some data.
fn draw(case: &Case) -> Call {
    let mut call = Call::draw(case);
    if !call.shape.is_empty() || call.case.recipe.nbytes == 0 {
        call = Call { case: without_layers(case), shape: vec![], codec_meta: 0, ..call };
        call.case.recipe.nbytes = case.recipe.nbytes.max(1);
        call.case.run = None;
    }
    // C drops the rest of a block after streams of equal length.
    call.case.filters.iter_mut().filter(|id| **id == OLD_BYTEDELTA).for_each(|id| *id = BYTEDELTA);
    call.target = Target::Blosc3_0;
    call
}

/// Data in pieces of any size, half of them of whole items.
fn cut<'a>(call: &Call, data: &'a [u8]) -> Vec<&'a [u8]> {
    let mut draw = Draw::new(call.case.recipe.seed.into(), "cut", 0);
    let unit = if draw.chance(50) { call.case.typesize } else { 1 };
    let (mut blocks, mut rest) = (Vec::new(), data);
    let least = data.len() / 40;
    while !rest.is_empty() {
        let nbytes = (least + draw.any_size(14)).div_ceil(unit).max(1) * unit;
        let (block, after) = rest.split_at(nbytes.min(rest.len()));
        blocks.push(block);
        rest = after;
    }
    blocks
}

/// Whether C keeps all of a block. Three filters write into the data, which are filtered again
/// after training a dictionary.
fn is_exact(call: &Call, block: &[u8]) -> bool {
    let overwritten = call.nfilters() > 2 && call.case.dict;
    let lossy = call.is_lossy() || overwritten;
    !lossy && is_kept(call, block.len())
}

/// Whether C sets all bytes of a block with delta: it leaves out bytes after the last whole item.
fn is_kept(call: &Call, nbytes: usize) -> bool {
    !call.has(DELTA) || nbytes.is_multiple_of(call.delta_width())
}

/// Checks that all ways of reading the chunk agree with each other.
fn read_blocks(call: &Call, bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
    let chunk = Chunk::parse(bytes)?;
    let mut scratch = Scratch::new(&dparams(call, 1));
    let report = chunk.validate(Depth::Decode, &mut scratch);
    if !report.is_ok() {
        return fail(format!("validate: {report:?}"));
    }
    let vl = chunk.as_vl()?;
    let blocks: Vec<Vec<u8>> = (0..vl.nblocks())
        .map(|nblock| vl.read(nblock, &mut scratch))
        .collect::<blosc_chunk::error::Result<_>>()?;
    compare("blocks and the whole", &blocks.concat(), &decode(call, bytes)?)?;
    Ok(blocks)
}

/// Checks that C reads the same blocks, together and alone. In the whole chunk it gets later blocks
/// with delta wrong.
fn check_read(call: &Call, reply: &Reply, blocks: &[Vec<u8>]) -> Result<Verdict> {
    let facts = &reply.facts;
    let Some((whole, theirs)) = reply.parts.split_first() else { return fail("no content") };
    if facts["count"] != 0 || facts["blocks"] != blocks.len() || theirs.len() != 2 * blocks.len() {
        return fail(format!("refused by the oracle: {facts}"));
    }
    let expected = blocks.iter().chain(blocks);
    for (nblock, (block, theirs)) in expected.zip(theirs).enumerate() {
        let name = format!("block {}", nblock % blocks.len());
        if is_kept(call, block.len()) {
            compare(&name, block, theirs)?;
        } else {
            compare(
                &format!("length of {name}"),
                &block.len().to_le_bytes(),
                &theirs.len().to_le_bytes(),
            )?;
        }
    }
    if call.has(DELTA) && *whole != blocks.concat() {
        return Ok(Verdict::Misread);
    }
    compare("read as a whole by the oracle", &blocks.concat(), whole)?;
    Ok(Verdict::Equal)
}

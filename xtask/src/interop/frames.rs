//! Contiguous frames: C-Blosc2 through python-blosc2 against `b2frame`.

use core::ops::Range;
use std::fs;

use b2frame::{
    Budget, ChunkBytes, CompressOptions, FrameParams, FrameWriter, SChunk, compress_stream,
    report::VerifyOptions,
};
use blosc_chunk::{Chunk, error::Blame};
use blosc_io::MemStore;
use serde_json::{Value, json};

use super::{
    Bench, Case, Verdict, c_blosc2,
    case::DELTA,
    chunks::{cparams, cparams_json, judge, threads},
    compare,
    oracle::Reply,
};
use crate::failure::{Context, Result, fail};

/// python-blosc2 writes a frame, `b2frame` reads all of it, and parts.
pub(super) fn read(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let Some(frame) = frame_of_oracle(bench, case)? else { return Ok(Verdict::Refused) };
    let found = open(bench, case, &frame).at("opening").and_then(|schunk| {
        let found = decode(&schunk, case).at("decoding")?;
        check_slices(&schunk, case, &found)?;
        check_layers(&schunk, case)?;
        let report = schunk.verify(&VerifyOptions::default(), |_| {});
        if report.is_ok() { Ok(found) } else { fail(format!("verify: {report:?}")) }
    });
    judge(case, content_for_oracle(bench, case, &frame)?, found)
}

/// A frame written by python-blosc2.
pub(super) fn frame_of_oracle(bench: &mut Bench, case: &Case) -> Result<Option<Vec<u8>>> {
    let mut request = cparams_json(case);
    request["op"] = "frame_write".into();
    request["chunksize"] = case.chunksize.into();
    request["metalayers"] = names(&case.metalayers);
    request["vlmetalayers"] = names(&case.vlmetalayers);
    let data = case.data();
    let layers =
        case.metalayers.iter().chain(&case.vlmetalayers).map(|(_, content)| content.as_slice());
    let parts: Vec<&[u8]> = core::iter::once(data.as_slice()).chain(layers).collect();
    bench.oracle.try_ask(request, &parts)?.map(Reply::into_first).transpose()
}

/// The data that python-blosc2 reads from its own frame, if it can.
pub(super) fn content_for_oracle(
    bench: &mut Bench,
    case: &Case,
    frame: &[u8],
) -> Result<Option<Vec<u8>>> {
    let request = json!({"op": "frame_content", "nthreads": case.reader_threads()});
    bench.oracle.try_ask(request, &[frame])?.map(Reply::into_first).transpose()
}

/// `b2frame` writes a frame, python-blosc2 reads all of it, and parts.
pub(super) fn write(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let frame = match compress(case, case.threads) {
        Ok(frame) => frame,
        // Some readers do not support all orders of filters.
        Err(error) if error.blame() == Blame::Usage => return Ok(Verdict::Refused),
        Err(error) => return Err(error.into()),
    };
    compare("one thread and several", &compress(case, 1)?, &frame)?;
    check_read(bench, case, &frame)?;
    Ok(Verdict::Equal)
}

/// Lets python-blosc2 read `frame` and compares all of its findings with the case.
pub(super) fn check_read(bench: &mut Bench, case: &Case, frame: &[u8]) -> Result<()> {
    // C-Blosc2 returns wrong items if it would need the first block or a dictionary for them.
    let asked =
        if case.filters.contains(&DELTA) || case.dict { &[] } else { case.slices.as_slice() };
    let slices: Vec<[usize; 2]> = asked.iter().map(|items| [items.start, items.end]).collect();
    let request = json!({
        "op": "frame_read",
        "through": through(case),
        "nthreads": case.reader_threads(),
        "slices": slices,
    });
    let reply = bench.oracle.ask(request, &[frame])?;
    let Some((content, rest)) = reply.parts.split_first() else { return fail("no content") };
    if !case.is_lossy() {
        compare("read by the oracle", &case.data(), content)?;
    }
    let schunk = SChunk::from_cframe(frame.to_vec())?;
    compare("read by us", content, &decode(&schunk, case)?)?;
    let (slices, layers) = rest.split_at(asked.len());
    for (items, slice) in asked.iter().zip(slices) {
        let bytes = items.start * case.typesize..items.end * case.typesize;
        if !is_misread(&schunk, &bytes)? {
            compare(&format!("items {items:?} read by the oracle"), &content[bytes], slice)?;
        }
    }
    check_facts(case, &reply.facts)?;
    let expected = case.metalayers.iter().chain(&case.vlmetalayers);
    expected.zip(layers).try_for_each(|((name, content), layer)| compare(name, content, layer))
}

/// Whether C-Blosc2 is known to get these bytes of a frame wrong in one of their chunks.
fn is_misread(schunk: &SChunk, bytes: &Range<usize>) -> Result<bool> {
    let mut start = 0;
    for nchunk in 0..schunk.nchunks() {
        let end = start + schunk.chunk_nbytes(nchunk)?;
        let part = bytes.start.max(start)..bytes.end.min(end);
        if let (false, ChunkBytes::Stored(chunk)) = (part.is_empty(), schunk.chunk(nchunk)?) {
            let part = part.start - start..part.end - start;
            if c_blosc2::is_misread(&Chunk::parse(&chunk)?, &part) {
                return Ok(true);
            }
        }
        start = end;
    }
    Ok(false)
}

fn compress(case: &Case, nthreads: usize) -> b2frame::Result<Vec<u8>> {
    let mut params = FrameParams::new(cparams(case).threads(threads(1))).chunksize(case.chunksize);
    for (name, content) in &case.metalayers {
        params = params.metalayer(name, packed(content));
    }
    for (name, content) in &case.vlmetalayers {
        params = params.vlmetalayer(name, packed(content));
    }
    let mut writer = FrameWriter::new(MemStore::default(), &params)?;
    let options = CompressOptions::default().budget(Budget::default().threads(threads(nthreads)));
    compress_stream(&mut case.data().as_slice(), &mut writer, &options, |_| {})?;
    Ok(writer.finish()?.into_bytes())
}

/// `content` in python-blosc2's form of byte strings: MessagePack, bin 8, 16 or 32.
pub(super) fn packed(content: &[u8]) -> Vec<u8> {
    let len = u32::try_from(content.len()).unwrap_or(u32::MAX).to_be_bytes();
    let head = match len {
        [0, 0, 0, len] => vec![0xC4, len],
        [0, 0, high, low] => vec![0xC5, high, low],
        [a, b, c, d] => vec![0xC6, a, b, c, d],
    };
    [head.as_slice(), content].concat()
}

fn open(bench: &Bench, case: &Case, frame: &[u8]) -> Result<SChunk> {
    if !case.through_file {
        return Ok(SChunk::from_cframe(frame.to_vec())?);
    }
    let path = bench.folder.join("case.b2frame");
    fs::write(&path, frame).at(path.display())?;
    Ok(SChunk::open(&path)?)
}

fn decode(schunk: &SChunk, case: &Case) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    let options = Budget::default().threads(threads(case.threads));
    schunk.decode_ordered(0..schunk.nchunks(), &options, |_, data| {
        content.extend_from_slice(data);
        Ok::<(), b2frame::Error>(())
    })?;
    Ok(content)
}

/// Checks that slices read alone are slices of the whole.
fn check_slices(schunk: &SChunk, case: &Case, content: &[u8]) -> Result<()> {
    for items in &case.slices {
        let bytes = items.start * case.typesize..items.end * case.typesize;
        let mut part = vec![0xAA; bytes.len()];
        schunk
            .read(items.start as u64..items.end as u64, &mut part)
            .at(format!("items {items:?}"))?;
        compare(&format!("items {items:?}"), &content[bytes], &part)?;
    }
    Ok(())
}

fn check_layers(schunk: &SChunk, case: &Case) -> Result<()> {
    for (name, content) in &case.metalayers {
        let found = schunk.meta().get(name).map(|layer| layer.content).unwrap_or_default();
        compare(name, &packed(content), found)?;
    }
    for (name, content) in &case.vlmetalayers {
        compare(name, &packed(content), &schunk.vlmeta().get(name)?.unwrap_or_default())?;
    }
    Ok(())
}

/// Checks python-blosc2's description of a frame that `b2frame` wrote.
fn check_facts(case: &Case, facts: &Value) -> Result<()> {
    let expected = json!({
        "nbytes": case.recipe.nbytes,
        "nchunks": case.recipe.nbytes.div_ceil(case.chunksize),
        "typesize": case.typesize,
        "codec": case.codec,
        "clevel": case.level,
        "filters": case.filters,
        "filters_meta": case.filters_meta,
        "metalayers": names(&case.metalayers),
        "vlmetalayers": names(&case.vlmetalayers),
    });
    let wrong = expected
        .as_object()
        .into_iter()
        .flatten()
        .find(|(key, value)| facts[key.as_str()] != **value);
    match wrong {
        None => Ok(()),
        Some((key, value)) => {
            fail(format!("{key}: {value} expected, the oracle says {}", facts[key]))
        }
    }
}

fn names(layers: &[(String, Vec<u8>)]) -> Value {
    layers.iter().map(|(name, _)| name.as_str()).collect()
}

fn through(case: &Case) -> Value {
    if case.through_file { "file".into() } else { "memory".into() }
}

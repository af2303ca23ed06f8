//! Single chunks: C-Blosc2, C-Blosc 1 and numcodecs against `blosc-chunk`.

use core::num::NonZeroUsize;

use blosc_chunk::{
    CParams, Chunk, CodecId, DParams, Decoder, Dict, Encoder, Error, Level, Pipeline, Scratch,
    SplitMode, Target, Threads,
};
use serde_json::{Value, json};

use super::{Bench, Case, Verdict, compare, oracle::Reply};
use crate::failure::{Context, Result};

pub(super) fn blosc2_read(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let mut request = cparams_json(case);
    request["op"] = "blosc2_write".into();
    read(bench, case, request, "blosc2_read")
}

pub(super) fn blosc2_write(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    write(bench, case, "blosc2_read", cparams(case))
}

pub(super) fn blosc1_read(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    read(bench, case, blosc1_json(case, "blosc1_write"), "blosc1_read")
}

pub(super) fn blosc1_write(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    write(bench, case, "blosc1_read", blosc1_cparams(case))
}

pub(super) fn numcodecs_read(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    read(bench, case, blosc1_json(case, "numcodecs_write"), "numcodecs_read")
}

pub(super) fn numcodecs_write(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    write(bench, case, "numcodecs_read", blosc1_cparams(case))
}

/// The oracle writes a chunk; `blosc-chunk` reads all of it, and parts.
fn read(bench: &mut Bench, case: &Case, request: Value, reader: &str) -> Result<Verdict> {
    let Some(reply) = bench.oracle.try_ask(request, &[&case.data()])? else {
        return Ok(Verdict::Refused);
    };
    let chunk = reply.into_first()?;
    let found = decode(&chunk, case.threads);
    if let Ok(found) = &found {
        check_parts(case, &chunk, found)?;
    }
    let back = bench
        .oracle
        .try_ask(json!({"op": reader, "nthreads": case.reader_threads()}), &[&chunk])?;
    judge(case, back.map(Reply::into_first).transpose()?, found)
}

/// Compares the data that the writer reads with `found`. C-Blosc2 cannot read all of its own
/// chunks, and some of the data that it reads are wrong; if the data are known, they decide.
pub(super) fn judge(
    case: &Case,
    content: Option<Vec<u8>>,
    found: Result<Vec<u8>>,
) -> Result<Verdict> {
    if !case.is_exact() {
        let Some(content) = content else {
            return Ok(found.map_or(Verdict::Lost, |_| Verdict::Rescued));
        };
        let found = found?;
        compare("length decoded", &content.len().to_le_bytes(), &found.len().to_le_bytes())?;
        let whole = case.recipe.nbytes / case.typesize * case.typesize;
        compare("decoded", &content[..whole], &found[..whole])?;
        return Ok(Verdict::Equal);
    }
    let data = case.data();
    let is_read = content.is_some_and(|content| content == data);
    match found {
        Ok(found) => {
            compare("decoded", &data, &found)?;
            Ok(if is_read { Verdict::Equal } else { Verdict::Rescued })
        }
        Err(failure) if is_read => Err(failure),
        Err(_) => Ok(Verdict::Lost),
    }
}

/// `blosc-chunk` writes a chunk; the oracle reads it.
fn write(bench: &mut Bench, case: &Case, reader: &str, params: CParams) -> Result<Verdict> {
    let data = case.data();
    let mut encoder = match Encoder::new(params.clone()) {
        Ok(encoder) => encoder,
        // Some readers do not support all orders of filters.
        Err(Error::Param(_)) => return Ok(Verdict::Refused),
        Err(error) => return Err(error.into()),
    };
    let chunk = encoder.encode(&data)?;
    let serial = Encoder::new(params.threads(Threads::One))?.encode(&data)?;
    compare("one thread and several", &serial, &chunk)?;
    let reply =
        bench.oracle.ask(json!({"op": reader, "nthreads": case.reader_threads()}), &[&chunk])?;
    let content = reply.into_first()?;
    if !case.is_lossy() {
        compare("read by the oracle", &data, &content)?;
    }
    compare("read by us", &content, &decode(&chunk, case.threads)?)?;
    Ok(Verdict::Equal)
}

fn decode(chunk: &[u8], nthreads: usize) -> Result<Vec<u8>> {
    Decoder::new(DParams::default().threads(threads(nthreads))).decode(chunk).at("decoding")
}

/// Slices of the chunk are slices of its content.
fn check_parts(case: &Case, chunk: &[u8], content: &[u8]) -> Result<()> {
    let chunk = Chunk::parse(chunk)?;
    let mut scratch = Scratch::new(&DParams::default());
    for items in &case.slices {
        let bytes = items.start * case.typesize..items.end * case.typesize;
        let mut part = vec![0xAA; bytes.len()];
        chunk.read_bytes(bytes.clone(), &mut part, &mut scratch).at(format!("bytes {bytes:?}"))?;
        compare(&format!("bytes {bytes:?}"), &content[bytes], &part)?;
    }
    Ok(())
}

/// The parameters in python-blosc2's form.
pub(super) fn cparams_json(case: &Case) -> Value {
    json!({
        "codec": case.codec,
        "clevel": case.level,
        "typesize": case.typesize,
        "filters": case.filters,
        "filters_meta": case.filters_meta,
        "blocksize": case.blocksize,
        "splitmode": case.splitmode,
        "nthreads": case.threads,
        "use_dict": case.dict,
    })
}

/// The parameters in `blosc-chunk`'s form.
pub(super) fn cparams(case: &Case) -> CParams {
    let split = match case.splitmode {
        1 => SplitMode::Always,
        2 => SplitMode::Never,
        3 => SplitMode::Auto,
        _ => SplitMode::ForwardCompat,
    };
    let dict = if case.dict { Dict::Train { max: 32 << 10 } } else { Dict::None };
    let target = if case.dict { Target::Blosc3_0 } else { Target::default() };
    CParams::default()
        .codec(CodecId(case.codec))
        .clevel(Level::try_from(case.level).unwrap_or(Level::DEFAULT))
        .typesize(case.typesize)
        .filters(Pipeline::from_slots(case.filters, case.filters_meta))
        .blocksize((case.blocksize > 0).then_some(case.blocksize))
        .split(split)
        .dict(dict)
        .target(target)
        .threads(threads(case.threads))
}

/// Parameters of a chunk for C-Blosc 1, which splits by its own rule only.
pub(super) fn blosc1_cparams(case: &Case) -> CParams {
    cparams(case).target(Target::Blosc1_14).split(SplitMode::ForwardCompat)
}

/// The parameters in the form of python-blosc and numcodecs.
pub(super) fn blosc1_json(case: &Case, op: &str) -> Value {
    json!({
        "op": op,
        "cname": cname(case.codec),
        "clevel": case.level,
        "typesize": case.typesize,
        "shuffle": case.blosc1_shuffle(),
        "blocksize": case.blocksize,
        "nthreads": case.threads,
    })
}

/// C-Blosc's name of a codec.
pub(super) fn cname(codec: u8) -> &'static str {
    match codec {
        1 => "lz4",
        2 => "lz4hc",
        4 => "zlib",
        5 => "zstd",
        _ => "blosclz",
    }
}

/// A number of threads.
pub(super) fn threads(count: usize) -> Threads {
    NonZeroUsize::new(count).map_or(Threads::One, Threads::N)
}

//! Chunks with another header: each C library reads the chunks of the other one.

use blosc_chunk::{Error, Target, transcode::transcode_header};
use serde_json::{Value, json};

use super::{
    Bench, Case, Verdict,
    chunks::{blosc1_json, cparams_json},
    compare,
};
use crate::failure::{Context, Result};

/// C-Blosc 1 writes, C-Blosc2 reads.
pub(super) fn to_blosc2(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    transcode(bench, case, blosc1_json(case, "blosc1_write"), Target::Blosc2_0, "blosc2_read")
}

/// C-Blosc2 writes, C-Blosc 1 reads, if the chunk allows it.
pub(super) fn to_blosc1(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let mut request = cparams_json(case);
    request["op"] = "blosc2_write".into();
    transcode(bench, case, request, Target::Blosc1_14, "blosc1_read")
}

fn transcode(
    bench: &mut Bench,
    case: &Case,
    request: Value,
    target: Target,
    reader: &str,
) -> Result<Verdict> {
    let data = case.data();
    let Some(reply) = bench.oracle.try_ask(request, &[&data])? else { return Ok(Verdict::Refused) };
    let chunk = match transcode_header(&reply.into_first()?, target) {
        Err(Error::Param(_)) => return Ok(Verdict::Refused),
        chunk => chunk.at("transcoding")?,
    };
    let reply =
        bench.oracle.ask(json!({"op": reader, "nthreads": case.reader_threads()}), &[&chunk])?;
    compare("read by the other program", &data, &reply.into_first()?)?;
    Ok(Verdict::Equal)
}

//! `b2 convert` and `b2 append`: Bloscpack reads the files that they make of python-blosc2's
//! frames, and the reverse.

use std::{fs, path::Path};

use b2frame::SChunk;
use serde_json::{Value, json};

use super::{Bench, Case, Verdict, compare, run};
use crate::{
    failure::{Context, Result, fail},
    interop::frames::{content_for_oracle, frame_of_oracle},
};

/// A frame becomes a Bloscpack file and a frame again, and both grow; each format's own program
/// reads it.
pub(in crate::interop) fn there_and_back(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let Some(frame) = frame_of_oracle(bench, case)? else { return Ok(Verdict::Refused) };
    let Some(content) = content_for_oracle(bench, case, &frame)? else {
        return Ok(Verdict::Refused);
    };
    let [first, blp, second] =
        ["a.b2frame", "b.blp", "c.b2frame"].map(|name| bench.folder.join(name));
    fs::write(&first, &frame).at(first.display())?;
    for (from, to) in [(&first, &blp), (&blp, &second)] {
        run(
            bench.b2(case, "convert").args(["--quiet", "--force", "--verify"]).args([from, to]),
            &[],
        )?;
    }
    check_blp(bench, case, &blp, &content, "converted")?;
    check_frame(bench, case, &second, &content, "converted back")?;
    compare_metadata(&first, &second)?;
    let more = &content[..content.len() / 2 / case.typesize * case.typesize];
    let all = [&content, more].concat();
    for path in [&blp, &second] {
        run(bench.b2(case, "append").arg("--quiet").arg(path), more)?;
    }
    check_blp(bench, case, &blp, &all, "appended to")?;
    check_frame(bench, case, &second, &all, "appended to")?;
    Ok(Verdict::Equal)
}

fn check_blp(
    bench: &mut Bench,
    case: &Case,
    path: &Path,
    content: &[u8],
    what: &str,
) -> Result<()> {
    let blp = fs::read(path).at(path.display())?;
    let reply = bench.oracle.ask(json!({"op": "blp_read", "nthreads": case.threads}), &[&blp])?;
    let layers =
        |key: &str| reply.facts["metadata"][key].as_object().map_or(0, serde_json::Map::len);
    if (layers("metalayers"), layers("vlmetalayers"))
        != (case.metalayers.len(), case.vlmetalayers.len())
    {
        return fail(format!("{what}: metadata {}", reply.facts["metadata"]));
    }
    compare(&format!("the Bloscpack file, {what},"), content, &reply.into_first()?)
}

fn check_frame(
    bench: &mut Bench,
    case: &Case,
    path: &Path,
    content: &[u8],
    what: &str,
) -> Result<()> {
    let frame = fs::read(path).at(path.display())?;
    match content_for_oracle(bench, case, &frame)? {
        Some(found) => compare(&format!("the frame, {what},"), content, &found),
        None => fail(format!("python-blosc2 does not read the frame, {what}")),
    }
}

/// Compares all layers byte by byte.
fn compare_metadata(first: &Path, second: &Path) -> Result<()> {
    let layers = |path: &Path| -> Result<Value> {
        let schunk = SChunk::open(path)?;
        let fixed: Vec<_> =
            schunk.meta().iter().map(|layer| (layer.name_text(), layer.content.to_vec())).collect();
        let mut variable = vec![];
        for layer in schunk.vlmeta().stored().iter() {
            variable.push((layer.name_text(), schunk.vlmeta().decode(layer)?));
        }
        Ok(json!([fixed, variable]))
    };
    let (before, after) = (layers(first)?, layers(second)?);
    if before == after { Ok(()) } else { fail(format!("metadata {before} became {after}")) }
}

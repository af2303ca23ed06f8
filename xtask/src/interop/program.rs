//! The program `b2` itself, run like by a user, against python-blosc2.

mod bcolz;
mod convert;

use std::{
    fs,
    io::Write,
    path::PathBuf,
    process::{Command, Stdio},
    thread,
};

use blosc_chunk::{CodecId, Pipeline};
use serde_json::json;

use super::{
    Bench, Case, Verdict,
    case::DELTA,
    chunks::judge,
    compare,
    frames::{check_read, content_for_oracle, frame_of_oracle},
};
use crate::{
    failure::{Context, Result, fail},
    workspace,
};

pub(super) use bcolz::{
    array as bcolz_array, parquet as bcolz_parquet, query as bcolz_query, table as bcolz_table,
    text as bcolz_csv, to_store as bcolz_to_store,
};
pub(super) use convert::there_and_back;

/// Builds `b2` as for tests, with all checks on, and returns its path.
pub(super) fn build(parquet: bool) -> Result<PathBuf> {
    let mut cargo = workspace::cargo();
    cargo.args(["build", "--quiet", "--package", "b2-cli", "--bin", "b2"]);
    workspace::run(if parquet { cargo.args(["--features", "parquet"]) } else { &mut cargo })?;
    Ok(workspace::target().join("debug").join("b2"))
}

/// python-blosc2 writes a file; `b2 cat`, `b2 verify` and `b2 decompress` read it.
pub(super) fn read(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let Some(frame) = frame_of_oracle(bench, case)? else { return Ok(Verdict::Refused) };
    let (path, back) = (bench.folder.join("case.b2frame"), bench.folder.join("case.raw"));
    fs::write(&path, &frame).at(path.display())?;
    let found = run(bench.b2(case, "cat").arg(&path), &[]);
    if let Ok(found) = &found {
        run(bench.b2(case, "verify").arg(&path), &[])?;
        run(bench.b2(case, "decompress").args(["--force", "--output"]).arg(&back).arg(&path), &[])?;
        compare("b2 cat and b2 decompress", found, &fs::read(&back).at(back.display())?)?;
    }
    judge(case, content_for_oracle(bench, case, &frame)?, found)
}

/// `b2 compress` writes a file, from a file or from a pipe; python-blosc2 reads it.
pub(super) fn write(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let case = as_the_program_writes(case);
    let (path, raw) = (bench.folder.join("case.b2frame"), bench.folder.join("case.raw"));
    let mut b2 = bench.b2(&case, "compress");
    b2.args(options(&case)).args(["--force", "--output"]).arg(&path);
    let data = case.data();
    if case.through_file {
        fs::write(&raw, &data).at(raw.display())?;
        run(b2.arg(&raw), &[])?;
    } else {
        run(&mut b2, &data)?;
    }
    check_read(bench, &case, &fs::read(&path).at(path.display())?)?;
    Ok(Verdict::Equal)
}

/// `b2 show` prints an array of up to 200 items as NumPy does.
pub(super) fn show(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let path = bench.folder.join("shown.npy");
    let request =
        json!({"op": "array_shown", "path": path.to_string_lossy(), "seed": case.recipe.seed});
    let Some(printed) = bench.oracle.try_ask(request, &[])? else { return Ok(Verdict::Refused) };
    let Some(expected) = printed.parts.first() else { return fail("NumPy printed nothing") };
    let found = run(bench.b2(case, "show").arg(&path), &[])?;
    let found = found.strip_suffix(b"\n").unwrap_or(&found);
    compare(&format!("the text of {}", printed.facts), expected, found)?;
    Ok(Verdict::Equal)
}

impl Bench {
    pub(super) fn b2(&self, case: &Case, command: &str) -> Command {
        let mut b2 = Command::new(&self.b2);
        b2.arg(command).arg("--threads").arg(case.threads.to_string());
        b2
    }
}

/// The case without parameters that the program has no options for, or refuses. Its filters are in
/// the last slots, with delta first.
fn as_the_program_writes(case: &Case) -> Case {
    let mut slots: Vec<(u8, u8)> = case.filters.into_iter().zip(case.filters_meta).collect();
    slots.sort_by_key(|(id, _)| (*id != 0, *id != DELTA));
    let (mut filters, mut filters_meta) = ([0; 6], [0; 6]);
    for (slot, (id, meta)) in slots.into_iter().enumerate() {
        (filters[slot], filters_meta[slot]) = (id, meta);
    }
    Case {
        filters,
        filters_meta,
        dict: false,
        metalayers: vec![],
        vlmetalayers: vec![],
        ..case.clone()
    }
}

fn options(case: &Case) -> Vec<String> {
    let filter = Pipeline::from_slots(case.filters, case.filters_meta).to_string();
    let split = match case.splitmode {
        1 => "always",
        2 => "never",
        3 => "auto",
        _ => "forward",
    };
    let codec = CodecId(case.codec).name().unwrap_or_default();
    let mut options = vec![
        format!("--level={}", case.level),
        format!("--codec={codec}"),
        format!("--filter={filter}"),
        format!("--typesize={}", case.typesize),
        format!("--chunk-size={}", case.chunksize),
        format!("--split={split}"),
    ];
    if case.blocksize > 0 {
        options.push(format!("--block-size={}", case.blocksize));
    }
    if case.is_lossy() {
        options.push("--lossy".to_owned());
        // Only this option says that the bytes are floats; other types are refused.
        options.push(format!("--dtype=f{}", case.typesize));
        options.push("--format=b2frame".to_owned());
    }
    options
}

/// Runs `command` with `input` and returns its output.
fn run(command: &mut Command, input: &[u8]) -> Result<Vec<u8>> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().at(workspace::describe(command))?;
    let stdin = child.stdin.take();
    let output = thread::scope(|scope| {
        // A program that stops early closes the pipe; its exit code tells why.
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
        child.wait_with_output()
    })?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    fail(format!("{}: {}: {}", workspace::describe(command), output.status, said.trim_end()))
}

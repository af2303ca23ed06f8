//! The inputs kept in the repository.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
};

use super::{Fuzzer, folder, seeds};
use crate::{
    failure::{Context, Result, fail},
    workspace,
};

/// The most inputs kept for a target: some of each size.
const MAX_INPUTS: usize = 48;

/// The most bytes of one input, and of all inputs of a target.
const MAX_INPUT_NBYTES: usize = 2 << 10;
const MAX_TARGET_NBYTES: usize = 24 << 10;

/// The folder of a target's kept inputs.
pub(super) fn folder_of(target: &str) -> PathBuf {
    workspace::root().join("conformance/corpus").join(format_of(target)).join(target)
}

/// The format that a target reads, as the conformance suite names it.
pub(super) fn format_of(target: &str) -> &'static str {
    match target {
        "array_read" => "b2nd",
        "frame_sparse" => "sframe",
        "cli_file" | "cli_text" => "b2",
        _ => match target.split('_').next() {
            Some("chunk") => "chunk",
            Some("frame") => "frame",
            Some("store") => "store",
            Some("bloscpack") => "blp",
            Some("bcolz") => "bcolz",
            Some("dtype") => "dtype",
            _ => "codec",
        },
    }
}

/// Replaces the kept inputs of a target by the smallest ones that reach the same code as all known
/// inputs.
pub(super) fn keep(tool: &Fuzzer, target: &str) -> Result<()> {
    let (kept, merged) = (folder_of(target), folder().join("corpus/merged").join(target));
    if merged.is_dir() {
        fs::remove_dir_all(&merged).at(merged.display())?;
    }
    fs::create_dir_all(&merged).at(merged.display())?;
    let corpus = folder().join("corpus").join(target);
    fs::create_dir_all(&corpus).at(corpus.display())?;
    let mut program = Command::new(tool.binary(target));
    program.args(["-merge=1", "-timeout=20", "-verbosity=0"]).arg(&merged).arg(corpus);
    // The fixtures are in the repository anyway.
    let others = seeds(target)?;
    program.args(others.iter().filter(|dir| dir.starts_with(folder())));
    let output = program.stdin(Stdio::null()).output().at(workspace::describe(&program))?;
    if !output.status.success() {
        return fail(format!("{target}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let mut inputs = vec![];
    for file in workspace::files(&merged)? {
        inputs.push((fs::read(&file).at(file.display())?, file));
    }
    let all = inputs.len();
    inputs.retain(|(bytes, _)| bytes.len() <= MAX_INPUT_NBYTES);
    inputs.sort_by_key(|(bytes, _)| bytes.len());
    let step = inputs.len().div_ceil(MAX_INPUTS).max(1);
    if kept.is_dir() {
        fs::remove_dir_all(&kept).at(kept.display())?;
    }
    fs::create_dir_all(&kept).at(kept.display())?;
    let (mut nkept, mut nbytes) = (0, 0);
    for (bytes, file) in inputs.into_iter().step_by(step) {
        if nbytes + bytes.len() > MAX_TARGET_NBYTES {
            break;
        }
        nbytes += bytes.len();
        nkept += 1;
        fs::copy(&file, kept.join(file.file_name().unwrap_or_default())).at(file.display())?;
    }
    println!("{target:<20} {nkept} of {all} inputs kept, {nbytes} bytes");
    Ok(())
}

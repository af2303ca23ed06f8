//! `cargo xtask fuzz`: the fuzz targets, started from the fixtures.
//!
//! Without a target it runs all of them, for `--seconds` in total, and so checks their build. Each
//! starts from a corpus newly made from fixtures and samples, in `fuzz/corpus/seeds`, from
//! `conformance/corpus`, and from the findings of earlier runs on this machine. `--keep` replaces
//! `conformance/corpus` by a selection of all these inputs: small ones that reach the same code.
//! `--built` runs the programs that exist. `chunk_peer` compares with the libblosc2 of the oracles,
//! if they are installed, or of `BLOSC2_LIBRARY`. An input that fails is kept in `fuzz/artifacts`;
//! once the cause is fixed, it moves to the tests of its crate.

mod keep;
mod seeds;

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
    sync::Mutex,
    thread,
};

use crate::{
    args::Args,
    failure::{Context, Failure, Result, fail},
    tools::Tool,
    venv, workspace,
};

const CARGO_FUZZ: Tool = Tool { name: "cargo-fuzz", version: "0.13.2" };

/// The memory limit of a target (MiB): decoders must refuse input before they allocate more.
const MEMORY: u32 = 1024;
const ALLOCATION: u32 = 512;

pub(crate) fn run(mut args: Args) -> Result<()> {
    let seconds: u64 = args.option("--seconds")?.unwrap_or(60);
    let target = args.word();
    let (is_built, is_kept) = (args.flag("--built"), args.flag("--keep"));
    args.finish()?;
    let tool = Fuzzer::find()?;
    if !is_built {
        workspace::run(tool.command("build").args(target.as_ref()))?;
    }
    let targets = match target {
        Some(target) => vec![target],
        None => tool.targets()?,
    };
    if is_kept {
        return targets.iter().try_for_each(|target| keep::keep(&tool, target));
    }
    let jobs = thread::available_parallelism()?.get().min(targets.len());
    let each = (seconds * jobs as u64).div_ceil(targets.len() as u64);
    let queue = Mutex::new(targets.iter());
    let failed = Mutex::new(None);
    let next = || queue.lock().ok()?.next();
    let work = || {
        while let Some(target) = next() {
            if let (Err(failure), Ok(mut failed)) = (smoke(&tool, target, each), failed.lock()) {
                failed.get_or_insert(failure);
            }
        }
    };
    thread::scope(|scope| (0..jobs).for_each(|_| drop(scope.spawn(work))));
    failed.into_inner().ok().flatten().map_or(Ok(()), Err::<(), Failure>)
}

/// Runs one built target and reports the number of its runs.
fn smoke(tool: &Fuzzer, target: &str, seconds: u64) -> Result<()> {
    let fuzz = folder();
    let (corpus, artifacts) =
        (fuzz.join("corpus").join(target), fuzz.join("artifacts").join(target));
    for dir in [&corpus, &artifacts] {
        fs::create_dir_all(dir).at(dir.display())?;
    }
    let mut program = Command::new(tool.binary(target));
    program
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-rss_limit_mb={MEMORY}"))
        .arg(format!("-malloc_limit_mb={ALLOCATION}"))
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .env("LSAN_OPTIONS", format!("suppressions={}", fuzz.join("leaks.txt").display()))
        .args(["-timeout=20", "-verbosity=0", "-print_final_stats=1"])
        .arg(&corpus)
        .args(seeds(target)?);
    if let (None, Some(library)) = (std::env::var_os("BLOSC2_LIBRARY"), venv::libblosc2("oracles"))
    {
        program.env("BLOSC2_LIBRARY", library);
    }
    let output = program.stdin(Stdio::null()).output().at(workspace::describe(&program))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        let runs =
            said.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
        println!("{target:<20} {:>10} runs in {seconds} s", runs.unwrap_or("?").trim());
        return Ok(());
    }
    fail(format!("{target}: {}\n{said}", output.status))
}

/// The folders that a target starts from: fixtures, and inputs made for it.
fn seeds(target: &str) -> Result<Vec<PathBuf>> {
    let folders: &[&str] = match target {
        "frame_sparse" => &[],
        "store_open" => &["stores", "stores/malformed"],
        "dtype_npy" | "dtype_parse" => &["bloscpack"],
        _ if target.starts_with("frame_") => &["frames", "frames/generated"],
        _ if target.starts_with("chunk_") => &["chunks/generated"],
        _ if target.starts_with("bloscpack_") => &["bloscpack"],
        _ => &[],
    };
    let cases = workspace::root().join("conformance/cases").join(keep::format_of(target));
    let fixtures = folders.iter().map(blosc_testdata::fixture::path).chain([cases]);
    let fixtures = fixtures.filter(|path| path.is_dir());
    let made = folder().join("corpus/seeds").join(target);
    seeds::write(target, &made)?;
    let kept = Some(keep::folder_of(target)).filter(|kept| kept.is_dir());
    Ok(fixtures.chain([made]).chain(kept).collect())
}

fn folder() -> PathBuf {
    workspace::root().join("fuzz")
}

/// `cargo fuzz` and the compiler that it needs.
struct Fuzzer {
    program: PathBuf,
    has_nightly: bool,
    /// The triple of this machine, as in the paths of built programs.
    host: String,
}

impl Fuzzer {
    fn find() -> Result<Self> {
        let program = CARGO_FUZZ.find_or_install()?;
        let mut nightly = Command::new("cargo");
        clean(&mut nightly).env("RUSTUP_TOOLCHAIN", "nightly").arg("--version");
        let has_nightly = nightly.output().is_ok_and(|output| output.status.success());
        let version = workspace::output(Command::new("rustc").arg("-vV"))?;
        let version = String::from_utf8_lossy(&version).into_owned();
        let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
        Ok(Self { program, has_nightly, host: host.to_owned() })
    }

    /// A command of `cargo fuzz`. Without a nightly compiler, a variable makes the stable one
    /// accept unstable options.
    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(&self.program);
        clean(&mut command).current_dir(workspace::root()).arg(name);
        // GCC promotes constant local arrays of the Zstandard library to statics and poisons them
        // all the same when they go out of scope: a false alarm.
        command.env("CFLAGS", "-fno-sanitize-address-use-after-scope");
        if self.has_nightly {
            command.env("RUSTUP_TOOLCHAIN", "nightly");
        } else {
            command.env("RUSTC_BOOTSTRAP", "1");
        }
        command
    }

    fn targets(&self) -> Result<Vec<String>> {
        let list = workspace::output(&mut self.command("list"))?;
        Ok(String::from_utf8_lossy(&list).split_whitespace().map(str::to_owned).collect())
    }

    fn binary(&self, target: &str) -> PathBuf {
        folder().join("target").join(&self.host).join("release").join(target)
    }
}

/// Removes the variables that the running cargo has set, so that another toolchain can be chosen.
fn clean(command: &mut Command) -> &mut Command {
    command
        .env_remove("CARGO")
        .env_remove("RUSTC")
        .env_remove("RUSTUP_TOOLCHAIN")
        .env_remove("RUSTDOC")
}

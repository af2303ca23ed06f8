//! `cargo xtask mutate --commands`: damaged files given to the commands of `b2`.
//!
//! The program runs inside of this process, in several processes without standard output. After
//! each command there must be no panic, and reading must not have changed the input. The memory of
//! the process beyond its start must stay below [`MAX_MEMORY`].

mod inputs;
mod lines;
mod tally;

use std::{
    ffi::OsString,
    fs,
    process::{Command, Stdio},
    thread,
    time::Instant,
};

use blosc_testdata::data::XorShift32;

use blosc_trials::{
    cases::{Panics, below, draw},
    mutate::change,
};

use crate::{
    args::Args,
    failure::{Context, Result, fail},
};
use inputs::{Folder, Input, inputs};
use lines::Line;
use tally::Tally;

/// Memory that a process may need beyond its programs and samples (bytes).
const MAX_MEMORY: u64 = 256 << 20;

/// The number of reading commands on each file before one that may change it.
const NREADING: usize = 3;

/// The options of the command line, and this process's part of the cases.
struct Plan {
    nfiles: u64,
    seed: u64,
    jobs: u64,
    only: Option<u64>,
    part: Option<u64>,
}

pub(super) fn run(mut args: Args) -> Result<()> {
    let available = thread::available_parallelism()?.get() as u64;
    let plan = Plan {
        nfiles: args.option("--files")?.unwrap_or(10_000),
        seed: args.option("--seed")?.unwrap_or(1),
        jobs: args.option("--jobs")?.unwrap_or(available).max(1),
        only: args.option("--case")?,
        part: args.option("--part")?,
    };
    args.finish()?;
    match (plan.only, plan.part) {
        (Some(number), _) => run_case(&plan, number),
        (None, Some(part)) => {
            let tally = run_part(&plan, part)?;
            eprintln!("{}", serde_json::to_string(&tally)?);
            Ok(())
        }
        (None, None) => run_all(&plan),
    }
}

/// Starts a process for each part of the cases, and adds up their findings.
fn run_all(plan: &Plan) -> Result<()> {
    let start = Instant::now();
    let program = std::env::current_exe()?;
    let mut processes = vec![];
    for part in 0..plan.jobs {
        let mut process = Command::new(&program);
        process.args(["mutate", "--commands"]);
        for (name, value) in [("--files", plan.nfiles), ("--seed", plan.seed)] {
            process.arg(name).arg(value.to_string());
        }
        process.arg("--jobs").arg(plan.jobs.to_string()).arg("--part").arg(part.to_string());
        process.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        processes.push(process.spawn()?);
    }
    let mut sum = Tally::default();
    for process in processes {
        let output = process.wait_with_output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return fail(format!("{}: {}", output.status, said.trim_end()));
        }
        sum.add(serde_json::from_str(said.lines().last().unwrap_or_default())?);
    }
    println!("{sum}{:.1} s, seed {}", start.elapsed().as_secs_f64(), plan.seed);
    Ok(())
}

/// The cases of this process.
fn run_part(plan: &Plan, part: u64) -> Result<Tally> {
    let mut runner = Runner::new()?;
    let before = memory_of_process()?;
    let jobs = usize::try_from(plan.jobs)?;
    for number in (part..plan.nfiles).step_by(jobs) {
        runner.run(plan.seed, number)?;
        let needed = memory_of_process()?.saturating_sub(before);
        runner.tally.peak_nbytes = needed;
        if needed > MAX_MEMORY {
            let again = format!(
                "again: cargo xtask mutate --commands --seed {} --case {number}",
                plan.seed
            );
            return fail(format!("{again}: {needed} bytes of memory were needed"));
        }
    }
    Ok(runner.tally)
}

/// Runs one case, and prints the output of its commands.
fn run_case(plan: &Plan, number: u64) -> Result<()> {
    let mut runner = Runner::new()?;
    runner.is_loud = true;
    let done = runner.run(plan.seed, number);
    println!("the files are kept in {}", runner.folder.keep().display());
    done
}

/// The greatest memory of this process so far (bytes); 0 if the system does not report it.
fn memory_of_process() -> Result<u64> {
    let Ok(status) = fs::read_to_string("/proc/self/status") else { return Ok(0) };
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    Ok(kib.unwrap_or(0) << 10)
}

/// Runs cases one after another.
struct Runner {
    inputs: Vec<Input>,
    folder: Folder,
    panics: Panics,
    tally: Tally,
    is_loud: bool,
}

impl Runner {
    fn new() -> Result<Self> {
        let (inputs, folder) = (inputs()?, Folder::new()?);
        folder.write_companions(&inputs)?;
        let tally = Tally::default();
        Ok(Self { inputs, folder, panics: Panics::watch(), tally, is_loud: false })
    }

    fn run(&mut self, seed: u64, number: u64) -> Result<()> {
        let mut draw = draw(seed, number);
        let again =
            || format!("again: cargo xtask mutate --commands --seed {seed} --case {number}");
        self.check(&mut draw).at(again())
    }

    fn check(&mut self, draw: &mut XorShift32) -> Result<()> {
        let input = &self.inputs[below(draw, self.inputs.len())];
        let format = input.format;
        let mut files = input.files.clone();
        for _ in 0..=below(draw, 4) {
            let foreign = &self.inputs[below(draw, self.inputs.len())].files;
            change(&mut files, &foreign.0[below(draw, foreign.0.len())].1, draw);
        }
        let path = self.folder.place(input, &files)?;
        let lines: Vec<Line> =
            (0..NREADING).map(|_| lines::reading(draw, &path, &self.folder)).collect();
        for line in &lines {
            run_line(line, format, &self.panics, &mut self.tally, self.is_loud)?;
        }
        self.folder.check(input, &files).at(lines
            .iter()
            .map(Line::to_string)
            .collect::<Vec<_>>()
            .join("; "))?;
        if below(draw, 2) == 0 {
            let line = lines::changing(draw, &path, &self.folder);
            run_line(&line, format, &self.panics, &mut self.tally, self.is_loud)?;
        }
        self.tally.count_file(format);
        Ok(())
    }
}

/// Runs `b2`; a panic of any of its threads is a failure.
fn run_line(
    line: &Line,
    format: &str,
    panics: &Panics,
    tally: &mut Tally,
    is_loud: bool,
) -> Result<()> {
    let general: &[&str] = if is_loud { &["-T1"] } else { &["-qq", "-T1"] };
    if is_loud {
        println!("b2 {line}");
    }
    let argv = ["b2"].into_iter().chain(line.words(general)).map(OsString::from);
    let start = Instant::now();
    let code = panics.catch(|| Ok(b2_cli::run(argv) as u8)).at(line)?;
    if let Some(said) = panics.take() {
        return fail(format!("{line}: a thread panicked: {said}"));
    }
    if is_loud {
        println!("exit code {code}");
    }
    tally.count_run(format, &line.command(), code, start.elapsed(), line);
    Ok(())
}

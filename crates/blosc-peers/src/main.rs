//! Speed and size of this workspace's crates against C-Blosc2, side by side in one process.
//!
//! `cargo xtask bench-peers` builds and runs it; users never do. Both sides do the same work on the
//! same data with the same parameters in turns, and each reads the other's output before the
//! measurement.

#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod c_blosc2;
mod clock;
mod failure;
mod goals;
mod groups;
mod machine;
mod plot;
mod runs;
mod sets;
mod table;

use core::time::Duration;
use std::{path::PathBuf, process::ExitCode, time::Instant};

use clock::Effort;
use failure::{Result, fail};
use groups::{
    Bench, arrays, bcolz, bloscpack, chunks, filters, frames, many, scaling, stores, streams,
};

type Group = (&'static str, fn(&mut Bench) -> Result<()>);

const GROUPS: &[Group] = &[
    ("filters", filters::run),
    ("streams", streams::run),
    ("chunks", chunks::whole),
    ("array", chunks::array),
    ("small", chunks::small),
    ("items", chunks::items),
    ("threads", chunks::own_threads),
    ("frames", frames::run),
    ("open", many::open),
    ("save", many::save),
    ("scaling", scaling::run),
    ("arrays", arrays::run),
    ("bloscpack", bloscpack::run),
    ("bcolz", bcolz::run),
    ("stores", stores::run),
    #[cfg(feature = "rust-peers")]
    ("peers", groups::peers::run),
];

/// The name of a group, if it exists.
fn group(name: &str) -> Option<&'static str> {
    GROUPS.iter().map(|(group, _)| *group).find(|group| *group == name)
}

/// The options of the command line.
struct Options {
    library: PathBuf,
    python: PathBuf,
    root: PathBuf,
    out: PathBuf,
    quick: bool,
    /// The groups to measure, separated by commas; all groups by default.
    only: Option<String>,
    /// Whether rows of other groups are taken from the last `rows.csv`.
    is_kept: bool,
    /// The name of the machine, whose page is written beside the results.
    machine: Option<String>,
    /// The number of processes, whose median counts.
    runs: usize,
    /// Whether the reference is measured against itself.
    is_control: bool,
}

fn main() -> ExitCode {
    match options().and_then(|options| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("bench-peers: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn options() -> Result<Options> {
    let mut options = Options {
        library: PathBuf::new(),
        python: PathBuf::from("python3"),
        root: PathBuf::from("."),
        out: PathBuf::from("target/bench-peers"),
        quick: false,
        only: None,
        is_kept: false,
        machine: None,
        runs: 1,
        is_control: false,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().map_or_else(|| fail(format!("{word} needs a value")), Ok);
        match word.as_str() {
            "--library" => options.library = value()?.into(),
            "--python" => options.python = value()?.into(),
            "--root" => options.root = value()?.into(),
            "--out" => options.out = value()?.into(),
            "--only" => options.only = Some(value()?),
            "--keep" => options.is_kept = true,
            "--machine" => options.machine = Some(machine::checked_name(value()?)?),
            "--runs" => options.runs = value()?.parse()?,
            "--control" => options.is_control = true,
            "--quick" => options.quick = true,
            "--full" => options.quick = false,
            _ => return fail(format!("{word}: no such option")),
        }
    }
    Ok(options)
}

fn run(options: &Options) -> Result<()> {
    std::fs::create_dir_all(&options.out)?;
    let file = options.out.join("rows.csv");
    let mut rows = if options.runs > 1 {
        runs::medians(options.runs, &options.args_of_one_run(), &options.out)?
    } else {
        measure(options)?
    };
    if options.is_kept {
        rows = table::with_kept(rows, table::from_csv(&std::fs::read_to_string(&file)?)?);
    }
    let (table, goals) = (table::markdown(&rows), goals::markdown(&rows));
    println!("{} settings, runs: {}.\n\n{table}\n{goals}", rows.len(), options.runs);
    if let Some(name) = &options.machine {
        machine::write_page(name, &options.out, &options.library, options.runs, &rows)?;
    }
    std::fs::write(file, table::csv(&rows))?;
    std::fs::write(options.out.join("goals.md"), goals)?;
    Ok(std::fs::write(options.out.join("table.md"), table)?)
}

impl Options {
    /// The arguments of a process that measures once. The last one of an option counts.
    fn args_of_one_run(&self) -> Vec<String> {
        let is_of_all_runs = |word: &String| word == "--keep";
        let mut args: Vec<String> =
            std::env::args().skip(1).filter(|word| !is_of_all_runs(word)).collect();
        if let Some(at) = args.iter().position(|word| word == "--machine") {
            args.drain(at..args.len().min(at + 2));
        }
        args.extend(["--runs".into(), "1".into()]);
        args
    }

    /// Whether a group is to be measured.
    fn is_chosen(&self, group: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.split(',').any(|name| name == group))
    }
}

fn measure(options: &Options) -> Result<Vec<table::Row>> {
    let folder = options.out.join("files");
    std::fs::create_dir_all(&folder)?;
    let (mib, rounds, least, most) = if options.quick { (16, 7, 3, 1) } else { (64, 9, 10, 4) };
    let mut bench = Bench {
        c: c_blosc2::CBlosc2::load(&options.library)?,
        sets: sets::all(&options.root, mib << 20)?,
        effort: Effort {
            rounds,
            least: Duration::from_millis(least),
            most: Duration::from_secs(most),
            is_control: options.is_control,
        },
        quick: options.quick,
        folder,
        python: options.python.clone(),
        root: options.root.clone(),
        rows: Vec::new(),
    };
    let chosen: Vec<&Group> = GROUPS.iter().filter(|(name, _)| options.is_chosen(name)).collect();
    if chosen.is_empty() {
        return fail("no such group");
    }
    eprintln!("against C-Blosc2 {}", bench.c.version());
    for (name, group) in chosen {
        let start = Instant::now();
        group(&mut bench)?;
        bench.memcpy(name)?;
        eprintln!("{name}: {:.1} s", start.elapsed().as_secs_f64());
    }
    Ok(bench.rows)
}

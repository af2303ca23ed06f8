//! `blpk`: the command line of Bloscpack 0.16.0, on files that its users have.
//!
//! ```text
//! argv --args--> Verb --compress, decompress, append, look--> bloscpack
//!                          |
//!                         log      lines `blpk: ...`, with sizes and values as Python prints them
//! ```
//!
//! Verbs, options, defaults, messages and exit codes are those of Bloscpack 0.16.0, so that scripts
//! go on working. What differs on purpose is listed in `docs/blpk.md`.

mod append;
mod args;
mod compress;
mod decompress;
mod fail;
mod files;
mod header;
mod log;
mod look;
mod pretty;
mod python;

use core::num::NonZeroUsize;
use std::{ffi::OsString, io, path::Path};

use crate::{
    args::GeneralArgs,
    console::Console,
    error::Doing,
    exit::Code,
    output::{Unfinished, signals},
    render::Progress,
};
use args::{Blpk, Verb};
use clap::CommandFactory;
use fail::{Failure, Result};
use log::{Level, Log};

/// Runs the program with `argv`, the name of the program included, on the standard streams.
///
/// SIGINT and SIGTERM are caught for the rest of the process, as by [`run`](crate::run).
///
/// ```
/// let code = b2_cli::run_blpk(["blpk", "info", "no-such-file"].map(Into::into));
/// assert_eq!(code, b2_cli::Code::Data);
/// ```
pub fn run_blpk(argv: impl IntoIterator<Item = OsString>) -> Code {
    let argv: Vec<OsString> = argv.into_iter().collect();
    let (log, done) = match args::parse(&argv) {
        Ok(blpk) => {
            let log = Log::new(level(&blpk));
            let done =
                Session::new(&blpk, &argv, &log).and_then(|session| session.run(&blpk, &argv));
            (log, done)
        }
        Err(failure) => (Log::new(Level::Normal), Err(failure)),
    };
    let Err(failure) = done else { return Code::Success };
    let (out, err) = failure.print();
    // What cannot be printed is a failure all the same.
    let _unseen = log.print(&out, &err);
    failure.code()
}

/// The command line of `blpk` in that of the program, which may be called `blpk`, or have it as a
/// command.
pub(crate) fn argv(argv: &[OsString]) -> Option<&[OsString]> {
    let is_blpk = |name: &OsString| Path::new(name).file_stem().is_some_and(|stem| stem == "blpk");
    if argv.first().is_some_and(is_blpk) {
        return Some(argv);
    }
    argv.get(1..).filter(|rest| rest.first().is_some_and(|name| name == "blpk"))
}

/// All subcommands and options, for the manual.
pub(crate) fn grammar() -> clap::Command {
    Blpk::command()
}

fn level(blpk: &Blpk) -> Level {
    match &blpk.general {
        general if general.debug => Level::Debug,
        general if general.verbose => Level::Verbose,
        general if general.quiet => Level::Quiet,
        _ => Level::Normal,
    }
}

/// What every verb works with.
struct Session<'a> {
    log: &'a Log,
    force: bool,
    threads: NonZeroUsize,
    unfinished: Unfinished,
    console: Console,
}

impl<'a> Session<'a> {
    fn new(blpk: &Blpk, argv: &[OsString], log: &'a Log) -> Result<Self> {
        let unfinished =
            signals::unfinished_of_process().map_err(crate::error::Error::io(Doing::Signals))?;
        let general = GeneralArgs { quiet: u8::from(blpk.general.quiet), ..GeneralArgs::default() };
        let console = Console::new("blpk", &general);
        let threads = blpk.general.threads(argv)?;
        Ok(Self { log, force: blpk.general.force, threads, unfinished, console })
    }

    fn run(&self, blpk: &Blpk, argv: &[OsString]) -> Result<()> {
        if blpk.general.version {
            let version = env!("CARGO_PKG_VERSION");
            return self.log.print(
                &format!("bloscpack: '{version}' (blpk of b2, like Bloscpack 0.16.0)\n"),
                "",
            );
        }
        self.log.debug(&format!("command line arguments are:\n{blpk:#?}"))?;
        match &blpk.verb {
            Some(Verb::Compress(args)) => compress::run(self, argv, args)?,
            Some(Verb::Decompress(args)) => decompress::run(self, args)?,
            Some(Verb::Append(args)) => append::run(self, argv, args)?,
            Some(Verb::Info(args)) => look::info(self, &args.file)?,
            Some(Verb::Verify(args)) => look::verify(self, &args.file)?,
            Some(Verb::Estimate(args)) => look::estimate(self, &args.file)?,
            None => {
                self.log
                    .print(&format!("{}\nblpk: error: too few arguments\n", args::usage("")), "")?;
                return Err(Failure::silent_usage());
            }
        }
        self.log.verbose("done")
    }

    /// The first lines of a verbose run.
    fn greet(&self, what: &str) -> Result<()> {
        self.say_threads()?;
        self.log.verbose(&format!("getting ready for {what}"))
    }

    /// Threads as the command line says, and the usual memory.
    fn budget(&self) -> bloscpack::Budget {
        bloscpack::Budget::default().threads(blosc_chunk::Threads::N(self.threads))
    }

    fn say_threads(&self) -> Result<()> {
        let plural = if self.threads.get() > 1 { "s" } else { "" };
        self.log.verbose(&format!("using {} thread{plural}", self.threads))
    }

    /// A bar for the work on `file`.
    fn progress(&self, file: &Path, total: Option<u64>) -> Bar {
        Bar(Progress::new(&self.console, &file.display().to_string(), total))
    }
}

/// Moves with the bytes that pass.
struct Bar(Progress);

impl Bar {
    fn add(&self, nbytes: u64) {
        self.0.add(nbytes);
    }

    /// `source`, metered.
    fn meter<R>(&self, source: R) -> Metered<'_, R> {
        Metered { source, bar: self }
    }
}

struct Metered<'a, R> {
    source: R,
    bar: &'a Bar,
}

impl<R: io::Read> io::Read for Metered<'_, R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.source.read(buf)?;
        self.bar.add(n as u64);
        Ok(n)
    }
}

//! A run: the state that every verb uses, and the choice of the verb.

use core::num::NonZeroUsize;
use std::{ffi::OsString, path::Path};

use b2_program::{
    Code, Console, Manner, Program,
    progress::Progress,
    signals::{self, Unfinished},
};
use clap::CommandFactory;

use crate::{
    append,
    args::{self, Blpk, Verb},
    compress, decompress,
    fail::{Failure, Result},
    log::{Level, Log},
    look,
};

/// Runs the program with `argv`, including the name of the program, on the standard streams.
///
/// From the first call on, the process catches SIGHUP, SIGINT, SIGQUIT and SIGTERM: they remove
/// partial output and end the process as the signal does.
///
/// ```
/// let code = blpk::run(["blpk", "info", "no-such-file"].map(Into::into));
/// assert_eq!(code, blpk::Code::Data);
/// ```
pub fn run(argv: impl IntoIterator<Item = OsString>) -> Code {
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
    // A failure that cannot be printed still sets the exit code.
    let _unseen = log.print(&out, &err);
    failure.code()
}

/// The command line of `blpk` within that of the program, which is named `blpk`, or has `blpk` as a
/// command.
///
/// ```
/// let argv = ["b2", "blpk", "info"].map(Into::into);
/// assert_eq!(blpk::find_command_line(&argv), Some(&argv[1..]));
/// assert_eq!(blpk::find_command_line(&argv[..1]), None);
/// ```
#[must_use]
pub fn find_command_line(argv: &[OsString]) -> Option<&[OsString]> {
    let is_blpk = |name: &OsString| Path::new(name).file_stem().is_some_and(|stem| stem == "blpk");
    if argv.first().is_some_and(is_blpk) {
        return Some(argv);
    }
    argv.get(1..).filter(|rest| rest.first().is_some_and(|name| name == "blpk"))
}

/// All subcommands and options, for the manual.
#[must_use]
pub fn grammar() -> clap::Command {
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

/// This program, with its error type.
#[derive(Clone, Debug)]
pub(crate) struct ThisProgram;

impl Program for ThisProgram {
    type Error = Failure;

    fn is_object(_: &Path) -> bool {
        false
    }
}

/// The state that every verb uses.
pub(crate) struct Session<'a> {
    pub(crate) log: &'a Log,
    pub(crate) force: bool,
    threads: NonZeroUsize,
    pub(crate) unfinished: Unfinished,
    console: Console<ThisProgram>,
}

impl<'a> Session<'a> {
    fn new(blpk: &Blpk, argv: &[OsString], log: &'a Log) -> Result<Self> {
        let unfinished = signals::unfinished_of_process()?;
        let manner = Manner { quiet: u8::from(blpk.general.quiet), ..Manner::default() };
        let console = Console::new("blpk", manner);
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
    pub(crate) fn greet(&self, what: &str) -> Result<()> {
        self.say_threads()?;
        self.log.verbose(&format!("getting ready for {what}"))
    }

    /// The threads of the command line, and the default memory.
    pub(crate) fn budget(&self) -> bloscpack::Budget {
        bloscpack::Budget::default().threads(blosc_chunk::Threads::N(self.threads))
    }

    pub(crate) fn say_threads(&self) -> Result<()> {
        let plural = if self.threads.get() > 1 { "s" } else { "" };
        self.log.verbose(&format!("using {} thread{plural}", self.threads))
    }

    /// A progress bar for `file`.
    pub(crate) fn progress(&self, file: &Path, total: Option<u64>) -> Progress {
        Progress::new(&self.console, &file.display().to_string(), total)
    }
}

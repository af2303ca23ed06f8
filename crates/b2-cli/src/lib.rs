//! `b2`: compress, inspect, verify and restore files of the Blosc family.
//!
//! ```text
//! argv --args--> Command --commands--> libraries      b2frame does the work
//!                   |                     |
//!                Context               report          findings as data
//!                   |                     |
//!                console <----------------+            the only place that prints
//! ```
//!
//! The program is a thin layer over [`b2frame`]: it names files, bounds memory, writes output
//! safely and prints for people. [`run`] is the whole program, for other front ends; the binary
//! only passes its arguments. `docs/cli.md` describes the commands. The libraries decode all data;
//! only `dump` knows the fields of formats.
//!
//! Output files are written beside their target and renamed ([`b2_program::Staged`]). Failures and
//! signals remove them ([`b2_program::signals`]). Input from pipes passes through bounded memory
//! (`inputs::object_reader`). Errors tell who is to blame, which decides the [exit code](Code). `b2
//! blpk` is the program [`blpk`].

#![cfg_attr(doctest, doc = include_str!("../README.md"))]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod args;
mod commands;
mod console;
mod content;
mod context;
mod conversion;
mod error;
mod exit;
mod formats;
mod inputs;
mod memory;
mod metadata;
mod output;
mod plot;
mod program;
mod render;
mod report;
mod sequence;

use std::{ffi::OsString, path::Path};

use b2_program::wrong_use::WrongUse;
use blosc_data::Openers;

use args::{CheckArgs, Cli, Command, GeneralArgs};
use console::{Console, tell_failure};
use context::Context;
use error::{Error, Result};
use render::error_position::ErrorPosition;

pub use exit::Code;

/// Runs the program on the standard streams, with `argv` and the program's name as its first word.
///
/// From the first call on, SIGHUP, SIGINT, SIGQUIT and SIGTERM are caught for the rest of the
/// process: they remove partial output and then end the process as usual.
///
/// ```
/// let code = b2_cli::run(["b2", "info", "no-such-file"].map(Into::into));
/// assert_eq!(code, b2_cli::Code::System);
/// ```
pub fn run(argv: impl IntoIterator<Item = OsString>) -> Code {
    run_with(argv, vec![])
}

/// As [`run`], with `openers` for inputs other than files.
pub fn run_with(
    argv: impl IntoIterator<Item = OsString>,
    openers: Vec<Box<dyn blosc_data::Opener>>,
) -> Code {
    let argv: Vec<OsString> = argv.into_iter().collect();
    if let Some(code) = commands::completions::complete(&argv) {
        return code;
    }
    if let Some(argv) = blpk::find_command_line(&argv) {
        return blpk::run(argv.iter().cloned());
    }
    let mut argv = argv.into_iter().peekable();
    let program = argv
        .peek()
        .and_then(|name| Path::new(name).file_stem())
        .map_or("b2".into(), |name| name.to_string_lossy());
    let program = program.into_owned();
    let argv: Vec<OsString> = argv.collect();
    let json = argv.iter().take_while(|word| *word != "--").any(|word| word == "--json");
    if let [_, help, topic] = &argv[..]
        && help == "help"
        && let Some(text) = topic.to_str().and_then(commands::man::topic)
    {
        let openers = Openers::new(openers);
        return run_printer(&program, &GeneralArgs::default(), &openers, |console| {
            console.print(&text)
        });
    }
    match args::parse(argv.iter().cloned()) {
        Ok(cli) => {
            let name = args::command_name(&argv);
            let command = args::options_of(name.as_deref());
            dispatch(&program, cli, &Openers::new(openers), command)
        }
        Err(error) => {
            let command = args::command_name(&argv);
            print_usage_error(&program, &error, command.as_deref(), json);
            if let (clap::error::ErrorKind::DisplayHelp, Some(kinds)) =
                (error.kind(), kinds_of(&Openers::new(openers)))
            {
                let console = Console::new(&program, &GeneralArgs::default());
                let _unseen = console.print(&format!("\nThis program reads {kinds} as well.\n"));
            }
            if error.use_stderr() { Code::Usage } else { Code::Success }
        }
    }
}

/// The foreign formats that this build reads, as a list; `None` if there are none.
fn kinds_of(openers: &Openers) -> Option<String> {
    let kinds: Vec<&str> = openers.iter().filter_map(blosc_data::Opener::kind_name).collect();
    (!kinds.is_empty()).then(|| kinds.join(", "))
}

/// Prints a usage error, or a text of `--help`. The exit code of a usage error does not depend on
/// whether it can be printed.
fn print_usage_error(program: &str, error: &clap::Error, command: Option<&str>, json: bool) {
    if !error.use_stderr() {
        let _unseen = error.print();
        return;
    }
    let WrongUse { message, hint } = WrongUse::from_error(error, command);
    let console = Console::new(program, &GeneralArgs { json, ..GeneralArgs::default() });
    console.problem(None, "usage", &message, ErrorPosition::default(), Some(&hint));
}

/// The name of the command that runs, and its options.
type Running = (Option<String>, Vec<String>);

fn dispatch(program: &str, cli: Cli, openers: &Openers, running: Running) -> Code {
    let Some(command) = cli.command else {
        return run_without_command(program, cli.version, cli.verbose, openers);
    };
    macro_rules! run {
        ($args:ident => $command:path) => {
            run!($args, CheckArgs::default() => $command)
        };
        ($args:ident, $check:expr => $command:path) => {
            run_command(program, &$args.general, ($check, running), openers, |cx| {
                $command(&$args.own, cx)
            })
        };
    }
    match command {
        Command::Compress(args) => run!(args => commands::compress::run),
        Command::Decompress(args) => run!(args, args.own.checks => commands::decompress::run),
        Command::Cat(args) => run!(args, args.own.checks => commands::cat::run),
        Command::Info(args) => run!(args => commands::info::run),
        Command::List(args) => run!(args => commands::list::run),
        Command::Verify(args) => run!(args => commands::verify::run),
        Command::Diff(args) => run!(args, args.own.checks => commands::diff::run),
        Command::Stats(args) => run!(args, args.own.checks => commands::stats::run),
        Command::Plot(args) => run!(args, args.own.checks => commands::plot::run),
        Command::View(args) => run!(args => commands::view::run),
        Command::Recompress(args) => run!(args, args.own.checks => commands::recompress::run),
        Command::Tune(args) => run!(args => commands::tune::run),
        Command::Bench(args) => run!(args => commands::bench::run),
        Command::Extract(args) => run!(args => commands::frames::extract),
        Command::Split(args) => run!(args => commands::frames::split),
        Command::Join(args) => run!(args => commands::frames::join),
        Command::Scan(args) => run!(args => commands::scan::run),
        Command::Sum(args) => run!(args, args.own.checks => commands::sum::run),
        Command::Rescue(args) => run!(args => commands::rescue::run),
        Command::Compat(args) => run!(args => commands::compat::run),
        Command::Seal(args) => run!(args => commands::seal::run),
        Command::Repack(args) => run!(args, args.own.checks => commands::repack::run),
        Command::Pack(args) => run!(args => commands::pack::pack),
        Command::Unpack(args) => run!(args => commands::pack::unpack),
        Command::Show(args) => run!(args, args.own.checks => commands::show::run),
        Command::Convert(args) => run!(args, args.own.checks => commands::convert::run),
        Command::Append(args) => run!(args, args.own.checks => commands::append::run),
        Command::Table(args) => run!(args, args.own.checks => commands::table::run),
        Command::Meta(args) => run!(args => commands::meta::run),
        Command::Dump(args) => run!(args => commands::dump::run),
        Command::Formats(args) => run_printer(program, &args, openers, commands::formats::run),
        Command::Completions(args) => {
            run_printer(program, &GeneralArgs::default(), openers, |console| {
                commands::completions::run(&args, console)
            })
        }
        Command::Man(args) => run_printer(program, &GeneralArgs::default(), openers, |console| {
            commands::man::run(&args, console)
        }),
    }
}

/// Runs without a command: prints the version, or the help as a usage error.
fn run_without_command(program: &str, version: bool, verbose: bool, openers: &Openers) -> Code {
    if version {
        return run_printer(
            program,
            &GeneralArgs { verbose: verbose.into(), ..GeneralArgs::default() },
            openers,
            |console| print_version(console, openers),
        );
    }
    let console = Console::new(program, &GeneralArgs::default());
    console.note(&args::grammar().render_help().to_string());
    Code::Usage
}

/// Runs a command over files.
fn run_command(
    program: &str,
    general: &GeneralArgs,
    (check, running): (CheckArgs, Running),
    openers: &Openers,
    command: impl FnOnce(&Context) -> Code,
) -> Code {
    if general.version {
        return run_printer(program, general, openers, |_| Ok(()));
    }
    let console = Console::new(program, general).command(running.0, running.1);
    let unfinished = match b2_program::signals::unfinished_of_process() {
        Ok(unfinished) => unfinished,
        Err(refused) => {
            let error = Error::from(refused);
            tell_failure(&console, None, &error);
            return error.code();
        }
    };
    let cx =
        Context::new(console.clone(), general, unfinished).openers(openers.clone()).mismatch(check);
    let code = cx.code_of_all(command(&cx));
    if console.verbose() > 0 {
        openers.iter().filter_map(|opener| opener.summary()).for_each(|line| console.note(&line));
    }
    code
}

/// Runs a command that prints and reads no inputs.
fn run_printer(
    program: &str,
    general: &GeneralArgs,
    openers: &Openers,
    command: impl FnOnce(&Console) -> Result<()>,
) -> Code {
    let console = Console::new(program, general);
    let done = if general.version { print_version(&console, openers) } else { command(&console) };
    match done {
        Ok(()) => Code::Success,
        Err(error) if error.is_closed_pipe() => Code::Success,
        Err(error) => {
            tell_failure(&console, None, &error);
            error.code()
        }
    }
}

fn print_version(console: &Console, openers: &Openers) -> Result<()> {
    let more = match console.verbose() {
        0 => String::new(),
        _ => {
            let parquet = cfg!(feature = "parquet").then(|| "parquet".to_owned());
            let features: Vec<String> = parquet.into_iter().chain(kinds_of(openers)).collect();
            let features =
                if features.is_empty() { "none".to_owned() } else { features.join(", ") };
            format!("{}features {features}\n", commands::formats::summary())
        }
    };
    // Builds of releases set the variable.
    let commit = option_env!("B2_COMMIT").map(|commit| format!(" ({commit})"));
    let version = env!("CARGO_PKG_VERSION");
    console.print(&format!("b2 {version}{}\n{more}", commit.unwrap_or_default()))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn calls_share_one_thread_for_signals() {
        let nthreads = || {
            let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
            tasks
                .filter(|task| {
                    std::fs::read_to_string(task.path().join("comm"))
                        .is_ok_and(|name| name == "signals\n")
                })
                .count()
        };
        for _ in 0..5 {
            assert_eq!(run(["b2", "info", "no-such-file", "-qq"].map(Into::into)), Code::System);
        }
        assert_eq!(nthreads(), 1);
    }
}

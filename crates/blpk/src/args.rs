//! The command line of `blpk`: grammar, usage lines, and errors with the texts of Bloscpack 0.16.0,
//! which are those of Python's argparse.
//!
//! clap parses the grammar; values are checked here, so that errors have the order and the text
//! that scripts expect. Program options may also follow the subcommand, which Bloscpack 0.16.0 did
//! not allow.

use core::num::NonZeroUsize;
use std::{ffi::OsString, path::PathBuf};

use blosc_chunk::{CodecId, Level};
use bloscpack::Checksum;
use clap::{
    Args, CommandFactory, FromArgMatches, Parser, Subcommand,
    error::{ContextKind, ContextValue, ErrorKind},
};

use b2_program::Span;

use crate::{
    fail::{Failure, Result},
    pretty,
};

/// Compress and decompress Bloscpack files.
///
/// Works like blpk of Bloscpack 0.16.0, and more: `-` is standard input or output; files of format
/// versions 1 and 2 are read; nothing half-written is left; damage is reported and ends in exit
/// code 1, wrong use in 2. `b2` reads and writes the same files.
#[derive(Debug, Parser)]
#[command(
    name = "blpk",
    disable_version_flag = true,
    disable_help_subcommand = true,
    infer_long_args = true
)]
pub(crate) struct Blpk {
    #[command(flatten)]
    pub(crate) general: General,
    /// The subcommand.
    #[command(subcommand)]
    pub(crate) verb: Option<Verb>,
}

/// Options of the program.
#[derive(Args, Debug)]
pub(crate) struct General {
    /// Print the version
    #[arg(long)]
    pub(crate) version: bool,
    /// Say what is done
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// Say all that is done
    #[arg(short, long, global = true)]
    pub(crate) debug: bool,
    /// Say nothing but errors, and no metadata
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Overwrite existing files
    #[arg(short, long, global = true)]
    pub(crate) force: bool,
    /// Number of threads, 1 to 256 [default: number of cores]
    #[arg(short, long, value_name = "N", global = true, allow_negative_numbers = true)]
    pub(crate) nthreads: Option<String>,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Compress a file
    #[command(visible_alias = "c")]
    Compress(CompressArgs),
    /// Decompress a file
    #[command(visible_alias = "d")]
    Decompress(DecompressArgs),
    /// Append data to a compressed file
    #[command(visible_alias = "a")]
    Append(AppendArgs),
    /// Print what is known about a compressed file
    #[command(visible_alias = "i")]
    Info(FileArgs),
    /// Decode everything and check everything
    #[command(visible_alias = "v")]
    Verify(FileArgs),
    /// Print the uncompressed size, without decompressing
    #[command(visible_alias = "e")]
    Estimate(FileArgs),
}

/// Options of `compress`.
#[derive(Args, Debug)]
pub(crate) struct CompressArgs {
    #[command(flatten)]
    pub(crate) blosc: BloscArgs,
    /// Bytes of data in a chunk (64K, 1.5M, max) [default: 1M]
    #[arg(short = 'z', long, value_name = "size", allow_negative_numbers = true)]
    chunk_size: Option<String>,
    /// None, adler32, crc32, md5, sha1, sha224, sha256, sha384 or sha512 [default: adler32]
    #[arg(short = 'k', long, value_name = "checksum")]
    checksum: Option<String>,
    /// Write no offsets
    #[arg(short = 'o', long)]
    pub(crate) no_offsets: bool,
    /// Offsets to reserve for appending [default: ten for each chunk]
    #[arg(long, value_name = "N")]
    pub(crate) max_app_chunks: Option<u64>,
    /// File with metadata (JSON)
    #[arg(short = 'm', long, value_name = "metadata")]
    pub(crate) metadata: Option<PathBuf>,
    /// File to compress
    #[arg(value_name = "in_file")]
    pub(crate) in_file: PathBuf,
    /// File to compress to [default: in_file with .blp after it]
    #[arg(value_name = "out_file")]
    pub(crate) out_file: Option<PathBuf>,
}

/// How chunks are compressed.
#[derive(Args, Debug)]
pub(crate) struct BloscArgs {
    /// Bytes of an item [default: 8]
    #[arg(short, long, value_name = "size", allow_negative_numbers = true)]
    typesize: Option<String>,
    /// Compression level, 0 to 9 [default: 7]
    #[arg(short = 'l', long, value_name = "level", allow_negative_numbers = true)]
    clevel: Option<String>,
    /// Do not shuffle
    #[arg(short = 's', long, conflicts_with = "bitshuffle")]
    pub(crate) no_shuffle: bool,
    /// Shuffle bits instead of bytes
    #[arg(short = 'b', long)]
    pub(crate) bitshuffle: bool,
    /// blosclz, lz4, lz4hc, snappy, zlib or zstd [default: blosclz]
    #[arg(short, long, value_name = "codec")]
    codec: Option<String>,
}

/// Options of `decompress`.
#[derive(Args, Debug)]
pub(crate) struct DecompressArgs {
    /// Take any file name (needs out_file)
    #[arg(short = 'e', long)]
    pub(crate) no_check_extension: bool,
    /// Only these items, as in Python: 10:20, :5, -5:
    #[arg(long, value_name = "A:B", allow_hyphen_values = true, conflicts_with = "bytes")]
    pub(crate) items: Option<Span>,
    /// Only these bytes, as in Python
    #[arg(long, value_name = "A:B", allow_hyphen_values = true)]
    pub(crate) bytes: Option<Span>,
    /// Write the metadata (JSON) to this file
    #[arg(short = 'm', long, value_name = "metadata")]
    pub(crate) metadata: Option<PathBuf>,
    /// File to decompress
    #[arg(value_name = "in_file")]
    pub(crate) in_file: PathBuf,
    /// File to decompress to [default: in_file without .blp]
    #[arg(value_name = "out_file")]
    pub(crate) out_file: Option<PathBuf>,
}

/// Options of `append`.
#[derive(Args, Debug)]
pub(crate) struct AppendArgs {
    #[command(flatten)]
    pub(crate) blosc: BloscArgs,
    /// Take any file name
    #[arg(short = 'e', long)]
    pub(crate) no_check_extension: bool,
    /// File with new metadata (JSON)
    #[arg(short = 'm', long, value_name = "metadata")]
    pub(crate) metadata: Option<PathBuf>,
    /// File to append to
    #[arg(value_name = "original_file")]
    pub(crate) original_file: PathBuf,
    /// File to append from
    #[arg(value_name = "new_file")]
    pub(crate) new_file: PathBuf,
}

/// A file to look at.
#[derive(Args, Debug)]
pub(crate) struct FileArgs {
    /// File to look at
    #[arg(value_name = "file")]
    pub(crate) file: PathBuf,
}

/// Reads the command line.
///
/// # Errors
///
/// Wrong usage; or the requested help.
pub(crate) fn parse(argv: &[OsString]) -> Result<Blpk> {
    let matches = Blpk::command().try_get_matches_from(argv);
    let parsed = matches.and_then(|matches| Blpk::from_arg_matches(&matches));
    let blpk = parsed.map_err(|error| complaint(argv, &error))?;
    if blpk.general.verbose && blpk.general.debug {
        return Err(Failure::usage(
            "",
            "argument -d/--debug: not allowed with argument -v/--verbose",
        ));
    }
    Ok(blpk)
}

impl General {
    /// The number of threads.
    ///
    /// # Errors
    ///
    /// The text is not a valid number.
    pub(crate) fn threads(&self, argv: &[OsString]) -> Result<NonZeroUsize> {
        let Some(text) = &self.nthreads else {
            return Ok(std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN));
        };
        let threads = integer("", "-n/--nthreads", text)?;
        let threads = usize::try_from(threads).ok().filter(|threads| *threads <= 256);
        threads.and_then(NonZeroUsize::new).ok_or_else(|| {
            Failure::new(format!("{} must be 1 <= n <= 256", spelling(argv, "-n", "--nthreads")))
        })
    }
}

impl CompressArgs {
    /// Bytes of a chunk.
    ///
    /// # Errors
    ///
    /// The size is out of range.
    pub(crate) fn chunk_size(&self, argv: &[OsString]) -> Result<u32> {
        let Some(text) = &self.chunk_size else { return Ok(bloscpack::params::DEFAULT_CHUNKSIZE) };
        let name = spelling(argv, "-z", "--chunk-size");
        let size =
            pretty::parse(text).map_err(|error| Failure::new(format!("{name} error: {error}")))?;
        if size < 0 {
            return Err(Failure::new(format!("{name} must be > 0")));
        }
        let max = bloscpack::params::MAX_CHUNKSIZE;
        let possible = u32::try_from(size).ok().filter(|size| (1..=max).contains(size));
        possible.ok_or_else(|| {
            Failure::new(format!("'chunk_size' must be in the range 1 <= n <= {max}, not '{size}'"))
        })
    }

    /// The checksum of the chunks.
    ///
    /// # Errors
    ///
    /// The name is unknown.
    pub(crate) fn checksum(&self, verb: &'static str) -> Result<Checksum> {
        let Some(text) = &self.checksum else { return Ok(Checksum::default()) };
        let all: Vec<Checksum> = (0..=8).filter_map(Checksum::from_id).collect();
        all.iter().copied().find(|checksum| checksum.name() == text).ok_or_else(|| {
            let names = all.iter().map(|checksum| format!("'{}'", checksum.name()));
            choice(verb, "-k/--checksum", &format!("'{text}'"), names)
        })
    }
}

impl BloscArgs {
    /// Bytes of an item.
    ///
    /// # Errors
    ///
    /// The size is out of range.
    pub(crate) fn typesize(&self, verb: &'static str) -> Result<u8> {
        let Some(text) = &self.typesize else { return Ok(8) };
        let typesize = integer(verb, "-t/--typesize", text)?;
        // 0 passed Bloscpack's check of the header and failed in Blosc.
        u8::try_from(typesize).ok().filter(|typesize| *typesize > 0).ok_or_else(|| {
            Failure::new(format!("'typesize' must be in the range 1 <= n <= 255, not '{typesize}'"))
        })
    }

    /// The compression level.
    ///
    /// # Errors
    ///
    /// The level does not exist.
    pub(crate) fn level(&self, verb: &'static str) -> Result<Level> {
        let Some(text) = &self.clevel else {
            return Ok(bloscpack::WriteOptions::default().cparams.clevel);
        };
        let level = integer(verb, "-l/--clevel", text)?;
        u8::try_from(level).ok().and_then(|level| Level::try_from(level).ok()).ok_or_else(|| {
            choice(verb, "-l/--clevel", &level.to_string(), (0..=9).map(|level| level.to_string()))
        })
    }

    /// The codec.
    ///
    /// # Errors
    ///
    /// The name is unknown.
    pub(crate) fn codec(&self, verb: &'static str) -> Result<CodecId> {
        let Some(text) = &self.codec else { return Ok(CodecId::BLOSCLZ) };
        let codec = CodecId::from_name(text).filter(|_| CODECS.contains(&text.as_str()));
        codec.ok_or_else(|| {
            let names = CODECS.iter().map(|name| format!("'{name}'"));
            choice(verb, "-c/--codec", &format!("'{text}'"), names)
        })
    }
}

const CODECS: [&str; 6] = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"];

fn integer(verb: &'static str, name: &str, text: &str) -> Result<i64> {
    text.trim()
        .parse()
        .map_err(|_| Failure::usage(verb, &format!("argument {name}: invalid int value: '{text}'")))
}

fn choice(
    verb: &'static str,
    name: &str,
    found: &str,
    choices: impl Iterator<Item = String>,
) -> Failure {
    let choices = choices.collect::<Vec<_>>().join(", ");
    Failure::usage(
        verb,
        &format!("argument {name}: invalid choice: {found} (choose from {choices})"),
    )
}

/// The spelling of an option on the command line.
fn spelling(argv: &[OsString], short: &'static str, long: &'static str) -> &'static str {
    let is_long = |arg: &OsString| {
        let name = arg.to_str().and_then(|arg| arg.split('=').next()).unwrap_or_default();
        name.len() > 2 && long.starts_with(name)
    };
    if argv.iter().any(is_long) { long } else { short }
}

/// The error of clap, with the text of argparse.
fn complaint(argv: &[OsString], error: &clap::Error) -> Failure {
    if !error.use_stderr() {
        return Failure::help(error.render().to_string());
    }
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => Some(texts.join(", ")),
        _ => None,
    };
    let verb = verb_of(argv);
    let arg = text(ContextKind::InvalidArg).unwrap_or_default();
    match error.kind() {
        ErrorKind::UnknownArgument => Failure::usage("", &format!("unrecognized arguments: {arg}")),
        ErrorKind::MissingRequiredArgument => {
            Failure::usage(verb, &format!("the following arguments are required: {arg}"))
        }
        ErrorKind::InvalidSubcommand => {
            let found = text(ContextKind::InvalidSubcommand).unwrap_or_default();
            choice("", "", &format!("'{found}'"), VERBS.iter().map(|verb| format!("'{verb}'")))
        }
        ErrorKind::InvalidValue
            if text(ContextKind::InvalidValue).is_none_or(|value| value.is_empty()) =>
        {
            Failure::usage(
                verb,
                &format!("argument {}: expected one argument", both_names(verb, &arg)),
            )
        }
        ErrorKind::ArgumentConflict => {
            let other = text(ContextKind::PriorArg).unwrap_or_default();
            let (arg, other) = (both_names(verb, &arg), both_names(verb, &other));
            Failure::usage(verb, &format!("argument {arg}: not allowed with argument {other}"))
        }
        _ => {
            let rendered = error.render().to_string();
            let line = rendered.lines().next().unwrap_or_default();
            Failure::usage(verb, line.trim_start_matches("error: "))
        }
    }
}

const VERBS: [&str; 12] = [
    "compress",
    "c",
    "decompress",
    "d",
    "append",
    "a",
    "info",
    "i",
    "verify",
    "v",
    "estimate",
    "e",
];

/// The subcommand as it is written on the command line.
pub(crate) fn verb_of(argv: &[OsString]) -> &'static str {
    argv.iter()
        .skip(1)
        .find_map(|arg| VERBS.iter().find(|verb| *arg == **verb))
        .copied()
        .unwrap_or_default()
}

/// `-z/--chunk-size` for `--chunk-size <size>`.
fn both_names(verb: &str, arg: &str) -> String {
    let long = arg.split_whitespace().next().unwrap_or_default();
    let grammar = Blpk::command();
    let verb = grammar.get_subcommands().find(|command| {
        command.get_name() == verb || command.get_all_aliases().any(|alias| alias == verb)
    });
    let mut args =
        verb.into_iter().flat_map(clap::Command::get_arguments).chain(grammar.get_arguments());
    let short = args
        .find(|known| known.get_long() == long.strip_prefix("--"))
        .and_then(clap::Arg::get_short);
    short.map_or(long.to_owned(), |short| format!("-{short}/{long}"))
}

/// The usage line of a subcommand, or of the program.
pub(crate) fn usage(verb: &str) -> &'static str {
    match verb {
        "compress" | "c" => {
            "usage: blpk compress [-h] [-t <size>] [-l [0, 9]] [-s] [-b] [-c <codec>]
                     [-z <size>] [-k <checksum>] [-o]
                     [--max-app-chunks <n>] [-m <metadata>]
                     <in_file> [<out_file>]"
        }
        "decompress" | "d" => {
            "usage: blpk decompress [-h] [-e] [--items <a:b> | --bytes <a:b>]
                       [-m <metadata>]
                       <in_file> [<out_file>]"
        }
        "append" | "a" => {
            "usage: blpk append [-h] [-t <size>] [-l [0, 9]] [-s] [-b] [-c <codec>] [-e]
                   [-m <metadata>]
                   <original_file> <new_file>"
        }
        "info" | "i" => "usage: blpk info [-h] <file>",
        "verify" | "v" => "usage: blpk verify [-h] <file>",
        "estimate" | "e" => "usage: blpk estimate [-h] <file>",
        _ => "usage: blpk [-h] [--version] [-v | -d | -q] [-f] [-n [1, 256]] subcommand ...",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argv(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    fn message(line: &str) -> String {
        let argv = argv(line);
        let checked = parse(&argv).and_then(|blpk| {
            blpk.general.threads(&argv)?;
            let Some(Verb::Compress(args)) = blpk.verb else { return Ok(()) };
            args.chunk_size(&argv)?;
            args.checksum("c")?;
            args.blosc.typesize("compress")?;
            args.blosc.level("compress")?;
            args.blosc.codec("compress").map(|_| ())
        });
        checked.unwrap_err().to_string()
    }

    #[test]
    fn the_grammar_is_consistent() {
        Blpk::command().debug_assert();
    }

    #[test]
    fn complaints_are_those_of_argparse() {
        for (line, expected) in [
            ("blpk c", "the following arguments are required: <in_file>"),
            (
                "blpk x",
                "argument : invalid choice: 'x' (choose from 'compress', 'c', 'decompress', 'd', 'append', 'a', 'info', 'i', 'verify', 'v', 'estimate', 'e')",
            ),
            ("blpk c --nope x", "unrecognized arguments: --nope"),
            ("blpk c x -z", "argument -z/--chunk-size: expected one argument"),
            ("blpk -v -d c x", "argument -d/--debug: not allowed with argument -v/--verbose"),
            ("blpk c -t x y", "argument -t/--typesize: invalid int value: 'x'"),
            (
                "blpk c -l 10 y",
                "argument -l/--clevel: invalid choice: 10 (choose from 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)",
            ),
            (
                "blpk c -k none y",
                "argument -k/--checksum: invalid choice: 'none' (choose from 'None', 'adler32', 'crc32', 'md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512')",
            ),
            ("blpk -n 0 c y", "-n must be 1 <= n <= 256"),
            ("blpk --nthr 257 c y", "--nthreads must be 1 <= n <= 256"),
            ("blpk c -z -1 y", "-z must be > 0"),
            (
                "blpk c --chunk 8m y",
                "--chunk-size error: invalid literal for int() with base 10: '8m'",
            ),
            (
                "blpk c -z 2G y",
                "'chunk_size' must be in the range 1 <= n <= 2147483631, not '2147483648'",
            ),
        ] {
            assert_eq!(message(line), expected, "{line}");
        }
    }

    #[test]
    fn options_may_stand_anywhere_and_be_short() {
        let blpk = parse(&argv("blpk c -f --no-off x -n 3 --chunk 4K")).unwrap();
        assert!(blpk.general.force);
        assert_eq!(blpk.general.threads(&[]).unwrap().get(), 3);
        let Some(Verb::Compress(args)) = blpk.verb else { panic!("compress") };
        assert!(args.no_offsets && args.chunk_size(&[]).unwrap() == 4096);
    }
}

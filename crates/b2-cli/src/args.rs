//! The command line: its grammar and its meaning.
//!
//! [`parse`] turns `argv` into a [`Cli`]. clap knows commands and their options; [`manners`] comes
//! before it and makes one form of the three that users write: `b2 compress FILE`, `b2 -z FILE`,
//! `b2 FILE`.

pub(crate) mod append;
pub(crate) mod compress;
pub(crate) mod convert;
pub(crate) mod diff;
pub(crate) mod frames;
pub(crate) mod meta;
pub(crate) mod plot;
pub(crate) mod recompress;
pub(crate) mod scan;
pub(crate) mod shared;
pub(crate) mod slice;
pub(crate) mod stats;
pub(crate) mod sum;
pub(crate) mod table;
pub(crate) mod tune;
pub(crate) mod view;

use std::ffi::OsString;

use b2frame::rescue::Fill;
use std::path::PathBuf;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

pub(crate) use b2_program::Span;
use b2_program::{manners, size::distance};

pub(crate) use self::{
    append::AppendArgs,
    compress::{
        ChecksumChoice, CompressArgs, CompressedFormat, DataShape, Layer, Shape, TuningArgs,
        Typesize,
    },
    convert::{ConvertArgs, ConvertedFormat},
    diff::DiffArgs,
    frames::{ExtractArgs, JoinArgs, SplitArgs},
    meta::MetaArgs,
    plot::PlotArgs,
    recompress::RecompressArgs,
    scan::ScanArgs,
    shared::{CheckArgs, GeneralArgs, InputArgs, LimitArgs, LockArgs, OutputArgs, WhereArgs},
    slice::Slice,
    stats::StatsArgs,
    sum::SumArgs,
    table::TableArgs,
    tune::{BenchArgs, TuneArgs},
    view::ViewArgs,
};

/// Compress, inspect, verify and restore files of the Blosc family.
///
/// Reads and writes Blosc2 frames and arrays (.b2frame, .b2nd), stores and tables (.b2z, .b2d),
/// Bloscpack files (.blp), arrays and tables of bcolz, bare chunks of Blosc 1 and Blosc2, NumPy's
/// .npy and CSV. Formats are recognised by content, never by name; inputs are kept; no FILE or `-`
/// means standard input and output.
#[derive(Debug, Parser)]
#[command(
    name = "b2",
    disable_version_flag = true,
    disable_help_subcommand = false,
    max_term_width = 110,
    override_usage = "b2 COMMAND [OPTIONS] [FILE]...\n       b2 -z|-d|-t|-l [OPTIONS] [FILE]...   compress, decompress, verify, list\n       b2 FILE...                           same as `b2 info FILE...`",
    after_help = "`b2 COMMAND -h` shows the options of a command with examples, `b2 --help` exit codes.",
    after_long_help = TOP_EXAMPLES
)]
pub(crate) struct Cli {
    /// The command.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// Print the version; with -v also the codecs and filters of this build
    #[arg(short = 'V', long)]
    pub(crate) version: bool,
    /// Say more with -V
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compress files or a pipe into Blosc2 frames
    #[command(visible_alias = "c", after_help = compress::EXAMPLES)]
    Compress(Box<Options<CompressArgs>>),
    /// Restore what was compressed
    #[command(visible_aliases = ["d", "x"], after_help = DECOMPRESS_EXAMPLES)]
    Decompress(Options<DecompressArgs>),
    /// Write decompressed bytes to standard output
    #[command(after_help = CAT_EXAMPLES)]
    Cat(Options<CatArgs>),
    /// Show items as values
    #[command(visible_alias = "head", after_help = SHOW_EXAMPLES)]
    Show(Options<ShowArgs>),
    /// Show what a file is
    #[command(visible_alias = "i", after_help = INFO_EXAMPLES)]
    Info(Options<LookArgs>),
    /// Show one line per file
    #[command(visible_aliases = ["l", "ls"], after_help = LIST_EXAMPLES)]
    List(Options<ListArgs>),
    /// Decode everything, check everything, write nothing
    #[command(visible_aliases = ["t", "test"], after_help = VERIFY_EXAMPLES)]
    Verify(Options<LookArgs>),
    /// Compare the content of two files, whatever their formats
    #[command(after_help = diff::EXAMPLES)]
    Diff(Options<DiffArgs>),
    /// Show least, largest and mean values, NaN, zeros and a histogram
    #[command(after_help = stats::EXAMPLES)]
    Stats(Options<StatsArgs>),
    /// Draw numbers as lines, heat maps and histograms, to PNG, SVG or the terminal
    #[command(after_help = plot::EXAMPLES)]
    Plot(Box<Options<PlotArgs>>),
    /// Browse in the terminal: members, values, metadata, chunks, plots
    #[command(after_help = view::EXAMPLES)]
    View(Options<ViewArgs>),
    /// Hash the content, which is the same whatever the format
    #[command(after_help = sum::EXAMPLES)]
    Sum(Options<SumArgs>),
    /// Turn any format that is read into any that is written
    #[command(override_usage = convert::USAGE, after_help = convert::EXAMPLES)]
    Convert(Box<Options<ConvertArgs>>),
    /// Compress an object another way and keep everything else of it, in place
    #[command(after_help = recompress::EXAMPLES)]
    Recompress(Box<Options<RecompressArgs>>),
    /// Find good settings for a file, show the evidence, print the command
    #[command(after_help = tune::EXAMPLES)]
    Tune(Options<TuneArgs>),
    /// Measure ratio and speed of codecs, filters and levels on a file
    #[command(visible_alias = "b", after_help = tune::BENCH_EXAMPLES)]
    Bench(Options<BenchArgs>),
    /// Find frames and chunks inside any file
    #[command(after_help = scan::EXAMPLES)]
    Scan(Options<ScanArgs>),
    /// Copy a frame or a chunk to a file of its own, as it is
    #[command(after_help = frames::EXTRACT_EXAMPLES)]
    Extract(Options<ExtractArgs>),
    /// Make a file of each frame of a sequence
    #[command(after_help = frames::SPLIT_EXAMPLES)]
    Split(Options<SplitArgs>),
    /// Make one file of frames
    #[command(after_help = frames::JOIN_EXAMPLES)]
    Join(Options<JoinArgs>),
    /// Save what can be saved of a damaged object into a new one
    #[command(after_help = RESCUE_EXAMPLES)]
    Rescue(Options<RescueArgs>),
    /// Tell which programs can open an object, and what stops the others
    #[command(after_help = COMPAT_EXAMPLES)]
    Compat(Options<CompatArgs>),
    /// Give frames of other programs a checksum, or remove it
    #[command(after_help = SEAL_EXAMPLES)]
    Seal(Options<SealArgs>),
    /// Remove the bytes of frames and stores that nothing refers to
    #[command(visible_alias = "compact", after_help = REPACK_EXAMPLES)]
    Repack(Options<RepackArgs>),
    /// Make one file of a store that is a directory
    #[command(after_help = PACK_EXAMPLES)]
    Pack(Options<PackArgs>),
    /// Make a directory of a store that is one file
    #[command(after_help = UNPACK_EXAMPLES)]
    Unpack(Options<PackArgs>),
    /// Add data at the end of a frame, an array, a Bloscpack file or a table
    #[command(visible_alias = "a", after_help = append::EXAMPLES)]
    Append(Options<AppendArgs>),
    /// Change columns, cells and rows of a table
    #[command(after_help = table::EXAMPLES)]
    Table(Options<TableArgs>),
    /// Show and change metadata
    #[command(after_help = meta::EXAMPLES)]
    Meta(Options<MetaArgs>),
    /// Show the bytes of a file with what they mean
    #[command(visible_alias = "hexdump", after_help = DUMP_EXAMPLES)]
    Dump(Options<DumpArgs>),
    /// Show the formats, codecs and filters of this build
    #[command(after_help = FORMATS_EXAMPLES)]
    Formats(GeneralArgs),
    /// Print a completion script for a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArgs),
    /// Print a manual page
    #[command(after_help = MAN_EXAMPLES)]
    Man(ManArgs),
}

/// The options of a command, and those that most commands have.
#[derive(Args, Debug)]
pub(crate) struct Options<T: Args> {
    #[command(flatten)]
    pub(crate) own: T,
    #[command(flatten)]
    pub(crate) general: GeneralArgs,
}

/// Options of `decompress`.
#[derive(Args, Debug)]
pub(crate) struct DecompressArgs {
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    /// Form of the output: raw is the bytes of the items, arrays in C order [default: by the
    /// output's name, see --help]
    ///
    /// Without --format, an array becomes a .npy file when the output is called .npy, which is the
    /// name that x.npy.b2nd, x.b2nd and x.npy.blp get; everything else, and what goes to
    /// standard output, is raw.
    #[arg(long, value_name = "FMT", help_heading = "Output")]
    pub(crate) format: Option<RestoredFormat>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) checks: CheckArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Formats that `decompress` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum RestoredFormat {
    /// The bytes of the items.
    Raw,
    /// An array as NumPy keeps it.
    Npy,
}

/// Options of `cat`.
#[derive(Args, Debug)]
pub(crate) struct CatArgs {
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    /// Only these items, as in Python: 10:20, :5, -5:
    #[arg(
        long,
        value_name = "A:B",
        allow_hyphen_values = true,
        conflicts_with = "bytes",
        help_heading = "Selection"
    )]
    pub(crate) items: Option<Span>,
    /// Only these bytes, as in Python
    #[arg(long, value_name = "A:B", allow_hyphen_values = true, help_heading = "Selection")]
    pub(crate) bytes: Option<Span>,
    /// Only this part of an array, as NumPy writes it: 0,:,5 or 10:20,::-1
    #[arg(
        long,
        value_name = "S",
        allow_hyphen_values = true,
        conflicts_with_all = ["items", "bytes"],
        help_heading = "Selection"
    )]
    pub(crate) slice: Option<Slice>,
    /// Write binary data to a terminal
    #[arg(short, long, help_heading = "Output")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) checks: CheckArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Options of `show`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    /// Only this part, as NumPy writes it: 0,:,5 or 10:20,::-1
    #[arg(long, value_name = "S", allow_hyphen_values = true, help_heading = "Selection")]
    pub(crate) slice: Option<Slice>,
    /// Only the first N items of the first dimension, of the part with --slice
    #[arg(short = 'n', long, value_name = "N", help_heading = "Selection")]
    pub(crate) lines: Option<u64>,
    /// Only the last N items of the first dimension, or rows
    #[arg(long, value_name = "N", conflicts_with_all = ["slice", "lines"], help_heading = "Selection")]
    pub(crate) tail: Option<u32>,
    /// Without the first N rows of a table, or of those that --where finds
    #[arg(long, value_name = "N", help_heading = "Selection")]
    pub(crate) skip: Option<u64>,
    /// Only these columns of a table, in this order
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',', help_heading = "Selection")]
    pub(crate) columns: Vec<String>,
    #[command(flatten)]
    pub(crate) rows: WhereArgs,
    /// Type of the items, as NumPy writes it, where the file does not say or is wrong
    #[arg(long, value_name = "TYPE", value_parser = compress::parse_dtype, help_heading = "Output")]
    pub(crate) dtype: Option<blosc_dtype::Dtype>,
    /// Items per dimension of data without a shape, in C order; one length may be -1
    #[arg(long, value_name = "N,N,...", value_parser = compress::parse_data_shape, allow_hyphen_values = true, requires = "dtype", help_heading = "Output")]
    pub(crate) shape: Option<DataShape>,
    /// Comma-separated values
    #[arg(long, conflicts_with = "json", help_heading = "Output")]
    pub(crate) csv: bool,
    #[command(flatten)]
    pub(crate) checks: CheckArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Options of `list`.
#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    /// Walk directories, and show what is in them as a tree, columns of tables included
    #[arg(long, help_heading = "Output")]
    pub(crate) tree: bool,
}

/// Options of `info` and `verify`.
#[derive(Args, Debug)]
pub(crate) struct LookArgs {
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
}

/// Options of `rescue`.
#[derive(Args, Debug)]
pub(crate) struct RescueArgs {
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    /// The new file or directory
    #[arg(
        short,
        long,
        value_name = "PATH",
        required_unless_present = "output_dir",
        help_heading = "Output"
    )]
    pub(crate) output: Option<PathBuf>,
    /// Write all outputs into DIR
    #[arg(long, value_name = "DIR", conflicts_with = "output", help_heading = "Output")]
    pub(crate) output_dir: Option<PathBuf>,
    /// Replacement for lost data: zeros (for bcolz the fill value), nan, or the bytes of an item as
    /// 0x0000803f [default: zeros]
    #[arg(long, value_name = "WHAT", value_parser = parse_fill, help_heading = "Output")]
    pub(crate) fill: Option<Fill>,
    /// Type of the items of an array of bcolz that has lost its meta/storage [default: raw bytes]
    #[arg(long, value_name = "TYPE", value_parser = compress::parse_dtype, help_heading = "Output")]
    pub(crate) dtype: Option<blosc_dtype::Dtype>,
    /// Leave lost chunks out: what follows them moves up
    #[arg(long, conflicts_with = "fill", help_heading = "Output")]
    pub(crate) cut: bool,
    /// Overwrite what is there
    #[arg(short, long, help_heading = "Output")]
    pub(crate) force: bool,
    /// Do not wait for the disk before renaming the output into place
    #[arg(long, help_heading = "Output")]
    pub(crate) no_sync: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
}

/// Error: the text is no value of `--fill`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is neither zeros nor nan, nor the bytes of an item as 0x0000803f")]
pub(crate) struct NoFill {
    text: String,
}

fn parse_fill(text: &str) -> Result<Fill, NoFill> {
    let byte = |digits: &[u8]| {
        core::str::from_utf8(digits).ok().and_then(|digits| u8::from_str_radix(digits, 16).ok())
    };
    let bytes = |digits: &str| digits.as_bytes().chunks(2).map(byte).collect::<Option<Vec<u8>>>();
    let wrong = || NoFill { text: text.to_owned() };
    match text {
        "zeros" => Ok(Fill::Zeros),
        "nan" => Ok(Fill::NaN),
        _ => {
            let digits = text.strip_prefix("0x").filter(|digits| digits.len() % 2 == 0);
            let item = digits.and_then(bytes).filter(|item| !item.is_empty());
            item.map(Fill::Value).ok_or_else(wrong)
        }
    }
}

impl RescueArgs {
    /// The bytes that replace lost data.
    pub(crate) fn fill(&self) -> Fill {
        if self.cut { Fill::Cut } else { self.fill.clone().unwrap_or_default() }
    }

    /// Where outputs go.
    pub(crate) fn outputs(&self) -> OutputArgs {
        OutputArgs {
            output: self.output.clone(),
            output_dir: self.output_dir.clone(),
            force: self.force,
            no_sync: self.no_sync,
            ..OutputArgs::default()
        }
    }
}

/// Options of `compat`.
#[derive(Args, Debug)]
pub(crate) struct CompatArgs {
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
}

/// Options of `seal`.
#[derive(Args, Debug)]
pub(crate) struct SealArgs {
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    /// Coverage of the seal: body (a sum of the whole), chunks (also one for each chunk, which
    /// tells what is damaged), or none to remove the seal
    #[arg(long, value_name = "WHAT", default_value = "body", help_heading = "Output")]
    pub(crate) checksum: SealKind,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
}

/// The coverage of a seal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SealKind {
    Body,
    Chunks,
    None,
}

/// Options of `repack`.
#[derive(Args, Debug)]
pub(crate) struct RepackArgs {
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    #[command(flatten)]
    pub(crate) checks: CheckArgs,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
}

/// Options of `pack` and `unpack`.
#[derive(Args, Debug)]
pub(crate) struct PackArgs {
    /// The store
    #[arg(value_name = "STORE")]
    pub(crate) store: PathBuf,
    /// Write to FILE; without it, the name of the store with the suffix of the new one
    #[arg(short = 'o', long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing archive
    #[arg(short = 'f', long, help_heading = "Output")]
    pub(crate) force: bool,
}

/// Options of `dump`.
#[derive(Args, Debug)]
pub(crate) struct DumpArgs {
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    /// Show the header, of a Bloscpack file with the metadata; without any of these options,
    /// everything is shown
    #[arg(long, help_heading = "Selection")]
    pub(crate) header: bool,
    /// Show the chunks, with their headers, block starts and streams, and their digests
    #[arg(long, help_heading = "Selection")]
    pub(crate) chunks: bool,
    /// Show only this chunk, counted from 0
    #[arg(long, value_name = "N", help_heading = "Selection")]
    pub(crate) chunk: Option<u64>,
    /// Show the index of a frame, or the offsets of a Bloscpack file
    #[arg(long, help_heading = "Selection")]
    pub(crate) index: bool,
    /// Show the trailer of a frame
    #[arg(long, help_heading = "Selection")]
    pub(crate) trailer: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Options of `completions`.
#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

/// The shells that have a completion script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Elvish,
    Fish,
    Nushell,
    Powershell,
    Zsh,
}

/// Options of `man`.
#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// The command whose page is wanted, blpk, b2-formats.5 or b2-recipes.7; without it the page of
    /// b2 itself
    #[arg(value_name = "PAGE")]
    pub(crate) command: Option<String>,
    /// Write all pages to the folders man1, man5 and man7 in DIR
    #[arg(long, value_name = "DIR", conflicts_with = "command", help_heading = "Output")]
    pub(crate) output_dir: Option<PathBuf>,
}

/// Reads the command line.
///
/// # Errors
///
/// clap's answer: a usage error, or the text of `--help`.
pub(crate) fn parse(argv: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let mut grammar = grammar();
    let argv: Vec<OsString> = argv.into_iter().collect();
    let shapes = manners::Shapes::from_grammar(&grammar);
    let is_implied = manners::has_no_command(&argv, &shapes);
    let argv = manners::with_action(manners::canonical(argv, &shapes));
    if let Some(word) = manners::two_digits(&argv) {
        let text = format!("{word}: levels are 0 to 9, as in -9 or -l 9");
        return Err(grammar.error(clap::error::ErrorKind::ValueValidation, text));
    }
    if let Some(text) = no_command(&argv).filter(|_| is_implied) {
        return Err(grammar.error(clap::error::ErrorKind::InvalidSubcommand, text));
    }
    let matches = grammar.try_get_matches_from_mut(argv)?;
    if let Some(name) = named_twice(&matches) {
        let text = format!("--columns: {name:?} stands twice");
        return Err(grammar.error(clap::error::ErrorKind::ValueValidation, text));
    }
    Cli::from_arg_matches(&matches)
}

/// A column that the command is to take twice: no table has two columns of one name.
fn named_twice(matches: &clap::ArgMatches) -> Option<String> {
    let (_, command) = matches.subcommand()?;
    let mut known = std::collections::BTreeSet::new();
    let mut names = command.try_get_many::<String>("columns").ok()??;
    names.find(|name| !known.insert(name.as_str())).cloned()
}

/// The command of a line; `info` if the line names none.
pub(crate) fn command_name(argv: &[OsString]) -> Option<String> {
    let shapes = manners::Shapes::from_grammar(&grammar());
    let argv = manners::canonical(argv.iter().cloned(), &shapes);
    let word = argv.get(1)?.to_str()?;
    (!word.starts_with('-')).then(|| word.to_owned())
}

/// The name of a command without its aliases, and its options as they are written.
pub(crate) fn options_of(command: Option<&str>) -> (Option<String>, Vec<String>) {
    let grammar = grammar();
    let command = command.and_then(|name| grammar.find_subcommand(name));
    let args = command.into_iter().flat_map(clap::Command::get_arguments);
    let names = args.flat_map(|arg| {
        let long = arg.get_long().map(|name| format!("--{name}"));
        long.into_iter().chain(arg.get_short().map(|name| format!("-{name}")))
    });
    (command.map(|command| command.get_name().to_owned()), names.collect())
}

/// The message for a line whose first word is neither a command nor a file.
fn no_command(argv: &[OsString]) -> Option<String> {
    let word =
        argv.get(2..)?.iter().find(|word| !word.as_encoded_bytes().starts_with(b"-"))?.to_str()?;
    let is_word = word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    // `b2 V` and `b2 version` mean `b2 -V`.
    let asks_version = matches!(word, "V" | "version");
    if asks_version && std::path::Path::new(word).symlink_metadata().is_err() {
        return Some(format!(
            "no command and no file has the name {word:?}, did you mean `b2 -V`?"
        ));
    }
    if !is_word || std::path::Path::new(word).symlink_metadata().is_ok() {
        return None;
    }
    let near = similar_command(word).map(|name| format!(", did you mean `{name}`?"));
    Some(format!("no command and no file has the name {word:?}{}", near.unwrap_or_default()))
}

/// Command names of other programs, each with the command here that does the same.
const OTHER_NAMES: [(&str, &str); 28] = [
    ("benchmark", "bench"),
    ("browse", "view"),
    ("check", "verify"),
    ("checksum", "sum"),
    ("cmp", "diff"),
    ("compare", "diff"),
    ("concat", "join"),
    ("draw", "plot"),
    ("export", "convert"),
    ("filter", "show --where"),
    ("find", "scan"),
    ("grep", "cat"),
    ("hash", "sum"),
    ("inspect", "info"),
    ("merge", "join"),
    ("optimize", "tune"),
    ("optimise", "tune"),
    ("print", "show"),
    ("recover", "rescue"),
    ("repair", "rescue"),
    ("size", "info"),
    ("stat", "stats"),
    ("tail", "show --tail 10"),
    ("transcode", "convert"),
    ("tree", "list --tree"),
    ("uncompress", "decompress"),
    ("validate", "verify"),
    ("zip", "pack"),
];

/// The command that `word` was probably meant to be.
pub(crate) fn similar_command(word: &str) -> Option<String> {
    if let Some((_, command)) = OTHER_NAMES.iter().find(|(name, _)| *name == word) {
        return Some((*command).to_owned());
    }
    let grammar = grammar();
    let names = grammar.get_subcommands().map(|command| command.get_name().to_owned());
    let near = names.map(|name| (distance(word.as_bytes(), name.as_bytes()), name));
    near.filter(|(slips, _)| slips * 3 <= word.len()).min().map(|(_, name)| name)
}

/// All commands and options, as clap sees them.
pub(crate) fn grammar() -> clap::Command {
    // `-0` is a level where there are levels, and the end of a name in a list everywhere else.
    let all = [
        "decompress",
        "cat",
        "show",
        "info",
        "list",
        "verify",
        "rescue",
        "seal",
        "compat",
        "repack",
        "dump",
        "sum",
        "stats",
        "tune",
        "bench",
    ]
    .iter()
    .fold(Cli::command(), |all, name| {
        all.mut_subcommand(name, |c| c.mut_arg("null", |a| a.short('0')))
    });
    // Raw data has no frames to choose from.
    let files = "Files to compress; none or `-` is standard input";
    let outputs =
        "Files to convert; without -o, -c and --output-dir the last of several is the output";
    all.mut_subcommand("compress", |c| c.mut_arg("files", |a| a.help(files)))
        .mut_subcommand("convert", |c| c.mut_arg("files", |a| a.help(outputs)))
        .mut_subcommands(with_short_help)
}

/// `-h` shows the options of this command alone, with examples; `--help` shows all options.
fn with_short_help(command: clap::Command) -> clap::Command {
    let Some(examples) = command.get_after_help().map(ToString::to_string) else { return command };
    let is_general = |arg: &clap::Arg| arg.get_help_heading() == Some("General");
    let has_general = command.get_arguments().any(is_general);
    let name = command.get_name().to_owned();
    let short = match has_general {
        true => format!("{examples}\n\n`b2 {name} --help` shows general options too."),
        false => examples.clone(),
    };
    let hide = |arg: clap::Arg| {
        let is_hidden = is_general(&arg);
        if is_hidden { arg.hide_short_help(true) } else { arg }
    };
    command.mut_args(hide).after_help(short).after_long_help(examples)
}

const TOP_EXAMPLES: &str = "\
Examples:
  b2 c temperature.f32              writes temperature.f32.b2frame beside it
  b2 temperature.f32.b2frame        shows what it is
  b2 -t *.b2frame                   decodes and checks everything
  b2 d temperature.f32.b2frame      writes temperature.f32
  zcat log.gz | b2 c -t 1 | ssh host 'b2 cat | wc -l'

Exit codes:
  0 done and sound; 1 the data says no; 2 wrong use; 3 the system says no;
  4 not a format, codec or filter of ours; 5 a limit was reached; 6 the file is in use;
  129, 130, 131, 143 stopped by a signal.";

const DECOMPRESS_EXAMPLES: &str = "\
Examples:
  b2 d data.f32.b2frame             writes data.f32 beside it
  b2 d data.f32.b2frame -o copy     writes copy
  b2 d field.b2nd                   writes the array field.npy
  b2 d field.npy.blp                the same, of a Bloscpack file
  b2 d -c data.f32.b2frame | wc -c  writes to standard output
  b2 d --output-dir out *.b2frame   writes all into out/";

const CAT_EXAMPLES: &str = "\
Examples:
  b2 cat log.b2frame | head -3
  b2 cat --items 1000:1010 data.f32.b2frame | od -f
  b2 cat --bytes=-64: data.b2frame  the last 64 bytes";

const SHOW_EXAMPLES: &str = "\
Examples:
  b2 show field.b2nd                the ends of large arrays
  b2 show --slice 0,0:2,0:4 air.b2nd
  b2 show --csv -n 20 table.b2nd
  b2 show --dtype f4 --slice=-3: temperature.f32.b2frame
  b2 show --csv --where 'volume > 1000' --columns id,close prices.bcolz";

const INFO_EXAMPLES: &str = "\
Examples:
  b2 info data.b2frame
  b2 info -vv data.b2frame          one line per chunk
  b2 info --json *.b2frame          one JSON document per file";

const LIST_EXAMPLES: &str = "\
Examples:
  b2 -l *.b2frame
  b2 ls -r archive/                 every Blosc file below a directory
  b2 ls --tree archive/             the same as a tree, with the columns of tables";

const VERIFY_EXAMPLES: &str = "\
Examples:
  b2 -t *.b2frame
  b2 verify --json -r archive/ | jq 'select(.ok | not)'";

const DUMP_EXAMPLES: &str = "\
Examples:
  b2 dump part.chunk
  b2 dump --header data.b2frame
  b2 dump --chunk 7 data.b2frame
  b2 dump --json data.b2frame | jq '.spans[] | select(.name == \"cbytes\")'";

const RESCUE_EXAMPLES: &str = "\
Examples:
  b2 rescue cut.b2frame -o saved.b2frame
  b2 rescue --fill nan torn.b2nd -o saved.b2nd
  b2 rescue prices.bcolz -o prices-fixed.bcolz
  b2 rescue cut.blp -o saved.blp    the sound chunks of a Bloscpack file
  b2 rescue cut.b2z -o saved.b2z    the values of a store";

const COMPAT_EXAMPLES: &str = "\
Examples:
  b2 compat x.b2frame
  b2 compat --json trades.b2z | jq -r '.readers[] | select(.opens) | .program'";

const SEAL_EXAMPLES: &str = "\
Examples:
  b2 seal archive/*.b2frame         frames that other programs wrote
  b2 seal --checksum chunks x.b2nd  damage is told by chunk";

const REPACK_EXAMPLES: &str = "\
Examples:
  b2 repack log.b2frame             after many appends
  b2 repack -r archive/";

const PACK_EXAMPLES: &str = "\
Examples:
  b2 pack run.b2d                   run.b2z, to send it
  b2 pack run.b2d -o old/run.b2z";

const UNPACK_EXAMPLES: &str = "\
Examples:
  b2 unpack run.b2z                 run.b2d, with a file for every value";

const FORMATS_EXAMPLES: &str = "\
Examples:
  b2 formats
  b2 formats --json | jq -r '.codecs[] | select(.available) | .name'";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  b2 completions bash > ~/.local/share/bash-completion/completions/b2
  b2 completions zsh > ~/.zfunc/_b2 where fpath has ~/.zfunc
  b2 completions fish > ~/.config/fish/completions/b2.fish
  b2 completions nushell > b2.nu    and in config.nu: use b2.nu *";

const MAN_EXAMPLES: &str = "\
Examples:
  b2 man | man -l -
  b2 man compress > b2-compress.1
  b2 man b2-recipes.7 | man -l -
  b2 man --output-dir ~/.local/share/man

`man b2` and `man b2-compress` find the pages there, since ~/.local/share/man is searched where
~/.local/bin is in PATH; for all users it is /usr/local/share/man.";

#[cfg(test)]
mod tests;

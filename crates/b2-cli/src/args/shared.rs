//! Options that several commands have in common.

use std::path::PathBuf;

use b2_program::{ProgressWhen, When};
use clap::Args;

use crate::render::ByteSize;
use blosc_chunk::Simd;
use blosc_data::limits::OutputLimits;

/// Which files are read.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct InputArgs {
    /// Files to read; none or `-` is standard input; FILE@N is the frame at byte N, FILE#N the
    /// N-th frame (from 0)
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Walk directories
    #[arg(short, long, help_heading = "Input")]
    pub(crate) recursive: bool,
    /// Read more names from LIST, one per line (`-` is standard input)
    #[arg(long, value_name = "LIST", help_heading = "Input")]
    pub(crate) files_from: Option<PathBuf>,
    /// Names in LIST end with a NUL instead of a line break
    #[arg(long, requires = "files_from", help_heading = "Input")]
    pub(crate) null: bool,
    /// Whether a directory that is not walked stands for what lies in it.
    #[arg(skip)]
    pub(crate) shallow: bool,
}

/// Where output goes.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct OutputArgs {
    /// Output file or directory; `-` is standard output
    #[arg(short, long, value_name = "PATH", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Write to standard output, same as `-o -`
    #[arg(short = 'c', long, conflicts_with = "output", help_heading = "Output")]
    pub(crate) stdout: bool,
    /// Write all outputs into DIR
    #[arg(long, value_name = "DIR", conflicts_with_all = ["output", "stdout"], help_heading = "Output")]
    pub(crate) output_dir: Option<PathBuf>,
    /// Copy what -r leaves out into DIR as well: files byte for byte, links as links, empty folders
    #[arg(long, requires = "output_dir", help_heading = "Output")]
    pub(crate) copy_rest: bool,
    /// Suffix of compressed files, added or taken away [default: .b2frame]
    #[arg(long, value_name = ".S", conflicts_with = "stdout", help_heading = "Output")]
    pub(crate) suffix: Option<String>,
    /// Overwrite files, follow links, use devices, write binary data to a terminal
    #[arg(short, long, help_heading = "Output")]
    pub(crate) force: bool,
    /// Keep the input (default)
    #[arg(short, long, overrides_with = "rm", help_heading = "Output")]
    pub(crate) keep: bool,
    /// Remove the input once the output is synced and has been read back equal
    #[arg(long, overrides_with = "keep", conflicts_with_all = ["stdout", "no_sync"], help_heading = "Output")]
    pub(crate) rm: bool,
    /// Do not wait for the disk before renaming the output into place
    #[arg(long, help_heading = "Output")]
    pub(crate) no_sync: bool,
}

/// Guards against input from strangers.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct LimitArgs {
    /// Stop before more than SIZE is decompressed from one input [default: none, but see
    /// --max-ratio]
    #[arg(long, value_name = "SIZE", help_heading = "Limits")]
    pub(crate) max_output: Option<ByteSize>,
    /// Stop at an input that decompresses to more than N times its size [default: 10000 once it is
    /// more than 16 GiB]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub(crate) max_ratio: Option<u64>,
}

impl From<LimitArgs> for OutputLimits {
    fn from(args: LimitArgs) -> Self {
        let max_nbytes = args.max_output.map(|ByteSize(limit)| limit);
        Self { max_nbytes, max_ratio: args.max_ratio }
    }
}

/// The rows of a table that are meant.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct WhereArgs {
    /// Only rows of a table for which this is true: price > 10 and volume < 4
    #[arg(
        long = "where",
        value_name = "EXPR",
        allow_hyphen_values = true,
        help_heading = "Selection"
    )]
    pub(crate) condition: Option<String>,
}

/// Checksums that do not match.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct CheckArgs {
    /// Go on where data do not match their checksum, with a warning; what is made of them shows it
    #[arg(long, help_heading = "Limits")]
    pub(crate) no_check: bool,
}

/// Taking turns with other programs.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct LockArgs {
    /// How long to wait while another program uses the file [default: 60]
    #[arg(long, value_name = "SECONDS", help_heading = "Input")]
    pub(crate) lock_timeout: Option<u64>,
}

/// How the program works and speaks.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct GeneralArgs {
    /// Threads to use, 0 for one per core; the result does not depend on it
    #[arg(short = 'T', long, value_name = "N", default_value_t = 0, help_heading = "General")]
    pub(crate) threads: usize,
    /// Working memory [default: 192M, or half of what is free if that is less]
    #[arg(short = 'M', long, value_name = "SIZE", help_heading = "General")]
    pub(crate) max_memory: Option<ByteSize>,
    /// Say less; twice: no errors either
    #[arg(short, long, action = clap::ArgAction::Count, help_heading = "General")]
    pub(crate) quiet: u8,
    /// Say more; may be repeated
    #[arg(short, long, action = clap::ArgAction::Count, help_heading = "General")]
    pub(crate) verbose: u8,
    /// Print one JSON document per input; errors become JSON too
    #[arg(long, help_heading = "General")]
    pub(crate) json: bool,
    /// Print sizes in powers of 1000
    #[arg(long, help_heading = "General")]
    pub(crate) si: bool,
    /// When to use colour
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = "General")]
    pub(crate) color: When,
    /// When to show progress; json is lines for other programs, on standard error
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = "General")]
    pub(crate) progress: ProgressWhen,
    /// Vector instructions to use: auto, none, sse2, avx2, avx512 or neon
    #[arg(long, value_name = "SET", value_parser = parse_simd, help_heading = "General")]
    pub(crate) simd: Option<Simd>,
    /// Print the version; with -v also the codecs and filters of this build
    #[arg(short = 'V', long, help_heading = "General")]
    pub(crate) version: bool,
}

/// Not a set of vector instructions, or not one of this machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this machine does not have the vector instructions {text:?}")]
pub(crate) struct NoSimd {
    text: String,
}

fn parse_simd(text: &str) -> Result<Simd, NoSimd> {
    Simd::parse(text).map_err(|_| NoSimd { text: text.to_owned() })
}

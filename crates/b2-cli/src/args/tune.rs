//! Options of `tune` and `bench`.

use blosc_chunk::Pipeline;
use clap::{Args, ValueEnum};

use super::{
    compress::{CodecChoice, Typesize, parse_codec, parse_filter, parse_typesize},
    shared::{InputArgs, LimitArgs},
};
use crate::render::ByteSize;

/// Options of `tune`.
#[derive(Args, Debug)]
pub(crate) struct TuneArgs {
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    /// Goal of the search
    #[arg(long, value_name = "GOAL", default_value = "balanced", help_heading = "Selection")]
    pub(crate) goal: Goal,
    #[command(flatten)]
    pub(crate) trial: TrialArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// The data of the trial.
#[derive(Args, Debug)]
pub(crate) struct TrialArgs {
    /// Bytes per item; auto takes it from the file, from a name like .f32, else from the data
    #[arg(short = 't', long, value_name = "N", default_value = "auto", value_parser = parse_typesize, help_heading = "Input")]
    pub(crate) typesize: Typesize,
    /// Bytes of the data that are tried, taken from all parts of it
    #[arg(long, value_name = "SIZE", default_value = "8M", help_heading = "Input")]
    pub(crate) sample: ByteSize,
}

/// The goal of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Goal {
    /// Little space.
    Ratio,
    /// Space and time.
    Balanced,
    /// Little time, to write and to read.
    Speed,
}

/// Options of `bench`.
#[derive(Args, Debug)]
pub(crate) struct BenchArgs {
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    /// Codecs by name or number
    #[arg(short = 'C', long, value_name = "NAME,NAME", value_delimiter = ',', value_parser = parse_codec, default_value = "lz4,zstd", help_heading = "Compression")]
    pub(crate) codec: Vec<CodecChoice>,
    /// Levels from 0 to 9
    #[arg(short = 'l', long, value_name = "N,N", value_delimiter = ',', value_parser = clap::value_parser!(u8).range(0..=9), default_value = "1,5,9", help_heading = "Compression")]
    pub(crate) level: Vec<u8>,
    /// Filters in their order; may be repeated to try several pipelines [default: shuffle]
    #[arg(long, value_name = "SPEC", value_parser = parse_filter, help_heading = "Compression")]
    pub(crate) filter: Vec<Pipeline>,
    /// Bytes of data per block [default: automatic]
    #[arg(long, value_name = "SIZE", help_heading = "Compression")]
    pub(crate) block_size: Option<ByteSize>,
    /// How often each is tried; the best time counts
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..), help_heading = "Compression")]
    pub(crate) rounds: u16,
    #[command(flatten)]
    pub(crate) trial: TrialArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

pub(super) const EXAMPLES: &str = "\
Examples:
  b2 tune air.b2nd                  the best settings, and the command for one of them
  b2 tune --goal ratio --sample 64M readings.f32";

pub(super) const BENCH_EXAMPLES: &str = "\
Examples:
  b2 bench air.b2nd                 lz4 and zstd, levels 1, 5 and 9
  b2 bench -C zstd -l 3 --filter shuffle --filter bitshuffle readings.f32";

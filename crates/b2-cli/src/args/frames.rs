//! Options of `extract`, `split` and `join`.

use std::path::PathBuf;

use clap::Args;

use super::shared::OutputArgs;

/// Options of `extract`.
#[derive(Args, Debug)]
pub(crate) struct ExtractArgs {
    /// The object: FILE@N is the frame or chunk at byte N, FILE#N the N-th frame (from 0)
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The N-th chunk of it (from 0), as a file of its own
    #[arg(long, value_name = "N", help_heading = "Selection")]
    pub(crate) chunk: Option<u64>,
    #[command(flatten)]
    pub(crate) output: CopyOutputArgs,
}

/// Options of `join`.
#[derive(Args, Debug)]
pub(crate) struct JoinArgs {
    /// Files of frames; FILE#N is the N-th frame of one
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) output: CopyOutputArgs,
}

/// Options of `split`.
#[derive(Args, Debug)]
pub(crate) struct SplitArgs {
    /// A file of several frames
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Write the frames into DIR [default: beside FILE]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(crate) output_dir: Option<PathBuf>,
    /// Overwrite what is there
    #[arg(short, long, help_heading = "Output")]
    pub(crate) force: bool,
    /// Do not wait for the disk before renaming the outputs into place
    #[arg(long, help_heading = "Output")]
    pub(crate) no_sync: bool,
}

/// Where copied bytes go.
#[derive(Args, Clone, Debug)]
pub(crate) struct CopyOutputArgs {
    /// Output file; `-` is standard output
    #[arg(short, long, value_name = "PATH", help_heading = "Output")]
    pub(crate) output: PathBuf,
    /// Overwrite what is there
    #[arg(short, long, help_heading = "Output")]
    pub(crate) force: bool,
    /// Do not wait for the disk before renaming the output into place
    #[arg(long, help_heading = "Output")]
    pub(crate) no_sync: bool,
}

impl CopyOutputArgs {
    /// The options as the type that all commands share.
    pub(crate) fn outputs(&self) -> OutputArgs {
        OutputArgs {
            output: Some(self.output.clone()),
            force: self.force,
            no_sync: self.no_sync,
            ..OutputArgs::default()
        }
    }
}

pub(super) const EXTRACT_EXAMPLES: &str = "\
Examples:
  b2 extract simulation.h5@4096 -o part.b2frame  what `b2 scan` found there
  b2 extract log.b2frame#2 -o third.b2frame
  b2 extract --chunk 7 cube.b2nd -o chunk7.chunk  as Zarr stores chunks";

pub(super) const SPLIT_EXAMPLES: &str = "\
Examples:
  b2 split log.b2frame              writes log.0000.b2frame, log.0001.b2frame, ...
  b2 split --output-dir parts log.b2frame";

pub(super) const JOIN_EXAMPLES: &str = "\
Examples:
  b2 join day1.b2frame day2.b2frame -o week.b2frame
  b2 join log.*.b2frame -o - | b2 cat | wc -l";

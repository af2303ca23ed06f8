//! Options of `recompress`.

use std::path::PathBuf;

use clap::Args;

use super::{
    compress::{ChecksumChoice, parse_checksum},
    convert::AnewArgs,
    shared::{CheckArgs, InputArgs, LimitArgs, LockArgs, OutputArgs},
};

/// Options of `recompress`.
#[derive(Args, Debug)]
pub(crate) struct RecompressArgs {
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    #[command(flatten)]
    pub(crate) anew: AnewArgs,
    /// Write to PATH, a file or a directory; without it, the new file takes the place of the old
    /// one
    #[arg(short, long, value_name = "PATH", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Write all outputs into DIR
    #[arg(long, value_name = "DIR", conflicts_with = "output", help_heading = "Output")]
    pub(crate) output_dir: Option<PathBuf>,
    /// Checksums to write, as for `convert` [default: as in the input]
    #[arg(long, value_name = "KIND", value_parser = parse_checksum, help_heading = "Output")]
    pub(crate) checksum: Option<ChecksumChoice>,
    /// Overwrite the file that -o names
    #[arg(short, long, help_heading = "Output")]
    pub(crate) force: bool,
    /// Do not wait for the disk before renaming the output into place
    #[arg(long, help_heading = "Output")]
    pub(crate) no_sync: bool,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
    #[command(flatten)]
    pub(crate) checks: CheckArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

impl RecompressArgs {
    /// Where outputs go; in place if neither a file nor a directory is named.
    pub(crate) fn outputs(&self) -> OutputArgs {
        OutputArgs {
            output: self.output.clone(),
            output_dir: self.output_dir.clone(),
            force: self.force || self.is_in_place(),
            no_sync: self.no_sync,
            ..OutputArgs::default()
        }
    }

    /// Whether the output replaces the input.
    pub(crate) fn is_in_place(&self) -> bool {
        self.output.is_none() && self.output_dir.is_none()
    }
}

pub(super) const EXAMPLES: &str = "\
Examples:
  b2 recompress -C zstd -9 data.b2frame  in place: read back and compared, then renamed
  b2 recompress --filter bitshuffle -C lz4 cube.b2nd -o fast.b2nd
  b2 recompress --chunks 1,480,480 cube.b2nd
  b2 recompress -r --best archive/";

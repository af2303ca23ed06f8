//! Options of `scan`.

use std::path::PathBuf;

use clap::Args;

/// Options of `scan`.
#[derive(Args, Debug)]
pub(crate) struct ScanArgs {
    /// Files of any kind, as HDF5; none or `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Look for frames only, which is faster and never wrong
    #[arg(long, help_heading = "Selection")]
    pub(crate) frames: bool,
}

pub(super) const EXAMPLES: &str = "\
Examples:
  b2 scan simulation.h5             offset, length, kind and content of each chunk
  b2 show simulation.h5@4096 -n 3   what `scan` found at byte 4096
  b2 scan --json disk.img | jq -r '.objects[].offset'";

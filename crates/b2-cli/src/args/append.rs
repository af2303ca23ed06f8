//! Options of `append`.

use std::path::PathBuf;

use clap::Args;

use super::{CheckArgs, LimitArgs, LockArgs};

/// Arguments of `b2 append`.
#[derive(Args, Debug)]
pub(crate) struct AppendArgs {
    /// The frame, array, Bloscpack file or data set of bcolz that grows
    #[arg(value_name = "TARGET")]
    pub(crate) target: PathBuf,
    /// Data to append: raw items, .npy files, or the content of any format; none or `-` is
    /// standard input
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Dimension of an array along which it grows, from 0; -1 is the last
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        allow_negative_numbers = true,
        help_heading = "Arrays"
    )]
    pub(crate) axis: i64,
    /// Make TARGET of the first FILE if it is not there, as `convert` does it
    #[arg(long)]
    pub(crate) create: bool,
    #[command(flatten)]
    pub(crate) checks: CheckArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  b2 append log.b2frame today.log
  b2 append field.b2nd more.npy     rows after the last
  b2 append --axis 1 field.b2nd column.npy
  b2 append trades.bcolz today.csv  rows of a table
  b2 append --create days.b2z today.csv  also on the first day
  producer | b2 append data.blp";

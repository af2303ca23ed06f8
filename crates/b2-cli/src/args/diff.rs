//! Options of `diff`.

use std::path::PathBuf;

use clap::Args;

use super::shared::{CheckArgs, LimitArgs};

/// Options of `diff`.
#[derive(Args, Debug)]
pub(crate) struct DiffArgs {
    /// The first object, of any format; `-` is standard input
    #[arg(value_name = "A")]
    pub(crate) first: PathBuf,
    /// The second object, of any format
    #[arg(value_name = "B")]
    pub(crate) second: PathBuf,
    /// Numbers that differ by at most R times the value of B are equal
    #[arg(long, value_name = "R", default_value_t = 0.0, value_parser = parse_tolerance, help_heading = "Comparison")]
    pub(crate) rtol: f64,
    /// Numbers that differ by at most T are equal
    #[arg(long, value_name = "T", default_value_t = 0.0, value_parser = parse_tolerance, help_heading = "Comparison")]
    pub(crate) atol: f64,
    /// Compare the values only: neither types, nor shapes, nor metadata
    #[arg(long, help_heading = "Comparison")]
    pub(crate) values: bool,
    /// Fail where a part of A or B cannot be compared, instead of leaving it out
    #[arg(long, help_heading = "Comparison")]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) checks: CheckArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

fn parse_tolerance(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|tolerance| *tolerance >= 0.0)
        .ok_or_else(|| format!("{text:?} is not a number from 0 on"))
}

pub(super) const EXAMPLES: &str = "\
Examples:
  b2 diff a.b2nd b.npy              exit code 1 if they differ
  b2 diff --atol 1e-3 exact.b2nd lossy.b2nd
  b2 diff --values trades.bcolz/price price.f64";

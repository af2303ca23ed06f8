//! Options of `sum`.

use blosc_data::sum::Algorithm;
use clap::{Args, ValueEnum};

use super::shared::{CheckArgs, InputArgs, LimitArgs};

/// Options of `sum`.
#[derive(Args, Debug)]
pub(crate) struct SumArgs {
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    /// How the content is hashed
    #[arg(short, long, value_name = "NAME", default_value = "sha256", help_heading = "Output")]
    pub(crate) algorithm: SumAlgorithm,
    /// Read sums from the FILEs, and check them
    #[arg(short, long, help_heading = "Input")]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) checks: CheckArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// How content is hashed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SumAlgorithm {
    /// As `sha256sum` does.
    Sha256,
    /// As `xxh64sum -H3` does: fast, and no guard against forgery.
    Xxh3,
}

impl From<SumAlgorithm> for Algorithm {
    fn from(chosen: SumAlgorithm) -> Self {
        match chosen {
            SumAlgorithm::Sha256 => Self::Sha256,
            SumAlgorithm::Xxh3 => Self::Xxh3,
        }
    }
}

pub(super) const EXAMPLES: &str = "\
Examples:
  b2 sum data.f32.b2frame           what `sha256sum data.f32` prints
  b2 sum x.npy x.b2nd x.blp         three equal sums, if the values are equal
  b2 sum -a xxh3 -r archive/ > sums
  b2 sum --check sums";

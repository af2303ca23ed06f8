//! Options of `stats`.

use blosc_dtype::Dtype;
use clap::Args;

use super::{
    compress::parse_dtype,
    shared::{CheckArgs, InputArgs, LimitArgs},
    slice::Slice,
};

/// Options of `stats`.
#[derive(Args, Debug)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    /// Type of the items, as NumPy writes it, where the file does not say or is wrong
    #[arg(long, value_name = "TYPE", value_parser = parse_dtype, help_heading = "Input")]
    pub(crate) dtype: Option<Dtype>,
    /// Only these columns of a table, in this order
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',', help_heading = "Selection")]
    pub(crate) columns: Vec<String>,
    /// Only this part, as NumPy writes it: 0,:,5 or 10:20,::-1; rows of a table
    #[arg(long, value_name = "S", allow_hyphen_values = true, help_heading = "Selection")]
    pub(crate) slice: Option<Slice>,
    /// Along this dimension of the part, a line for each position of the others; -1 is the last
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Selection")]
    pub(crate) axis: Option<i64>,
    /// Count the values in N equal steps from the least to the largest; reads everything twice
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "10",
        value_parser = clap::value_parser!(u16).range(1..=1000),
        help_heading = "Output"
    )]
    pub(crate) histogram: Option<u16>,
    #[command(flatten)]
    pub(crate) checks: CheckArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

pub(super) const EXAMPLES: &str = "\
Examples:
  b2 stats temperature.b2nd
  b2 stats --histogram=20 temperature.npy
  b2 stats --slice=-30: --axis 0 field.b2nd
  b2 stats --columns open,close prices.bcolz
  b2 stats --dtype f4 temperature.f32 temperature.f32.b2frame";

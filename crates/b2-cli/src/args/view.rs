//! Options of `view`.

use std::path::PathBuf;

use clap::Args;

use super::GeneralArgs;

/// What `b2 view` accepts.
#[derive(Args, Debug)]
pub(crate) struct ViewArgs {
    /// The file, the directory, or the value of a store to look at
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) general: GeneralArgs,
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  b2 view field.b2nd
  b2 view run.b2z                   the values and tables of a store
  b2 view run.b2z::/climate/field   one of them
  b2 view trades.bcolz              the columns of a table

Keys: arrows, PgUp, PgDn, Home, End move; Tab goes to the list and back; [ and ]
step through the dimension that { and } choose; v values, i what it is, c chunks,
p a plot; q ends.";

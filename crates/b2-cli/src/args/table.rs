//! Options of `table`.

use std::path::PathBuf;

use blosc_data::table_edit::ACTIONS;
use clap::{
    Args,
    builder::{PossibleValue, PossibleValuesParser},
};

use super::{CheckArgs, LockArgs, WhereArgs};

/// Options of `b2 table`.
#[derive(Args, Debug)]
pub(crate) struct TableArgs {
    /// The change to make
    #[arg(value_name = "ACTION", value_parser = actions())]
    pub(crate) action: String,
    /// A table of a store or of bcolz
    #[arg(value_name = "TABLE")]
    pub(crate) table: PathBuf,
    /// COLUMN:TYPE=VALUE for add, COLUMN=NAME for rename, COLUMN for drop, COLUMN=VALUE for set and
    /// fill; values are as CSV has them, and null where there is none
    #[arg(value_name = "COLUMN[=VALUE]")]
    pub(crate) items: Vec<String>,
    #[command(flatten)]
    pub(crate) rows: WhereArgs,
    #[command(flatten)]
    pub(crate) checks: CheckArgs,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
}

fn actions() -> PossibleValuesParser {
    PossibleValuesParser::new(ACTIONS.map(|(name, help)| PossibleValue::new(name).help(help)))
}

pub(super) const EXAMPLES: &str = "\
Examples:
  b2 table set trades.b2z price=0 --where 'price < 0'
  b2 table fill trades.b2z venue=unknown
  b2 table add trades.b2z checked:b1=false note:text
  b2 table rename trades.b2z px=price
  b2 table delete trades.b2z --where 'day < 20200101'
  b2 table compact trades.b2z       frees the bytes of deleted rows
  b2 table drop db.b2z::/trades venue";

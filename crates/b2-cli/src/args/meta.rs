//! Options of `meta`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::LockArgs;

/// Arguments of `b2 meta`.
#[derive(Args, Debug)]
pub(crate) struct MetaArgs {
    /// The action
    #[arg(value_name = "ACTION")]
    pub(crate) action: Action,
    /// The file with the metadata; `-` is standard input for get and export
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Names for get and del, NAME=VALUE for set, where VALUE is JSON or else text; a file of JSON
    /// for import
    #[arg(value_name = "NAME[=VALUE]")]
    pub(crate) items: Vec<String>,
    /// Only metalayers, which have a fixed size and stand before the data
    #[arg(long, conflicts_with = "vlmeta", help_heading = "Selection")]
    pub(crate) meta: bool,
    /// Only metalayers of variable size; new ones are of this kind unless --meta is said
    #[arg(long, help_heading = "Selection")]
    pub(crate) vlmeta: bool,
    /// Output file of export; `-` is standard output
    #[arg(short, long, value_name = "PATH", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite the output file of export
    #[arg(short, long, help_heading = "Output")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
}

/// Actions of `meta`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Action {
    /// Show all metadata, or those of the names.
    Get,
    /// Add metadata, or change them.
    Set,
    /// Remove metadata.
    Del,
    /// Write all metadata as JSON.
    Export,
    /// Make the metadata those of a JSON file.
    Import,
    /// Change the metadata with $VISUAL or $EDITOR, as JSON.
    Edit,
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  b2 meta get field.b2nd            all metadata
  b2 meta set field.b2nd unit=K 'history=[\"measured\", 2019]'
  b2 meta set --meta field.b2nd kind=demo
  b2 meta del field.b2nd history
  b2 meta export a.b2frame | b2 meta import b.b2frame -
  EDITOR=nano b2 meta edit data.blp";

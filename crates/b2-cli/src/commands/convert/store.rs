//! Tables of stores as Parquet.

use b2store::Table;
use serde::Serialize;

use crate::{
    args::{OutputArgs, convert::ConvertedFormat},
    context::Context,
    error::{Result, message},
    formats::parquet,
    inputs::origin::Origin,
    output::{
        staged::{Nest, StageOptions},
        targets::Target,
    },
    render::{
        escape::{harmless, path_text},
        size,
    },
};

/// The result of one table.
#[derive(Debug, Serialize)]
struct TableReport<'a> {
    schema: &'static str,
    path: &'a str,
    output: &'a str,
    rows: u64,
    /// Columns that the output has no type for.
    left_out: &'a [String],
}

/// Writes a table to a file.
pub(super) fn convert(
    output: &OutputArgs,
    cx: &Context,
    origin: &Origin,
    format: ConvertedFormat,
    target: &Target,
    table: &Table,
) -> Result<()> {
    let (ConvertedFormat::Parquet, Target::File(path)) = (format, target) else {
        return Err(message::A_TABLE.about(origin.name()));
    };
    let options = StageOptions { force: output.force, sync: !output.no_sync };
    let nest = Nest::create(path, options, &cx.unfinished)?;
    let left_out = parquet::write_table(table, nest.path())?;
    nest.commit_with_mode(origin.path().and_then(|path| std::fs::metadata(path).ok()).as_ref())?;
    let (name, target, rows) = (origin.name(), path_text(path), table.len()?);
    for column in &left_out {
        let text = format!("no room for column {} in a .parquet file", harmless(column));
        cx.console.warning(&name, &text);
    }
    if cx.console.json() {
        let (schema, path, output) = ("b2.convert/1", name.as_str(), target.as_str());
        let report = TableReport { schema, path, output, rows, left_out: &left_out };
        return cx.console.document(&report);
    }
    let text = format!("{} -> {}", harmless(&name), harmless(&target));
    cx.console.note(&format!("{text}   {} rows", size::count(rows)));
    Ok(())
}

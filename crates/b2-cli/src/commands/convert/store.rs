//! Stores as wholes, and what of a table other formats cannot hold.

use std::path::Path;

use b2store::{Store, StoreForm, StoreWriter, WriteOptions};
use serde::Serialize;

use super::Work;
use crate::{
    args::{OutputArgs, convert::ConvertedFormat},
    context::Context,
    error::Result,
    formats::store,
    output::staged::{Nest, StageOptions},
    render::{
        escape::{harmless, path_text},
        size,
    },
};

/// The result of one store.
#[derive(Debug, Serialize)]
pub(super) struct StoreReport {
    schema: &'static str,
    path: String,
    output: String,
    nvalues: u64,
}

impl StoreReport {
    /// Prints it.
    pub(super) fn print(mut self, cx: &Context, name: &str, to: &Path) -> Result<()> {
        (self.path, self.output) = (name.to_owned(), path_text(to));
        if cx.console.json() {
            return cx.console.document(&self);
        }
        let text = format!("{} -> {}", harmless(&self.path), harmless(&self.output));
        cx.console.note(&format!("{text}   {} values", size::count(self.nvalues)));
        Ok(())
    }
}

/// The form of a store of this format.
pub(super) fn form(format: ConvertedFormat) -> StoreForm {
    match format {
        ConvertedFormat::B2d => StoreForm::Dir,
        _ => StoreForm::Zip,
    }
}

/// Copies a store to one of another form, unless it is a table.
pub(super) fn copy(
    output: &OutputArgs,
    cx: &Context,
    from: &Path,
    format: ConvertedFormat,
    to: &Path,
) -> Result<Option<StoreReport>> {
    let from: Store = store::open(from, cx.dparams())?;
    if from.tables().any(|key| key == "/") {
        return Ok(None);
    }
    let options = StageOptions { force: output.force, sync: !output.no_sync };
    let nest = Nest::create(to, options, &cx.unfinished)?;
    let options = WriteOptions::default().form(form(format));
    let made = StoreWriter::copy(&from, nest.path(), &options)?.commit()?;
    let nvalues = made.keys().len() as u64;
    drop(made);
    nest.commit(None)?;
    let (path, output) = (String::new(), String::new());
    Ok(Some(StoreReport { schema: "b2.convert/1", path, output, nvalues }))
}

impl Work<'_> {
    /// What is lost of the rows of a table of a store in this format.
    pub(super) fn lost_of_rows(&self) -> Result<Vec<String>> {
        let Some(rows) = self.source.rows() else { return Ok(vec![]) };
        let mut lost = vec![];
        let computed = rows.table().schema().computed.iter();
        let keeps_cells = matches!(
            self.format,
            ConvertedFormat::Csv
                | ConvertedFormat::Parquet
                | ConvertedFormat::B2z
                | ConvertedFormat::B2d
        );
        let is_copy = self.format.is_store() && self.is_copy(rows);
        if !is_copy && !rows.is_column() {
            lost.extend(computed.map(|column| format!("the computed column `{}`", column.name)));
        }
        if !keeps_cells {
            let named = |what: &str, names: Vec<String>| -> Vec<String> {
                names.iter().map(|name| format!("the {what} `{name}`")).collect()
            };
            lost.extend(named("nulls of column", rows.lost_nulls()));
            lost.extend(named("kind of column", rows.retyped()));
            lost.extend(named("type of attribute", rows.retyped_attributes()?));
        }
        if self.format == ConvertedFormat::Parquet && !rows.is_column() {
            lost.extend(self.source.metadata()?.names());
        }
        Ok(lost)
    }
}

//! Stores as wholes, and what of a table other formats cannot hold.

use std::{collections::BTreeMap, path::Path};

use b2store::{Store, StoreForm, StoreWriter, WriteOptions};
use blosc_dtype::npy::NpyHeader;
use blosc_io::{FileStore, ReadAt as _};
use serde::Serialize;

use super::{
    Convert, Work,
    source::{Items, Source},
};
use crate::{
    args::ConvertedFormat,
    context::Context,
    error::{Doing, Error, Result, message},
    formats::store,
    inputs::{Origin, origin::Found},
    output::{Staged, targets},
    render::{harmless, path_text, size},
};

/// The result of one store.
#[derive(Debug, Serialize)]
#[serde(tag = "schema", rename = "b2.convert/1")]
pub(super) struct StoreReport {
    path: String,
    output: String,
    nvalues: u64,
}

impl StoreReport {
    /// Puts a store that was made in its place.
    fn of_made(made: Store, staged: Staged) -> Result<Self> {
        let nvalues = made.keys().len() as u64;
        drop(made);
        staged.commit(None)?;
        let (path, output) = (String::new(), String::new());
        Ok(Self { path, output, nvalues })
    }

    /// Prints it.
    pub(super) fn print(mut self, cx: &Context, name: &str, to: &Path) -> Result<()> {
        (self.path, self.output) = (name.to_owned(), path_text(to));
        let text = format!("{} -> {}", harmless(&self.path), harmless(&self.output));
        cx.console.done(&self, &format!("{text}   {} values", size::count(self.nvalues)))
    }
}

/// The form of a store of this format.
pub(super) fn form(format: ConvertedFormat) -> StoreForm {
    match format {
        ConvertedFormat::B2d => StoreForm::Dir,
        _ => StoreForm::Zip,
    }
}

impl Convert<'_> {
    /// Copies a store to one of another form, unless it is a table.
    pub(super) fn copy_store(self, from: &Path, to: &Path) -> Result<Option<StoreReport>> {
        let from: Store = store::open(from, self.cx.read_params())?;
        if from.tables().any(|key| key == "/") {
            return Ok(None);
        }
        let staged = Staged::in_folder(to, self.output.into(), &self.cx.unfinished)?;
        let options = WriteOptions::default().form(form(self.format));
        let made = StoreWriter::copy(&from, staged.path(), &options)?.commit()?;
        StoreReport::of_made(made, staged).map(Some)
    }

    /// Makes a store of inputs with keys: a value or a table for each. Files of no format become
    /// arrays of bytes.
    pub(super) fn store_from(
        self,
        values: BTreeMap<String, Origin>,
        to: &Path,
    ) -> Result<StoreReport> {
        let Self { cx, format, .. } = self;
        let staged = Staged::in_folder(to, self.output.into(), &self.cx.unfinished)?;
        let options = WriteOptions::default().form(form(format));
        let mut writer = StoreWriter::create_with(staged.path(), &options)?;
        // They hold the values until the store is written.
        let mut stations = vec![];
        for (key, origin) in values {
            let named = |error: Error| match error.path() {
                Some(_) => error,
                None => Error::Input { file: origin.name(), error: Box::new(error) },
            };
            let source = self.open_or_bytes(&origin).map_err(named)?;
            let (source, dropped) = super::without_objects(source, format)?;
            let work = self.work(&origin, source, dropped);
            let (done, station) = work.fill_store(&mut writer, Some(&key)).map_err(named)?;
            for what in done.left_out.iter().chain(&work.lost_of_rows()?) {
                cx.console.warning(&origin.name(), &format!("no room for {what} in a store"));
            }
            stations.push(station);
        }
        StoreReport::of_made(writer.commit()?, staged)
    }

    /// What a file holds, or else its bytes.
    fn open_or_bytes(self, origin: &Origin) -> Result<Source> {
        match (self.open_file(origin, true), origin.path()) {
            (Err(Error::NotBlosc { .. } | Error::NoType { .. }), Some(path)) => {
                let store = FileStore::open(path).map_err(Error::io(Doing::Open))?;
                let len = store.len().map_err(Error::io(Doing::Open))?;
                let dtype = "|u1".parse().map_err(|_| message::NOT_AN_ARRAY.error())?;
                Ok(Source::Items(Items::new(store, len, NpyHeader::new(dtype, vec![len]))?))
            }
            (source, _) => source,
        }
    }
}

/// The arrays of a group, and the keys that they get: their paths in the group.
pub(super) fn keyed_arrays(cx: &Context, group: &Origin) -> Result<BTreeMap<String, Origin>> {
    let mut keyed = BTreeMap::new();
    for found in cx.expand_groups(vec![Ok(group.clone())]) {
        let array = found.map_err(|(_, error)| error)?;
        let name = array.name();
        let key = name.rsplit_once("::").map_or(name.as_str(), |(_, key)| key);
        keyed.insert(format!("/{}", key.trim_start_matches('/')), array);
    }
    Ok(keyed)
}

/// The files of a folder, and the keys that they get: their paths without the suffixes of formats.
pub(super) fn keyed_files(folder: &Path, files: Vec<Found>) -> Result<BTreeMap<String, Origin>> {
    let mut keyed = BTreeMap::new();
    for found in files {
        let origin = found.map_err(|(_, error)| error)?;
        let Some(path) = origin.path() else { continue };
        let inner = path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned();
        let suffixes = targets::FRAME_SUFFIXES.iter().chain(&[".npy", ".csv", ".parquet"]);
        let stem = { suffixes }.find_map(|suffix| inner.strip_suffix(suffix));
        let key = format!("/{}", stem.unwrap_or(&inner));
        let path = path.to_owned();
        if keyed.insert(key.clone(), origin).is_some() {
            return Err(message::TWO_FILES_OF_A_KEY.of_input(&path, harmless(&key)));
        }
    }
    Ok(keyed)
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

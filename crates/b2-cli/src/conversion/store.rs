//! Whole stores as outputs, and the parts of a table that other formats cannot hold.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use b2store::{Store, StoreWriter, WriteOptions};
use blosc_dtype::npy::NpyHeader;
use blosc_io::{FileStore, ReadAt as _};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    Convert,
    left_out::tell_loss,
    refuse_input_options,
    source::{Items, Source},
};
use blosc_data::{
    Opened, Station,
    content::metadata::within_limits,
    convert::{Recompressed, copy_store},
};

use crate::inputs::Place;
use crate::{
    context::Context,
    error::{Doing, Error, Result, chain, message},
    exit::Code,
    formats::store,
    inputs::{OpenedInput, Origin, origin::Found},
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
    /// Inputs that no store can hold, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
}

impl StoreReport {
    /// Renames a store that was made to its target.
    fn of_made(made: Store, staged: Staged) -> Result<Self> {
        let nvalues = made.nvalues();
        drop(made);
        staged.commit(None)?;
        let (path, output, left_out) = (String::new(), String::new(), vec![]);
        Ok(Self { path, output, nvalues, left_out })
    }

    /// Prints the report.
    pub(super) fn print(mut self, cx: &Context, name: &str, to: &Path) -> Result<()> {
        (self.path, self.output) = (name.to_owned(), path_text(to));
        let text = format!("{} -> {}", harmless(&self.path), harmless(&self.output));
        cx.console.done(&self, &format!("{text}   {}", size::counted(self.nvalues, "value")))
    }
}

impl Convert<'_> {
    /// Copies a store to one of another form. `None` for a table, and for options about one value.
    pub(super) fn copy_store(
        self,
        origin: &Origin,
        from: &Place,
        to: &Path,
    ) -> Result<Option<(StoreReport, Recompressed)>> {
        let from: Store = store::open(from, self.cx.read_params())?;
        let is_table = from.tables().any(|key| key == "/");
        // The only value of a store is checked once it is open.
        if !is_table && store::only_value(&from).is_none() {
            refuse_input_options(self.args)?;
        }
        if is_table || self.args.is_of_one() {
            return Ok(None);
        }
        let staged = Staged::in_folder(to, self.output.into(), &self.cx.unfinished)?;
        let settings = self.settings(origin);
        let copied = copy_store(&from, staged.path(), &settings, self.args.verify, &|_| ());
        let (made, done) = copied.map_err(|error| Error::from(error).of_output(to))?;
        super::tell_gone(self.args, self.cx, origin, &done.report.left_out)?;
        Ok(Some((StoreReport::of_made(made, staged)?, done)))
    }

    /// Makes a store of inputs with keys: a value or a table for each. Files of unknown format
    /// become arrays of bytes. Inputs that no store can hold are left out with a warning, and set
    /// the exit code.
    pub(super) fn store_from(self, members: Members, name: &str, to: &Path) -> Result<()> {
        let Self { cx, format, .. } = self;
        let staged = Staged::in_folder(to, self.output.into(), &self.cx.unfinished)?;
        let options = WriteOptions::default().form(format.store_form());
        let mut writer = StoreWriter::create_with(staged.path(), &options)?;
        // The stations hold the values until the store is written.
        let (mut stations, mut left_out) = (vec![], vec![]);
        for (key, value) in members.values {
            let (name, added) = match value {
                Ok(origin) => (origin.name(), self.add_value(&mut writer, &key, &origin)),
                Err((name, error)) => (name, Err(error)),
            };
            match added {
                Ok(station) => stations.push(station),
                Err(error) if is_no_value(&error) => {
                    let text = format!("left out: {}", chain(&error));
                    tell_loss(self.args, cx, &name, &text).map_err(|error| Error::Input {
                        file: name.clone(),
                        error: Box::new(error),
                    })?;
                    left_out.push(name);
                }
                Err(error) if error.path().is_some() => return Err(error),
                Err(error) => return Err(Error::Input { file: name, error: Box::new(error) }),
            }
        }
        if stations.is_empty() {
            return Err(message::NOTHING_CONVERTED.error());
        }
        let lost = add_groups(&mut writer, members.groups)?;
        for what in members.lost.iter().chain(&lost) {
            tell_loss(self.args, cx, name, &format!("left out: {what}"))?;
        }
        let is_all = left_out.is_empty() && members.lost.is_empty() && lost.is_empty();
        left_out.extend(members.lost.into_iter().chain(lost));
        let made = writer.commit()?;
        let report = StoreReport::of_made(made, staged)?;
        StoreReport { left_out, ..report }.print(cx, name, to)?;
        if is_all { Ok(()) } else { Err(Error::Reported { code: Code::Foreign }) }
    }

    /// Adds an input to a store. The stations that it returns hold the value until the store is
    /// written.
    fn add_value(
        self,
        writer: &mut StoreWriter,
        key: &str,
        origin: &Origin,
    ) -> Result<Vec<Station>> {
        let source = self.open_or_bytes(origin)?;
        let (source, dropped) = source.fitted(self.format, &self.cx.read_params())?;
        let work = self.work(origin, source, dropped);
        let progress = |nbytes| work.progress.add(nbytes);
        let conversion = work.conversion(&progress);
        let (done, station) = match conversion.fill_store(writer, Some(key)) {
            Ok(filled) => filled,
            Err(error) => {
                // A table that has begun must not stay in the store.
                let _was_there = writer.remove(key);
                return Err(error.into());
            }
        };
        for what in done.left_out.iter().chain(&conversion.lost_of_rows()?) {
            let text = format!("no room for {what} in a store");
            tell_loss(self.args, self.cx, &origin.name(), &text)?;
        }
        Ok(station)
    }

    /// The content of a file; its bytes if the format is unknown.
    fn open_or_bytes(self, origin: &Origin) -> Result<Source> {
        match (self.open_file(origin, true), origin.path()) {
            (Err(Error::NotBlosc { .. } | Error::NoType { .. }), Some(path)) => {
                let store = FileStore::open(path).map_err(Error::io(Doing::Open))?;
                let len = store.len().map_err(Error::io(Doing::Open))?;
                let dtype = "|u1".parse().map_err(|_| message::NOT_AN_ARRAY.error())?;
                Ok(Source::Items(Items::new(
                    Arc::new(store),
                    len,
                    NpyHeader::new(dtype, vec![len]),
                )?))
            }
            (source, _) => source,
        }
    }
}

/// The members of a new store.
#[derive(Default)]
pub(super) struct Members {
    /// The inputs by their keys, including those that do not open.
    values: BTreeMap<String, Found>,
    /// Attributes of groups by their keys.
    groups: Vec<(String, Map<String, Value>)>,
    /// Attributes that the opener does not read.
    lost: Vec<String>,
}

impl Members {
    /// Adds other members below `key`.
    fn extend(&mut self, key: &str, inner: Self) {
        let below = |inner: &str| match inner {
            "/" => key.to_owned(),
            inner => format!("{key}{inner}"),
        };
        self.values.extend(inner.values.into_iter().map(|(inner, value)| (below(&inner), value)));
        self.groups.extend(inner.groups.into_iter().map(|(inner, attrs)| (below(&inner), attrs)));
        self.lost.extend(inner.lost);
    }
}

/// Whether an error says that no store can hold the input. Damage, refusals of the system and
/// limits are no reason to leave an input out.
fn is_no_value(error: &Error) -> bool {
    match error {
        Error::Message { message: message::STRICT, .. } => false,
        Error::Csv(_) | Error::Npy(_) => true,
        error => matches!(error.code(), Code::Foreign | Code::Usage),
    }
}

/// Sets the attributes of groups, and returns those that a store cannot hold.
fn add_groups(
    writer: &mut StoreWriter,
    groups: Vec<(String, Map<String, Value>)>,
) -> Result<Vec<String>> {
    let mut lost = vec![];
    for (key, attrs) in groups {
        for (name, value) in within_limits(attrs) {
            let set = store::set_attribute(writer, &key, &name, &value);
            match set {
                Ok(()) => {}
                Err(error) if error.code() == Code::Usage => {
                    lost.push(format!(
                        "the attribute `{name}` of the group {key}: {}",
                        chain(&error)
                    ));
                }
                Err(error) => return Err(error),
            }
        }
    }
    Ok(lost)
}

/// The arrays of a group, with their paths in the group as keys.
pub(super) fn keyed_arrays(cx: &Context, origin: &Origin) -> Result<Members> {
    let Origin::Opened(OpenedInput { name, opened: Opened::Group(group) }) = origin else {
        return Err(message::NOTHING_CONVERTED.error());
    };
    let own = name.split_once("::").map_or("", |(_, key)| key.trim_end_matches('/'));
    let key_of = |name: &str| {
        let path = name.rsplit_once("::").map_or(name, |(_, key)| key);
        format!("/{}", path.strip_prefix(own).unwrap_or(path).trim_start_matches('/'))
    };
    let keys = group.members.iter().map(|name| key_of(name));
    let values = keys.zip(cx.expand_groups(vec![Ok(origin.clone())])).collect();
    let inner = group.groups.iter().map(|(path, attrs)| (path.clone(), attrs.clone()));
    let groups =
        core::iter::once(("/".to_owned(), group.attributes.clone())).chain(inner).collect();
    Ok(Members { values, groups, lost: group.lost_of_copy() })
}

/// The path of a file without the suffix of its format.
fn stem_of(inner: &str) -> &str {
    let suffixes = targets::FRAME_SUFFIXES.iter().chain(&[".npy", ".csv", ".parquet"]);
    { suffixes }.find_map(|suffix| inner.strip_suffix(suffix)).unwrap_or(inner)
}

/// The files of a folder, with their paths as keys, without the suffixes of formats.
pub(super) fn keyed_files(cx: &Context, folder: &Path, files: Vec<Found>) -> Result<Members> {
    let mut members = Members::default();
    let whole = cx.keep_whole(files, [folder]);
    let path_of = |found: &Found| match found {
        Ok(Origin::File { path, .. }) => path.clone(),
        Ok(origin) => origin.name().into(),
        Err((name, _)) => name.into(),
    };
    let inner_of = |found: &Found| {
        let path = path_of(found);
        path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned()
    };
    let inners: Vec<String> = whole.iter().map(inner_of).collect();
    let mut nfiles = BTreeMap::<&str, usize>::new();
    inners.iter().for_each(|inner| *nfiles.entry(stem_of(inner)).or_default() += 1);
    for (found, inner) in whole.into_iter().zip(&inners) {
        let (path, stem) = (path_of(&found), stem_of(inner));
        // Files that differ only in their suffixes keep them.
        let is_shared = nfiles.get(stem).is_some_and(|n| *n > 1);
        let key = format!("/{}", if is_shared { inner } else { stem });
        let prefix = format!("{key}/");
        let is_group = found.as_ref().is_ok_and(Origin::is_group);
        let is_taken = |known: &String| *known == key || is_group && known.starts_with(&prefix);
        if members.values.keys().any(is_taken) {
            return Err(message::TWO_FILES_OF_A_KEY.of_input(&path, harmless(&key)));
        }
        match found {
            Ok(group) if group.is_group() => members.extend(&key, keyed_arrays(cx, &group)?),
            // Refusals of the system stop the command.
            Err((_, error)) if !is_no_value(&error) => return Err(error),
            value => drop(members.values.insert(key, value)),
        }
    }
    Ok(members)
}

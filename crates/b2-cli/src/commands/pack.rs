//! `b2 pack` and `b2 unpack`: a store as one file, and as a directory.
//!
//! The frames are copied as they are, after a check: a cut or damaged frame stops the command. The
//! new store appears as a whole, or not at all.

use std::path::{Path, PathBuf};

use b2store::{Store, StoreForm, StoreKind, StoreWriter, WriteOptions, error::ZipFault};
use serde::Serialize;

use crate::inputs::Place;
use crate::{
    args::PackArgs,
    context::Context,
    error::{Doing, Error, Result, message},
    exit::Code,
    formats::store,
    inputs::{
        Inputs, foreign,
        origin::{Origin, Part, content_kind},
        walk,
    },
    output::{StageOptions, Staged},
    render::{
        escape::{harmless, path_text},
        size,
    },
};
use blosc_data::Format;

/// The result.
#[derive(Debug, Serialize)]
#[serde(tag = "schema", rename = "b2.pack/1")]
struct PackReport<'a> {
    path: &'a str,
    output: &'a str,
    nvalues: u64,
}

/// Makes an archive of a store.
pub(crate) fn pack(args: &PackArgs, cx: &Context) -> Code {
    run(args, cx, StoreForm::Zip)
}

/// Makes a directory of a store.
pub(crate) fn unpack(args: &PackArgs, cx: &Context) -> Code {
    run(args, cx, StoreForm::Dir)
}

fn run(args: &PackArgs, cx: &Context, form: StoreForm) -> Code {
    // A key is no part of the name of a store here, but a pipe is copied.
    let path = match cx.local(&args.store) {
        Ok(Origin::File { path, part: Part::Whole }) if path.word().is_some() => path,
        _ => Place::from(args.store.as_path()),
    };
    let strays = store::strays(&path, cx.dparams(), true);
    let code = walk::code_of_loss(&strays);
    let roots = vec![args.store.clone()];
    let origin = Origin::File { path, part: Part::Whole };
    let inputs = Inputs { found: vec![Ok(origin)], left_out: strays, roots };
    cx.run_on_inputs(inputs, |origin| copy(args, cx, form, origin)).and(code)
}

fn copy(args: &PackArgs, cx: &Context, form: StoreForm, origin: &Origin) -> Result<()> {
    let from = open(origin, cx)?;
    let (suffix, name) =
        if form == StoreForm::Zip { ("b2z", "one file") } else { ("b2d", "a directory") };
    let is_form = origin.place().is_some_and(Place::is_dir) == (form == StoreForm::Dir);
    if is_form && args.output.is_none() && from.kind() != StoreKind::Embed {
        return Err(message::PACKED_ALREADY.about(name));
    }
    if origin.changeable().is_none() && args.output.is_none() {
        return Err(message::NEW_STORE_NAME.error());
    }
    let output = args.output.clone().unwrap_or_else(|| beside(&args.store, suffix));
    let options = StageOptions { force: args.force, sync: true };
    let staged = Staged::in_folder(&output, options, &cx.unfinished)?;
    let options = WriteOptions::default().form(form);
    let made = StoreWriter::copy(&from, staged.path(), &options).and_then(StoreWriter::commit);
    let made = made.map_err(|error| Error::from(error).of_output(&output))?;
    staged.commit(None)?;
    let (path, target) = (path_text(&args.store), path_text(&output));
    let nvalues = made.nvalues();
    let text = format!("{} -> {}", harmless(&path), harmless(&target));
    let line = format!("{text}: {}", size::counted(nvalues, "value"));
    cx.console.done(&PackReport { path: &path, output: &target, nvalues }, &line)
}

/// Opens the store. Any other file gets an error that says so, instead of one about a damaged
/// store.
fn open(origin: &Origin, cx: &Context) -> Result<Store> {
    let place = origin.place().ok_or(message::NO_STORE.error())?;
    if !place.is_store() && content_kind(place) != Some(Format::Frame) {
        // The system's error comes first: a missing or unreadable file has no format.
        place.metadata().map_err(Error::io(Doing::Open))?;
        return Err(foreign::refusal(place).unwrap_or_else(|| message::NO_STORE.error()));
    }
    match store::open(place, cx.read_params()) {
        Err(error) if error.code() == Code::Foreign => Err(message::NO_STORE.error()),
        // Archives of old layouts begin with the data of a frame.
        Err(Error::Store(b2store::Error::Zip(ZipFault::NoDirectory))) if !place.is_store() => {
            Err(message::NO_STORE.error())
        }
        opened => opened,
    }
}

/// The name with another suffix.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    match path.extension().and_then(|found| found.to_str()) {
        Some("b2z" | "b2d" | "b2e") => path.with_extension(suffix),
        _ => {
            let mut name = path.as_os_str().to_owned();
            name.push(".");
            name.push(suffix);
            name.into()
        }
    }
}

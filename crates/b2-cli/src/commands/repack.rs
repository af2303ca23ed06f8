//! `b2 repack`: the same frame without the bytes that nothing refers to, in its place.
//!
//! A contiguous frame is written anew beside itself and takes its own name; of a sparse one the
//! files go that its index does not name. A crash leaves the old one or the new one. Of a sequence
//! of frames one frame is made.

use std::{fs, path::Path};

use b2frame::SChunkWriter;
use serde::Serialize;

use crate::{
    args::RepackArgs,
    context::Context,
    error::{Doing, Error, Result, message},
    exit::Code,
    formats::store,
    inputs::{Object, ObjectReader, Origin, Part, frame_bytes, is_sparse, origin, walk},
    render::harmless,
    sequence,
};

/// The result of one input.
#[derive(Debug, Serialize)]
#[serde(tag = "schema", rename = "b2.repack/1")]
struct RepackReport<'a> {
    path: &'a str,
    /// Bytes before, and how many of them are gone.
    file_bytes: u64,
    freed: u64,
}

/// Repacks each input.
pub(crate) fn run(args: &RepackArgs, cx: &Context) -> Code {
    let inputs = origin::find(&args.inputs, &walk::ours);
    cx.run_on_inputs(inputs, |origin| repack_input(args, cx, origin))
}

fn repack_input(args: &RepackArgs, cx: &Context, origin: &Origin) -> Result<()> {
    let Some(path) = origin.path() else { return Err(message::PIPE_IS_NOT_CHANGED.error()) };
    let origin = &store::value_of(origin, cx.read_params())?;
    let mut objects = ObjectReader::open(origin, cx.read_params())?;
    let object = objects.next()?.ok_or(Error::NotBlosc { start: vec![] })?;
    let Object::Frame(schunk) = object else { return Err(message::REPACKS_FRAMES.error()) };
    // What is no file of its own could only be overwritten in place.
    let is_whole = matches!(origin, Origin::File { part: Part::Whole, .. });
    let is_sequence = objects.next()?.is_some();
    if !is_whole {
        return Err(message::REPACKS_ONE_FRAME.error());
    }
    if is_sequence {
        drop(schunk);
        return merge(args, cx, origin, path);
    }
    // What an append left that met a full disk goes as well.
    let tail = objects.trailing();
    let file_bytes = frame_bytes(&schunk).saturating_add(tail);
    // A contiguous frame is compared when it is written anew; files of chunks stay as they are.
    if is_sparse(&schunk) {
        schunk.compare_seal()?;
    }
    // An open frame would hold the lock.
    drop(schunk);
    let mut writer = SChunkWriter::open_with(path, &cx.edit_options(path, 0, args.lock))?;
    let freed = writer.compact()?.saturating_add(tail);
    report(cx, origin, file_bytes, freed)
}

/// One frame takes the place of several.
fn merge(args: &RepackArgs, cx: &Context, origin: &Origin, path: &Path) -> Result<()> {
    let len = || fs::metadata(path).map(|found| found.len()).map_err(Error::io(Doing::Open));
    let before = len()?;
    sequence::merge_in_place(cx, path, args.lock)?;
    report(cx, origin, before, before.saturating_sub(len()?))
}

fn report(cx: &Context, origin: &Origin, file_bytes: u64, freed: u64) -> Result<()> {
    let (name, units) = (origin.name(), cx.console.units());
    let line = format!("{}: {} freed", harmless(&name), units.size(freed));
    cx.console.done(&RepackReport { path: &name, file_bytes, freed }, &line)
}

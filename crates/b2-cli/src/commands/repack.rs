//! `b2 repack`: the same frame without the bytes that nothing refers to, in its place.
//!
//! A contiguous frame is written again and renamed; of a sparse frame, files that its index does
//! not name are removed. A crash leaves the old frame or the new one. A sequence of frames becomes
//! one frame. In a store, values with dead bytes are written again. Bcolz, Bloscpack and
//! `.npy` files lose the rest of interrupted changes.

use std::{fs, path::Path};

use b2frame::SChunkWriter;
use b2store::WriteOptions;
use blosc_data::repack::{repack_bcolz, repack_blp, repack_store};
use serde::Serialize;

use crate::{
    args::RepackArgs,
    context::Context,
    error::{Doing, Error, Result, message},
    exit::Code,
    formats::npy,
    inputs::{Object, ObjectReader, Origin, Part, frame_bytes, is_sparse, origin, walk},
    render::harmless,
    sequence,
};

/// The result of one input.
#[derive(Debug, Serialize)]
#[serde(tag = "schema", rename = "b2.repack/1")]
struct RepackReport<'a> {
    path: &'a str,
    /// Bytes before, and bytes that were freed.
    file_bytes: u64,
    freed: u64,
}

/// Repacks each input.
pub(crate) fn run(args: &RepackArgs, cx: &Context) -> Code {
    let inputs = origin::find(&args.inputs, &walk::ours);
    cx.run_on_inputs(inputs, |origin| repack_input(args, cx, origin))
}

fn repack_input(args: &RepackArgs, cx: &Context, origin: &Origin) -> Result<()> {
    let path = origin.to_change()?;
    if path.is_store() {
        let key = match origin {
            Origin::File { part: Part::Member(key), .. } => Some(key.as_str()),
            _ => None,
        };
        let options = WriteOptions::default().wait(cx.lock_wait(args.lock));
        let done = repack_store(path, key, &options)?;
        return report(cx, origin, done.file_bytes, done.freed);
    }
    if let Some(path) = npy::target(origin) {
        let (file_bytes, freed) = npy::cut_tail(cx, path, args.lock)?;
        return report(cx, origin, file_bytes, freed);
    }
    let mut objects = ObjectReader::open(origin, cx.read_params())?;
    let object = objects.next()?.ok_or(Error::NotBlosc { start: vec![] })?;
    // A part of a file cannot be replaced by a rename.
    if !matches!(origin, Origin::File { part: Part::Whole, .. }) {
        return Err(message::REPACKS_ONE_FRAME.error());
    }
    let is_sequence = matches!(object, Object::Frame(_)) && objects.next()?.is_some();
    // The bytes after the object are freed: tell what they are.
    objects.warn_of_trailing(&cx.console, &origin.name());
    let wait = cx.lock_wait(args.lock);
    let schunk = match object {
        Object::Frame(schunk) => schunk,
        other => {
            let done = match other {
                Object::Bcolz(_) => repack_bcolz(path, &cx.read_params().bcolz().lock(wait))?,
                Object::Blp(_) => repack_blp(path, &wait)?,
                _ => return Err(message::REPACKS_FRAMES.error()),
            };
            return report(cx, origin, done.file_bytes, done.freed);
        }
    };
    if is_sequence {
        drop(schunk);
        return merge(args, cx, origin, path);
    }
    // An append that filled the disk leaves bytes after the frame.
    let tail = objects.tail().nbytes;
    let file_bytes = frame_bytes(&schunk).saturating_add(tail);
    // Writing a contiguous frame again compares its seal; the chunk files of a sparse one stay
    // unread.
    if is_sparse(&schunk) {
        schunk.compare_seal()?;
    }
    // The open frame would keep the lock.
    drop(schunk);
    let mut writer = SChunkWriter::open_with(path, &cx.edit_options(0, args.lock))?;
    let freed = writer.compact()?;
    report(cx, origin, file_bytes, freed.saturating_add(tail))
}

/// Makes one frame of the frames of a sequence.
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

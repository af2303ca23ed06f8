//! A sequence of frames as one content, merged into one frame. Other programs read only the first
//! frame, and only a single frame can be changed in place.

use std::{
    fs::{self, File},
    path::Path,
    sync::Arc,
};

use b2frame::{SChunk, SChunkWriter};
use blosc_chunk::{CodecId, Pipeline, Registries};
use blosc_data::content::Metadata;
use blosc_io::FileStore;

use crate::{
    args::LockArgs,
    context::Context,
    error::{Doing, Error, Result, message},
    formats,
    inputs::{Object, ObjectReader, Origin, Part},
    output::{Sink, StageOptions, Staged, copy},
    render::{harmless, size::count},
};

/// Makes one frame of the frames in a file, in place. The chunks of the first stay unchanged; the
/// content of the others is compressed with its settings.
///
/// # Errors
///
/// When the frames do not form one content, the file holds something else, or it cannot be written.
/// The file is then unchanged.
pub(crate) fn merge_in_place(cx: &Context, path: &Path, lock: LockArgs) -> Result<()> {
    let origin = Origin::File { path: path.into(), part: Part::Whole };
    let _turn = cx.lock_exclusive(path, lock)?;
    let metadata = fs::metadata(path).map_err(Error::io_at(Doing::Open, path))?;
    let staged = Staged::in_folder(path, StageOptions { force: true, sync: true }, &cx.unfinished)?;
    let Merged { nframes, loses_metadata } = merge(cx, &origin, staged.path())?;
    if nframes < 2 {
        // Another program has merged the frames before the lock was taken.
        return Ok(());
    }
    if loses_metadata {
        return Err(message::SEQUENCE_METADATA.error());
    }
    staged.commit_with_mode(Some(&metadata))?;
    let name = origin.name();
    cx.console.note(&format!("{}: {} frames are merged into one", harmless(&name), count(nframes)));
    Ok(())
}

/// One frame of all the frames of an input, and whether it lacks metadata that frames after the
/// first have.
///
/// # Errors
///
/// When the frames do not form one content, or cannot be read or written.
pub(crate) fn merged(cx: &Context, origin: &Origin) -> Result<(Object, bool)> {
    let station = Staged::for_stream(&cx.unfinished)?;
    let merged = merge(cx, origin, station.path())?;
    // The open file outlives its name, which the station removes.
    let file = File::open(station.path()).map_err(Error::io(Doing::Spool))?;
    let store = Arc::new(FileStore::from_file(file));
    let object = ObjectReader::from_store(store, cx.read_params()).next()?;
    let object = object.ok_or(Error::NotBlosc { start: vec![] })?;
    Ok((object, merged.loses_metadata))
}

/// The result of a merge.
struct Merged {
    /// The number of frames before.
    nframes: u64,
    /// Whether frames after the first have metadata of their own.
    loses_metadata: bool,
}

/// Writes one frame of all the frames of an input to `path`.
///
/// # Errors
///
/// When the frames do not form one content, or cannot be read or written.
fn merge(cx: &Context, origin: &Origin, path: &Path) -> Result<Merged> {
    let mut objects = ObjectReader::open(origin, cx.read_params())?;
    let found = objects.find()?.ok_or(Error::NotBlosc { start: vec![] })?;
    let first = objects.open_found(&found)?;
    let typesize = part_of_content(&first)?.typesize();
    let metadata = Metadata::of_frame(part_of_content(&first)?)?;
    let file = File::create_new(path).map_err(Error::io_at(Doing::Create, path))?;
    let mut sink = Sink::file(file, path);
    copy::copy(&found, &first, &mut sink)?;
    sink.finish()?;
    drop(first);
    let mut writer = SChunkWriter::open_with(path, &cx.edit_options(0, LockArgs::default()))?;
    writer.lock()?;
    append_without_loss(&mut writer);
    let mut merged = Merged { nframes: 1, loses_metadata: false };
    while let Some(object) = objects.next()? {
        let schunk = part_of_content(&object)?;
        if schunk.typesize() != typesize {
            return Err(message::SEQUENCE.error());
        }
        writer.append_data(schunk, &cx.read_options())?;
        merged.nframes += 1;
        merged.loses_metadata |= Metadata::of_frame(schunk)? != metadata;
    }
    if objects.tail().nbytes > 0 {
        return Err(message::REST_OF_SEQUENCE.error());
    }
    writer.compact()?;
    Ok(merged)
}

/// The frame, if it can be a part of one content: neither an array nor objects.
fn part_of_content(object: &Object) -> Result<&SChunk> {
    match object {
        Object::Frame(schunk)
            if schunk.nd_meta()?.is_none() && formats::store::special_content(schunk).is_none() =>
        {
            Ok(schunk)
        }
        _ => Err(message::SEQUENCE.error()),
    }
}

/// Replaces a codec and filters that lose data by lossless ones. An append compresses the last
/// chunk again, and its items would lose more each time. Returns whether it had to.
pub(crate) fn append_without_loss(writer: &mut SChunkWriter) -> bool {
    let (cparams, registries) = (writer.cparams().clone(), Registries::default());
    let codec = registries.codecs.get(cparams.codec);
    let is_lossy = codec.is_some_and(|codec| codec.is_lossy());
    if !is_lossy && !cparams.filters.is_lossy(&registries.filters) {
        return false;
    }
    let cparams = if is_lossy { cparams.codec(CodecId::ZSTD).codec_meta(0) } else { cparams };
    writer.set_cparams(cparams.filters(Pipeline::SHUFFLE));
    true
}

//! `b2 extract`, `b2 split` and `b2 join`: frames and chunks, copied from file to file.
//!
//! Nothing is decoded: the bytes of a frame are copied, and its seal with them.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{Seek as _, SeekFrom},
    path::{Path, PathBuf},
};

use b2frame::nd::NdMeta;
use serde::Serialize;

use super::content::source::{Packed, Source};
use crate::{
    args::{ExtractArgs, JoinArgs, OutputArgs, SplitArgs},
    context::Context,
    error::{Doing, Error, Result, message},
    exit::Code,
    inputs::{Object, ObjectReader, Origin, Part, object_reader::FoundKind},
    output::{
        Naming, Sink, Target, Targets, check_frame_name,
        copy::{Copied, copy, write},
    },
    render::{harmless, path_text, size::count},
};

/// One output.
#[derive(Debug, Serialize)]
struct CopyReport<'a> {
    schema: &'static str,
    path: &'a str,
    output: &'a str,
    /// Frames or chunks in it.
    objects: u64,
    file_bytes: u64,
}

/// Writes one frame or chunk to a file of its own.
pub(crate) fn extract(args: &ExtractArgs, cx: &Context) -> Code {
    let output = args.output.outputs();
    let inputs = vec![Ok(Origin::from_word(&args.file))];
    cx.run_into_targets(inputs, &output, |origin, targets| {
        let target = targets.next(origin, Naming::Replace(""))?;
        check_frame_name(&target)?;
        let done = write(cx, &output, &target, |sink| match args.chunk {
            Some(nchunk) => copy_chunk(cx, origin, nchunk, sink),
            None => copy_first(cx, origin, sink),
        })?;
        report(cx, "b2.extract/1", &origin.name(), &target, done)
    })
}

/// Writes the frames of all inputs one after the other.
pub(crate) fn join(args: &JoinArgs, cx: &Context) -> Code {
    let output = args.output.outputs();
    let origins: Vec<_> = args.files.iter().map(|file| Origin::from_word(file)).collect();
    let joined = || {
        let first = origins.first().ok_or(message::NO_NAMES.error())?;
        let mut targets = Targets::new(&output, 1, vec![])?;
        let mut target = targets.next(first, Naming::Replace(""))?;
        for origin in origins.iter().skip(1) {
            // The output must not be one of the inputs.
            target = Targets::new(&output, 1, vec![])?.next(origin, Naming::Replace(""))?;
        }
        check_frame_name(&target)?;
        let done = write(cx, &output, &target, |sink| {
            let mut all = Copied::default();
            for origin in &origins {
                all.add(copy_frames(cx, origin, sink).map_err(|error| Error::Input {
                    file: origin.name(),
                    error: Box::new(error),
                })?);
            }
            Ok(all)
        })?;
        let names: Vec<_> = origins.iter().map(Origin::name).collect();
        report(cx, "b2.join/1", &names.join(" "), &target, done)
    };
    match joined() {
        Ok(()) => Code::Success,
        Err(error) if error.is_closed_pipe() => Code::Success,
        Err(error) => cx.refuse(&error),
    }
}

/// Writes each frame of a sequence to a file of its own.
pub(crate) fn split(args: &SplitArgs, cx: &Context) -> Code {
    cx.run_on_inputs(vec![Ok(Origin::from_word(&args.file))], |origin| {
        split_input(args, cx, origin)
    })
}

fn split_input(args: &SplitArgs, cx: &Context, origin: &Origin) -> Result<()> {
    let options = OutputArgs { force: args.force, no_sync: args.no_sync, ..OutputArgs::default() };
    let (mut nframes, mut end, mut next) = (0u64, 0, Some(origin.clone()));
    while let Some(first) = next.take() {
        let mut objects = ObjectReader::open(&first, cx.read_params())?;
        while let Some(found) = objects.find()? {
            let object = objects.open_found(&found)?;
            if let Some(directory) = args.output_dir.as_ref().filter(|_| nframes == 0) {
                fs::create_dir_all(directory).map_err(Error::io_at(Doing::Create, directory))?;
            }
            let target = Target::File(frame_path(args, origin, &object, nframes));
            let done = write(cx, &options, &target, |sink| copy(&found, &object, sink))?;
            end = found.at + done.nbytes;
            report(cx, "b2.split/1", &origin.name(), &target, done)?;
            nframes += 1;
        }
        next = object_after(cx, origin, &objects, end)?;
        if next.is_none() && objects.tail().nbytes > 0 {
            objects.warn_of_trailing(&cx.console, &origin.name());
            split_rest(args, cx, origin, &options, (objects.tail().nbytes, nframes))?;
        }
    }
    Ok(())
}

/// Writes the last `nbytes` bytes of a file, which are no frame, to the output of this number.
fn split_rest(
    args: &SplitArgs,
    cx: &Context,
    origin: &Origin,
    options: &OutputArgs,
    (nbytes, number): (u64, u64),
) -> Result<()> {
    let Some(path) = origin.path() else { return Ok(()) };
    let mut file = File::open(path).map_err(Error::io_at(Doing::Open, path))?;
    let back = i64::try_from(nbytes).unwrap_or(i64::MAX).saturating_neg();
    file.seek(SeekFrom::End(back)).map_err(Error::io(Doing::Read))?;
    let target = Target::File(part_path(args, origin, number, "rest"));
    let done = write(cx, options, &target, |sink| {
        let nbytes = sink.write_rest(&mut file)?;
        Ok(Copied { objects: 0, nbytes })
    })?;
    report(cx, "b2.split/1", &origin.name(), &target, done)
}

/// The frame or Bloscpack file that follows an object; the object ends at byte `end` of a file.
fn object_after(
    cx: &Context,
    origin: &Origin,
    objects: &ObjectReader,
    end: u64,
) -> Result<Option<Origin>> {
    let Origin::File { path, part: Part::Whole } = origin else { return Ok(None) };
    if objects.input_len().is_none_or(|len| end >= len) {
        return Ok(None);
    }
    let next = Origin::File { path: path.clone(), part: Part::Offset(end) };
    let found = ObjectReader::open(&next, cx.read_params())?.find();
    let is_one = matches!(found, Ok(Some(found)) if found.kind != FoundKind::Chunk);
    Ok(is_one.then_some(next))
}

/// `log.b2frame` has the frames `log.0000.b2frame`, `log.0001.b2frame` and so on.
fn frame_path(args: &SplitArgs, origin: &Origin, object: &Object, nframe: u64) -> PathBuf {
    let suffix = match object {
        Object::Frame(schunk) => {
            let metas = schunk.meta();
            let is_array = metas.iter().any(|known| known.name == NdMeta::NAME.as_bytes());
            if is_array { "b2nd" } else { "b2frame" }
        }
        Object::Blp(_) => "blp",
        _ => "chunk",
    };
    part_path(args, origin, nframe, suffix)
}

fn part_path(args: &SplitArgs, origin: &Origin, nframe: u64, suffix: &str) -> PathBuf {
    let path = origin.path().unwrap_or(Path::new("stdin"));
    let mut name: OsString = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{nframe:04}.{suffix}"));
    match &args.output_dir {
        Some(directory) => directory.join(name),
        None if matches!(origin, Origin::Stdin) => name.into(),
        None => path.with_file_name(name),
    }
}

/// Copies the first object of an input.
fn copy_first(cx: &Context, origin: &Origin, sink: &mut Sink) -> Result<Copied> {
    let mut objects = ObjectReader::open_bytes(origin, cx.read_params())?;
    let found = objects.find()?.ok_or(Error::NotBlosc { start: vec![] })?;
    let object = objects.open_found(&found)?;
    if found.kind == FoundKind::Blp {
        return Err(message::NOT_ONE_PIECE.error());
    }
    let is_named = !matches!(origin, Origin::File { part: Part::Whole, .. } | Origin::Stdin);
    if !is_named && objects.find()?.is_some() {
        return Err(message::EXTRACT_WHICH.error());
    }
    copy(&found, &object, sink)
}

/// Copies all frames of an input.
fn copy_frames(cx: &Context, origin: &Origin, sink: &mut Sink) -> Result<Copied> {
    let mut objects = ObjectReader::open(origin, cx.read_params())?;
    let mut all = Copied::default();
    while let Some(found) = objects.find()? {
        let object = objects.open_found(&found)?;
        if found.kind != FoundKind::Frame {
            return Err(message::JOINS_FRAMES.error());
        }
        all.add(copy(&found, &object, sink)?);
    }
    objects.warn_of_trailing(&cx.console, &origin.name());
    Ok(all)
}

/// Copies one chunk of an object as a bare chunk.
fn copy_chunk(cx: &Context, origin: &Origin, nchunk: u64, sink: &mut Sink) -> Result<Copied> {
    let object = ObjectReader::open(origin, cx.read_params())?.next()?;
    let object = object.ok_or(Error::NotBlosc { start: vec![] })?;
    let nchunks = match &object {
        Object::Frame(schunk) => schunk.nchunks(),
        Object::Blp(blp) => blp.file.nchunks()?,
        Object::Chunk(_) => 1,
        Object::Bcolz(_) | Object::Table(_) | Object::Opened(_) => {
            return Err(message::NOT_ONE_PIECE.error());
        }
    };
    if nchunk >= nchunks {
        return Err(message::NO_SUCH_CHUNK.about(format!("{nchunk}, there are {nchunks}")));
    }
    let source = Source::Object(object);
    let chunk = match source.packed(nchunk, cx.memory())? {
        Some(Packed::Bytes(mut bytes)) => {
            // A chunk outside of a frame must tell the item size itself.
            blosc_chunk::transcode::detach_from_schunk(&mut bytes, source.typesize())
                .map_err(|source| Error::Chunk { at: 0, source })?;
            bytes
        }
        _ => {
            let data = source.data(nchunk, &cx.read_options())?;
            let params = source.frame().map(|schunk| schunk.cparams()).unwrap_or_default();
            blosc_chunk::compress(&data, &params)
                .map_err(|source| Error::Chunk { at: 0, source })?
        }
    };
    sink.write(&chunk)?;
    Ok(Copied { objects: 1, nbytes: chunk.len() as u64 })
}

fn report(
    cx: &Context,
    schema: &'static str,
    path: &str,
    target: &Target,
    done: Copied,
) -> Result<()> {
    let output = match target {
        Target::Stdout => return Ok(()),
        Target::File(path) | Target::Device(path) => path_text(path),
    };
    let Copied { objects, nbytes: file_bytes } = done;
    let report = CopyReport { schema, path, output: &output, objects, file_bytes };
    let frames = if objects == 1 { String::new() } else { format!(", {} frames", count(objects)) };
    let sizes = cx.console.units().size(file_bytes);
    let (path, output) = (harmless(path), harmless(&output));
    cx.console.done(&report, &format!("{path} -> {output}   {sizes}{frames}"))
}

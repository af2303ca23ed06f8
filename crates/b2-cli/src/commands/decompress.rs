//! `b2 decompress`: frames and chunks back to the files that they were made from.

use std::{
    fs::File,
    io::{self, Seek},
    path::Path,
    time::Instant,
};

use blosc_data::Tail;
use blosc_dtype::npy;
use serde::Serialize;

use crate::{
    args::{DecompressArgs, RestoredFormat},
    context::Context,
    error::{Doing, Error, Result, message},
    exit::Code,
    formats::{Blp, store},
    inputs::{Guard, Object, ObjectReader, Origin, Part, decoded, origin, raw_data, walk},
    output::{
        Counts, Dest, Naming, Outcome, Placement, Sink, Staged, Targets, placement, read_back,
        targets,
    },
    render::{Progress, path_text},
};

/// The result of one input.
#[derive(Debug, Serialize)]
#[serde(tag = "schema", rename = "b2.decompress/1")]
struct DecompressReport<'a> {
    path: &'a str,
    output: &'a str,
    format: &'static str,
    nbytes: u64,
    file_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    frames: Option<u64>,
    seconds: f64,
}

/// Restores each input.
pub(crate) fn run(args: &DecompressArgs, cx: &Context) -> Code {
    let inputs = origin::find(&args.inputs, &walk::made_by_compress);
    cx.run_into_targets(inputs, &args.output, |origin, targets| {
        decompress_input(args, cx, origin, targets)
    })
}

fn decompress_input(
    args: &DecompressArgs,
    cx: &Context,
    origin: &Origin,
    targets: &mut Targets<'_>,
) -> Result<()> {
    if let Some(path) = origin.changeable() {
        raw_data::check_kind(path, &args.output)?;
    }
    let start = Instant::now();
    let mut objects = ObjectReader::open(origin, cx.read_params())?;
    let first = objects.next()?;
    let format = format(args, origin, first.as_ref());
    check_name(args, cx, origin, first.as_ref(), format)?;
    let naming = if format == RestoredFormat::Npy { Naming::Npy } else { Naming::Strip };
    let work = Work { args, cx, origin, format };
    let mut objects = Rest { first, objects };
    let target = targets.next(origin, naming)?;
    let counts = match target.open(|| Ok(Sink::stdout_for_text(args.output.force)))? {
        Dest::Stream(mut sink) => {
            let counts = work.copy(&mut objects, &mut sink)?;
            sink.finish()?;
            counts
        }
        Dest::File(path) => work.to_file(&mut objects, path)?,
    };
    objects.objects.warn_of_trailing(&cx.console, &origin.name());
    work.report(counts, target.path(), start)
}

/// The requested form, or the form of the output's name.
fn format(args: &DecompressArgs, origin: &Origin, first: Option<&Object>) -> RestoredFormat {
    let is_array = first.is_some_and(is_array);
    let by_name = || {
        let named = match (&args.output.output, first) {
            (Some(output), _) => targets::is_npy(output),
            (None, _) if args.output.stdout => false,
            // Bloscpack files keep the name of their input, arrays or not.
            (None, Some(Object::Blp(_))) => {
                origin.path().is_some_and(|path| names(path, targets::is_npy))
            }
            (None, _) => origin.path().is_some_and(|path| names(path, is_npy_or_plain)),
        };
        if named && is_array { RestoredFormat::Npy } else { RestoredFormat::Raw }
    };
    args.format.unwrap_or_else(by_name)
}

/// Refuses a misleading name: raw data may get the suffix of text or `.npy` only if they are that.
fn check_name(
    args: &DecompressArgs,
    cx: &Context,
    origin: &Origin,
    first: Option<&Object>,
    format: RestoredFormat,
) -> Result<()> {
    let Some(output) = args.output.output.as_deref().filter(|output| !output.is_dir()) else {
        return Ok(());
    };
    let (Some(object), RestoredFormat::Raw, None) = (first, format, args.format) else {
        return Ok(());
    };
    let extension = output.extension().unwrap_or_default();
    // A file gets back the suffix under which it was compressed.
    let stem = origin.path().and_then(Path::file_stem).map(Path::new);
    if stem.and_then(Path::extension) == Some(extension) {
        return Ok(());
    }
    if targets::is_npy(output) {
        let mut start = vec![];
        let nbytes = decoded::nbytes(object)?.min(npy::MAGIC.len() as u64);
        decoded::part(object, 0..nbytes, &cx.read_options(), &mut |bytes| {
            start.extend_from_slice(bytes);
            Ok(())
        })?;
        return if start == npy::MAGIC { Ok(()) } else { Err(message::NOT_AN_ARRAY.error()) };
    }
    let is_table = ["csv", "parquet"].iter().any(|name| extension == *name);
    let is_ours = targets::FRAME_SUFFIXES.iter().any(|suffix| extension == &suffix[1..]);
    match is_ours || is_table && is_array(object) {
        true => Err(message::NOT_RESTORED_TO.of_file(output)),
        false => Ok(()),
    }
}

fn is_array(object: &Object) -> bool {
    match object {
        Object::Frame(schunk) => matches!(schunk.nd_meta(), Ok(Some(_))),
        Object::Blp(blp) => matches!(blp.file.array_info(), Ok(Some(_))),
        Object::Bcolz(_) | Object::Table(_) | Object::Opened(_) => true,
        Object::Chunk(_) => false,
    }
}

/// Whether the name without its suffix satisfies `like`.
fn names(path: &Path, like: fn(&Path) -> bool) -> bool {
    path.extension().is_some() && path.file_stem().map(Path::new).is_some_and(like)
}

/// `x.npy.b2nd` and `x.b2nd` become `.npy` files, `x.f32.b2nd` was raw.
fn is_npy_or_plain(stem: &Path) -> bool {
    targets::is_npy(stem) || stem.extension().is_none()
}

/// The objects of an input, of which the first may be read already.
struct Rest {
    first: Option<Object>,
    objects: ObjectReader,
}

impl Rest {
    fn next(&mut self) -> Result<Option<Object>> {
        match self.first.take() {
            Some(first) => Ok(Some(first)),
            None => self.objects.next(),
        }
    }
}

/// One input on its way.
struct Work<'a> {
    args: &'a DecompressArgs,
    cx: &'a Context,
    origin: &'a Origin,
    format: RestoredFormat,
}

/// The header of the `.npy` file for an array.
fn npy_header(object: &Object) -> Result<Vec<u8>> {
    let layout = match object {
        // A frame may keep the type and shape of an array as metadata, but its content is bytes.
        Object::Frame(schunk) if schunk.nd_meta()?.is_none() => None,
        Object::Chunk(_) | Object::Opened(_) => None,
        object => object.layout()?,
    };
    Ok(layout.ok_or(message::NOT_AN_ARRAY.error())?.npy_header()?)
}

impl Work<'_> {
    /// Writes the content of all objects.
    fn copy(&self, objects: &mut Rest, out: &mut Sink) -> Result<Counts> {
        let mut guard = Guard::new(self.args.limits);
        let mut counts = Counts::default();
        let progress =
            Progress::new(&self.cx.console, &self.origin.name(), objects.objects.input_len());
        while let Some(object) = objects.next()? {
            guard.admit(&object)?;
            if let Object::Frame(schunk) = &object {
                store::refuse_recipe(schunk, &self.origin.name())?;
            }
            if self.format == RestoredFormat::Npy {
                if counts.frames > 0 {
                    return Err(message::SECOND_ARRAY.error());
                }
                out.write(&npy_header(&object)?)?;
            }
            let (nbytes, stored) = (decoded::nbytes(&object)?, object.stored());
            decoded::all(&object, &self.cx.read_options(), &mut |bytes| {
                progress.add_share(bytes.len() as u64, nbytes, stored);
                out.write(bytes)
            })?;
            counts.frames += u64::from(matches!(object, Object::Frame(_)));
            counts.nbytes += nbytes;
            counts.stored += stored;
        }
        Ok(counts)
    }

    /// Writes a file beside its target, and renames it when it is complete.
    fn to_file(&self, objects: &mut Rest, target: &Path) -> Result<Counts> {
        let output = &self.args.output;
        let staged = Staged::create(target, output.into(), &self.cx.unfinished)?;
        let mut sink = Sink::file(staged.handle()?, target);
        let counts = self.copy(objects, &mut sink)?;
        sink.finish()?;
        let (origin, metadata) = (self.origin, placement::metadata_of(self.origin));
        Placement { cx: self.cx, origin, output, verify: false, metadata }.finish(
            staged,
            |staged| self.read_back(staged.handle()?),
            |_| self.lost(objects.objects.tail()),
        )?;
        Ok(counts)
    }

    /// The properties of the input that a raw file cannot hold, as a text.
    fn lost(&self, tail: Tail) -> Result<Option<String>> {
        let lose = |what: String| Ok(Some(what));
        if let Origin::File { part: Part::Offset(_) | Part::Nth(_), .. } = self.origin {
            return lose("the other frames of the file".to_owned());
        }
        if let Origin::File { part: Part::Member(_), .. } = self.origin {
            return lose("the other values of the store".to_owned());
        }
        if tail.nbytes > 0 {
            return lose(tail.name());
        }
        let mut objects = ObjectReader::open(self.origin, self.cx.read_params())?;
        while let Some(object) = objects.next()? {
            match object {
                Object::Frame(schunk) => {
                    let layers = schunk.meta().iter().chain(schunk.vlmeta().stored().iter());
                    // A .npy file has shape and type in its own header.
                    let is_kept = |name: &str| {
                        self.format == RestoredFormat::Npy && name == b2frame::nd::NdMeta::NAME
                    };
                    if let Some(layer) = { layers }.find(|layer| !is_kept(&layer.name_text())) {
                        return lose(format!("the metalayer `{}`", layer.name_text()));
                    }
                }
                Object::Blp(blp) if self.loses_metadata(&blp) => {
                    return lose("the metadata".to_owned());
                }
                Object::Chunk(_)
                | Object::Blp(_)
                | Object::Bcolz(_)
                | Object::Table(_)
                | Object::Opened(_) => {}
            }
        }
        Ok(None)
    }

    fn loses_metadata(&self, blp: &Blp) -> bool {
        match self.format {
            RestoredFormat::Npy => blp.has_more_than_npy(),
            RestoredFormat::Raw => blp.file.metadata().is_some(),
        }
    }

    /// Compares the file with a second decoding of its source.
    fn read_back(&self, mut file: File) -> Result<()> {
        file.rewind().map_err(Error::io(Doing::Read))?;
        let mut objects = ObjectReader::open(self.origin, self.cx.read_params())?;
        if self.format == RestoredFormat::Npy {
            let object = ObjectReader::open(self.origin, self.cx.read_params())?
                .next()?
                .ok_or(message::READ_BACK_DIFFERS.error())?;
            let len = npy_header(&object)?.len() as u64;
            file.seek(io::SeekFrom::Start(len)).map_err(Error::io(Doing::Read))?;
        }
        read_back::equal(&mut objects, &mut io::BufReader::new(file), &self.cx.read_options())
    }

    fn report(&self, counts: Counts, output: Option<&Path>, start: Instant) -> Result<()> {
        let console = &self.cx.console;
        let name = self.origin.name();
        let elapsed = start.elapsed();
        let (Some(path), Counts { nbytes, stored, frames }) = (output, counts) else {
            return Ok(());
        };
        if console.json() {
            let output = path_text(path);
            let seconds = elapsed.as_secs_f64();
            let (path, output) = (name.as_str(), output.as_str());
            return console.document(&DecompressReport {
                path,
                output,
                format: match self.format {
                    RestoredFormat::Npy => "npy",
                    RestoredFormat::Raw => "raw",
                },
                nbytes,
                file_bytes: stored,
                frames: (frames > 0).then_some(frames),
                seconds,
            });
        }
        let (before, after) = (stored, nbytes);
        let outcome = Outcome { name: &name, output, before, after, nbytes, elapsed };
        console.detail(&outcome.line(console, ""));
        Ok(())
    }
}

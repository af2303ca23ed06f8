//! `b2 compress`: files and pipes into frames, or each into one chunk or a Bloscpack file.
//!
//! A file becomes one frame, written under a temporary name. A frame begins with its header, which
//! is complete only at the end, and a pipe cannot seek back. So a pipe gets a sequence of frames,
//! each made in memory from [`FRAME_OF_PIPE_NBYTES`] bytes of data.

pub(super) mod array;
mod blp;
mod chunk;
mod lossy;
mod metadata;
mod params;

use std::{
    fs::File,
    io::{self, Read, Seek, Write as _},
    path::Path,
    sync::Arc,
    time::Instant,
};

use b2frame::{
    CompressOptions, FrameParams, FrameWriter, Totals, compress_slice, compress_stream, probe,
    probe::Kind,
};
use blosc_chunk::{CodecId, Target as Reader};
use blosc_data::{
    content::Metadata,
    convert::{ORDER, check_dimensions, know_filters},
    typesize::Guess,
};
use blosc_dtype::npy::{MAGIC, NpyHeader};
use blosc_io::{FileStore, MemStore, ReadAt};
use clap::ValueEnum;
use serde::Serialize;

use crate::{
    args::{ChecksumChoice, CompressArgs, CompressedFormat, convert::FORMATS},
    console::Console,
    context::Context,
    error::{Doing, Error, Result, message},
    exit::Code,
    formats::msgpack_json,
    inputs::{Data, ObjectReader, Origin, origin, walk},
    metadata::tell_of_text,
    output::{
        Counts, Digest, Digesting, Naming, Outcome, Placement, Sink, Staged, StorePlace, Target,
        Targets, placement, read_back, targets,
    },
    render::{Progress, harmless, path_text, size},
};

use lossy::Loss;

/// Bytes of data in one frame of a sequence.
const FRAME_OF_PIPE_NBYTES: u64 = 64 << 20;

/// Inputs below this size may grow without a warning (bytes).
const MIN_TOLD_NBYTES: u64 = 512;
/// Inputs below this size grow because of headers (bytes).
const FEW_NBYTES: u64 = 64 << 10;

/// The result of one input.
#[derive(Debug, Serialize)]
#[serde(tag = "schema", rename = "b2.compress/1")]
struct CompressReport<'a> {
    path: &'a str,
    output: &'a str,
    nbytes: u64,
    file_bytes: u64,
    file_ratio: Option<f64>,
    format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    frames: Option<u64>,
    typesize: usize,
    /// The largest difference between an old and a new item, and the mean of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    largest_error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_error: Option<f64>,
    seconds: f64,
}

/// Compresses each input.
pub(crate) fn run(args: &CompressArgs, cx: &Context) -> Code {
    let inputs = origin::find_bytes(&args.inputs, &walk::not_called_ours);
    let place = match StorePlace::of_output(&args.output) {
        Ok(Some(_)) if inputs.len() > 1 => {
            return cx.refuse(&Error::OneForMany { inputs: inputs.len() });
        }
        Ok(place) => place,
        Err(error) => return cx.refuse(&error),
    };
    let mut guess = Guess::default();
    match (resolve(args, place.as_ref()), &place) {
        (Ok(asked), Some(place)) => cx.run_on_inputs(inputs, |origin| {
            let done = compress_input((args, cx), origin, &asked, &mut guess, Dest::Store(place));
            done.map_err(|error| error.of_output(Path::new(&place.name())))
        }),
        (Ok(asked), None) => cx.run_into_targets(inputs, &args.output, |origin, targets| {
            compress_input((args, cx), origin, &asked, &mut guess, Dest::Targets(targets))
        }),
        (Err(error), _) => cx.refuse(&error),
    }
}

/// The options, resolved for all inputs.
struct Asked {
    /// The format; `None` if each input decides.
    format: Option<CompressedFormat>,
    metadata: Metadata,
}

/// The requested format, or that of the name of the output.
fn format(args: &CompressArgs) -> Option<CompressedFormat> {
    let by_name = || {
        let name = args.output.output.as_ref()?.as_os_str().as_encoded_bytes();
        let formats = CompressedFormat::value_variants();
        formats.iter().copied().find(|format| name.ends_with(format.suffix().as_bytes()))
    };
    args.tuning.format.or_else(by_name)
}

impl CompressedFormat {
    fn suffix(self) -> &'static str {
        match self {
            Self::B2frame => targets::SUFFIX,
            Self::B2nd => targets::ARRAY_SUFFIX,
            Self::Chunk => targets::CHUNK_SUFFIX,
            Self::Blp => targets::BLP_SUFFIX,
        }
    }

    fn name(self) -> &'static str {
        &self.suffix()[1..]
    }
}

/// Refuses an output whose suffix belongs to another format.
fn check_name(args: &CompressArgs) -> Result<()> {
    let (None, Some(output)) = (args.tuning.format, &args.output.output) else { return Ok(()) };
    let name = output.as_os_str().as_encoded_bytes();
    let is_ours = |suffix: &&str| {
        CompressedFormat::value_variants().iter().any(|format| format.suffix() == *suffix)
    };
    let suffixes = targets::FRAME_SUFFIXES.iter().chain(&targets::OTHER_SUFFIXES);
    // Only `convert` writes the formats of bcolz.
    let suffixes = suffixes.chain(&[".carray", ".ctable"]);
    let mut others = suffixes.filter(|suffix| !is_ours(suffix));
    if output.is_dir() || !others.any(|suffix| name.ends_with(suffix.as_bytes())) {
        return Ok(());
    }
    let is_converted = FORMATS.iter().any(|it| name.ends_with(it.0.suffix().as_bytes()));
    Err(match is_converted {
        true => message::NAME_OF_OTHER_FORMAT.of_file(output),
        false => message::NAME_OF_FOREIGN_FORMAT.of_file(output),
    })
}

/// Where the output of an input goes.
enum Dest<'a, 'b> {
    /// To a file, a device or a stream.
    Targets(&'a mut Targets<'b>),
    /// Into a store.
    Store(&'a StorePlace),
}

/// Resolves the options. Refuses options that make no sense for any input.
fn resolve(args: &CompressArgs, place: Option<&StorePlace>) -> Result<Asked> {
    let format = match place {
        Some(_) => args.tuning.format,
        None => format(args),
    };
    match (place, format) {
        (None, _) => check_name(args)?,
        (Some(_), Some(CompressedFormat::Chunk | CompressedFormat::Blp)) => {
            let name = format.map_or("", CompressedFormat::name);
            return Err(message::VALUES_ARE_FRAMES.about(name));
        }
        (Some(_), _) => {}
    }
    let fits = |choice: ChecksumChoice| match format {
        Some(CompressedFormat::Blp) => choice.digest().is_some(),
        Some(CompressedFormat::Chunk) => choice == ChecksumChoice::None,
        _ => choice.seal().is_some(),
    };
    if !args.tuning.checksum.is_none_or(fits) {
        let format = format.unwrap_or(CompressedFormat::B2frame);
        return Err(message::NO_CHECKSUM.about(format.name()));
    }
    let has_dict = |id| [CodecId::LZ4, CodecId::LZ4HC, CodecId::ZSTD].contains(&id);
    if let Some(choice) = args.tuning.codec.filter(|it| args.tuning.dict && !has_dict(it.id)) {
        return Err(message::NO_DICTIONARY.about(choice.id));
    }
    let has_grid = args.tuning.chunks.is_some() || args.tuning.blocks.is_some();
    match format {
        Some(CompressedFormat::Blp) if has_grid => {
            return Err(message::BLP_HAS_NO_GRID.error());
        }
        Some(CompressedFormat::B2frame | CompressedFormat::Chunk) if has_grid => {
            return Err(message::SHAPES_ARE_FOR_ARRAYS.error());
        }
        Some(CompressedFormat::B2frame | CompressedFormat::Chunk)
            if args.tuning.shape.is_some() && !args.tuning.lossy =>
        {
            return Err(message::SHAPE_OF_BYTES.error());
        }
        Some(CompressedFormat::Chunk) if args.tuning.chunk_size.is_some() => {
            return Err(message::ONE_CHUNK.error());
        }
        Some(CompressedFormat::Chunk | CompressedFormat::Blp)
            if metadata::is_wanted(&args.tuning) =>
        {
            return Err(message::NO_METALAYERS.error());
        }
        Some(CompressedFormat::Chunk | CompressedFormat::Blp) => {}
        _ if args.tuning.target() < Reader::Blosc2_0 => {
            return Err(message::FRAME_FOR_TARGET.about(args.tuning.target()));
        }
        _ => {}
    }
    if let Some(target) = args.tuning.target
        && !know_filters(&args.tuning.pipeline(), target)
    {
        return Err(message::FILTER_FOR_TARGET.about(target));
    }
    lossy::check(&args.tuning, args.tuning.verify || args.output.rm)?;
    Ok(Asked { format, metadata: metadata::from_options(&args.tuning)? })
}

fn compress_input(
    (args, cx): (&CompressArgs, &Context),
    origin: &Origin,
    asked: &Asked,
    guess: &mut Guess,
    dest: Dest<'_, '_>,
) -> Result<()> {
    let start = Instant::now();
    let data = Data::open(origin, &args.output)?;
    tell_kind(args, cx, origin, &data);
    let &Asked { format: asked, ref metadata } = asked;
    let layout = array::layout(&args.tuning, asked, &data)?;
    tell_header(cx, origin, layout.as_ref(), &data);
    let is_array = layout.is_some() || args.tuning.dtype.is_some();
    check_dimensions(
        args.tuning.codec.map(|choice| choice.id),
        &args.tuning.pipeline(),
        layout.as_ref().map(|layout| &layout.shape[..]),
        asked
            .filter(|format| *format != CompressedFormat::B2nd && is_array)
            .map(CompressedFormat::name),
    )?;
    let format = asked.unwrap_or(match layout {
        Some(_) => CompressedFormat::B2nd,
        None => CompressedFormat::B2frame,
    });
    let (loss, data) = match lossy::item_type(&args.tuning, layout.as_ref(), origin, &data)? {
        Some(dtype) => Loss::start(dtype, layout.as_ref(), origin, data)
            .map(|(loss, data)| (Some(loss), data))?,
        None => (None, data),
    };
    let (target, place, station) = match dest {
        Dest::Targets(targets) => (targets.next(origin, Naming::Add(format.suffix()))?, None, None),
        Dest::Store(place) => {
            let station = Staged::for_stream(&cx.unfinished)?;
            (Target::File(station.path().to_owned()), Some(place), Some(station))
        }
    };
    let (typesize, evidence) =
        params::typesize(&args.tuning, layout.as_ref(), origin, &data, guess);
    let params = metadata.add_to(params::frame_params(&args.tuning, typesize, cx));
    for layer in args.tuning.meta.iter().chain(&args.tuning.vlmeta) {
        let value = msgpack_json::to_json(&layer.content);
        tell_of_text(&cx.console, &origin.name(), &layer.name, &value);
    }
    params::report(&params, format, evidence, origin, cx);
    let progress = Progress::new(&cx.console, &origin.name(), data.len());
    let work = Work { args, cx, origin, format, layout, params, loss, progress };
    let counts = match target.open(|| Sink::stdout(args.output.force))? {
        placement::Dest::Stream(sink) => work.to_stream(data, sink)?,
        placement::Dest::File(path) => work.to_file(data, path)?,
    };
    if let (Some(place), Some(station)) = (place, station) {
        let mut writer = place.open(cx.lock_wait(args.lock))?;
        writer.insert_file(&place.key, station.path())?;
        writer.commit()?;
        return work.report(counts, Some(Path::new(&place.name())), start);
    }
    work.report(counts, target.path(), start)
}

/// Warns if the bytes of the input are probably not what the user wants to compress.
fn tell_kind(args: &CompressArgs, cx: &Context, origin: &Origin, data: &Data) {
    let sample = data.sample();
    let is_ours = matches!(probe(sample), Kind::Frame | Kind::OlderFrame | Kind::Bloscpack);
    let text = if is_ours {
        "compressed already; `b2 recompress` and `b2 convert` compress it another way"
    } else if sample.starts_with(b"PK\x03\x04") && has_suffix(origin, "npz") {
        "several arrays in one archive, taken as bytes; a .npy file becomes an array"
    } else if is_array_of_objects(sample) && args.tuning.format.is_none() {
        "Python objects, taken as the bytes of the file"
    } else {
        return;
    };
    cx.console.warning(&origin.name(), text);
}

/// With `-v`: tells that a `.npy` file will not come back with the same bytes.
fn tell_header(cx: &Context, origin: &Origin, layout: Option<&NpyHeader>, data: &Data) {
    let Some(header) = layout.filter(|_| data.sample().starts_with(MAGIC)) else { return };
    let back = NpyHeader { fortran_order: false, ..header.clone() }.to_bytes();
    if !back.is_some_and(|back| data.sample().starts_with(&back)) {
        let order = if header.fortran_order { "in C order" } else { "with another header" };
        cx.console.detail(&format!("{}: comes back {order}, with the same values", origin.name()));
    }
}

fn has_suffix(origin: &Origin, suffix: &str) -> bool {
    let extension = origin.path().and_then(Path::extension);
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case(suffix))
}

/// Whether this is a `.npy` file of pickled items.
fn is_array_of_objects(sample: &[u8]) -> bool {
    let header = sample.get(..sample.len().min(256)).unwrap_or_default();
    sample.starts_with(MAGIC) && header.windows(12).any(|part| part == b"'descr': '|O")
}

/// One input on its way.
struct Work<'a> {
    args: &'a CompressArgs,
    cx: &'a Context,
    origin: &'a Origin,
    format: CompressedFormat,
    /// The layout of the items of an array.
    layout: Option<NpyHeader>,
    params: FrameParams,
    /// The loss by codec and filters, if they are lossy.
    loss: Option<Loss>,
    progress: Progress,
}

impl Work<'_> {
    /// One frame or chunk in one file.
    fn to_file(&self, data: Data, target: &Path) -> Result<Counts> {
        let (args, metadata) = (self.args, data.metadata.clone());
        let staged = Staged::create(target, (&args.output).into(), &self.cx.unfinished)?;
        let (counts, digest) = match self.format {
            CompressedFormat::B2frame => self.frame_to_file(data, staged.handle()?, target)?,
            CompressedFormat::B2nd => self.array_to_file(data, staged.handle()?, target)?,
            CompressedFormat::Chunk => self.chunk_to_file(data, staged.handle()?, target)?,
            CompressedFormat::Blp => self.blp_to_file(data, staged.handle()?, target)?,
        };
        if self.loss.is_some() {
            self.measure_loss(Arc::new(FileStore::from_file(staged.handle()?)))?;
        }
        let is_array = self.format == CompressedFormat::B2nd && metadata.is_some();
        let (origin, verify) = (self.origin, args.tuning.verify);
        Placement { cx: self.cx, origin, output: &args.output, verify, metadata }.finish(
            staged,
            |staged| match self.layout.as_ref().filter(|_| is_array) {
                Some(layout) => self.read_array_back(staged.handle()?, layout),
                None => self.read_back(staged.handle()?, digest),
            },
            |_| Ok(self.loses_order().then(|| ORDER.to_owned())),
        )?;
        Ok(counts)
    }

    /// Whether items in Fortran order change to C order.
    fn loses_order(&self) -> bool {
        let is_turned = |layout: &NpyHeader| layout.fortran_order && layout.shape.len() > 1;
        self.format == CompressedFormat::B2nd && self.layout.as_ref().is_some_and(is_turned)
    }

    /// One frame, written piece by piece.
    fn frame_to_file(&self, data: Data, file: File, target: &Path) -> Result<(Counts, Digest)> {
        if let Some(whole) = data.whole() {
            return self.small_frame_to_file(whole, file, target);
        }
        let mut writer = FrameWriter::new(FileStore::from_file(file), &self.params)?;
        let memory = self.cx.compress_options(writer.cparams(), writer.chunksize(), 0)?;
        let mut reader = Digesting::new(data.into_reader(), self.args.tuning.verify);
        let totals = self
            .compress(&mut reader, &mut writer, &memory)
            .map_err(|error| error.of_output(target))?;
        let store = writer.finish().map_err(|error| Error::from(error).of_output(target))?;
        let stored =
            store.into_file().metadata().map_err(Error::io_at(Doing::Write, target))?.len();
        Ok((Counts { frames: 1, nbytes: totals.nbytes, stored }, reader.take_digest()))
    }

    /// One frame of data in memory, written by one call.
    fn small_frame_to_file(
        &self,
        data: &[u8],
        mut file: File,
        target: &Path,
    ) -> Result<(Counts, Digest)> {
        let mut writer = FrameWriter::new(MemStore::default(), &self.params)?;
        let memory = self.cx.compress_options(writer.cparams(), writer.chunksize(), 0)?;
        let nbytes = compress_slice(data, &mut writer, &memory, |_| ())?.nbytes;
        self.progress.add(nbytes);
        let frame = writer.finish()?.into_bytes();
        file.write_all(&frame).map_err(Error::io_at(Doing::Write, target))?;
        let mut digest = Digest::default();
        if self.args.tuning.verify {
            digest.update(data);
        }
        Ok((Counts { frames: 1, nbytes, stored: frame.len() as u64 }, digest))
    }

    fn chunk_to_file(&self, data: Data, file: File, target: &Path) -> Result<(Counts, Digest)> {
        let (chunk, counts, digest) = self.chunk(data)?;
        let mut sink = Sink::file(file, target);
        sink.write(&chunk).and_then(|()| sink.finish())?;
        Ok((counts, digest))
    }

    /// To a stream: one chunk, or any number of frames.
    fn to_stream(&self, data: Data, mut out: Sink) -> Result<Counts> {
        let counts = match self.format {
            // `> FILE` makes a regular file: it gets one frame, since other programs read only the
            // first of a sequence.
            CompressedFormat::B2frame if out.is_regular_file() => {
                self.through_file(data, &mut out, Self::frame_to_file)?
            }
            CompressedFormat::B2frame => self.sequence(data, &mut out)?,
            CompressedFormat::B2nd => self.through_file(data, &mut out, Self::array_to_file)?,
            CompressedFormat::Chunk => {
                let (chunk, counts, digest) = self.chunk(data)?;
                out.write(&chunk)?;
                self.check_piece(chunk, &digest)?;
                counts
            }
            CompressedFormat::Blp => self.blp_to_stream(data, &mut out)?,
        };
        out.finish()?;
        Ok(counts)
    }

    /// Makes the output in a temporary file by `write`, since its header comes last, and copies it
    /// to `out`.
    fn through_file(
        &self,
        data: Data,
        out: &mut Sink,
        write: impl FnOnce(&Self, Data, File, &Path) -> Result<(Counts, Digest)>,
    ) -> Result<Counts> {
        let mut file = tempfile::tempfile().map_err(Error::io(Doing::Spool))?;
        let handle = || file.try_clone().map_err(Error::io(Doing::Spool));
        let (counts, digest) = write(self, data, handle()?, Path::new("the temporary file"))?;
        self.measure_loss(Arc::new(FileStore::from_file(handle()?)))?;
        if self.args.tuning.verify {
            self.read_back(handle()?, digest)?;
        }
        file.rewind().map_err(Error::io(Doing::Spool))?;
        out.write_rest(&mut file)?;
        Ok(counts)
    }

    /// Frames of [`FRAME_OF_PIPE_NBYTES`] bytes of data, one after the other.
    fn sequence(&self, data: Data, out: &mut Sink) -> Result<Counts> {
        let mut reader = Digesting::new(data.into_reader(), self.args.tuning.verify);
        let mut counts = Counts::default();
        loop {
            let mut writer = FrameWriter::new(MemStore::default(), &self.params)?;
            let (cparams, chunksize) = (writer.cparams(), writer.chunksize());
            let frame = FRAME_OF_PIPE_NBYTES.max(chunksize as u64);
            let piece = self
                .cx
                .compress_options(cparams, chunksize, frame)?
                .max_nbytes(Some(FRAME_OF_PIPE_NBYTES));
            let totals = self.compress(&mut reader, &mut writer, &piece)?;
            if totals.nbytes > 0 || counts.frames == 0 {
                let frame = writer.finish()?.into_bytes();
                counts.frames += 1;
                counts.nbytes += totals.nbytes;
                counts.stored += frame.len() as u64;
                out.write(&frame)?;
                self.check_piece(frame, &reader.take_digest())?;
            }
            if totals.is_end {
                return Ok(counts);
            }
        }
    }

    fn compress<S: blosc_io::WriteAt>(
        &self,
        reader: &mut dyn Read,
        writer: &mut FrameWriter<S>,
        options: &CompressOptions,
    ) -> Result<Totals> {
        let mut done = 0;
        let totals = compress_stream(reader, writer, options, |totals| {
            self.progress.add(totals.nbytes - done);
            done = totals.nbytes;
        })?;
        Ok(totals)
    }

    /// Bytes of the input before its content: the header of a `.npy` file.
    fn npy_header_len(&self) -> u64 {
        self.layout.as_ref().map_or(0, |layout| layout.len as u64)
    }

    /// Compares a finished file with its source: byte by byte where that can be read again.
    fn read_back(&self, file: File, digest: Digest) -> Result<()> {
        let options = self.cx.read_options();
        let mut objects =
            ObjectReader::from_store(Arc::new(FileStore::from_file(file)), self.cx.dparams());
        match self.origin.path().filter(|path| path.is_file()) {
            Some(path) => {
                let mut source = File::open(path).map_err(Error::io(Doing::Open))?;
                source
                    .seek(io::SeekFrom::Start(self.npy_header_len()))
                    .map_err(Error::io(Doing::Read))?;
                read_back::equal(&mut objects, &mut io::BufReader::new(source), &options)
            }
            None => {
                let object = objects.next()?.ok_or(message::READ_BACK_DIFFERS.error())?;
                check_digest(&read_back::digest_of(&object, &options)?, &digest)
            }
        }
    }

    /// Compares a frame or chunk that went to a stream with its source.
    fn check_piece(&self, bytes: Vec<u8>, digest: &Digest) -> Result<()> {
        let store: Arc<dyn ReadAt> = Arc::new(MemStore::new(bytes));
        self.measure_loss(Arc::clone(&store))?;
        if !self.args.tuning.verify {
            return Ok(());
        }
        let mut objects = ObjectReader::from_store(store, self.cx.read_params());
        let object = objects.next()?.ok_or(message::READ_BACK_DIFFERS.error())?;
        check_digest(&read_back::digest_of(&object, &self.cx.read_options())?, digest)
    }

    fn report(self, counts: Counts, output: Option<&Path>, start: Instant) -> Result<()> {
        let console = &self.cx.console;
        // The bar must go before the line that replaces it is printed.
        drop(self.progress);
        let (name, elapsed) = (self.origin.name(), start.elapsed());
        let Counts { frames, nbytes, stored } = counts;
        let units = console.units();
        let sizes = format!("{} -> {}", units.size(nbytes), units.size(stored));
        let ratio = size::ratio(nbytes, stored);
        let loss = self.loss.as_ref().map(Loss::sums);
        let lost = loss.map_or(String::new(), |loss| {
            format!(
                "   largest error {}, mean {}",
                size::short(loss.largest),
                size::short(loss.mean())
            )
        });
        warn_of_growth(console, self.format, &name, (nbytes, stored));
        let Some(path) = output else {
            let pieces = match frames {
                _ if self.format == CompressedFormat::Blp => "a Bloscpack file".to_owned(),
                0 => "one chunk".to_owned(),
                1 => "1 frame".to_owned(),
                frames => format!("{frames} frames"),
            };
            let speed = size::speed(units, nbytes, elapsed);
            console.note(&format!(
                "{}: {}: {sizes} ({ratio}x) in {pieces}{lost}{speed}",
                console.program(),
                harmless(&name)
            ));
            return Ok(());
        };
        if let Some(loss) = loss {
            lossy::warn_of_not_finite(console, &name, &self.args.tuning, loss);
        }
        if console.json() {
            return console.document(&CompressReport {
                path: &name,
                output: &path_text(path),
                nbytes,
                file_bytes: stored,
                file_ratio: size::cratio(nbytes, stored),
                format: self.format.name(),
                frames: (frames > 0).then_some(frames),
                typesize: self.params.cparams.typesize,
                largest_error: loss.map(|loss| loss.largest),
                mean_error: loss.map(|loss| loss.mean()),
                seconds: elapsed.as_secs_f64(),
            });
        }
        let (before, after) = (nbytes, stored);
        let outcome = Outcome { name: &name, output, before, after, nbytes, elapsed };
        console.note(&outcome.line(console, &format!("  ({ratio}x){lost}")));
        Ok(())
    }
}

/// Warns of an output that is larger than its input.
fn warn_of_growth(
    console: &Console,
    format: CompressedFormat,
    name: &str,
    (nbytes, stored): (u64, u64),
) {
    if nbytes >= MIN_TOLD_NBYTES && stored > nbytes.saturating_add(nbytes / 10) {
        let why = match (nbytes, format) {
            (FEW_NBYTES.., _) => "chunks and blocks hold little data",
            (_, CompressedFormat::Blp) => "a Bloscpack file has headers of its own",
            (_, CompressedFormat::Chunk) => "a chunk has a header of its own",
            _ => "a frame has some hundred bytes of its own",
        };
        console.warning(name, &format!("the output is larger: {why}"));
    }
}

fn check_digest(found: &Digest, expected: &Digest) -> Result<()> {
    if found == expected { Ok(()) } else { Err(message::READ_BACK_DIFFERS.error()) }
}

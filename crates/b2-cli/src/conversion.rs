//! From any format that is read to any that is written: `b2 convert` and `b2 recompress`.
//!
//! ```text
//! Source: chunks as they are   --- transcoded --->  a destination that holds chunks
//!         items in C order     --- compressed --->  any destination
//!         Metadata             ------------------>  as far as there is room
//! ```
//!
//! Each destination is a module, which takes chunks if it can hold them and the options ask for no
//! other ones, else the content. Output grows in a folder of its own ([`Staged`]), since some
//! formats are folders.

pub(crate) mod anew;
mod each;
mod left_out;
mod store;

use std::{
    fs::{self, File},
    io::Write as _,
    path::Path,
    sync::Arc,
    time::Instant,
};

use b2store::{StoreWriter, WriteOptions};
use blosc_data::Spool;
use blosc_data::convert::{
    Conversion, OnProgress, Recompressed, Report, Settings, listed, recompress_store, select,
};
use blosc_dtype::{Dtype, npy::NpyHeader};
use blosc_io::{Durability, FileStore};
use serde::Serialize;

pub(crate) use self::each::run;
use self::left_out::tell_loss;
use crate::{
    args::{ConvertArgs, ConvertedFormat, LockArgs, OutputArgs, Slice, convert::TextFormat},
    console::Console,
    content::{
        from_parquet,
        grid::Grid,
        source::{self, Items, Source, values},
        values::axes,
    },
    context::Context,
    error::{Doing, Error, Result, message},
    formats::{
        self, Stored,
        csv_table::{self, Missing},
    },
    inputs::{
        Guard, Object, ObjectReader, OpenedInput, Origin, Place, foreign, frame_bytes,
        origin::{self, Found},
        raw_data,
    },
    memory,
    output::{
        Dest, Naming, Outcome, Placement, Sink, Staged, StorePlace, Target, Targets, placement,
        targets,
    },
    render::{Progress, harmless, path_text, size},
};

/// The result of one input.
#[derive(Debug, Serialize)]
#[serde(tag = "schema", rename = "b2.convert/1")]
struct ConvertReport<'a> {
    path: &'a str,
    output: &'a str,
    from: &'static str,
    format: &'static str,
    nbytes: u64,
    file_bytes: u64,
    /// Chunks that were moved, perhaps with another header.
    moved: u64,
    /// Chunks that were compressed anew.
    recompressed: u64,
    /// Metadata that the format cannot hold.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    left_out: &'a [String],
    seconds: f64,
}

/// The sizes before and after [`rewrite`] (bytes).
pub(crate) struct Rewritten {
    pub(crate) nbytes: u64,
    pub(crate) before: u64,
    pub(crate) after: u64,
}

impl From<Recompressed> for Rewritten {
    fn from(done: Recompressed) -> Self {
        let Recompressed { before, report: Report { nbytes, stored_nbytes: after, .. }, .. } = done;
        Self { nbytes, before, after }
    }
}

/// Recompresses the value at `key` of a store, or the whole store, in place.
///
/// # Errors
///
/// As [`rewrite`].
pub(super) fn rewrite_in_store(
    args: &ConvertArgs,
    cx: &Context,
    (origin, path, key): (&Origin, &Path, Option<&str>),
    format: ConvertedFormat,
    lock: LockArgs,
) -> Result<Rewritten> {
    anew::check(args, format)?;
    let convert = Convert { args, output: &args.output, cx, format };
    let mut writer =
        StoreWriter::open_with(path, &WriteOptions::default().wait(cx.lock_wait(lock)))?;
    let settings = convert.settings(origin);
    let progress = Progress::new(&cx.console, &origin.name(), None);
    let done = recompress_store(&mut writer, key, &settings, true, &|nbytes| progress.add(nbytes))?;
    writer.commit()?;
    tell_gone(args, cx, origin, &done.report.left_out)?;
    Ok(done.into())
}

/// Writes an object of `format` again in the same format, to a target that may be the object
/// itself.
///
/// # Errors
///
/// When it cannot be read or written, or does not come back equal; the target is as it was then.
pub(crate) fn rewrite(
    args: &ConvertArgs,
    cx: &Context,
    origin: &Origin,
    format: ConvertedFormat,
    target: &Target,
) -> Result<Rewritten> {
    anew::check(args, format)?;
    let convert = Convert { args, output: &args.output, cx, format };
    if let (Some(path), Some(to)) = (formats::store::whole(origin), target.path())
        && let Some((_, done)) = convert.copy_store(origin, path, to)?
    {
        return Ok(done.into());
    }
    let (source, objects) = convert.open(origin, false)?.fitted(format, &cx.read_params())?;
    let nbytes = source.rows().map_or_else(|| source.nbytes(), |rows| Ok(rows.sizes().0))?;
    let before = source.stored();
    for name in &objects {
        let text = format!("column {name:?} holds Python objects, and is copied as it is");
        cx.console.warning(&origin.name(), &text);
    }
    let work = Work { kept: objects, ..convert.work(origin, source, vec![]) };
    let done = work.to_target(target)?;
    Ok(Rewritten { nbytes, before, after: done.stored_nbytes })
}

/// The conversion of inputs to one format.
#[derive(Clone, Copy)]
pub(crate) struct Convert<'a> {
    pub(crate) args: &'a ConvertArgs,
    pub(crate) output: &'a OutputArgs,
    pub(crate) cx: &'a Context,
    pub(crate) format: ConvertedFormat,
}

impl<'a> Convert<'a> {
    /// Makes a store of several inputs.
    pub(crate) fn values(
        self,
        origin: &Origin,
        files: Vec<Found>,
        targets: &mut Targets<'_>,
    ) -> Result<()> {
        if self.output.rm {
            return Err(message::FOLDER_IS_KEPT.error());
        }
        if origin.is_group() {
            refuse_input_options(self.args)?;
        }
        let Target::File(to) = targets.next(origin, Naming::Replace(self.format.suffix()))? else {
            return Err(message::DIRECTORY_TO_STDOUT.error());
        };
        let values = match origin.path() {
            Some(folder) => store::keyed_files(self.cx, folder, files)?,
            None => store::keyed_arrays(self.cx, origin)?,
        };
        self.store_from(values, &origin.name(), &to).map_err(|error| error.of_output(&to))
    }

    /// Converts one input.
    pub(crate) fn input(self, origin: &Origin, targets: &mut Targets<'_>) -> Result<()> {
        let Self { output, cx, format, .. } = self;
        let start = Instant::now();
        let lies_here = |path: &&Place| !path.is_elsewhere() && !path.is_sparse_frame();
        if let Some(path) = origin.changeable().filter(lies_here) {
            foreign::check_name(path)?;
            raw_data::check_kind(path, output)?;
        }
        let target = targets.next(origin, Naming::Replace(format.suffix()))?;
        if output.rm && matches!(origin, Origin::File { part: origin::Part::Member(_), .. }) {
            return Err(message::REMOVES_THE_STORE.error());
        }
        if let (Some(path), Target::File(to), true) =
            (formats::store::whole(origin), &target, format.is_store())
            && let Some((report, _)) = self.copy_store(origin, path, to)?
        {
            return report.print(cx, &origin.name(), to);
        }
        let source = self.open(origin, format.is_store())?;
        let (source, dropped) = source.fitted(format, &cx.read_params())?;
        self.check_source(origin, &source)?;
        let work = self.work(origin, source, dropped);
        let done = work.to_target(&target)?;
        work.report(&done, target.path(), start)
    }

    /// Adds an input to a store, or replaces a value by it.
    pub(crate) fn into_store(self, origin: &Origin, place: &StorePlace) -> Result<()> {
        let Self { args, cx, format, .. } = self;
        let start = Instant::now();
        if !matches!(format, ConvertedFormat::B2nd | ConvertedFormat::B2frame) {
            return Err(message::VALUES_ARE_FRAMES.about(format.name()));
        }
        anew::check(args, format)?;
        let source = self.open(origin, true)?;
        let (source, dropped) = source.fitted(ConvertedFormat::B2z, &cx.read_params())?;
        self.check_source(origin, &source)?;
        let work = self.work(origin, source, dropped);
        let mut writer = place.open(cx.lock_wait(args.lock))?;
        let progress = |nbytes| work.progress.add(nbytes);
        let conversion = work.conversion(&progress);
        let (mut done, station) = conversion.fill_store(&mut writer, Some(&place.key))?;
        // A table stays a table; anything else becomes a frame.
        let is_table = work.source.rows().is_some_and(|rows| !rows.is_column());
        let settings = match is_table {
            true => work.settings.clone().format(ConvertedFormat::B2z),
            false => work.settings.clone(),
        };
        let stored = Conversion { settings: &settings, ..conversion };
        done.left_out.extend(stored.lost_of_table()?);
        if !done.left_out.is_empty() {
            let what = listed(&done.left_out.iter().collect::<Vec<_>>());
            tell_loss(args, cx, &origin.name(), &format!("no room for {what} in a store"))?;
        }
        let store = writer.commit()?;
        drop(station);
        if args.verify && !conversion.is_equal_store(&store, Some(&place.key))? {
            return Err(message::READ_BACK_DIFFERS.error());
        }
        let below = format!("{}/", place.key);
        for key in store.keys().filter(|key| *key == place.key || key.starts_with(&below)) {
            done.stored_nbytes += frame_bytes(&store.frame(key)?);
        }
        work.report(&done, Some(Path::new(&place.name())), start)
    }

    /// Checks the input: refuses recipes for data unless frames keep them, and options without a
    /// meaning for the input. Reports how Python objects are stored.
    fn check_source(self, origin: &Origin, source: &Source) -> Result<()> {
        let Self { args, output, cx, format } = self;
        let keeps_all = matches!(
            format,
            ConvertedFormat::B2frame | ConvertedFormat::Sframe | ConvertedFormat::B2nd
        );
        if let Some(schunk) = source.frame().filter(|_| !keeps_all || args.anew.is_wanted()) {
            formats::store::refuse_recipe(schunk, &origin.name())?;
            if let Some(content) = formats::store::special_content(schunk) {
                let text = format!("its {content} of Python become one content");
                tell_loss(args, cx, &origin.name(), &text)?;
            }
        }
        if let Source::Items(items) = source {
            source::warn_of_trailing(items, &cx.console, &origin.name());
            let (expected, more) = (source.nbytes()?, items.trailing());
            // Removing the file would lose these bytes.
            if output.rm && more > 0 {
                return Err(Error::ArrayLen { expected, found: expected.saturating_add(more) });
            }
        }
        if args.from.is_some() && source.name() != "csv" {
            return Err(message::INPUT_IS_NO_TEXT.error());
        }
        if args.tells_items() && source.rows().is_some_and(|rows| !rows.is_column()) {
            return Err(message::HAS_A_TYPE.about("the types of its columns"));
        }
        if args.shape.is_some() && args.dtype.is_none() && source.layout()?.is_none() {
            return Err(message::SHAPE_OF_WHAT.error());
        }
        if args.delimiter != csv_table::COMMA && source.name() != "csv" {
            return Err(message::DELIMITER_IS_FOR_TEXT.error());
        }
        if !args.tells_items() {
            return Ok(());
        }
        let is_told = matches!(source.name(), "raw" | "csv");
        if let (Some(layout), false) = (source.layout()?, is_told) {
            // A part has a shape of its own.
            let given_shape = args.shape.as_ref().filter(|_| args.slice.is_none());
            let is_shape = given_shape.is_none_or(|shape| {
                let nitems = memory::nbytes(1, &layout.shape);
                shape.of_items(nitems) == layout.shape
            });
            let layout = layout.typed(args.dtype.as_ref());
            if args.dtype.as_ref().is_some_and(|given| *given != layout.dtype) || !is_shape {
                return Err(message::HAS_A_TYPE.about(layout.dtype));
            }
        }
        Ok(())
    }

    /// Opens the only object of the input. With `for_store`, some formats are read as the table
    /// that a store can hold.
    fn open(self, origin: &Origin, for_store: bool) -> Result<Source> {
        // The copy in a file lets a stream tell its format.
        if let Some(copy) = raw_data::copy_of_stream(origin)? {
            let copied =
                Origin::File { path: copy.to_path_buf().into(), part: origin::Part::Whole };
            return self.open_file(&copied, for_store);
        }
        self.open_file(origin, for_store)
    }

    /// Opens the only object of an input that is a file.
    fn open_file(self, origin: &Origin, for_store: bool) -> Result<Source> {
        let Self { args, cx, .. } = self;
        let choose = |source| -> Result<Source> {
            let (condition, open) = (args.rows.condition.as_deref(), cx.read_params());
            let chosen = select(source, &args.columns, condition, &open, &cx.unfinished)?;
            match &args.slice {
                Some(slice) => sliced(args, cx, origin, slice, chosen),
                None => Ok(chosen),
            }
        };
        let missing = if for_store { Missing::Truths } else { Missing::Text };
        if let Some(items) = uncompressed_items(args, &cx.console, origin, missing)? {
            return choose(Source::Items(items));
        }
        if let Some(table) = from_parquet::table(cx, origin, for_store)? {
            return choose(Source::Object(table));
        }
        let mut objects = ObjectReader::open(origin, cx.read_params())?;
        let first = objects.next().map_err(|error| match error {
            Error::NotBlosc { start } if !start.is_empty() => Error::NoType { start },
            error => error,
        })?;
        let object = first.ok_or(Error::NotBlosc { start: vec![] })?;
        Guard::new(args.limits).admit(&object)?;
        let chosen = choose(Source::Object(object))?;
        if objects.next()?.is_some() {
            let (object, loses_metadata) = crate::sequence::merged(cx, origin)?;
            if loses_metadata {
                if self.output.rm && !self.output.force {
                    let what = "the metadata of frames after the first";
                    return Err(message::WOULD_LOSE.about(what));
                }
                let text = "the metadata of frames after the first are left out";
                tell_loss(args, cx, &origin.name(), text)?;
            }
            return Ok(Source::Object(object));
        }
        if objects.tail().nbytes > 0 && self.output.rm && !self.output.force {
            return Err(message::WOULD_LOSE.about(objects.tail().name()));
        }
        objects.warn_of_trailing(&cx.console, &origin.name());
        Ok(chosen)
    }

    /// Joins an input with the settings of its conversion.
    fn work(self, origin: &'a Origin, source: Source, dropped: Vec<String>) -> Work<'a> {
        let Self { args, output, cx, format } = self;
        let settings = self.settings(origin);
        let progress = Progress::new(&cx.console, &origin.name(), source.nbytes().ok());
        if !dropped.is_empty() {
            cx.note_short();
        }
        let kept = vec![];
        Work { args, output, cx, origin, format, source, settings, dropped, kept, progress }
    }
}

/// Refuses options that tell what an input is, for one of several values, each of which tells it.
fn refuse_input_options(args: &ConvertArgs) -> Result<()> {
    match args {
        _ if args.from.is_some() => Err(message::INPUT_IS_NO_TEXT.error()),
        _ if args.delimiter != csv_table::COMMA => Err(message::DELIMITER_IS_FOR_TEXT.error()),
        _ if args.tells_input() => Err(message::HAS_A_TYPE.about("the types of its values")),
        _ => Ok(()),
    }
}

/// The items of an uncompressed file: `.npy`, or one of unknown format if its type is given.
fn uncompressed_items(
    args: &ConvertArgs,
    console: &Console,
    origin: &Origin,
    missing: Missing<'_>,
) -> Result<Option<Items>> {
    let Origin::File { path, part: origin::Part::Whole } = origin else { return Ok(None) };
    if path.is_dir() || path.is_elsewhere() || origin::is_ours(path) {
        return Ok(None);
    }
    let is_csv = csv_table::is_csv(path) && args.format != Some(ConvertedFormat::Csv);
    if is_csv || args.from == Some(TextFormat::Csv) {
        if args.from.is_some() && origin::is_npy(origin) {
            return Err(message::INPUT_IS_NO_TEXT.error());
        }
        if args.shape.is_some() {
            return Err(message::TEXT_HAS_ROWS.error());
        }
        let given = (args.dtype.as_ref(), missing);
        return values(console, path, args.delimiter, given).map(Some);
    }
    foreign::check_name(path)?;
    let store = FileStore::open(path).map_err(Error::io(Doing::Open))?;
    Items::in_file(Arc::new(store), |len| {
        let header = |dtype: &Dtype| {
            let nitems = len / (dtype.itemsize() as u64).max(1);
            let shape = args.shape.as_ref().map_or(vec![nitems], |shape| shape.of_items(nitems));
            NpyHeader::new(dtype.clone(), shape)
        };
        Ok(args.dtype.as_ref().map(header))
    })
}

/// A part of an array, as items in memory or in a file without a name.
fn sliced(
    args: &ConvertArgs,
    cx: &Context,
    origin: &Origin,
    slice: &Slice,
    source: Source,
) -> Result<Source> {
    let source = match source {
        Source::Object(Object::Table(rows)) if !rows.is_column() => {
            let axes = axes(&slice.in_dims(1), &[rows.nrows()])?;
            let [axis] = &axes[..] else { return Err(message::SLICE_OF_TABLE.error()) };
            if axis.step != 1 && axis.len > 1 {
                return Err(message::SLICE_OF_TABLE.error());
            }
            let rows = rows.numbered(&(axis.start..axis.start.saturating_add(axis.len)));
            return Ok(Source::Object(Object::Table(Box::new(rows))));
        }
        source => source,
    };
    let metadata = source.metadata()?.without_array().values();
    if !metadata.is_empty() {
        let names: Vec<_> = metadata.iter().map(|(name, _)| harmless(name)).collect();
        let text = format!("the part has none of the metadata {}", names.join(", "));
        tell_loss(args, cx, &origin.name(), &text)?;
    }
    let nullable = source.nullable().to_vec();
    let is_told = source.layout()?.is_none();
    // Options about text hold for a part of text, too.
    let format = if source.name() == "csv" { "csv" } else { "npy" };
    let mut grid = Grid::new(cx, origin, args.dtype.as_ref(), vec![source])?;
    if let Some(shape) = &args.shape
        && shape.of_items(memory::nbytes(1, grid.shape())) != grid.shape()
    {
        if !is_told {
            return Err(message::HAS_A_TYPE.about(grid.dtype()));
        }
        grid = grid.reshaped(shape)?;
    }
    let axes = axes(&slice.in_dims(grid.shape().len()), grid.shape())?;
    let mut out = Spool::default();
    grid.for_each_band(&axes, cx.memory() / 4, &mut |bytes| {
        out.write_all(bytes).map_err(Error::io(Doing::Spool))
    })?;
    let shape: Vec<u64> = axes.iter().filter(|axis| !axis.is_index).map(|it| it.len).collect();
    let (dtype, itemsize) = (grid.dtype().clone(), grid.dtype().itemsize() as u64);
    let file_len = memory::nbytes(itemsize, &shape);
    let stored = Stored { store: out.finish()?, start: 0, fortran_order: false, shape, itemsize };
    Ok(Source::Items(Items { stored, dtype, file_len, format, nullable, is_marked: false }))
}

/// One input on its way.
struct Work<'a> {
    args: &'a ConvertArgs,
    output: &'a OutputArgs,
    cx: &'a Context,
    origin: &'a Origin,
    format: ConvertedFormat,
    source: Source,
    settings: Settings,
    /// Columns that the format cannot hold.
    dropped: Vec<String>,
    /// Columns that are copied as they are.
    kept: Vec<String>,
    progress: Progress,
}

impl Work<'_> {
    fn to_target(&self, target: &Target) -> Result<Report> {
        match target.open(|| Sink::stdout(self.output.force))? {
            Dest::File(path) => self.to_file(path),
            Dest::Stream(sink) => self.to_stream(sink),
        }
    }

    fn to_file(&self, target: &Path) -> Result<Report> {
        let staged = Staged::in_folder(target, self.output.into(), &self.cx.unfinished)?;
        let done = self.write(&staged)?;
        // Text and raw data hold nothing but values.
        let keeps_type = !self.format.is_store()
            && !matches!(
                self.format,
                ConvertedFormat::Raw | ConvertedFormat::Csv | ConvertedFormat::Parquet
            );
        if self.args.strict
            && keeps_type
            && let Some(lost) = self.conversion(&|_| ()).lost(staged.path())?
        {
            return Err(message::STRICT.about(format!("{lost} would be lost")));
        }
        let (origin, metadata) = (self.origin, placement::metadata_of(self.origin));
        Placement { cx: self.cx, origin, output: self.output, verify: self.args.verify, metadata }
            .finish(
                staged,
                |staged| match self.conversion(&|_| ()).is_equal(staged.path())? {
                    true => Ok(self.conversion(&|_| ()).keep_columns(&self.kept, staged.path())?),
                    false => Err(message::READ_BACK_DIFFERS.error()),
                },
                |staged| match done.left_out.first() {
                    Some(what) => Ok(Some(what.clone())),
                    None => Ok(self.conversion(&|_| ()).lost(staged.path())?),
                },
            )?;
        Ok(done)
    }

    /// Most formats write the header last, so a temporary file comes first.
    fn to_stream(&self, mut out: Sink) -> Result<Report> {
        if self.format.is_folder() {
            return Err(message::DIRECTORY_TO_STDOUT.error());
        }
        let staged = Staged::for_stream(&self.cx.unfinished)?;
        let done = self.write(&staged)?;
        out.write_rest(&mut File::open(staged.path()).map_err(Error::io(Doing::Spool))?)?;
        out.finish()?;
        Ok(done)
    }

    /// The library's description of the conversion.
    fn conversion<'b>(&'b self, progress: OnProgress<'b>) -> Conversion<'b> {
        let Self { source: content, settings, dropped, .. } = self;
        Conversion { content, settings, dropped, progress }
    }

    /// Writes the output to its temporary place.
    fn write(&self, staged: &Staged) -> Result<Report> {
        let progress = |nbytes| self.progress.add(nbytes);
        let done = self.conversion(&progress).write(staged.path());
        let done = done.map_err(|error| Error::from(error).of_output(staged.target()))?;
        if done.is_table_instead && self.args.format == Some(ConvertedFormat::Carray) {
            let text = "written as a table, since the items have fields";
            self.cx.console.warning(&self.origin.name(), text);
        }
        self.tell_left_out(&done.left_out)?;
        Ok(done)
    }

    /// Bytes of the input, even if its values were copied to another file.
    fn input_nbytes(&self) -> u64 {
        let len = || fs::metadata(self.origin.path()?).ok().map(|metadata| metadata.len());
        match self.source.name() {
            "csv" | "parquet" => len().unwrap_or(self.source.stored()),
            _ => self.source.stored(),
        }
    }

    fn report(self, done: &Report, output: Option<&Path>, start: Instant) -> Result<()> {
        let (console, given) = (&self.cx.console, self.input_nbytes());
        // The bar must go before the line that replaces it is printed.
        drop(self.progress);
        let (name, elapsed) = (self.origin.name(), start.elapsed());
        let (nbytes, from) = (self.source.nbytes().unwrap_or(0), self.source.name());
        let &Report { moved, recompressed, stored_nbytes: stored, .. } = done;
        if let (true, Some(path)) = (console.json(), output) {
            return console.document(&ConvertReport {
                path: &name,
                output: &path_text(path),
                from,
                format: self.format.name(),
                nbytes,
                file_bytes: stored,
                moved,
                recompressed,
                left_out: &done.left_out,
                seconds: elapsed.as_secs_f64(),
            });
        }
        if let Some(rows) = self.source.rows() {
            let output = output.map_or_else(|| "stdout".to_owned(), path_text);
            let (name, output) = (harmless(&name), harmless(&output));
            let nrows = size::counted(rows.nrows(), "row");
            console.note(&format!("{name} -> {output}   {nrows}"));
            return Ok(());
        }
        let (before, after) = (given, stored);
        let outcome = Outcome { name: &name, output, before, after, nbytes, elapsed };
        console.note(&outcome.line(console, &chunks(moved, recompressed)));
        Ok(())
    }
}

/// Names the indexes that the store has lost.
fn tell_gone(args: &ConvertArgs, cx: &Context, origin: &Origin, gone: &[String]) -> Result<()> {
    let text = |what: &String| format!("removed: {what}, since its chunks changed");
    gone.iter().try_for_each(|what| tell_loss(args, cx, &origin.name(), &text(what)))
}

/// `   3 chunks moved, 1 recompressed`; empty for data without chunks.
fn chunks(moved: u64, recompressed: u64) -> String {
    let of = |n: u64, done: &str| format!("   {} {done}", size::counted(n, "chunk"));
    match (moved, recompressed) {
        (0, 0) => String::new(),
        (0, anew) => of(anew, "recompressed"),
        (moved, 0) => of(moved, "moved"),
        (moved, anew) => format!("{}, {} recompressed", of(moved, "moved"), size::count(anew)),
    }
}

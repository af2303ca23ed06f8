//! `b2 append`: adds data in place, at the end of a frame, a Bloscpack file, a data set of bcolz, a
//! table or a value of a store, or along a dimension of an array.
//!
//! The command checks everything before it writes anything: whole items, their type, the shape. A
//! frame gets all data in one commit, a Bloscpack file those of each input. A crash leaves the
//! state before or after a commit.

mod array;
mod bcolz;
mod blp;
mod npy;
mod store;

use std::{
    fs::{self, File},
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use b2frame::SChunkWriter;
use bcolz_store::DataSet;
use blosc_data::{
    Format, Part, Word,
    append::{Appending, RowType},
    content::Layout,
};
use blosc_dtype::{Dtype, npy::NpyHeader};
use blosc_io::FileStore;
use serde::Serialize;

use crate::{
    args::{AppendArgs, ConvertArgs, InputArgs, OutputArgs},
    content::{
        self,
        source::{Items, Source, values, warn_of_trailing},
    },
    context::Context,
    conversion,
    error::{Doing, Error, Result, message},
    exit::Code,
    formats::{
        self,
        csv_table::{self, Missing},
    },
    inputs::{Guard, Object, ObjectReader, Origin, Place, foreign, origin, raw_data},
    memory,
    output::signals,
    render::{Progress, harmless, path_text, size},
    sequence,
};

/// The report of one append.
#[derive(Debug, Serialize)]
#[serde(tag = "schema", rename = "b2.append/1")]
struct AppendReport<'a> {
    path: &'a str,
    /// Bytes that were added, and bytes after the append.
    appended: u64,
    nbytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<Vec<u64>>,
}

/// Size and shape after the append.
#[derive(Debug)]
struct Grown {
    nbytes: u64,
    shape: Option<Vec<u64>>,
}

/// Data to append.
struct Input {
    name: String,
    source: Source,
    /// Whether the input is an array, with a type and a shape.
    is_array: bool,
}

/// Appends all inputs.
pub(crate) fn run(args: &AppendArgs, cx: &Context) -> Code {
    let origin = Origin::from_word(&args.target);
    cx.run_on_inputs(vec![Ok(origin)], |origin| append_to_target(args, cx, origin))
}

fn append_to_target(args: &AppendArgs, cx: &Context, origin: &Origin) -> Result<()> {
    let Origin::File { path, .. } = origin else {
        return Err(message::PIPE_IS_NOT_CHANGED.error());
    };
    if path.is_archive() {
        return Err(message::ARCHIVE_IS_READ.of_file(path));
    }
    let stdin = [Path::new("-").to_owned()];
    let files = if args.files.is_empty() { &stdin[..] } else { &args.files };
    match files.split_first() {
        Some((first, rest)) if args.create && !is_there(cx, origin, path)? => {
            create(cx, &args.target, first)?;
            // `create` has made the target: resolve its name again.
            append_files(args, cx, &Origin::from_word(&args.target), rest)
        }
        _ => append_files(args, cx, origin, files),
    }
}

/// Whether there is something to append to: a file, a folder, a value of a store.
fn is_there(cx: &Context, origin: &Origin, path: &Place) -> Result<bool> {
    if !path.is_store() {
        return Ok(path.exists());
    }
    let Some((store, key)) = formats::store::opened(origin, cx.read_params())? else {
        return Ok(true);
    };
    let is_known = key == "/" || store.contains(key) || store.groups().contains(key);
    Ok(is_known || formats::store::rows(origin, cx.read_params())?.is_some())
}

fn append_files(args: &AppendArgs, cx: &Context, origin: &Origin, files: &[PathBuf]) -> Result<()> {
    let Some(path) = origin.path().filter(|_| !files.is_empty()) else { return Ok(()) };
    if files.iter().any(|file| file == Path::new("-")) && io::stdin().is_terminal() {
        return Err(message::TERMINAL_INPUT.error());
    }
    if let Some(path) = formats::npy::target(origin) {
        let (appended, grown) = npy::append(args, cx, path, files)?;
        return report(cx, &origin.name(), appended, grown, false);
    }
    let origin = &formats::store::value_of(origin, cx.read_params())?;
    let object = open_target(cx, origin)?;
    // A table or an array takes text as values, and not as bytes.
    let layout = object.layout().unwrap_or_default();
    let wanted = Wanted { row: row_type(&object, layout.as_ref()), is_array: layout.is_some() };
    let before = match &object {
        Object::Table(rows) => Some(rows.sizes().0),
        _ => None,
    };
    let is_table = match &object {
        Object::Bcolz(set) => matches!(set.set, DataSet::CTable(_)),
        object => matches!(object, Object::Table(rows) if !rows.is_column()),
    };
    let inputs = files
        .iter()
        .map(|file| open_named(args, cx, file, path, &wanted))
        .collect::<Result<Vec<_>>>()?;
    let appended = inputs.iter().map(Input::nbytes).sum::<Result<u64>>()?;
    let progress = Progress::new(&cx.console, &origin.name(), Some(appended));
    let work = Work { args, cx, path, inputs, progress };
    // All inputs are sound: merge the frames of a sequence into one, and append to that.
    let object = match has_more_frames(cx, origin, &object)? {
        true => {
            drop(object);
            sequence::merge_in_place(cx, path, args.lock)?;
            open_target(cx, origin)?
        }
        false => object,
    };
    let grown = work.append_to(origin, object)?;
    drop(work);
    let appended = before.map_or(appended, |before| grown.nbytes.saturating_sub(before));
    report(cx, &origin.name(), appended, grown, is_table)?;
    cx.tell_waste(origin)
}

/// The data that a target takes.
struct Wanted<'a> {
    /// The type of its rows, by which text is parsed.
    row: Option<RowType<'a>>,
    /// Whether it holds typed items instead of any bytes.
    is_array: bool,
}

impl Wanted<'_> {
    /// The data that an array of these items takes.
    fn items(dtype: &Dtype) -> Self {
        let has_fields = !dtype.fields().is_empty();
        Self { row: has_fields.then(|| RowType::Is(dtype.clone())), is_array: true }
    }

    /// Refuses a file that is not made of items.
    fn check(&self, file: &Place) -> Result<()> {
        let format = file.format().filter(|_| self.is_array);
        match format {
            Some(Format::Csv) if self.row.is_some() => Ok(()),
            Some(format @ (Format::Csv | Format::Npz | Format::Zip | Format::ZarrZip)) => {
                Err(message::NO_ITEMS.about(format))
            }
            _ => Ok(()),
        }
    }
}

/// The type of the rows of a table or an array.
fn row_type<'a>(object: &'a Object, layout: Option<&Layout>) -> Option<RowType<'a>> {
    match object {
        Object::Table(rows) => (!rows.is_column()).then_some(RowType::Of(rows)),
        _ => Wanted::items(&layout?.dtype).row,
    }
}

/// Makes the target of the first input.
fn create(cx: &Context, target: &Path, first: &Path) -> Result<()> {
    // Refuses formats that a later append could not grow.
    if let Some(suffix @ ("csv" | "parquet" | "chunk")) =
        target.extension().and_then(|it| it.to_str())
        && Word::of_path(target).part == Part::Whole
    {
        return Err(message::SUFFIX_CANNOT_GROW.about(suffix));
    }
    let is_raw = first != Path::new("-") && origin::content_kind(&first.into()).is_none();
    let args = ConvertArgs {
        inputs: InputArgs { files: vec![first.to_owned()], ..InputArgs::default() },
        delimiter: csv_table::COMMA,
        dtype: is_raw.then(|| content::parse("|u1")).transpose()?,
        output: OutputArgs { output: Some(target.to_owned()), ..OutputArgs::default() },
        ..ConvertArgs::default()
    };
    match conversion::run(&args, cx) {
        Code::Success => Ok(()),
        code => Err(Error::Reported { code }),
    }
}

/// The frame, file, data set or table to append to.
fn open_target(cx: &Context, origin: &Origin) -> Result<Object> {
    let object = ObjectReader::open(origin, cx.read_params())?
        .next()?
        .ok_or(Error::NotBlosc { start: vec![] })?;
    if let Object::Frame(schunk) = &object {
        formats::store::refuse_objects(schunk, &origin.name())?;
        // The metadata of such a frame hold the shape, which would be wrong after an append.
        if schunk.nd_meta()?.is_none() && object.layout().is_ok_and(|layout| layout.is_some()) {
            return Err(message::SHAPE_IN_METADATA.error());
        }
    }
    Ok(object)
}

/// Whether a file holds more frames after `first`; warns of bytes that are no frame. Other formats
/// are one object: nothing after them is opened, since another program may be writing there.
fn has_more_frames(cx: &Context, origin: &Origin, first: &Object) -> Result<bool> {
    if let Object::Blp(_) = first {
        ObjectReader::open(origin, cx.read_params())?.warn_of_trailing(&cx.console, &origin.name());
    }
    if !matches!(first, Object::Frame(_)) {
        return Ok(false);
    }
    let Origin::File { path, part: Part::Whole } = origin else { return Ok(false) };
    if !path.is_file() {
        return Ok(false);
    }
    let mut objects = ObjectReader::open(origin, cx.read_params())?;
    let has_more = objects.next()?.is_some() && objects.next()?.is_some();
    objects.warn_of_trailing(&cx.console, &origin.name());
    Ok(has_more)
}

fn report(cx: &Context, name: &str, appended: u64, grown: Grown, is_table: bool) -> Result<()> {
    let Grown { nbytes, shape } = grown;
    let units = cx.console.units();
    let sizes = format!("{} appended, now {}", units.size(appended), units.size(nbytes));
    let lens = match shape.as_deref() {
        None => String::new(),
        Some([rows]) if is_table => format!(", {}", size::counted(*rows, "row")),
        Some([items]) => format!(", {}", size::counted(*items, "item")),
        Some(lens) => format!(", {}", size::shape(lens)),
    };
    let line = format!("{}: {sizes}{lens}", harmless(name));
    cx.console.done(&AppendReport { path: name, appended, nbytes, shape }, &line)
}

/// The target and its new data.
struct Work<'a> {
    args: &'a AppendArgs,
    cx: &'a Context,
    path: &'a Path,
    inputs: Vec<Input>,
    progress: Progress,
}

impl Work<'_> {
    /// Appends to the target. A frame is closed first: an open one would hold the lock.
    fn append_to(&self, origin: &Origin, object: Object) -> Result<Grown> {
        let schunk = match object {
            Object::Table(rows) if !rows.is_column() => return self.append_to_table(&rows),
            Object::Table(_) => return Err(message::A_COLUMN.about(origin.name())),
            Object::Blp(blp) => return self.blp(*blp),
            Object::Bcolz(set) => return self.bcolz(*set),
            Object::Chunk(_) | Object::Opened(_) => return Err(message::CHUNK_CANNOT_GROW.error()),
            Object::Frame(schunk) => schunk,
        };
        let (is_array, offset) = (schunk.nd_meta()?.is_some(), schunk.offset());
        drop(schunk);
        match origin {
            Origin::File { part: Part::Member(key), .. } => self.append_to_value(key, is_array),
            _ if is_array => self.array(offset),
            _ => self.append_to_frame(offset),
        }
    }

    /// At the end of a frame that is no array.
    fn append_to_frame(&self, offset: u64) -> Result<Grown> {
        let mut writer =
            SChunkWriter::open_with(self.path, &self.cx.edit_options(offset, self.args.lock))?;
        writer.lock()?;
        signals::grow(&self.cx.unfinished, self.path);
        self.append_content(&mut writer)?;
        self.cx.unfinished.settle(self.path, || writer.commit())?;
        Ok(Grown { nbytes: writer.nbytes(), shape: None })
    }

    /// The new content, up to a commit.
    fn append_content(&self, writer: &mut SChunkWriter) -> Result<()> {
        first_axis(self.args.axis, 1)?;
        self.keep_what_is_there(writer);
        let typesize = writer.schunk()?.typesize() as u64;
        self.inputs.iter().try_for_each(|input| input.check_items(typesize))?;
        let append = |input: &Input| Ok(self.means(|by| by.to_frame(writer, &input.source))?);
        self.inputs.iter().try_for_each(append)
    }

    /// Calls `append` with the threads, the memory and the progress of the command.
    fn means<T>(&self, append: impl FnOnce(Appending<'_>) -> T) -> T {
        let (resources, unfinished) = (self.cx.resources(), &self.cx.unfinished);
        append(Appending { resources, unfinished, progress: &|nbytes| self.progress.add(nbytes) })
    }

    /// Replaces lossy codecs and filters by lossless ones. An append compresses the last chunk
    /// again, and its old items would lose more each time.
    fn keep_what_is_there(&self, writer: &mut SChunkWriter) {
        if !sequence::append_without_loss(writer) {
            return;
        }
        self.cx.console.note(&format!(
            "{}: appended without loss, so that the existing data lose no more",
            path_text(self.path)
        ));
    }
}

/// The dimension that a number means; -1 is the last one.
fn axis_of(axis: i64, ndim: usize) -> Result<usize> {
    if ndim == 0 {
        return Err(message::NO_DIMENSION_GROWS.error());
    }
    let signed = i64::try_from(ndim).unwrap_or(i64::MAX);
    let from_front = if axis < 0 { axis.saturating_add(signed) } else { axis };
    let found = usize::try_from(from_front).ok().filter(|found| *found < ndim);
    found.ok_or(Error::Axis { axis, ndim })
}

/// Refuses dimensions but the first: only arrays in frames grow along the others.
fn first_axis(axis: i64, ndim: usize) -> Result<()> {
    match axis_of(axis, ndim)? {
        0 => Ok(()),
        _ => Err(message::GROWS_BY_ROWS.about(axis)),
    }
}

impl Input {
    /// Bytes of the data. Rows of a store without a NumPy type count as decoded.
    fn nbytes(&self) -> Result<u64> {
        match self.source.rows() {
            Some(rows) => Ok(rows.content_nbytes().unwrap_or(rows.sizes().0)),
            None => Ok(self.source.nbytes()?),
        }
    }

    /// Refuses cut items, and items of another size.
    fn check_items(&self, typesize: u64) -> Result<()> {
        if let Some(layout) = self.source.layout()?.filter(|_| self.is_array && typesize > 1) {
            let given = layout.dtype.itemsize() as u64;
            if given != typesize {
                return Err(Error::OtherType {
                    file: self.name.clone(),
                    found: layout.dtype.to_string(),
                    expected: format!("items of {typesize} bytes"),
                });
            }
        }
        self.check_multiple(typesize)
    }

    /// Refuses cut rows, and rows of another type.
    fn check_rows(&self, dtype: &Dtype, shape: &[u64]) -> Result<()> {
        array::layout(self, dtype, shape, 0)?;
        self.check_multiple(memory::nbytes(dtype.itemsize() as u64, shape.iter().skip(1)))
    }

    fn check_multiple(&self, of: u64) -> Result<()> {
        let found = self.source.nbytes()?;
        match found.checked_rem(of) {
            Some(0) => Ok(()),
            None if found == 0 => Ok(()),
            _ => Err(Error::PartItem { file: self.name.clone(), found, of }),
        }
    }
}

/// Data to append to `target`; an error names the file.
fn open_named(
    args: &AppendArgs,
    cx: &Context,
    file: &Path,
    target: &Path,
    wanted: &Wanted<'_>,
) -> Result<Input> {
    open_input(args, cx, file, target, wanted).map_err(|error| match error.path() {
        Some(_) => error,
        None => Error::Input { file: Origin::from_word(file).name(), error: Box::new(error) },
    })
}

fn open_input(
    args: &AppendArgs,
    cx: &Context,
    file: &Path,
    target: &Path,
    wanted: &Wanted<'_>,
) -> Result<Input> {
    let row = wanted.row.as_ref();
    let origin = Origin::from_word(file);
    let name = origin.name();
    // A copy in a file lets the content of a stream tell its format.
    let copy = raw_data::copy_of_stream(&origin)?;
    let origin = match &copy {
        Some(copy) => Origin::File { path: copy.to_path_buf().into(), part: Part::Whole },
        None => origin,
    };
    let Origin::File { path, part } = &origin else {
        return Err(message::PIPE_IS_NOT_CHANGED.error());
    };
    let path_is_csv = match &copy {
        Some(_) => row.is_some_and(|row| row.is_named_in(path)),
        None => csv_table::is_csv(path),
    };
    let at = |error: Error| match error {
        Error::Io { doing, path: None, source } => Error::io_at(doing, path)(source),
        other => other,
    };
    if fs::canonicalize(path)
        .is_ok_and(|path| fs::canonicalize(target).is_ok_and(|target| path == target))
    {
        return Err(message::APPENDS_ITSELF.error());
    }
    if *part != Part::Whole || origin::is_ours(path) {
        let mut objects = ObjectReader::open(&origin, cx.read_params()).map_err(at)?;
        let mut object = objects.next()?.ok_or(Error::NotBlosc { start: vec![] })?;
        Guard::new(args.limits).admit(&object)?;
        if let Object::Frame(schunk) = &object {
            formats::store::refuse_objects(schunk, &name)?;
        }
        if objects.next()?.is_some() {
            object = sequence::merged(cx, &origin)?.0;
        }
        objects.warn_of_trailing(&cx.console, &name);
        let source = Source::Object(object);
        let is_array = source.rows().is_some() || source.layout()?.is_some();
        return Ok(Input { name, source, is_array });
    }
    if let Some(error) = foreign::refusal(path) {
        return Err(error);
    }
    wanted.check(path)?;
    if let Some(row) = row.filter(|_| path_is_csv) {
        let (dtype, nullable) = (row.dtype(path)?, row.nullable());
        let given = (Some(&dtype), Missing::Nulls(&nullable));
        let items = values(&cx.console, path, csv_table::COMMA, given)?;
        return Ok(Input { name, source: Source::Items(items), is_array: true });
    }
    uncompressed_input(cx, File::open(path).map_err(Error::io_at(Doing::Open, path))?, name)
}

/// Raw data, or the array of a `.npy` file.
fn uncompressed_input(cx: &Context, file: File, name: String) -> Result<Input> {
    let items = Items::in_file(Arc::new(FileStore::from_file(file)), |len| {
        Ok::<_, Error>(Some(NpyHeader::new(content::parse("|u1")?, vec![len])))
    })?;
    let items = items.ok_or(message::NOT_AN_ARRAY.error())?;
    warn_of_trailing(&items, &cx.console, &name);
    Ok(Input { name, is_array: items.format == "npy", source: Source::Items(items) })
}

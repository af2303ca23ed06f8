//! `b2 info`: describes a file.

mod bcolz;
mod blp;
mod chunk;
mod npy;
mod opened;
mod store;

use core::fmt::Write;
use std::{io, path::Path, sync::Arc};

use b2frame::SChunk;
use serde::Serialize;
use serde_json::{Map, Value};

use blosc_data::{Opened, json};

use crate::{
    args::{self, LookArgs},
    console::Console,
    content::from_parquet,
    context::Context,
    error::{Error, Result},
    exit::Code,
    inputs::{Guard, Object, OpenedInput, Origin, origin, walk},
    render::{Units, harmless, size},
    report::{ChunkRow, ChunkTable, FileSummary, InfoReport, MAX_LISTED_CHUNKS, Problems},
};

/// Describes each input.
pub(crate) fn run(args: &LookArgs, cx: &Context) -> Code {
    let inputs = cx.find(&args.inputs, &walk::ours).map(|found| cx.with_arrays(found));
    cx.run_on_inputs(inputs, |origin| describe_input(args, cx, origin))
}

fn describe_input(args: &LookArgs, cx: &Context, origin: &Origin) -> Result<()> {
    let _lock = cx.lock_shared(origin, args.lock)?;
    if let Origin::Opened(OpenedInput { name, opened: Opened::Group(group) }) = origin {
        return opened::group(cx, name, group);
    }
    if let Some(path) = crate::formats::store::whole(origin) {
        return store::run(cx, &origin.name(), path);
    }
    if let Some(table) = crate::formats::store::table(origin, cx.read_params())? {
        return store::describe_table(cx, &origin.name(), &table);
    }
    if origin::is_npy(origin) {
        return npy::run(cx, origin);
    }
    let mut objects = from_parquet::objects(cx, origin, cx.read_params())
        .map_err(|error| mistyped(error, origin))?;
    let (mut found, mut guard) = (Vec::new(), Guard::for_looking(args.limits));
    let mut content = None;
    while let Some(object) = objects.next()? {
        guard.admit(&object)?;
        match object {
            // Nothing else holds the frame, so that it can be taken out.
            Object::Frame(schunk) => {
                if found.is_empty() {
                    content = crate::formats::store::special_content(&schunk);
                }
                found.extend(Arc::into_inner(schunk));
            }
            // A bare chunk is the whole of its file.
            Object::Chunk(chunk) => return chunk::run(cx, &origin.name(), &chunk),
            Object::Blp(blp) => {
                if objects.tail().is_a_file() {
                    objects.warn_of_trailing(&cx.console, &origin.name());
                }
                return blp::run(cx, &origin.name(), &blp);
            }
            Object::Bcolz(set) => return bcolz::run(cx, &origin.name(), &set),
            Object::Table(rows) => return store::describe_column(cx, &origin.name(), &rows),
            Object::Opened(array) => return opened::run(cx, &origin.name(), &*array),
        }
    }
    frames(cx, &origin.name(), &found, content, objects.tail().nbytes)
}

/// Describes frames.
fn frames(
    cx: &Context,
    name: &str,
    frames: &[SChunk],
    content: Option<String>,
    trailing: u64,
) -> Result<()> {
    let Some(first) = frames.first() else { return Ok(()) };
    let max_rows = if cx.console.verbose() >= 3 { u64::MAX } else { MAX_LISTED_CHUNKS };
    let table = ChunkTable { frames, max_rows };
    let report = InfoReport::new(name, frames, first, wants_json_table(cx).then_some(table));
    let report = InfoReport { content, ..report };
    let text = |console: &Console| text(&report, trailing, console);
    print_report(cx, &report, text, &report.problems, || chunks(cx, table))
}

/// Whether the document holds the table of chunks or blocks.
fn wants_json_table(cx: &Context) -> bool {
    cx.console.json() && wants_table(cx)
}

fn wants_table(cx: &Context) -> bool {
    cx.console.verbose() >= 2
}

/// Prints a report as a document, or as text with the table of chunks or blocks for `-vv`.
fn print_report(
    cx: &Context,
    report: &impl Serialize,
    text: impl FnOnce(&Console) -> String,
    problems: &Problems,
    table: impl FnOnce() -> Result<()>,
) -> Result<()> {
    if cx.console.json() {
        cx.console.document(report)?;
    } else {
        cx.console.print(&text(&cx.console))?;
        if wants_table(cx) {
            table()?;
        }
    }
    problems.outcome()
}

/// `b2 comprss x` names a file `comprss`, which is probably a mistyped command.
fn mistyped(error: Error, origin: &Origin) -> Error {
    let missing =
        matches!(&error, Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound);
    let command =
        origin.path().and_then(Path::to_str).filter(|_| missing).and_then(args::similar_command);
    command.map_or(error, |command| Error::Mistyped { command })
}

/// The report for people: a line per topic.
fn text(report: &InfoReport<'_>, trailing: u64, console: &Console) -> String {
    let (verbose, units) = (console.verbose() > 0, console.units());
    let mut lines = Lines::new(console, report.file.path, &headline(report));
    if let Some(content) = &report.content {
        lines.add("content", content);
    }
    lines.shape(report);
    lines.chunks(report);
    lines.pipeline(report, verbose);
    lines.sizes(report, verbose);
    lines.names("meta", report.metalayers.keys());
    lines.names("vlmeta", report.vlmetalayers.keys());
    if verbose {
        lines.values(&report.metalayers);
        lines.values(&report.vlmetalayers);
        lines.frames(report);
    }
    if trailing > 0 {
        lines.add("after", &format!("{} that are no frame", units.size(trailing)));
    }
    lines.notes(&[], &report.problems);
    lines.text
}

fn headline(report: &InfoReport<'_>) -> String {
    let what = if report.array.is_some() { "n-d array" } else { "super-chunk" };
    let frames = match report.frames.len() {
        0 if report.file.format == "sframe" => "sparse frame".to_owned(),
        0 => "contiguous frame".to_owned(),
        several => format!("{several} contiguous frames"),
    };
    let kinds = if report.file.format_version >= 3 && report.chunksize.is_none() {
        ": variable chunks"
    } else {
        ""
    };
    format!("Blosc2 {what}, {frames} (format {}{kinds})", report.file.format_version)
}

/// Lines of a label and a text.
struct Lines {
    text: String,
    units: Units,
}

impl Lines {
    /// Starts with the name of the file and what it is.
    fn new(console: &Console, path: &str, what: &str) -> Self {
        Self { text: format!("{}: {what}\n", console.name(path)), units: console.units() }
    }

    fn add(&mut self, label: &str, text: &str) {
        // Writing to a string does not fail.
        let _written = writeln!(self.text, "  {:<10}  {}", harmless(label), harmless(text));
    }

    fn notes(&mut self, warnings: &[String], problems: &Problems) {
        warnings.iter().for_each(|warning| self.add("warning", warning));
        problems.texts().iter().for_each(|problem| self.add("problem", problem));
    }

    /// How many items of `typesize` bytes there are, and the sizes of the whole.
    fn items(&mut self, file: &FileSummary<'_>, typesize: u64) {
        let nitems = size::count(file.nbytes / typesize.max(1));
        let item = size::counted(typesize, "byte");
        let sizes = sizes(file.nbytes, file.cbytes, self.units);
        self.add("items", &format!("{nitems} x {item}     {sizes}"));
    }

    /// The names of attributes, and with `verbose` their values.
    fn attrs(&mut self, attrs: &Map<String, Value>, verbose: bool) {
        self.names("attrs", attrs.keys());
        if verbose {
            self.values(attrs);
        }
    }

    fn values(&mut self, values: &Map<String, Value>) {
        values.iter().for_each(|(name, value)| self.add(name, &json::shortened(value)));
    }

    /// Items, or the shape of an array.
    fn shape(&mut self, report: &InfoReport<'_>) {
        let typesize = report.typesize;
        let Some(array) = &report.array else { return self.items(&report.file, typesize) };
        let (shape, item) = (dims(&array.shape), size::counted(typesize, "byte"));
        self.add("shape", &format!("{shape}     {}, items of {item}, C order", array.dtype));
        self.add("chunks", &dims(&array.chunkshape));
        self.add("blocks", &dims(&array.blockshape));
        self.add("size", &sizes(report.file.nbytes, report.file.cbytes, self.units));
    }

    fn chunks(&mut self, report: &InfoReport<'_>) {
        let mut text = size::count(report.nchunks);
        if let Some(chunksize) = report.chunksize.filter(|_| report.nchunks > 0) {
            text += &format!(" of {}", self.units.size(chunksize));
            let last = report.file.nbytes % chunksize.max(1);
            if last > 0 && report.frames.is_empty() {
                text += &format!(", last {}", self.units.size(last));
            }
        }
        if let Some(blocksize) = report.blocksize {
            text += &format!(", blocks of {}", self.units.size(blocksize));
        }
        let special = report.special;
        let kinds = [
            (special.zeros, "all zero"),
            (special.nan, "all NaN"),
            (special.value, "one value"),
            (special.uninit, "uninitialised"),
        ];
        let kinds: Vec<_> = kinds
            .iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, kind)| format!("{} {kind}", size::count(*n)))
            .collect();
        if !kinds.is_empty() {
            text += &format!("; {}", kinds.join(", "));
        }
        self.add(if report.array.is_some() { "stored" } else { "chunks" }, &text);
    }

    fn pipeline(&mut self, report: &InfoReport<'_>, verbose: bool) {
        let filters = filters_text(&report.filters, &report.filters_meta);
        let dict = if report.dict { ", dictionary" } else { "" };
        let split = if verbose { format!(", split {}", report.split) } else { String::new() };
        self.add(
            "pipeline",
            &format!("{filters} -> {} level {}{dict}{split}", report.codec, report.clevel),
        );
    }

    fn sizes(&mut self, report: &InfoReport<'_>, verbose: bool) {
        let units = self.units;
        let parts = report.parts;
        let mut text = units.size(report.file.file_bytes).to_string();
        if report.frames.is_empty() {
            let (header, index, trailer) =
                (units.size(parts.header), units.size(parts.index), units.size(parts.trailer));
            text += &format!(
                "     header {header}, index {index}, trailer {trailer}, dead {}",
                units.size(report.dead_bytes)
            );
        } else {
            text += &format!("     dead {}", units.size(report.dead_bytes));
        }
        self.add("file", &text);
        self.add("checksums", report.checksums);
        let python = match report.split {
            "forward" if verbose && report.opens_with.ends_with("newer") => {
                ", python-blosc2 after 2.0.0 (split forward)"
            }
            _ => "",
        };
        self.add("opens with", &format!("{}{python}", report.opens_with));
    }

    fn names<'a>(&mut self, label: &str, names: impl Iterator<Item = &'a String>) {
        let names: Vec<_> = names.map(String::as_str).collect();
        if !names.is_empty() {
            self.add(label, &names.join(", "));
        }
    }

    /// The frames of a sequence.
    fn frames(&mut self, report: &InfoReport<'_>) {
        for (nframe, row) in report.frames.iter().enumerate() {
            let sizes =
                format!("{} -> {}", self.units.size(row.nbytes), self.units.size(row.file_bytes));
            self.add(
                &format!("frame {nframe}"),
                &format!(
                    "at byte {}: {sizes}, {}",
                    row.offset,
                    size::counted(row.nchunks, "chunk")
                ),
            );
        }
    }
}

/// `shuffle, trunc_prec:20`.
fn filters_text(names: &[String], metas: &[u8]) -> String {
    let slots = names.iter().zip(metas);
    let filters: Vec<_> = slots
        .map(|(name, meta)| if *meta == 0 { name.clone() } else { format!("{name}:{meta}") })
        .collect();
    if filters.is_empty() { "no filter".to_owned() } else { filters.join(", ") }
}

/// `61.0 MiB -> 5.1 MiB  11.9x`; no ratio where there is none.
fn sizes(nbytes: u64, cbytes: u64, units: Units) -> String {
    let sizes = format!("{} -> {}", units.size(nbytes), units.size(cbytes));
    if nbytes == 0 || cbytes == 0 {
        sizes
    } else {
        format!("{sizes}  {}x", size::ratio(nbytes, cbytes))
    }
}

fn dims<L: Copy + Into<u64>>(lens: &[L]) -> String {
    if lens.is_empty() { "scalar".to_owned() } else { size::shape(lens) }
}

/// One line per chunk, printed as they come.
fn chunks(cx: &Context, table: ChunkTable<'_>) -> Result<()> {
    print_rows(cx, table.frames.len() > 1, table.rows())?;
    match table.nleft_out() {
        0 => Ok(()),
        nleft => cx.console.print(&format!("  ... {} more (-vvv lists all)\n", size::count(nleft))),
    }
}

/// One line per row, with the number of its frame where there are several.
fn print_rows(cx: &Context, several: bool, rows: impl Iterator<Item = ChunkRow>) -> Result<()> {
    let frame = if several { "frame  " } else { "" };
    let head = format!(
        "{frame}{:>9}  {:>14}  {:>12}  {:>12}  {:>7}  {:>9}  {:<7}  pipeline\n",
        "chunk", "offset", "bytes", "data", "ratio", "blocksize", "special"
    );
    let line = |row: ChunkRow| match several {
        true => format!("{:>5}  {}", row.frame.unwrap_or(0), line(&row)),
        false => line(&row),
    };
    print_lines(cx, head, rows.map(line))
}

/// Prints lines after the head of their table, as they come.
fn print_lines(cx: &Context, head: String, lines: impl Iterator<Item = String>) -> Result<()> {
    let mut page = head;
    for line in lines {
        page.extend([&*line, "\n"]);
        if page.len() > PAGE {
            cx.console.print(&page)?;
            page.clear();
        }
    }
    cx.console.print(&page)
}

/// Bytes of lines that are printed together.
const PAGE: usize = 64 << 10;

fn line(row: &ChunkRow) -> String {
    let number = |n: Option<u64>| n.map_or("-".to_owned(), size::count);
    let (nchunk, offset) = (size::count(row.nchunk), number(row.offset));
    if let Some(error) = &row.error {
        return format!("{nchunk:>9}  {offset:>14}  {}", harmless(error));
    }
    let (cbytes, nbytes) = (size::count(row.cbytes), size::count(row.nbytes));
    let ratio = size::ratio(row.nbytes, row.cbytes);
    let blocksize = row.blocksize.map_or("-".to_owned(), |blocksize| size::count(blocksize as u64));
    let special = row.special.unwrap_or("-");
    let pipeline = match (&row.codec, &row.filters) {
        _ if row.memcpyed => "stored".to_owned(),
        (Some(codec), Some(filters)) if filters.is_empty() => codec.clone(),
        (Some(codec), Some(filters)) => format!("{} -> {codec}", filters.join(", ")),
        _ => "-".to_owned(),
    };
    format!(
        "{nchunk:>9}  {offset:>14}  {cbytes:>12}  {nbytes:>12}  {ratio:>7}  {blocksize:>9}  {special:<7}  {pipeline}"
    )
}

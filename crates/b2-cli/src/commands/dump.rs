//! `b2 dump`: the bytes of a file, span by span, with what they mean.
//!
//! Every span is a field of the format documents: its offset, its first bytes, its name and its
//! value. A frame whose header makes no sense is shown as far as it goes.

mod blp;
mod chunk;
mod fields;
mod frame;

use core::fmt::Write;

use serde::Serialize;
use serde_json::Value;

use crate::{
    args::DumpArgs,
    context::Context,
    error::{Error, Result, chain, message},
    exit::Code,
    inputs::{Guard, Object, ObjectReader, Origin, object_reader::FoundKind, walk},
    render::{harmless, json_text},
    report::Problems,
};

/// Shows each input.
pub(crate) fn run(args: &DumpArgs, cx: &Context) -> Code {
    let inputs = cx.find_ours(&args.inputs, &walk::ours);
    cx.run_on_inputs(inputs, |origin| dump_input(args, cx, origin))
}

fn dump_input(args: &DumpArgs, cx: &Context, origin: &Origin) -> Result<()> {
    // A wrong digest is shown, and does not stop the command.
    let mut objects = ObjectReader::open_bytes(origin, cx.unchecked_params())?;
    let mut printer = Printer::new(cx, origin.name());
    let wanted = Wanted::new(args);
    let mut guard = Guard::for_looking(args.limits);
    while let Some(found) = objects.find()? {
        if found.kind == FoundKind::Frame && wanted.header {
            frame::header(&mut printer, &found)?;
        }
        let object = match objects.open_found(&found) {
            Ok(object) => object,
            Err(error) => {
                if found.kind == FoundKind::Blp {
                    blp::damaged(&mut printer, &found, &wanted)?;
                }
                printer.finish()?;
                return Err(error);
            }
        };
        guard.admit(&object)?;
        match &object {
            Object::Frame(schunk) => frame::body(&mut printer, &found, schunk, &wanted)?,
            Object::Chunk(chunk) => chunk::bare(&mut printer, chunk)?,
            Object::Blp(blp) => blp::file(&mut printer, &found, blp, &wanted)?,
            Object::Bcolz(_) => return Err(message::BCOLZ_IS_A_DIRECTORY.error()),
            Object::Table(_) => return Err(message::TABLE_IS_FRAMES.error()),
            Object::Opened(_) => return Err(message::NOT_ONE_PIECE.error()),
        }
    }
    printer.finish()
}

/// Which parts of a frame are shown.
struct Wanted {
    header: bool,
    index: bool,
    trailer: bool,
    chunks: bool,
    /// Only this chunk.
    chunk: Option<u64>,
}

impl Wanted {
    /// Everything, unless parts were named.
    fn new(args: &DumpArgs) -> Self {
        let all =
            !(args.header || args.index || args.trailer || args.chunks || args.chunk.is_some());
        Self {
            header: all || args.header,
            index: all || args.index,
            trailer: all || args.trailer,
            chunks: all || args.chunks,
            chunk: args.chunk,
        }
    }
}

/// A part of a file with a meaning of its own.
struct Span<'a> {
    /// Where it starts in the file (bytes).
    offset: u64,
    /// How long it is (bytes).
    len: u64,
    /// The first bytes of the span: [`SHOWN`] or more, unless it is shorter.
    bytes: &'a [u8],
    name: &'a str,
    value: Value,
}

/// A span in the JSON document.
#[derive(Serialize)]
struct SpanRow<'a> {
    section: &'a str,
    offset: u64,
    len: u64,
    name: &'a str,
    #[serde(skip_serializing_if = "Value::is_null")]
    value: &'a Value,
    hex: String,
}

/// Where spans go: lines of text, or one JSON document, in pages.
struct Printer<'a> {
    cx: &'a Context,
    path: String,
    section: String,
    page: String,
    nspans: u64,
    /// Damage found so far.
    problems: Problems,
}

impl<'a> Printer<'a> {
    fn new(cx: &'a Context, path: String) -> Self {
        let mut printer = Self {
            cx,
            path,
            section: String::new(),
            page: String::new(),
            nspans: 0,
            problems: Problems::default(),
        };
        if cx.console.json() {
            let path = json_text(&printer.path);
            printer.page = format!(r#"{{"schema":"b2.dump/1","path":{path},"spans":["#);
        }
        printer
    }

    /// Starts a part of the file; `about` is for people.
    fn section(&mut self, name: &str, about: &str) -> Result<()> {
        name.clone_into(&mut self.section);
        if !self.cx.console.json() {
            let _written =
                writeln!(self.page, "{}: {name}{about}", self.cx.console.name(&self.path));
        }
        self.turn()
    }

    fn span(&mut self, span: &Span<'_>) -> Result<()> {
        if self.cx.console.json() {
            let hex = hex(span.bytes, span.len, SHOWN_TO_PROGRAMS);
            let (section, value) = (self.section.as_str(), &span.value);
            let row = SpanRow {
                section,
                offset: span.offset,
                len: span.len,
                name: span.name,
                value,
                hex,
            };
            let comma = if self.nspans > 0 { "," } else { "" };
            let _written = write!(self.page, "{comma}{}", json_text(&row));
        } else {
            let hex = hex(span.bytes, span.len, SHOWN);
            let _written = write!(
                self.page,
                "{:08x}  {hex:<width$}  {}",
                span.offset,
                harmless(span.name),
                width = 2 * SHOWN + 2
            );
            let _written = match &span.value {
                Value::Null => writeln!(self.page),
                Value::String(text) => writeln!(self.page, " = {}", harmless(text)),
                other => writeln!(self.page, " = {}", json_text(other)),
            };
        }
        self.nspans += 1;
        self.turn()
    }

    /// Notes damage, and goes on.
    fn problem(&mut self, error: &Error) -> Result<()> {
        if !self.cx.console.json() {
            let _written = writeln!(self.page, "{:<8}  {}", "problem", harmless(&chain(error)));
        }
        self.problems.add(error);
        self.turn()
    }

    /// Prints a page when it is full.
    fn turn(&mut self) -> Result<()> {
        if self.page.len() < PAGE {
            return Ok(());
        }
        self.cx.console.print(&core::mem::take(&mut self.page))
    }

    fn finish(&mut self) -> Result<()> {
        if self.cx.console.json() {
            let problems = json_text(&self.problems);
            let _written = writeln!(self.page, r#"],"problems":{problems}}}"#);
        }
        self.cx.console.print(&core::mem::take(&mut self.page))?;
        self.problems.outcome()
    }
}

/// The first bytes of a span of `len` bytes as digits, `..` if there are more.
fn hex(bytes: &[u8], len: u64, shown: usize) -> String {
    let more = if len > shown as u64 { ".." } else { "" };
    blosc_dtype::text::hex(bytes.get(..shown).unwrap_or(bytes), "") + more
}

/// Bytes of a span that people see.
const SHOWN: usize = 9;

/// Bytes of a span that programs see.
const SHOWN_TO_PROGRAMS: usize = 32;

/// Bytes of text that are printed together.
const PAGE: usize = 64 << 10;

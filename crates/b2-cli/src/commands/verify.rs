//! `b2 verify`: decode everything, say what is bad, change nothing.

use core::cell::OnceCell;
use std::path::Path;

use blosc_data::{
    Budget, Data,
    formats::store_group,
    limits::{Guard, OutputLimits},
    rescue::{self, Remains},
    verify::{BadChunk, Report, Verifier, VerifyOptions},
};
use serde::Serialize;

use crate::{
    args::LookArgs,
    commands::content::{self, from_parquet, source::Source},
    context::Context,
    error::{Error, Result, chain},
    exit::Code,
    formats::store,
    inputs::{
        Place,
        origin::{self, Origin, Part},
        raw_data::is_stream,
        walk,
    },
    render::{error_position::ErrorPosition, escape::shell_word, progress::Progress, size},
};

/// Bad chunks that are described without `-v`.
const MAX_DESCRIBED_CHUNKS: usize = 20;

/// The findings of one input.
#[derive(Debug, Serialize)]
#[serde(tag = "schema", rename = "b2.verify/1")]
struct Findings {
    path: String,
    ok: bool,
    nchunks: u64,
    /// Blocks of a bare chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    nblocks: Option<u64>,
    nbytes: u64,
    /// Chunks that cannot be read; of a bare chunk, the blocks.
    bad: Vec<Problem>,
    /// The number of such chunks or blocks, when not all are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    bad_count: Option<u64>,
    /// Damage outside of chunks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    other: Vec<Problem>,
    /// Unusual facts that do not stop a reader.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    checksums: &'static str,
    /// Chunks whose checksum was compared, when not all have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    nsummed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip)]
    nbad: u64,
    /// Whether the input is a folder of a store, whose attributes and names nothing sums.
    #[serde(skip)]
    is_folder: bool,
    #[serde(skip)]
    code: Code,
    /// The name in its own bytes, in any encoding.
    #[serde(skip)]
    name: Vec<u8>,
}

/// One fault.
#[derive(Debug, Serialize)]
struct Problem {
    /// Frame of the input, from 0, when it is not the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    frame: Option<u64>,
    #[serde(flatten)]
    position: ErrorPosition,
    kind: &'static str,
    message: String,
}

/// Verifies each input.
pub(crate) fn run(args: &LookArgs, cx: &Context) -> Code {
    let inputs = cx.with_whole(cx.find(&args.inputs, &walk::ours)).map(|it| cx.expand_groups(it));
    cx.run_unwarned(inputs, |origin| verify_input(args, cx, origin))
}

fn verify_input(args: &LookArgs, cx: &Context, origin: &Origin) -> Result<()> {
    let _lock = cx.lock_shared(origin, args.lock)?;
    let mut findings = Findings::new(origin);
    let mut guard = Guard::new(args.limits);
    if let Some(path) = store::whole(origin) {
        findings.look_at_store(cx, path, "/", &mut guard)?;
    } else if let (Some(table), Some(path)) = (store::table(origin, cx.dparams())?, origin.place())
    {
        findings.look_at_store(cx, path, table.key(), &mut guard)?;
    } else if origin::is_npy(origin) {
        findings.look_at_npy(cx, origin, &mut guard)?;
    } else {
        findings.look_at_objects(cx, origin, &mut guard)?;
    }
    findings.print(cx)
}

/// Verifies data. Its `nbytes` bytes advance the progress by `stored` bytes.
fn verify(
    data: &Data,
    guard: &mut Guard,
    budget: Budget,
    progress: (&Progress, u64, u64),
) -> Result<Report> {
    let options = VerifyOptions::default().budget(budget);
    let ((progress, nbytes, stored), mut done) = (progress, 0);
    let mut tell = |now: blosc_data::verify::Progress| {
        progress.add_share(now.nbytes.saturating_sub(done), nbytes, stored);
        done = now.nbytes;
    };
    Ok(Verifier::new(&options, guard, &mut tell).data(data)?)
}

/// The command that saves the sound parts of the object at `at`.
fn rescue_hint(path: &Path, at: u64) -> String {
    let name = shell_word(path);
    let part = if at > 0 { format!("{name}@{at}") } else { name };
    format!("`b2 rescue {part} -o NEW` saves what can be read")
}

impl Findings {
    fn new(origin: &Origin) -> Self {
        Self {
            path: origin.name(),
            name: origin.name_bytes(),
            ok: true,
            nchunks: 0,
            nblocks: None,
            nbytes: 0,
            bad: Vec::new(),
            bad_count: None,
            other: Vec::new(),
            warnings: Vec::new(),
            checksums: "none",
            nsummed: None,
            hint: None,
            nbad: 0,
            is_folder: false,
            code: Code::Success,
        }
    }

    /// Verifies every value of a store, or of its table with the key `root`.
    fn look_at_store(
        &mut self,
        cx: &Context,
        path: &Place,
        root: &str,
        guard: &mut Guard,
    ) -> Result<()> {
        let opened = match store::open(path, cx.dparams()) {
            Err(error) if error.code() == Code::Data => {
                self.unopened(0, &error);
                self.point_to_rescue(path);
                return Ok(());
            }
            opened => opened?,
        };
        let progress = Progress::new(&cx.console, &self.path, None);
        let group = store_group(opened, &self.path, root);
        let report = verify(&group.data, guard, cx.read_options(), (&progress, 1, 1))?;
        self.add_report(0, report);
        self.is_folder = path.is_dir();
        if self.code == Code::Data && root == "/" {
            self.point_to_rescue(path);
        }
        Ok(())
    }

    /// Verifies a file of NumPy: its header and all items, which have no checksum.
    fn look_at_npy(&mut self, cx: &Context, origin: &Origin, guard: &mut Guard) -> Result<()> {
        let sources = match content::open_to_look(cx, origin) {
            Err(error) if error.code() == Code::Data => {
                self.unopened(0, &error);
                return Ok(());
            }
            sources => sources?,
        };
        let progress = Progress::new(&cx.console, &self.path, None);
        for source in sources {
            let Source::Items(items) = source else { continue };
            let data = Data::Array(std::sync::Arc::new(items));
            self.add_report(0, verify(&data, guard, cx.read_options(), (&progress, 1, 1))?);
        }
        Ok(())
    }

    /// Verifies the objects of an input one after the other.
    fn look_at_objects(&mut self, cx: &Context, origin: &Origin, guard: &mut Guard) -> Result<()> {
        let mut objects = from_parquet::objects(cx, origin, cx.dparams())?;
        let (name, progress) = (self.path.clone(), OnceCell::new());
        let mut nframe = 0;
        loop {
            let object = match objects.next().map_err(|error| walk::as_damage(origin, error)) {
                Ok(Some(object)) => object,
                Ok(None) => break,
                // An object that does not open is the last finding, since its end is unknown.
                Err(error) if error.code() == Code::Data => {
                    self.unopened(nframe, &error);
                    let is_blp = |path: &Path| path.extension().is_some_and(|it| it == "blp");
                    match (&error, origin.path().filter(|path| is_blp(path))) {
                        // Bloscpack files may lack their magic and still be rescued.
                        (Error::Damaged(_), Some(path)) => self.point_to_rescue(path),
                        _ => self.look_for_chunks(cx, origin, objects.position()),
                    }
                    // An empty file, or one of zeros, has nothing to rescue.
                    if matches!(error, Error::Damaged(_)) {
                        return Ok(());
                    }
                    break;
                }
                Err(error) => return Err(error),
            };
            let progress =
                progress.get_or_init(|| Progress::new(&cx.console, &name, objects.input_len()));
            let (nbytes, stored) = (object.nbytes(), object.stored());
            let data = object.into_stored(&cx.read_options())?;
            let report = verify(&data, guard, cx.read_options(), (progress, nbytes, stored))?;
            // The bytes of values that do not decode are sound.
            if report.other.iter().any(|error| matches!(error, blosc_data::Error::Store(_))) {
                self.point_to_bytes(origin);
            }
            self.add_report(nframe, report);
            nframe += 1;
        }
        if let Some(text) = objects.trailing_text() {
            // For a Bloscpack file, the library's note tells their number already.
            self.warnings.retain(|told| !text.starts_with(told.as_str()));
            self.warnings.push(text);
        }
        // A bare chunk cannot be rescued.
        if self.code == Code::Data
            && self.hint.is_none()
            && self.nblocks.is_none()
            && let Origin::File { path, part: Part::Whole } = origin
            && !rescue::remains(path, None).is_ok_and(|remains| remains == Remains::Chunk)
        {
            self.point_to_rescue(path);
        }
        Ok(())
    }

    /// Adds the report of an object to the findings.
    fn add_report(&mut self, nframe: u64, report: Report) {
        self.ok &= report.is_ok();
        self.nchunks += report.nchunks;
        self.nblocks = self.nblocks.or(report.nblocks);
        self.nbytes += report.nbytes;
        self.nbad += report.nbad;
        if nframe == 0 || self.checksums != "none" {
            self.checksums = report.checksum.unwrap_or("none");
        }
        let is_partly = report.checksum.is_some() && report.nsummed < report.nchunks;
        self.nsummed = is_partly.then_some(report.nsummed);
        self.warnings.extend(report.notes);
        self.warnings.extend(report.suspected.iter().map(ToString::to_string));
        for BadChunk { nchunk, offset, error } in report.bad {
            let (chunk, block) = match self.nblocks {
                Some(_) => (None, Some(nchunk)),
                None => (Some(nchunk), None),
            };
            let known = ErrorPosition { chunk, block, offset, ..ErrorPosition::default() };
            let problem = self.problem(nframe, known, &error.into());
            self.bad.push(problem);
        }
        for error in report.other {
            self.add_problem(nframe, &error.into());
        }
        self.bad_count = (self.nbad > self.bad.len() as u64).then_some(self.nbad);
    }

    /// Hints at the command that writes the bytes: values cannot be made of them, and nothing needs
    /// rescue.
    fn point_to_bytes(&mut self, origin: &Origin) {
        if let Origin::File { path, part: Part::Whole } = origin {
            self.hint = Some(format!("`b2 cat {}` writes their bytes", shell_word(path)));
        }
    }

    /// Counts the chunks of a frame that does not open, and hints at the command that saves them.
    fn look_for_chunks(&mut self, cx: &Context, origin: &Origin, at: u64) {
        // A stream cannot be read a second time.
        let Some(path) = origin.path().filter(|path| !is_stream(path)) else { return };
        let allowed = OutputLimits::default().allowance(rescue::stored_nbytes(path));
        let options = rescue::Options::default().dparams(cx.dparams()).budget(cx.read_options());
        let Ok(found) = rescue::readable_chunks(path, at, &options, allowed) else { return };
        if rescue::remains(path, Some(at)).is_ok_and(|remains| remains != Remains::Chunk) {
            self.nchunks = self.nchunks.saturating_add(found.good + found.doubtful + found.lost);
            self.nbad = self.nbad.saturating_add(found.lost);
        }
        if found.good + found.doubtful > 0 {
            self.hint = Some(rescue_hint(path, at));
        }
    }

    fn point_to_rescue(&mut self, path: &Path) {
        self.hint = Some(rescue_hint(path, 0));
    }

    fn unopened(&mut self, nframe: u64, error: &Error) {
        self.ok = false;
        self.add_problem(nframe, error);
    }

    fn add_problem(&mut self, nframe: u64, error: &Error) {
        let problem = self.problem(nframe, ErrorPosition::default(), error);
        self.other.push(problem);
    }

    /// Describes one problem. The first one of an input decides the exit code.
    fn problem(&mut self, nframe: u64, known: ErrorPosition, error: &Error) -> Problem {
        self.code = self.code.and(error.code());
        let found = ErrorPosition::of_error(error);
        let position = ErrorPosition {
            offset: known.offset.or(found.offset),
            chunk: known.chunk.or(found.chunk),
            block: known.block.or(found.block),
            ..found
        };
        Problem {
            frame: (nframe > 0).then_some(nframe),
            position,
            kind: error.kind(),
            message: chain(error),
        }
    }

    fn print(&self, cx: &Context) -> Result<()> {
        let console = &cx.console;
        if console.json() {
            console.document(self)?;
            return self.outcome();
        }
        let shown = if console.verbose() > 0 { usize::MAX } else { MAX_DESCRIBED_CHUNKS };
        for problem in self.other.iter().chain(self.bad.iter().take(shown)) {
            let frame = problem.frame.map(|frame| format!("frame {frame}: ")).unwrap_or_default();
            let message = format!("{frame}{}", problem.message);
            console.problem(Some(&self.path), problem.kind, &message, problem.position, None);
        }
        if self.bad.len() > shown {
            console.note(&format!(
                "... and {} (-v lists them)",
                size::counted(self.nbad - shown as u64, &format!("more bad {}", self.unit()))
            ));
        }
        if let Some(hint) = &self.hint {
            console.note(&format!("hint: {hint}"));
        }
        self.warnings.iter().take(shown).for_each(|warning| console.warning(&self.path, warning));
        // As in other programs that check sums, `-q` silences what is sound.
        if console.quiet() < if self.ok { 1 } else { 2 } {
            console.print_name("", &self.name, &format!(": {}", self.verdict()))?;
        }
        self.outcome()
    }

    fn verdict(&self) -> String {
        if self.ok {
            return match self.checksums {
                "none" => "OK (decoded; no checksums stored)".to_owned(),
                kind => {
                    let chunks = size::counted(self.nchunks, "chunk");
                    let part = self.nsummed.map(|n| format!("{} of ", size::count(n)));
                    // The CRC-32 of an archive covers both.
                    let lacks = match self.is_folder {
                        true => "; attributes and names of values have no checksums",
                        false => "",
                    };
                    let part = part.unwrap_or_default();
                    format!("OK (decoded; {kind} of {part}{chunks} checked{lacks})")
                }
            };
        }
        let word = if self.code == Code::Data { "DAMAGED" } else { "NOT READABLE" };
        let (total, unit) = (self.nblocks.unwrap_or(self.nchunks), self.unit());
        if self.nbad > 0 {
            let good = total.saturating_sub(self.nbad);
            return format!(
                "{word}: {} good, {} bad",
                size::counted(good, unit),
                size::count(self.nbad)
            );
        }
        match self.nchunks {
            _ if self.nblocks.is_some() => word.to_owned(),
            0 => word.to_owned(),
            1 => format!("{word}: the chunk decodes, the rest is above"),
            nchunks => {
                format!("{word}: all {} chunks decode, the rest is above", size::count(nchunks))
            }
        }
    }

    /// The unit of damage: the chunks of a frame, or the blocks of a bare chunk.
    fn unit(&self) -> &'static str {
        if self.nblocks.is_some() { "block" } else { "chunk" }
    }

    fn outcome(&self) -> Result<()> {
        if self.ok { Ok(()) } else { Err(Error::Reported { code: self.code }) }
    }
}

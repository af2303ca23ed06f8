//! `b2 verify`: decode everything, say what is bad, change nothing.

mod whole_store;

use std::{path::Path, sync::Arc};

use b2frame::{
    SChunk,
    report::{VerifyOptions, VerifyReport},
};
use b2store::{Content, error::Corrupt};
use blosc_chunk::{
    Chunk, Limits, Scratch,
    validate::{Depth, Validation},
};
use blosc_container::report::BadChunk;
use blosc_data::rescue::{self, Remains};
use serde::Serialize;

use crate::{
    args::{LimitArgs, LookArgs},
    commands::{content, show::NO_ARRAY},
    context::Context,
    error::{Error, Result, chain},
    exit::Code,
    formats::{
        bcolz::{self, Bcolz},
        blp::Blp,
        chunk::BareChunk,
        store,
    },
    inputs::{
        decoded::Guard,
        object::Object,
        object_reader::ObjectReader,
        origin::{self, Origin, Part},
        raw_data::is_stream,
        walk,
    },
    render::{error_position::ErrorPosition, escape::shell_word, progress::Progress, size},
    report::note_text,
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
    /// How many there are, when not all are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    bad_count: Option<u64>,
    /// Damage outside of chunks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    other: Vec<Problem>,
    /// Oddities that do not stop a reader.
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
    #[serde(skip)]
    code: Code,
    /// The name as it is, in any encoding.
    #[serde(skip)]
    name: Vec<u8>,
}

/// One thing that is wrong.
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
    if let Some(path) = store::whole(origin) {
        return whole_store::run(args, cx, origin, path, "/");
    }
    if let (Some(table), Some(path)) = (store::table(origin, cx.dparams())?, origin.place()) {
        return whole_store::run(args, cx, origin, path, table.key());
    }
    if origin::is_npy(origin) {
        return verify_npy(cx, origin);
    }
    let mut objects = ObjectReader::open(origin, cx.dparams())?;
    let mut findings = Findings::new(origin);
    let mut guard = Guard::new(args.limits);
    let progress = Progress::new(&cx.console, &findings.path, objects.input_len());
    let mut nframe = 0;
    loop {
        match objects.next().map_err(|error| walk::as_damage(origin, error)) {
            Ok(Some(object)) => {
                match &object {
                    Object::Frame(schunk) => guard.admit_to_verify(schunk)?,
                    other => guard.admit(other)?,
                }
                match &object {
                    Object::Frame(schunk) => {
                        let is_sealed =
                            schunk.is_sealed() && (nframe == 0 || findings.checksums != "none");
                        findings.checksums = if is_sealed { "xxh3" } else { "none" };
                        let report = verify(schunk, cx, &progress);
                        let is_sound = report.is_ok();
                        findings.add_report(nframe, report, ToString::to_string);
                        if is_sound {
                            findings.check_values(nframe, schunk, origin);
                        }
                    }
                    Object::Chunk(chunk) => findings.add_chunk(chunk, cx)?,
                    Object::Blp(blp) => {
                        findings.add_blp(blp, cx)?;
                        if let Err(error) = object.layout() {
                            findings.warnings.push(format!("{NO_ARRAY}: {}", chain(&error)));
                        }
                    }
                    Object::Bcolz(set) => findings.add_bcolz(set, cx)?,
                    // Values that cannot be read are errors.
                    Object::Table(rows) => {
                        rows.for_each_batch(0..rows.nrows(), &mut |_| Ok::<(), Error>(()))?;
                    }
                    Object::Opened(array) => {
                        let options = VerifyOptions::default().budget(cx.read_options());
                        let report = array.verify(&options, &mut |_| ())?;
                        findings.add_report(nframe, report, String::clone);
                    }
                }
                nframe += 1;
            }
            Ok(None) => break,
            // Of what is empty, or zeros, nothing can be saved; a Bloscpack file needs no magic.
            Err(error @ Error::Damaged(_)) => {
                findings.unopened(nframe, &error);
                match origin.path().filter(|path| path.extension().is_some_and(|it| it == "blp")) {
                    Some(path) => findings.point_to_rescue(path),
                    None => findings.look_for_chunks(cx, origin, objects.position()),
                }
                return findings.print(cx);
            }
            // A frame that cannot be opened is a finding like others, and the last: its end
            // is unknown.
            Err(error) if error.code() == Code::Data => {
                findings.unopened(nframe, &error);
                findings.look_for_chunks(cx, origin, objects.position());
                break;
            }
            Err(error) => return Err(error),
        }
    }
    drop(progress);
    findings.warnings.extend(objects.trailing_text());
    // Of a bare chunk nothing can be rescued.
    if findings.code == Code::Data
        && findings.hint.is_none()
        && findings.nblocks.is_none()
        && let Origin::File { path, part: Part::Whole } = origin
    {
        findings.point_to_rescue(path);
    }
    findings.print(cx)
}

/// A file of NumPy: its header, and all items, which have no checksum.
fn verify_npy(cx: &Context, origin: &Origin) -> Result<()> {
    let mut findings = Findings::new(origin);
    match content::open_to_look(cx, origin) {
        Ok(sources) => {
            for source in sources {
                findings.nbytes += source.nbytes()?;
                source.stream(&cx.read_options(), &mut |_| Ok::<(), Error>(()))?;
            }
        }
        Err(error) if error.code() == Code::Data => findings.unopened(0, &error),
        Err(error) => return Err(error),
    }
    findings.print(cx)
}

fn verify(schunk: &SChunk, cx: &Context, progress: &Progress) -> VerifyReport {
    let (nbytes, stored) = (schunk.nbytes(), schunk.frame_len());
    let mut done = 0;
    schunk.verify(&VerifyOptions::default().budget(cx.read_options()), |now| {
        progress.add_share(now.nbytes.saturating_sub(done), nbytes, stored);
        done = now.nbytes;
    })
}

/// How the sound parts of what stands at `at` are saved.
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
            code: Code::Success,
        }
    }

    /// Takes over the report of a frame, a Bloscpack file or a data set of bcolz.
    fn add_report<E: Into<Error>, N>(
        &mut self,
        nframe: u64,
        report: blosc_container::report::Report<E, N>,
        note: impl Fn(&N) -> String,
    ) {
        self.ok &= report.is_ok();
        self.nchunks += report.nchunks;
        self.nbytes += report.nbytes;
        self.nbad += report.nbad;
        self.warnings.extend(report.notes.iter().map(note));
        self.warnings.extend(report.suspected.iter().map(ToString::to_string));
        for BadChunk { nchunk, offset, error } in report.bad {
            let known = ErrorPosition { chunk: Some(nchunk), offset, ..ErrorPosition::default() };
            let problem = self.problem(nframe, known, &error.into());
            self.bad.push(problem);
        }
        for error in report.other {
            self.add_problem(nframe, &error.into());
        }
        self.bad_count = (self.nbad > self.bad.len() as u64).then_some(self.nbad);
    }

    /// Decodes the objects that the chunks of a frame hold, whose bytes are sound. What only looks
    /// like objects is shown as bytes, and that is said.
    fn check_values(&mut self, nframe: u64, schunk: &Arc<SChunk>, origin: &Origin) {
        match Content::from_schunk(Arc::clone(schunk), "values") {
            Ok(Content::Recipe(recipe)) => {
                self.warnings
                    .push(format!("{}, which is not resolved: it has no data", recipe.kind));
            }
            Ok(content) => {
                if let Err(error) = content.check_values() {
                    self.unopened(nframe, &error.into());
                    self.point_to_bytes(origin);
                }
            }
            // Metadata of another program by the same name, or of a later version.
            Err(
                error @ b2store::Error::Corrupt {
                    what:
                        Corrupt::Serializer { .. } | Corrupt::Version { .. } | Corrupt::Type { .. },
                    ..
                },
            ) => self.warnings.push(format!("only its bytes are read: {}", chain(&error))),
            Err(error) => {
                self.unopened(nframe, &error.into());
                self.point_to_bytes(origin);
            }
        }
    }

    /// Says how the bytes are read of which no values can be made. Nothing is to be rescued.
    fn point_to_bytes(&mut self, origin: &Origin) {
        if let Origin::File { path, part: Part::Whole } = origin {
            self.hint = Some(format!("`b2 cat {}` writes their bytes", shell_word(path)));
        }
    }

    /// Decodes a bare chunk block by block.
    fn add_chunk(&mut self, stored: &BareChunk, cx: &Context) -> Result<()> {
        let bytes = stored.bytes(cx.memory())?;
        let wrong = |source| Error::Chunk { at: stored.offset(), source };
        let chunk = match Chunk::parse(&bytes).map_err(wrong) {
            Err(error) if error.code() == Code::Data => {
                self.unopened(0, &error);
                return Ok(());
            }
            chunk => chunk?,
        };
        // A block, its stored bytes, and two more blocks for the filters.
        let limits = Limits::none().max_nbytes(cx.memory() / 4);
        let found = chunk
            .validate(Depth::Decode, &mut Scratch::new(&stored.dparams().clone().limits(limits)));
        self.nchunks += 1;
        self.nblocks = Some(chunk.nblocks() as u64);
        self.nbytes += chunk.header().nbytes() as u64;
        self.warnings.extend(found.notes.iter().filter_map(note_text));
        self.warnings.extend(chunk.header().suspicions().map(|suspicion| suspicion.to_string()));
        self.add_blocks(found, stored.offset());
        Ok(())
    }

    /// Takes over the report of the blocks of a chunk that starts at `offset`.
    fn add_blocks(&mut self, found: Validation, offset: u64) {
        self.ok &= found.is_ok();
        if let Some(source) = found.error {
            self.add_problem(0, &Error::Chunk { at: offset, source });
        }
        for block in found.blocks {
            let Some(source) = block.error else { continue };
            let at = offset.saturating_add(block.offset as u64);
            let position = ErrorPosition {
                block: Some(block.nblock as u64),
                offset: Some(at),
                ..ErrorPosition::default()
            };
            let problem = self.problem(0, position, &Error::Chunk { at: offset, source });
            self.bad.push(problem);
        }
        self.nbad = self.bad.len() as u64;
    }

    /// Takes over the report of a Bloscpack file.
    fn add_blp(&mut self, blp: &Blp, cx: &Context) -> Result<()> {
        let budget = blp.options(&cx.read_options())?.budget;
        let options = VerifyOptions { budget, max_reported: usize::MAX };
        let report = blp.file.verify(&options, |_| {})?;
        self.checksums = blp.checksum();
        self.add_report(0, report, ToString::to_string);
        Ok(())
    }

    /// Takes over the report of a data set of bcolz; messages name the column.
    fn add_bcolz(&mut self, set: &Bcolz, cx: &Context) -> Result<()> {
        let budget = cx.read_options();
        let set = set.tuned(&budget)?;
        let options = VerifyOptions::default().budget(budget);
        if set.has_checksums() {
            self.checksums = "xxh3";
        }
        let report = set.verify(&options, |_| ())?;
        let is_summed = set.has_checksums() && report.nsummed < report.nchunks;
        self.nsummed = is_summed.then_some(report.nsummed);
        self.add_report(0, report, bcolz::note);
        Ok(())
    }

    /// Counts the chunks of a frame that does not open, and says how they are saved.
    fn look_for_chunks(&mut self, cx: &Context, origin: &Origin, at: u64) {
        // What comes once is gone.
        let Some(path) = origin.path().filter(|path| !is_stream(path)) else { return };
        if rescue::remains(path, Some(at)).is_ok_and(|remains| remains == Remains::Chunk) {
            self.hint = Some(rescue_hint(path, at));
            return;
        }
        let allowed = Guard::allowance(LimitArgs::default(), rescue::stored_nbytes(path));
        let options = rescue::Options::default().dparams(cx.dparams()).budget(cx.read_options());
        let Ok(found) = rescue::readable_chunks(path, at, &options, allowed) else { return };
        self.nchunks = self.nchunks.saturating_add(found.good + found.doubtful + found.lost);
        self.nbad = self.nbad.saturating_add(found.lost);
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

    /// Describes one problem; the first of an input decides about the code.
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
        // As of other programs that check sums: what is sound is silent with -q.
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
                    format!("OK (decoded; {kind} of {}{chunks} checked)", part.unwrap_or_default())
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

    /// The unit that can be bad: the chunks of a frame, or the blocks of a bare chunk.
    fn unit(&self) -> &'static str {
        if self.nblocks.is_some() { "block" } else { "chunk" }
    }

    fn outcome(&self) -> Result<()> {
        if self.ok { Ok(()) } else { Err(Error::Reported { code: self.code }) }
    }
}

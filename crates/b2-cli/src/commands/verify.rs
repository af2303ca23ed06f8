//! `b2 verify`: decode everything, say what is bad, change nothing.

use b2frame::{BadChunk, SChunk, VerifyOptions, VerifyReport};
use serde::Serialize;

use crate::{
    args::VerifyArgs,
    content::Guard,
    context::Context,
    error::{Error, Result, chain},
    exit::Code,
    frames::Frames,
    input::{self, Origin},
    place::{Place, place_of},
    progress::Progress,
    size,
};

/// Bad chunks that are described without `-v`.
const DESCRIBED: usize = 20;

/// What was found in one input.
#[derive(Debug, Serialize)]
struct Findings {
    schema: &'static str,
    path: String,
    ok: bool,
    nchunks: u64,
    nbytes: u64,
    /// Chunks that cannot be read.
    bad: Vec<Problem>,
    /// How many there are, when not all are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    bad_count: Option<u64>,
    /// What is wrong apart from chunks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    other: Vec<Problem>,
    /// What is odd, but can be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    checksums: &'static str,
    #[serde(skip)]
    nbad: u64,
    #[serde(skip)]
    code: Code,
}

/// One thing that is wrong.
#[derive(Debug, Serialize)]
struct Problem {
    /// Frame of the input, from 0, when it is not the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    frame: Option<u64>,
    #[serde(flatten)]
    place: Place,
    kind: &'static str,
    message: String,
}

/// Verifies each input.
pub(crate) fn run(args: &VerifyArgs, cx: &Context) -> Code {
    let inputs = input::find(&args.inputs, &input::is_frame);
    cx.each(inputs, |origin| one(args, cx, origin))
}

fn one(args: &VerifyArgs, cx: &Context, origin: &Origin) -> Result<()> {
    let mut frames = Frames::open(origin, cx.dparams())?;
    let mut findings = Findings::new(origin.name());
    let mut guard = Guard::new(args.limits);
    let progress = Progress::new(&cx.console, &findings.path, frames.input_len());
    let mut nframe = 0;
    loop {
        match frames.next() {
            Ok(Some(schunk)) => {
                guard.admit(&schunk)?;
                findings.add(nframe, verify(&schunk, cx, &progress));
                nframe += 1;
            }
            Ok(None) => break,
            // A frame that cannot be opened is a finding like others, and the last: nobody knows where it ends.
            Err(error) if error.code() == Code::Data => {
                findings.unopened(nframe, &error);
                break;
            }
            Err(error) => return Err(error),
        }
    }
    drop(progress);
    if frames.trailing() > 0 {
        findings.warnings.push(format!("{} bytes behind the last frame are no frame", frames.trailing()));
    }
    findings.print(cx)
}

fn verify(schunk: &SChunk, cx: &Context, progress: &Progress) -> VerifyReport {
    let (nbytes, stored) = (schunk.nbytes(), schunk.frame_len());
    let mut done = 0;
    schunk.verify(&VerifyOptions::default().read(cx.read_options()), |now| {
        progress.add_share(now.nbytes.saturating_sub(done), nbytes, stored);
        done = now.nbytes;
    })
}

impl Findings {
    fn new(path: String) -> Self {
        Self {
            schema: "b2.verify/1",
            path,
            ok: true,
            nchunks: 0,
            nbytes: 0,
            bad: Vec::new(),
            bad_count: None,
            other: Vec::new(),
            warnings: Vec::new(),
            checksums: "none",
            nbad: 0,
            code: Code::Success,
        }
    }

    /// Takes over what was found in one frame.
    fn add(&mut self, nframe: u64, report: VerifyReport) {
        self.ok &= report.is_ok();
        self.nchunks += report.nchunks;
        self.nbytes += report.nbytes;
        self.nbad += report.nbad;
        self.warnings.extend(report.notes.iter().map(ToString::to_string));
        let bad = report.bad.into_iter().map(|bad| {
            let BadChunk { nchunk, offset, error, .. } = bad;
            (Place { chunk: Some(nchunk), offset, ..Place::default() }, error)
        });
        let bad: Vec<_> = bad.collect();
        for (place, error) in bad {
            let problem = self.problem(nframe, place, &error.into());
            self.bad.push(problem);
        }
        for error in report.other {
            let problem = self.problem(nframe, Place::default(), &error.into());
            self.other.push(problem);
        }
        self.bad_count = (self.nbad > self.bad.len() as u64).then_some(self.nbad);
    }

    fn unopened(&mut self, nframe: u64, error: &Error) {
        self.ok = false;
        let problem = self.problem(nframe, Place::default(), error);
        self.other.push(problem);
    }

    /// Describes one problem; the first of an input decides about the code.
    fn problem(&mut self, nframe: u64, known: Place, error: &Error) -> Problem {
        self.code = self.code.and(error.code());
        let found = place_of(error);
        let place =
            Place { offset: known.offset.or(found.offset), chunk: known.chunk.or(found.chunk), ..found };
        Problem { frame: (nframe > 0).then_some(nframe), place, kind: error.kind(), message: chain(error) }
    }

    fn print(&self, cx: &Context) -> Result<()> {
        let console = &cx.console;
        if console.json() {
            console.document(self)?;
            return self.outcome();
        }
        let shown = if console.verbose() > 0 { usize::MAX } else { DESCRIBED };
        for problem in self.other.iter().chain(self.bad.iter().take(shown)) {
            let frame = problem.frame.map(|frame| format!("frame {frame}: ")).unwrap_or_default();
            let message = format!("{frame}{}", problem.message);
            console.problem(Some(&self.path), problem.kind, &message, problem.place, None);
        }
        if self.bad.len() > shown {
            console.note(&format!("... and {} more bad chunks (-v lists them)", self.nbad - shown as u64));
        }
        self.warnings.iter().take(shown).for_each(|warning| console.warning(&self.path, warning));
        console.print(&format!("{}: {}\n", self.path, self.verdict()))?;
        self.outcome()
    }

    fn verdict(&self) -> String {
        if self.ok {
            return "OK (decoded; no checksums stored)".to_owned();
        }
        let word = if self.code == Code::Data { "DAMAGED" } else { "NOT READABLE" };
        if self.nbad > 0 {
            let good = self.nchunks.saturating_sub(self.nbad);
            return format!("{word}: {} chunks good, {} bad", size::count(good), size::count(self.nbad));
        }
        match self.nchunks {
            0 => word.to_owned(),
            nchunks => format!("{word}: all {} chunks good, see above", size::count(nchunks)),
        }
    }

    fn outcome(&self) -> Result<()> {
        if self.ok { Ok(()) } else { Err(Error::Reported { code: self.code }) }
    }
}

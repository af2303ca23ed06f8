//! `b2 tune`: which codec, filters, level and blocks are good for a file, and the command for them.
//!
//! A fast and a strong codec try all pipelines; all codecs and levels try the best of these; other
//! block sizes try the winner. The output shows the settings that no other beats in ratio and both
//! speeds.

use serde::Serialize;

use blosc_data::trial::{self as trials, Outcome, OutcomeReport, Sample, Setting, choose, explore};

use super::content::{self, source::Source};
use crate::{
    args::{TuneArgs, tune::Goal},
    context::Context,
    error::{Result, message},
    exit::Code,
    inputs::{Origin, origin, walk},
    render::{Align, Table, harmless, size::quoted},
    report::trial,
};

/// The measurements, and the recommendation.
#[derive(Debug, Serialize)]
#[serde(tag = "schema", rename = "b2.tune/1")]
struct TuneReport<'a> {
    path: &'a str,
    nbytes: u64,
    sampled: u64,
    typesize: usize,
    /// The outcomes that no other outcome beats, by ratio.
    best: Vec<OutcomeReport>,
    chosen: OutcomeReport,
    command: String,
}

/// Tunes each input.
pub(crate) fn run(args: &TuneArgs, cx: &Context) -> Code {
    let inputs = content::expand_stores(origin::find(&args.inputs, &walk::ours_or_npy), cx);
    cx.run_on_inputs(inputs, |origin| tune(args, cx, origin))
}

fn tune(args: &TuneArgs, cx: &Context, origin: &Origin) -> Result<()> {
    let contents = content::open(cx, origin, args.limits)?;
    let sample = trial::sample(cx, origin, &args.trial, &contents)?;
    let is_array = contents.iter().any(|source| source.nd_meta().is_ok_and(|it| it.is_some()));
    let now = contents.first().and_then(Source::frame).map(|frame| {
        let params = frame.cparams();
        Setting::new(params.codec, params.clevel.get(), params.filters)
    });
    let outcomes = explore(&sample, &cx.dparams(), args.goal.into(), is_array, now)?;
    let is_now = |outcome: &Outcome| Some(outcome.setting) == now;
    let mut best: Vec<Outcome> = outcomes
        .iter()
        .filter(|it| is_now(it) || !outcomes.iter().any(|other| other.beats(it)))
        .copied()
        .collect();
    let chosen = *choose(args.goal.into(), &best).ok_or(message::NOTHING_TRIED.error())?;
    best.sort_by(|a, b| b.cratio().total_cmp(&a.cratio()));
    let (name, command) = (origin.name(), command(origin, (&sample, &contents), &chosen.setting));
    if cx.console.json() {
        return cx.console.document(&TuneReport {
            path: &name,
            nbytes: sample.total,
            sampled: sample.nbytes(),
            typesize: sample.typesize,
            best: best.iter().map(|outcome| outcome.report()).collect(),
            chosen: chosen.report(),
            command,
        });
    }
    let units = cx.console.units();
    let mut table =
        Table::new(&[Align::Right, Align::Right, Align::Right, Align::Left, Align::Left]);
    table.row(["  ratio", "write", "read", "pipeline", ""]);
    for outcome in best {
        let mark = match (outcome.setting == chosen.setting, is_now(&outcome)) {
            (true, true) => format!("<- {}, as it is", word(args.goal)),
            (true, false) => format!("<- {}", word(args.goal)),
            (false, is_now) => if is_now { "as it is" } else { "" }.to_owned(),
        };
        let mut cells = trial::cells(&outcome, units);
        cells.push(mark);
        table.row(cells);
    }
    let head = format!("{}: {}\n", harmless(&name), trial::summary(&sample, cx));
    cx.console.print(&format!("{head}{table}{}\n", harmless(&command)))
}

impl From<Goal> for trials::Goal {
    fn from(goal: Goal) -> Self {
        match goal {
            Goal::Ratio => Self::Ratio,
            Goal::Balanced => Self::Balanced,
            Goal::Speed => Self::Speed,
        }
    }
}

fn word(goal: Goal) -> &'static str {
    match goal {
        Goal::Ratio => "ratio",
        Goal::Balanced => "balanced",
        Goal::Speed => "speed",
    }
}

/// The command with these settings.
fn command(origin: &Origin, (sample, contents): (&Sample, &[Source]), setting: &Setting) -> String {
    let Setting { codec, clevel, filters, blocksize, .. } = setting;
    let filters = filters.to_string().replace(", ", ",");
    let mut options = format!("-C {codec} -{} --filter {filters}", clevel.get());
    if let Some(blocksize) = blocksize {
        options += &format!(" --block-size {blocksize}");
    }
    let file = match origin {
        Origin::Stdin => "FILE".to_owned(),
        Origin::File { .. } | Origin::Opened(_) => quoted(&origin.name()),
    };
    match contents.first() {
        Some(Source::Items(items)) if items.format == "npy" => {
            format!("b2 compress {options} {file}")
        }
        Some(Source::Items(_)) => format!("b2 compress -t {} {options} {file}", sample.typesize),
        _ => format!("b2 recompress {options} {file}"),
    }
}

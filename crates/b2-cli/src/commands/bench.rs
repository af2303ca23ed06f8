//! `b2 bench`: ratio and speed of codecs, filters and levels on the user's data.

use blosc_chunk::{Level, Pipeline};
use serde::Serialize;

use blosc_data::trial::{OutcomeReport, Setting};

use super::content;
use crate::{
    args::BenchArgs,
    context::Context,
    error::{Result, message},
    exit::Code,
    inputs::{Origin, origin, walk},
    memory,
    render::{Align, Progress, Table, harmless},
    report::trial,
};

/// The measurements on one input.
#[derive(Debug, Serialize)]
#[serde(tag = "schema", rename = "b2.bench/1")]
struct BenchReport<'a> {
    path: &'a str,
    nbytes: u64,
    sampled: u64,
    typesize: usize,
    trials: Vec<OutcomeReport>,
}

/// Measures each input.
pub(crate) fn run(args: &BenchArgs, cx: &Context) -> Code {
    let inputs = content::expand_stores(origin::find(&args.inputs, &walk::ours_or_npy), cx);
    cx.run_on_inputs(inputs, |origin| measure(args, cx, origin))
}

fn measure(args: &BenchArgs, cx: &Context, origin: &Origin) -> Result<()> {
    let contents = content::open(cx, origin, args.limits)?;
    let sample = trial::sample(cx, origin, &args.trial, &contents)?;
    let (name, settings) = (origin.name(), settings(args));
    let total = sample.nbytes().saturating_mul(settings.len() as u64);
    let progress = Progress::new(&cx.console, &name, Some(total));
    let mut outcomes = vec![];
    for setting in settings {
        match sample.run(&cx.dparams(), setting, args.rounds)? {
            Some(outcome) => outcomes.push(outcome),
            None => {
                let text = trial::setting_text(&setting, cx.console.units());
                let text = format!("{text} is not for these data");
                cx.console.warning(&name, &text);
            }
        }
        progress.add(sample.nbytes());
    }
    drop(progress);
    if outcomes.is_empty() {
        return Err(message::NOTHING_TRIED.error());
    }
    if cx.console.json() {
        return cx.console.document(&BenchReport {
            path: &name,
            nbytes: sample.total,
            sampled: sample.nbytes(),
            typesize: sample.typesize,
            trials: outcomes.iter().map(|outcome| outcome.report()).collect(),
        });
    }
    let units = cx.console.units();
    let mut table = Table::new(&[Align::Right, Align::Right, Align::Right, Align::Left]);
    table.row(["  ratio", "write", "read", "pipeline"]);
    outcomes.iter().for_each(|outcome| table.row(trial::cells(outcome, units)));
    cx.console.print(&format!("{}: {}\n{table}", harmless(&name), trial::summary(&sample, cx)))
}

/// All combinations.
fn settings(args: &BenchArgs) -> Vec<Setting> {
    let blocksize = args.block_size.map(|size| memory::as_len(size.0));
    let default = [Pipeline::SHUFFLE];
    let filters = if args.filter.is_empty() { &default[..] } else { &args.filter };
    let mut settings = vec![];
    for codec in &args.codec {
        for filters in filters {
            for level in &args.level {
                settings.push(Setting {
                    codec_meta: codec.meta,
                    clevel: Level::try_from(*level).unwrap_or(Level::DEFAULT),
                    blocksize,
                    ..Setting::new(codec.id, *level, *filters)
                });
            }
        }
    }
    settings
}

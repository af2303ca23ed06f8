//! `b2 tune`: which codec, filters, level and blocks are good for a file, and the command for them.
//!
//! All pipelines are tried with a fast and a strong codec; the best of them with all codecs and
//! levels; the winner with other block sizes. What nothing else beats in ratio and both speeds is
//! shown.

use blosc_chunk::{CodecId, Pipeline};
use serde::Serialize;

use blosc_data::trial::{Outcome, OutcomeReport, Sample, Setting};

use super::content::{self, source::Source};
use crate::{
    args::{TuneArgs, tune::Goal},
    context::Context,
    error::{Result, message},
    exit::Code,
    inputs::{Origin, origin, walk},
    render::{Align, Table, harmless},
    report::trial,
};

/// Pipelines that lose nothing, for items of any size.
const FILTERS: [&str; 5] = ["none", "shuffle", "bitshuffle", "delta,shuffle", "shuffle,bytedelta"];

/// Pipelines that are tried with all codecs.
const MAX_PIPELINES: usize = 2;

/// Codecs and their levels.
const CODECS: [(CodecId, &[u8]); 4] = [
    (CodecId::BLOSCLZ, &[5]),
    (CodecId::LZ4, &[1, 5, 9]),
    (CodecId::LZ4HC, &[5, 9]),
    (CodecId::ZSTD, &[1, 3, 5, 7, 9]),
];

/// Block sizes that are tried with the winner (bytes).
const BLOCKS: [usize; 3] = [16 << 10, 64 << 10, 512 << 10];

/// The evidence, and what follows from it.
#[derive(Debug, Serialize)]
#[serde(tag = "schema", rename = "b2.tune/1")]
struct TuneReport<'a> {
    path: &'a str,
    nbytes: u64,
    sampled: u64,
    typesize: usize,
    /// What nothing else beats, by ratio.
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
    let outcomes = explore(args.goal, cx, &sample, &contents)?;
    let mut best: Vec<Outcome> = outcomes
        .iter()
        .filter(|outcome| !outcomes.iter().any(|other| other.beats(outcome)))
        .copied()
        .collect();
    let chosen = *choose(args.goal, &best).ok_or(message::NOTHING_TRIED.error())?;
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
        let mark = if outcome.setting == chosen.setting {
            format!("<- {}", word(args.goal))
        } else {
            String::new()
        };
        let mut cells = trial::cells(&outcome, units);
        cells.push(mark);
        table.row(cells);
    }
    let head = format!("{}: {}\n", harmless(&name), trial::summary(&sample, cx));
    cx.console.print(&format!("{head}{table}{}\n", harmless(&command)))
}

fn word(goal: Goal) -> &'static str {
    match goal {
        Goal::Ratio => "ratio",
        Goal::Balanced => "balanced",
        Goal::Speed => "speed",
    }
}

/// All outcomes of the trials that are worth their time.
fn explore(goal: Goal, cx: &Context, sample: &Sample, contents: &[Source]) -> Result<Vec<Outcome>> {
    // Of single bytes only bits can be put together.
    let specs: &[&str] = if sample.typesize > 1 { &FILTERS } else { &["none", "bitshuffle"] };
    let pipelines = specs.iter().filter_map(|spec| Pipeline::parse(spec).ok());
    let mut outcomes: Vec<Outcome> = vec![];
    for filters in pipelines {
        attempt(cx, sample, Setting::new(CodecId::LZ4, 5, filters), &mut outcomes)?;
        attempt(cx, sample, Setting::new(CodecId::ZSTD, 5, filters), &mut outcomes)?;
    }
    let mut ranked: Vec<(f64, Pipeline)> =
        outcomes.iter().map(|outcome| (outcome.cratio(), outcome.setting.filters)).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut kept: Vec<Pipeline> = vec![];
    for (_, filters) in ranked {
        if kept.len() < MAX_PIPELINES && !kept.contains(&filters) {
            kept.push(filters);
        }
    }
    for filters in kept {
        for (codec, levels) in CODECS {
            for level in levels {
                attempt(cx, sample, Setting::new(codec, *level, filters), &mut outcomes)?;
            }
        }
    }
    // The blocks of an array have a shape.
    let is_array = contents.iter().any(|source| source.nd_meta().is_ok_and(|it| it.is_some()));
    if let Some(winner) = choose(goal, &outcomes).filter(|_| !is_array).copied() {
        for blocksize in BLOCKS {
            let setting = Setting { blocksize: Some(blocksize), ..winner.setting };
            attempt(cx, sample, setting, &mut outcomes)?;
        }
    }
    Ok(outcomes)
}

/// One trial more, of what has not been tried.
fn attempt(
    cx: &Context,
    sample: &Sample,
    setting: Setting,
    outcomes: &mut Vec<Outcome>,
) -> Result<()> {
    if !outcomes.iter().any(|outcome| outcome.setting == setting) {
        outcomes.extend(sample.run(&cx.dparams(), setting, 1)?);
    }
    Ok(())
}

/// The outcome that serves the goal best.
fn choose(goal: Goal, outcomes: &[Outcome]) -> Option<&Outcome> {
    let score = |outcome: &Outcome| match goal {
        Goal::Ratio => outcome.cratio(),
        // Twice the ratio is worth a tenth of both speeds.
        Goal::Balanced => outcome.cratio().log2() + 0.15 * (outcome.write * outcome.read).log2(),
        Goal::Speed => 1.0 / (1.0 / outcome.write + 1.0 / outcome.read),
    };
    outcomes.iter().max_by(|a, b| score(a).total_cmp(&score(b)))
}

/// The command that compresses like this.
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

/// A name as a shell takes it.
fn quoted(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "._/-+,:@%".contains(c);
    match !name.starts_with('-') && !name.is_empty() && name.chars().all(is_plain) {
        true => name.to_owned(),
        false => format!("'{}'", name.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(cbytes: u64, write: f64, read: f64) -> Outcome {
        let setting = Setting::new(CodecId::ZSTD, 5, Pipeline::SHUFFLE);
        Outcome { setting, nbytes: 1000, cbytes, write, read }
    }

    #[test]
    fn each_goal_has_its_winner() {
        let all = [outcome(100, 1e6, 1e7), outcome(150, 5e8, 1e9), outcome(800, 4e9, 8e9)];
        let winner = |goal| choose(goal, &all).unwrap().cbytes;
        assert_eq!([Goal::Ratio, Goal::Balanced, Goal::Speed].map(winner), [100, 150, 800]);
        assert!(!all.iter().any(|one| all.iter().any(|other| other.beats(one))));
        assert!(outcome(100, 2.0, 2.0).beats(&outcome(100, 1.0, 2.0)));
    }

    #[test]
    fn names_are_quoted_for_the_shell() {
        assert_eq!(quoted("dir/a.b2nd"), "dir/a.b2nd");
        assert_eq!(quoted("two words"), "'two words'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("-x"), "'-x'");
    }
}

//! The measurements: rows, a file of them, and a table for people.

use core::fmt::Write as _;
use std::{borrow::Cow, collections::BTreeMap};

use crate::{
    clock::Times,
    failure::{Result, fail},
};

/// The subject of a measurement.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    pub(crate) group: &'static str,
    /// The operation, such as `compress`.
    pub(crate) what: &'static str,
    /// Codec, filter and the like: a line of the table stands for them.
    pub(crate) setting: String,
    /// The set and other properties: the mean of a line covers them.
    pub(crate) case: String,
    pub(crate) threads: u16,
    /// Uncompressed bytes of one call.
    pub(crate) nbytes: usize,
    /// The compressed size as a multiple of the reference's; 0 without one.
    pub(crate) size: f64,
}

impl Subject {
    /// One thread's work on one byte, without compressed data.
    pub(crate) fn new(
        group: &'static str,
        what: &'static str,
        setting: impl Into<String>,
        case: impl Into<String>,
    ) -> Self {
        let (setting, case) = (setting.into(), case.into());
        Self { group, what, setting, case, threads: 1, nbytes: 1, size: 0.0 }
    }

    /// Work of `threads` threads.
    pub(crate) fn threads(self, threads: u16) -> Self {
        Self { threads, ..self }
    }

    /// Work on `nbytes` bytes of data.
    pub(crate) fn nbytes(self, nbytes: usize) -> Self {
        Self { nbytes, ..self }
    }

    /// Work with compressed data of these sizes, of this side and the reference (bytes).
    #[expect(clippy::cast_precision_loss, reason = "sizes of benchmarks are small")]
    pub(crate) fn sizes(self, ours: usize, theirs: usize) -> Self {
        Self { size: ours as f64 / theirs as f64, ..self }
    }

    /// The values that identify it.
    pub(crate) fn name(&self) -> (&str, &str, &str, &str, u16, usize) {
        (self.group, self.what, &self.setting, &self.case, self.threads, self.nbytes)
    }
}

/// One measured subject.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) subject: Subject,
    pub(crate) times: Times,
}

impl Row {
    /// The speed as a multiple of the reference's.
    pub(crate) fn ratio(&self) -> f64 {
        self.times.theirs / self.times.ours
    }

    /// Billions of bytes per second, if each call processes one block.
    #[expect(clippy::cast_precision_loss, reason = "sizes of benchmarks are small")]
    pub(crate) fn speed(&self, seconds: f64) -> f64 {
        self.subject.nbytes as f64 / seconds / 1e9
    }
}

pub(crate) fn csv(rows: &[Row]) -> String {
    let mut text =
        "group,what,setting,case,threads,nbytes,ours_s,theirs_s,ours_gbps,theirs_gbps,ratio,size_ratio\n"
            .to_owned();
    for row in rows {
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{:.5e},{:.5e},{:.3},{:.3},{:.3},{:.4}",
            row.subject.group,
            quoted(row.subject.what),
            quoted(&row.subject.setting),
            quoted(&row.subject.case),
            row.subject.threads,
            row.subject.nbytes,
            row.times.ours,
            row.times.theirs,
            row.speed(row.times.ours),
            row.speed(row.times.theirs),
            row.ratio(),
            row.subject.size
        );
    }
    text
}

/// A name as a field; some names contain commas.
fn quoted(name: &str) -> Cow<'_, str> {
    if name.contains(',') { format!("\"{name}\"").into() } else { name.into() }
}

/// Parses rows in the form of [`csv`].
pub(crate) fn from_csv(text: &str) -> Result<Vec<Row>> {
    let row = |line| from_line(line).map_or_else(|| fail(format!("not a row: {line}")), Ok);
    text.lines().skip(1).map(row).collect()
}

/// The measured rows, and the rows of other groups from an earlier run.
pub(crate) fn with_kept(mut rows: Vec<Row>, kept: Vec<Row>) -> Vec<Row> {
    let is_measured = |group| rows.iter().any(|row| row.subject.group == group);
    let kept: Vec<Row> = kept.into_iter().filter(|row| !is_measured(row.subject.group)).collect();
    rows.extend(kept);
    rows
}

fn from_line(line: &str) -> Option<Row> {
    let [group, what, setting, case, threads, nbytes, ours, theirs, .., size] = &fields(line)[..]
    else {
        return None;
    };
    let subject = Subject {
        group: crate::group(group)?,
        // The few names live as long as the program.
        what: what.clone().leak(),
        setting: setting.clone(),
        case: case.clone(),
        threads: threads.parse().ok()?,
        nbytes: nbytes.parse().ok()?,
        size: size.parse().ok()?,
    };
    Some(Row { subject, times: Times { ours: ours.parse().ok()?, theirs: theirs.parse().ok()? } })
}

/// The fields of a line, without the quotes.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut is_quoted) = (vec![String::new()], false);
    for letter in line.chars() {
        match (letter, fields.last_mut()) {
            ('"', _) => is_quoted = !is_quoted,
            (',', _) if !is_quoted => fields.push(String::new()),
            (_, Some(last)) => last.push(letter),
            (_, None) => {}
        }
    }
    fields
}

/// A line for each group, operation, setting and number of threads: the geometric mean over its
/// cases, the slowest of them, and the largest size.
pub(crate) fn markdown(rows: &[Row]) -> String {
    let mut lines: BTreeMap<_, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        lines
            .entry((row.subject.group, row.subject.what, row.subject.threads, &row.subject.setting))
            .or_default()
            .push(row);
    }
    let mut text =
        "| group | what | setting | threads | cases | ours GB/s | theirs GB/s | times as fast | slowest case | \
                    largest size |\n|---|---|---|--:|--:|--:|--:|--:|---|--:|\n"
            .to_owned();
    for ((group, what, threads, setting), rows) in lines {
        let Some(worst) = rows.iter().min_by(|a, b| a.ratio().total_cmp(&b.ratio())) else {
            continue;
        };
        let size = rows.iter().map(|row| row.subject.size).fold(0.0, f64::max);
        let size = if size == 0.0 { String::new() } else { format!("{size:.3}") };
        let _ = writeln!(
            text,
            "| {group} | {what} | {setting} | {threads} | {} | {:.2} | {:.2} | **{:.2}** | {:.2} {} | {size} |",
            rows.len(),
            mean(rows.iter().map(|row| row.speed(row.times.ours))),
            mean(rows.iter().map(|row| row.speed(row.times.theirs))),
            mean(rows.iter().map(|row| row.ratio())),
            worst.ratio(),
            worst.subject.case,
        );
    }
    text
}

/// The geometric mean.
pub(crate) fn mean(all: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut n) = (0.0, 0.0);
    for one in all {
        sum += one.ln();
        n += 1.0;
    }
    f64::exp(sum / f64::max(n, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_that_were_measured_again_are_not_kept() {
        let row = |group, ours| Row {
            subject: Subject {
                group,
                what: "compress",
                setting: "lz4".into(),
                case: "a".into(),
                threads: 1,
                nbytes: 1,
                size: 1.0,
            },
            times: Times { ours, theirs: 1.0 },
        };
        let rows = with_kept(vec![row("chunks", 2.0)], vec![row("chunks", 4.0), row("small", 8.0)]);
        let found: Vec<_> = rows.iter().map(|row| (row.subject.group, row.times.ours)).collect();
        assert_eq!(found, [("chunks", 2.0), ("small", 8.0)]);
    }

    #[test]
    fn a_line_is_the_mean_of_its_cases_and_names_the_slowest() {
        let row = |case: &str, ours: f64| Row {
            subject: Subject {
                group: "chunks",
                what: "compress",
                setting: "lz4".into(),
                case: case.into(),
                threads: 1,
                nbytes: 1_000_000,
                size: 1.0,
            },
            times: Times { ours, theirs: 4e-3 },
        };
        let text = markdown(&[row("a", 1e-3), row("b", 4e-3)]);
        assert!(text.contains("| 2 | 0.50 | 0.25 | **2.00** | 1.00 b | 1.000 |"), "{text}");
        assert_eq!(
            csv(&[row("a, 4K", 1e-3)]).lines().nth(1),
            Some(
                "chunks,compress,lz4,\"a, 4K\",1,1000000,1.00000e-3,4.00000e-3,1.000,0.250,4.000,1.0000"
            )
        );
    }
}

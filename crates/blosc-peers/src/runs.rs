//! Several processes with the same measurement, and the median of each row.
//!
//! Memory positions and the state of the branch predictor differ between processes, not within one,
//! so only several of them show the speed of a single setting.

use std::{fs, path::PathBuf, process::Command};

use crate::{
    failure::{Result, fail},
    table::{self, Row},
};

/// Starts this program `runs` times with `args`, one after another, each with a separate folder
/// below `out`.
pub(crate) fn medians(runs: usize, args: &[String], out: &std::path::Path) -> Result<Vec<Row>> {
    let program = std::env::current_exe()?;
    let one = |run: usize| -> Result<Vec<Row>> {
        let folder: PathBuf = out.join(format!("run-{run}"));
        let status = Command::new(&program).args(args).arg("--out").arg(&folder).status()?;
        if !status.success() {
            return fail(format!("run {run} stopped: {status}"));
        }
        table::from_csv(&fs::read_to_string(folder.join("rows.csv"))?)
    };
    merge(&(1..=runs).map(one).collect::<Result<Vec<_>>>()?)
}

/// For each row, the run whose ratio is in the middle.
fn merge(runs: &[Vec<Row>]) -> Result<Vec<Row>> {
    let Some(first) = runs.first() else { return fail("no run") };
    if runs.iter().any(|run| run.len() != first.len()) {
        return fail("the runs have not measured the same");
    }
    let median = |nth: usize| {
        let mut all: Vec<&Row> = runs.iter().map(|run| &run[nth]).collect();
        if all.iter().any(|row| row.subject.name() != all[0].subject.name()) {
            return fail(format!("row {nth} of the runs is not the same"));
        }
        all.sort_by(|a, b| a.ratio().total_cmp(&b.ratio()));
        Ok(all[all.len() / 2].clone())
    };
    (0..first.len()).map(median).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{clock::Times, table::Subject};

    fn row(case: &str, theirs: f64) -> Row {
        let (setting, case) = ("lz4, shuffle".to_owned(), case.to_owned());
        let subject = Subject {
            group: "chunks",
            what: "compress",
            setting,
            case,
            threads: 2,
            nbytes: 9,
            size: 0.5,
        };
        Row { subject, times: Times { ours: 2.0, theirs } }
    }

    #[test]
    fn the_run_in_the_middle_counts_for_each_row() {
        let runs =
            [[1.0, 9.0], [3.0, 5.0], [2.0, 7.0]].map(|[a, b]| vec![row("a", a), row("b", b)]);
        let ratios: Vec<_> =
            merge(&runs).unwrap().iter().map(|row| row.times.theirs.to_bits()).collect();
        assert_eq!(ratios, [2.0_f64, 7.0].map(f64::to_bits));
    }

    #[test]
    fn runs_of_other_rows_are_refused() {
        assert!(merge(&[vec![row("a", 1.0)], vec![row("b", 1.0)]]).is_err());
        assert!(merge(&[vec![row("a", 1.0)], Vec::new()]).is_err());
        assert!(merge(&[]).is_err());
    }

    #[test]
    fn rows_are_read_as_they_were_written() {
        let text = table::csv(&[row("a, 4K", 1.0), row("b", 3.0)]);
        let rows = table::from_csv(&text).unwrap();
        assert_eq!(table::csv(&rows), text);
        assert!(table::from_csv(&text.replace("chunks", "nothing")).is_err());
        assert!(table::from_csv(&text.replace(",9,", ",nine,")).is_err());
    }
}

//! The exit codes of commands, by format and by command.

use core::{fmt, time::Duration};
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Exit codes from 0 to 6, and any other.
const NCODES: usize = 8;

/// The findings of one process, or of all.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Tally {
    /// Files of each format.
    nfiles: BTreeMap<String, u64>,
    formats: BTreeMap<String, [u64; NCODES]>,
    commands: BTreeMap<String, [u64; NCODES]>,
    /// Combinations of a format and a command, with the number of runs.
    pairs: BTreeMap<String, u64>,
    /// The most memory beyond that of the program and the samples.
    pub(super) peak_nbytes: u64,
    slowest: Duration,
    slowest_line: String,
}

impl Tally {
    pub(super) fn count_file(&mut self, format: &str) {
        *self.nfiles.entry(format.to_owned()).or_default() += 1;
    }

    pub(super) fn count_run(
        &mut self,
        format: &str,
        command: &str,
        code: u8,
        elapsed: Duration,
        line: impl fmt::Display,
    ) {
        let code = usize::from(code).min(NCODES - 1);
        self.formats.entry(format.to_owned()).or_default()[code] += 1;
        self.commands.entry(command.to_owned()).or_default()[code] += 1;
        *self.pairs.entry(format!("{format} {command}")).or_default() += 1;
        if elapsed > self.slowest {
            self.slowest = elapsed;
            self.slowest_line = format!("{format}: {line}");
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        for (format, nfiles) in other.nfiles {
            *self.nfiles.entry(format).or_default() += nfiles;
        }
        for (pair, nruns) in other.pairs {
            *self.pairs.entry(pair).or_default() += nruns;
        }
        add_codes(&mut self.formats, other.formats);
        add_codes(&mut self.commands, other.commands);
        self.peak_nbytes = self.peak_nbytes.max(other.peak_nbytes);
        if other.slowest > self.slowest {
            (self.slowest, self.slowest_line) = (other.slowest, other.slowest_line);
        }
    }
}

fn add_codes(sum: &mut BTreeMap<String, [u64; NCODES]>, other: BTreeMap<String, [u64; NCODES]>) {
    for (name, codes) in other {
        let into = sum.entry(name).or_default();
        into.iter_mut().zip(codes).for_each(|(sum, count)| *sum += count);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = "done  data usage system foreign limit locked other";
        writeln!(f, "{:<16} {:>9} {:>9}  exit codes: {columns}", "format", "files", "runs")?;
        for (format, codes) in &self.formats {
            let nfiles = self.nfiles.get(format).copied().unwrap_or_default();
            writeln!(f, "{format:<16} {nfiles:>9} {}", Codes(codes))?;
        }
        writeln!(f, "{:<26} {:>9}", "command", "runs")?;
        for (command, codes) in &self.commands {
            writeln!(f, "{command:<26} {}", Codes(codes))?;
        }
        let nfiles: u64 = self.nfiles.values().sum();
        let nruns: u64 = self.pairs.values().sum();
        writeln!(
            f,
            "{nfiles} damaged files, {nruns} runs of {} combinations of a format and a command: no \
             panic, at most {} MiB of memory; the slowest took {:.1} s: {}",
            self.pairs.len(),
            self.peak_nbytes.div_ceil(1 << 20),
            self.slowest.as_secs_f64(),
            self.slowest_line
        )
    }
}

/// The number of runs, and of runs with each code.
struct Codes<'a>(&'a [u64; NCODES]);

impl fmt::Display for Codes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>9}  ", self.0.iter().sum::<u64>())?;
        self.0.iter().try_for_each(|count| write!(f, "{count:>9}"))
    }
}

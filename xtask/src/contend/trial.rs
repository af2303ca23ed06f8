//! One file, the programs that change it at once, and the result.

use core::{fmt, time::Duration};
use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread::{self, JoinHandle},
};

use blosc_testdata::data::XorShift32;

use super::{
    Counts, GROUP_LEN, LOCKING,
    container::{Container, RECORD_NBYTES},
};
use crate::{
    failure::{Context, Result},
    script::Script,
};

/// Longer than any trial takes, even on a busy machine (s).
const LOCK_TIMEOUT: &str = "600";
/// The longest pause between two starts: about what one change takes (us).
const MAX_PAUSE_MICROS: u64 = 4000;

/// The programs that start at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Two appends.
    Appends,
    /// An append and a change of metadata.
    AppendAndMeta,
    /// Eight appends.
    Group,
    /// An append of python-blosc2 and one of `b2`.
    PythonPair,
    /// Four of each.
    PythonGroup,
}

impl Kind {
    /// The kinds of programs that can change a container.
    pub(super) fn list_for(container: &Container) -> &'static [Self] {
        match container.is_for_python {
            true => &[Self::PythonPair, Self::PythonGroup],
            false => &[Self::Appends, Self::AppendAndMeta, Self::Group],
        }
    }

    pub(super) fn is_group(self) -> bool {
        matches!(self, Self::Group | Self::PythonGroup)
    }

    pub(super) fn slug(self) -> &'static str {
        match self {
            Self::Appends => "appends",
            Self::AppendAndMeta => "append-and-meta",
            Self::Group => "group",
            Self::PythonPair => "python-pair",
            Self::PythonGroup => "python-group",
        }
    }

    /// The number of programs that append; their marks are 1 and up.
    fn nappends(self) -> usize {
        match self {
            Self::Appends | Self::PythonPair => 2,
            Self::AppendAndMeta => 1,
            Self::Group | Self::PythonGroup => GROUP_LEN,
        }
    }

    /// The number of them that are python-blosc2.
    pub(super) fn npython(self) -> usize {
        match self {
            Self::PythonPair => 1,
            Self::PythonGroup => GROUP_LEN / 2,
            _ => 0,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Appends => "pairs of appends",
            Self::AppendAndMeta => "pairs of append and meta set",
            Self::Group => "groups of eight",
            Self::PythonPair => "pairs with python-blosc2",
            Self::PythonGroup => "groups of four and four of python-blosc2",
        })
    }
}

pub(super) struct Trial<'a> {
    pub(super) b2: &'a Path,
    pub(super) writers: &'a [Script],
    pub(super) folder: &'a Path,
    pub(super) container: &'a Container,
    pub(super) kind: Kind,
    pub(super) seed: u64,
    pub(super) number: u64,
}

/// The task of a program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Append(usize),
    /// An append by python-blosc2.
    PythonAppend(usize),
    Meta,
    Cat,
    Verify,
}

impl Trial<'_> {
    /// Runs the trial; returns the failures, and the error messages of the programs.
    pub(super) fn run(&self) -> Result<(Counts, String)> {
        let target = self.container.copy(self.folder)?;
        let mut draw = XorShift32::new(self.draw_seed());
        let mut programs = Vec::new();
        for role in self.roles(&mut draw) {
            // Half of the programs start without a pause.
            if draw.below(2) == 0 {
                thread::sleep(Duration::from_micros(draw.below(MAX_PAUSE_MICROS)));
            }
            programs.push((role, self.start_thread(role, &target)?));
        }
        let mut report = Report::default();
        for (role, thread) in programs {
            match thread.join() {
                Ok(Done::Program(output)) => self.judge(role, &output?, &mut report),
                Ok(Done::Python(Ok(()))) => {}
                Ok(Done::Python(Err(said))) => {
                    report.counts.failed_writers += 1;
                    report.said += &said;
                }
                Err(_) => report.counts.failed_writers += 1,
            }
        }
        self.check_what_is_left(&target, &mut report)?;
        Ok((report.counts, report.said))
    }

    fn draw_seed(&self) -> u32 {
        let mut mixed = self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ self.number;
        for byte in self.container.name.bytes().chain(self.kind.slug().bytes()) {
            mixed = (mixed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
        let [.., a, b, c, d] = (mixed ^ mixed >> 29).to_le_bytes();
        u32::from_le_bytes([a, b, c, d])
    }

    /// The programs in the order in which they start.
    fn roles(&self, draw: &mut XorShift32) -> Vec<Role> {
        let npython = self.kind.npython();
        let mut roles: Vec<Role> = (1..=npython).map(Role::PythonAppend).collect();
        roles.extend((npython + 1..=self.kind.nappends()).map(Role::Append));
        if self.kind == Kind::AppendAndMeta {
            roles.push(Role::Meta);
        }
        roles.push(if draw.below(2) == 0 { Role::Cat } else { Role::Verify });
        for last in (1..roles.len()).rev() {
            let other = usize::try_from(draw.below(last as u64 + 1)).unwrap_or(last);
            roles.swap(last, other);
        }
        roles
    }

    /// Starts a program, and a thread that reads all of its output: with a full pipe it would keep
    /// its lock.
    fn start_thread(&self, role: Role, target: &Path) -> Result<JoinHandle<Done>> {
        if let Role::PythonAppend(mark) = role
            && let Some(writer) = self.writers.get(mark - 1).cloned()
        {
            let (target, input) = (target.to_owned(), self.container.input(self.folder, mark));
            let append = move || writer.ask(target.display(), input.display()).map(drop);
            return Ok(thread::spawn(move || Done::Python(append())));
        }
        let child = self.start(role, target)?;
        Ok(thread::spawn(|| Done::Program(child.wait_with_output())))
    }

    fn start(&self, role: Role, target: &Path) -> Result<Child> {
        let mut b2 = Command::new(self.b2);
        if self.kind.npython() > 0 {
            b2.env(LOCKING.0, LOCKING.1);
        }
        match role {
            Role::Append(mark) | Role::PythonAppend(mark) => {
                let input: PathBuf = self.container.input(self.folder, mark);
                b2.args(["append", "-q", "--lock-timeout", LOCK_TIMEOUT]);
                b2.arg(self.container.target(target)).arg(input)
            }
            Role::Meta => {
                b2.args(["meta", "set", "-q", "--lock-timeout", LOCK_TIMEOUT]);
                b2.arg(self.container.target(target));
                b2.arg(format!("mark={}", self.number))
            }
            Role::Cat => b2.arg("cat").arg(self.container.target(target)),
            Role::Verify => b2.args(["verify", "-q"]).arg(target),
        };
        b2.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        b2.spawn().at(self.b2.display())
    }

    fn judge(&self, role: Role, output: &Output, report: &mut Report) {
        let is_ok = output.status.success();
        let counts = &mut report.counts;
        match role {
            Role::Append(_) | Role::PythonAppend(_) | Role::Meta => {
                counts.failed_writers += u64::from(!is_ok)
            }
            Role::Verify => {
                counts.nreaders += 1;
                counts.failed_readers += u64::from(!is_ok);
            }
            Role::Cat => {
                counts.nreaders += 1;
                let is_a_state = self.marks(&output.stdout).is_some();
                counts.failed_readers += u64::from(!is_ok || !is_a_state);
            }
        }
        if !is_ok {
            report.hear(output);
        }
    }

    fn check_what_is_left(&self, target: &Path, report: &mut Report) -> Result<()> {
        let verified = self.start(Role::Verify, target)?.wait_with_output()?;
        let content = self.start(Role::Cat, target)?.wait_with_output()?;
        let marks = self.marks(&content.stdout).filter(|_| content.status.success());
        let counts = &mut report.counts;
        counts.damaged += u64::from(!verified.status.success() || marks.is_none());
        let marks = marks.unwrap_or_default();
        let nvalues = if self.container.key.is_empty() { 0 } else { self.kind.npython() };
        for mark in nvalues + 1..=self.kind.nappends() {
            let times = marks.iter().filter(|found| **found == mark).count();
            counts.lost += u64::from(times != 1);
        }
        for mark in 1..=nvalues {
            let mut b2 = Command::new(self.b2);
            let output = b2.arg("cat").arg(format!("{}::/{mark}", target.display())).output()?;
            counts.lost += u64::from(output.stdout != self.container.record(mark));
        }
        if self.kind == Kind::AppendAndMeta {
            let mut b2 = Command::new(self.b2);
            let target = self.container.target(target);
            let output = b2.args(["meta", "get"]).arg(target).arg("mark").output()?;
            let value = String::from_utf8_lossy(&output.stdout);
            counts.lost += u64::from(value.trim() != self.number.to_string());
        }
        for output in [&verified, &content].into_iter().filter(|output| !output.status.success()) {
            report.hear(output);
        }
        Ok(())
    }

    /// The marks after the base, in their order; `None` if other bytes are found.
    fn marks(&self, content: &[u8]) -> Option<Vec<usize>> {
        let added = content.strip_prefix(self.container.base().as_slice())?;
        let marks = added.chunks(RECORD_NBYTES).map(|record| {
            (1..=self.kind.nappends()).find(|mark| self.container.record(*mark) == record)
        });
        marks.collect()
    }
}

/// The end of a program.
enum Done {
    Program(std::io::Result<Output>),
    Python(core::result::Result<(), String>),
}

#[derive(Default)]
struct Report {
    counts: Counts,
    /// Standard error of the programs that failed.
    said: String,
}

impl Report {
    fn hear(&mut self, output: &Output) {
        self.said += &String::from_utf8_lossy(&output.stderr);
        self.said += &String::from_utf8_lossy(&output.stdout[..output.stdout.len().min(300)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contend::container::CONTAINERS;

    fn trial(container: &Container, kind: Kind, number: u64) -> Trial<'_> {
        let nowhere = Path::new("");
        Trial { b2: nowhere, writers: &[], folder: nowhere, container, kind, seed: 1, number }
    }

    #[test]
    fn marks_are_whole_records_after_the_base() {
        for container in CONTAINERS {
            let trial = trial(container, Kind::Appends, 0);
            let state = |marks: &[usize]| {
                let records = marks.iter().flat_map(|mark| container.record(*mark));
                container.base().into_iter().chain(records).collect::<Vec<u8>>()
            };
            assert_eq!(trial.marks(&state(&[2, 1])), Some(vec![2, 1]));
            assert_eq!(trial.marks(&state(&[])), Some(vec![]));
            assert_eq!(trial.marks(&state(&[3])), None);
            let torn = state(&[1]);
            assert_eq!(trial.marks(&torn[..torn.len() - 1]), None);
            assert_eq!(trial.marks(&torn[1..]), None);
        }
    }

    #[test]
    fn the_order_of_starts_repeats_and_differs() {
        let container = &CONTAINERS[0];
        let first_of = |number| {
            let trial = trial(container, Kind::Appends, number);
            trial.roles(&mut XorShift32::new(trial.draw_seed()))[0]
        };
        let first: Vec<Role> = (0..50).map(first_of).collect();
        assert!(first == (0..50).map(first_of).collect::<Vec<_>>());
        for role in [Role::Append(1), Role::Append(2), Role::Cat, Role::Verify] {
            assert!(first.contains(&role));
        }
    }
}

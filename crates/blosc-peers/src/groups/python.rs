//! Programs of Python with the reference, in a separate process that measures itself.

use core::time::Duration;
use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Instant,
};

use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;

use super::{Bench, Subject};
use crate::{
    clock::{Times, best_quarter},
    failure::{Result, fail},
};

/// Measures both in turns. Their results must be equal, and both start with filled caches.
///
/// Each operation has two rows: by the wall clock, and by the processor time of all threads, which
/// says more if other programs keep the machine busy.
pub(super) fn compare(
    bench: &mut Bench,
    subject: Subject,
    python: &mut Python,
    (case, request): (&str, Value),
    ours: &mut dyn FnMut() -> Result<Value>,
) -> Result<()> {
    let (expected, found) = (python.ask(case, request.clone())?.result, ours()?);
    if !are_same(&expected, &found) {
        return fail(format!("{} {}: {expected} there, {found} here", subject.what, subject.case));
    }
    let mut all: [Vec<f64>; 4] = Default::default();
    let start = Instant::now();
    for round in 0..bench.effort.rounds {
        if round >= LEAST_ROUNDS && start.elapsed() > MOST_TIME {
            break;
        }
        let answer = python.ask(case, request.clone())?;
        let (start, processor) = (Instant::now(), processors());
        ours()?;
        let here = [start.elapsed().as_secs_f64(), processors() - processor];
        let both = [here[0], answer.seconds, here[1], answer.processor];
        all.iter_mut().zip(both).for_each(|(all, seconds)| all.push(seconds));
    }
    let [ours, theirs, our_processors, their_processors] =
        all.each_mut().map(|all| best_quarter(all));
    let setting = format!("{}, processor time", subject.setting);
    bench.keep(subject.clone(), Times { ours, theirs });
    bench.keep(
        Subject { setting, ..subject },
        Times { ours: our_processors, theirs: their_processors },
    );
    Ok(())
}

/// Work that takes minutes is repeated fewer times.
const LEAST_ROUNDS: usize = 3;
const MOST_TIME: Duration = Duration::from_secs(20);

/// The sum of floats depends on their order.
fn are_same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => (a - b).abs() <= a.abs() * 1e-9,
        _ => a == b,
    }
}

/// Processor time of all threads (seconds).
#[expect(clippy::cast_precision_loss, reason = "a benchmark does not run for years")]
fn processors() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// The reference: reads requests line by line and answers each.
pub(super) struct Python {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// Its result, and its time: by the wall clock, and of its processors.
pub(super) struct Answer {
    seconds: f64,
    processor: f64,
    pub(super) result: Value,
}

impl Python {
    /// Runs a script of `xtask/python`.
    pub(super) fn start(bench: &Bench, script: &str) -> Result<Self> {
        let script = bench.root.join("xtask/python").join(script);
        let mut command = Command::new(&bench.python);
        let mut process =
            command.arg("-B").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(requests), Some(answers)) = (process.stdin.take(), process.stdout.take()) else {
            return fail("no pipes");
        };
        Ok(Self { process, requests, answers: BufReader::new(answers) })
    }

    pub(super) fn ask(&mut self, case: &str, mut request: Value) -> Result<Answer> {
        request["case"] = case.into();
        writeln!(self.requests, "{request}")?;
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            return fail(format!("{case}: Python ended"));
        }
        let mut answer: Value = serde_json::from_str(&line)?;
        let number = |name| answer[name].as_f64().unwrap_or(0.0);
        let (seconds, processor) = (number("seconds"), number("processor"));
        Ok(Answer { seconds, processor, result: answer["result"].take() })
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        // The process ends with its input in any case.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_differ_in_their_last_digits() {
        assert!(are_same(&1e9.into(), &(1e9 + 0.5).into()));
        assert!(!are_same(&1e9.into(), &(1e9 + 5.0).into()));
        assert!(are_same(&"a".into(), &"a".into()));
        assert!(!are_same(&"a".into(), &1.into()));
    }
}

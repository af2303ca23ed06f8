//! The times of two sides, measured in turns.
//!
//! The speed of a shared machine varies by a third within an hour, but the ratio of two sides that
//! take turns by a few percent. One thread is measured by its own processor time, and the median of
//! the rounds counts. Several threads are measured by the wall clock, and the mean of the best
//! quarter counts, as other processes can only add time.

use core::time::Duration;
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

use crate::failure::Result;

/// The duration and number of rounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Odd, so that the median is a measured one.
    pub(crate) rounds: usize,
    /// The least time of one side in one round.
    pub(crate) least: Duration,
    /// The most time of all rounds together, unless three rounds take longer.
    pub(crate) most: Duration,
    /// Whether the reference is measured against itself: the machine then causes any difference
    /// from 1.
    pub(crate) is_control: bool,
}

impl Effort {
    /// Rounds of this many seconds each, of both sides: an odd number.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to what fits"
    )]
    fn rounds_of(self, seconds: f64) -> usize {
        let fit = (self.most.as_secs_f64() / seconds.max(1e-9)).clamp(3.0, 1e6) as usize;
        self.rounds.min((fit - 1) | 1)
    }
}

/// Seconds for one call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) ours: f64,
    pub(crate) theirs: f64,
}

/// A function to measure.
pub(crate) type Work<'a> = &'a mut dyn FnMut() -> Result<()>;

/// Runs both in turns; the slower one fills `least` with its calls, the other makes as many.
pub(crate) fn compare(
    effort: Effort,
    threads: u16,
    ours: Work<'_>,
    theirs: Work<'_>,
) -> Result<Times> {
    let clock = if threads > 1 { wall } else { processor };
    ours()?;
    theirs()?;
    let once = seconds(clock, 1, ours)?.max(seconds(clock, 1, theirs)?);
    let calls = calls(effort.least, once);
    let rounds = effort.rounds_of(2.0 * once * f64::from(calls));
    let (mut ours_all, mut theirs_all) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let mut sides = [(&mut ours_all, !effort.is_control), (&mut theirs_all, false)];
        if round % 2 == 1 {
            sides.reverse();
        }
        for (all, is_ours) in sides {
            all.push(seconds(clock, calls, if is_ours { &mut *ours } else { &mut *theirs })?);
        }
    }
    let average = if threads > 1 { best_quarter } else { median };
    Ok(Times { ours: average(&mut ours_all), theirs: average(&mut theirs_all) })
}

/// Seconds of one call, measured over `calls` calls.
fn seconds(clock: fn() -> f64, calls: u32, work: Work<'_>) -> Result<f64> {
    let start = clock();
    for _ in 0..calls {
        work()?;
    }
    Ok((clock() - start) / f64::from(calls))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to what fits")]
fn calls(least: Duration, once: f64) -> u32 {
    (least.as_secs_f64() / once.max(1e-9)).ceil().clamp(1.0, 1e6) as u32
}

fn median(all: &mut [f64]) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

pub(crate) fn best_quarter(all: &mut [f64]) -> f64 {
    all.sort_by(f64::total_cmp);
    let best = &all[..all.len().div_ceil(4)];
    best.iter().sum::<f64>() / best.iter().map(|_| 1.0).sum::<f64>()
}

/// Processor time of this thread.
#[expect(clippy::cast_precision_loss, reason = "a benchmark does not run for years")]
pub(crate) fn processor() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn wall() -> f64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_that_does_twice_as_much_takes_longer() {
        let spin = |n: u64| (0..n).fold(0, |sum, i| core::hint::black_box(sum ^ i));
        let effort = Effort {
            rounds: 5,
            least: Duration::from_millis(5),
            most: Duration::MAX,
            is_control: false,
        };
        let mut ours = || {
            spin(100_000);
            Ok(())
        };
        let mut theirs = || {
            spin(400_000);
            Ok(())
        };
        // Other load of the machine spoils one comparison, not most of them.
        let mut ratio = |effort| {
            let mut ratios = [0.0; 7].map(|_: f64| {
                let times = compare(effort, 1, &mut ours, &mut theirs).unwrap();
                times.theirs / times.ours
            });
            median(&mut ratios)
        };
        let (measured, control) = (ratio(effort), ratio(Effort { is_control: true, ..effort }));
        assert!(measured > 2.0, "{measured}");
        assert!(control < 2.0, "{control}");
    }

    #[test]
    fn long_rounds_are_fewer() {
        let (least, most) = (Duration::ZERO, Duration::from_secs(4));
        let effort = Effort { rounds: 9, least, most, is_control: false };
        assert_eq!(
            [0.1, 0.5, 0.8, 1.0, 50.0].map(|seconds| effort.rounds_of(seconds)),
            [9, 7, 5, 3, 3]
        );
    }

    #[test]
    fn averages() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]).to_bits(), 2.0_f64.to_bits());
        assert_eq!(best_quarter(&mut [5.0, 1.0, 3.0, 9.0, 8.0]).to_bits(), 2.0_f64.to_bits());
    }
}

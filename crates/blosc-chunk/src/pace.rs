//! How many threads work on a chunk, by how long the last ones took.
//!
//! To wake a thread takes some 10 us, as long as LZ4 takes for 100 KiB of one kind of data and for
//! 3 KiB of another. So what decodes or compresses one chunk after another measures with one thread
//! and with several, and goes on with what is faster.

use std::time::Instant;

use crate::params::jobs_of_length;

/// What is known of one thread and of several.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    one: Known,
    several: Known,
    /// Chunks since one of both was last forgotten.
    age: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// Seconds a byte, once there was a chunk.
    pace: Option<f64>,
    /// Chunks, up to [`TRIES`].
    tries: u32,
}

/// Work that is worth a thread of its own (seconds).
const WORTH: f64 = 30e-6;
/// If several threads take longer, one alone is not tried: it would hardly be faster (seconds).
const TRIAL: f64 = 400e-6;
/// Chunks of which the fastest counts at first: for the first one, threads must be woken and caches
/// filled, for those behind it they are awake and full.
const TRIES: u32 = 4;
/// After so many chunks the slower of both is tried again, as data change.
const LASTS: u32 = 100;
/// Chunks that take less than the clock is worth (bytes).
const SHORT: usize = 128 << 10;

impl Pace {
    /// Does the work on `nbytes` of data by one of up to `most` jobs at a time; as long as nothing
    /// is known, by as many as have `least` bytes each.
    #[inline]
    pub(crate) fn run<T>(
        &mut self,
        most: usize,
        nbytes: usize,
        least: usize,
        work: impl FnOnce(usize) -> T,
    ) -> T {
        let by_length = jobs_of_length(most, nbytes, least);
        // Tests have little data, and shall have threads.
        if most <= 1 || nbytes < SHORT || cfg!(debug_assertions) || !cfg!(feature = "rayon") {
            return work(by_length);
        }
        let jobs = self.jobs(most, by_length, nbytes);
        let start = Instant::now();
        let result = work(jobs);
        self.learn(jobs, nbytes, start.elapsed().as_secs_f64());
        result
    }

    fn jobs(&self, most: usize, by_length: usize, nbytes: usize) -> usize {
        let seconds = |pace: f64| pace * nbytes as f64;
        let in_trial = |known: Known| known.tries < TRIES;
        match (self.one.pace, self.several.pace) {
            (None, None) => by_length,
            (None, Some(several)) if seconds(several) < TRIAL => 1,
            (None, Some(_)) => by_length.max(2),
            (Some(_), Some(_)) if in_trial(self.one) => 1,
            (Some(one), Some(several)) if several >= one && !in_trial(self.several) => 1,
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "cut to `most`"
            )]
            (Some(one), _) => ((seconds(one) / WORTH).round() as usize).clamp(1, most),
        }
    }

    fn learn(&mut self, jobs: usize, nbytes: usize, seconds: f64) {
        let (used, other) = if jobs == 1 {
            (&mut self.one, &mut self.several)
        } else {
            (&mut self.several, &mut self.one)
        };
        used.learn(seconds / nbytes as f64);
        self.age += 1;
        if self.age >= LASTS {
            (*other, self.age) = (Known::default(), 0);
        }
    }
}

impl Known {
    fn learn(&mut self, pace: f64) {
        self.pace = Some(match self.pace {
            None => pace,
            Some(before) if self.tries < TRIES => before.min(pace),
            // A thread that was held up does not count for more than it must.
            Some(before) => before.midpoint(pace.min(4.0 * before)),
        });
        self.tries = TRIES.min(self.tries + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chunks of this length, of which one thread and several take so many us; the jobs of each.
    fn jobs(nchunks: usize, most: usize, [one, several]: [f64; 2]) -> Vec<usize> {
        let mut pace = Pace::default();
        let nbytes = 1 << 19;
        let next = |_| {
            let jobs = pace.jobs(most, 2, nbytes);
            pace.learn(jobs, nbytes, 1e-6 * if jobs == 1 { one } else { several });
            jobs
        };
        (0..nchunks).map(next).collect()
    }

    #[test]
    fn what_is_faster_is_gone_on_with() {
        assert_eq!(jobs(10, 2, [150.0, 170.0]), [2, 1, 1, 1, 1, 2, 2, 2, 1, 1]);
        assert_eq!(jobs(8, 2, [150.0, 90.0]), [2, 1, 1, 1, 1, 2, 2, 2]);
        // More threads than two if there is enough to do.
        assert_eq!(jobs(8, 8, [150.0, 40.0]), [2, 1, 1, 1, 1, 5, 5, 5]);
        // One is not tried where it is hopeless.
        assert_eq!(jobs(6, 4, [2000.0, 900.0]), [2; 6]);
        // Several are not tried where that is.
        assert_eq!(jobs(6, 2, [20.0, 50.0]), [2, 1, 1, 1, 1, 1]);
    }

    #[test]
    fn what_was_slower_is_tried_again() {
        let slower = jobs(200, 2, [150.0, 170.0]).into_iter().filter(|jobs| *jobs == 2).count();
        assert_eq!(slower, 8);
    }
}

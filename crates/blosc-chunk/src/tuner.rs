//! Chooses the number of threads for a chunk, by the duration of the last chunks.
//!
//! Waking a thread takes some 10 us, as long as LZ4 takes for 100 KiB of one kind of data and for 3
//! KiB of another. So an encoder or decoder of successive chunks measures chunks with one thread
//! and with several, and continues with the faster number. See `docs/performance/chunk.md`.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "counts chunks and seconds"
)]

use std::time::Instant;

use crate::jobs::jobs_for_nbytes;

/// The measured speed of one thread and of several.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ThreadTuner {
    single: Measured,
    several: Measured,
    /// Number of chunks since one of both was last forgotten.
    age: u32,
    /// Number of times that one was forgotten, up to [`EARLY_TRIALS`].
    ntrials: u32,
    /// Whether all threads are used, regardless of measurements.
    is_fixed: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    /// Seconds per byte, after the first chunk.
    seconds_per_byte: Option<f64>,
    /// Number of chunks, up to [`TRIAL_CHUNKS`].
    nchunks: u32,
}

/// Work that justifies a separate thread (seconds).
const MIN_JOB_SECONDS: f64 = 30e-6;
/// If several threads take longer, one alone is not tried: it could hardly be faster (seconds).
const MAX_SINGLE_TRIAL_SECONDS: f64 = 400e-6;
/// Number of first chunks; the fastest of them counts. The first chunk has to wake threads and fill
/// caches, the next ones do not.
const TRIAL_CHUNKS: u32 = 4;
/// After this number of chunks the slower way is tried again, since data change.
const MAX_AGE_CHUNKS: u32 = 100;
/// Number of early trials, the first after a quarter of these chunks: measurements while threads
/// started and caches filled may be wrong.
const EARLY_TRIALS: u32 = 2;
/// Shortest chunk that the clock can measure (bytes).
const MIN_MEASURED_NBYTES: usize = 128 << 10;

impl ThreadTuner {
    /// Always uses as many threads as the parameters and the chunk allow: for tests, so that little
    /// data suffice.
    pub(crate) fn use_all_threads(&mut self) {
        self.is_fixed = true;
    }

    /// Does the work on `nbytes` of data with one of up to `max_jobs` jobs at a time; as long as
    /// nothing was measured, each job gets at least `min_job_nbytes`.
    #[inline]
    pub(crate) fn run<T>(
        &mut self,
        max_jobs: usize,
        nbytes: usize,
        min_job_nbytes: usize,
        work: impl FnOnce(usize) -> T,
    ) -> T {
        if self.is_fixed {
            return work(max_jobs);
        }
        let by_length = jobs_for_nbytes(max_jobs, nbytes, min_job_nbytes);
        if max_jobs <= 1 || nbytes < MIN_MEASURED_NBYTES {
            return work(by_length);
        }
        let jobs = self.jobs(max_jobs, by_length, nbytes);
        let start = Instant::now();
        let result = work(jobs);
        self.learn(jobs, nbytes, start.elapsed().as_secs_f64());
        result
    }

    fn jobs(&self, max_jobs: usize, by_length: usize, nbytes: usize) -> usize {
        let seconds = |seconds_per_byte: f64| seconds_per_byte * nbytes as f64;
        let in_trial = |measured: Measured| measured.nchunks < TRIAL_CHUNKS;
        match (self.single.seconds_per_byte, self.several.seconds_per_byte) {
            (None, None) => by_length,
            (None, Some(several)) if seconds(several) < MAX_SINGLE_TRIAL_SECONDS => 1,
            (None, Some(_)) => by_length.max(2),
            (Some(_), Some(_)) if in_trial(self.single) => 1,
            (Some(single), Some(several)) if several >= single && !in_trial(self.several) => 1,
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "cut to `max_jobs`"
            )]
            (Some(single), _) => {
                ((seconds(single) / MIN_JOB_SECONDS).round() as usize).clamp(1, max_jobs)
            }
        }
    }

    fn learn(&mut self, jobs: usize, nbytes: usize, seconds: f64) {
        let (used, other) = if jobs == 1 {
            (&mut self.single, &mut self.several)
        } else {
            (&mut self.several, &mut self.single)
        };
        used.learn(seconds / nbytes as f64);
        self.age += 1;
        if self.age >= MAX_AGE_CHUNKS >> (EARLY_TRIALS - self.ntrials) {
            (*other, self.age) = (Measured::default(), 0);
            self.ntrials = EARLY_TRIALS.min(self.ntrials + 1);
        }
    }
}

impl Measured {
    fn learn(&mut self, seconds_per_byte: f64) {
        self.seconds_per_byte = Some(match self.seconds_per_byte {
            None => seconds_per_byte,
            Some(before) if self.nchunks < TRIAL_CHUNKS => before.min(seconds_per_byte),
            // A delayed thread counts at most four times the usual time.
            Some(before) => before.midpoint(seconds_per_byte.min(4.0 * before)),
        });
        self.nchunks = TRIAL_CHUNKS.min(self.nchunks + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NBYTES: usize = 1 << 19;

    /// The number of jobs of each of `nchunks` chunks, if one thread and several take these times
    /// (us).
    fn jobs(nchunks: usize, max_jobs: usize, [single, several]: [f64; 2]) -> Vec<usize> {
        let mut tuner = ThreadTuner::default();
        let next = |_| {
            let jobs = tuner.jobs(max_jobs, 2, NBYTES);
            tuner.learn(jobs, NBYTES, 1e-6 * if jobs == 1 { single } else { several });
            jobs
        };
        (0..nchunks).map(next).collect()
    }

    #[test]
    fn the_faster_number_of_threads_is_kept() {
        assert_eq!(jobs(10, 2, [150.0, 170.0]), [2, 1, 1, 1, 1, 2, 2, 2, 1, 1]);
        assert_eq!(jobs(8, 2, [150.0, 90.0]), [2, 1, 1, 1, 1, 2, 2, 2]);
        // More than two threads if there is enough work.
        assert_eq!(jobs(8, 8, [150.0, 40.0]), [2, 1, 1, 1, 1, 5, 5, 5]);
        // One thread is not tried for long chunks.
        assert_eq!(jobs(6, 4, [2000.0, 900.0]), [2; 6]);
        // Several threads are not tried for short ones.
        assert_eq!(jobs(6, 2, [20.0, 50.0]), [2, 1, 1, 1, 1, 1]);
    }

    #[test]
    fn the_slower_number_of_threads_is_tried_again() {
        let jobs = jobs(400, 2, [150.0, 170.0]);
        let slower: Vec<_> =
            (0..).zip(jobs).filter(|(_, jobs)| *jobs == 2).map(|(n, _)| n).collect();
        // The first chunk, then after 25, 50, 100 and 100 chunks.
        let expected = [0, 5, 6, 7, 25, 26, 27, 28, 75, 76, 77, 78, 175, 176, 177, 178];
        assert_eq!(slower[..16], expected);
        assert_eq!(slower[16..], [275, 276, 277, 278, 375, 376, 377, 378]);
    }

    #[test]
    fn short_chunks_go_by_their_length() {
        let mut tuner = ThreadTuner::default();
        assert_eq!(tuner.run(4, 1000, 400, |jobs| jobs), 2);
        assert_eq!(tuner.run(1, NBYTES, 1, |jobs| jobs), 1);
        assert_eq!((tuner.single.nchunks, tuner.several.nchunks), (0, 0));
        assert_eq!(tuner.run(4, NBYTES, NBYTES / 3, |jobs| jobs), 3);
        assert_eq!((tuner.single.nchunks, tuner.several.nchunks), (0, 1));
        tuner.use_all_threads();
        assert_eq!(tuner.run(4, 1000, 400, |jobs| jobs), 4);
    }
}

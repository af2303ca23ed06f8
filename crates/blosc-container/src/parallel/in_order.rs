//! Results in the order of the jobs, in bounded memory, with all input and output in the caller's
//! thread.
//!
//! ```text
//!   next() --job--> [ worker | worker | worker ] --result--> done()
//!   caller's thread                                      caller's thread, in the order of the jobs
//! ```
//!
//! The workers only compute, so the caller's source and sink need no locks. The caller is a worker
//! while it has no result to pass to `done`: an additional thread, which mostly waits, takes longer
//! to wake than its work is worth. Every job has a weight in bytes. No job begins while the jobs
//! between `next` and `done` use up the budget, so memory does not depend on the number of jobs.

use core::panic::AssertUnwindSafe;
use std::collections::BTreeMap;
use std::panic::{catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use blosc_chunk::HAS_THREADS;

use crate::Budget;

/// A piece of work, and the memory it takes until its result is passed to `done`.
#[derive(Debug)]
pub struct Job<J> {
    /// The input of the work.
    pub job: J,
    /// Memory (bytes).
    pub weight: u64,
}

/// Takes jobs from `next` until there are none, does each with a worker's `state`, and passes the
/// results to `done` in the order of the jobs. One job of any weight is always begun.
///
/// # Errors
///
/// The error of `next`, after the results of all earlier jobs were passed on, or the first error of
/// `done`; later results are dropped.
pub fn in_order<J, R, S, E>(
    budget: &Budget,
    mut next: impl FnMut() -> Result<Option<Job<J>>, E>,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, J) -> R + Sync,
    mut done: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E>
where
    J: Send,
    R: Send,
{
    let nworkers = budget.nworkers();
    if !HAS_THREADS || nworkers <= 1 {
        return one_by_one(next, &state, &work, done);
    }
    let Some(first) = next()? else { return Ok(()) };
    let second = match next() {
        Ok(Some(second)) => second,
        // Starting a thread takes longer than the only job of a small file.
        end => {
            done(work(&mut state(), first.job))?;
            return end.map(drop);
        }
    };
    let mut ahead = [first, second].into_iter();
    let next = || ahead.next().map_or_else(&mut next, |job| Ok(Some(job)));
    let (job_sender, jobs) = channel();
    let (result_sender, results) = channel();
    let jobs = Mutex::new(jobs);
    thread::scope(|scope| {
        for _ in 1..nworkers {
            let result_sender = result_sender.clone();
            let (jobs, state, work) = (&jobs, &state, &work);
            scope.spawn(move || run_worker(jobs, &result_sender, state, work));
        }
        let mut own = None;
        // A worker that waits for a job holds the lock; then the queue is empty.
        let take = || jobs.try_lock().ok().and_then(|jobs| jobs.try_recv().ok());
        let help = || {
            let job: Numbered<J> = take()?;
            let item = Ok(work(own.get_or_insert_with(&state), job.item));
            Some(Numbered { number: job.number, weight: job.weight, item })
        };
        // The workers have their own senders. Dropping this one lets the channel close when they
        // end.
        drop(result_sender);
        Pipeline {
            jobs: job_sender,
            results,
            max_jobs: (nworkers as u64).saturating_mul(JOBS_PER_WORKER),
            max_weight: budget.max_memory,
            begun: 0,
            passed_on: 0,
            weight: 0,
            early: BTreeMap::new(),
        }
        .run(next, help, done)
        // Leaving the scope drops the job channel, which ends the workers.
    })
}

/// Jobs in progress for each worker. More jobs would only wait.
const JOBS_PER_WORKER: u64 = 2;

/// Does all jobs in one thread.
fn one_by_one<J, R, S, E>(
    mut next: impl FnMut() -> Result<Option<Job<J>>, E>,
    state: &impl Fn() -> S,
    work: &impl Fn(&mut S, J) -> R,
    mut done: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let mut state = state();
    while let Some(Job { job, .. }) = next()? {
        done(work(&mut state, job))?;
    }
    Ok(())
}

/// A job or a result with its number in the order of the jobs, and its weight.
struct Numbered<T> {
    number: u64,
    weight: u64,
    item: T,
}

/// Does jobs until there are none, or the caller takes no more results.
fn run_worker<J, R, S>(
    jobs: &Mutex<Receiver<Numbered<J>>>,
    results: &Sender<Numbered<thread::Result<R>>>,
    state: &impl Fn() -> S,
    work: &impl Fn(&mut S, J) -> R,
) {
    let mut state = state();
    let take = || jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
    while let Ok(Numbered { number, weight, item }) = take() {
        // A panic must reach the caller, which would otherwise wait forever for this result.
        let item = catch_unwind(AssertUnwindSafe(|| work(&mut state, item)));
        let panicked = item.is_err();
        if results.send(Numbered { number, weight, item }).is_err() || panicked {
            return;
        }
    }
}

/// The caller's side.
struct Pipeline<J, R> {
    jobs: Sender<Numbered<J>>,
    results: Receiver<Numbered<thread::Result<R>>>,
    max_jobs: u64,
    /// The most weight in progress (bytes).
    max_weight: u64,
    /// Number of the next job to begin.
    begun: u64,
    /// Number of the next result to pass on.
    passed_on: u64,
    /// Weight of the jobs begun and not yet passed on (bytes).
    weight: u64,
    /// Results that came before their turn, with their weights.
    early: BTreeMap<u64, (u64, R)>,
}

impl<J, R> Pipeline<J, R> {
    fn run<E>(
        mut self,
        mut next: impl FnMut() -> Result<Option<Job<J>>, E>,
        mut help: impl FnMut() -> Option<Numbered<thread::Result<R>>>,
        mut done: impl FnMut(R) -> Result<(), E>,
    ) -> Result<(), E> {
        let end = loop {
            let Job { job, weight } = match next() {
                Ok(Some(job)) => job,
                end => break end.map(drop),
            };
            while self.is_full(weight) {
                self.pass_on(&mut help, &mut done)?;
            }
            if !self.begin(job, weight) {
                break Ok(());
            }
        };
        while self.passed_on < self.begun {
            self.pass_on(&mut help, &mut done)?;
        }
        end
    }

    /// Whether another job would exceed the limits.
    fn is_full(&self, weight: u64) -> bool {
        let in_work = self.begun.saturating_sub(self.passed_on);
        let is_heavy = self.weight.saturating_add(weight) > self.max_weight;
        in_work > 0 && (in_work >= self.max_jobs || is_heavy)
    }

    /// Begins a job. False if all workers are gone, which only a panic can cause: its result
    /// arrives next.
    fn begin(&mut self, item: J, weight: u64) -> bool {
        let number = self.begun;
        let sent = self.jobs.send(Numbered { number, weight, item }).is_ok();
        if sent {
            self.begun = self.begun.saturating_add(1);
            self.weight = self.weight.saturating_add(weight);
        }
        sent
    }

    /// Waits for the next result in order, or helps to compute it, and passes it on.
    fn pass_on<E>(
        &mut self,
        help: &mut impl FnMut() -> Option<Numbered<thread::Result<R>>>,
        done: &mut impl FnMut(R) -> Result<(), E>,
    ) -> Result<(), E> {
        loop {
            if let Some((weight, result)) = self.early.remove(&self.passed_on) {
                self.passed_on = self.passed_on.saturating_add(1);
                self.weight = self.weight.saturating_sub(weight);
                return done(result);
            }
            let result = self.results.try_recv().ok().or_else(&mut *help);
            match result.map_or_else(|| self.results.recv(), Ok) {
                Ok(Numbered { number, weight, item: Ok(item) }) => {
                    self.early.insert(number, (weight, item));
                }
                Ok(Numbered { item: Err(panic), .. }) => resume_unwind(panic),
                // All workers ended, each after sending its last result, so no more results will
                // come.
                Err(_) => {
                    self.passed_on = self.begun;
                    return Ok(());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::{AtomicU64, Ordering};

    use blosc_chunk::Executor;

    use super::*;

    fn budget(threads: usize, max_memory: u64) -> Budget {
        Budget { threads: Executor::threads(threads), max_memory }
    }

    fn jobs(n: u64, weight: u64) -> impl FnMut() -> Result<Option<Job<u64>>, String> {
        let mut jobs = 0..n;
        move || Ok(jobs.next().map(|job| Job { job, weight }))
    }

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        for threads in [1, 2, 3, 8] {
            let mut found = vec![];
            let budget = budget(threads, 1000);
            let slow_first = |(): &mut (), job: u64| {
                if job.is_multiple_of(3) {
                    thread::yield_now();
                }
                job * job
            };
            let done = |result| {
                found.push(result);
                Ok(())
            };
            in_order(&budget, jobs(200, 10), || (), slow_first, done).unwrap();
            assert_eq!(found, (0..200).map(|n| n * n).collect::<Vec<u64>>());
        }
    }

    #[test]
    fn the_weight_in_work_is_bounded() {
        let (in_work, most) = (AtomicU64::new(0), AtomicU64::new(0));
        let budget = budget(4, 35);
        let mut left = 50;
        let next = || {
            left -= 1;
            if left > 0 {
                return Ok(Some(Job { job: (), weight: 10 }));
            }
            Ok::<_, String>(None)
        };
        let work = |(): &mut (), (): ()| {
            most.fetch_max(in_work.fetch_add(10, Ordering::SeqCst) + 10, Ordering::SeqCst);
        };
        let done = |()| {
            in_work.fetch_sub(10, Ordering::SeqCst);
            Ok(())
        };
        in_order(&budget, next, || (), work, done).unwrap();
        assert!(most.into_inner() <= 30);
    }

    #[test]
    fn a_job_heavier_than_the_budget_runs_alone() {
        let mut found = 0;
        let budget = budget(2, 5);
        let done = |_| {
            found += 1;
            Ok(())
        };
        in_order(&budget, jobs(3, 50), || (), |(), job| job, done).unwrap();
        assert_eq!(found, 3);
    }

    #[test]
    fn the_first_error_ends_the_run() {
        for threads in [1, 4] {
            let budget = budget(threads, 100);
            let done = |job: u64| if job == 7 { Err("seven".to_owned()) } else { Ok(()) };
            let result = in_order(&budget, jobs(1_000_000_000, 1), || (), |(), job| job, done);
            assert_eq!(result, Err("seven".to_owned()));
        }
    }

    #[test]
    fn an_error_instead_of_a_job_comes_after_the_results_before_it() {
        for threads in [1, 2, 8] {
            let (mut left, mut found) = (5, vec![]);
            let next = || {
                left -= 1;
                if left == 0 { Err("damaged") } else { Ok(Some(Job { job: left, weight: 1 })) }
            };
            let done = |job: u64| {
                found.push(job);
                Ok(())
            };
            let result = in_order(&budget(threads, 100), next, || (), |(), job| job, done);
            assert_eq!((result, found), (Err("damaged"), vec![4, 3, 2, 1]), "{threads}");
        }
    }

    #[test]
    fn a_panic_of_a_worker_reaches_the_caller() {
        let budget = budget(3, 100);
        let work = |(): &mut (), job: u64| assert!(job != 5, "five");
        let run = || in_order(&budget, jobs(100, 1), || (), work, |()| Ok(()));
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    }
}

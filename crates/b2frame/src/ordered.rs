//! Work on many chunks at once, results in order, memory bounded.
//!
//! ```text
//!   next() --job--> [ worker | worker | worker ] --result--> done()
//!   caller's thread                                          caller's thread, in the order of the jobs
//! ```
//!
//! Input and output stay on the caller's thread, which therefore needs no locks; the workers only
//! compute. The caller is one of them as long as no result is there: a thread more, which mostly
//! waits, takes longer to wake than its work is worth.
//! Every job has a weight in bytes. While the jobs that were begun and not yet handed to `done`
//! weigh as much as is allowed, no further one is begun, so memory does not depend on how many jobs
//! there are.

use core::panic::AssertUnwindSafe;
use std::collections::BTreeMap;
use std::panic::{catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// How many workers, and how much may be in work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Workers, of which the caller's thread is one; with one, all is done on the caller's thread.
    pub threads: usize,
    /// Weight of the jobs in work (bytes). One job is always begun, whatever it weighs.
    pub bytes: u64,
}

impl Budget {
    /// The weight of a job that leaves room for so many others per worker (bytes).
    pub(crate) fn share(&self, jobs: u64) -> u64 {
        self.bytes.checked_div(jobs.saturating_mul(self.threads as u64)).unwrap_or(self.bytes)
    }
}

/// A piece of work and the memory it takes until its result was handed on.
#[derive(Debug)]
pub(crate) struct Job<J> {
    pub job: J,
    /// Bytes.
    pub weight: u64,
}

/// Takes jobs from `next` until there are no more, does each with a worker's `state`, and hands the
/// results to `done` in the order of the jobs.
///
/// The first error of `next` or `done` ends it; results not handed on by then are dropped.
pub(crate) fn in_order<J, R, S, E>(
    budget: Budget,
    next: impl FnMut() -> Result<Option<Job<J>>, E>,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, J) -> R + Sync,
    done: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E>
where
    J: Send,
    R: Send,
{
    if budget.threads <= 1 {
        return one_by_one(next, &state, &work, done);
    }
    let (job_sender, jobs) = channel();
    let (result_sender, results) = channel();
    let jobs = Mutex::new(jobs);
    thread::scope(|scope| {
        for _ in 1..budget.threads {
            let result_sender = result_sender.clone();
            let (jobs, state, work) = (&jobs, &state, &work);
            scope.spawn(move || worker(jobs, &result_sender, state, work));
        }
        let mut own = None;
        // A worker that waits has the lock: then there are no jobs that wait.
        let take = || jobs.try_lock().ok().and_then(|jobs| jobs.try_recv().ok());
        let help = || {
            let job: Numbered<J> = take()?;
            let item = Ok(work(own.get_or_insert_with(&state), job.item));
            Some(Numbered { number: job.number, weight: job.weight, item })
        };
        // The workers have their own; without this one the channel closes when they end.
        drop(result_sender);
        Pipeline {
            jobs: job_sender,
            results,
            budget,
            begun: 0,
            handed_on: 0,
            weight: 0,
            waiting: BTreeMap::new(),
        }
        .run(next, help, done)
        // Leaving drops the job channel, which ends the workers.
    })
}

/// The same on one thread.
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

/// Does each of `items`, where the order does not matter. The caller's thread is one of `threads`,
/// the others are of the current rayon pool: to wake one takes less than to start one.
///
/// The error is that of the first item that failed, as if there were one thread.
pub(crate) fn in_any_order<T: Send, E: Send>(
    threads: usize,
    items: impl Iterator<Item = T> + Send,
    work: impl Fn(T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let queue = Mutex::new(Queue { items: items.enumerate(), failure: None });
    let lock = || queue.lock().unwrap_or_else(PoisonError::into_inner);
    // Items are taken in order: all before one that failed have been taken by someone.
    let run = || {
        loop {
            let Some((number, item)) = lock().take() else { return };
            if let Err(error) = work(item) {
                lock().fail(number, error);
            }
        }
    };
    rayon::in_place_scope(|scope| {
        (1..threads).for_each(|_| scope.spawn(|_| run()));
        run();
    });
    let failure = lock().failure.take();
    failure.map_or(Ok(()), |(_, error)| Err(error))
}

/// The items that are left, and the first failure.
struct Queue<I, E> {
    items: I,
    failure: Option<(usize, E)>,
}

impl<T, I: Iterator<Item = (usize, T)>, E> Queue<I, E> {
    fn take(&mut self) -> Option<(usize, T)> {
        if self.failure.is_some() { None } else { self.items.next() }
    }

    fn fail(&mut self, number: usize, error: E) {
        if self.failure.as_ref().is_none_or(|(first, _)| number < *first) {
            self.failure = Some((number, error));
        }
    }
}

/// A job on its way: its place in the order, and its weight.
struct Numbered<T> {
    number: u64,
    weight: u64,
    item: T,
}

/// Takes jobs until there are no more, or nobody wants results.
fn worker<J, R, S>(
    jobs: &Mutex<Receiver<Numbered<J>>>,
    results: &Sender<Numbered<thread::Result<R>>>,
    state: &impl Fn() -> S,
    work: &impl Fn(&mut S, J) -> R,
) {
    let mut state = state();
    let take = || jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
    while let Ok(Numbered { number, weight, item }) = take() {
        // A panic must reach the caller: a result that never comes would be waited for without end.
        let item = catch_unwind(AssertUnwindSafe(|| work(&mut state, item)));
        let ends = item.is_err();
        if results.send(Numbered { number, weight, item }).is_err() || ends {
            return;
        }
    }
}

/// The caller's side.
struct Pipeline<J, R> {
    jobs: Sender<Numbered<J>>,
    results: Receiver<Numbered<thread::Result<R>>>,
    budget: Budget,
    /// Number of the next job to begin.
    begun: u64,
    /// Number of the next result to hand on.
    handed_on: u64,
    /// Weight of the jobs between the two.
    weight: u64,
    /// Results that came before their turn, with their weights.
    waiting: BTreeMap<u64, (u64, R)>,
}

impl<J, R> Pipeline<J, R> {
    fn run<E>(
        mut self,
        mut next: impl FnMut() -> Result<Option<Job<J>>, E>,
        mut help: impl FnMut() -> Option<Numbered<thread::Result<R>>>,
        mut done: impl FnMut(R) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(Job { job, weight }) = next()? {
            while self.is_full(weight) {
                self.hand_on(&mut help, &mut done)?;
            }
            if !self.begin(job, weight) {
                break;
            }
        }
        while self.handed_on < self.begun {
            self.hand_on(&mut help, &mut done)?;
        }
        Ok(())
    }

    /// Whether a further job would be too much. More jobs than twice the workers only wait.
    fn is_full(&self, weight: u64) -> bool {
        let in_work = self.begun.saturating_sub(self.handed_on);
        let many = in_work >= (self.budget.threads as u64).saturating_mul(2);
        in_work > 0 && (many || self.weight.saturating_add(weight) > self.budget.bytes)
    }

    /// False when all workers are gone, which only a panic can cause: its result is about to be
    /// seen.
    fn begin(&mut self, item: J, weight: u64) -> bool {
        let number = self.begun;
        let sent = self.jobs.send(Numbered { number, weight, item }).is_ok();
        if sent {
            self.begun = self.begun.saturating_add(1);
            self.weight = self.weight.saturating_add(weight);
        }
        sent
    }

    /// Waits for the next result in order, or helps to make it, and hands it on.
    fn hand_on<E>(
        &mut self,
        help: &mut impl FnMut() -> Option<Numbered<thread::Result<R>>>,
        done: &mut impl FnMut(R) -> Result<(), E>,
    ) -> Result<(), E> {
        loop {
            if let Some((weight, result)) = self.waiting.remove(&self.handed_on) {
                self.handed_on = self.handed_on.saturating_add(1);
                self.weight = self.weight.saturating_sub(weight);
                return done(result);
            }
            let result = self.results.try_recv().ok().or_else(&mut *help);
            match result.map_or_else(|| self.results.recv(), Ok) {
                Ok(Numbered { number, weight, item: Ok(item) }) => {
                    self.waiting.insert(number, (weight, item));
                }
                Ok(Numbered { item: Err(panic), .. }) => resume_unwind(panic),
                // No worker is left, and each said why it ended: nothing more will come.
                Err(_) => {
                    self.handed_on = self.begun;
                    return Ok(());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    fn jobs(n: u64, weight: u64) -> impl FnMut() -> Result<Option<Job<u64>>, String> {
        let mut jobs = 0..n;
        move || Ok(jobs.next().map(|job| Job { job, weight }))
    }

    #[test]
    fn results_come_in_order_whatever_the_threads() {
        for threads in [1, 2, 3, 8] {
            let mut found = vec![];
            let budget = Budget { threads, bytes: 1000 };
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
            in_order(budget, jobs(200, 10), || (), slow_first, done).unwrap();
            assert_eq!(found, (0..200).map(|n| n * n).collect::<Vec<u64>>());
        }
    }

    #[test]
    fn no_more_weight_is_in_work_than_allowed() {
        let (in_work, most) = (AtomicU64::new(0), AtomicU64::new(0));
        let budget = Budget { threads: 4, bytes: 35 };
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
        in_order(budget, next, || (), work, done).unwrap();
        assert!(most.into_inner() <= 30);
    }

    #[test]
    fn a_job_heavier_than_the_budget_is_done_alone() {
        let mut found = 0;
        let budget = Budget { threads: 2, bytes: 5 };
        let done = |_| {
            found += 1;
            Ok(())
        };
        in_order(budget, jobs(3, 50), || (), |(), job| job, done).unwrap();
        assert_eq!(found, 3);
    }

    #[test]
    fn the_first_error_ends_it() {
        for threads in [1, 4] {
            let budget = Budget { threads, bytes: 100 };
            let done = |job: u64| if job == 7 { Err("seven".to_owned()) } else { Ok(()) };
            let result = in_order(budget, jobs(1_000_000_000, 1), || (), |(), job| job, done);
            assert_eq!(result, Err("seven".to_owned()));
        }
    }

    #[test]
    fn each_item_is_done_once_and_the_first_failure_counts() {
        for threads in [1, 2, 5] {
            let sum = AtomicU64::new(0);
            let add = |n| {
                sum.fetch_add(n, Ordering::SeqCst);
                Ok::<(), String>(())
            };
            in_any_order(threads, 0..1000, add).unwrap();
            assert_eq!(sum.into_inner(), 499_500);
            let work = |n: u64| if n < 7 { Ok(()) } else { Err(n) };
            assert_eq!(in_any_order(threads, 0..1000, work), Err(7));
        }
    }

    #[test]
    fn a_panic_of_a_worker_reaches_the_caller() {
        let budget = Budget { threads: 3, bytes: 100 };
        let work = |(): &mut (), job: u64| assert!(job != 5, "five");
        let run = || in_order(budget, jobs(100, 1), || (), work, |()| Ok(()));
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    }
}

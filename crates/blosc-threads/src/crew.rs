//! The threads of one process, and the calls that they take part in.
//!
//! ```text
//!   share()   post ---- call 0 ------------------ withdraw -- wait for begun calls -- return
//!   a thread        begin -- call 1 -- end
//!   a thread                                           (too late: nothing is left to begin)
//! ```
//!
//! The caller withdraws calls that no thread has begun once it has done its own: it waits for no
//! thread to wake up. A thread that waits for its own calls begins no other in the meantime, so
//! that calls may wait for each other as long as each waits only for begun ones.
#![allow(unsafe_code, reason = "a thread that is kept cannot borrow from its callers otherwise")]

use core::any::Any;
use core::panic::AssertUnwindSafe;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::panic::{catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// A thread ends after this time without work.
const MAX_IDLE: Duration = Duration::from_millis(if cfg!(test) { 20 } else { 2000 });
/// Number of times that a thread looks for work, offering its processor to others, before it
/// sleeps. Waking a thread takes longer than the time between two chunks.
const MAX_LOOKS: usize = 32;

/// The payload of a panic.
type Payload = Box<dyn Any + Send>;

#[derive(Default)]
pub(crate) struct Crew {
    state: Mutex<State>,
    /// Number of calls that can be begun, which threads read without the lock.
    open: AtomicUsize,
    posted: Condvar,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    /// In the order of posting; each stays until its `share` returns.
    posts: Vec<Post>,
    nposts: u64,
    nthreads: usize,
    /// Number of these threads that sleep.
    nasleep: usize,
    /// Number of these threads that look for work.
    nlooking: usize,
    is_over: bool,
}

/// A function that is to be called with some numbers.
struct Post {
    id: u64,
    f: Borrowed,
    /// The next number, and the end of the numbers.
    next: usize,
    end: usize,
    nrunning: usize,
    panic: Option<Payload>,
}

impl Crew {
    /// See [`Executor::share`](crate::Executor::share). At most `max_threads` threads take part,
    /// including the caller's.
    pub(crate) fn share(
        self: &Arc<Self>,
        max_threads: usize,
        ncalls: usize,
        f: &(dyn Fn(usize) + Sync),
    ) {
        // SAFETY: this function returns after all begun calls have returned, when no other can
        // begin any more. Between the two lines there is nothing that can panic.
        let id = self.post(unsafe { Borrowed::new(f) }, ncalls, max_threads.saturating_sub(1));
        let own = catch_unwind(AssertUnwindSafe(|| f(0)));
        let theirs = self.withdraw(id);
        if let Some(panic) = own.err().or(theirs) {
            resume_unwind(panic);
        }
    }

    /// Lets threads begin the calls with the numbers from 1 on.
    fn post(self: &Arc<Self>, f: Borrowed, ncalls: usize, max_others: usize) -> u64 {
        let mut state = self.lock();
        let id = state.nposts;
        state.nposts = id.wrapping_add(1);
        state.posts.push(Post { id, f, next: 1, end: ncalls, nrunning: 0, panic: None });
        let open = self.count_open(&state);
        let wanted = open.saturating_sub(state.nlooking);
        let nwoken = wanted.min(state.nasleep);
        let nnew = wanted.saturating_sub(nwoken).min(max_others.saturating_sub(state.nthreads));
        state.nthreads = state.nthreads.saturating_add(nnew);
        drop(state);
        (0..nwoken).for_each(|_| self.posted.notify_one());
        (0..nnew).for_each(|_| self.start());
        id
    }

    /// Starts a thread that is already counted. If that fails, it is subtracted.
    fn start(self: &Arc<Self>) {
        let crew = Arc::clone(self);
        let started = thread::Builder::new().name("blosc".to_owned()).spawn(move || crew.work());
        if started.is_err() {
            let mut state = self.lock();
            state.nthreads = state.nthreads.saturating_sub(1);
        }
    }

    /// Waits for the begun calls, and returns the payload of the first panic among them.
    fn withdraw(&self, id: u64) -> Option<Payload> {
        let mut state = self.lock();
        for post in state.posts.iter_mut().filter(|post| post.id == id) {
            post.end = post.next;
        }
        self.count_open(&state);
        let mut nlooks = 0;
        loop {
            let at = state.posts.iter().position(|post| post.id == id && post.nrunning == 0);
            if let Some(at) = at {
                return state.posts.swap_remove(at).panic;
            }
            if nlooks < MAX_LOOKS {
                nlooks = nlooks.saturating_add(1);
                drop(state);
                thread::yield_now();
                state = self.lock();
            } else {
                state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// A thread of the crew, from its start to its end.
    fn work(&self) {
        let mut state = self.lock();
        loop {
            if let Some((id, f, n)) = state.begin() {
                self.count_open(&state);
                drop(state);
                let panic = catch_unwind(AssertUnwindSafe(|| f.call(n))).err();
                state = self.lock();
                state.end(id, panic);
                self.ended.notify_all();
                continue;
            }
            state.nlooking = state.nlooking.saturating_add(1);
            drop(state);
            self.look();
            state = self.lock();
            state.nlooking = state.nlooking.saturating_sub(1);
            if state.has_open() {
                continue;
            }
            let is_late;
            (state, is_late) = self.sleep(state);
            if state.is_over || (is_late && !state.has_open()) {
                state.nthreads = state.nthreads.saturating_sub(1);
                return;
            }
        }
    }

    /// Returns once there is a call to begin, or after some time.
    fn look(&self) {
        for _ in 0..MAX_LOOKS {
            if self.open.load(Ordering::Relaxed) > 0 {
                return;
            }
            thread::yield_now();
        }
    }

    /// Sleeps until a call is posted, and returns whether that took too long.
    fn sleep<'a>(&self, mut state: MutexGuard<'a, State>) -> (MutexGuard<'a, State>, bool) {
        if state.is_over {
            return (state, true);
        }
        state.nasleep = state.nasleep.saturating_add(1);
        let woken = self.posted.wait_timeout(state, MAX_IDLE);
        let (mut state, timeout) = woken.unwrap_or_else(PoisonError::into_inner);
        state.nasleep = state.nasleep.saturating_sub(1);
        (state, timeout.timed_out())
    }

    fn count_open(&self, state: &State) -> usize {
        let count = state.posts.iter().map(Post::nopen).fold(0, usize::saturating_add);
        self.open.store(count, Ordering::Relaxed);
        count
    }

    /// Lets the threads end, each after its current call.
    pub(crate) fn dismiss(&self) {
        self.lock().is_over = true;
        self.posted.notify_all();
    }

    /// Number of threads that were started and have not ended.
    #[cfg(test)]
    pub(crate) fn nthreads(&self) -> usize {
        self.lock().nthreads
    }

    /// No code panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn has_open(&self) -> bool {
        self.posts.iter().any(|post| post.nopen() > 0)
    }

    /// The next call, which counts as running from now on.
    fn begin(&mut self) -> Option<(u64, Borrowed, usize)> {
        let post = self.posts.iter_mut().find(|post| post.nopen() > 0)?;
        let n = post.next;
        post.next = n.saturating_add(1);
        post.nrunning = post.nrunning.saturating_add(1);
        Some((post.id, post.f, n))
    }

    fn end(&mut self, id: u64, panic: Option<Payload>) {
        for post in self.posts.iter_mut().filter(|post| post.id == id) {
            post.nrunning = post.nrunning.saturating_sub(1);
            if post.panic.is_none() {
                post.panic = panic;
                return;
            }
        }
    }
}

impl Post {
    fn nopen(&self) -> usize {
        self.end.saturating_sub(self.next)
    }
}

/// A function that its owner keeps until all calls have returned.
#[derive(Clone, Copy)]
struct Borrowed(*const (dyn Fn(usize) + Sync));

// SAFETY: the function is `Sync`, so any thread may call it.
unsafe impl Send for Borrowed {}

impl Borrowed {
    /// # Safety
    ///
    /// `f` outlives every [`call`](Self::call).
    unsafe fn new(f: &(dyn Fn(usize) + Sync)) -> Self {
        type Short<'a> = *const (dyn Fn(usize) + Sync + 'a);
        type Long = *const (dyn Fn(usize) + Sync);
        // SAFETY: the types differ in the lifetime alone, for which the caller vouches.
        Self(unsafe { core::mem::transmute::<Short<'_>, Long>(f) })
    }

    fn call(self, n: usize) {
        // SAFETY: `new` demands that the function is alive.
        let f = unsafe { &*self.0 };
        f(n);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::time::Instant;

    use super::*;

    /// Waits until the crew has this number of threads.
    fn wait_for(crew: &Crew, nthreads: usize) {
        let start = Instant::now();
        while crew.nthreads() != nthreads {
            assert!(start.elapsed() < Duration::from_secs(60), "{} threads", crew.nthreads());
            thread::yield_now();
        }
    }

    #[test]
    fn threads_are_started_at_need_kept_and_ended() {
        let crew = Arc::new(Crew::default());
        assert_eq!(crew.nthreads(), 0);
        // Each of the calls that wait for each other has its own thread.
        let meet = |ncalls: usize| {
            let barrier = Barrier::new(ncalls);
            crew.share(3, ncalls, &|_| {
                barrier.wait();
            });
        };
        meet(2);
        assert_eq!(crew.nthreads(), 1);
        (0..10).for_each(|_| meet(3));
        assert_eq!(crew.nthreads(), 2);
        crew.share(3, 9, &|_| ());
        assert_eq!(crew.nthreads(), 2);
        crew.dismiss();
        wait_for(&crew, 0);
    }

    #[test]
    fn threads_without_work_end_and_start_again() {
        let crew = Arc::new(Crew::default());
        crew.share(3, 3, &|_| ());
        wait_for(&crew, 0);
        let barrier = Barrier::new(2);
        crew.share(2, 2, &|_| {
            barrier.wait();
        });
    }
}

//! Threads as a value that is passed down.
//!
//! ```
//! use blosc_threads::Executor;
//! use core::sync::atomic::{AtomicUsize, Ordering};
//!
//! let executor = Executor::threads(4);
//! let (next, sum) = (AtomicUsize::new(0), AtomicUsize::new(0));
//! // Each call takes numbers until none are left, whichever threads take part.
//! executor.share(4, &|_| {
//!     loop {
//!         let number = next.fetch_add(1, Ordering::Relaxed);
//!         if number >= 1000 {
//!             return;
//!         }
//!         sum.fetch_add(number, Ordering::Relaxed);
//!     }
//! });
//! assert_eq!(sum.into_inner(), 499_500);
//! ```
//!
//! | value | threads |
//! |---|---|
//! | [`Executor::default`], [`Threads::One`] | the caller's alone: nothing is started, no clock is asked |
//! | [`Executor::threads`], [`Threads::N`] | up to that many, of a pool that all clones share |
//! | [`Executor::auto`], [`Threads::Auto`] | the same, as many as there are processors |
//! | [`Executor::from_pool`] | those of the caller's own [`ThreadPool`], such as one of rayon |
//!
//! No pool belongs to the process. A pool starts its threads when it first has work for them; each
//! ends when it had no work for two seconds, or when the last clone is dropped.
//!
//! A process that forks has one thread in the child. There a clone of an executor starts new
//! threads, and touches no lock that a thread of the parent may have held.
//!
//! On targets without threads, for example a browser, every number of threads means one.
#![deny(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing
    )
)]

extern crate alloc;

mod crew;
mod executor;
mod given;
mod pool;
mod threads;

pub use executor::{Executor, HAS_THREADS};
pub use given::ThreadPool;
pub use threads::Threads;

/// The example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

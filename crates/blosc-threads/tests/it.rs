//! One program for all tests.

mod support;

mod executors;
#[cfg(unix)]
mod forks;

//! All integration tests of this crate in one binary.

mod columns;
mod conformance;
mod convert;
mod counts;
mod damage;
mod door;
mod failing;
#[cfg(unix)]
mod forks;
mod formats;
mod hostile;
mod parts;
mod reads;
mod reports;
mod sums;
mod verified;

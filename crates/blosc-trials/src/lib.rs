//! Crashes, damage and hostile bytes, for every container: what is enumerated here is enumerated
//! nowhere else.
//!
//! - [`container`]: a sound sample of each container, and all that a reader does with one;
//! - [`crash`]: each changing operation, interrupted in every way: the old state or the new one;
//! - [`damage`]: samples damaged in one place: it is told, and the rest comes back;
//! - [`mutate`]: chunks and samples of a stranger: data or an error, in bounded memory.
//!
//! `cargo test` runs each of them small (`tests/it.rs`), `cargo xtask crash`, `damage` and `mutate`
//! as long as they are told to. A new operation or a new container is one row here.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod cases;
pub mod container;
pub mod crash;
pub mod damage;
pub mod failure;
pub mod mutate;

/// Is given each line of a report.
pub type Say<'a> = &'a mut dyn FnMut(String);

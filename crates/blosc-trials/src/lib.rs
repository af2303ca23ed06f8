//! Crashes, damage and hostile bytes, for every container, enumerated only here.
//!
//! - [`container`]: a sound sample of each container, and all operations of its reader;
//! - [`crash`]: each changing operation, interrupted in every way: the old state or the new one;
//! - [`damage`]: samples damaged at one position: damage is reported, the other data come back;
//! - [`mutate`]: chunks and samples changed by a stranger: data or an error, in bounded memory.
//!
//! `cargo test` makes a small run of each (`tests/it.rs`), `cargo xtask crash`, `damage` and
//! `mutate` a run of any length. A new operation or a new container is one row here.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod cases;
pub mod container;
pub mod crash;
pub mod damage;
pub mod failure;
pub mod mutate;

/// Gets each line of a report.
pub type Say<'a> = &'a mut dyn FnMut(String);

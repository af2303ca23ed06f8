//! `blpk`: the command line of Bloscpack 0.16.0, for existing Bloscpack files.
//!
//! ```text
//! argv --args--> Verb --compress, decompress, append, look--> bloscpack
//!                          |
//!                         log      lines `blpk: ...`, with sizes and values as Python prints them
//! ```
//!
//! Verbs, options, defaults, messages and exit codes are those of Bloscpack 0.16.0, so that scripts
//! keep working. `docs/blpk.md` lists the deliberate differences.
//!
//! The package is a library so that `b2 blpk` is the same program.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod append;
mod args;
mod compress;
mod decompress;
mod fail;
mod files;
mod header;
mod log;
mod look;
mod pretty;
mod python;
mod session;

pub use b2_program::Code;
pub use session::{find_command_line, grammar, run};

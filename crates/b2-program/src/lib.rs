//! The parts of a program of the Blosc family that do not depend on formats.
//!
//! ```text
//!  command line    Span, ByteSize, When           ranges, sizes and choices as people write them
//!  standard error  Console, Progress              messages, and how far the work is
//!  standard output Console, Sink                  text made harmless; bytes from front to back
//!  files           Staged, Batch                  whole or not at all; many at once
//!  signals         signals                        nothing unfinished outlives the process
//!  the end         Code                           one meaning for each exit code
//! ```
//!
//! A program implements [`Program`], and names its own types with it:
//!
//! ```
//! use b2_program::{Error, Manner, Program};
//!
//! #[derive(Clone, Debug)]
//! struct Tool;
//!
//! impl Program for Tool {
//!     type Error = Error;
//!
//!     fn is_object(_: &std::path::Path) -> bool {
//!         false
//!     }
//! }
//!
//! type Console = b2_program::Console<Tool>;
//!
//! let console = Console::new("tool", Manner { quiet: 1, ..Manner::default() });
//! console.note("nothing is said");
//! console.print("1.5 MiB\n")?;
//! # Ok::<(), Error>(())
//! ```
//!
//! | module | concept |
//! |---|---|
//! | (root) | [`Program`], and the types that programs are made of |
//! | [`error`] | errors with their causes on one line; kinds of files |
//! | [`hint`] | advice with the name of the file in it |
//! | [`http`] | requests of a browser on this machine, and answers |
//! | [`input`] | names of files in lists; standard input as a file |
//! | [`path`] | names of files that mean the same, or no file |
//! | [`progress`] | a bar, lines for another program, or nothing |
//! | [`escape`] | texts of strangers, made safe for a terminal and for JSON |
//! | [`size`] | sizes, ratios, speeds and counts as people read them |
//! | [`signals`] | the list that signals work off |
//! | [`text_table`] | text in columns |
//! | [`manners`] | command lines in one form, however options and commands stand in them |
//! | [`usage`] | the errors of wrong command lines |
//! | [`wrong_use`] | these errors with their remedies |

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod batch;
mod console;
pub mod error;
pub mod escape;
mod exit;
pub mod hint;
pub mod http;
pub mod input;
pub mod level;
pub mod manners;
pub mod memory;
mod outcome;
pub mod path;
mod program;
pub mod progress;
pub mod signals;
mod sink;
pub mod size;
mod span;
mod staged;
pub mod text_table;
pub mod tree;
pub mod usage;
pub mod wrong_use;

pub use batch::Batch;
pub use console::{Console, Held, Manner, ProgressWhen, When};
pub use error::{Doing, Error};
pub use exit::Code;
pub use outcome::Outcome;
pub use program::Program;
pub use sink::{Sink, SinkWriter};
pub use span::{Span, SpanError};
pub use staged::{StageOptions, Staged};

//! The work of the C libraries of Blosc, without their exported functions.
//!
//! ```text
//!  libblosc.so.1  (crates/libblosc)    libblosc2.so.9  (crates/libblosc2)      names only
//!        \                                  /
//!         blosc1           blosc2, context, schunk, nd                         one module per tier
//!              \            /
//!      guard   env   pool   codes   epoch   places   memory                  what all of them need
//! ```
//!
//! `crates/libblosc` and `crates/libblosc2` export the names; this crate implements the functions.
//! A name exported here would appear in both libraries, and in every test.
//!
//! - [`guard`]: no panic crosses the border, and pointers become slices once.
//! - [`mod@env`]: the variables of the environment, read at each call as C-Blosc does.
//! - [`epoch`]: state of the process, which a child of `fork` does not share.
//! - [`pool`]: threads, kept by their number between calls.
//! - [`codes`], [`errors`]: convert errors to the codes of C-Blosc and of C-Blosc2.
//! - [`types`]: the structs that C-Blosc2 shares with its clients.
//! - [`places`]: targets of pointers that C holds, also after their content was freed.
//! - `memory`: bytes that C frees; `buffers`: bytes that are kept from call to call.
//! - [`schunk`], [`nd`]: super-chunks and arrays. C sees mirrors; `b2frame` reads and writes frames
//!   and knows where the items of an array are.
//!
//! Only Linux is supported so far: elsewhere the crate is empty.
#![cfg(target_os = "linux")]
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

pub mod blosc1;
pub mod blosc2;
mod buffers;
pub mod codes;
pub mod context;
pub mod env;
pub mod epoch;
pub mod errors;
pub mod guard;
mod memory;
pub mod nd;
pub mod places;
pub mod pool;
pub mod schunk;
pub mod storage;
pub mod types;
pub mod warning;

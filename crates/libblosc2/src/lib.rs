//! The functions of C-Blosc2's `libblosc2.so.9`, each a call of the same name in [`blosc_capi`]:
//! the list is the crate.
//!
//! With the feature `soname-7` it is `libblosc2.so.7`, whose structs have other layouts. A client
//! of the wrong library reads wrong data without an error: so they are two files.
//!
//! A shared library that is built with `panic = "abort"` ends the program instead of returning a
//! code: `cargo build --profile capi -p libblosc2` builds it correctly.
//!
//! Only Linux is supported so far: elsewhere the crate is empty.
#![cfg(target_os = "linux")]
#![deny(unsafe_code)]
#![allow(clippy::missing_safety_doc, reason = "the headers of C-Blosc2 say what callers promise")]

mod exports;

//! The functions of C-Blosc's `libblosc.so.1`, each a call of the same name in
//! [`blosc_capi::blosc1`]: the list is the crate.
//!
//! A shared library that is built with `panic = "abort"` ends the program instead of returning a
//! code: `cargo build --profile capi -p libblosc` builds it correctly.
//!
//! Only Linux is supported so far: elsewhere the crate is empty.
#![cfg(target_os = "linux")]
#![deny(unsafe_code)]

mod exports;

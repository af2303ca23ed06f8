//! The library as programs use it: loaded at run time, and called by its names.
#![cfg(target_os = "linux")]
#![deny(unsafe_code)]

mod calls;
mod forks;
mod library;
mod threads;

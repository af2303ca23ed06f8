//! The library as programs get it: loaded at run time, and called through its names.
#![cfg(target_os = "linux")]
#![deny(unsafe_code)]

mod calls;
mod forks;
mod library;
mod threads;

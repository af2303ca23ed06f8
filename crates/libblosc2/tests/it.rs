//! The library as programs get it: loaded at run time, and called through its names.
#![cfg(target_os = "linux")]
#![deny(unsafe_code)]

mod arrays;
mod contexts;
mod damage;
mod hooks;
mod library;
mod names;
mod process;
mod schunks;

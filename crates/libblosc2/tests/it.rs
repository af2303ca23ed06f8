//! The library as programs use it: loaded at run time, and called by its names.
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

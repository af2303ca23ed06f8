//! The library as programs get it: loaded at run time, and called through its names.
#![deny(unsafe_code)]

mod contexts;
mod damage;
mod hooks;
mod library;
mod names;
mod process;

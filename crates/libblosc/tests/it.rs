//! The library as programs get it: loaded at run time, and called through its names.
#![deny(unsafe_code)]

mod calls;
mod forks;
mod library;
mod threads;

//! The line about finished work.

use core::time::Duration;
use std::path::Path;

use crate::{
    Console, Program,
    escape::{harmless, path_text},
    size,
};

/// An input and its output, for the line about them.
#[derive(Clone, Copy, Debug)]
pub struct Outcome<'a> {
    /// The name of the input.
    pub name: &'a str,
    /// `None` is standard output.
    pub output: Option<&'a Path>,
    /// Bytes of the input.
    pub before: u64,
    /// Bytes of the output.
    pub after: u64,
    /// Bytes of data, for the speed.
    pub nbytes: u64,
    /// The time that the work took.
    pub elapsed: Duration,
}

impl Outcome<'_> {
    /// `a.npy -> a.b2nd   8.0 MiB -> 1.2 MiB{more}  1.9 s, 339.0 MiB/s`; without an arrow if the
    /// output replaced the input.
    pub fn line<P: Program>(&self, console: &Console<P>, more: &str) -> String {
        let units = console.units();
        let to = match self.output.map(path_text) {
            Some(output) if output == self.name => String::new(),
            Some(output) => format!(" -> {}", harmless(&output)),
            None => " -> stdout".to_owned(),
        };
        let (before, after) = (units.size(self.before), units.size(self.after));
        let speed = size::speed(units, self.nbytes, self.elapsed);
        format!("{}{to}   {before} -> {after}{more}{speed}", harmless(self.name))
    }
}

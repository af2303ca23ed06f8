//! The line that tells of finished work.

use core::time::Duration;
use std::path::Path;

use crate::{
    Console, Program,
    escape::{harmless, path_text},
    size,
};

/// An input and its output, for the line that tells of them.
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
    /// Bytes of data, by which the speed is reckoned.
    pub nbytes: u64,
    /// The time that the work took.
    pub elapsed: Duration,
}

impl Outcome<'_> {
    /// `a.npy -> a.b2nd   8.0 MiB -> 1.2 MiB{more}  1.9 s, 339.0 MiB/s`; no arrow if the output
    /// took the place of the input.
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

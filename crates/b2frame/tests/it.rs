//! The tests of the interface, as one program: each further program would link everything again.

mod arrays;
mod checklist;
mod checklist_legacy;
mod checklist_nd;
mod copy;
mod derive;
mod edit;
mod errors;
mod fixtures;
#[cfg(unix)]
mod forks;
mod golden;
mod legacy;
mod nd;
mod parallel;
mod properties;
mod reads;
mod regressions;
mod rescue;
mod rounds;
mod seal;
mod sharing;
mod sparse;
mod streams;
mod values;

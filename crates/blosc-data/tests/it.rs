//! The tests of this crate, as one program.

mod door;
mod formats;
mod hostile;
mod reads;
mod reports;
mod verified;

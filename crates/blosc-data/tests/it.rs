//! The tests of this crate, as one program.

mod convert;
mod door;
mod formats;
mod hostile;
mod reads;
mod verified;

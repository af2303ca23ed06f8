//! The tests of this crate, as one program.

mod damage;
mod door;
mod formats;
mod hostile;
mod parts;
mod reads;
mod verified;

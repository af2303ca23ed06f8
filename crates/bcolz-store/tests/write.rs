//! What is written: as bcolz writes it, and never in a state that cannot be read or repaired.

mod arrays;
mod crashes;
mod states;
mod tables;

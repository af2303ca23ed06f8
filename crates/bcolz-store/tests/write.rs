//! Written files are the same as bcolz's, and every state of them can be read or repaired.

mod arrays;
mod crashes;
mod states;
mod tables;

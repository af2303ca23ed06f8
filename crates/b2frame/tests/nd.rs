//! N-dimensional arrays, against models that position and read one item at a time.

mod element;
mod model;
mod read;
mod touched;
mod write;

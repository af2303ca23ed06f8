//! N-dimensional arrays, against models that place and take one item at a time.

mod element;
mod model;
mod read;
mod touched;
mod write;

//! N-dimensional arrays, against models that place and take one item at a time.

#[path = "nd/element.rs"]
mod element;
#[path = "nd/model.rs"]
mod model;
#[path = "nd/read.rs"]
mod read;
#[path = "nd/touched.rs"]
mod touched;
#[path = "nd/write.rs"]
mod write;

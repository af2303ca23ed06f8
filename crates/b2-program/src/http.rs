//! HTTP/1.1 for a browser on the same machine: the heads of requests, and answers with parts of
//! files.

mod answer;
mod request;

pub use answer::{Answer, Body};
pub use request::{Range, Refused, Request};

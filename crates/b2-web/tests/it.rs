//! One program for all tests.

mod answers;
#[allow(dead_code, reason = "the example uses the rest")]
mod page;

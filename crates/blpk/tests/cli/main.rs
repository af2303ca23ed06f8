//! Tests of `blpk` from a user's view.

mod more;
mod recorded;

//! `blpk` as its users meet it.

mod more;
mod recorded;

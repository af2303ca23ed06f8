//! Exit codes, each with one meaning in all programs of the family.

pub use b2_program::Code;

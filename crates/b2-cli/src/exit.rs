//! Exit codes: one meaning each, the same for every program of the family.

pub use b2_program::Code;

//! All tests of the interface in one program, as each further program would be linked anew.

mod properties;
mod rescue;

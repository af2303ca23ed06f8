//! The program that uses this crate.

use std::path::Path;

use crate::Error;

/// A program that is made of this crate. It has no values: its name stands in the types.
pub trait Program {
    /// The error of its functions, which those of this crate become.
    type Error: From<Error> + core::fmt::Debug;

    /// Whether the folder is one object, which an output of the same name may replace when that is
    /// forced. No output replaces another folder.
    fn is_object(folder: &Path) -> bool;
}

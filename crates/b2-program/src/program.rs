//! The program that uses this crate.

use std::path::Path;

use crate::Error;

/// A program that uses this crate. It has no values: types carry its name.
pub trait Program {
    /// The error of the program; errors of this crate are converted into it.
    type Error: From<Error> + core::fmt::Debug;

    /// Whether the folder is one object, which a forced output may replace. No output replaces
    /// another folder.
    fn is_object(folder: &Path) -> bool;
}

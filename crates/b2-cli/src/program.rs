//! This program, as the trait of `b2_program` describes it.

use std::path::Path;

use b2_program::Program;

use crate::{error::Error, inputs::origin, output::foreign_file};

/// The program `b2`.
#[derive(Clone, Debug)]
pub(crate) struct B2;

impl Program for B2 {
    type Error = Error;

    fn is_object(folder: &Path) -> bool {
        origin::is_object(folder) && foreign_file(folder).is_none()
    }
}

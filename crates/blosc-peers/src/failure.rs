//! The error of a comparison: one message.

use core::fmt;

pub(crate) type Result<T> = core::result::Result<T, Failure>;

/// A message for the person at the terminal.
#[derive(Debug)]
pub(crate) struct Failure(String);

pub(crate) fn fail<T>(message: impl Into<String>) -> Result<T> {
    Err(Failure(message.into()))
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: core::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

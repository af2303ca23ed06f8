//! The error of a task: one message for the person at the terminal.

use core::fmt;

/// The outcome of a task or a step of one.
pub type Result<T> = core::result::Result<T, Failure>;

/// A message; the steps that it passes through prefix their coordinates.
#[derive(Debug)]
pub struct Failure(String);

/// Stops with `message`.
///
/// # Errors
///
/// Always: the message.
pub fn fail<T>(message: impl Into<String>) -> Result<T> {
    Err(Failure(message.into()))
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: core::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            message = format!("{message}: {cause}");
            source = cause.source();
        }
        Self(message)
    }
}

/// Adds the position of a failure.
pub trait Context<T> {
    /// Prefixes the message with `place` and a colon.
    ///
    /// # Errors
    ///
    /// The same failure, with the prefix.
    fn at(self, place: impl fmt::Display) -> Result<T>;
}

impl<T, E: Into<Failure>> Context<T> for core::result::Result<T, E> {
    fn at(self, place: impl fmt::Display) -> Result<T> {
        self.map_err(|error| Failure(format!("{place}: {}", error.into())))
    }
}

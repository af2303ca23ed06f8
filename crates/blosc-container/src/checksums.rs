//! The checksums that a writer adds to those of the format, and the reaction of a reader to bytes
//! that do not match theirs.

use std::sync::{Arc, Mutex, PoisonError};

/// The checksums that a writer adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Checksums {
    /// No checksums.
    None,
    /// One checksum of the whole container: damage is noticed.
    #[default]
    Body,
    /// A checksum of each chunk as well: damage is noticed, and the chunk is named. If the chunks
    /// are separate files, [`Body`](Self::Body) gives each file a checksum, too.
    Chunks,
}

/// The reaction of a reader to bytes that do not match their checksum.
#[derive(Clone, Debug, Default)]
pub enum Mismatch {
    /// Reading fails.
    #[default]
    Fail,
    /// Reading goes on, and the log notes the mismatch.
    Note(MismatchLog),
    /// Checksums are ignored: a part of a chunk is read without the rest of it.
    Ignore,
}

impl Mismatch {
    /// Fails with `error`, or notes it.
    ///
    /// # Errors
    /// `error`, unless mismatches are noted or ignored.
    pub fn found<E: core::fmt::Display>(&self, error: E) -> Result<(), E> {
        match self {
            Self::Fail => return Err(error),
            Self::Note(log) => log.note(error.to_string()),
            Self::Ignore => {}
        }
        Ok(())
    }

    /// The same reaction for a part of a container, which noted mismatches name.
    #[must_use]
    pub fn of_part(&self, name: &str) -> Self {
        match self {
            Self::Note(log) => Self::Note(MismatchLog { part: Some(name.into()), ..log.clone() }),
            other => other.clone(),
        }
    }

    /// Whether checksums are compared.
    #[must_use]
    pub fn is_compared(&self) -> bool {
        !matches!(self, Self::Ignore)
    }

    /// Whether a mismatch was noted.
    #[must_use]
    pub fn is_noted(&self) -> bool {
        matches!(self, Self::Note(log) if log.first().is_some())
    }
}

/// Mismatches noted by readers. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct MismatchLog {
    first: Arc<Mutex<Option<String>>>,
    /// The part of a container being read.
    part: Option<Arc<str>>,
}

impl MismatchLog {
    /// The first mismatch.
    #[must_use]
    pub fn first(&self) -> Option<String> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes the first mismatch out of the log, which is then empty.
    #[must_use]
    pub fn take(&self) -> Option<String> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn note(&self, mismatch: String) {
        let mismatch = match &self.part {
            // Some errors name the part themselves.
            Some(part) if !mismatch.starts_with(&**part) => format!("{part}: {mismatch}"),
            _ => mismatch,
        };
        self.first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(mismatch);
    }
}

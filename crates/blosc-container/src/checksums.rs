//! Which checksums a writer adds beyond those that a format has of itself, and what a reader does
//! where bytes do not match theirs.

use std::sync::{Arc, Mutex, PoisonError};

/// Which checksums a writer adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Checksums {
    /// None.
    None,
    /// One of the whole container: damage is noticed.
    #[default]
    Body,
    /// One of each chunk as well: damage is noticed, and the chunk is named. A container whose
    /// chunks are files of their own has one of each file for [`Body`](Self::Body), too.
    Chunks,
}

/// The reaction of a reader to bytes that do not match their checksum.
#[derive(Clone, Debug, Default)]
pub enum Mismatch {
    /// Reading fails.
    #[default]
    Fail,
    /// Reading goes on, and the mismatch is noted.
    Note(MismatchLog),
    /// Nothing is compared: a part of a chunk is read without the rest of it.
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

    /// The same for a part of a container: what is noted names it.
    #[must_use]
    pub fn of_part(&self, name: &str) -> Self {
        match self {
            Self::Note(log) => Self::Note(MismatchLog { part: Some(name.into()), ..log.clone() }),
            other => other.clone(),
        }
    }

    /// Whether anything is compared.
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

/// Mismatches that readers have noted. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct MismatchLog {
    first: Arc<Mutex<Option<String>>>,
    /// The part of a container that a reader reads.
    part: Option<Arc<str>>,
}

impl MismatchLog {
    /// The first mismatch.
    #[must_use]
    pub fn first(&self) -> Option<String> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes the first mismatch out, so that the log is empty again.
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

//! What is odd about a data set without keeping anybody from reading it.

use core::fmt;

/// An oddity and where it was found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Note {
    /// The array, table, or column (path below the root).
    pub path: String,
    /// What is odd.
    pub fault: Fault,
}

/// What can be odd.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Fault {
    /// There is no `__attrs__`: bcolz does not open this.
    AttrsMissing,
    /// `__attrs__` has no bytes, as after a failed assignment: bcolz does not open this.
    AttrsEmpty,
    /// `nbytes` is not the size of the data.
    Nbytes {
        /// What the file says.
        stored: i128,
        /// What it should say.
        expected: u64,
    },
    /// A setting for writing is missing or unknown.
    StorageParams {
        /// Its key.
        key: &'static str,
    },
    /// There is no fill value: bcolz does not open this.
    NoDflt,
    /// A chunk, and perhaps others after it, was compressed with another typesize than bcolz takes.
    Typesize {
        /// The chunk.
        nchunk: u64,
        /// What its header says (bytes).
        found: usize,
        /// What bcolz takes (bytes).
        expected: usize,
    },
    /// The checksums cannot be used: their file is damaged.
    SumsDamaged,
    /// A program that writes no checksums changed the array.
    ChangedByOther,
    /// Chunk files that do not belong to the data, as trimming leaves them behind.
    StaleChunks {
        /// How many.
        count: u64,
    },
    /// Columns have different lengths, as after a crash; the table ends with the shortest one.
    ColumnLengths {
        /// Rows of the shortest column.
        min: u64,
        /// Rows of the longest column.
        max: u64,
    },
    /// A column that cannot be used was left out.
    ColumnSkipped {
        /// Its name.
        name: String,
        /// Why.
        why: String,
    },
    /// A directory with an array that is not listed as a column.
    Unlisted {
        /// Its name.
        name: String,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "." } else { &self.path };
        write!(f, "{path}: {}", self.fault)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AttrsMissing => f.write_str("no __attrs__; bcolz does not open this"),
            Self::AttrsEmpty => f.write_str("__attrs__ is empty; bcolz does not open this"),
            Self::Nbytes { stored, expected } => {
                write!(f, "nbytes {stored}, the data have {expected}")
            }
            Self::StorageParams { key } => {
                write!(f, "{key:?} is missing or unknown; the default is used for writing")
            }
            Self::NoDflt => f.write_str("no fill value; bcolz does not open this"),
            Self::Typesize { nchunk, found, expected } => {
                write!(f, "chunk {nchunk} has typesize {found}, bcolz takes {expected}")
            }
            Self::SumsDamaged => f.write_str(".b2sums is damaged; checksums were not compared"),
            Self::ChangedByOther => f.write_str("changed by a program that writes no checksums"),
            Self::StaleChunks { count: 1 } => {
                f.write_str("1 chunk file does not belong to the data")
            }
            Self::StaleChunks { count } => {
                write!(f, "{count} chunk files do not belong to the data")
            }
            Self::ColumnLengths { min, max } => {
                write!(f, "columns of {min} to {max} rows; {min} are complete")
            }
            Self::ColumnSkipped { name, why } => write!(f, "column {name:?} left out: {why}"),
            Self::Unlisted { name } => write!(f, "directory {name:?} is not listed as a column"),
        }
    }
}

//! What is odd about a data set without keeping anybody from reading it.

/// An oddity and where it was found.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}: {fault}", shown(path))]
#[non_exhaustive]
pub struct Note {
    /// The array, table, or column (path below the root).
    pub path: String,
    /// What is odd.
    pub fault: Fault,
}

/// What can be odd.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// There is no `__attrs__`: bcolz does not open this.
    #[error("no __attrs__; bcolz does not open this")]
    AttrsMissing,
    /// `__attrs__` has no bytes, as after a failed assignment: bcolz does not open this.
    #[error("__attrs__ is empty; bcolz does not open this")]
    AttrsEmpty,
    /// `nbytes` is not the size of the data.
    #[error("nbytes {stored}, the data have {expected}")]
    Nbytes {
        /// What the file says.
        stored: i128,
        /// What it should say.
        expected: u64,
    },
    /// A setting for writing is missing or unknown.
    #[error("{key:?} is missing or unknown; the default is used for writing")]
    StorageParams {
        /// Its key.
        key: &'static str,
    },
    /// There is no fill value: bcolz does not open this.
    #[error("no fill value; bcolz does not open this")]
    NoDflt,
    /// A chunk, and perhaps others after it, was compressed with another typesize than bcolz takes.
    #[error("chunk {nchunk} has typesize {found}, bcolz takes {expected}")]
    Typesize {
        /// The chunk.
        nchunk: u64,
        /// What its header says (bytes).
        found: usize,
        /// What bcolz takes (bytes).
        expected: usize,
    },
    /// The column has no checksums, and others of its table have: they were lost, or a program that
    /// writes none added the column.
    #[error("no .b2sums beside those of other columns: not compared; sealing the table adds it")]
    SumsMissing,
    /// A program that writes no checksums changed the array.
    #[error("changed by a program that writes no checksums")]
    ChangedByOther,
    /// Chunk files that do not belong to the data, as trimming leaves them behind.
    #[error("{count} chunk file{} not belong to the data", if *.count == 1 { " does" } else { "s do" })]
    StaleChunks {
        /// How many.
        count: u64,
    },
    /// Columns have different lengths, as after a crash; the table ends with the shortest one.
    #[error("columns of {min} to {max} rows; {min} are complete")]
    ColumnLengths {
        /// Rows of the shortest column.
        min: u64,
        /// Rows of the longest column.
        max: u64,
    },
    /// A column that cannot be used was left out.
    #[error("column {name:?} left out: {why}")]
    ColumnSkipped {
        /// Its name.
        name: String,
        /// Why.
        why: String,
    },
    /// A directory with an array that is not listed as a column.
    #[error("directory {name:?} is not listed as a column")]
    Unlisted {
        /// Its name.
        name: String,
    },
}

/// How messages call the array or table at this path below the root.
pub(crate) fn shown(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}

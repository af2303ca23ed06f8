//! Oddities of a data set that do not keep it from being read.

/// An oddity and the data set that has it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}: {fault}", shown(path))]
#[non_exhaustive]
pub struct Note {
    /// The array, table, or column (path below the root).
    pub path: String,
    /// The oddity.
    pub fault: Fault,
}

/// The kinds of oddities.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// There is no `__attrs__`: bcolz does not open this.
    #[error("no __attrs__; bcolz does not open this")]
    AttrsMissing,
    /// `__attrs__` has no bytes, as after a failed assignment: bcolz does not open this.
    #[error("__attrs__ is empty; bcolz does not open this")]
    AttrsEmpty,
    /// `nbytes` differs from the size of the data.
    #[error("nbytes {stored}, the data have {expected}")]
    Nbytes {
        /// The number in the file.
        stored: i128,
        /// The right number.
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
    /// A chunk, and perhaps others after it, was compressed with another typesize than bcolz uses.
    #[error("chunk {nchunk} has typesize {found}, bcolz takes {expected}")]
    Typesize {
        /// The chunk.
        nchunk: u64,
        /// The typesize in its header (bytes).
        found: usize,
        /// The typesize that bcolz uses (bytes).
        expected: usize,
    },
    /// The column has no checksums, but others of its table have: they were lost, or a program
    /// without checksums added the column.
    #[error("no .b2sums beside those of other columns: not compared; sealing the table adds it")]
    SumsMissing,
    /// `__attrs__` is not what was summed.
    #[error("attributes changed by a program that writes no checksums, or damaged")]
    AttrsChanged,
    /// A program that writes no checksums changed the array.
    #[error("changed by a program that writes no checksums")]
    ChangedByOther,
    /// Chunk files that do not belong to the data; trimming leaves them.
    #[error("{count} chunk file{} not belong to the data", if *.count == 1 { " does" } else { "s do" })]
    StaleChunks {
        /// The number of files.
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
    /// A column that cannot be used is left out.
    #[error("column {name:?} left out: {why}")]
    ColumnSkipped {
        /// Its name.
        name: String,
        /// The reason.
        why: String,
    },
    /// A directory with an array that is not listed as a column.
    #[error("directory {name:?} is not listed as a column")]
    Unlisted {
        /// Its name.
        name: String,
    },
}

/// The name of the array or table at this path below the root, for messages.
pub(crate) fn shown(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}

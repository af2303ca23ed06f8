//! What a caller can ask for that cannot be had.

/// A request that cannot be met.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Param {
    /// Rows after the end.
    #[error("rows {start}..{end} of {len}")]
    Rows {
        /// The first requested row.
        start: u64,
        /// The row after the last one.
        end: u64,
        /// Rows that there are.
        len: u64,
    },
    /// A buffer that is not as long as the rows.
    #[error("a buffer of {found} bytes for {needed} bytes of rows")]
    Buffer {
        /// Bytes of the buffer.
        found: u64,
        /// Bytes of the rows.
        needed: u64,
    },
    /// Data that are no whole number of rows.
    #[error("{nbytes} bytes are no whole number of rows of {rowsize} bytes")]
    Ragged {
        /// Bytes of the data.
        nbytes: u64,
        /// Bytes of a row.
        rowsize: u64,
    },
    /// Items as another type than they have.
    #[error("items of type {found} requested as {asked}")]
    Element {
        /// The dtype.
        found: String,
        /// The Rust type.
        asked: &'static str,
    },
    /// Rows of an object array as bytes, or objects of another one.
    #[error("{found} holds {}", if *.objects { "objects" } else { "no objects" })]
    Objects {
        /// The path of the array.
        found: String,
        /// Whether it does hold objects.
        objects: bool,
    },
    /// A carray opened as a ctable, or the other way round.
    #[error("a {found}, requested as a {asked}")]
    Kind {
        /// What it is.
        found: &'static str,
        /// The requested kind.
        asked: &'static str,
    },
    /// A value to fill with that items of the type cannot have.
    #[error("a fill value that does not fit items of type {dtype}")]
    Fill {
        /// The dtype.
        dtype: String,
    },
    /// A column that the table does not have.
    #[error("no column {name:?}")]
    NoColumn {
        /// Its name.
        name: String,
    },
    /// A column that the table has already.
    #[error("there is a column {name:?}")]
    ColumnExists {
        /// Its name.
        name: String,
    },
    /// A name that no column may have.
    #[error("column {name:?} {fault}")]
    ColumnName {
        /// The name.
        name: String,
        /// What is wrong with it.
        fault: super::NameFault,
    },
    /// Something stands where a data set should be made.
    #[error("{path} exists")]
    Exists {
        /// The path.
        path: String,
    },
    /// Columns, or data for them, of different lengths.
    #[error("column {name:?} has {found} rows, others {expected}")]
    ColumnLength {
        /// The column.
        name: String,
        /// Its rows.
        found: u64,
        /// The rows of the first column.
        expected: u64,
    },
    /// Data for some of the columns only.
    #[error("data for {found} of {expected} columns")]
    ColumnCount {
        /// Columns with data.
        found: usize,
        /// Columns of the table.
        expected: usize,
    },
    /// A codec that bcolz does not know.
    #[error("no codec {cname:?} in bcolz")]
    Cname {
        /// Its name.
        cname: String,
    },
    /// A number that an option cannot have.
    #[error("{option} {value} is outside {min}..={max}")]
    Option {
        /// The option.
        option: &'static str,
        /// Its value.
        value: u64,
        /// The least.
        min: u64,
        /// The most.
        max: u64,
    },
    /// A dtype that is read but not written: objects.
    #[error("arrays of {dtype} are not written")]
    NotWritten {
        /// The dtype.
        dtype: String,
    },
    /// Significant digits requested for items that are no floats.
    #[error("quantize of items of type {dtype}")]
    Quantize {
        /// The dtype.
        dtype: String,
    },
    /// A column of a type that the destination does not have.
    #[error("column {column:?} of type {found} has no counterpart")]
    NoCounterpart {
        /// Its name.
        column: String,
        /// Its type.
        found: String,
    },
    /// A value that the type of the destination cannot hold.
    #[error("row {row} of column {column:?} does not fit into {dtype}")]
    Value {
        /// The column.
        column: String,
        /// The row, from the first one of those that were given.
        row: u64,
        /// The type that it does not fit into.
        dtype: String,
    },
    /// Missing values, for a type that has no way to say so.
    #[error("column {column:?} lacks {count} values, and {dtype} cannot say so")]
    Nulls {
        /// The column.
        column: String,
        /// How many.
        count: usize,
        /// The type.
        dtype: String,
    },
    /// A tree that can only be read.
    #[error("the tree cannot be written to")]
    ReadOnly,
}

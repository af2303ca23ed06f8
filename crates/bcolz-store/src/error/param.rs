//! Requests that cannot be met.

/// A request that cannot be met.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Param {
    /// Rows after the end.
    #[error("rows {start}..{end} of {len}")]
    Rows {
        /// The first requested row.
        start: u64,
        /// The row after the last requested one.
        end: u64,
        /// Rows present.
        len: u64,
    },
    /// A buffer with another length than the rows.
    #[error("a buffer of {found} bytes for {needed} bytes of rows")]
    Buffer {
        /// Bytes of the buffer.
        found: u64,
        /// Bytes of the rows.
        needed: u64,
    },
    /// Data that are not a whole number of rows.
    #[error("{nbytes} bytes are no whole number of rows of {rowsize} bytes")]
    Ragged {
        /// Bytes of the data.
        nbytes: u64,
        /// Bytes of a row.
        rowsize: u64,
    },
    /// Items requested as a type other than their own.
    #[error("items of type {found} requested as {asked}")]
    Element {
        /// The dtype.
        found: String,
        /// The Rust type.
        asked: &'static str,
    },
    /// Rows of an object array requested as bytes, or objects of an array without any.
    #[error("{found} holds {}", if *.objects { "objects" } else { "no objects" })]
    Objects {
        /// The path of the array.
        found: String,
        /// Whether the array holds objects.
        objects: bool,
    },
    /// A carray opened as a ctable, or the other way round.
    #[error("a {found}, requested as a {asked}")]
    Kind {
        /// The actual kind.
        found: &'static str,
        /// The requested kind.
        asked: &'static str,
    },
    /// A fill value that items of the type cannot have.
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
    /// A column that the table already has.
    #[error("there is a column {name:?}")]
    ColumnExists {
        /// Its name.
        name: String,
    },
    /// An invalid name for a column.
    #[error("column {name:?} {fault}")]
    ColumnName {
        /// The name.
        name: String,
        /// The name's fault.
        fault: super::NameFault,
    },
    /// The path of a new data set is taken.
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
        /// The least allowed.
        min: u64,
        /// The greatest allowed.
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
    /// A column whose type the destination lacks.
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
        /// The row, counted from the first given one.
        row: u64,
        /// The type that it does not fit into.
        dtype: String,
    },
    /// Missing values in a type that cannot hold them.
    #[error("column {column:?} lacks {count} values, and {dtype} cannot say so")]
    Nulls {
        /// The column.
        column: String,
        /// The number of missing values.
        count: usize,
        /// The type.
        dtype: String,
    },
    /// A tree that can only be read.
    #[error("the tree cannot be written to")]
    ReadOnly,
}

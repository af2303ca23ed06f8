//! Reasons why text is no table, and why data cannot be converted as requested.

use blosc_dtype::expr::{ExprError, spelled};

use crate::error::Error;

/// The reason why comma-separated values cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CsvError {
    /// The parser refuses a line. The text holds its whole error, so the chain has no cause.
    #[error("{}", csv_text(.0))]
    Csv(csv::Error),
    /// A quotation mark is not closed.
    #[error("line {line}: a quotation mark is not closed before the end of the file")]
    OpenQuote {
        /// The line, from 1.
        line: u64,
    },
    /// The file has no lines.
    #[error("there is no first line with the names of the columns")]
    NoNames,
    /// A name is not UTF-8.
    #[error("the name of column {column} (from 0) is not UTF-8")]
    NameText {
        /// The number of the column.
        column: usize,
    },
    /// Two columns have the same name.
    #[error("two columns have the name {name:?}")]
    Twice {
        /// The name.
        name: String,
    },
    /// A field has no column.
    #[error("there is no column {name:?}")]
    NoColumn {
        /// The name of the field.
        name: String,
    },
    /// A value does not fit the type of its column.
    #[error("line {line}, column {column:?}: {text:?} is no {dtype}")]
    Value {
        /// The line, from 1.
        line: u64,
        /// The name of the column.
        column: String,
        /// The value.
        text: String,
        /// The type of the column.
        dtype: String,
    },
    /// A value is not UTF-8.
    #[error("line {line}, column {column:?}: a value is not UTF-8")]
    NotText {
        /// The line, from 1.
        line: u64,
        /// The name of the column.
        column: String,
    },
    /// A value outside of a file does not fit the type of its column.
    #[error("column {column:?}: {text:?} is no {dtype}")]
    Cell {
        /// The name of the column.
        column: String,
        /// The value.
        text: String,
        /// The type of the column.
        dtype: String,
    },
    /// Text cannot be read as the type.
    #[error("values of the type {dtype} cannot be read from text")]
    Type {
        /// The type.
        dtype: String,
    },
    /// The columns form no item.
    #[error("the columns")]
    Dtype(#[from] blosc_dtype::Error),
}

impl From<csv::Error> for CsvError {
    fn from(error: csv::Error) -> Self {
        Self::Csv(error)
    }
}

/// The fault of a line, in the words of this crate.
fn csv_text(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let line = pos.as_ref().map_or(0, csv::Position::line);
            let (mut found, mut at) = (len.to_string(), len.to_string().len());
            while at > 3 {
                at -= 3;
                found.insert(at, ' ');
            }
            let values = if *len == 1 { "value" } else { "values" };
            format!("line {line} has {found} {values}, and the first line has {expected_len}")
        }
        _ => format!("not comma-separated values: {error}"),
    }
}

/// The reason why data cannot be converted as requested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Items without fields, or in several dimensions, for a format of tables.
    #[error("items without fields, or in several dimensions, which form no columns")]
    NoColumns,
    /// A choice of columns or rows of data without any.
    #[error("not a table: there are no rows and no columns to choose")]
    NotATable,
    /// A column that the table does not have.
    #[error("no column has the name {name:?}")]
    NoColumn {
        /// The name.
        name: String,
        /// The columns of the table.
        columns: Vec<String>,
    },
    /// A condition on a column that the table does not have.
    #[error("the condition names {name:?}, which is no column")]
    NoConditionColumn {
        /// The name.
        name: String,
        /// The columns of the table.
        columns: Vec<String>,
    },
    /// A condition that does not parse.
    #[error("{error} in {text:?}")]
    Condition {
        /// The condition.
        text: String,
        /// The position and kind of the fault.
        error: ExprError,
    },
    /// A condition on a field whose values cannot be compared.
    #[error(
        "the condition is about a field that has no values to compare, such as a part of an item"
    )]
    NoArithmetic,
    /// A column of Python objects in a part of a bcolz table.
    #[error("column {0} holds objects of Python, which a part of a table of bcolz cannot hold")]
    ObjectsStayWhole(String),
    /// New rows without a column of the table.
    #[error("the new rows have no column `{0}`")]
    LacksColumn(String),
    /// New rows with a column that the table does not have.
    #[error("the new rows have a column `{0}`, which the table has not")]
    ExtraColumn(String),
    /// New values other than text, for a column of text.
    #[error("column `{0}` of the table holds text, and the new values are none")]
    NoText(String),
    /// New text longer than the column's width.
    #[error("column `{0}` of the table has a fixed width, and the new text is longer")]
    TextTooLong(String),
    /// Python objects in place of bytes.
    #[error("items are Python objects, which have no raw bytes")]
    PythonObjects,
    /// Bytes without a type, for a format of arrays.
    #[error("not an array, and the type of its items is unknown")]
    UnknownItems,
    /// A size in bytes for the chunks or blocks of an array.
    #[error("chunks and blocks of an array have a shape, not a number of bytes")]
    BytesOfArray,
    /// A shape of several dimensions, or a size in bytes, for the chunks or blocks of a table.
    #[error("chunks and blocks of a table are numbers of rows")]
    RowsOfTable,
    /// A shape for chunks or blocks of bytes.
    #[error("shapes of chunks and blocks are for arrays")]
    ShapesOfBytes,
    /// A codec or filter for arrays, for bytes without a shape.
    #[error("{0} is for arrays, and these data have no shape")]
    IsForArrays(String),
    /// A codec or filter for arrays, for a format that holds none.
    #[error("{0} has none")]
    FormatWithoutShape(String),
    /// A codec for arrays of two dimensions.
    #[error("{0} is for arrays of two dimensions")]
    IsForTwoDimensions(String),
    /// A type that a `.npy` file cannot hold.
    #[error("a .npy file cannot hold items of the type {0}")]
    NoNpyType(String),
    /// A change that tables of bcolz do not support.
    #[error("a table of bcolz {0}")]
    NotInBcolz(BcolzLack),
    /// A block size for bcolz, which chooses its own.
    #[error("bcolz chooses the blocks of its chunks by itself")]
    BcolzBlocks,
    /// A codec that bcolz lacks.
    #[error("bcolz has no codec {0}")]
    BcolzCodec(String),
    /// Filters that bcolz lacks.
    #[error("bcolz has the filters shuffle, bitshuffle and none, not {0}")]
    BcolzFilter(String),
    /// A build without the feature `parquet`.
    #[error("this build reads and writes no Parquet: it was made without the feature `parquet`")]
    NoParquet,
    /// A store with several values in place of one value.
    #[error("is a store of several values")]
    SeveralValues,
}

impl Refusal {
    /// The error that `name` is not among the columns.
    pub(crate) fn no_column<'a>(name: &str, columns: impl Iterator<Item = &'a str>) -> Self {
        Self::NoColumn { name: name.to_owned(), columns: columns.map(str::to_owned).collect() }
    }

    /// The error of the condition `text`; if it names an unknown column, with the known ones.
    #[must_use]
    pub fn in_condition<'a>(
        error: Error,
        text: &str,
        columns: impl IntoIterator<Item = &'a str>,
    ) -> Error {
        match error {
            Error::Bcolz(bcolz_store::Error::Expr(error))
            | Error::Store(b2store::Error::Expr(error)) => match error {
                ExprError::NoColumn { name, .. } => {
                    let columns = columns.into_iter().map(spelled).collect();
                    Self::NoConditionColumn { name, columns }.into()
                }
                error => Self::Condition { text: text.to_owned(), error }.into(),
            },
            error => error,
        }
    }
}

/// A limit of bcolz tables, in words after "a table of bcolz".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BcolzLack {
    /// Rows cannot be deleted.
    #[error("keeps all rows")]
    Deletion,
    /// There is nothing to compact.
    #[error("has no deleted rows")]
    DeletedRows,
    /// A new column needs a value.
    #[error("has no nulls")]
    NullColumn,
    /// A cell cannot become null, or be filled for being null.
    #[error("has no nulls")]
    NullCell,
}

//! Why text is no table, and why data cannot become what was requested.

use blosc_dtype::expr::{ExprError, spelled};

use crate::error::Error;

/// Why comma-separated values cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CsvError {
    /// A line that the parser refuses. Its text says all, so that it is no cause of its own.
    #[error("{}", csv_text(.0))]
    Csv(csv::Error),
    /// A quotation mark that nothing closes.
    #[error("line {line}: a quotation mark is not closed before the end of the file")]
    OpenQuote {
        /// The line, from 1.
        line: u64,
    },
    /// A file without a line.
    #[error("there is no first line with the names of the columns")]
    NoNames,
    /// A name that is no text.
    #[error("the name of column {column} (from 0) is no UTF-8")]
    NameText {
        /// The number of the column.
        column: usize,
    },
    /// Two columns of one name.
    #[error("two columns have the name {name:?}")]
    Twice {
        /// The name.
        name: String,
    },
    /// A field without a column.
    #[error("there is no column {name:?}")]
    NoColumn {
        /// The name of the field.
        name: String,
    },
    /// A value that is none of its type.
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
    /// A value that is no text at all.
    #[error("line {line}, column {column:?}: a value is no UTF-8")]
    NotText {
        /// The line, from 1.
        line: u64,
        /// The name of the column.
        column: String,
    },
    /// The same of a value that stands in no file.
    #[error("column {column:?}: {text:?} is no {dtype}")]
    Cell {
        /// The name of the column.
        column: String,
        /// The value.
        text: String,
        /// The type of the column.
        dtype: String,
    },
    /// A type that no text is read as.
    #[error("values of the type {dtype} cannot be read from text")]
    Type {
        /// The type.
        dtype: String,
    },
    /// Columns that make no item.
    #[error("the columns")]
    Dtype(#[from] blosc_dtype::Error),
}

impl From<csv::Error> for CsvError {
    fn from(error: csv::Error) -> Self {
        Self::Csv(error)
    }
}

/// The fault of a line, in our words.
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

/// Why data cannot become what was requested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Items without fields, or in several dimensions, for a format of tables.
    #[error("items without fields, or in several dimensions, so that there are no columns")]
    NoColumns,
    /// Columns or rows of something that has none.
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
    /// A condition that is none, at a place of its text.
    #[error("{error} in {text:?}")]
    Condition {
        /// The condition.
        text: String,
        /// Where and why it is none.
        error: ExprError,
    },
    /// A condition on a field without values to compare.
    #[error(
        "the condition is about a field that has no values to compare, such as a part of an item"
    )]
    NoArithmetic,
    /// A column of Python objects in a part of a table of bcolz.
    #[error("column {0} holds objects of Python, which a part of a table of bcolz cannot hold")]
    ObjectsStayWhole(String),
    /// New rows without a column of the table.
    #[error("the new rows have no column `{0}`")]
    LacksColumn(String),
    /// New rows with a column that the table does not have.
    #[error("the new rows have a column `{0}`, which the table has not")]
    ExtraColumn(String),
    /// New values that are no text, for a column of text.
    #[error("column `{0}` of the table holds text, and the new values are none")]
    NoText(String),
    /// New text that is longer than the column is wide.
    #[error("column `{0}` of the table has a fixed width, and the new text is longer")]
    TextTooLong(String),
    /// Python objects where bytes are wanted.
    #[error("items are Python objects, which are no bytes of data")]
    PythonObjects,
    /// Bytes without a type, for a format of arrays.
    #[error("not an array, and nothing tells what its items are")]
    UnknownItems,
    /// A number of bytes for the chunks or blocks of an array.
    #[error("chunks and blocks of an array have a shape, not a number of bytes")]
    BytesOfArray,
    /// A shape of several dimensions, or a number of bytes, for the chunks or blocks of a table.
    #[error("chunks and blocks of a table are numbers of rows")]
    RowsOfTable,
    /// A shape for chunks or blocks of bytes.
    #[error("shapes of chunks and blocks are for arrays")]
    ShapesOfBytes,
    /// A codec or filter for arrays, and bytes without a shape.
    #[error("{0} is for arrays, and nothing tells the shape of these data")]
    IsForArrays(String),
    /// A codec or filter for arrays, and a format that holds none.
    #[error("the shape of the array is needed for {0} has none")]
    FormatWithoutShape(String),
    /// A codec for arrays of two dimensions.
    #[error("{0} is for arrays of two dimensions")]
    IsForTwoDimensions(String),
    /// A type that a `.npy` file cannot hold.
    #[error("a .npy file cannot hold items of the type {0}")]
    NoNpyType(String),
    /// A change of a table that bcolz does not have.
    #[error("a table of bcolz {0}")]
    NotInBcolz(BcolzLack),
    /// A size of blocks, which bcolz chooses by itself.
    #[error("bcolz chooses the blocks of its chunks by itself")]
    BcolzBlocks,
    /// A codec that bcolz does not have.
    #[error("bcolz has no codec {0}")]
    BcolzCodec(String),
    /// Filters that bcolz does not have.
    #[error("bcolz has the filters shuffle, bitshuffle and none, not {0}")]
    BcolzFilter(String),
    /// A build without the feature `parquet`.
    #[error("this build reads and writes no Parquet: it was made without the feature `parquet`")]
    NoParquet,
    /// A store with several values, of which one is wanted.
    #[error("is a store of several values")]
    SeveralValues,
}

impl Refusal {
    /// There is no column `name` among those.
    pub(crate) fn no_column<'a>(name: &str, columns: impl Iterator<Item = &'a str>) -> Self {
        Self::NoColumn { name: name.to_owned(), columns: columns.map(str::to_owned).collect() }
    }

    /// The error of a condition `text`, with the columns that there are if it names another one.
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

/// A shortcoming of the tables of bcolz, in the words that follow "a table of bcolz".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BcolzLack {
    /// No row can be deleted.
    #[error("keeps all rows")]
    Deletion,
    /// There is nothing to compact.
    #[error("has no deleted rows")]
    DeletedRows,
    /// A new column needs a value.
    #[error("has no nulls")]
    NullColumn,
    /// A cell cannot become null, or be filled because it is.
    #[error("has no nulls")]
    NullCell,
}

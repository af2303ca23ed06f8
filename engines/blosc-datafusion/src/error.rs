//! Errors of opening and reading a table.

use datafusion::error::DataFusionError;

/// Why a table cannot be opened or read.
///
/// The text contains all causes, and [`source`](core::error::Error::source) is none: engines show
/// the text alone, and other processes of a cluster get only that.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The location holds no table.
    #[error(
        "{location}: no table of bcolz, no table in a Blosc2 store, no array, and no folder of such"
    )]
    NotATable {
        /// The name by which it was opened.
        location: String,
    },
    /// The system refuses to read the location.
    #[error("{location}: {}", chain(cause))]
    Io {
        /// The name by which it was opened.
        location: String,
        /// The error of the system.
        cause: std::io::Error,
    },
    /// A column or a table that Arrow has no type for.
    #[error("{location}: {what}")]
    NoCounterpart {
        /// The name by which it was opened.
        location: String,
        /// The type of the column or table.
        what: String,
    },
    /// Tables of one folder whose columns differ.
    #[error("{location}: {what}; other tables of the folder have {expected}")]
    Schema {
        /// The table.
        location: String,
        /// Its columns.
        what: String,
        /// The columns of the first table.
        expected: String,
    },
    /// The table differs from the one that the plan was made for.
    #[error("{location}: the table was changed since the query was planned")]
    Changed {
        /// The name by which it was opened.
        location: String,
    },
    /// A damaged or unknown part of a plan that another process sent.
    #[error("plan of a scan: {what}")]
    Plan {
        /// The defect.
        what: String,
    },
    /// Rows that cannot be read, or a table that cannot be opened.
    #[error("{location}: {what}: {}", chain(&**cause))]
    Read {
        /// The name by which it was opened.
        location: String,
        /// Column and rows, or the opened location.
        what: String,
        /// The cause.
        cause: Box<dyn core::error::Error + Send + Sync>,
    },
    /// Text that is no UTF-8.
    #[error(
        "{location}: column {column}, row {row}: the bytes are no UTF-8; the option bytes_as_text=false gives them as they are"
    )]
    NoText {
        /// The name by which it was opened.
        location: String,
        /// The column.
        column: String,
        /// The first such row.
        row: u64,
    },
    /// An unknown option of `CREATE EXTERNAL TABLE`, or an unknown value.
    #[error("option {name}={value}: known are bytes_as_text and views, which are true or false")]
    NoOption {
        /// Its name.
        name: String,
        /// Its value.
        value: String,
    },
}

/// An error and its causes.
fn chain(error: &dyn core::error::Error) -> String {
    let mut text = error.to_string();
    for error in core::iter::successors(error.source(), |error| error.source()) {
        let link = error.to_string();
        if !text.ends_with(&link) {
            text = format!("{text}: {link}");
        }
    }
    text
}

impl From<Error> for DataFusionError {
    fn from(error: Error) -> Self {
        Self::External(Box::new(error))
    }
}

/// The result of opening or reading a table.
pub(crate) type Result<T> = core::result::Result<T, Error>;

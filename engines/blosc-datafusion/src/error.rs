//! What can be wrong with a table.

use datafusion::error::DataFusionError;

/// Why a table cannot be opened or read.
///
/// The text has all causes in it, and [`source`](core::error::Error::source) none: engines show
/// the text alone, and other processes of a cluster get nothing else.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing that could be a table.
    #[error(
        "{location}: no table of bcolz, no table in a Blosc2 store, no array, and no folder of such"
    )]
    NotATable {
        /// The name by which it was opened.
        location: String,
    },
    /// The name cannot be read.
    #[error("{location}: {}", chain(cause))]
    Io {
        /// The name by which it was opened.
        location: String,
        /// What the system says.
        cause: std::io::Error,
    },
    /// A column or a table that Arrow has no type for.
    #[error("{location}: {what}")]
    NoCounterpart {
        /// The name by which it was opened.
        location: String,
        /// What it is.
        what: String,
    },
    /// Tables of a folder that do not go together.
    #[error("{location}: {what}; other tables of the folder have {expected}")]
    Schema {
        /// The table.
        location: String,
        /// What it has.
        what: String,
        /// What the first table has.
        expected: String,
    },
    /// A table that is not the one that the plan was made for.
    #[error("{location}: the table was changed since the query was planned")]
    Changed {
        /// The name by which it was opened.
        location: String,
    },
    /// A part of a plan that another process sent, and that is none.
    #[error("plan of a scan: {what}")]
    Plan {
        /// What is wrong with it.
        what: String,
    },
    /// Rows that cannot be read, or a table that cannot be opened.
    #[error("{location}: {what}: {}", chain(&**cause))]
    Read {
        /// The name by which it was opened.
        location: String,
        /// Column and rows, or what was opened.
        what: String,
        /// Why.
        cause: Box<dyn core::error::Error + Send + Sync>,
    },
    /// Text that is none.
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
    /// An option of `CREATE EXTERNAL TABLE` that is none.
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

//! Tables as record batches of Arrow, and record batches as tables (feature `arrow`).
//!
//! | NumPy | Arrow |
//! |---|---|
//! | `bool`, integers, floats of 2, 4 and 8 bytes | the same |
//! | `S`, `U` | binary, UTF-8: without the zeros at the end |
//! | `datetime64` of years to days | dates of 32 bits; NaT is null |
//! | `datetime64` of hours to seconds, of `ms`, `us`, `ns` | timestamps of seconds, of the same unit; NaT is null |
//! | `timedelta64` of weeks to `ns` | durations of these units |
//! | other dates and times | integers of 64 bits |
//! | raw bytes, complex numbers, records, floats of 16 bytes | binary of fixed size |
//! | rows with a shape | lists of fixed size, nested |
//!
//! The metadata of each field keep the dtype, so that the way back leads to the same column;
//! columns that come from elsewhere get the dtype of the table above. Attributes are metadata of
//! schema and fields.

mod batches;
mod export;
mod import;
mod objects;
mod times;
mod types;

pub use batches::RecordBatches;
pub use import::Columns;

/// The metadata of a field or schema with this key hold the dtype of the column, as NumPy writes
/// it.
pub const DTYPE_KEY: &str = "numpy.dtype";

/// The metadata of a field or schema with this key hold the attributes of the column or table, as
/// JSON.
pub const ATTRS_KEY: &str = "bcolz.attrs";

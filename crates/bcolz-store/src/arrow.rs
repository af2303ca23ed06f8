//! Tables as record batches of Arrow, and record batches as tables (feature `arrow`).
//!
//! [`blosc_dtype::arrow`] has the table of dtypes and Arrow types.
//!
//! The metadata of each field keep the dtype, so a column that returns from Arrow is the same;
//! columns from elsewhere get the dtype of that table. Attributes are metadata of the schema and
//! the fields.

mod batches;
mod import;
mod objects;
mod types;

pub use batches::RecordBatches;
pub use blosc_dtype::arrow::DTYPE_KEY;
pub use import::Columns;

/// The metadata of a field or schema with this key hold the attributes of the column or table, as
/// JSON.
pub const ATTRS_KEY: &str = "bcolz.attrs";

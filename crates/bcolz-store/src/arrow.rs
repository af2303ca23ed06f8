//! Tables as record batches of Arrow, and record batches as tables (feature `arrow`).
//!
//! Which type of Arrow a dtype is, is said in [`blosc_dtype::arrow`].
//!
//! The metadata of each field keep the dtype, so that the way back leads to the same column;
//! columns that come from elsewhere get the dtype of the table above. Attributes are metadata of
//! schema and fields.

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

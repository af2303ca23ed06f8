//! Tables as record batches of Arrow (feature `arrow`).
//!
//! | column | Arrow |
//! |---|---|
//! | numbers, truth values, `string`, `bytes`, `complex`, `ndarray` | by [`blosc_dtype::arrow`] |
//! | `bool` with nulls as sentinels | truth values |
//! | `timestamp` | timestamps of its unit and time zone |
//! | `utf8`, `vlstring`; `vlbytes` | UTF-8; binary |
//! | `dictionary` | dictionary of UTF-8, with keys of 32 bits |
//! | `list`, `struct` | lists, structs of the items and fields that the schema describes |
//! | `object`, references, unknown kinds | none |
//!
//! Nulls are nulls however the table marks them, and deleted rows are left out. The metadata of
//! fields of fixed width keep the dtype.
//!
//! [`StoreWriter::insert_batches`](crate::StoreWriter::insert_batches) makes a table from record
//! batches; [`RowAppender::append_batch`](crate::RowAppender::append_batch) appends them to one.

// The modules take these names from here; `arrow_59` defines the same names for another version.
use ::{arrow_array, arrow_buffer, arrow_schema};
use arrow_schema::Metadata;
use blosc_dtype::arrow as items;

mod batches;
mod columns;
mod import;
mod objects;
mod scan;
mod types;

pub use batches::RecordBatches;
pub use columns::ColumnArrays;
pub use items::DTYPE_KEY;
pub use scan::Scan;
pub use types::has_counterpart;

//! Tables as record batches of Arrow (feature `arrow`).
//!
//! | column | Arrow |
//! |---|---|
//! | numbers, truth values, `string`, `bytes`, `complex`, `ndarray` | as [`blosc_dtype::arrow`] says |
//! | `bool` with nulls as sentinels | truth values |
//! | `timestamp` | timestamps of its unit and time zone |
//! | `utf8`, `vlstring`; `vlbytes` | UTF-8; binary |
//! | `dictionary` | dictionary of UTF-8, with keys of 32 bits |
//! | `list`, `struct` | lists, structs of the items and fields that the schema describes |
//! | `object`, references, kinds that are not known | none |
//!
//! Nulls are nulls however the table marks them, and rows that were deleted are left out. The
//! metadata of fields of fixed width keep the dtype.
//!
//! Record batches become a table by
//! [`StoreWriter::insert_batches`](crate::StoreWriter::insert_batches), or are appended to one by
//! [`RowAppender::append_batch`](crate::RowAppender::append_batch).

// The modules take these names from here: `arrow_59` has the same with others.
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

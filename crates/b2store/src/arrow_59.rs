//! Columns of tables as arrays of Arrow 59 (feature `arrow-59`), for engines with that version. The
//! module `arrow` does the same for the newest version.
#![cfg_attr(
    feature = "arrow",
    expect(clippy::duplicate_mod, reason = "one source for two versions of Arrow")
)]

use std::collections::HashMap;

use arrow_array_59 as arrow_array;
use arrow_buffer_59 as arrow_buffer;
use arrow_schema_59 as arrow_schema;
use blosc_dtype::arrow_59 as items;

#[path = "arrow/columns.rs"]
mod columns;
#[path = "arrow/objects.rs"]
mod objects;
#[path = "arrow/types.rs"]
mod types;

pub use columns::ColumnArrays;
pub use items::DTYPE_KEY;
pub use types::has_counterpart;

type Metadata = HashMap<String, String>;

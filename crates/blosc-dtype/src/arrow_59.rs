//! Items of a dtype as arrays of Arrow 59 (feature `arrow-59`), for engines with that version. The
//! module `arrow` is for the newest version.
#![cfg_attr(
    feature = "arrow",
    expect(clippy::duplicate_mod, reason = "one source for two versions of Arrow")
)]

use arrow_array_59 as arrow_array;
use arrow_buffer_59 as arrow_buffer;
use arrow_schema_59 as arrow_schema;

#[path = "arrow/array.rs"]
mod array;
#[path = "arrow/numbers.rs"]
mod numbers;
#[path = "arrow/times.rs"]
mod times;
#[path = "arrow/types.rs"]
mod types;

pub use array::{ArrayError, array, offsets};
pub use numbers::{counts, from_native, to_native, with_type};
pub use times::{NAT, Times, dtype_text};
pub use types::{DTYPE_KEY, item_type, list_item, row_type};

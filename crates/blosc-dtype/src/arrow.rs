//! Items of a dtype as arrays of Arrow (feature `arrow`).
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

// The modules import these names from here: `arrow_59` has the same names for other crates.
use ::{arrow_array, arrow_buffer, arrow_schema};

mod array;
mod numbers;
mod times;
mod types;

pub use array::{ArrayError, array, offsets};
pub use numbers::{counts, from_native, to_native, with_type};
pub use times::{NAT, Times, dtype_text};
pub use types::{DTYPE_KEY, item_type, list_item, row_type};

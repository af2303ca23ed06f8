//! What an input holds, as the library has it.

pub(crate) use blosc_data::{
    content::Object,
    formats::frame::{is_sparse, stored_nbytes as frame_bytes},
};

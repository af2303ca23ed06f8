//! The objects of inputs, as the library has them.

pub(crate) use blosc_data::{
    content::Object,
    formats::frame::{is_sparse, stored_nbytes as frame_bytes},
};

//! The objects of inputs, re-exported from the library.

pub(crate) use blosc_data::{
    content::Object,
    formats::frame::{is_sparse, stored_nbytes as frame_bytes},
};

//! Items as text and as JSON, as the libraries have them.

pub(crate) use blosc_data::json::item::json;
pub(crate) use blosc_dtype::item::{cell, text};

//! Items as text and as JSON, re-exported from the libraries.

pub(crate) use blosc_data::json::item::json;
pub(crate) use blosc_dtype::item::{cell, text};

//! The formats as the program needs them, on top of the libraries.

pub(crate) mod bcolz;
pub(crate) mod store;

// The formats are behind the door.
pub(crate) use blosc_data::{
    boxes as stored_array,
    boxes::{Boxes, Stored},
    content::{Bcolz, TableRows},
    formats::{blp, blp::Blp, chunk, chunk::BareChunk, csv as csv_table},
    json::msgpack as msgpack_json,
};

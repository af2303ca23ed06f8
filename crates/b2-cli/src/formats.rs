//! The formats, re-exported from the libraries, with additions of the program.

pub(crate) mod bcolz;
pub(crate) mod npy;
pub(crate) mod store;

// `blosc_data` hides the crates of the formats.
pub(crate) use blosc_data::{
    boxes as stored_array,
    boxes::{Boxes, Stored},
    content::{Bcolz, TableRows},
    formats::{blp, blp::Blp, chunk, chunk::BareChunk, csv as csv_table},
    json::msgpack as msgpack_json,
};

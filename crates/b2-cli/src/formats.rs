//! The formats as the program needs them, on top of the libraries.

pub(crate) mod bcolz;
pub(crate) mod blp;
pub(crate) mod chunk;
pub(crate) mod csv_table;
pub(crate) mod msgpack_json;
pub(crate) mod opened_array;
pub(crate) mod parquet;
pub(crate) mod store;
pub(crate) mod stored_array;

pub(crate) use bcolz::Bcolz;
pub(crate) use blp::Blp;
pub(crate) use chunk::BareChunk;
pub(crate) use store::rows::TableRows;
pub(crate) use stored_array::{Boxes, Stored};

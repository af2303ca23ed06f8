//! What the program knows of each format beyond what the libraries do.

pub(crate) mod bcolz;
pub(crate) mod blp;
pub(crate) mod chunk;
pub(crate) mod csv_table;
pub(crate) mod msgpack_json;
pub(crate) mod parquet;
pub(crate) mod stored_array;

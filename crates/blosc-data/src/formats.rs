//! The formats of the family, with the traits of this crate.

mod bcolz;
pub mod blp;
pub mod chunk;
pub mod csv;
pub mod frame;
pub mod npz;
pub mod parquet;
mod sequence;
pub(crate) mod store;

pub(crate) use bcolz::of_set as bcolz_data;
pub use bcolz::{array as bcolz_array, filter as bcolz_filter, note as bcolz_note};
pub(crate) use npz::data as npz_data;
pub(crate) use sequence::file_data;
pub(crate) use store::data as store_data;
pub use store::{filter as store_filter, group as store_group, note as store_note};

//! The formats of the family behind the traits of this crate.

mod bcolz;
pub mod blp;
pub mod chunk;
pub mod csv;
pub mod frame;
mod npy;
pub mod npz;
pub mod parquet;
mod sequence;
mod store;

pub(crate) use bcolz::data as bcolz_data;
pub use bcolz::{array as bcolz_array, note as bcolz_note};
pub(crate) use csv::data as csv_data;
pub(crate) use npy::data as npy_data;
pub(crate) use npz::data as npz_data;
pub(crate) use sequence::file_data;
pub(crate) use store::data as store_data;

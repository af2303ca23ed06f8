//! The formats of the family behind the traits of this crate.

mod bcolz;
pub mod blp;
pub mod chunk;
pub mod frame;
mod npy;
mod sequence;
mod store;

pub(crate) use bcolz::{data as bcolz_data, stored_nbytes as folder_nbytes};
pub(crate) use npy::data as npy_data;
pub(crate) use sequence::file_data;
pub(crate) use store::data as store_data;

//! Inputs: their names, their kinds and their bytes.

pub(crate) mod before_damage;
pub(crate) mod decoded;
pub(crate) mod foreign;
pub(crate) mod object;
pub(crate) mod object_reader;
pub(crate) mod origin;
pub(crate) mod piped;
pub(crate) mod place;
pub(crate) mod raw_data;
pub(crate) use blosc_data::typesize;
pub(crate) mod walk;

pub(crate) use decoded::{Guard, Sink};
pub(crate) use object::{Object, frame_bytes, is_sparse};
pub(crate) use object_reader::ObjectReader;
pub(crate) use origin::{OpenedInput, Origin, Part};
pub(crate) use place::Place;
pub(crate) use raw_data::Data;
pub(crate) use walk::Inputs;

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

/// A Bloscpack file as it is now, read in the same way.
///
/// # Errors
///
/// As [`Blp::open`].
pub(crate) fn reopened(blp: &Blp, path: &std::path::Path) -> crate::error::Result<Blp> {
    use crate::error::{Doing, Error};
    let store = blosc_io::FileStore::open(path).map_err(Error::io(Doing::Open))?;
    let options = blp.file.options();
    let (dparams, mismatch) = (options.dparams.clone(), options.mismatch.clone());
    let params = blosc_data::OpenOptions::default().dparams(dparams).mismatch(mismatch);
    Ok(Blp::open(std::sync::Arc::new(store), 0, &params)?)
}

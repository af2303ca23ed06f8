//! Files of Parquet, which become tables of bcolz or of stores first.

use std::path::Path;

use blosc_io::FileStore;

use super::source::head;
use crate::{
    context::Context,
    error::{Doing, Error, Result},
    formats::{self, Bcolz, TableRows, parquet},
    inputs::{Object, Origin, origin},
    output::Staged,
};

/// A table that a file of Parquet becomes for a while: of a store, or of bcolz.
pub(crate) fn open(cx: &Context, path: &Path, for_store: bool) -> Result<Object> {
    let (station, format) = (Staged::for_stream(&cx.unfinished)?, "parquet");
    if for_store {
        parquet::read_to_store(path, station.path())?;
        let table = formats::store::open(&station.path().into(), cx.read_params())?.table("/")?;
        let rows = TableRows::open(table)?.kept_in(station, format);
        return Ok(Object::Table(Box::new(rows)));
    }
    parquet::read(path, station.path())?;
    let set =
        Bcolz::open(&station.path().into(), cx.read_params())?.kept_in(station).called(format);
    Ok(Object::Bcolz(Box::new(set)))
}

/// The file of Parquet that the input is.
pub(crate) fn file_of(origin: &Origin) -> Result<Option<&Path>> {
    let Origin::File { path, part: origin::Part::Whole } = origin else { return Ok(None) };
    if path.is_dir() || path.is_elsewhere() {
        return Ok(None);
    }
    let head = head(&FileStore::open(path).map_err(Error::io(Doing::Open))?)?;
    Ok(head.starts_with(parquet::MAGIC).then_some(path))
}

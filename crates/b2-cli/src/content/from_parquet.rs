//! Files of Parquet, which become tables of bcolz or of stores first.

use std::{fs::File, io::Read as _, path::Path};

use blosc_data::formats::parquet;

use crate::{
    context::Context,
    error::{Doing, Error, Result},
    inputs::{Object, Origin, origin},
};

/// A table that a file of Parquet becomes for a while: of a store, or of bcolz.
pub(crate) fn open(cx: &Context, path: &Path, for_store: bool) -> Result<Object> {
    Ok(parquet::open(path, for_store, &cx.read_params(), &cx.unfinished)?)
}

/// The file of Parquet that the input is.
pub(crate) fn file_of(origin: &Origin) -> Result<Option<&Path>> {
    let Origin::File { path, part: origin::Part::Whole } = origin else { return Ok(None) };
    if path.is_dir() || path.is_elsewhere() {
        return Ok(None);
    }
    let (file, mut head) = (File::open(path).map_err(Error::io(Doing::Open))?, vec![]);
    let wanted = parquet::MAGIC.len() as u64;
    file.take(wanted).read_to_end(&mut head).map_err(Error::io(Doing::Read))?;
    Ok((head == parquet::MAGIC).then_some(path))
}

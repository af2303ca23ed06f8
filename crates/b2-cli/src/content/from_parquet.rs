//! Files of Parquet, which become temporary tables of bcolz or of stores.

use blosc_data::{Format, OpenOptions, formats::parquet};

use crate::{
    context::Context,
    error::Result,
    inputs::{Object, ObjectReader, Origin, origin::Part},
};

/// The objects of an input that is only read; for a file of Parquet its table.
///
/// # Errors
///
/// As [`table`] and [`ObjectReader::open`].
pub(crate) fn objects(
    cx: &Context,
    origin: &Origin,
    params: impl Into<OpenOptions>,
) -> Result<ObjectReader> {
    let params = params.into();
    match table(cx, origin, true)? {
        Some(table) => Ok(ObjectReader::from_object(table, params)),
        None => ObjectReader::open(origin, params),
    }
}

/// A temporary table with the content of a Parquet file: of a store, or of bcolz. `None` for other
/// inputs.
///
/// # Errors
///
/// When it cannot be read, or this build does not read Parquet.
pub(crate) fn table(cx: &Context, origin: &Origin, for_store: bool) -> Result<Option<Object>> {
    let Origin::File { path, part: Part::Whole } = origin else { return Ok(None) };
    if path.is_elsewhere() || path.format() != Some(Format::Parquet) {
        return Ok(None);
    }
    Ok(Some(parquet::open(path, for_store, &cx.read_params(), &cx.unfinished)?))
}

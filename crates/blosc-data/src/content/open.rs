//! Files as content.

use std::path::Path;
use std::sync::Arc;

use b2frame::SChunk;
use b2store::Store;

use super::{Bcolz, Content, Items, Object, TableRows};
use crate::error::{Doing, Error, Refusal, Result};
use crate::format::{Format, recognise};
use crate::formats::{blp::Blp, chunk::BareChunk, csv, parquet};
use crate::params::OpenOptions;
use crate::source::Source;

/// The content of the file or folder at `path`; of a store its only value.
///
/// # Errors
///
/// As [`open`](crate::open); a store with several values.
pub fn of_file(path: &Path, options: &OpenOptions) -> Result<Content> {
    of_source(Source::of_path(path)?, &path.to_string_lossy(), options)
}

/// The content of a source. The suffix of `name` decides where the content leaves a choice.
///
/// # Errors
///
/// As [`of_file`].
pub fn of_source(source: Source, name: &str, options: &OpenOptions) -> Result<Content> {
    match recognise(&source, name).map_err(Error::io(Doing::Read))? {
        Format::Store => Ok(Content::Object(of_store(source, options)?)),
        format => of_format(format, source, options),
    }
}

/// The content of a source, for a format with a single object.
pub(crate) fn of_format(format: Format, source: Source, options: &OpenOptions) -> Result<Content> {
    Ok(Content::Object(match (format, source) {
        (Format::Frame, Source::File(file)) => {
            Object::Frame(Arc::new(SChunk::from_store_with(file, &options.frame())?))
        }
        (Format::SparseFrame, Source::Folder(tree)) => {
            Object::Frame(Arc::new(SChunk::from_tree(tree, &options.frame())?))
        }
        (Format::Chunk, Source::File(file)) => {
            Object::Chunk(Box::new(BareChunk::open(file, 0, options.dparams.clone())?))
        }
        (Format::Blp, Source::File(file)) => Object::Blp(Box::new(Blp::open(file, 0, options)?)),
        (Format::Bcolz, Source::Folder(tree)) => {
            Object::Bcolz(Box::new(Bcolz::open(tree, options.clone())?))
        }
        (Format::Npy, Source::File(file)) => {
            let items = Items::in_file::<Error>(file, |_| Ok(None))?;
            return items.map(Content::Items).ok_or(Error::NotOurs(format));
        }
        (Format::Csv, Source::File(file)) => {
            return csv::read(
                file,
                options.delimiter_of_text(),
                options.dtype.as_ref(),
                csv::Missing::Text,
                &mut |_| (),
            )
            .map(Content::Items);
        }
        (Format::Parquet, Source::File(file)) => parquet::of_file(&*file, options)?,
        (format, _) if format.is_data() => return Err(Error::NoOpener(format)),
        (format, _) => return Err(Error::NotOurs(format)),
    }))
}

/// The table or the only value of a store.
fn of_store(source: Source, options: &OpenOptions) -> Result<Object> {
    let store = match source {
        Source::File(file) => Store::from_store(file, &options.store())?,
        Source::Folder(tree) => Store::from_tree(tree, &options.store())?,
    };
    if store.tables().any(|key| key == "/") {
        return Ok(Object::Table(Box::new(TableRows::open(store.table("/")?)?)));
    }
    let mut values = store.keys().filter(|key| !key.ends_with("/__vlmeta__"));
    match (values.next(), values.next()) {
        (Some(only), None) => Ok(Object::Frame(Arc::new(store.frame(only)?))),
        _ => Err(store.lost_table().map_or_else(|| Refusal::SeveralValues.into(), Error::from)),
    }
}

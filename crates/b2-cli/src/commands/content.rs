//! The content of any input, whatever its format: what `sum`, `diff` and `stats` look at.
//!
//! Arrays are taken in C order. A file of no format of ours is its bytes.

use std::path::Path;

use blosc_dtype::{Dtype, npy::NpyHeader};
use blosc_io::{FileStore, ReadAt as _};

use super::convert::{
    head,
    source::{Items, Source},
};
use crate::{
    args::LimitArgs,
    context::Context,
    error::{Doing, Error, Result, chain},
    formats::store,
    inputs::{
        decoded::Guard,
        object::Object,
        object_reader::ObjectReader,
        origin::{self, ContentKind, Found, Origin, Part},
    },
};

/// How `.npy` files begin.
const NPY_MAGIC: &[u8] = b"\x93NUMPY";

/// Does a directory hold this file for us?
pub(super) fn is_wanted(path: &Path) -> bool {
    origin::is_ours(path) || origin::content_kind(path) == Some(ContentKind::Npy)
}

/// The inputs, with the frames of a store instead of the store. What holds no data there is warned
/// of and left out.
pub(super) fn expand_stores(inputs: Vec<Found>, cx: &Context) -> Vec<Found> {
    let mut expanded = vec![];
    for input in inputs {
        let Some(path) = input.as_ref().ok().and_then(store::whole) else {
            expanded.push(input);
            continue;
        };
        let store = match store::open(path, cx.dparams()) {
            Ok(store) => store,
            Err(error) => {
                expanded.push(Err((crate::render::escape::path_text(path), error)));
                continue;
            }
        };
        for key in store.keys() {
            let part = Part::Member(key.to_owned());
            let origin = Origin::File { path: path.to_owned(), part };
            match store::member(path, key, cx.dparams()) {
                Err(error @ Error::Store(b2store::Error::Recipe { .. })) => {
                    cx.console.warning(&origin.name(), &chain(&error));
                }
                _ => expanded.push(Ok(origin)),
            }
        }
    }
    expanded
}

/// Hands each object of an input to `work`, and says how many there were.
///
/// # Errors
///
/// What cannot be opened, more than `limits` allow, or the error of `work`.
pub(super) fn for_each(
    cx: &Context,
    origin: &Origin,
    limits: LimitArgs,
    mut work: impl FnMut(Source) -> Result<()>,
) -> Result<u64> {
    if let Some(items) = uncompressed(origin)? {
        work(Source::Items(items))?;
        return Ok(1);
    }
    let mut objects = ObjectReader::open(origin, cx.dparams())?;
    let mut guard = Guard::for_reading(limits);
    let mut nobjects = 0;
    while let Some(object) = objects.next()? {
        guard.admit(&object)?;
        if let Object::Frame(schunk) = &object {
            store::refuse_recipe(schunk, &origin.name())?;
        }
        work(Source::Object(object))?;
        nobjects += 1;
    }
    if objects.trailing() > 0 {
        let text = format!("{} bytes after the last frame are no frame", objects.trailing());
        cx.console.warning(&origin.name(), &text);
    }
    Ok(nobjects)
}

/// The items of a file that is not compressed.
fn uncompressed(origin: &Origin) -> Result<Option<Items>> {
    let Origin::File { path, part: Part::Whole } = origin else { return Ok(None) };
    if path.is_dir() || origin::is_ours(path) {
        return Ok(None);
    }
    let store = FileStore::open(path).map_err(Error::io(Doing::Open))?;
    let (file_len, head) = (store.len().map_err(Error::io(Doing::Open))?, head(&store)?);
    let header = match head.starts_with(NPY_MAGIC) {
        true => NpyHeader::parse(&head)?,
        false => NpyHeader { len: 0, ..NpyHeader::new(byte()?, vec![file_len]) },
    };
    Items::new(store, file_len, header).map(Some)
}

/// The type of bytes that mean nothing here.
fn byte() -> Result<Dtype> {
    Dtype::parse("|V1").map_err(|error| Error::Npy(error.into()))
}

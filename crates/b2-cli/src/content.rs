//! The content of any input, whatever its format.
//!
//! Arrays come in C order. A file of an unknown format is its bytes.

pub(crate) mod array;
pub(crate) mod from_parquet;
pub(crate) mod grid;
pub(crate) mod item;
pub(crate) mod source;
pub(crate) mod values;

use std::{path::Path, sync::Arc};

use blosc_dtype::{Dtype, npy::NpyHeader};
use blosc_io::{FileStore, ReadAt as _};

use self::source::{Items, Layout, Source};
use crate::{
    args::LimitArgs,
    context::Context,
    error::{Doing, Error, Result, chain},
    formats::{
        csv_table::{COMMA, Missing},
        store,
    },
    inputs::{
        Guard, Inputs, Object, ObjectReader, Origin, Part, foreign,
        origin::{self, Found},
        typesize::dtype_of_name,
    },
};
use blosc_data::{Format, convert::OutputFormat};

/// The inputs, with the frames of a store in place of the store. A store's members without data are
/// left out with a warning.
pub(crate) fn expand_stores(inputs: Inputs, cx: &Context) -> Inputs {
    inputs.map(|found| expand(found, cx, false))
}

/// As [`expand_stores`], but a table is one input instead of its columns.
pub(crate) fn expand_stores_to_tables(inputs: Inputs, cx: &Context) -> Inputs {
    inputs.map(|found| expand(found, cx, true))
}

/// Replaces a store, or a group in one, by its frames, with `keeps_tables` by its tables and
/// values; replaces a group of another format by its arrays.
pub(crate) fn expand(inputs: Vec<Found>, cx: &Context, keeps_tables: bool) -> Vec<Found> {
    let mut expanded = vec![];
    for input in cx.expand_groups(inputs) {
        let opened = match &input {
            Ok(origin) => store::opened_group(origin, cx.read_params()),
            Err(_) => Ok(None),
        };
        let (path, store, group) = match opened {
            Ok(Some(opened)) => opened,
            Ok(None) => {
                expanded.push(input);
                continue;
            }
            Err(error) => {
                let name = input.map_or_else(|(name, _)| name, |origin| origin.name());
                expanded.push(Err((name, error)));
                continue;
            }
        };
        for (key, origin) in store::inputs_below((path, &store, group), keeps_tables) {
            match store::member(&store, &key) {
                Err(error @ Error::Store(b2store::Error::Recipe { .. })) => {
                    cx.console.warning(&origin.name(), &chain(&error));
                }
                _ => expanded.push(Ok(origin)),
            }
        }
    }
    expanded
}

/// Hands each object of an input to `work`, and returns their number.
///
/// # Errors
///
/// Errors of opening, more than `limits` allow, or the error of `work`.
pub(crate) fn for_each(
    cx: &Context,
    origin: &Origin,
    limits: LimitArgs,
    work: impl FnMut(Source) -> Result<()>,
) -> Result<u64> {
    for_each_guarded(cx, origin, Guard::new(limits), work)
}

fn for_each_guarded(
    cx: &Context,
    origin: &Origin,
    mut guard: Guard,
    mut work: impl FnMut(Source) -> Result<()>,
) -> Result<u64> {
    if let Some(items) = uncompressed(origin)? {
        source::warn_of_trailing(&items, &cx.console, &origin.name());
        work(Source::Items(items))?;
        return Ok(1);
    }
    let mut objects = ObjectReader::open(origin, cx.read_params())?;
    let mut nobjects = 0;
    loop {
        let object = match objects.next() {
            Ok(Some(object)) => object,
            Ok(None) => break,
            Err(Error::NotBlosc { start }) if nobjects == 0 && is_read_once(origin) => {
                let store = objects.rest(start)?;
                let len = store.len().map_err(Error::io(Doing::Spool))?;
                work(Source::Items(Items::new(Arc::new(store), len, bytes_of(len)?)?))?;
                return Ok(1);
            }
            Err(error) => return Err(error),
        };
        guard.admit(&object)?;
        if let Object::Frame(schunk) = &object {
            store::refuse_recipe(schunk, &origin.name())?;
        }
        // Tables of stores are read column by column, or refused.
        let (source, objects_of_python) = match object {
            Object::Bcolz(_) => {
                Source::Object(object).fitted(OutputFormat::Raw, &cx.read_params())?
            }
            object => (Source::Object(object), vec![]),
        };
        for name in objects_of_python {
            let text = format!("column {name:?} holds Python objects, and is left out");
            cx.console.warning(&origin.name(), &text);
            cx.note_short();
        }
        work(source)?;
        nobjects += 1;
    }
    objects.warn_of_trailing(&cx.console, &origin.name());
    Ok(nobjects)
}

/// The objects of an input.
///
/// # Errors
///
/// As [`for_each`].
pub(crate) fn open(cx: &Context, origin: &Origin, limits: LimitArgs) -> Result<Vec<Source>> {
    collect(cx, origin, Guard::new(limits))
}

/// The objects of an input, without limits: the caller reads a part, and checks that.
///
/// # Errors
///
/// As [`for_each`].
pub(crate) fn open_to_look(cx: &Context, origin: &Origin) -> Result<Vec<Source>> {
    collect(cx, origin, Guard::for_looking(LimitArgs::default()))
}

fn collect(cx: &Context, origin: &Origin, guard: Guard) -> Result<Vec<Source>> {
    let mut sources = vec![];
    for_each_guarded(cx, origin, guard, |source| {
        sources.push(source);
        Ok(())
    })?;
    if sources.is_empty() {
        return Err(Error::NotBlosc { start: vec![] });
    }
    Ok(sources)
}

/// The table in a file of CSV (by its name) or of Parquet, unless a given type says that the file
/// is bytes.
///
/// # Errors
///
/// When it cannot be read, or this build lacks the format.
pub(crate) fn foreign_table(
    cx: &Context,
    origin: &Origin,
    given: Option<&Dtype>,
) -> Result<Option<Source>> {
    let Origin::File { path, part: Part::Whole } = origin else { return Ok(None) };
    if given.is_some() || !path.is_file() || origin::is_ours(path) {
        return Ok(None);
    }
    if let Some(table) = from_parquet::table(cx, origin, false)? {
        return Ok(Some(Source::Object(table)));
    }
    if let Some(error) = foreign::refusal(path) {
        return Err(error);
    }
    match origin::content_kind(path) {
        Some(Format::Csv) => {
            let given = (None, Missing::Text);
            Ok(Some(Source::Items(source::values(&cx.console, path, COMMA, given)?)))
        }
        _ => Ok(None),
    }
}

/// The layout of all objects of an input: that of an array if it is the only object, else that of
/// items one after the other.
///
/// # Errors
///
/// When the metadata describe an array that the object cannot be.
pub(crate) fn layout(sources: &[Source]) -> Result<Option<Layout>> {
    match sources {
        [source] => Ok(source.layout()?),
        _ => Ok(None),
    }
}

/// The type of the items: the given one, the array's, or that of a name like `x.f32`.
///
/// # Errors
///
/// When the metadata describe an array that the object cannot be.
pub(crate) fn item_type(
    given: Option<&Dtype>,
    origin: &Origin,
    sources: &[Source],
) -> Result<Dtype> {
    if let Some(given) = given {
        return Ok(given.clone());
    }
    let is_raw = sources.iter().any(|source| source.name() == "raw");
    if let Some(layout) = layout(sources)?.filter(|_| !is_raw) {
        return Ok(layout.dtype);
    }
    let typesize = match (sources, is_raw) {
        (_, true) | ([], _) => 1,
        ([first, rest @ ..], false) => {
            let typesize = first.typesize();
            let is_common = rest.iter().all(|source| source.typesize() == typesize);
            if is_common { typesize } else { 1 }
        }
    };
    // `x.f32.b2frame` holds what `x.f32` does.
    let of_name = origin.path().and_then(|path| {
        dtype_of_name(path).or_else(|| dtype_of_name(Path::new(path.file_stem()?)))
    });
    let of_name = of_name.filter(|dtype| is_raw || dtype.itemsize() == typesize);
    match of_name {
        Some(dtype) => Ok(dtype),
        None if typesize == 1 => parse("|u1"),
        None => opaque(typesize),
    }
}

/// Joins pieces of content to whole items.
#[derive(Debug)]
pub(crate) struct WholeItems {
    itemsize: usize,
    cut: Vec<u8>,
}

impl WholeItems {
    /// For items of `itemsize` bytes.
    pub(crate) fn new(itemsize: usize) -> Self {
        Self { itemsize: itemsize.max(1), cut: vec![] }
    }

    /// Hands the items that are complete with this piece to `work`.
    pub(crate) fn push(&mut self, piece: &[u8], work: &mut dyn FnMut(&[u8])) {
        let missing = (self.itemsize - self.cut.len()).min(piece.len());
        let (head, rest) = match self.cut.is_empty() {
            true => (&[][..], piece),
            false => piece.split_at(missing),
        };
        self.cut.extend_from_slice(head);
        if self.cut.len() == self.itemsize {
            work(&self.cut);
            self.cut.clear();
        }
        let (items, cut) = rest.split_at(rest.len() - rest.len() % self.itemsize);
        if !items.is_empty() {
            work(items);
        }
        self.cut.extend_from_slice(cut);
    }

    /// Bytes of an incomplete item at the end.
    pub(crate) fn cut_nbytes(&self) -> usize {
        self.cut.len()
    }
}

/// Whether the input is standard input or a pipe, whose content can be read only once.
fn is_read_once(origin: &Origin) -> bool {
    match origin {
        Origin::Stdin => true,
        Origin::File { path, part: Part::Whole } => path.is_stream(),
        Origin::File { .. } | Origin::Opened(_) => false,
    }
}

/// A file of `len` bytes as an array of bytes.
fn bytes_of(len: u64) -> Result<NpyHeader> {
    Ok(NpyHeader::new(opaque(1)?, vec![len]))
}

/// The items of an uncompressed file.
fn uncompressed(origin: &Origin) -> Result<Option<Items>> {
    let Origin::File { path, part: Part::Whole } = origin else { return Ok(None) };
    // A pipe has no length; the reader of its format reads it.
    if path.is_dir() || path.is_stream() || origin::is_ours(path) {
        return Ok(None);
    }
    foreign::check_name(path)?;
    let store = FileStore::open(path).map_err(Error::io(Doing::Open))?;
    Items::in_file(Arc::new(store), |len| bytes_of(len).map(Some))
}

/// A type for items of this size without a meaning.
///
/// # Errors
///
/// When items cannot have that size.
pub(crate) fn opaque(itemsize: usize) -> Result<Dtype> {
    parse(&format!("|V{itemsize}"))
}

/// The type of this NumPy spelling.
///
/// # Errors
///
/// When there is none.
pub(crate) fn parse(dtype: &str) -> Result<Dtype> {
    Dtype::parse(dtype).map_err(|error| Error::Npy(error.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_whole_however_pieces_are_cut() {
        let data: Vec<u8> = (0..100).collect();
        for (itemsize, len) in [(1, 7), (3, 1), (3, 2), (3, 7), (8, 3), (8, 100), (200, 9)] {
            let (mut items, mut found) = (WholeItems::new(itemsize), vec![]);
            for piece in data.chunks(len) {
                items.push(piece, &mut |bytes| {
                    assert_eq!(bytes.len() % itemsize, 0);
                    found.extend_from_slice(bytes);
                });
            }
            assert_eq!(found, data[..100 - 100 % itemsize], "{itemsize} {len}");
            assert_eq!(items.cut_nbytes(), 100 % itemsize);
        }
    }
}

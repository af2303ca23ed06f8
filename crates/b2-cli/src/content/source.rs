//! Open inputs, as the library defines them.

use std::{path::Path, sync::Arc};

use blosc_data::Tail;
use blosc_dtype::Dtype;
use blosc_io::FileStore;

use crate::{
    console::Console,
    error::{Doing, Error, Result},
    formats::csv_table::{self, Missing},
    render::path_text,
};

pub(crate) use blosc_data::content::{Content as Source, Items, Layout, Packed, npy_header};

/// Warns of bytes after the items.
pub(crate) fn warn_of_trailing(items: &Items, console: &Console, name: &str) {
    if items.trailing() > 0 {
        let end = items.file_len.saturating_sub(items.trailing());
        let tail = Tail::of_npy(items.trailing(), &*items.stored.store, end);
        console.warning(name, &tail.to_string());
    }
}

/// Comma-separated values as items with fields. Their types are `given` or guessed, and a doubtful
/// guess is warned of.
///
/// # Errors
///
/// When a line or a value cannot be parsed, or the file cannot be read.
pub(crate) fn values(
    console: &Console,
    path: &Path,
    delimiter: u8,
    (given, missing): (Option<&Dtype>, Missing<'_>),
) -> Result<Items> {
    let file = FileStore::open(path).map_err(Error::io(Doing::Open))?;
    let tell = &mut |text: &str| console.warning(&path_text(path), text);
    Ok(csv_table::read(Arc::new(file), delimiter, given, missing, tell)?)
}

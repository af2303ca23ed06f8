//! Formats that only other builds of this program read: directories of Zarr, files of HDF5.
//!
//! Commands never take them for folders of loose files or for bytes, unless the user asks for it.

use std::path::{Path, PathBuf};

use blosc_data::{Format, Word};

use crate::{
    error::{Error, Result, message},
    inputs::Place,
};

/// The foreign format at a place; `None` for everything else.
pub(crate) fn kind_of(place: &Place) -> Option<Format> {
    place.format().filter(|format| format.is_foreign())
}

/// The error for an address, for foreign data, and for `FILE::/key` in them.
pub(crate) fn refusal(place: &Place) -> Option<Error> {
    if Word::is_address(place) && !place.exists() && !place.is_elsewhere() {
        return Some(message::NO_ADDRESSES.error());
    }
    let refuse = |place: &Place| match place.format()? {
        Format::Parquet if !cfg!(feature = "parquet") => Some(message::NO_PARQUET.error()),
        format => format.is_foreign().then(|| message::OTHER_FORMAT.about(format)),
    };
    refuse(place).or_else(|| {
        let (file, _) = place.to_str()?.split_once("::").filter(|_| !place.exists())?;
        refuse(&file.into())
    })
}

/// Refuses an address, and `FILE::/key` of foreign data: no file has such a name.
pub(crate) fn check_name(place: &Place) -> Result<()> {
    if place.exists() { Ok(()) } else { refusal(place).map_or(Ok(()), Err) }
}

/// The outermost foreign data around `path`, within one of the folders `roots`.
pub(crate) fn whole_of<'a>(
    path: &Path,
    roots: impl IntoIterator<Item = &'a Path>,
) -> Option<PathBuf> {
    let root = roots.into_iter().find(|root| root.is_dir() && path.starts_with(root))?;
    let mut within: Vec<&Path> =
        path.ancestors().take_while(|above| above.starts_with(root)).collect();
    within.reverse();
    within.into_iter().find(|above| kind_of(&(*above).into()).is_some()).map(Path::to_owned)
}

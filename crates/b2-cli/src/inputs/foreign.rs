//! Data of formats that only other builds of this program read: directories of Zarr, files of HDF5.
//!
//! Nothing takes them for folders of loose files, or for bytes, unless that is requested.

use std::path::{Path, PathBuf};

use blosc_data::{Format, Word};

use crate::{
    error::{Error, Result, message},
    inputs::Place,
};

/// The format of what lies at a place; `None` for everything else.
pub(crate) fn kind_of(place: &Place) -> Option<Format> {
    place.format().filter(|format| format.is_foreign())
}

/// The error for an address, and for `path` or the file of `FILE::/key` of such a format.
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

/// Refuses an address, and `FILE::/key` of such a file: these are no names of files.
pub(crate) fn check_name(place: &Place) -> Result<()> {
    if place.exists() { Ok(()) } else { refusal(place).map_or(Ok(()), Err) }
}

/// The outermost data of such a format that `path`, in one of the folders `roots`, belongs to.
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

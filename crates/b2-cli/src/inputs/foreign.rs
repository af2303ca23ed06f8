//! Data of formats that only other builds of this program read: directories of Zarr, files of HDF5.
//!
//! Nothing takes them for folders of loose files, or for bytes, unless that is requested.

use std::{
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
};

use crate::error::{Error, Result, message};

/// How a file of HDF5 begins.
const HDF5_MAGIC: [u8; 8] = *b"\x89HDF\r\n\x1a\n";
/// Bytes of `zarr.json` that are looked at.
const MAX_METADATA_NBYTES: u64 = 64 << 20;

/// The format of what lies at `path`, in words; `None` for everything else.
pub(crate) fn kind_of(path: &Path) -> Option<&'static str> {
    if path.is_file() {
        let mut head = [0; HDF5_MAGIC.len()];
        let is_read = File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok();
        return (is_read && head == HDF5_MAGIC).then_some("an HDF5 file");
    }
    let has = |name: &str| path.join(name).is_file();
    match () {
        () if has(".zarray") => Some("a Zarr array"),
        () if has(".zgroup") => Some("a Zarr group"),
        () if has("zarr.json") => Some(match node_type(&path.join("zarr.json")).as_deref() {
            Some("array") => "a Zarr array",
            _ => "a Zarr group",
        }),
        () => None,
    }
}

fn node_type(path: &Path) -> Option<String> {
    let file = File::open(path).ok()?.take(MAX_METADATA_NBYTES);
    let metadata: serde_json::Value = serde_json::from_reader(file).ok()?;
    Some(metadata.get("node_type")?.as_str()?.to_owned())
}

/// The error for `path`, or for the file of `FILE::/key`, if it is of such a format.
pub(crate) fn refusal(path: &Path) -> Option<Error> {
    let refuse = |path: &Path| kind_of(path).map(|kind| message::OTHER_FORMAT.about(kind));
    refuse(path).or_else(|| {
        let (file, _) = path.to_str()?.split_once("::").filter(|_| !path.exists())?;
        refuse(Path::new(file))
    })
}

/// Refuses `FILE::/key` of such a file, which is no name of a file.
pub(crate) fn check_name(path: &Path) -> Result<()> {
    refusal(path).filter(|_| !path.exists()).map_or(Ok(()), Err)
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
    within.into_iter().find(|above| kind_of(above).is_some()).map(Path::to_owned)
}

//! Copies of entries that a walk of folders left out: files byte for byte, links as links, folders
//! with their content; all with their modes and times.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use crate::{
    error::{Doing, Error, FileKind, Result, irregular},
    inputs::{
        Origin, Part, origin,
        walk::{COPIED_LIST, LeftOut, Reason},
    },
    output::{Naming, Staged, Target, Targets, Unfinished},
};

/// Copies an entry below `--output-dir`, and returns the path of the copy; `None` if the kind of
/// the entry cannot be copied.
///
/// # Errors
///
/// When the path of the copy exists, or the system refuses.
pub(crate) fn copy(
    item: &LeftOut,
    targets: &mut Targets<'_>,
    unfinished: &Unfinished,
) -> Result<Option<PathBuf>> {
    use Reason::{CalledCompressed, Compressed, Device, Pipe, Socket, Unfinished as Partial};
    if matches!(item.reason, Device | Pipe | Socket | Partial) {
        return Ok(None);
    }
    let origin = Origin::File { path: item.path.as_path().into(), part: Part::Whole };
    let Target::File(place) = targets.next(&origin, Naming::Keep)? else { return Ok(None) };
    let is_of_compress = matches!(item.reason, Compressed | CalledCompressed);
    if is_of_compress && origin::has_suffix(&item.path.as_path().into()) {
        list(&place).map_err(Error::io_at(Doing::Write, &place))?;
    }
    copy_at(&item.path, &place, targets, unfinished)?;
    Ok(Some(place))
}

fn copy_at(
    from: &Path,
    place: &Path,
    targets: &mut Targets<'_>,
    unfinished: &Unfinished,
) -> Result<()> {
    match irregular(from).map_err(Error::io_at(Doing::Open, from))? {
        None => copy_file(from, place, targets, unfinished),
        Some(FileKind::Link) => {
            copy_link(from, place, targets.args.force).map_err(Error::io_at(Doing::Create, place))
        }
        Some(FileKind::Directory) => {
            targets.make_folder(place, from)?;
            let entries = fs::read_dir(from).map_err(Error::io_at(Doing::Open, from))?;
            for entry in entries {
                let entry = entry.map_err(Error::io_at(Doing::Open, from))?;
                let place = place.join(entry.file_name());
                copy_at(&entry.path(), &place, targets, unfinished)?;
            }
            Ok(())
        }
        Some(kind) => Err(Error::NotRegular { path: from.to_owned(), kind }),
    }
}

fn copy_file(
    from: &Path,
    place: &Path,
    targets: &Targets<'_>,
    unfinished: &Unfinished,
) -> Result<()> {
    let mut source = File::open(from).map_err(Error::io_at(Doing::Open, from))?;
    let metadata = source.metadata().map_err(Error::io_at(Doing::Open, from))?;
    let staged = Staged::create(place, targets.args.into(), unfinished)?;
    io::copy(&mut source, &mut staged.handle()?).map_err(Error::io_at(Doing::Write, place))?;
    staged.commit(Some(&metadata))
}

/// Copies a link and its time; the link may lead nowhere.
#[cfg(unix)]
fn copy_link(from: &Path, place: &Path, force: bool) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};
    use std::os::unix::fs::{MetadataExt as _, symlink};
    let leads_to = fs::read_link(from)?;
    let found = from.symlink_metadata()?;
    if force && place.symlink_metadata().is_ok() {
        fs::remove_file(place)?;
    }
    symlink(leads_to, place)?;
    let at = |seconds, nanoseconds| Timespec { tv_sec: seconds, tv_nsec: nanoseconds };
    let times = Timestamps {
        last_access: at(found.atime(), found.atime_nsec()),
        last_modification: at(found.mtime(), found.mtime_nsec()),
    };
    Ok(utimensat(CWD, place, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

#[cfg(not(unix))]
fn copy_link(_: &Path, _: &Path, _: bool) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Adds the name of a copy that `decompress` would take to the list in its folder.
fn list(place: &Path) -> io::Result<()> {
    let list = place.with_file_name(COPIED_LIST);
    let mut list = OpenOptions::new().create(true).append(true).open(list)?;
    let name = place.file_name().unwrap_or_default().as_encoded_bytes();
    list.write_all(&[name, &[0]].concat())
}

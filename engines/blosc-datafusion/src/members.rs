//! The tables in a place: one table, or those of a folder.

use std::path::Path;

#[cfg(feature = "remote")]
use blosc_object_store::Address;

use crate::columns;
use crate::columns::constants;
#[cfg(feature = "remote")]
use crate::columns::remote;
use crate::error::{Error, Result};
use crate::options::TableOptions;
use crate::tables::Found;
#[cfg(feature = "remote")]
use crate::tables::MAX_OPENING;

/// The tables at a location, with the keys and values of the paths below it. The location is one
/// table, or a folder of tables and of folders named `key=value`.
///
/// # Errors
///
/// A folder that cannot be listed; a remote table that cannot be opened, since finding opens them.
pub(crate) fn members(location: &str, options: &TableOptions) -> Result<Vec<Found>> {
    #[cfg(feature = "remote")]
    if columns::is_address(location) {
        return remote_members(location, &[], options);
    }
    let _ = options;
    let found = |location: String| Found { location, pairs: vec![], opened: None };
    if columns::is_address(location) {
        return Ok(vec![found(location.to_owned())]);
    }
    let path = Path::new(location.strip_prefix("file://").unwrap_or(location));
    if !path.is_dir() || columns::is_table(path) {
        return Ok(vec![found(path.to_string_lossy().into_owned())]);
    }
    let mut found = Vec::new();
    collect_members(path, &[], &mut found)?;
    found.sort_unstable_by(|a, b| a.location.cmp(&b.location));
    Ok(found)
}

fn collect_members(
    folder: &Path,
    pairs: &[(String, String)],
    found: &mut Vec<Found>,
) -> Result<()> {
    let location = || folder.to_string_lossy().into_owned();
    let io = |cause| Error::Io { location: location(), cause };
    for entry in folder.read_dir().map_err(io)? {
        let path = entry.map_err(io)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        let is_folder = path.is_dir() && !columns::is_table(&path);
        match constants::pair(&name).filter(|_| is_folder) {
            Some(pair) => collect_members(&path, &[pairs, &[pair]].concat(), found)?,
            None => {
                let location = path.to_string_lossy().into_owned();
                found.push(Found { location, pairs: pairs.to_vec(), opened: None });
            }
        }
    }
    Ok(())
}

/// The same at an address. Threads that wait for requests open the tables of a folder at once.
#[cfg(feature = "remote")]
fn remote_members(
    location: &str,
    pairs: &[(String, String)],
    options: &TableOptions,
) -> Result<Vec<Found>> {
    let mut names = match remote::find(location, options)? {
        remote::Found::Table(opened) => {
            let (location, pairs) = (location.to_owned(), pairs.to_vec());
            return Ok(vec![Found { location, pairs, opened: Some(opened) }]);
        }
        remote::Found::Folder(names) => names,
    };
    names.retain(|name| !name.starts_with('.'));
    names.sort_unstable();
    let open = |name: &String| {
        let io = |cause| Error::Io { location: location.to_owned(), cause };
        let location = Address::below(location, name).map_err(io)?;
        match constants::pair(name) {
            Some(pair) => remote_members(&location, &[pairs, &[pair]].concat(), options),
            None => {
                let (opened, pairs) = (columns::open(&location, options)?, pairs.to_vec());
                Ok(vec![Found { location, pairs, opened: Some(opened) }])
            }
        }
    };
    let mut found = Vec::new();
    for names in names.chunks(MAX_OPENING) {
        let opened: Vec<Result<Vec<Found>>> = std::thread::scope(|scope| {
            let threads: Vec<_> = names.iter().map(|name| scope.spawn(|| open(name))).collect();
            let joined = threads.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|_| {
                    let cause = std::io::Error::other("a thread that opened a table has failed");
                    Err(Error::Io { location: location.to_owned(), cause })
                })
            });
            joined.collect()
        });
        for tables in opened {
            found.extend(tables?);
        }
    }
    Ok(found)
}

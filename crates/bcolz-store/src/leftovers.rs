//! Leftovers of killed writers: unfinished files and columns, and the interrupted renaming of a
//! column. The next writer removes or completes them under the lock.

use blosc_io::replace::{is_temporary, sweep_in};

use crate::ctable_writer::names_text;
use crate::error::{Error, Result};
use crate::files::{self, join};
use crate::layout::chunk_number;
use crate::meta::{self, need};
use crate::names::{self, names_path};
use crate::repair::Repair;
use crate::tree::{Entry, Tree};

/// The file that names the column being renamed.
pub(crate) fn rename_path(path: &str) -> String {
    join(path, "__rename__")
}

/// Removes unfinished files and columns in a directory; returns their names.
pub(crate) fn remove_pending(tree: &dyn Tree, path: &str) -> Result<Vec<String>> {
    sweep_in(tree, path, None).map_err(|source| Error::io(path, source))
}

/// Completes the renaming of a column of the table at `path`, or drops one that was not begun.
pub(crate) fn finish_rename(tree: &dyn Tree, path: &str) -> Result<Option<Repair>> {
    let (from, to) = match read_rename(tree, path) {
        Ok(Some(names)) => names,
        Ok(None) => return Ok(None),
        // The file is synced before any renaming starts, so half a file belongs to a renaming not
        // begun.
        Err(Error::Corrupt { .. }) => {
            remove(tree, &rename_path(path))?;
            return Ok(Some(Repair::Removed { name: "__rename__".to_owned() }));
        }
        Err(error) => return Err(error),
    };
    let done = if is_renamed(tree, path, &from, &to)? {
        let names_path = names_path(path);
        let names = names::parse_names(&meta::read_object(tree, &names_path)?, &names_path)?;
        let names =
            names.iter().map(|name| if *name == from { to.as_str() } else { name.as_str() });
        files::write(tree, &names_path, names_text(names).as_bytes())?;
        Repair::Renamed { to }
    } else {
        Repair::Removed { name: "__rename__".to_owned() }
    };
    remove(tree, &rename_path(path))?;
    Ok(Some(done))
}

/// The new name of a column's directory, if its renaming stopped before the list of columns was
/// written.
pub(crate) fn find_renamed(tree: &dyn Tree, path: &str, name: &str) -> Result<Option<String>> {
    match read_rename(tree, path) {
        Ok(Some((from, to))) if from == name && is_renamed(tree, path, &from, &to)? => Ok(Some(to)),
        _ => Ok(None),
    }
}

/// The old and the new name of the column that is being renamed.
fn read_rename(tree: &dyn Tree, path: &str) -> Result<Option<(String, String)>> {
    let rename = rename_path(path);
    let Some(bytes) = files::read_metadata(tree, &rename)? else { return Ok(None) };
    let json = meta::parse_object(&rename, &bytes)?;
    let name = |key| {
        let name = need(&json, &rename, key)?;
        name.as_str()
            .map(str::to_owned)
            .ok_or_else(|| meta::wrong_type(&rename, key, "a string", name))
    };
    Ok(Some((name("from")?, name("to")?)))
}

/// Whether the directory of a column has its new name already.
fn is_renamed(tree: &dyn Tree, path: &str, from: &str, to: &str) -> Result<bool> {
    let is_column = |name: &str| {
        let storage_path = meta::storage_path(&join(path, name));
        Ok::<_, Error>(names::fault(name).is_none() && files::has_file(tree, &storage_path)?)
    };
    Ok(is_column(to)? && !is_column(from)?)
}

/// Bytes of unfinished files in a directory, and of the files that `is_dead` selects.
pub(crate) fn dead_nbytes(
    tree: &dyn Tree,
    path: &str,
    is_dead: impl Fn(&str) -> bool,
) -> Result<u64> {
    let mut nbytes: u64 = 0;
    for Entry { name, is_dir } in list_existing(tree, path)? {
        let path = join(path, &name);
        if is_dir && is_temporary(&name) {
            nbytes = nbytes.saturating_add(all_nbytes(tree, path)?);
        } else if !is_dir && (is_temporary(&name) || is_dead(&name)) {
            nbytes = nbytes.saturating_add(tree.len_of(&path).unwrap_or(0));
        }
    }
    Ok(nbytes)
}

/// Bytes of all files below a directory.
fn all_nbytes(tree: &dyn Tree, path: String) -> Result<u64> {
    let mut nbytes: u64 = 0;
    let mut dirs = vec![path];
    while let Some(dir) = dirs.pop() {
        for Entry { name, is_dir } in list_existing(tree, &dir)? {
            let path = join(&dir, &name);
            if is_dir {
                dirs.push(path);
            } else {
                nbytes = nbytes.saturating_add(tree.len_of(&path).unwrap_or(0));
            }
        }
    }
    Ok(nbytes)
}

/// The entries of a directory; empty if it is missing.
pub(crate) fn list_existing(tree: &dyn Tree, path: &str) -> Result<Vec<Entry>> {
    match tree.list(path) {
        Ok(entries) => Ok(entries),
        Err(error) if files::is_missing(&error) => Ok(Vec::new()),
        Err(source) => Err(Error::io(path, source)),
    }
}

/// The numbers of the chunk files of the array at `path`, in order.
pub(crate) fn chunk_numbers(tree: &dyn Tree, path: &str) -> Result<Vec<u64>> {
    let entries = list_existing(tree, &join(path, "data"))?;
    let mut numbers: Vec<u64> =
        entries.iter().filter_map(|entry| chunk_number(&entry.name)).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

fn remove(tree: &dyn Tree, path: &str) -> Result<()> {
    tree.remove(path).map_err(|source| Error::io(path, source))
}

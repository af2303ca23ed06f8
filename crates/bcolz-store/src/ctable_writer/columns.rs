//! Adding, deleting and renaming columns.

use super::{CTableWriter, check_name};
use crate::carray_writer::CArrayWriter;
use crate::create::CreateOptions;
use crate::error::{Error, Param, Result};
use crate::files::join;
use crate::leftovers::rename_path;
use blosc_container::checksums::Checksums;
use blosc_dtype::json::Json;
use blosc_io::replace::temporary_path;

/// The index of a column among the names of a table.
///
/// # Errors
///
/// [`Param::NoColumn`].
pub fn place_of_column<'a>(names: impl IntoIterator<Item = &'a str>, name: &str) -> Result<usize> {
    let place = names.into_iter().position(|found| found == name);
    place.ok_or_else(|| Param::NoColumn { name: name.to_owned() }.into())
}

/// Checks that a table with these columns may get another column of this name.
///
/// # Errors
///
/// [`Param::ColumnExists`], and [`Param`] for an invalid name.
pub fn check_new_column<'a>(names: impl IntoIterator<Item = &'a str>, name: &str) -> Result<()> {
    check_name(name)?;
    match names.into_iter().any(|found| found == name) {
        true => Err(Param::ColumnExists { name: name.to_owned() }.into()),
        false => Ok(()),
    }
}

impl CTableWriter {
    /// Flushes, and adds a column with data for all rows, on disk at once. The column gets no
    /// checksums if no other column has some.
    ///
    /// # Errors
    ///
    /// [`Param`] if the name or the number of rows is invalid, or if a directory of that name
    /// exists; `Io`.
    pub fn add_column(&mut self, name: &str, options: &CreateOptions, data: &[u8]) -> Result<()> {
        self.check_new(name)?;
        self.flush()?;
        let path = join(&self.path, name);
        let mut options = options.clone();
        if !self.columns.is_empty() && !self.columns.iter().any(|(_, column)| column.is_summed()) {
            options.checksums = Checksums::None;
        }
        let (_, _, layout) = options.to_metadata(&path)?;
        let (nbytes, rowsize) = (data.len() as u64, layout.rowsize as u64);
        if !nbytes.is_multiple_of(rowsize) {
            return Err(Param::Ragged { nbytes, rowsize }.into());
        }
        let (found, expected) = (nbytes / rowsize, self.len());
        if !self.columns.is_empty() && found != expected {
            return Err(Param::ColumnLength { name: name.to_owned(), found, expected }.into());
        }
        // The column is made under a temporary name, so that its own name never shows half a
        // column.
        let temporary = temporary_path(&path);
        let mut column = CArrayWriter::create_column(self.tree.clone(), &temporary, &options)?;
        column.append(data)?;
        column.flush()?;
        self.rename(&temporary, &path)?;
        column.moved(path);
        self.columns.push((name.to_owned(), column));
        self.write_names()?;
        self.update_sums(true)
    }

    /// Deletes a column and its data.
    ///
    /// # Errors
    ///
    /// [`Param::NoColumn`], `Io`.
    pub fn delete_column(&mut self, name: &str) -> Result<()> {
        let place = self.place(name)?;
        self.columns.remove(place);
        self.write_names()?;
        self.update_sums(true)?;
        self.remove(&join(&self.path, name))
    }

    /// Flushes, and gives a column another name, on disk at once. After a crash in the middle,
    /// [`repair`](crate::repair::repair()) completes the change.
    ///
    /// # Errors
    ///
    /// [`Param`] if there is no such column or the new name is invalid; `Io`.
    pub fn rename_column(&mut self, from: &str, to: &str) -> Result<()> {
        let place = self.place(from)?;
        self.check_new(to)?;
        self.flush()?;
        let pending = rename_path(&self.path);
        let entry = |key: &str, name: &str| (key.to_owned(), Json::from(name));
        self.write(
            &pending,
            &format!("{}\n", Json::Object(vec![entry("from", from), entry("to", to)])),
        )?;
        let path = join(&self.path, to);
        self.rename(&join(&self.path, from), &path)?;
        if let Some((name, column)) = self.columns.get_mut(place) {
            to.clone_into(name);
            column.moved(path);
        }
        self.write_names()?;
        self.update_sums(true)?;
        self.remove(&pending)
    }

    fn place(&self, name: &str) -> Result<usize> {
        place_of_column(self.names(), name)
    }

    /// Checks that a column of that name can be made.
    fn check_new(&self, name: &str) -> Result<()> {
        check_new_column(self.names(), name)?;
        let entries = self.tree.list(&self.path).map_err(|source| Error::io(&self.path, source))?;
        if entries.iter().any(|entry| entry.name == name) {
            return Err(Param::Exists { path: join(&self.path, name) }.into());
        }
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        let renamed = self.tree.rename(from, to);
        let renamed = renamed.and_then(|()| self.tree.sync_names(&self.path));
        renamed.map_err(|source| Error::io(from, source))
    }

    fn remove(&self, path: &str) -> Result<()> {
        self.tree.remove(path).map_err(|source| Error::io(path, source))
    }
}

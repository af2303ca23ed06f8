//! Changes values in place.

use std::sync::Arc;

use b2frame::{EditOptions, NdWriter, SChunkWriter};
use blosc_io::ReadAt;

use super::{At, Draft, INDEXES_LAYER, StoreWriter, suffix_of};
use crate::error::{Error, Result};

impl StoreWriter {
    /// Changes the chunks or the metalayers of a value. Changed bytes are in memory until
    /// [`commit`](Self::commit). Indexes on the value are removed, since they would be stale. A
    /// failure leaves the value as it was.
    ///
    /// # Errors
    ///
    /// [`Param::NoKey`](crate::error::Param::NoKey);
    /// [`Param::Occupied`](crate::error::Param::Occupied) for a part of a table; the error of
    /// `edit`; an unreadable frame.
    pub fn edit_schunk<E: From<Error>>(
        &mut self,
        key: &str,
        edit: impl FnOnce(&mut SChunkWriter) -> core::result::Result<(), E>,
    ) -> core::result::Result<(), E> {
        self.check_editable(key)?;
        self.replace_frame(key, |writer| {
            edit(writer)?;
            without_indexes(writer).map_err(|source| Error::frame(key, source).into())
        })
    }

    /// Changes the items or the shape of an array, as [`edit_schunk`](Self::edit_schunk).
    ///
    /// # Errors
    ///
    /// As `edit_schunk`; a value that is not an array.
    pub fn edit_array<E: From<Error>>(
        &mut self,
        key: &str,
        edit: impl FnOnce(&mut NdWriter) -> core::result::Result<(), E>,
    ) -> core::result::Result<(), E> {
        self.check_editable(key)?;
        self.replace_array(key, |writer| {
            edit(writer)?;
            without_indexes(writer.schunk_writer())
                .map_err(|source| Error::frame(key, source).into())
        })
    }

    /// Changes the frame of a value or of a part of a table; its suffix stays.
    pub(crate) fn edit_value(
        &mut self,
        key: &str,
        edit: impl FnOnce(&mut SChunkWriter) -> b2frame::Result<()>,
    ) -> Result<()> {
        self.replace_frame(key, |writer| edit(writer).map_err(|source| Error::frame(key, source)))
    }

    /// Changes an array, or an array that is a part of a table.
    pub(crate) fn edit_items(
        &mut self,
        key: &str,
        edit: impl FnOnce(&mut NdWriter) -> b2frame::Result<()>,
    ) -> Result<()> {
        self.replace_array(key, |writer| edit(writer).map_err(|source| Error::frame(key, source)))
    }

    fn replace_frame<E: From<Error>>(
        &mut self,
        key: &str,
        edit: impl FnOnce(&mut SChunkWriter) -> core::result::Result<(), E>,
    ) -> core::result::Result<(), E> {
        let suffix = match self.keys.get(key) {
            Some(At::File(path)) => {
                path.rsplit_once('.').map_or(String::new(), |(_, suffix)| format!(".{suffix}"))
            }
            _ => suffix_of(&self.frame(key)?).to_owned(),
        };
        let frame = changed_frame(self.old_frame(key)?, key, edit)?;
        self.store_value(key, &suffix, frame);
        Ok(())
    }

    fn replace_array<E: From<Error>>(
        &mut self,
        key: &str,
        edit: impl FnOnce(&mut NdWriter) -> core::result::Result<(), E>,
    ) -> core::result::Result<(), E> {
        let draft = Draft::over(self.old_frame(key)?).map_err(|source| Error::io(key, source))?;
        let draft = draft.spill_in(self.place.dir.clone());
        let wrong = |source| Error::frame(key, source);
        let store = Box::new(draft.clone());
        let mut writer = NdWriter::open_in(store, &EditOptions::default()).map_err(wrong)?;
        edit(&mut writer)?;
        writer.commit().map_err(wrong)?;
        let len = writer.finish().map_err(wrong)?.schunk().frame_len();
        let frame = draft.into_frame(len, key)?;
        self.store_value(key, ".b2nd", frame);
        Ok(())
    }

    /// The frame of a value before a change. The archive will get a new sum of it, so the old sum
    /// is compared first.
    fn old_frame(&self, key: &str) -> Result<Arc<dyn ReadAt>> {
        if let (None, Some(base)) = (self.new_file(key), &self.base) {
            base.compare_crc(key)?;
        }
        self.source(key)
    }

    /// Checks that a key is a value of its own.
    fn check_editable(&self, key: &str) -> Result<()> {
        if let Some(table) = self.table_above(key) {
            return Err(Error::occupied(key, table, "a table"));
        }
        match self.contains(key) {
            true => Ok(()),
            false => Err(Error::no_key(key)),
        }
    }
}

fn without_indexes(writer: &mut SChunkWriter) -> b2frame::Result<()> {
    let has_some = writer.schunk()?.vlmeta().stored().get(INDEXES_LAYER).is_some();
    if has_some { writer.delete_vlmeta(INDEXES_LAYER).map(drop) } else { Ok(()) }
}

/// A frame with changes, in memory until it is written.
pub(crate) fn edit_frame(
    source: Arc<dyn ReadAt>,
    name: &str,
    edit: impl FnOnce(&mut SChunkWriter) -> b2frame::Result<()>,
) -> Result<Arc<dyn ReadAt>> {
    changed_frame(source, name, |writer| edit(writer).map_err(|source| Error::frame(name, source)))
}

/// As [`edit_frame`], with errors of the caller's type.
pub(super) fn changed_frame<E: From<Error>>(
    source: Arc<dyn ReadAt>,
    name: &str,
    edit: impl FnOnce(&mut SChunkWriter) -> core::result::Result<(), E>,
) -> core::result::Result<Arc<dyn ReadAt>, E> {
    let draft = Draft::over(source).map_err(|source| Error::io(name, source))?;
    let wrong = |source| Error::frame(name, source);
    let store = Box::new(draft.clone());
    let mut writer = SChunkWriter::open_in(store, &EditOptions::default()).map_err(wrong)?;
    edit(&mut writer)?;
    writer.commit().map_err(wrong)?;
    let len = writer.finish().map_err(wrong)?.frame_len();
    Ok(draft.into_frame(len, name)?)
}

//! Rows after the last of a table of a store, and data at the end of one of its values.
//!
//! One commit writes all rows: a crash leaves the old store or the new one.

use b2store::{StoreWriter, WriteOptions};

use super::{Grown, Work, first_axis};
use crate::{error::Result, formats::TableRows, render::path_text};

impl Work<'_> {
    fn store_writer(&self) -> Result<StoreWriter> {
        let options = WriteOptions::default().wait(self.cx.lock_wait(self.args.lock));
        Ok(StoreWriter::open_with(self.path, &options)?)
    }

    /// Data at the end of a value, or along a dimension of an array.
    pub(super) fn append_to_value(&self, key: &str, is_array: bool) -> Result<Grown> {
        let mut writer = self.store_writer()?;
        let mut grown = Grown { nbytes: 0, shape: None };
        if is_array {
            writer.edit_array(key, |array| {
                grown = self.append_to_array(array)?;
                Ok::<_, crate::error::Error>(())
            })?;
        } else {
            writer.edit_schunk(key, |schunk| {
                self.append_content(schunk)?;
                grown.nbytes = schunk.nbytes();
                Ok::<_, crate::error::Error>(())
            })?;
        }
        writer.commit()?;
        Ok(grown)
    }

    /// Rows of other tables, of arrays with fields or of text, whose columns are found by name.
    pub(super) fn append_to_table(&self, rows: &TableRows) -> Result<Grown> {
        first_axis(self.args.axis, 1)?;
        let key = rows.table().key();
        for column in rows.table().indexed_columns()? {
            let text = format!("the index of column `{column}` is removed");
            self.cx.console.warning(&path_text(self.path), &text);
        }
        let mut writer = self.store_writer()?;
        let mut appender = writer.append_to_table(key)?;
        for input in &self.inputs {
            self.means(|by| by.to_table(&mut appender, rows, &input.source))?;
        }
        appender.finish()?;
        let table = writer.commit()?.table(key)?;
        Ok(Grown { nbytes: table.nbytes()?, shape: Some(vec![table.len()?]) })
    }
}

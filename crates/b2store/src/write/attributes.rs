//! Attributes of groups, tables and values.

use b2frame::FrameParams;
use blosc_chunk::CParams;

use super::{StoreForm, StoreWriter, new_frame};
use crate::error::{Error, Param, Result};
use crate::key::{self, ATTRIBUTES_NAME};
use crate::store::attributes_of;
use crate::value::Value;

/// The largest number of vlmetalayers that python-blosc2 can write.
const MAX_VLMETALAYERS_WRITTEN: usize = 16;
/// The longest name of an attribute (bytes).
const MAX_NAME_NBYTES: usize = 31;
/// The chunk size in the header of a frame without chunks, as python-blosc2 sets it (bytes).
const CHUNKSIZE: usize = 16 << 20;

/// The parameters of a frame that holds only vlmetalayers. A frame of attributes has no seal:
/// python-blosc2 would show the seal as an attribute.
pub(crate) fn params_without_chunks() -> FrameParams {
    FrameParams::new(CParams::default().typesize(1))
        .chunksize(CHUNKSIZE)
        .checksums(b2frame::Checksums::None)
}

/// The owner of attributes.
struct Owner {
    /// The key of the frame with the attributes.
    key: String,
    /// Whether the frame may be created.
    is_new: bool,
}

impl StoreWriter {
    /// The future attributes of a group (`/` is the root), a table or a value.
    ///
    /// # Errors
    ///
    /// [`Param::NoGroups`], [`Param::NoKey`]; an unreadable frame.
    pub fn attributes(&self, key: &str) -> Result<Vec<(String, Value)>> {
        let owner = self.owner(key)?;
        if !self.contains(&owner.key) {
            return Ok(Vec::new());
        }
        attributes_of(&self.frame(&owner.key)?, &owner.key)
    }

    /// Checks that a new group or table of this key may have attributes of these names.
    ///
    /// # Errors
    ///
    /// [`Param::AttributeName`], [`Param::AttributeCount`].
    pub fn check_attributes<'a>(key: &str, names: impl IntoIterator<Item = &'a str>) -> Result<()> {
        let mut count = 0_usize;
        for name in names {
            check_name(name)?;
            count = count.saturating_add(1);
        }
        match count > MAX_VLMETALAYERS_WRITTEN {
            true => Err(Param::AttributeCount { key: key.to_owned(), count }.into()),
            false => Ok(()),
        }
    }

    /// Sets an attribute of a group (`/` is the root), a table or a value. A group without values
    /// exists by its attributes.
    ///
    /// # Errors
    ///
    /// [`Param::AttributeName`], [`Param::AttributeCount`], [`Param::Value`], [`Param::Key`],
    /// [`Param::Occupied`]; [`Param::NoGroups`], [`Param::NoKey`] in an embed store.
    pub fn set_attribute(&mut self, key: &str, name: &str, value: &Value) -> Result<()> {
        check_name(name)?;
        let content = value.encode_as(name)?;
        let owner = self.owner(key)?;
        if !self.contains(&owner.key) {
            if owner.is_new && key != "/" {
                key::check_new(key).map_err(|fault| Param::Key { key: key.to_owned(), fault })?;
            }
            let frame = new_frame(&params_without_chunks(), key, |writer| {
                let set = writer.set_vlmeta(name, &content);
                set.map_err(|source| Error::frame(key, source))
            })?;
            self.store_value(&owner.key, ".b2f", frame);
            return Ok(());
        }
        let schunk = self.frame(&owner.key)?;
        let stored = schunk.vlmeta().stored();
        let count = stored.iter().count().saturating_add(1);
        if stored.get(name).is_none() && count > MAX_VLMETALAYERS_WRITTEN {
            return Err(Param::AttributeCount { key: key.to_owned(), count }.into());
        }
        self.edit_value(&owner.key, |writer| writer.set_vlmeta(name, &content))
    }

    /// Removes an attribute, and returns whether it existed. A group without values disappears with
    /// its last attribute.
    ///
    /// # Errors
    ///
    /// As [`set_attribute`](Self::set_attribute).
    pub fn remove_attribute(&mut self, key: &str, name: &str) -> Result<bool> {
        let owner = self.owner(key)?;
        if !self.contains(&owner.key) {
            return Ok(false);
        }
        let schunk = self.frame(&owner.key)?;
        if schunk.vlmeta().stored().get(name).is_none() {
            return Ok(false);
        }
        if owner.is_new && schunk.vlmeta().stored().iter().count() == 1 {
            self.remove_value(&owner.key);
            return Ok(true);
        }
        self.edit_value(&owner.key, |writer| writer.delete_vlmeta(name).map(drop))?;
        Ok(true)
    }

    fn owner(&self, key: &str) -> Result<Owner> {
        let group = key.trim_end_matches('/');
        if self.tables.contains(key) {
            return Ok(Owner { key: format!("{group}/_vlmeta"), is_new: true });
        }
        if let Some(table) = self.table_above(key) {
            return Err(Error::occupied(key, table, "a table"));
        }
        if let Some(value) = key::ancestors(key).chain(["/"]).find(|group| self.contains(group)) {
            return Err(Error::occupied(key, value, "a value and no group"));
        }
        let is_group = key == "/" || self.below(key).next().is_some();
        if self.contains(key) && !is_group {
            return Ok(Owner { key: key.to_owned(), is_new: false });
        }
        if self.form == StoreForm::Embed {
            return Err(match is_group {
                true => Param::NoGroups { key: key.to_owned() }.into(),
                false => Error::no_key(key),
            });
        }
        Ok(Owner { key: format!("{group}/{ATTRIBUTES_NAME}"), is_new: true })
    }
}

fn check_name(name: &str) -> Result<()> {
    match (1..=MAX_NAME_NBYTES).contains(&name.len()) {
        true => Ok(()),
        false => Err(Param::AttributeName { name: name.to_owned() }.into()),
    }
}

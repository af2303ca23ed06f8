//! Attributes of groups and tables of a store, and metalayers of its values.

use std::path::Path;

use b2store::{StoreWriter, WriteOptions};
use serde_json::Value as Json;

use super::frame;
use crate::{
    args::LockArgs,
    context::Context,
    error::{Result, message},
    formats::store::set_attribute,
    metadata::Change,
};

/// Makes all changes in one commit, under the lock of the store.
pub(super) fn change(
    cx: &Context,
    path: &Path,
    key: &str,
    is_value: bool,
    changes: &[Change],
    lock: LockArgs,
) -> Result<()> {
    let options = WriteOptions::default().wait(cx.lock_wait(lock));
    let mut writer = StoreWriter::open_with(path, &options)?;
    if is_value {
        writer.edit_schunk(key, |frame| frame::apply(frame, changes))?;
    } else {
        for change in changes {
            match change {
                Change::Set { name, value, .. } => {
                    set_attribute(&mut writer, key, name, value)?;
                }
                Change::Delete { name, .. } => drop(writer.remove_attribute(key, name)?),
                Change::Replace(new) => replace(&mut writer, key, new)?,
            }
        }
    }
    writer.commit()?;
    Ok(())
}

/// Replaces the attributes of an owner. Equal ones are not written again, since JSON cannot hold
/// all of them.
fn replace(writer: &mut StoreWriter, key: &str, new: &Json) -> Result<()> {
    let new = new.as_object().ok_or(message::METADATA_WITHOUT_NAMES.error())?;
    let old = blosc_data::json::map(&writer.attributes(key)?);
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        writer.remove_attribute(key, name)?;
    }
    for (name, value) in new.iter().filter(|(name, value)| old.get(*name) != Some(*value)) {
        set_attribute(writer, key, name, value)?;
    }
    Ok(())
}

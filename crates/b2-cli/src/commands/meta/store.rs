//! Attributes of groups and tables of a store, and metalayers of its values.

use std::path::Path;

use b2store::{StoreWriter, Value, ValueLimits, WriteOptions};
use blosc_chunk::DParams;
use serde_json::{Map, Value as Json};

use super::{
    document::{Change, Document},
    frame,
};
use crate::{
    args::LockArgs,
    context::Context,
    error::{Result, message},
    formats::{msgpack_json, store},
    inputs::{Origin, Part},
};

/// The attributes of the group or the table that an input is; a whole store is its root. `None` for
/// values, whose metadata are those of a frame, and for what is in no store.
pub(super) fn document(dparams: DParams, origin: &Origin) -> Result<Option<Document>> {
    let (path, key) = match origin {
        Origin::File { path, part: Part::Whole } if path.is_store() => (path, "/"),
        Origin::File { path, part: Part::Member(key) } => (path, key.as_str()),
        _ => return Ok(None),
    };
    let store = store::open(path, dparams)?;
    let found = if store.tables().any(|table| table == key) {
        store.table(key)?.attributes()?
    } else if key == "/" || store.groups().contains(key) {
        store.attributes(key)?
    } else {
        return Ok(None);
    };
    let map = found.iter().map(|(name, value)| (name.clone(), blosc_data::json::value(value)));
    Ok(Some(Document::of_attributes(map.collect())))
}

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
                    set(&mut writer, key, name, value)?;
                }
                Change::Delete { name, .. } => drop(writer.remove_attribute(key, name)?),
                Change::Replace(new) => replace(&mut writer, key, new)?,
            }
        }
    }
    writer.commit()?;
    Ok(())
}

/// Sets an attribute of a group or a table.
pub(in crate::commands) fn set(
    writer: &mut StoreWriter,
    key: &str,
    name: &str,
    value: &Json,
) -> Result<()> {
    Ok(writer.set_attribute(key, name, &from_json(value)?)?)
}

/// Gives an owner other attributes. Those that stay are not written anew, since JSON has no word
/// for some.
fn replace(writer: &mut StoreWriter, key: &str, new: &Json) -> Result<()> {
    let new = new.as_object().ok_or(message::METADATA_WITHOUT_NAMES.error())?;
    let old = writer.attributes(key)?;
    let old: Map<_, _> =
        old.iter().map(|(name, value)| (name.clone(), blosc_data::json::value(value))).collect();
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        writer.remove_attribute(key, name)?;
    }
    for (name, value) in new.iter().filter(|(name, value)| old.get(*name) != Some(*value)) {
        set(writer, key, name, value)?;
    }
    Ok(())
}

/// The value of a store that a value of JSON is.
fn from_json(value: &Json) -> Result<Value> {
    let bytes = msgpack_json::from_json(value);
    Value::decode(&bytes, &ValueLimits::default())
        .map_err(|error| message::NO_ATTRIBUTE.about(error))
}

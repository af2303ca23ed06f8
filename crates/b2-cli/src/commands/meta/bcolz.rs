//! Attributes of an array or a table of bcolz.

use std::path::Path;

use bcolz_store::{Attrs, LockWait, tree::DirTree};
use serde_json::Value;

use crate::{
    error::{Result, message},
    metadata::Change,
};

/// Makes all changes in one step. Other attributes stay byte for byte, since JSON cannot hold all
/// of them.
pub(super) fn change(path: &Path, changes: &[Change], wait: &LockWait) -> Result<()> {
    let tree = DirTree::new(path);
    Attrs::update_in(&tree, "", wait, |found| {
        for change in changes {
            match change {
                Change::Set { name, value, .. } => {
                    found.set(name, blosc_data::json::attrs::from_value(value))
                }
                Change::Delete { name, .. } => drop(found.remove(name)),
                Change::Replace(new) => replace(found, new)?,
            }
        }
        Ok(())
    })
}

fn replace(found: &mut Attrs, new: &Value) -> Result<()> {
    let new = new.as_object().ok_or(message::METADATA_WITHOUT_NAMES.error())?;
    let old = blosc_data::json::attrs::to_map(found);
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        found.remove(name);
    }
    for (name, value) in new.iter().filter(|(name, value)| old.get(*name) != Some(*value)) {
        found.set(name, blosc_data::json::attrs::from_value(value));
    }
    Ok(())
}

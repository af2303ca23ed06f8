//! Metadata of a Bloscpack file: in place while they fit, else in a new file with the same chunks.

use std::path::Path;

use blosc_data::Tail;
use bloscpack::{
    Durability, LockWait, LockedFile, RepackOptions,
    error::Param,
    metadata::{MetadataOptions, NewMetadata},
    numpy::ArrayInfo,
    repack, rewrite_metadata,
};
use serde_json::{Map, Value};

use crate::{
    context::Context,
    error::{Doing, Error, Result, message},
    formats::Blp,
    metadata::{Change, Document},
    output::{StageOptions, Staged},
};

pub(super) fn change(
    cx: &Context,
    path: &Path,
    opened: Blp,
    document: &Document,
    changes: &[Change],
    wait: &LockWait,
) -> Result<()> {
    let mut locked = LockedFile::open(path, wait)?;
    // Another program could change the file until the lock was taken.
    let blp = opened.reopen(path)?;
    let old = blp.file.metadata().and_then(|metadata| metadata.json());
    let new = changed(old.or(document.metadata()), changes)?;
    if !new.is_null() {
        match rewrite_metadata(&mut locked, &new, Durability::default()) {
            Err(bloscpack::Error::Param(
                Param::NoMetadata | Param::MetadataRoom { .. } | Param::NotAppendable { .. },
            )) => {}
            done => return Ok(done?),
        }
    }
    // The new file has nothing after its last chunk.
    let tail = Tail::of_blp(&blp.file)?;
    if tail.is_a_file() {
        return Err(message::BLP_FOLLOWED.about(tail));
    }
    let metadata = match new {
        Value::Null => NewMetadata::Remove,
        new => NewMetadata::Set(new, MetadataOptions::default()),
    };
    let options = RepackOptions::default().offsets(blp.file.offsets().is_some()).metadata(metadata);
    let staged = Staged::create(path, StageOptions { force: true, sync: true }, &cx.unfinished)?;
    repack(&blp.file, staged.handle()?, &options)?;
    let mode = path.metadata().map_err(Error::io(Doing::Open))?;
    staged.commit(Some(&mode)).map(drop)
}

/// The metadata with all changes.
fn changed(old: Option<&Value>, changes: &[Change]) -> Result<Value> {
    let mut value = old.cloned().unwrap_or(Value::Null);
    let array = |value: &Value| ArrayInfo::from_metadata(value).ok().flatten();
    let before = array(&value);
    for change in changes {
        match change {
            Change::Replace(new) => value = new.clone(),
            Change::Set { name, value: new, .. } => {
                object(&mut value)?.insert(name.clone(), new.clone());
            }
            Change::Delete { name, .. } => {
                object(&mut value)?.shift_remove(name);
            }
        }
    }
    // The keys that describe the array must stay: others would describe other items, or none.
    match before {
        Some(_) if array(&value) != before => Err(message::ARRAY_METADATA.error()),
        _ => Ok(value),
    }
}

/// The metadata as an object; a file without metadata gets an empty one.
fn object(value: &mut Value) -> Result<&mut Map<String, Value>> {
    if value.is_null() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut().ok_or(message::METADATA_WITHOUT_NAMES.error())
}

//! Metalayers of a frame: one commit for all changes, under the lock if there is one.

use std::path::Path;

use b2frame::SChunkWriter;

use crate::{
    args::LockArgs,
    context::Context,
    error::Result,
    formats::msgpack_json,
    metadata::{Change, Kind},
};

pub(super) fn change(
    cx: &Context,
    path: &Path,
    offset: u64,
    changes: &[Change],
    lock: LockArgs,
) -> Result<()> {
    let mut writer = SChunkWriter::open_with(path, &cx.edit_options(offset, lock))?;
    apply(&mut writer, changes)?;
    Ok(writer.commit()?)
}

/// The changes of one commit.
pub(super) fn apply(writer: &mut SChunkWriter, changes: &[Change]) -> Result<()> {
    for change in changes {
        match change {
            Change::Set { kind, name, value } => {
                set(writer, *kind, name, &msgpack_json::from_json(value))?
            }
            Change::Delete { kind, name } => delete(writer, *kind, name)?,
            // Only Bloscpack files have this change.
            Change::Replace(_) => {}
        }
    }
    Ok(())
}

/// A layer of either kind gets the value; a new one has a variable size.
fn set(writer: &mut SChunkWriter, kind: Option<Kind>, name: &str, content: &[u8]) -> Result<()> {
    let is_fixed = match kind {
        Some(kind) => kind == Kind::Fixed,
        None => {
            writer.schunk()?.meta().get(name).is_some()
                && writer.schunk()?.vlmeta().get(name)?.is_none()
        }
    };
    match is_fixed {
        true => Ok(writer.set_meta(name, content)?),
        false => Ok(writer.set_vlmeta(name, content)?),
    }
}

fn delete(writer: &mut SChunkWriter, kind: Option<Kind>, name: &str) -> Result<()> {
    let is_gone = kind != Some(Kind::Variable) && writer.delete_meta(name)?;
    if !is_gone && kind != Some(Kind::Fixed) {
        writer.delete_vlmeta(name)?;
    }
    Ok(())
}

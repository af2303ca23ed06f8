//! `STORE::/key` as an output: a value or a table in an existing or new store.
//!
//! The store is changed in one commit under its lock: a crash leaves the old or the new one.

use std::path::PathBuf;

use b2store::{StoreWriter, WriteOptions};
use blosc_data::Word;
use blosc_io::{Durability, LockWait};

use crate::{
    args::OutputArgs,
    error::{Error, Result, message},
    output::targets::FRAME_SUFFIXES,
    render::{harmless, path_text},
};

/// The store and the key of an output.
#[derive(Clone, Debug)]
pub(crate) struct StorePlace {
    path: PathBuf,
    pub(crate) key: String,
    is_replacing: bool,
    is_synced: bool,
}

impl StorePlace {
    /// The place that an output names; `None` if it names a file.
    ///
    /// # Errors
    ///
    /// When the file is not a store; with `--rm`, since a store may hold less than the input.
    pub(crate) fn of_output(output: &OutputArgs) -> Result<Option<Self>> {
        let Some(word) = output.output.as_deref().filter(|word| word.symlink_metadata().is_err())
        else {
            return Ok(None);
        };
        let Some((path, key)) = Word::split_key(word) else { return Ok(None) };
        let path = path.as_path();
        let Some(key) = key.strip_prefix('/') else {
            let is_store = crate::inputs::Place::from(path).is_store();
            return if is_store { Err(message::KEY_HAS_SLASH.error()) } else { Ok(None) };
        };
        let is_called = || {
            let name = path.as_os_str().as_encoded_bytes();
            let suffixes = FRAME_SUFFIXES.iter().filter(|suffix| suffix.starts_with(".b2"));
            let mut stores = suffixes.filter(|suffix| suffix.len() == 4);
            stores.any(|suffix| name.ends_with(suffix.as_bytes()))
        };
        if path.symlink_metadata().is_ok() && !crate::inputs::Place::from(path).is_store() {
            // Zarr and bcolz write groups in the same way, and are directories.
            let is_other = path.is_dir();
            return if is_other {
                Ok(None)
            } else {
                Err(message::OUTPUT_IS_NO_STORE.about(path_text(path)))
            };
        }
        if !path.exists() && !is_called() {
            return Ok(None);
        }
        if output.rm {
            return Err(message::STORE_KEEPS_INPUT.error());
        }
        Ok(Some(Self {
            path: path.to_owned(),
            key: format!("/{}", key.trim_matches('/')),
            is_replacing: output.force,
            is_synced: !output.no_sync,
        }))
    }

    /// The name in messages.
    pub(crate) fn name(&self) -> String {
        format!("{}::{}", path_text(&self.path), harmless(&self.key))
    }

    /// Opens the store, locked, and checks that the key is free or may be replaced. An old value
    /// stays until the commit.
    ///
    /// # Errors
    ///
    /// A store that cannot be opened or locked; an existing value without `-f`; a group.
    pub(crate) fn open(&self, wait: LockWait) -> Result<StoreWriter> {
        let durability = match self.is_synced {
            true => Durability::PowerLoss,
            false => Durability::ProcessDeath,
        };
        let options = WriteOptions::default().durability(durability).wait(wait);
        let mut writer = match self.path.exists() {
            true => StoreWriter::open_with(&self.path, &options)?,
            false => StoreWriter::create_with(&self.path, &options)?,
        };
        let is_table = writer.tables().any(|table| table == self.key);
        if (is_table || writer.contains(&self.key)) && !self.is_replacing {
            return Err(Error::Exists { path: self.name().into() });
        }
        if is_table {
            writer.remove(&self.key)?;
        }
        Ok(writer)
    }
}

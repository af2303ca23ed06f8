//! Unused bytes: replaced chunks and indexes of values, values that were removed from `embed.b2e`,
//! and bytes after a frame in its file.

use std::sync::Arc;

use b2frame::header::FrameLayout;
use b2frame::{EditOptions, SChunk, SChunkWriter};
use blosc_io::ReadAt;

use super::{At, Draft, NewFile, StoreForm, StoreWriter};
use crate::error::{Error, Result};
use crate::store::{Location, Store};

impl Store {
    /// Number of unused bytes, which [`StoreWriter::compact`] frees.
    ///
    /// # Errors
    ///
    /// A frame that cannot be opened, or whose chunks cannot be counted.
    pub fn dead_bytes(&self) -> Result<u64> {
        let is_here = |key: &&str| !matches!(self.location(key), Some(Location::Remote { .. }));
        let of_value = |key| dead_in(&self.frame(key)?, &self.source(key)?.0, key);
        let values = self.keys().filter(is_here).map(of_value).sum::<Result<u64>>()?;
        let usage = self.embed_frame().usage().map_err(|source| Error::frame("embed", source))?;
        Ok(values.saturating_add(usage.dead_bytes).saturating_add(self.dead_embedded()))
    }

    /// Bytes of the embedded frames outside of all values.
    fn dead_embedded(&self) -> u64 {
        let lens = self.keys().map(|key| match self.location(key) {
            Some(Location::Embedded { len, .. }) => *len,
            _ => 0,
        });
        self.embed_frame().nbytes().saturating_sub(lens.fold(0, u64::saturating_add))
    }
}

impl StoreWriter {
    /// Frees unused bytes: values with unused bytes are written anew, with their chunks as they
    /// are. Indexes stay, since no data change.
    ///
    /// # Errors
    ///
    /// As [`Store::dead_bytes`]; frames that differ from their seals.
    pub fn compact(&mut self) -> Result<()> {
        let keys: Vec<String> = self.keys().map(str::to_owned).collect();
        keys.iter().try_for_each(|key| self.compact_value(key))?;
        self.compact_embedded()
    }

    /// As [`compact`](Self::compact), for one value, or for a part of a table.
    ///
    /// # Errors
    ///
    /// As [`compact`](Self::compact).
    pub fn compact_value(&mut self, key: &str) -> Result<()> {
        let is_remote = |base: &Store| {
            let at = self.keys.get(key);
            matches!((at, base.location(key)), (Some(At::Base), Some(Location::Remote { .. })))
        };
        if self.base.as_ref().is_some_and(is_remote) {
            return Ok(());
        }
        if let Some(frame) = self.live_bytes(key, self.source(key)?)? {
            self.put_source(key, frame);
        }
        Ok(())
    }

    /// The frame without unused bytes, if it has some.
    pub(super) fn live_bytes(
        &self,
        key: &str,
        source: Arc<dyn ReadAt>,
    ) -> Result<Option<Arc<dyn ReadAt>>> {
        let wrong = |source| Error::frame(key, source);
        let options = &self.options.open.frame;
        let schunk = SChunk::from_store_with(Arc::clone(&source), options).map_err(wrong)?;
        let is_old = schunk.layout() != FrameLayout::Current;
        if is_old || dead_in(&schunk, &source, key)? == 0 {
            return Ok(None);
        }
        drop(schunk);
        let draft = Draft::over(source).map_err(|source| Error::io(key, source))?;
        let draft = draft.spill_in(self.place.dir.clone());
        let edit = EditOptions::default().open(options.clone());
        let mut writer = SChunkWriter::open_in(Box::new(draft.clone()), &edit).map_err(wrong)?;
        writer.compact().map_err(wrong)?;
        let len = writer.finish().map_err(wrong)?.frame_len();
        draft.into_frame(len, key).map(Some)
    }

    /// Replaces the bytes of a value by other bytes with the same data.
    pub(super) fn put_source(&mut self, key: &str, source: Arc<dyn ReadAt>) {
        self.is_changed = true;
        self.same.insert(key.to_owned());
        match self.keys.get_mut(key) {
            Some(At::File(path)) => drop(self.files.insert(path.clone(), Some(NewFile(source)))),
            Some(at) => *at = At::New(NewFile(source)),
            None => {}
        }
    }

    /// Requests that the embedded values are written one after the other, if there are unused bytes
    /// between them.
    fn compact_embedded(&mut self) -> Result<()> {
        let Some(base) = self.base.clone() else { return Ok(()) };
        let usage = base.embed_frame().usage().map_err(|source| Error::frame("embed", source))?;
        let is_replaced = self.keys.values().any(|at| matches!(at, At::New(_)));
        let dead = base.dead_embedded().saturating_add(usage.dead_bytes);
        if dead == 0 && !is_replaced
            || self.form != StoreForm::Embed && base.embed_frame().nbytes() == 0
        {
            return Ok(());
        }
        for (key, at) in &mut self.keys {
            if matches!((&*at, base.location(key)), (At::Base, Some(Location::Embedded { .. }))) {
                *at = At::New(NewFile(base.source(key)?.0));
                self.same.insert(key.clone());
            }
        }
        (self.is_changed, self.is_embed_anew) = (true, true);
        Ok(())
    }
}

/// Number of unused bytes in a frame, and after it in its file or range.
fn dead_in(schunk: &SChunk, source: &Arc<dyn ReadAt>, key: &str) -> Result<u64> {
    let len = source.len().map_err(|source| Error::io(key, source))?;
    let usage = schunk.usage().map_err(|source| Error::frame(key, source))?;
    Ok(usage.dead_bytes.saturating_add(len.saturating_sub(schunk.frame_len())))
}

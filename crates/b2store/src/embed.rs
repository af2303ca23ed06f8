//! Values inside of the frame of an embed store, or of `embed.b2e` ("Embed stores" in
//! `docs/formats/store.md`).

use std::io;
use std::sync::Arc;

use b2frame::SChunk;
use blosc_io::ReadAt;

use crate::content::vlmetalayer;
use crate::error::{Corrupt, Error, Result};
use crate::store::Location;
use crate::value::Value;

/// The map of the embedded values, in order of insertion.
pub(crate) fn embed_map(
    schunk: &SChunk,
    name: &str,
    max_keys: u64,
) -> Result<Vec<(Value, Location)>> {
    let Some(metadata) = vlmetalayer(schunk, name, "estore_metadata")? else {
        return Ok(Vec::new());
    };
    let wrong = |field: &str, found: &'static str| {
        Error::corrupt(name, Corrupt::wrong_type(field, "a map", found))
    };
    if !matches!(metadata, Value::Map(_)) {
        return Err(wrong("estore_metadata", metadata.type_name()));
    }
    let map = match metadata.get("embed_map") {
        None => return Ok(Vec::new()),
        Some(Value::Map(map)) => map,
        Some(other) => return Err(wrong("embed_map", other.type_name())),
    };
    if map.len() as u64 > max_keys {
        let (needed, limit) = (map.len() as u64, max_keys);
        return Err(Error::Limit { name: name.to_owned(), needed, limit, unit: "keys" });
    }
    Ok(map.iter().map(|(key, entry)| (key.clone(), entry_of(entry))).collect())
}

fn entry_of(entry: &Value) -> Location {
    if let Some(url) = entry.get("urlbase") {
        let (base, path) = (url.as_str(), entry.get("path").and_then(Value::as_str));
        let url = [base.unwrap_or_default(), path.unwrap_or_default()].join("/");
        return Location::Remote { url };
    }
    let number = |field: &str| {
        let value = entry.get(field);
        value.and_then(Value::as_u64).ok_or_else(|| {
            let found = value.map_or("missing", Value::type_name);
            Corrupt::wrong_type(field, "a number of bytes", found)
        })
    };
    match (number("offset"), number("length")) {
        (Ok(offset), Ok(len)) => Location::Embedded { offset, len },
        (Err(what), _) | (_, Err(what)) => Location::Damaged(what),
    }
}

/// A frame inside of the content of another one. Only the requested chunks are decoded.
#[derive(Debug)]
pub(crate) struct EmbeddedFrame {
    schunk: Arc<SChunk>,
    offset: u64,
    len: u64,
}

impl EmbeddedFrame {
    pub(crate) fn new(schunk: &Arc<SChunk>, offset: u64, len: u64, name: &str) -> Result<Self> {
        let nbytes = schunk.nbytes();
        let is_inside = offset.checked_add(len).is_some_and(|end| end <= nbytes);
        if !is_inside || len == 0 {
            return Err(Error::corrupt(name, Corrupt::Embedded { offset, len, nbytes }));
        }
        Ok(Self { schunk: Arc::clone(schunk), offset, len })
    }
}

impl ReadAt for EmbeddedFrame {
    fn len(&self) -> io::Result<u64> {
        Ok(self.len)
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let left = self.len.saturating_sub(at);
        let len = usize::try_from(left).unwrap_or(usize::MAX).min(buf.len());
        let Some(buf) = buf.get_mut(..len).filter(|buf| !buf.is_empty()) else { return Ok(0) };
        let start = self.offset.saturating_add(at);
        self.schunk.read_bytes(start, buf).map_err(io::Error::other)?;
        Ok(len)
    }
}

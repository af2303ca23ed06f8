//! `meta/storage`: dtype, chunk length, and the parameters for further chunks.

use blosc_dtype::Dtype;

use super::{dtype, in_range, need, read_object, storage_path, wrong_type};
use crate::error::{Field, Result};
use crate::note::Fault;
use crate::params::{Cname, Shuffle, StorageParams};
use crate::tree::Tree;
use blosc_dtype::json::Json;

/// The properties that an array gets when it is made.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Storage {
    pub(crate) dtype: Dtype,
    /// Rows of a full chunk.
    pub(crate) chunklen: u64,
    pub(crate) cparams: StorageParams,
    /// A guess; not used.
    pub(crate) expectedlen: Option<i128>,
    pub(crate) dflt: Option<Json>,
}

impl Storage {
    /// The checked contents, and faults of the parts that reading does not need.
    pub(crate) fn parse(json: &Json, path: &str) -> Result<(Self, Vec<Fault>)> {
        let text = need(json, path, "dtype")?;
        let text = text.as_str().ok_or_else(|| wrong_type(path, "dtype", "a string", text))?;
        let dtype = dtype::parse(text, path)?;
        let chunklen = need(json, path, "chunklen")?;
        let value = chunklen
            .as_int()
            .ok_or_else(|| wrong_type(path, "chunklen", "an integer", chunklen))?;
        let chunklen =
            in_range(path, Field::ChunkLen, value, 1, crate::layout::MAX_CHUNK_BYTES.into())?;
        let mut faults = Vec::new();
        let cparams = cparams(json.get("cparams"), &mut faults);
        let dflt = json.get("dflt").cloned();
        if dflt.is_none() {
            faults.push(Fault::NoDflt);
        }
        let expectedlen = json.get("expectedlen").and_then(Json::as_int);
        Ok((Self { dtype, chunklen, cparams, expectedlen, dflt }, faults))
    }

    /// Reads the file of the array at `path`, with its harmless faults.
    pub(crate) fn read(tree: &dyn Tree, path: &str) -> Result<(Self, Vec<Fault>)> {
        let path = storage_path(path);
        Self::parse(&read_object(tree, &path)?, &path)
    }

    /// The text of the file.
    pub(crate) fn to_text(&self) -> String {
        let StorageParams { clevel, shuffle, cname, quantize } = self.cparams;
        format!(
            "{{\"dtype\": {}, \"cparams\": {{\"clevel\": {clevel}, \"shuffle\": {}, \"cname\": \"{}\", \
             \"quantize\": {quantize}}}, \"chunklen\": {}, \"expectedlen\": {}, \"dflt\": {}}}\n",
            Json::String(dtype::print(&self.dtype)),
            shuffle.number(),
            cname.name(),
            self.chunklen,
            self.expectedlen.unwrap_or(0),
            self.dflt.as_ref().unwrap_or(&Json::Int(0)),
        )
    }
}

/// Settings for writing; missing or unknown ones get the values of releases before 1.1.0.
fn cparams(json: Option<&Json>, faults: &mut Vec<Fault>) -> StorageParams {
    let old = StorageParams::default().cname(Cname::BloscLz);
    let Some(json) = json else {
        faults.push(Fault::StorageParams { key: "cparams" });
        return old;
    };
    let mut take = |key: &'static str, read: &mut dyn FnMut(&Json) -> bool| {
        let optional = matches!(key, "cname" | "quantize");
        if !json.get(key).map_or(optional, read) {
            faults.push(Fault::StorageParams { key });
        }
    };
    let mut found = old;
    take("clevel", &mut |value| {
        assign(&mut found.clevel, small(value).filter(|level| *level <= 9))
    });
    take("shuffle", &mut |value| assign(&mut found.shuffle, shuffle(value)));
    take("cname", &mut |value| assign(&mut found.cname, value.as_str().and_then(Cname::from_name)));
    take("quantize", &mut |value| {
        assign(&mut found.quantize, if *value == Json::Null { Some(0) } else { small(value) })
    });
    found
}

fn assign<T>(place: &mut T, value: Option<T>) -> bool {
    let is_known = value.is_some();
    if let Some(value) = value {
        *place = value;
    }
    is_known
}

fn small(value: &Json) -> Option<u8> {
    value.as_int().and_then(|value| value.try_into().ok())
}

fn shuffle(value: &Json) -> Option<Shuffle> {
    match value {
        Json::Bool(value) => Some(if *value { Shuffle::Byte } else { Shuffle::None }),
        Json::Int(0) => Some(Shuffle::None),
        Json::Int(1) => Some(Shuffle::Byte),
        Json::Int(2) => Some(Shuffle::Bit),
        _ => None,
    }
}

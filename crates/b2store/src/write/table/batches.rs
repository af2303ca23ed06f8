//! Cells of any length: batches, lists, and the words of dictionaries.

use std::collections::BTreeMap;

use b2frame::{FrameParams, SChunk, SChunkWriter};
use blosc_chunk::CParams;
use blosc_dtype::json::Json;

use super::spec::BATCH_ROWS;
use super::{StoreWriter, edit_frame, new_frame};
use crate::content::{Content, metalayer};
use crate::error::{Error, Param, Result};
use crate::table::{ColumnKind, ColumnSpec};
use crate::value::Value;

/// Items of a block of a new frame.
const BLOCK_ITEMS: u64 = 256;
const METADATA_LAYER: &str = "_batch_array_metadata";

impl StoreWriter {
    /// Batches without items.
    pub(super) fn create_batches(&mut self, key: &str, spec: &ColumnSpec) -> Result<()> {
        let is_nullable = spec.json.get("nullable") == Some(&Json::Bool(true));
        let py_type = match spec.kind {
            ColumnKind::VlBytes => "bytes",
            ColumnKind::Struct => "struct",
            ColumnKind::Object => "object",
            _ => "str",
        };
        let rows = Value::Int(i64::try_from(BATCH_ROWS).unwrap_or(i64::MAX));
        let first = match spec.kind {
            ColumnKind::List => {
                let item = spec.json.get("item").map_or(Value::Nil, value_of);
                let fields = [
                    ("version", Value::Int(1)),
                    ("kind", text("list")),
                    ("item", item),
                    ("nullable", Value::Bool(is_nullable)),
                    ("serializer", text("msgpack")),
                    ("batch_rows", rows),
                    ("backend", text("batch")),
                ];
                ("listarray", map(fields))
            }
            _ => {
                let is_dictionary = matches!(spec.kind, ColumnKind::Dictionary { .. });
                let fields = [
                    ("version", Value::Int(1)),
                    ("py_type", text(py_type)),
                    ("nullable", Value::Bool(is_nullable && !is_dictionary)),
                    ("batch_rows", rows),
                ];
                ("ctable_varlen_scalar", map(fields))
            }
        };
        let layers = vec![(first.0.to_owned(), encoded(&first.1)?)];
        let frame = new_frame(&batch_params(layers, None)?, key, |_| Ok(()))?;
        self.store_value(key, ".b2b", frame);
        Ok(())
    }

    /// Appends cells so that the first of them is row `end`.
    pub(super) fn append_cells(&mut self, key: &str, cells: Vec<Value>, end: u64) -> Result<()> {
        let written = match self.get(key)? {
            Content::Batches(batches) => batches.len()?,
            Content::Lists(lists) => lists.len()?,
            _ => end,
        };
        let missing = usize::try_from(end.saturating_sub(written)).unwrap_or(usize::MAX);
        let cells = [vec![Value::Nil; missing], cells].concat();
        if metalayer(&self.frame(key)?, key, "vlarray")?.is_none() {
            return self.append_batches(key, cells);
        }
        let cells: Vec<Vec<u8>> = cells.iter().map(encoded).collect::<Result<_>>()?;
        self.edit_cells(key, |writer| {
            cells.iter().try_for_each(|cell| {
                let chunk = blosc_chunk::compress(cell, writer.cparams());
                let chunk =
                    chunk.map_err(|source| b2frame::Error::Compress { nchunk: 0, source })?;
                writer.append_chunk(&chunk)
            })
        })
    }

    /// Appends items in batches.
    pub(super) fn append_batches(&mut self, key: &str, items: Vec<Value>) -> Result<()> {
        let frame = self.frame(key)?;
        let layer = metalayer(&frame, key, "batcharray")?;
        let mut per_block =
            layer.as_ref().and_then(|layer| layer.get("items_per_block")).and_then(Value::as_u64);
        let mut lengths = match self.get(key)? {
            Content::Batches(batches) => batches.lengths()?,
            Content::Lists(lists) => lists.batch_lengths()?,
            _ => Vec::new(),
        };
        if per_block.is_none() && lengths.is_empty() {
            // The first batch decides.
            per_block = Some(BLOCK_ITEMS);
            self.restart(key, &frame)?;
        }
        drop(frame);
        let mut batches: Vec<Vec<Vec<u8>>> = Vec::new();
        for batch in items.chunks(BATCH_ROWS) {
            lengths.push(batch.len() as u64);
            let per_block = per_block.and_then(|count| usize::try_from(count).ok());
            let blocks = batch.chunks(per_block.unwrap_or(BATCH_ROWS).max(1));
            let block = |items: &[Value]| encoded_block(items);
            batches.push(blocks.map(block).collect::<Result<_>>()?);
        }
        let number = |len: u64| Value::Int(i64::try_from(len).unwrap_or(i64::MAX));
        let lengths = Value::Array(lengths.into_iter().map(number).collect());
        let lengths = encoded(&map([("batch_lengths", lengths)]))?;
        self.edit_cells(key, |writer| {
            for batch in &batches {
                let blocks: Vec<&[u8]> = batch.iter().map(Vec::as_slice).collect();
                writer.append_vl(&blocks)?;
            }
            writer.set_vlmeta(METADATA_LAYER, &lengths)
        })
    }

    /// The same frame without chunks, with a number of items for each block.
    fn restart(&mut self, key: &str, frame: &SChunk) -> Result<()> {
        let layers = frame.meta().iter().filter(|layer| layer.name_text() != "batcharray");
        let layers = layers.map(|layer| (layer.name_text().into_owned(), layer.content.to_vec()));
        let params = batch_params(layers.collect(), Some(BLOCK_ITEMS))?;
        let mut vlmeta = Vec::new();
        for layer in frame.vlmeta().stored().iter() {
            let content = frame.vlmeta().decode(layer);
            let content = content.map_err(|source| Error::frame(key, source))?;
            vlmeta.push((layer.name_text().into_owned(), content));
        }
        let new = new_frame(&params, key, |writer| {
            vlmeta.iter().try_for_each(|(name, content)| writer.set_vlmeta(name, content))
        })?;
        self.store_value(key, ".b2b", new);
        Ok(())
    }

    /// Changes a frame of cells, whose suffix is that of batches whatever it holds.
    fn edit_cells(
        &mut self,
        key: &str,
        edit: impl FnOnce(&mut SChunkWriter) -> b2frame::Result<()>,
    ) -> Result<()> {
        let frame = edit_frame(self.source(key)?, key, edit)?;
        self.store_value(key, ".b2b", frame);
        Ok(())
    }

    /// The words of a dictionary and their codes.
    pub(super) fn words(&self, key: &str) -> Result<BTreeMap<String, i32>> {
        let Content::Batches(batches) = self.get(key)? else {
            let why = "its words are no batches";
            return Err(Param::Column { name: key.to_owned(), why }.into());
        };
        let words = batches.items(0..batches.len()?)?.into_iter().zip(0..);
        Ok(words
            .filter_map(|(word, code)| match word {
                Value::Str(word) => Some((word, code)),
                _ => None,
            })
            .collect())
    }
}

/// A frame of batches.
fn batch_params(
    layers: Vec<(String, Vec<u8>)>,
    items_per_block: Option<u64>,
) -> Result<FrameParams> {
    let count = items_per_block
        .map_or(Value::Nil, |count| Value::Int(i64::try_from(count).unwrap_or(i64::MAX)));
    let batches = map([
        ("version", Value::Int(1)),
        ("serializer", text("msgpack")),
        ("items_per_block", count),
        ("arrow_schema", Value::Nil),
    ]);
    let params =
        FrameParams::new(CParams::default().typesize(1)).checksums(b2frame::Checksums::None);
    let params =
        layers.into_iter().fold(params, |params, (name, content)| params.metalayer(name, content));
    Ok(params.metalayer("batcharray", encoded(&batches)?))
}

/// A block is a list of items, also where the first of them is the text that marks tuples.
fn encoded_block(items: &[Value]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
    let _ = rmp::encode::write_array_len(&mut bytes, count);
    for item in items {
        bytes.extend(encoded(item)?);
    }
    Ok(bytes)
}

fn encoded(value: &Value) -> Result<Vec<u8>> {
    value.encode().ok_or_else(|| Param::Value { name: "a cell".to_owned() }.into())
}

fn text(text: &str) -> Value {
    Value::Str(text.to_owned())
}

fn map<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Map(fields.into_iter().map(|(name, value)| (text(name), value)).collect())
}

/// JSON as a value.
fn value_of(json: &Json) -> Value {
    match json {
        Json::Null => Value::Nil,
        Json::Bool(value) => Value::Bool(*value),
        Json::Int(value) => match i64::try_from(*value) {
            Ok(value) => Value::Int(value),
            Err(_) => Value::UInt(u64::try_from(*value).unwrap_or(u64::MAX)),
        },
        Json::Float(value) => Value::Float(*value),
        Json::String(value) => text(value),
        Json::Array(values) => Value::Array(values.iter().map(value_of).collect()),
        Json::Object(fields) => {
            Value::Map(fields.iter().map(|(name, value)| (text(name), value_of(value))).collect())
        }
    }
}

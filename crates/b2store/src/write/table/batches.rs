//! Cells of any length: batches, lists, and the words of dictionaries.

use std::path::PathBuf;
use std::sync::Arc;

use b2frame::{EditOptions, FrameParams, SChunk, SChunkWriter};
use blosc_dtype::json::Json;
use blosc_io::ReadAt;

use super::spec::BATCH_ROWS;
use super::{Draft, StoreWriter, TableParams};
use crate::content::{Content, metalayer};
use crate::error::{Error, Result};
use crate::table::{ColumnKind, ColumnSpec};
use crate::value::Value;

/// Items of a block of a new frame.
const BLOCK_ITEMS: usize = 256;
const METADATA_LAYER: &str = "_batch_array_metadata";

/// Cells as MessagePack, one after the other.
#[derive(Clone, Default)]
pub(super) struct Encoded {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Encoded {
    /// Adds a cell; `None` if the value has no form in MessagePack.
    pub(super) fn push(&mut self, value: &Value) -> Option<()> {
        value.encode_into(&mut self.bytes)?;
        self.ends.push(self.bytes.len());
        Some(())
    }

    /// Adds text, or nil.
    pub(super) fn push_text(&mut self, text: Option<&str>) -> Option<()> {
        match text {
            Some(text) => {
                u32::try_from(text.len()).ok()?;
                rmp::encode::write_str(&mut self.bytes, text).ok()?;
            }
            None => rmp::encode::write_nil(&mut self.bytes).ok()?,
        }
        self.ends.push(self.bytes.len());
        Some(())
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn append(&mut self, other: &Self) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&other.bytes);
        self.ends.extend(other.ends.iter().map(|end| start.saturating_add(*end)));
    }

    /// The bytes of some cells, if all of them exist.
    fn cells(&self, cells: core::ops::Range<usize>) -> Option<&[u8]> {
        let end_of = |count: usize| match count.checked_sub(1) {
            Some(last) => self.ends.get(last).copied(),
            None => Some(0),
        };
        self.bytes.get(end_of(cells.start)?..end_of(cells.end)?)
    }

    /// The cells from `start` on.
    fn after(&self, start: usize) -> Option<Self> {
        let from = self.cells(0..start)?.len();
        let ends = self.ends.iter().skip(start).map(|end| end.checked_sub(from));
        Some(Self { bytes: self.bytes.get(from..)?.to_vec(), ends: ends.collect::<Option<_>>()? })
    }
}

const NO_CELLS: &str = "fewer cells than were counted";

/// A growing frame of cells.
pub(super) struct Cells {
    name: String,
    dir: Option<PathBuf>,
    how: TableParams,
    frame: Frame,
    /// Number of cells in each batch.
    lengths: Vec<u64>,
    /// Cells of a block.
    per_block: usize,
    /// Whether each cell is a chunk, without batches.
    is_single: bool,
    is_changed: bool,
    pending: Encoded,
}

#[expect(clippy::large_enum_variant, reason = "one for each column, which is written once")]
enum Frame {
    /// Before the first batch, which sets the number of items of a block in a metalayer; this never
    /// changes later.
    Empty {
        layers: Vec<(String, Vec<u8>)>,
        vlmeta: Vec<(String, Vec<u8>)>,
    },
    Open {
        draft: Draft,
        writer: SChunkWriter,
    },
}

impl Cells {
    /// The frame of a new column.
    pub(super) fn create(
        name: &str,
        spec: &ColumnSpec,
        (dir, how): (Option<PathBuf>, &TableParams),
    ) -> Result<Self> {
        Ok(Self::empty(name, vec![layer_of(spec)?], Vec::new(), (dir, how.clone())))
    }

    fn empty(
        name: &str,
        layers: Vec<(String, Vec<u8>)>,
        vlmeta: Vec<(String, Vec<u8>)>,
        (dir, how): (Option<PathBuf>, TableParams),
    ) -> Self {
        Self {
            name: name.to_owned(),
            dir,
            how,
            frame: Frame::Empty { layers, vlmeta },
            lengths: Vec::new(),
            per_block: BLOCK_ITEMS,
            is_single: false,
            is_changed: true,
            pending: Encoded::default(),
        }
    }

    /// The frame of an existing column.
    pub(super) fn open(store: &StoreWriter, key: &str, dir: Option<PathBuf>) -> Result<Self> {
        let frame = store.frame(key)?;
        let how = TableParams::like(&frame);
        let layer = metalayer(&frame, key, "batcharray")?;
        let field = |name| layer.as_ref().and_then(|layer: &Value| layer.get(name));
        if field("serializer").and_then(Value::as_str) == Some("arrow") {
            return Err(Error::column(key, "its rows are in Arrow's form, which is only read"));
        }
        let stated = field("items_per_block");
        let stated = stated.and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok());
        let lengths = match store.get(key)? {
            Content::Batches(batches) => batches.lengths()?,
            Content::Lists(lists) => lists.batch_lengths()?,
            _ => Vec::new(),
        };
        let is_single = metalayer(&frame, key, "vlarray")?.is_some();
        if stated.is_none() && lengths.is_empty() && !is_single {
            let (layers, vlmeta) = layers_of(&frame, key)?;
            return Ok(Self::empty(key, layers, vlmeta, (dir, how)));
        }
        drop(frame);
        let source = store.source(key)?;
        let draft = Draft::over(source).map_err(|source| Error::io(key, source))?;
        let draft = draft.spill_in(dir.clone());
        let writer = SChunkWriter::open_in(Box::new(draft.clone()), &EditOptions::default());
        let writer = writer.map_err(|source| Error::frame(key, source))?;
        let per_block = stated.unwrap_or(BATCH_ROWS).max(1);
        let frame = Frame::Open { draft, writer };
        let (name, pending) = (key.to_owned(), Encoded::default());
        let is_changed = false;
        Ok(Self { name, dir, how, frame, lengths, per_block, is_single, is_changed, pending })
    }

    /// Appends cells.
    pub(super) fn append(&mut self, cells: &Encoded) -> Result<()> {
        self.pending.append(cells);
        self.flush(false)
    }

    /// Writes whole batches, or all cells.
    fn flush(&mut self, is_last: bool) -> Result<()> {
        let (mut start, len) = (0_usize, self.pending.len());
        while start < len {
            let end = start.saturating_add(BATCH_ROWS).min(len);
            let count = end.saturating_sub(start);
            if count < BATCH_ROWS && !is_last {
                break;
            }
            self.write(start..end)?;
            start = end;
        }
        if start > 0 {
            self.pending =
                self.pending.after(start).ok_or_else(|| Error::internal(&self.name, NO_CELLS))?;
        }
        Ok(())
    }

    /// Writes a batch.
    fn write(&mut self, cells: core::ops::Range<usize>) -> Result<()> {
        self.start()?;
        let Frame::Open { writer, .. } = &mut self.frame else {
            return Err(Error::internal(&self.name, "cells have no frame"));
        };
        let no_cells = || Error::internal(&self.name, NO_CELLS);
        let wrong = |source| Error::frame(&self.name, source);
        self.is_changed = true;
        if self.is_single {
            for cell in cells {
                let bytes = self.pending.cells(cell..cell.saturating_add(1));
                let bytes = bytes.ok_or_else(no_cells)?;
                let chunk = blosc_chunk::compress(bytes, writer.cparams());
                let chunk = chunk.map_err(|source| b2frame::Error::Compress { nchunk: 0, source });
                writer.append_of_any_size(&chunk.map_err(wrong)?).map_err(wrong)?;
            }
            return Ok(());
        }
        self.lengths.push(cells.len() as u64);
        let mut blocks = Vec::new();
        for start in cells.clone().step_by(self.per_block) {
            let end = start.saturating_add(self.per_block).min(cells.end);
            blocks.push(encoded_block(&self.pending, start..end).ok_or_else(no_cells)?);
        }
        let blocks: Vec<&[u8]> = blocks.iter().map(Vec::as_slice).collect();
        writer.append_vl(&blocks).map_err(wrong)
    }

    /// Creates the frame, if it does not exist yet.
    fn start(&mut self) -> Result<()> {
        let Frame::Empty { layers, vlmeta } = &mut self.frame else { return Ok(()) };
        let params = batch_params(core::mem::take(layers), Some(self.per_block), &self.how)?;
        let vlmeta = core::mem::take(vlmeta);
        self.frame = new_frame(&params, &vlmeta, &self.name, self.dir.clone())?;
        Ok(())
    }

    /// The frame.
    pub(super) fn finish(mut self) -> Result<Arc<dyn ReadAt>> {
        self.flush(true)?;
        if let Frame::Empty { layers, vlmeta } = &mut self.frame {
            let params = batch_params(core::mem::take(layers), None, &self.how)?;
            let vlmeta = core::mem::take(vlmeta);
            self.frame = new_frame(&params, &vlmeta, &self.name, None)?;
        }
        let Self { name, frame, lengths, is_single, is_changed, .. } = self;
        let Frame::Open { draft, mut writer } = frame else {
            return Err(Error::column(&name, "its frame was not made"));
        };
        let has_lengths = is_changed && !is_single && !lengths.is_empty();
        let lengths = Value::Array(lengths.into_iter().map(Value::count).collect());
        let lengths = map([("batch_lengths", lengths)]).encode_as(&name)?;
        let finish = || {
            if has_lengths {
                writer.set_vlmeta(METADATA_LAYER, &lengths)?;
            }
            writer.commit()?;
            writer.finish()
        };
        let len = finish().map_err(|source| Error::frame(&name, source))?.frame_len();
        draft.into_frame(len, &name)
    }
}

fn new_frame(
    params: &FrameParams,
    vlmeta: &[(String, Vec<u8>)],
    name: &str,
    dir: Option<PathBuf>,
) -> Result<Frame> {
    let draft = Draft::empty().spill_in(dir);
    let create = || {
        let mut writer = SChunkWriter::create_in(Box::new(draft.clone()), params)?;
        vlmeta.iter().try_for_each(|(name, content)| writer.set_vlmeta(name, content))?;
        Ok(writer)
    };
    let writer = create().map_err(|source| Error::frame(name, source))?;
    Ok(Frame::Open { draft, writer })
}

/// The metalayers of a frame except the one of batches, and its vlmetalayers.
#[expect(clippy::type_complexity, reason = "two lists of the same")]
fn layers_of(
    frame: &SChunk,
    key: &str,
) -> Result<(Vec<(String, Vec<u8>)>, Vec<(String, Vec<u8>)>)> {
    let layers = frame.meta().iter().filter(|layer| layer.name_text() != "batcharray");
    let layers = layers.map(|layer| (layer.name_text().into_owned(), layer.content.to_vec()));
    let mut vlmeta = Vec::new();
    for layer in frame.vlmeta().stored().iter() {
        let content = frame.vlmeta().decode(layer);
        let content = content.map_err(|source| Error::frame(key, source))?;
        vlmeta.push((layer.name_text().into_owned(), content));
    }
    Ok((layers.collect(), vlmeta))
}

/// The metalayer before the one of batches.
fn layer_of(spec: &ColumnSpec) -> Result<(String, Vec<u8>)> {
    let is_nullable = spec.json.get("nullable") == Some(&Json::Bool(true));
    let py_type = match spec.kind {
        ColumnKind::VlBytes => "bytes",
        ColumnKind::Struct => "struct",
        ColumnKind::Object => "object",
        _ => "str",
    };
    let rows = Value::count(BATCH_ROWS as u64);
    let (name, content) = match spec.kind {
        ColumnKind::List => {
            let item = spec.json.get("item").map_or(Value::Nil, Value::from);
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
    Ok((name.to_owned(), content.encode_as("a cell")?))
}

/// A frame of batches.
fn batch_params(
    layers: Vec<(String, Vec<u8>)>,
    items_per_block: Option<usize>,
    how: &TableParams,
) -> Result<FrameParams> {
    let count = items_per_block.map_or(Value::Nil, |count| Value::count(count as u64));
    let batches = map([
        ("version", Value::Int(1)),
        ("serializer", text("msgpack")),
        ("items_per_block", count),
        ("arrow_schema", Value::Nil),
    ]);
    let checksums = how.checksums.unwrap_or(b2frame::Checksums::None);
    let params = FrameParams::new(how.cparams.clone().typesize(1).blocksize(None));
    let params = params.checksums(checksums);
    let params =
        layers.into_iter().fold(params, |params, (name, content)| params.metalayer(name, content));
    Ok(params.metalayer("batcharray", batches.encode_as("a cell")?))
}

/// A block is a list of items, even if the first item is the text that marks tuples.
fn encoded_block(items: &Encoded, range: core::ops::Range<usize>) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    rmp::encode::write_array_len(&mut bytes, u32::try_from(range.len()).ok()?).ok()?;
    bytes.extend_from_slice(items.cells(range)?);
    Some(bytes)
}

fn text(text: &str) -> Value {
    Value::Str(text.to_owned())
}

fn map<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Map(fields.into_iter().map(|(name, value)| (text(name), value)).collect())
}

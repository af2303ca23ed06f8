//! Objects: one in each chunk, or in batches; lists on top of both ("Kinds of values" in
//! `docs/formats/store.md`).

use core::ops::Range;
use std::sync::{Arc, OnceLock};

use b2frame::SChunk;
use blosc_chunk::Executor;
use blosc_container::parallel::for_each;

use crate::content::{check_version, decode, vlmetalayer};
use crate::error::{Corrupt, Error, Param, Result};
use crate::ipc::{self, Field};
use crate::value::{Texts, Value, ValueLimits};

/// A frame with one object in each chunk.
#[derive(Clone, Debug)]
pub struct ObjectArray {
    schunk: Arc<SChunk>,
    name: String,
}

/// A frame with a batch of objects in each chunk.
#[derive(Clone, Debug)]
pub struct BatchArray {
    schunk: Arc<SChunk>,
    name: String,
    serializer: Serializer,
    /// Number of items in all blocks of a batch except the last.
    items_per_block: Option<u64>,
    /// Number of items of each batch, as far as the frame stores them.
    stored: Option<Vec<u64>>,
    threads: Executor,
    /// Number of the first item of each batch, and at the end the total number.
    starts: Arc<OnceLock<Vec<u64>>>,
}

/// Rows that are lists.
#[derive(Clone, Debug)]
pub struct ListArray {
    rows: Rows,
    name: String,
    item: Value,
    is_nullable: bool,
}

/// The selected items of a batch.
struct Job<T> {
    nbatch: u64,
    /// Number of items of the batch.
    len: u64,
    wanted: Range<u64>,
    found: T,
}

/// The encoding of the items of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Serializer {
    MessagePack,
    /// Arrow's form. The frame names the field of blocks from early writers.
    Arrow(Option<Arc<Field>>),
}

/// A destination for the decoded items of a block.
pub(crate) trait Items: Default + Send {
    /// Decodes the items of a block: the field `field` in the value `name`.
    fn decode(bytes: &[u8], name: &str, field: &str) -> Result<Self>;

    /// As [`decode`](Self::decode), from values.
    fn of_values(values: Vec<Value>, name: &str, field: &str) -> Result<Self>;

    /// Number of items.
    fn len(&self) -> usize;

    /// Appends some items of another block. An empty destination takes them over without a copy.
    fn append(&mut self, items: Self, wanted: Range<usize>);
}

impl Items for Vec<Value> {
    fn decode(bytes: &[u8], name: &str, field: &str) -> Result<Self> {
        match decode(bytes, name, field)? {
            Value::Array(items) => Ok(items),
            Value::Tuple(items) => {
                // A list whose first item is the text that marks tuples.
                Ok([vec![Value::Str("__tuple__".to_owned())], items].concat())
            }
            other => {
                let what = Corrupt::wrong_type(field, "a list of items", other.type_name());
                Err(Error::corrupt(name, what))
            }
        }
    }

    fn of_values(values: Vec<Value>, _: &str, _: &str) -> Result<Self> {
        Ok(values)
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn append(&mut self, items: Self, wanted: Range<usize>) {
        if self.is_empty() && wanted == (0..items.len()) {
            *self = items;
        } else {
            self.extend(items.into_iter().skip(wanted.start).take(wanted.len()));
        }
    }
}

impl Items for Texts {
    fn decode(bytes: &[u8], name: &str, field: &str) -> Result<Self> {
        Self::decode(bytes, &ValueLimits::default()).map_err(|source| {
            Error::corrupt(name, Corrupt::Value { field: field.to_owned(), source })
        })
    }

    fn of_values(values: Vec<Value>, name: &str, field: &str) -> Result<Self> {
        let mut texts = Self::default();
        for value in &values {
            match value {
                Value::Nil => texts.push(None),
                Value::Str(text) => texts.push(Some(text)),
                other => return Err(Error::wrong_type(name, field, "text", other.type_name())),
            }
        }
        Ok(texts)
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn append(&mut self, items: Self, wanted: Range<usize>) {
        if self.ends.is_empty() && wanted == (0..items.ends.len()) {
            *self = items;
        } else {
            self.extend(&items, wanted);
        }
    }
}

#[derive(Clone, Debug)]
enum Rows {
    Batches(BatchArray),
    Objects(ObjectArray),
}

impl ObjectArray {
    pub(crate) fn new(schunk: Arc<SChunk>, name: &str, layer: &Value) -> Result<Self> {
        check_version(layer, name, "vlarray")?;
        match serializer(layer, name)? {
            Serializer::MessagePack => {}
            Serializer::Arrow(_) => return Err(no_serializer(name, "arrow")),
        }
        Ok(Self { schunk, name: name.to_owned() })
    }

    /// Number of objects.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.schunk.nchunks()
    }

    /// Whether there are no objects.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The frame.
    #[must_use]
    pub const fn schunk(&self) -> &Arc<SChunk> {
        &self.schunk
    }

    /// The object `nitem`.
    ///
    /// # Errors
    ///
    /// [`Param::Range`]; a chunk that does not decode, or holds no value.
    pub fn get(&self, nitem: u64) -> Result<Value> {
        if nitem >= self.len() {
            return Err(range(nitem..nitem.saturating_add(1), self.len(), "objects"));
        }
        let bytes =
            self.schunk.decode_chunk(nitem).map_err(|error| Error::frame(&self.name, error))?;
        decode(&bytes, &self.name, &format!("object {nitem}"))
    }
}

impl BatchArray {
    pub(crate) fn new(schunk: Arc<SChunk>, name: &str, layer: &Value) -> Result<Self> {
        check_version(layer, name, "batcharray")?;
        let serializer = serializer(layer, name)?;
        let items_per_block = match layer.get("items_per_block") {
            None | Some(Value::Nil) => None,
            Some(value) => match value.as_u64() {
                Some(count @ 1..) => Some(count),
                _ => {
                    let found = value.type_name();
                    let what = Corrupt::wrong_type("items_per_block", "a count", found);
                    return Err(Error::corrupt(name, what));
                }
            },
        };
        let stored = match vlmetalayer(&schunk, name, "_batch_array_metadata")? {
            None => None,
            Some(layer) => Some(batch_lengths(&layer, schunk.nchunks(), name)?),
        };
        let starts = Arc::new(OnceLock::new());
        let threads = Executor::auto();
        let name = name.to_owned();
        Ok(Self { schunk, name, serializer, items_per_block, stored, threads, starts })
    }

    /// The array with these threads to decode batches. Default: as many as there are processors.
    #[must_use]
    pub fn threads(self, threads: impl Into<Executor>) -> Self {
        Self { threads: threads.into(), ..self }
    }

    /// Number of batches.
    #[must_use]
    pub fn nbatches(&self) -> u64 {
        self.schunk.nchunks()
    }

    /// The frame.
    #[must_use]
    pub const fn schunk(&self) -> &Arc<SChunk> {
        &self.schunk
    }

    /// The number of items of all batches.
    ///
    /// # Errors
    ///
    /// If the frame does not store the numbers, the batches are counted, which may fail.
    pub fn len(&self) -> Result<u64> {
        Ok(self.starts()?.last().copied().unwrap_or_default())
    }

    /// Whether there are no items.
    ///
    /// # Errors
    ///
    /// As [`len`](Self::len).
    pub fn is_empty(&self) -> Result<bool> {
        self.len().map(|len| len == 0)
    }

    /// The items of a batch.
    ///
    /// # Errors
    ///
    /// [`Param::Range`]; a chunk that does not decode, or blocks without values. The numbers of
    /// items in the frame are neither needed nor compared.
    pub fn batch(&self, nbatch: u64) -> Result<Vec<Value>> {
        if nbatch >= self.nbatches() {
            return Err(range(nbatch..nbatch.saturating_add(1), self.nbatches(), "batches"));
        }
        self.whole_batch(nbatch)
    }

    /// Items by their number over all batches; decodes only their blocks.
    ///
    /// # Errors
    ///
    /// As [`batch`](Self::batch); a batch with another number of items than the frame says.
    pub fn items(&self, items: Range<u64>) -> Result<Vec<Value>> {
        self.items_with(items)
    }

    /// Items that are texts or nil, without one [`Value`] for each.
    pub(crate) fn texts(&self, items: Range<u64>) -> Result<Texts> {
        self.items_with(items)
    }

    fn items_with<T: Items>(&self, items: Range<u64>) -> Result<T> {
        let starts = self.starts()?;
        let len = starts.last().copied().unwrap_or_default();
        if items.start > items.end || items.end > len {
            return Err(range(items, len, "items"));
        }
        let first = starts.partition_point(|start| *start <= items.start).saturating_sub(1);
        let bounds = starts.get(first..).unwrap_or_default().windows(2);
        let mut jobs: Vec<Job<T>> = Vec::new();
        for (nbatch, bounds) in (first as u64..).zip(bounds) {
            let &[start, end] = bounds else { continue };
            if start >= items.end {
                break;
            }
            let wanted = items.start.max(start).saturating_sub(start)
                ..items.end.min(end).saturating_sub(start);
            let len = end.saturating_sub(start);
            jobs.push(Job { nbatch, len, wanted, found: T::default() });
        }
        for_each(
            (&self.threads, self.threads.count_for(jobs.len())),
            jobs.iter_mut(),
            || (),
            |(), job| {
                job.found = self.some_items(job.nbatch, job.len, job.wanted.clone())?;
                Ok::<(), Error>(())
            },
        )?;
        let mut found = T::default();
        for job in jobs {
            let len = job.found.len();
            found.append(job.found, 0..len);
        }
        Ok(found)
    }

    /// The items of a batch.
    fn whole_batch<T: Items>(&self, nbatch: u64) -> Result<T> {
        let blocks =
            self.schunk.vl_blocks(nbatch).map_err(|error| Error::frame(&self.name, error))?;
        let nblocks = blocks.len();
        let mut found = T::default();
        for (nblock, block) in blocks.iter().enumerate() {
            let is_last = nblock.saturating_add(1) == nblocks;
            let items: T = self.items_of(nbatch, nblock, block, is_last)?;
            let len = items.len();
            found.append(items, 0..len);
        }
        Ok(found)
    }

    /// Decodes all batches, and compares their numbers of items with those in the frame.
    pub(crate) fn check(&self) -> Result<()> {
        for (nbatch, len) in (0..).zip(self.lengths()?) {
            let items = self.batch(nbatch)?;
            self.check_count("items of a batch", items.len() as u64, len)?;
        }
        Ok(())
    }

    /// Some items of a batch, which has `len` items.
    fn some_items<T: Items>(&self, nbatch: u64, len: u64, wanted: Range<u64>) -> Result<T> {
        let narrow = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let mut found = T::default();
        let per_block = self.items_per_block.unwrap_or(len).max(1);
        if wanted == (0..len) || self.items_per_block.is_none() {
            let items: T = self.whole_batch(nbatch)?;
            self.check_count("items of a batch", items.len() as u64, len)?;
            found.append(items, narrow(wanted.start)..narrow(wanted.end));
            return Ok(found);
        }
        let last_block = len.saturating_sub(1).checked_div(per_block).unwrap_or_default();
        let (mut at, end) = (wanted.start, wanted.end);
        while at < end {
            let nblock = at.checked_div(per_block).unwrap_or_default();
            let block_start = nblock.saturating_mul(per_block);
            let index = narrow(nblock);
            let block = self
                .schunk
                .vl_block(nbatch, index)
                .map_err(|error| Error::frame(&self.name, error))?;
            let items: T = self.items_of(nbatch, index, &block, nblock == last_block)?;
            let block_end = block_start.saturating_add(per_block).min(len);
            let expected = block_end.saturating_sub(block_start);
            self.check_count("items of a block", items.len() as u64, expected)?;
            let of_block = |at: u64| narrow(at.saturating_sub(block_start));
            found.append(items, of_block(at)..of_block(end.min(block_end)));
            at = block_end;
        }
        Ok(found)
    }

    /// The items of a block.
    fn items_of<T: Items>(
        &self,
        nbatch: u64,
        nblock: usize,
        bytes: &[u8],
        is_last: bool,
    ) -> Result<T> {
        let (name, field) = (&self.name, format!("batch {nbatch}, block {nblock}"));
        let items = match &self.serializer {
            Serializer::MessagePack => T::decode(bytes, name, &field)?,
            Serializer::Arrow(known) => {
                let rows = ipc::rows(bytes, known.as_deref(), ValueLimits::default().max_memory);
                let wrong =
                    |source| Error::corrupt(name, Corrupt::Ipc { field: field.clone(), source });
                T::of_values(rows.map_err(wrong)?, name, &field)?
            }
        };
        let count = items.len() as u64;
        match self.items_per_block {
            Some(expected) if (!is_last && count != expected) || count > expected => {
                self.check_count("items of a block", count, expected)?;
            }
            _ if count == 0 => self.check_count("items of a block", 0, 1)?,
            _ => {}
        }
        Ok(items)
    }

    fn check_count(&self, what: &'static str, found: u64, expected: u64) -> Result<()> {
        if found == expected {
            return Ok(());
        }
        Err(Error::corrupt(&self.name, Corrupt::Count { what, found, expected }))
    }

    /// Number of items of each batch.
    pub(crate) fn lengths(&self) -> Result<Vec<u64>> {
        let pairs = self.starts()?.windows(2);
        Ok(pairs.map(|pair| if let [a, b] = pair { b.saturating_sub(*a) } else { 0 }).collect())
    }

    fn starts(&self) -> Result<&[u64]> {
        if let Some(starts) = self.starts.get() {
            return Ok(starts);
        }
        let (needed, limit) = (self.nbatches(), MAX_BATCHES);
        if needed > limit {
            return Err(Error::Limit { name: self.name.clone(), needed, limit, unit: "batches" });
        }
        let mut starts = vec![0];
        let mut end: u64 = 0;
        for nbatch in 0..self.nbatches() {
            let stored = usize::try_from(nbatch).ok().and_then(|n| self.stored.as_ref()?.get(n));
            let count = match stored {
                Some(count) => *count,
                None => self.batch(nbatch)?.len() as u64,
            };
            end = end.saturating_add(count);
            starts.push(end);
        }
        Ok(self.starts.get_or_init(|| starts))
    }
}

impl ListArray {
    pub(crate) fn new(schunk: Arc<SChunk>, name: &str, layer: &Value) -> Result<Self> {
        check_version(layer, name, "listarray")?;
        let backing = |field: &str| {
            crate::content::metalayer(&schunk, name, field)?
                .ok_or_else(|| Error::corrupt(name, Corrupt::Missing(format!("metalayer {field}"))))
        };
        let rows = match layer.get("backend").and_then(Value::as_str) {
            Some("vl") => {
                let inner = backing("vlarray")?;
                Rows::Objects(ObjectArray::new(Arc::clone(&schunk), name, &inner)?)
            }
            _ => {
                let inner = backing("batcharray")?;
                Rows::Batches(BatchArray::new(Arc::clone(&schunk), name, &inner)?)
            }
        };
        let item = layer.get("item").or_else(|| layer.get("item_spec"));
        Ok(Self {
            rows,
            name: name.to_owned(),
            item: item.cloned().unwrap_or(Value::Nil),
            is_nullable: layer.get("nullable") == Some(&Value::Bool(true)),
        })
    }

    /// As [`BatchArray::threads`].
    #[must_use]
    pub fn threads(self, threads: impl Into<Executor>) -> Self {
        match self.rows {
            Rows::Batches(rows) => Self { rows: Rows::Batches(rows.threads(threads)), ..self },
            Rows::Objects(_) => self,
        }
    }

    /// Number of rows.
    ///
    /// # Errors
    ///
    /// As [`BatchArray::len`].
    pub fn len(&self) -> Result<u64> {
        match &self.rows {
            Rows::Batches(batches) => batches.len(),
            Rows::Objects(objects) => Ok(objects.len()),
        }
    }

    /// Whether there are no rows.
    ///
    /// # Errors
    ///
    /// As [`len`](Self::len).
    pub fn is_empty(&self) -> Result<bool> {
        self.len().map(|len| len == 0)
    }

    /// The frame.
    #[must_use]
    pub const fn schunk(&self) -> &Arc<SChunk> {
        match &self.rows {
            Rows::Batches(batches) => batches.schunk(),
            Rows::Objects(objects) => objects.schunk(),
        }
    }

    /// Number of rows of each batch; none if each row is a chunk.
    pub(crate) fn batch_lengths(&self) -> Result<Vec<u64>> {
        match &self.rows {
            Rows::Batches(batches) => batches.lengths(),
            Rows::Objects(_) => Ok(Vec::new()),
        }
    }

    /// Decodes all rows, a whole batch at a time.
    pub(crate) fn check(&self) -> Result<()> {
        let batches = match &self.rows {
            Rows::Batches(batches) => batches,
            Rows::Objects(objects) => {
                let rows = |row: u64| self.rows(row..row.saturating_add(1)).map(drop);
                return (0..objects.len()).try_for_each(rows);
            }
        };
        batches.check()?;
        let mut start: u64 = 0;
        for len in batches.lengths()? {
            let end = start.saturating_add(len);
            self.rows(start..end)?;
            start = end;
        }
        Ok(())
    }

    /// The type of the items of a row, from the frame.
    #[must_use]
    pub const fn item(&self) -> &Value {
        &self.item
    }

    /// Whether a row may be nil.
    #[must_use]
    pub const fn is_nullable(&self) -> bool {
        self.is_nullable
    }

    /// Some rows: lists, or nil.
    ///
    /// # Errors
    ///
    /// As [`BatchArray::items`]; [`Corrupt::Cell`] for rows of another type.
    pub fn rows(&self, rows: Range<u64>) -> Result<Vec<Value>> {
        let found = match &self.rows {
            Rows::Batches(batches) => batches.items(rows.clone())?,
            Rows::Objects(objects) if rows.start > rows.end || rows.end > objects.len() => {
                return Err(range(rows, objects.len(), "rows"));
            }
            Rows::Objects(objects) => {
                rows.clone().map(|row| objects.get(row)).collect::<Result<_>>()?
            }
        };
        for (row, value) in rows.zip(&found) {
            if !matches!(value, Value::Array(_) | Value::Tuple(_) | Value::Nil) {
                let what = Corrupt::Cell { row, found: value.type_name(), expected: "lists" };
                return Err(Error::corrupt(&self.name, what));
            }
        }
        Ok(found)
    }
}

/// The largest number of batches whose numbers of items are kept (64 MiB).
const MAX_BATCHES: u64 = 1 << 23;

fn batch_lengths(layer: &Value, nbatches: u64, name: &str) -> Result<Vec<u64>> {
    let lengths = layer.get("batch_lengths").and_then(Value::as_array);
    let lengths: Option<Vec<u64>> =
        lengths.and_then(|lengths| lengths.iter().map(Value::as_u64).collect());
    let Some(lengths) = lengths else {
        let what = Corrupt::wrong_type("batch_lengths", "a list of counts", layer.type_name());
        return Err(Error::corrupt(name, what));
    };
    if lengths.len() as u64 != nbatches {
        let (found, what) = (lengths.len() as u64, "batch_lengths");
        return Err(Error::corrupt(name, Corrupt::Count { what, found, expected: nbatches }));
    }
    Ok(lengths)
}

fn serializer(layer: &Value, name: &str) -> Result<Serializer> {
    match layer.get("serializer").and_then(Value::as_str) {
        None | Some("msgpack") => Ok(Serializer::MessagePack),
        Some("arrow") => {
            let Some(Value::Bytes(schema)) = layer.get("arrow_schema") else {
                return Ok(Serializer::Arrow(None));
            };
            // Blocks with a schema of their own need no field.
            Ok(Serializer::Arrow(ipc::field_of(schema).ok().map(Arc::new)))
        }
        Some(found) => Err(no_serializer(name, found)),
    }
}

fn no_serializer(name: &str, found: &str) -> Error {
    Error::corrupt(name, Corrupt::Serializer { found: found.to_owned() })
}

fn range(range: Range<u64>, len: u64, unit: &'static str) -> Error {
    Param::Range { start: range.start, end: range.end, len, unit }.into()
}

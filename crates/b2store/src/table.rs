//! Tables: columns of equal length; only requested rows and columns are decoded ("Tables" in
//! `docs/formats/store.md`).

mod cells;
mod column;
mod filter;
mod live;
mod names;
mod schema;
mod summary;

use core::ops::Range;
use std::sync::Arc;

use b2frame::NdArray;
use blosc_dtype::{Dtype, Kind};

use crate::content::{Content, text_layer, vlmetalayer};
use crate::error::{Corrupt, Error, Param, Result};
use crate::store::Store;
use crate::store::attributes_of;
use crate::value::Value;

pub use column::Column;
pub(crate) use column::simple_name;
pub use filter::Filter;
use live::Span;
pub(crate) use live::{Live, selection};
pub(crate) use names::{column_name, column_path};
pub(crate) use schema::FIXED_KINDS;
pub use schema::{ColumnKind, ColumnSpec, ComputedColumn, Nulls, Schema};
pub use summary::{Index, Unused};

/// A table. Clones share it.
///
/// ```no_run
/// use b2store::{Store, Values};
///
/// let table = Store::open("trades.b2z")?.table("/")?;
/// let price = table.column("price")?.read(0..table.len()?.min(10))?;
/// if let Values::Fixed { dtype, bytes, .. } = &price.values {
///     println!("{dtype}: {} bytes", bytes.len());
/// }
/// # Ok::<(), b2store::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Table {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    store: Store,
    /// Its key without a `/` at the end: empty if the store is a table.
    root: String,
    schema: Schema,
    live: Live,
}

/// The values of some rows of a column.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ColumnValues {
    /// The values; values of null rows have no meaning.
    pub values: Values,
    /// False for null rows; `None` if no row is null.
    pub valid: Option<Vec<bool>>,
}

/// Values of one kind.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Values {
    /// Items of fixed width.
    Fixed {
        /// Their type.
        dtype: Dtype,
        /// The shape of the array in each row; empty for single items.
        item_shape: Vec<u64>,
        /// The items, row after row, in C order.
        bytes: Vec<u8>,
    },
    /// Text.
    Text {
        /// The end of the text of each row (bytes of `text`).
        ends: Vec<usize>,
        /// The text of all rows.
        text: String,
    },
    /// Values of any kind; nil is null.
    Objects(Vec<Value>),
    /// Words that are stored once.
    Dictionary {
        /// The number of each row's word; other numbers are null.
        codes: Vec<i32>,
        /// The words.
        words: Arc<[String]>,
    },
}

impl Table {
    pub(crate) fn open(store: Store, key: &str) -> Result<Self> {
        let root = key.trim_end_matches('/').to_owned();
        let meta_key = format!("{root}/_meta");
        let manifest = store.frame(&meta_key)?;
        match vlmetalayer(&manifest, &meta_key, "version")? {
            None | Some(Value::Int(1)) => {}
            Some(Value::Int(found)) => {
                let (field, known) = ("the table", "1");
                let what = Corrupt::Version { field, found: found.into(), known };
                return Err(Error::corrupt(meta_key, what));
            }
            Some(other) => {
                let found = other.type_name();
                return Err(Error::wrong_type(meta_key, "version", "a number", found));
            }
        }
        let schema = Schema::parse(&text_layer(&manifest, &meta_key, "schema")?, &meta_key)?;
        let flags_key = format!("{root}/_valid_rows");
        if !store.contains(&flags_key) {
            return Err(Error::corrupt(meta_key, Corrupt::Missing(flags_key)));
        }
        let flags = array_1d(&store, &flags_key, Kind::Bool, 1)?;
        let live = Live::new(flags, flags_key, store.threads());
        Ok(Self { inner: Arc::new(Inner { store, root, schema, live }) })
    }

    /// The store that the table is in.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.inner.store
    }

    /// The key of the table; `/` if the store itself is the table.
    #[must_use]
    pub fn key(&self) -> &str {
        match self.inner.root.as_str() {
            "" => "/",
            root => root,
        }
    }

    /// Whether a key of the store is a part of the table.
    #[must_use]
    pub fn has_key(&self, key: &str) -> bool {
        key.strip_prefix(self.inner.root.as_str()).is_some_and(|rest| rest.starts_with('/'))
    }

    /// The schema.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.inner.schema
    }

    /// Number of rows. The first call counts them; the number in the schema is only a hint.
    ///
    /// # Errors
    ///
    /// Flags that do not decode.
    pub fn len(&self) -> Result<u64> {
        self.inner.live.len()
    }

    /// Whether there are no rows.
    ///
    /// # Errors
    ///
    /// As [`len`](Self::len).
    pub fn is_empty(&self) -> Result<bool> {
        self.len().map(|len| len == 0)
    }

    /// Number of rows with allocated space, deleted ones included.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.inner.live.capacity()
    }

    /// The same table with other flags of the physical rows that are alive.
    pub(crate) fn with_all_rows(&self, flags: &NdArray) -> Result<Self> {
        let Inner { store, root, schema, .. } = &*self.inner;
        let live = Live::new(flags.clone(), self.key_of("/_valid_rows"), store.threads());
        let (store, root, schema) = (store.clone(), root.clone(), schema.clone());
        Ok(Self { inner: Arc::new(Inner { store, root, schema, live }) })
    }

    /// Bytes of the data of all rows ([`Column::nbytes`]).
    ///
    /// # Errors
    ///
    /// As [`column`](Self::column) and [`Column::nbytes`].
    pub fn nbytes(&self) -> Result<u64> {
        let specs = self.schema().columns.iter();
        let columns = specs.map(|spec| self.column(&spec.name)?.nbytes());
        columns.sum()
    }

    /// A column by its name.
    ///
    /// # Errors
    ///
    /// [`Param::NoColumn`], [`Param::Computed`]; frames that are missing, damaged or of another
    /// type than in the schema.
    pub fn column(&self, name: &str) -> Result<Column> {
        Column::open(self, self.spec(name)?)
    }

    /// The description of a column in the schema.
    pub(crate) fn spec(&self, name: &str) -> Result<&ColumnSpec> {
        let schema = self.schema();
        if let Some(spec) = schema.columns.iter().find(|spec| spec.name == name) {
            return Ok(spec);
        }
        let name = name.to_owned();
        match schema.computed.iter().find(|column| column.name == name) {
            Some(column) => {
                let expression = column.expression.clone();
                Err(Param::Computed { name, expression }.into())
            }
            None => Err(Param::NoColumn { name }.into()),
        }
    }

    /// The attributes of the table.
    ///
    /// # Errors
    ///
    /// An unreadable frame, or an attribute that does not decode to a value.
    pub fn attributes(&self) -> Result<Vec<(String, Value)>> {
        let key = self.key_of("/_vlmeta");
        if !self.store().contains(&key) {
            return Ok(Vec::new());
        }
        attributes_of(&self.store().frame(&key)?, &key)
    }

    /// A key below that of the table.
    fn key_of(&self, path: &str) -> String {
        format!("{}{path}", self.inner.root)
    }

    fn spans(&self, rows: &Range<u64>) -> Result<Vec<Span>> {
        self.inner.live.spans(rows)
    }

    fn content(&self, key: &str) -> Result<Content> {
        if !self.store().contains(key) {
            return Err(Error::corrupt(self.key_of("/_meta"), Corrupt::Missing(key.to_owned())));
        }
        match self.store().get(key)? {
            Content::Recipe(recipe) => {
                Err(Error::Recipe { name: key.to_owned(), kind: recipe.kind })
            }
            content => Ok(content),
        }
    }

    fn array(&self, key: &str) -> Result<NdArray> {
        match self.content(key)? {
            Content::Array(array) => Ok(array),
            other => Err(column::wrong_content(key, &other, "an array")),
        }
    }

    fn array_1d(&self, key: &str, kind: Kind, itemsize: usize) -> Result<NdArray> {
        self.content(key)?;
        array_1d(self.store(), key, kind, itemsize)
    }
}

/// An array of one dimension and a type, little-endian.
fn array_1d(store: &Store, key: &str, kind: Kind, itemsize: usize) -> Result<NdArray> {
    let array = match store.get(key)? {
        Content::Array(array) => array,
        other => return Err(column::wrong_content(key, &other, "an array")),
    };
    let dtype = array.dtype();
    let is_little = dtype.scalar().is_some_and(|s| s.order() != blosc_dtype::ByteOrder::Big);
    let fits = dtype.kind() == Some(kind) && dtype.itemsize() == itemsize && is_little;
    if fits && array.ndim() == 1 {
        return Ok(array);
    }
    let found = format!("{dtype} with {} dimensions", array.ndim());
    let expected = format!("one dimension of {kind:?} with {itemsize} bytes");
    Err(Error::corrupt(key, Corrupt::Array { found, expected }))
}

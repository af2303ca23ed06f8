//! The tables of a scan. They are opened when they are first read: a plan from another process
//! names them, and decoding the plan opens nothing.

use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use futures::{StreamExt as _, TryStreamExt as _, stream};

use crate::columns::constants::{self, Pairs, WithConstants};
use crate::columns::{self, Columns, Opened};
use crate::error::{Error, Result};
use crate::kept::KeptTables;
use crate::options::TableOptions;
use crate::waiting;

/// Most remote tables that are opened at once.
pub(crate) const MAX_OPENING: usize = 16;

/// Tables of the same columns, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    list: Arc<[Table]>,
    pub(crate) options: TableOptions,
    pub(crate) schema: SchemaRef,
    /// The number of key columns, which are the last ones: `key=value` in the paths.
    pub(crate) nkeys: usize,
}

/// A table that was found in a folder, or named.
pub(crate) struct Found {
    pub(crate) location: String,
    /// The keys and values of its path.
    pub(crate) pairs: Pairs,
    /// The opened table, if finding it opened it.
    pub(crate) opened: Option<Opened>,
}

/// A table and the name by which it is opened.
#[derive(Debug)]
struct Table {
    location: String,
    opened: Mutex<Option<Opened>>,
}

impl Tables {
    /// Opens tables that were found.
    ///
    /// # Errors
    ///
    /// A table cannot be opened, or has other columns than the first.
    pub(crate) fn open(
        found: Vec<Found>,
        options: TableOptions,
        kept: &KeptTables,
    ) -> Result<Self> {
        let paths = found.iter().map(|found| (found.location.as_str(), &found.pairs));
        let fields = constants::fields(paths)?;
        let mut list: Vec<Table> = Vec::with_capacity(found.len());
        let mut schema: Option<SchemaRef> = None;
        for Found { location, pairs, opened } in found {
            let opened = match opened {
                Some(opened) => opened,
                None => kept.open(&location, &options)?,
            };
            let opened = with_keys(opened, &fields, pairs);
            let expected = schema.get_or_insert_with(|| Arc::clone(opened.columns.schema()));
            check_schema(&location, opened.columns.schema(), expected)?;
            list.push(Table { location, opened: Mutex::new(Some(opened)) });
        }
        let schema = schema.unwrap_or_else(|| Arc::new(Schema::empty()));
        Ok(Self { list: list.into(), options, schema, nkeys: fields.len() })
    }

    /// Tables that are opened when they are first read. Their schema must be `schema` then.
    #[cfg(feature = "ballista")]
    pub(crate) fn named(
        locations: Vec<String>,
        options: TableOptions,
        schema: SchemaRef,
        nkeys: usize,
    ) -> Self {
        let table = |location| Table { location, opened: Mutex::new(None) };
        Self { list: locations.into_iter().map(table).collect(), options, schema, nkeys }
    }

    /// Number of tables.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// The names by which they are opened.
    pub(crate) fn locations(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|table| table.location.as_str())
    }

    /// A table, which is opened if it is not open yet. Another thread opens a remote one, as
    /// opening waits for its requests.
    ///
    /// # Errors
    ///
    /// When it cannot be opened, has other columns by now, or there is no such table.
    pub(crate) async fn opened(&self, ntable: usize) -> Result<Opened> {
        let table = self.find(ntable)?;
        if !columns::is_address(&table.location) {
            return self.open_table(ntable, |_| Ok(true));
        }
        // The lock is held while the table is opened.
        let opened = table.opened.try_lock().ok().and_then(|opened| opened.clone());
        if let Some(opened) = opened {
            return Ok(opened);
        }
        let tables = self.clone();
        waiting::open(&table.location, move || tables.open_table(ntable, |_| Ok(true))).await
    }

    /// The same for a query that is planned now: a local table that was written since it was opened
    /// is opened again.
    async fn opened_to_plan(&self, ntable: usize) -> Result<Opened> {
        let location = &self.find(ntable)?.location;
        if columns::is_address(location) {
            return self.opened(ntable).await;
        }
        self.open_table(ntable, |opened| {
            Ok(columns::fingerprint_now(location)? == opened.fingerprint)
        })
    }

    /// The name by which a table is opened.
    pub(crate) fn location(&self, ntable: usize) -> &str {
        self.list.get(ntable).map_or("", |table| &table.location)
    }

    fn find(&self, ntable: usize) -> Result<&Table> {
        self.list.get(ntable).ok_or_else(|| {
            let location = format!("table {ntable} of {} of a scan", self.len());
            Error::NotATable { location }
        })
    }

    /// The open table if `is_current` accepts it, or else the table opened now.
    fn open_table(
        &self,
        ntable: usize,
        is_current: impl Fn(&Opened) -> Result<bool>,
    ) -> Result<Opened> {
        let table = self.find(ntable)?;
        let mut kept = table.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = &*kept
            && is_current(opened)?
        {
            return Ok(opened.clone());
        }
        let opened = columns::open(&table.location, &self.options)?;
        let opened = with_keys(opened, &self.key_fields(), self.pairs_of(&table.location)?);
        check_schema(&table.location, opened.columns.schema(), &self.schema)?;
        Ok(kept.insert(opened).clone())
    }

    /// The columns of `key=value`.
    fn key_fields(&self) -> Vec<Field> {
        let first = self.schema.fields().len().saturating_sub(self.nkeys);
        self.schema.fields().iter().skip(first).map(|field| field.as_ref().clone()).collect()
    }

    /// The last keys and values in the path of a table, one for each key column.
    fn pairs_of(&self, location: &str) -> Result<Pairs> {
        let names = columns::names_in(location)?;
        let all: Pairs = names.iter().filter_map(|name| constants::pair(name)).collect();
        let first = all.len().saturating_sub(self.nkeys);
        Ok(all.into_iter().skip(first).collect())
    }

    /// Number of rows of all tables that are open.
    pub(crate) fn nrows(&self) -> u64 {
        let nrows = |table: &Table| {
            let opened = table.opened.lock().unwrap_or_else(PoisonError::into_inner);
            opened.as_ref().map_or(0, |opened| opened.columns.nrows())
        };
        self.list.iter().map(nrows).fold(0, u64::saturating_add)
    }

    /// All tables, for a query that is planned now.
    ///
    /// # Errors
    ///
    /// As [`opened`](Self::opened).
    pub(crate) async fn all(&self) -> Result<Vec<(&str, Opened)>> {
        let opened = (0..self.len()).map(|ntable| self.opened_to_plan(ntable));
        let opened: Vec<_> = stream::iter(opened).buffered(MAX_OPENING).try_collect().await?;
        Ok(self.locations().zip(opened).collect())
    }
}

fn with_keys(opened: Opened, fields: &[Field], pairs: Pairs) -> Opened {
    let columns: Arc<dyn Columns> = match fields.is_empty() {
        true => return opened,
        false => Arc::new(WithConstants::new(opened.columns, fields, pairs)),
    };
    Opened { columns, ..opened }
}

/// Tables that are read as one have columns of the same names and types.
pub(crate) fn check_schema(location: &str, found: &SchemaRef, expected: &SchemaRef) -> Result<()> {
    let [found, expected] = [found, expected].map(|schema| {
        let fields = schema.fields().iter();
        fields.map(|field| format!("{} {}", field.name(), field.data_type())).collect::<Vec<_>>()
    });
    if found == expected {
        return Ok(());
    }
    let differing = found.iter().zip(&expected).find(|(found, expected)| found != expected);
    let (what, expected) = match differing {
        Some((found, expected)) => (format!("column {found}"), format!("column {expected}")),
        None => (format!("{} columns", found.len()), format!("{} columns", expected.len())),
    };
    Err(Error::Schema { location: location.to_owned(), what, expected })
}

//! The tables of a scan, opened when they are first read: a plan that comes from another process
//! names them, and decoding it opens nothing.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use futures::{StreamExt as _, TryStreamExt as _, stream};

use crate::columns::constants::{self, Pairs, WithConstants};
use crate::columns::{self, Columns};
use crate::error::{Error, Result};
use crate::options::TableOptions;
use crate::waiting;
use crate::zones::Zones;

/// Most far tables that are opened at once.
pub(crate) const MAX_OPENING: usize = 16;

/// Tables of the same columns, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    list: Arc<[Table]>,
    pub(crate) options: TableOptions,
    pub(crate) schema: SchemaRef,
    /// How many of the last columns are those of `key=value` in the paths.
    pub(crate) nkeys: usize,
    /// How often they were scanned.
    nscans: Arc<AtomicUsize>,
}

/// A table that was found in a folder, or named.
pub(crate) struct Found {
    pub(crate) location: String,
    /// The keys and values of its path.
    pub(crate) pairs: Pairs,
    /// If it was opened to find it.
    pub(crate) columns: Option<Arc<dyn Columns>>,
}

/// A table and the name by which it is opened.
#[derive(Debug)]
struct Table {
    location: String,
    /// Minima and maxima of what was read.
    zones: Arc<Zones>,
    columns: Mutex<Option<Arc<dyn Columns>>>,
}

impl Tables {
    /// Opens tables that were found.
    ///
    /// # Errors
    ///
    /// What is wrong with a table, or which has other columns than the first.
    pub(crate) fn open(found: Vec<Found>, options: TableOptions) -> Result<Self> {
        let paths = found.iter().map(|found| (found.location.as_str(), &found.pairs));
        let fields = constants::fields(paths)?;
        let mut list: Vec<Table> = Vec::with_capacity(found.len());
        let mut schema: Option<SchemaRef> = None;
        for Found { location, pairs, columns } in found {
            let columns = match columns {
                Some(columns) => columns,
                None => columns::open(&location, &options)?,
            };
            let columns = with_keys(columns, &fields, pairs);
            let expected = schema.get_or_insert_with(|| Arc::clone(columns.schema()));
            check_schema(&location, columns.schema(), expected)?;
            let zones = Arc::default();
            list.push(Table { location, zones, columns: Mutex::new(Some(columns)) });
        }
        let schema = schema.unwrap_or_else(|| Arc::new(Schema::empty()));
        Ok(Self { list: list.into(), options, schema, nkeys: fields.len(), nscans: Arc::default() })
    }

    /// Tables that are opened when they are first read, which must have this schema then.
    #[cfg(feature = "ballista")]
    pub(crate) fn named(
        locations: Vec<String>,
        options: TableOptions,
        schema: SchemaRef,
        nkeys: usize,
    ) -> Self {
        let table = |location| Table { location, zones: Arc::default(), columns: Mutex::new(None) };
        Self {
            list: locations.into_iter().map(table).collect(),
            options,
            schema,
            nkeys,
            nscans: Arc::default(),
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// The names by which they are opened.
    pub(crate) fn locations(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|table| table.location.as_str())
    }

    /// The columns of a table, which is opened if it is not open yet; a far one by another thread,
    /// as opening waits for its requests.
    ///
    /// # Errors
    ///
    /// When it cannot be opened, has other columns by now, or there is no such table.
    pub(crate) async fn columns(&self, ntable: usize) -> Result<Arc<dyn Columns>> {
        let table = self.find(ntable)?;
        if !columns::is_address(&table.location) {
            return self.columns_now(ntable);
        }
        // The lock is held while the table is opened.
        let opened = table.columns.try_lock().ok().and_then(|columns| columns.clone());
        if let Some(columns) = opened {
            return Ok(columns);
        }
        let tables = self.clone();
        waiting::open(&table.location, move || tables.columns_now(ntable)).await
    }

    fn find(&self, ntable: usize) -> Result<&Table> {
        self.list.get(ntable).ok_or_else(|| {
            let location = format!("table {ntable} of {} of a scan", self.len());
            Error::NotATable { location }
        })
    }

    fn columns_now(&self, ntable: usize) -> Result<Arc<dyn Columns>> {
        let table = self.find(ntable)?;
        let mut columns = table.columns.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(columns) = &*columns {
            return Ok(Arc::clone(columns));
        }
        let opened = columns::open(&table.location, &self.options)?;
        let opened = with_keys(opened, &self.key_fields(), self.pairs_of(&table.location));
        check_schema(&table.location, opened.schema(), &self.schema)?;
        Ok(Arc::clone(columns.insert(opened)))
    }

    /// The columns of `key=value`.
    fn key_fields(&self) -> Vec<Field> {
        let first = self.schema.fields().len().saturating_sub(self.nkeys);
        self.schema.fields().iter().skip(first).map(|field| field.as_ref().clone()).collect()
    }

    /// The last keys and values in the path of a table: as many as there are such columns.
    fn pairs_of(&self, location: &str) -> Pairs {
        let all: Pairs = location.split('/').filter_map(constants::pair).collect();
        let first = all.len().saturating_sub(self.nkeys);
        all.into_iter().skip(first).collect()
    }

    /// Counts a scan; gives the number of those before it.
    pub(crate) fn count_scan(&self) -> usize {
        self.nscans.fetch_add(1, Ordering::Relaxed)
    }

    /// What is known of the values of a table.
    pub(crate) fn zones(&self, ntable: usize) -> Arc<Zones> {
        self.list.get(ntable).map(|table| Arc::clone(&table.zones)).unwrap_or_default()
    }

    /// Number of rows of all tables that are open.
    pub(crate) fn nrows(&self) -> u64 {
        let nrows = |table: &Table| {
            let columns = table.columns.lock().unwrap_or_else(PoisonError::into_inner);
            columns.as_ref().map_or(0, |columns| columns.nrows())
        };
        self.list.iter().map(nrows).fold(0, u64::saturating_add)
    }

    /// All of them.
    ///
    /// # Errors
    ///
    /// As [`columns`](Self::columns).
    pub(crate) async fn all(&self) -> Result<Vec<(&str, Arc<dyn Columns>)>> {
        let opened = (0..self.len()).map(|ntable| self.columns(ntable));
        let opened: Vec<_> = stream::iter(opened).buffered(MAX_OPENING).try_collect().await?;
        Ok(self.locations().zip(opened).collect())
    }
}

fn with_keys(columns: Arc<dyn Columns>, fields: &[Field], pairs: Pairs) -> Arc<dyn Columns> {
    match fields.is_empty() {
        true => columns,
        false => Arc::new(WithConstants::new(columns, fields, pairs)),
    }
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

//! Tables as the engine sees them.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::{DFSchema, Statistics};
use datafusion::datasource::listing::{FileRange, PartitionedFile};
use datafusion::datasource::object_store::ObjectStoreUrl;
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::conjunction;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_datasource::file_groups::FileGroup;
use datafusion_datasource::file_scan_config::FileScanConfigBuilder;
use datafusion_datasource::source::DataSourceExec;

use crate::columns::{self, Columns};
use crate::error::Error;
use crate::options::TableOptions;
use crate::source::{Opened, Source, row_nbytes, unit_nrows};

/// A table, or several of the same columns, one after the other.
#[derive(Clone, Debug)]
pub struct BloscTable {
    tables: Arc<[Opened]>,
    schema: SchemaRef,
}

/// Pieces for each thread of the engine, so that those that are ready first take from the others.
const PIECES: u64 = 3;

impl BloscTable {
    /// Opens a table: a directory of bcolz, a store whose root is a table, a value in a store
    /// (`x.b2z::/key`), an array, or a folder of such tables, which have the same columns.
    ///
    /// # Errors
    ///
    /// What is wrong with the table, or which of several has other columns.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with(&path.as_ref().to_string_lossy(), &TableOptions::default())
    }

    /// As [`open`](Self::open), with options.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_with(location: &str, options: &TableOptions) -> Result<Self, Error> {
        Self::open_all(&[location.to_owned()], options)
    }

    /// The tables in these places as one.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_all(locations: &[String], options: &TableOptions) -> Result<Self, Error> {
        let mut tables: Vec<Opened> = Vec::new();
        for location in locations {
            for location in members(location)? {
                let columns = columns::open(&location, options)?;
                if let Some(first) = tables.first() {
                    check_schema(&location, &*columns, first)?;
                }
                tables.push(Opened { location, columns });
            }
        }
        let Some(first) = tables.first() else {
            let location = locations.first().cloned().unwrap_or_default();
            return Err(Error::NotATable { location });
        };
        let schema = Arc::clone(first.columns.schema());
        Ok(Self { tables: tables.into(), schema })
    }

    /// As DataFusion takes it.
    #[must_use]
    pub fn into_provider(self) -> Arc<dyn TableProvider> {
        Arc::new(self)
    }

    /// Number of rows.
    #[must_use]
    pub fn nrows(&self) -> u64 {
        self.tables.iter().fold(0, |sum, table| sum.saturating_add(table.columns.nrows()))
    }

    /// Runs of rows, as many groups as there are threads: each has about as many decoded bytes.
    fn groups(&self, nthreads: usize) -> Vec<FileGroup> {
        let nthreads = (nthreads as u64).max(1);
        let nbytes = |columns: &dyn Columns| row_nbytes(columns).saturating_mul(columns.nrows());
        let total =
            self.tables.iter().fold(0_u64, |sum, t| sum.saturating_add(nbytes(&*t.columns)));
        let share = total.div_ceil(nthreads.saturating_mul(PIECES)).max(1);
        let mut pieces = Vec::new();
        for (ntable, Opened { location, columns }) in self.tables.iter().enumerate() {
            let (unit, size) = (unit_nrows(&**columns), row_nbytes(&**columns));
            let room = (share / unit.saturating_mul(size).max(1)).max(1).saturating_mul(unit);
            let (mut at, nrows) = (0, columns.nrows());
            while at < nrows {
                let end = at.saturating_add(room).min(nrows);
                pieces.push(piece(ntable, location, at..end, nrows, size));
                at = end;
            }
        }
        let per_group = pieces.len().div_ceil(usize::try_from(nthreads).unwrap_or(1)).max(1);
        let groups = pieces.chunks(per_group);
        groups.map(|pieces| FileGroup::new(pieces.to_vec())).collect()
    }
}

/// Rows of a table as a part of a file: its size is that of the decoded rows. The number of the
/// table leads its name, which the engine may have changed to one of an object.
fn piece(
    ntable: usize,
    location: &str,
    rows: core::ops::Range<u64>,
    nrows: u64,
    size: u64,
) -> PartitionedFile {
    let name = format!("{ntable}/{}", location.trim_matches('/'));
    let position = |row: u64| i64::try_from(row.saturating_mul(size)).unwrap_or(i64::MAX);
    let mut file = PartitionedFile::new(name, nrows.saturating_mul(size));
    file.range = Some(FileRange { start: position(rows.start), end: position(rows.end) });
    file
}

/// The tables in a place: it is one, or a folder of them.
fn members(location: &str) -> Result<Vec<String>, Error> {
    if columns::is_address(location) {
        return Ok(vec![location.to_owned()]);
    }
    let path = Path::new(location.strip_prefix("file://").unwrap_or(location));
    let text = |path: &Path| path.to_string_lossy().into_owned();
    if !path.is_dir() || columns::is_table(path) {
        return Ok(vec![text(path)]);
    }
    let io = |source| Error::Io { location: location.to_owned(), source };
    let mut found = Vec::new();
    for entry in path.read_dir().map_err(io)? {
        let path = entry.map_err(io)?.path();
        let is_hidden =
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if !is_hidden {
            found.push(text(&path));
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Tables that are read as one have columns of the same names and types.
fn check_schema(location: &str, columns: &dyn Columns, first: &Opened) -> Result<(), Error> {
    let [found, expected] = [columns, &*first.columns].map(|columns| {
        let fields = columns.schema().fields().iter();
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

/// Whether a scan can evaluate a filter: nothing that changes from row to row by itself, nor what
/// needs another table.
fn is_pushed(filter: &Expr) -> bool {
    use datafusion::common::tree_node::{TreeNode as _, TreeNodeRecursion};
    let mut is_plain = !filter.is_volatile();
    let visited = filter.apply(|part| {
        let needs_others = matches!(
            part,
            Expr::Exists(_)
                | Expr::InSubquery(_)
                | Expr::ScalarSubquery(_)
                | Expr::OuterReferenceColumn(..)
        );
        is_plain &= !needs_others;
        Ok(TreeNodeRecursion::Continue)
    });
    visited.is_ok() && is_plain
}

#[async_trait]
impl TableProvider for BloscTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        let answer = |filter: &&Expr| match is_pushed(filter) {
            true => TableProviderFilterPushDown::Exact,
            false => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(answer).collect())
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = DFSchema::try_from(self.schema())?;
        let exprs = filters.iter().map(|f| state.create_physical_expr(f.clone(), &schema));
        let exprs = exprs.collect::<Result<Vec<_>>>()?;
        let predicate = (!exprs.is_empty()).then(|| conjunction(exprs));
        let nrows = usize::try_from(self.nrows()).unwrap_or(usize::MAX);
        let mut statistics = Statistics::new_unknown(&self.schema);
        statistics.num_rows = match predicate {
            None => Precision::Exact(nrows),
            Some(_) => Precision::Inexact(nrows),
        };
        let source = Source::new(Arc::clone(&self.tables), self.schema(), predicate);
        let url = ObjectStoreUrl::local_filesystem();
        let config = FileScanConfigBuilder::new(url, Arc::new(source))
            .with_file_groups(self.groups(state.config().target_partitions()))
            .with_statistics(statistics)
            .with_projection_indices(projection.cloned())?
            .with_limit(limit)
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }
}

//! Tables as the engine sees them.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::{DFSchema, ScalarValue, Statistics};
use datafusion::datasource::listing::{FileRange, PartitionedFile};
use datafusion::datasource::object_store::ObjectStoreUrl;
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::conjunction;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_datasource::file_groups::FileGroup;
use datafusion_datasource::file_scan_config::FileScanConfigBuilder;
use datafusion_datasource::source::DataSourceExec;

use crate::columns::{Columns, Opened};
use crate::error::Error;
use crate::kept::KeptTables;
use crate::members::members;
use crate::options::TableOptions;
use crate::source::{Source, row_nbytes, unit_nrows};
use crate::tables::Tables;

/// A table, or several of the same columns, one after the other.
#[derive(Clone, Debug)]
pub struct BloscTable {
    pub(crate) tables: Tables,
}

/// Pieces for each thread of the engine, so that threads that finish early take work from others.
const PIECES: u64 = 3;

impl BloscTable {
    /// Opens a table: a directory of bcolz, a store whose root is a table, a value in a store
    /// (`x.b2z::/key`), an array, or a folder of such tables, which have the same columns.
    ///
    /// # Errors
    ///
    /// The table cannot be opened, or one of several has other columns.
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
        Self::open_kept(locations, options, &KeptTables::default())
    }

    /// As [`open_all`](Self::open_all), with tables that stay open.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub(crate) fn open_kept(
        locations: &[String],
        options: &TableOptions,
        kept: &KeptTables,
    ) -> Result<Self, Error> {
        let mut found = Vec::new();
        for location in locations {
            found.extend(members(location, options)?);
        }
        if found.is_empty() {
            let location = locations.first().cloned().unwrap_or_default();
            return Err(Error::NotATable { location });
        }
        Ok(Self { tables: Tables::open(found, *options, kept)? })
    }

    /// The table as a provider of DataFusion.
    #[must_use]
    pub fn into_provider(self) -> Arc<dyn TableProvider> {
        Arc::new(self)
    }

    /// Number of rows.
    #[must_use]
    pub fn nrows(&self) -> u64 {
        self.tables.nrows()
    }

    /// The statistics that are known without reading: columns without nulls, and the least and the
    /// largest value of columns that are constant in each table.
    fn statistics(&self, tables: &[(&str, Opened)]) -> Statistics {
        let mut statistics = Statistics::new_unknown(&self.tables.schema);
        let fields = self.tables.schema.fields().iter().enumerate();
        for (known, (column, field)) in statistics.column_statistics.iter_mut().zip(fields) {
            if !field.is_nullable() {
                known.null_count = Precision::Exact(0);
            }
            // Empty tables have no value.
            let tables = tables.iter().filter(|(_, table)| table.columns.nrows() > 0);
            let values: Option<Vec<ScalarValue>> =
                tables.map(|(_, table)| table.columns.constant(column)).collect();
            let values = values.unwrap_or_default();
            let exact = |value: Option<&ScalarValue>| {
                value.cloned().map_or(Precision::Absent, Precision::Exact)
            };
            let order = |a: &&ScalarValue, b: &&ScalarValue| {
                a.partial_cmp(b).unwrap_or(core::cmp::Ordering::Equal)
            };
            known.min_value = exact(values.iter().min_by(order));
            known.max_value = exact(values.iter().max_by(order));
        }
        statistics
    }

    /// Ranges of rows in one group for each thread; each group has about as many decoded bytes.
    fn groups(tables: &[(&str, Opened)], nthreads: usize) -> Vec<FileGroup> {
        let nthreads = (nthreads as u64).max(1);
        let nbytes = |columns: &dyn Columns| row_nbytes(columns).saturating_mul(columns.nrows());
        let nbytes_of = tables.iter().map(|(_, table)| nbytes(&*table.columns));
        let total = nbytes_of.fold(0, u64::saturating_add);
        let share = total.div_ceil(nthreads.saturating_mul(PIECES)).max(1);
        let mut pieces = Vec::new();
        for (ntable, (location, Opened { columns, .. })) in tables.iter().enumerate() {
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

/// Rows of a table as a part of a file, whose size is that of the decoded rows. Its name begins
/// with the number of the table, since the engine may rewrite the name as one of an object.
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

/// Whether a scan can evaluate a filter: one that is not volatile and needs no other table.
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
        Arc::clone(&self.tables.schema)
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
        let tables = self.tables.all().await?;
        let schema = DFSchema::try_from(self.schema())?;
        let exprs = filters.iter().map(|f| state.create_physical_expr(f.clone(), &schema));
        let exprs = exprs.collect::<Result<Vec<_>>>()?;
        let predicate = (!exprs.is_empty()).then(|| conjunction(exprs));
        let nrows = tables.iter().map(|(_, table)| table.columns.nrows());
        let nrows = nrows.fold(0, u64::saturating_add);
        let nrows = usize::try_from(nrows).unwrap_or(usize::MAX);
        let mut statistics = self.statistics(&tables);
        statistics.num_rows = Precision::Exact(nrows);
        if predicate.is_some() {
            statistics = statistics.to_inexact();
        }
        tables.iter().for_each(|(_, table)| table.zones.count_scan());
        let fingerprints = tables.iter().map(|(_, table)| table.fingerprint).collect();
        let source = Source::new(self.tables.clone(), fingerprints, predicate);
        let url = ObjectStoreUrl::local_filesystem();
        let config = FileScanConfigBuilder::new(url, Arc::new(source))
            .with_file_groups(Self::groups(&tables, state.config().target_partitions()))
            .with_statistics(statistics)
            .with_projection_indices(projection.cloned())?
            .with_limit(limit)
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }
}

//! A scan: pieces of tables, unit by unit.

use core::fmt;
use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::array::{Array, ArrayRef, UInt32Array};
use datafusion::arrow::compute::concat;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::config::ConfigOptions;
use datafusion::error::{DataFusionError, Result};
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::{PhysicalExpr, conjunction};
use datafusion::physical_expr_common::physical_expr::snapshot_generation;
use datafusion::physical_plan::DisplayFormatType;
use datafusion::physical_plan::filter_pushdown::{FilterPushdownPropagation, PushedDown};
use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder};
use datafusion_datasource::file::FileSource;
use datafusion_datasource::file_scan_config::FileScanConfig;
use datafusion_datasource::file_stream::{FileOpenFuture, FileOpener};
use datafusion_datasource::projection::{ProjectionOpener, SplitProjection};
use datafusion_datasource::{PartitionedFile, TableSchema};
use futures::{StreamExt as _, stream};
use object_store::ObjectStore;

use crate::columns::{self, Columns, Opened, Scratch};
use crate::error::Error;
use crate::predicate::{self, Left};
use crate::tables::Tables;
use crate::waiting;
use crate::zones::{Pruning, Zones};

/// Most bytes of a unit, decoded, unless a chunk is longer by itself.
const MAX_UNIT_NBYTES: u64 = 32 << 20;

/// Most units of a remote table that are fetched while another unit is decoded.
const MAX_AHEAD: usize = 8;

/// Rows that are read at once. They lie between multiples of the longest chunk, so that no chunk is
/// decoded twice, as far as memory allows.
pub(crate) fn unit_nrows(columns: &dyn Columns) -> u64 {
    let most = (MAX_UNIT_NBYTES / row_nbytes(columns)).max(1);
    columns.chunk_nrows().max(1).min(most)
}

/// Bytes of a row of all columns.
pub(crate) fn row_nbytes(columns: &dyn Columns) -> u64 {
    let all = 0..columns.schema().fields().len();
    all.fold(0_u64, |sum, column| sum.saturating_add(columns.row_nbytes(column))).max(1)
}

/// The scan in a plan.
#[derive(Clone)]
pub(crate) struct Source {
    pub(crate) tables: Tables,
    /// The fingerprints of the tables when the query was planned.
    pub(crate) fingerprints: Arc<[u64]>,
    table_schema: TableSchema,
    projection: SplitProjection,
    predicate: Option<Arc<dyn PhysicalExpr>>,
    metrics: ExecutionPlanMetricsSet,
}

impl Source {
    /// `fingerprints` has one for each table.
    pub(crate) fn new(
        tables: Tables,
        fingerprints: Arc<[u64]>,
        predicate: Option<Arc<dyn PhysicalExpr>>,
    ) -> Self {
        let table_schema = TableSchema::from(Arc::clone(&tables.schema));
        let projection = SplitProjection::unprojected(&table_schema);
        let metrics = ExecutionPlanMetricsSet::new();
        Self { tables, fingerprints, table_schema, projection, predicate, metrics }
    }
}

#[cfg(feature = "ballista")]
impl Source {
    pub(crate) fn predicate(&self) -> Option<&Arc<dyn PhysicalExpr>> {
        self.predicate.as_ref()
    }
}

impl Source {
    /// The condition as far as minima and maxima may exclude units. A condition that changes while
    /// the query runs is not used.
    fn pruning(&self) -> Option<Pruning> {
        let fixed = self.predicate.as_ref().filter(|predicate| snapshot_generation(predicate) == 0);
        Pruning::new(fixed?, self.table_schema.file_schema())
    }
}

impl FileSource for Source {
    fn create_file_opener(
        &self,
        _: Arc<dyn ObjectStore>,
        config: &FileScanConfig,
        partition: usize,
    ) -> Result<Arc<dyn FileOpener>> {
        let schema = self.table_schema.file_schema();
        let count = |name: &'static str| MetricBuilder::new(&self.metrics).counter(name, partition);
        let inner = Arc::new(Opener(Arc::new(Scan {
            tables: self.tables.clone(),
            fingerprints: Arc::clone(&self.fingerprints),
            unchanged: Mutex::default(),
            schema: Arc::clone(schema),
            columns: self.projection.file_indices.clone(),
            predicate: self.predicate.clone(),
            pruning: self.pruning(),
            nstreams: (config.file_groups.len() as u64).max(1),
            has_left: AtomicBool::new(false),
            columns_decoded: count("columns_decoded"),
            units_skipped: count("units_skipped"),
        })));
        ProjectionOpener::try_new(self.projection.clone(), inner, schema)
    }

    fn table_schema(&self) -> &TableSchema {
        &self.table_schema
    }

    fn with_batch_size(&self, _: usize) -> Arc<dyn FileSource> {
        // The plan splits units; this source leaves them whole.
        Arc::new(self.clone())
    }

    fn filter(&self) -> Option<Arc<dyn PhysicalExpr>> {
        self.predicate.clone()
    }

    fn projection(&self) -> Option<&ProjectionExprs> {
        Some(&self.projection.source)
    }

    fn metrics(&self) -> &ExecutionPlanMetricsSet {
        &self.metrics
    }

    fn file_type(&self) -> &str {
        "blosc"
    }

    fn fmt_extra(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.predicate {
            Some(predicate) => write!(f, ", predicate={predicate}"),
            None => Ok(()),
        }
    }

    /// Pieces end where units do, so the engine does not cut them.
    fn supports_repartitioning(&self) -> bool {
        false
    }

    fn try_pushdown_filters(
        &self,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn FileSource>>> {
        let count = filters.len();
        let answer = vec![PushedDown::Yes; count];
        let answer = FilterPushdownPropagation::with_parent_pushdown_result(answer);
        // Without filters nothing changes: a condition that is always true would make the engine
        // take the number of rows as inexact.
        if count == 0 {
            return Ok(answer);
        }
        let all = self.predicate.iter().cloned().chain(filters);
        let new = Self { predicate: Some(conjunction(all)), ..self.clone() };
        Ok(answer.with_updated_node(Arc::new(new)))
    }

    fn try_pushdown_projection(
        &self,
        projection: &ProjectionExprs,
    ) -> Result<Option<Arc<dyn FileSource>>> {
        let merged = self.projection.source.try_merge(projection)?;
        let projection = SplitProjection::new(self.table_schema.file_schema(), &merged);
        Ok(Some(Arc::new(Self { projection, ..self.clone() })))
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        let projected = self.projection.source.iter().map(|projected| &projected.expr);
        let mut answer = TreeNodeRecursion::Continue;
        for expr in self.predicate.iter().chain(projected) {
            answer = f(expr)?;
            if answer == TreeNodeRecursion::Stop {
                break;
            }
        }
        Ok(answer)
    }
}

/// Opens pieces.
struct Opener(Arc<Scan>);

struct Scan {
    tables: Tables,
    /// The fingerprints of the tables when the query was planned.
    fingerprints: Arc<[u64]>,
    /// The tables that this scan has found unchanged.
    unchanged: Mutex<HashSet<usize>>,
    schema: SchemaRef,
    /// The columns that the projection needs.
    columns: Vec<usize>,
    predicate: Option<Arc<dyn PhysicalExpr>>,
    pruning: Option<Pruning>,
    /// Number of streams that share the limit of remote fetches.
    nstreams: u64,
    /// Whether the last unit of this stream had rows left.
    has_left: AtomicBool,
    columns_decoded: Count,
    units_skipped: Count,
}

impl FileOpener for Opener {
    fn open(&self, piece: PartitionedFile) -> Result<FileOpenFuture> {
        let scan = Arc::clone(&self.0);
        Ok(Box::pin(async move {
            let (table, rows) = scan.find(&piece).await?;
            let mut units = Units::new(scan, table, rows);
            let first = units.expected_columns(&units.parts());
            units.look_ahead(&first)?;
            let batches = stream::unfold(units, |mut units| async move {
                let batch = units.next().await?;
                Some((batch, units))
            });
            Ok(batches.boxed())
        }))
    }
}

impl Scan {
    /// The table and the rows of a piece.
    async fn find(&self, piece: &PartitionedFile) -> Result<(Opened, Range<u64>)> {
        let location = piece.object_meta.location.as_ref();
        let number = location.split('/').next().and_then(|number| number.parse::<usize>().ok());
        let number = number.ok_or_else(|| {
            DataFusionError::Internal(format!("{location}: no table of this scan"))
        })?;
        let table = self.tables.opened(number).await?;
        let (size, nrows) = (row_nbytes(&*table.columns), table.columns.nrows());
        // Otherwise the scan would return rows of another table, or lose rows silently.
        let is_planned = self.fingerprints.get(number) == Some(&table.fingerprint)
            && nrows.saturating_mul(size) == piece.object_meta.size;
        if !is_planned || !self.is_unchanged(number, &table)? {
            let location = self.tables.location(number).to_owned();
            return Err(Error::Changed { location }.into());
        }
        let row = |position: i64| (u64::try_from(position).unwrap_or_default() / size).min(nrows);
        let rows = match &piece.range {
            Some(range) => row(range.start)..row(range.end),
            None => 0..nrows,
        };
        Ok((table, rows))
    }

    /// Whether a local table is still the one that was opened: its chunks are opened when they are
    /// read. Requests for parts of remote tables name the version.
    fn is_unchanged(&self, number: usize, table: &Opened) -> Result<bool> {
        let location = self.tables.location(number);
        let mut unchanged = self.unchanged.lock().unwrap_or_else(PoisonError::into_inner);
        if columns::is_address(location) || unchanged.contains(&number) {
            return Ok(true);
        }
        let is_same = columns::fingerprint_now(location)? == table.fingerprint;
        if is_same {
            unchanged.insert(number);
        }
        Ok(is_same)
    }
}

/// The units of a piece as batches, without empty ones.
struct Units {
    scan: Arc<Scan>,
    table: Arc<dyn Columns>,
    zones: Arc<Zones>,
    rows: Range<u64>,
    unit: u64,
    scratch: Scratch,
    /// The next units, whose fetch is under way: where each ends. None for local tables.
    ahead: VecDeque<(u64, SpawnedTask<()>)>,
}

impl Units {
    fn new(scan: Arc<Scan>, table: Opened, rows: Range<u64>) -> Self {
        let Opened { columns: table, zones, .. } = table;
        let unit = unit_nrows(&*table);
        let (scratch, ahead) = (Scratch::default(), VecDeque::new());
        let mut units = Self { scan, table, zones, rows, unit, scratch, ahead };
        let needed = units.needed_columns(&units.parts());
        units.scratch = Scratch::new(needed);
        units
    }

    /// The next batch; after an error there is none.
    async fn next(&mut self) -> Option<Result<RecordBatch>> {
        while !self.rows.is_empty() {
            let rows = self.unit_at(self.rows.start);
            self.rows.start = rows.end;
            match self.read(&rows).await {
                Ok(Some(batch)) => return Some(Ok(batch)),
                Ok(None) => self.scan.units_skipped.add(1),
                Err(error) => {
                    self.rows.start = self.rows.end;
                    return Some(Err(error));
                }
            }
        }
        None
    }

    /// The rows from this one to the end of its unit.
    fn unit_at(&self, start: u64) -> Range<u64> {
        let end = (start / self.unit).saturating_add(1).saturating_mul(self.unit);
        start..end.min(self.rows.end)
    }

    /// Whether these rows are a whole unit.
    fn is_whole(&self, rows: &Range<u64>) -> bool {
        rows.start.is_multiple_of(self.unit)
            && rows.end == rows.start.saturating_add(self.unit).min(self.table.nrows())
    }

    /// Whether minima and maxima allow that some of these rows are left.
    fn may_hold(&self, rows: &Range<u64>) -> Result<bool> {
        match &self.scan.pruning {
            Some(pruning) if self.is_whole(rows) => {
                pruning.may_hold(&self.zones, &*self.table, rows)
            }
            _ => Ok(true),
        }
    }

    /// The condition as it is now: the condition of a query with a limit narrows as the query runs.
    fn parts(&self) -> Vec<predicate::Part> {
        let predicate = self.scan.predicate.iter();
        predicate.flat_map(|predicate| predicate::parts(predicate, &*self.table)).collect()
    }

    /// The columns of the condition in the order of reading, then the others.
    fn needed_columns(&self, parts: &[predicate::Part]) -> Vec<usize> {
        let mut columns: Vec<usize> = Vec::new();
        for column in parts.iter().flat_map(|part| &part.columns).chain(&self.scan.columns) {
            if !columns.contains(column) {
                columns.push(*column);
            }
        }
        columns
    }

    /// The columns that a unit probably needs: the columns of the condition, and all others if the
    /// unit before had rows left.
    fn expected_columns(&self, parts: &[predicate::Part]) -> Vec<usize> {
        let mut columns = self.needed_columns(parts);
        if !parts.is_empty() && !self.scan.has_left.load(Ordering::Relaxed) {
            columns.retain(|column| parts.iter().any(|part| part.columns.contains(column)));
        }
        columns
    }

    /// The rows of a unit as a batch; none if no row is left.
    async fn read(&mut self, rows: &Range<u64>) -> Result<Option<RecordBatch>> {
        if !self.may_hold(rows)? {
            return Ok(None);
        }
        let parts = self.parts();
        let expected = self.expected_columns(&parts);
        self.look_ahead(&expected)?;
        self.announce(&expected, rows).await;
        let nrows = usize::try_from(rows.end.saturating_sub(rows.start)).unwrap_or(usize::MAX);
        let mut have: HashMap<usize, ArrayRef> = HashMap::new();
        let mut left = Left::All;
        for part in parts {
            let lessons = match left {
                Left::All if self.scan.pruning.is_some() && self.is_whole(rows) => {
                    self.zones.lessons(&part.columns, &*self.table, rows)
                }
                _ => vec![],
            };
            let arrays = self.columns(&part.columns, rows, &left, &mut have).await?;
            for lesson in lessons {
                let array = part.columns.iter().zip(&arrays).find(|(n, _)| **n == lesson.column);
                array.map_or(Ok(()), |(_, array)| self.zones.learn(&lesson, array))?;
            }
            let count = left.count(nrows);
            let batch = predicate::batch(&self.scan.schema, &part.columns, arrays, count)?;
            let Some(truth) = part.evaluate(&batch)? else {
                self.scan.has_left.store(false, Ordering::Relaxed);
                return Ok(None);
            };
            if truth.true_count() < count {
                for array in have.values_mut() {
                    *array = datafusion::arrow::compute::filter(array, &truth)?;
                }
            }
            left = left.and(&truth)?;
        }
        if !self.scan.has_left.swap(true, Ordering::Relaxed) {
            // The next units probably need all columns as well.
            self.ahead.clear();
        }
        let wanted = self.scan.columns.clone();
        let arrays = self.columns(&wanted, rows, &left, &mut have).await?;
        predicate::batch(&self.scan.schema, &wanted, arrays, left.count(nrows)).map(Some)
    }

    /// The rows that are left of some columns. Each is decoded once.
    async fn columns(
        &mut self,
        columns: &[usize],
        rows: &Range<u64>,
        left: &Left,
        have: &mut HashMap<usize, ArrayRef>,
    ) -> Result<Vec<ArrayRef>> {
        let lacking = columns.iter().copied().filter(|column| !have.contains_key(column));
        let lacking: Vec<usize> = lacking.collect();
        let nrows = usize::try_from(rows.end.saturating_sub(rows.start)).unwrap_or(usize::MAX);
        let parts = if self.table.reads_parts() { left.parts(nrows) } else { None };
        let mut nannounced = 0_usize;
        for (n, column) in lacking.iter().enumerate() {
            if n == nannounced {
                let rest = lacking.get(n..).unwrap_or_default();
                nannounced = nannounced.saturating_add(self.announce(rest, rows).await);
            }
            let array = match (left, &parts) {
                (Left::All, _) => self.decode(*column, rows, None).await?,
                (Left::Some(left), None) => self.decode(*column, rows, Some(left)).await?,
                (Left::Some(left), Some(parts)) => {
                    self.decode_parts(*column, rows.start, left, parts).await?
                }
            };
            self.scan.columns_decoded.add(1);
            have.insert(*column, array);
        }
        Ok(columns.iter().filter_map(|column| have.get(column).cloned()).collect())
    }

    /// The rows of a column, or the picked ones. It waits for the data of a remote table that were
    /// not announced.
    async fn decode(
        &mut self,
        column: usize,
        rows: &Range<u64>,
        picked: Option<&UInt32Array>,
    ) -> Result<ArrayRef> {
        let Self { table, scratch, .. } = self;
        let mut read = || match picked {
            Some(picked) => table.pick(column, rows, picked, scratch),
            None => Ok(table.read(column, rows, scratch)?),
        };
        match table.prefetch_limit() {
            0 => read(),
            _ => waiting::read_async(read).await,
        }
    }

    /// The rows of a column that are left; only the ranges that contain them are decoded. `start`
    /// is the first row of the unit.
    async fn decode_parts(
        &mut self,
        column: usize,
        start: u64,
        left: &UInt32Array,
        parts: &[Range<usize>],
    ) -> Result<ArrayRef> {
        let mut arrays = Vec::with_capacity(parts.len());
        for part in parts {
            let left = left.values().get(part.clone()).unwrap_or_default();
            let (Some(first), Some(last)) = (left.first(), left.last()) else { continue };
            let row = |row: &u32| start.saturating_add(u64::from(*row));
            let rows = row(first)..row(last).saturating_add(1);
            let within = left.iter().map(|row| row.saturating_sub(*first));
            let within = UInt32Array::from_iter_values(within);
            arrays.push(self.decode(column, &rows, Some(&within)).await?);
        }
        let arrays: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
        Ok(concat(&arrays)?)
    }

    /// Number of the first columns that fit into the limit, at least one. Decoded bytes bound the
    /// stored ones.
    fn count_fitting(&self, columns: &[usize], nrows: u64) -> usize {
        let room = self.room();
        let mut nbytes = 0_u64;
        let fitting = columns.iter().take_while(|column| {
            nbytes = nbytes.saturating_add(self.table.row_nbytes(**column).saturating_mul(nrows));
            nbytes <= room
        });
        fitting.count().max(1).min(columns.len())
    }

    /// Bytes that this stream may fetch at once.
    fn room(&self) -> u64 {
        self.table.prefetch_limit() / self.scan.nstreams
    }

    /// Fetches the first columns together, as many as fit into the limit. Returns their number.
    async fn announce(&self, columns: &[usize], rows: &Range<u64>) -> usize {
        if self.table.prefetch_limit() == 0 {
            return columns.len();
        }
        let count = self.count_fitting(columns, rows.end.saturating_sub(rows.start));
        let first = columns.get(..count).unwrap_or_default();
        waiting::prefetch_async(|| self.table.prefetch(first, rows)).await;
        count
    }

    /// Begins to fetch these columns of the next units: as many units as fit into the limit, at
    /// least one.
    fn look_ahead(&mut self, columns: &[usize]) -> Result<()> {
        if self.table.prefetch_limit() == 0 {
            return Ok(());
        }
        let at = self.rows.start;
        self.ahead.retain(|(end, _)| *end > at);
        let mut start = self.ahead.back().map_or(at, |(end, _)| *end);
        while start < self.rows.end && self.ahead.len() < MAX_AHEAD {
            let rows = self.unit_at(start);
            let count = self.count_fitting(columns, rows.end.saturating_sub(at));
            if count < columns.len() && !self.ahead.is_empty() {
                break;
            }
            start = rows.end;
            if !self.may_hold(&rows)? {
                continue;
            }
            let columns = columns.get(..count).unwrap_or_default().to_vec();
            let (table, end) = (Arc::clone(&self.table), rows.end);
            let task = SpawnedTask::spawn(async move {
                waiting::prefetch_async(|| table.prefetch(&columns, &rows)).await;
            });
            self.ahead.push_back((end, task));
        }
        Ok(())
    }
}

//! Minima and maxima of the columns that scans have read. Later scans use them to find that no row
//! is left without reading.
//!
//! The formats do not store them. They hold for the opened table and for its chunk files as they
//! were when they were read; they are dropped with the table.

use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::array::{Array as _, ArrayRef, BooleanArray, UInt64Array};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::pruning::PruningStatistics;
use datafusion::common::{Column, ScalarValue};
use datafusion::error::Result;
use datafusion::functions_aggregate::min_max::{MaxAccumulator, MinAccumulator};
use datafusion::logical_expr::Accumulator as _;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_optimizer::pruning::{PruningPredicate, PruningPredicateBuilder};

use crate::columns::Columns;

/// The least and the largest value of a column between two rows.
#[derive(Clone, Debug)]
struct Zone {
    min: ScalarValue,
    max: ScalarValue,
    nnulls: u64,
    /// The stamp of the chunks from which the rows were read.
    stamp: u64,
}

/// The known zones of a table, by the first row of a unit and the column.
#[derive(Debug, Default)]
pub(crate) struct Zones {
    known: Mutex<HashMap<(u64, usize), Zone>>,
    /// How many scans of the table were planned.
    nscans: AtomicUsize,
}

/// A column of a unit without a zone.
pub(crate) struct Lesson {
    pub(crate) column: usize,
    row: u64,
    stamp: u64,
}

impl Zones {
    /// Counts a scan that is planned.
    pub(crate) fn count_scan(&self) {
        self.nscans.fetch_add(1, Ordering::Relaxed);
    }

    /// The columns of a unit whose zones are worth learning: none in the first scan, since a table
    /// that is read once gains nothing. Call it before the rows are read, so that a write in the
    /// meantime changes the stamp.
    pub(crate) fn lessons(
        &self,
        columns: &[usize],
        table: &dyn Columns,
        rows: &Range<u64>,
    ) -> Vec<Lesson> {
        if self.nscans.load(Ordering::Relaxed) < 2 {
            return vec![];
        }
        let lesson = |column: &usize| {
            // The value of a constant column is known without reading; other folders may have other
            // columns of this kind.
            if table.constant(*column).is_some() {
                return None;
            }
            let (row, stamp) = (rows.start, table.stamp(*column, rows)?);
            let is_known = self.get(row, *column).is_some_and(|zone| zone.stamp == stamp);
            (!is_known).then_some(Lesson { column: *column, row, stamp })
        };
        columns.iter().filter_map(lesson).collect()
    }

    /// Takes the values of a column in a whole unit.
    pub(crate) fn learn(&self, lesson: &Lesson, values: &ArrayRef) -> Result<()> {
        if !values.data_type().is_primitive() && !values.data_type().is_string() {
            return Ok(());
        }
        let mut least = MinAccumulator::try_new(values.data_type())?;
        let mut largest = MaxAccumulator::try_new(values.data_type())?;
        least.update_batch(core::slice::from_ref(values))?;
        largest.update_batch(core::slice::from_ref(values))?;
        let (min, max) = (least.evaluate()?, largest.evaluate()?);
        let zone = Zone { min, max, nnulls: values.null_count() as u64, stamp: lesson.stamp };
        self.lock().insert((lesson.row, lesson.column), zone);
        Ok(())
    }

    fn get(&self, row: u64, column: usize) -> Option<Zone> {
        self.lock().get(&(row, column)).cloned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<(u64, usize), Zone>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A condition that zones may exclude.
pub(crate) struct Pruning {
    predicate: PruningPredicate,
    /// The columns that it names.
    columns: Vec<usize>,
    schema: SchemaRef,
}

impl Pruning {
    /// `None` if minima and maxima cannot exclude rows of the condition.
    pub(crate) fn new(predicate: &Arc<dyn PhysicalExpr>, schema: &SchemaRef) -> Option<Self> {
        let columns = collect_columns(predicate).iter().map(|column| column.index()).collect();
        let builder = PruningPredicateBuilder::new().with_file_schema(Arc::clone(schema));
        let predicate = builder.try_build(Arc::clone(predicate)).ok()?;
        (!predicate.always_true()).then(|| Self { predicate, columns, schema: Arc::clone(schema) })
    }

    /// Whether some of the rows of a unit may be left.
    pub(crate) fn may_hold(
        &self,
        zones: &Zones,
        table: &dyn Columns,
        rows: &Range<u64>,
    ) -> Result<bool> {
        let zone = |column: &usize| {
            let zone = zones.get(rows.start, *column)?;
            (table.stamp(*column, rows) == Some(zone.stamp)).then_some((*column, zone))
        };
        let zones: HashMap<usize, Zone> = self.columns.iter().filter_map(zone).collect();
        if zones.is_empty() {
            return Ok(true);
        }
        let nrows = rows.end.saturating_sub(rows.start);
        let unit = Unit { zones, schema: &self.schema, nrows };
        Ok(self.predicate.prune(&unit)?.first().copied().unwrap_or(true))
    }
}

/// One unit, in the form in which the engine requests statistics.
struct Unit<'a> {
    zones: HashMap<usize, Zone>,
    schema: &'a SchemaRef,
    nrows: u64,
}

impl Unit<'_> {
    fn zone(&self, column: &Column) -> Option<&Zone> {
        self.zones.get(&self.schema.index_of(&column.name).ok()?)
    }
}

impl PruningStatistics for Unit<'_> {
    fn min_values(&self, column: &Column) -> Option<ArrayRef> {
        self.zone(column)?.min.to_array().ok()
    }

    fn max_values(&self, column: &Column) -> Option<ArrayRef> {
        self.zone(column)?.max.to_array().ok()
    }

    fn num_containers(&self) -> usize {
        1
    }

    fn null_counts(&self, column: &Column) -> Option<ArrayRef> {
        Some(Arc::new(UInt64Array::from(vec![self.zone(column)?.nnulls])))
    }

    fn row_counts(&self) -> Option<ArrayRef> {
        Some(Arc::new(UInt64Array::from(vec![self.nrows])))
    }

    fn contained(&self, _: &Column, _: &HashSet<ScalarValue>) -> Option<BooleanArray> {
        None
    }
}

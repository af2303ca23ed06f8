//! Minima and maxima of what scans have read, so that later ones need not read it again to find
//! that no row is left.
//!
//! The formats do not store them. They hold for the table as it was opened, so that they live as
//! long as the provider does.

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
use datafusion::physical_optimizer::pruning::{PruningPredicate, PruningPredicateBuilder};

/// The least and the largest value of a column between two rows.
#[derive(Clone, Debug)]
struct Zone {
    min: ScalarValue,
    max: ScalarValue,
    nnulls: u64,
}

/// What is known of a table: by the first row of a unit and the column.
#[derive(Debug, Default)]
pub(crate) struct Zones(Mutex<HashMap<(u64, usize), Zone>>);

impl Zones {
    /// Takes the values of a column in a whole unit that starts at a row.
    pub(crate) fn learn(&self, row: u64, column: usize, values: &ArrayRef) -> Result<()> {
        let has_order = values.data_type().is_primitive() || values.data_type().is_string();
        if !has_order || self.lock().contains_key(&(row, column)) {
            return Ok(());
        }
        let mut least = MinAccumulator::try_new(values.data_type())?;
        let mut largest = MaxAccumulator::try_new(values.data_type())?;
        least.update_batch(core::slice::from_ref(values))?;
        largest.update_batch(core::slice::from_ref(values))?;
        let (min, max) = (least.evaluate()?, largest.evaluate()?);
        let nnulls = values.null_count() as u64;
        self.lock().insert((row, column), Zone { min, max, nnulls });
        Ok(())
    }

    fn get(&self, row: u64, column: usize) -> Option<Zone> {
        self.lock().get(&(row, column)).cloned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<(u64, usize), Zone>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A condition that zones may exclude.
pub(crate) struct Pruning {
    predicate: PruningPredicate,
    schema: SchemaRef,
}

impl Pruning {
    /// `None` where minima and maxima say nothing of the condition.
    pub(crate) fn new(predicate: &Arc<dyn PhysicalExpr>, schema: &SchemaRef) -> Option<Self> {
        let builder = PruningPredicateBuilder::new().with_file_schema(Arc::clone(schema));
        let predicate = builder.try_build(Arc::clone(predicate)).ok()?;
        (!predicate.always_true()).then(|| Self { predicate, schema: Arc::clone(schema) })
    }

    /// Whether some of the `nrows` rows of the unit at `row` may be left.
    pub(crate) fn may_hold(&self, zones: &Zones, row: u64, nrows: u64) -> Result<bool> {
        let unit = Unit { zones, schema: &self.schema, row, nrows };
        Ok(self.predicate.prune(&unit)?.first().copied().unwrap_or(true))
    }
}

/// One unit, as the engine asks for its statistics.
struct Unit<'a> {
    zones: &'a Zones,
    schema: &'a SchemaRef,
    row: u64,
    nrows: u64,
}

impl Unit<'_> {
    fn zone(&self, column: &Column) -> Option<Zone> {
        self.zones.get(self.row, self.schema.index_of(&column.name).ok()?)
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

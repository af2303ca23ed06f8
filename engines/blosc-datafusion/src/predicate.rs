//! Conditions, evaluated on the columns that they name, part by part.

use core::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{Array as _, AsArray as _, BooleanArray, UInt32Array};
use datafusion::arrow::compute::{filter, prep_null_mask_filter};
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{
    BinaryExpr, Column, InListExpr, IsNotNullExpr, IsNullExpr, LikeExpr, Literal, NotExpr,
};
use datafusion::physical_expr::utils::{collect_columns, reassign_expr_columns};
use datafusion::physical_expr::{PhysicalExpr, split_conjunction};

use crate::columns::Columns;

/// A condition that has to hold, and the columns that it names (ascending).
pub(crate) struct Part {
    pub(crate) columns: Vec<usize>,
    expr: Arc<dyn PhysicalExpr>,
}

/// The rows of a unit that are left.
pub(crate) enum Left {
    All,
    /// Their numbers within the unit.
    Some(UInt32Array),
}

/// The parts of a condition, ordered by the bytes to decode, fewest first: once no row is left,
/// decoding stops. The parts keep their order if evaluating one may fail on rows that another
/// excludes.
pub(crate) fn parts(predicate: &Arc<dyn PhysicalExpr>, table: &dyn Columns) -> Vec<Part> {
    let parts = split_conjunction(predicate).into_iter().map(|expr| {
        let mut columns: Vec<usize> = collect_columns(expr).iter().map(Column::index).collect();
        columns.sort_unstable();
        Part { columns, expr: Arc::clone(expr) }
    });
    let mut parts: Vec<Part> = parts.collect();
    if parts.iter().all(|part| cannot_fail(&part.expr)) {
        let nbytes = |column: &usize| table.row_nbytes(*column);
        parts.sort_by_key(|part| part.columns.iter().map(nbytes).fold(0, u64::saturating_add));
    }
    parts
}

/// Whether an expression has a value for all values of its columns.
fn cannot_fail(expr: &Arc<dyn PhysicalExpr>) -> bool {
    let is_plain = match expr.downcast_ref::<BinaryExpr>() {
        Some(binary) => matches!(
            binary.op(),
            Operator::Eq
                | Operator::NotEq
                | Operator::Lt
                | Operator::LtEq
                | Operator::Gt
                | Operator::GtEq
                | Operator::And
                | Operator::Or
                | Operator::IsDistinctFrom
                | Operator::IsNotDistinctFrom
        ),
        None => {
            expr.downcast_ref::<Column>().is_some()
                || expr.downcast_ref::<Literal>().is_some()
                || expr.downcast_ref::<InListExpr>().is_some()
                || expr.downcast_ref::<IsNullExpr>().is_some()
                || expr.downcast_ref::<IsNotNullExpr>().is_some()
                || expr.downcast_ref::<LikeExpr>().is_some()
                || expr.downcast_ref::<NotExpr>().is_some()
        }
    };
    is_plain && expr.children().into_iter().all(cannot_fail)
}

impl Part {
    /// The rows of `batch` for which the condition is true; none if no row is left. `batch` has the
    /// columns that the condition names.
    pub(crate) fn evaluate(&self, batch: &RecordBatch) -> Result<Option<BooleanArray>> {
        let nrows = batch.num_rows();
        let expr = reassign_expr_columns(Arc::clone(&self.expr), &batch.schema())?;
        let truth = expr.evaluate(batch)?.into_array(nrows)?;
        let truth = truth
            .as_boolean_opt()
            .ok_or_else(|| DataFusionError::Internal(format!("{} is no condition", self.expr)))?;
        let truth = match truth.null_count() {
            0 => truth.clone(),
            _ => prep_null_mask_filter(truth),
        };
        Ok((truth.true_count() > 0).then_some(truth))
    }
}

impl Left {
    /// Keeps the rows for which `truth` holds as well; `truth` has one value for each row that was
    /// left.
    pub(crate) fn and(self, truth: &BooleanArray) -> Result<Self> {
        if truth.true_count() == truth.len() {
            return Ok(self);
        }
        let rows = match self {
            Self::All => {
                let end = u32::try_from(truth.len()).map_err(|_| {
                    DataFusionError::Internal("more than 2^32 rows at once".to_owned())
                })?;
                UInt32Array::from_iter_values(0..end)
            }
            Self::Some(rows) => rows,
        };
        Ok(Self::Some(filter(&rows, truth)?.as_primitive().clone()))
    }

    /// The few ranges of a unit of `nrows` that contain all rows that are left, as ranges of
    /// indices into the list of these rows; none if the ranges would cover more than half of the
    /// unit.
    pub(crate) fn parts(&self, nrows: usize) -> Option<Vec<Range<usize>>> {
        let Self::Some(rows) = self else { return None };
        let rows = rows.values();
        // No block lies in two ranges, unless the block is longer than this gap.
        let max_gap = u32::try_from(nrows / 16).ok()?;
        let (mut parts, mut first, mut total) = (Vec::new(), 0_usize, 0_usize);
        for (at, row) in rows.iter().enumerate() {
            let next = rows.get(at.saturating_add(1));
            if next.is_some_and(|next| next.saturating_sub(*row) <= max_gap) {
                continue;
            }
            let len = row.saturating_sub(*rows.get(first)?).saturating_add(1);
            total = total.saturating_add(usize::try_from(len).ok()?);
            let end = at.saturating_add(1);
            parts.push(first..end);
            first = end;
        }
        (total <= nrows / 2).then_some(parts)
    }

    /// The number of the `nrows` rows that are left.
    pub(crate) fn count(&self, nrows: usize) -> usize {
        match self {
            Self::All => nrows,
            Self::Some(rows) => rows.len(),
        }
    }
}

/// Columns of a schema as a batch, which has `nrows` rows even without columns.
pub(crate) fn batch(
    schema: &Schema,
    columns: &[usize],
    arrays: Vec<datafusion::arrow::array::ArrayRef>,
    nrows: usize,
) -> Result<RecordBatch> {
    let schema: SchemaRef = Arc::new(schema.project(columns)?);
    let options = RecordBatchOptions::new().with_row_count(Some(nrows));
    Ok(RecordBatch::try_new_with_options(schema, arrays, &options)?)
}

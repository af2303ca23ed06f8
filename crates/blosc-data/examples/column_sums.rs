//! Sums the numeric columns of any table, in bounded memory: `cargo run --example column_sums --
//! TABLE`.

use core::error::Error;

use b2store::Value;
use blosc_data::{ColumnKind, open};

/// Rows that are read at once.
const BATCH_NROWS: usize = 1 << 16;

fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).ok_or("give a table")?;
    let table = open(name)?.into_table()?;
    for column in table.columns() {
        if !matches!(column.kind, ColumnKind::Fixed(_)) {
            continue;
        }
        let (mut sum, mut nnulls) = (0.0, 0_u64);
        for start in (0..table.nrows()).step_by(BATCH_NROWS) {
            let end = table.nrows().min(start.saturating_add(BATCH_NROWS as u64));
            for values in table.read(&[&column.name], start..end)? {
                for row in 0..values.len() {
                    match number(&values.value(row)) {
                        Some(number) => sum += number,
                        None => nnulls += 1,
                    }
                }
            }
        }
        println!("{}: {sum} ({nnulls} rows without a number)", column.name);
    }
    Ok(())
}

/// The number in a cell; `None` for nulls, truth values and complex numbers.
#[expect(clippy::cast_precision_loss, reason = "a sum of floats")]
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(n) => Some(*n as f64),
        Value::UInt(n) => Some(*n as f64),
        Value::Float(n) => Some(*n),
        _ => None,
    }
}

//! Values as files: comma-separated values, and NumPy's `.npy`.

use core::ops::Range;
use std::sync::Arc;

use blosc_data::cells::{Rows, add_line};
use blosc_data::tiles::axes;
use blosc_data::{Array, Data, Pick, Table};
use blosc_dtype::npy::NpyHeader;

use super::{PIECE_NBYTES, PIECE_NROWS, read_box};
use crate::cells::texts;
use crate::fault::{Fault, Result};
use crate::request::{ExportFormat, Part};

#[derive(Debug)]
pub(super) struct Export {
    of: Of,
    format: ExportFormat,
    /// The bytes before the values.
    head: Vec<u8>,
    /// How the rows are cut.
    piece: u64,
    nrows: u64,
    /// Lengths of the dimensions that stay.
    shape: Vec<u64>,
}

#[derive(Debug)]
enum Of {
    /// A box of an array, cut along the dimension `along`.
    Box {
        array: Arc<dyn Array>,
        bounds: Vec<Range<u64>>,
        along: usize,
    },
    Table(Arc<dyn Table>),
}

impl Export {
    pub(super) fn new(data: &Data, format: ExportFormat, part: &[Part]) -> Result<Self> {
        match (data, format) {
            (Data::Array(array), _) => Self::of_array(array, format, part),
            (Data::Table(table), ExportFormat::Csv) => {
                let mut head = String::new();
                add_line(table.columns().iter().map(|column| column.name.clone()), &mut head);
                let (of, head) = (Of::Table(Arc::clone(table)), head.into_bytes());
                Ok(Self {
                    of,
                    format,
                    head,
                    piece: PIECE_NROWS,
                    nrows: table.nrows(),
                    shape: vec![],
                })
            }
            _ => Err(Fault::request(format!("{} has no such file", data.kind_name()))),
        }
    }

    fn of_array(array: &Arc<dyn Array>, format: ExportFormat, part: &[Part]) -> Result<Self> {
        let picks: Vec<Pick> = part.iter().map(|part| part.pick()).collect();
        let axes = axes(&picks, array.shape())?;
        let shape: Vec<u64> =
            axes.iter().filter(|axis| !axis.is_index).map(|axis| axis.len).collect();
        let bounds: Vec<Range<u64>> =
            axes.iter().map(|axis| axis.start..axis.start.saturating_add(axis.len)).collect();
        // Dimensions of one position before it do not change the order.
        let along = bounds.iter().position(|range| range.end - range.start > 1).unwrap_or(0);
        let nrows = bounds.get(along).map_or(1, |range| range.end - range.start);
        let dtype = array.dtype();
        let head = match format {
            ExportFormat::Npy => {
                let shape = shape.clone();
                let header =
                    NpyHeader { dtype: dtype.clone(), fortran_order: false, shape, len: 0 };
                header.to_bytes().ok_or_else(|| Fault::request("NumPy has no such type"))?
            }
            ExportFormat::Csv => {
                let mut head = String::new();
                add_line(Rows::new(dtype, &shape).names().into_iter(), &mut head);
                head.into_bytes()
            }
        };
        let row = bounds.iter().skip(along.saturating_add(1));
        let row = row.fold(1_u64, |n, range| n.saturating_mul(range.end - range.start));
        let row_nbytes = row.saturating_mul(dtype.itemsize() as u64).max(1);
        let piece = (PIECE_NBYTES / row_nbytes).max(1);
        let of = Of::Box { array: Arc::clone(array), bounds, along };
        Ok(Self { of, format, head, piece, nrows, shape })
    }

    /// The head is a piece of its own.
    pub(super) fn npieces(&self) -> u64 {
        self.nrows.div_ceil(self.piece).saturating_add(1)
    }

    pub(super) fn read(&self, number: u64) -> Result<Vec<u8>> {
        let Some(number) = number.checked_sub(1) else { return Ok(self.head.clone()) };
        let start = number.saturating_mul(self.piece);
        let rows = start..self.nrows.min(start.saturating_add(self.piece));
        match &self.of {
            Of::Box { array, bounds, along } => self.items(&**array, bounds, *along, rows),
            Of::Table(table) => {
                let columns: Vec<usize> = (0..table.columns().len()).collect();
                let mut out = String::new();
                for row in texts(&**table, &columns, rows)? {
                    add_line(row.into_iter(), &mut out);
                }
                Ok(out.into_bytes())
            }
        }
    }

    fn items(
        &self,
        array: &dyn Array,
        bounds: &[Range<u64>],
        along: usize,
        rows: Range<u64>,
    ) -> Result<Vec<u8>> {
        let mut bounds = bounds.to_vec();
        if let Some(range) = bounds.get_mut(along) {
            *range = range.start.saturating_add(rows.start)..range.start.saturating_add(rows.end);
        }
        let bytes = read_box(array, &bounds)?;
        if self.format == ExportFormat::Npy {
            return Ok(bytes);
        }
        let lines = Rows::new(array.dtype(), &self.shape);
        let mut out = String::new();
        for line in bytes.chunks_exact(lines.nbytes()) {
            add_line(lines.cells(line), &mut out);
        }
        Ok(out.into_bytes())
    }
}

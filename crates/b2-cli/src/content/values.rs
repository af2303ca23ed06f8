//! The numbers of a part of a grid, tile by tile in bounded memory.

use core::ops::Range;
use std::rc::Rc;

pub(crate) use blosc_data::tiles::{Axis, axes};
use blosc_data::tiles::{Tiles, numbers_of_tile};
use blosc_dtype::{Dtype, Kind, numbers::NumberType};

use super::grid::Grid;
use crate::error::{Error, Result, message};

/// Takes the ranges of a tile in each axis, and the numbers of the tile.
pub(crate) type TileSink<'a> = &'a mut dyn FnMut(&[Range<u64>], &[f64]) -> Result<()>;

/// The numbers in the items of a grid: the items themselves, or a field of each.
pub(crate) struct Numbers {
    grid: Rc<Grid>,
    /// Offset of the number in an item (bytes).
    offset: usize,
    dtype: Dtype,
    number: NumberType,
}

impl Numbers {
    /// The numbers of a grid, or of the field of its items that a dotted name selects.
    ///
    /// # Errors
    ///
    /// When there is no such field, or it does not hold numbers.
    pub(crate) fn new(grid: Rc<Grid>, field: Option<&str>) -> Result<Self> {
        let found = match field {
            None => Some((grid.dtype().clone(), 0)),
            Some(_) if grid.dtype().fields().is_empty() => return Err(message::NOT_A_TABLE.error()),
            Some(path) => grid.dtype().field_at(path),
        };
        let names = || grid.dtype().fields().iter().map(blosc_dtype::Field::name);
        let path = field.unwrap_or_default();
        let (dtype, offset) = found.ok_or_else(|| message::no_column(path, names()))?;
        if !dtype.fields().is_empty() {
            let names: Vec<&str> = dtype.fields().iter().map(|field| field.name()).collect();
            return Err(message::CHOOSE_COLUMN.about(names.join(", ")));
        }
        let number = dtype.scalar().and_then(NumberType::new);
        let number = number.ok_or_else(|| message::NOT_NUMBERS.about(dtype.kind_text()))?;
        Ok(Self { grid, offset, dtype, number })
    }

    /// The type of the numbers.
    pub(crate) fn dtype(&self) -> &Dtype {
        &self.dtype
    }

    /// Items per dimension.
    pub(crate) fn shape(&self) -> &[u64] {
        self.grid.shape()
    }

    /// Hands the numbers of a part to `sink` tile by tile, with the ranges of the tile in each axis
    /// (numbers of positions). Tiles and their numbers come in C order.
    ///
    /// # Errors
    ///
    /// When they cannot be read, or the error of `sink`.
    pub(crate) fn for_each_tile(
        &self,
        axes: &[Axis],
        memory: u64,
        sink: TileSink<'_>,
    ) -> Result<()> {
        let itemsize = self.grid.dtype().itemsize().max(1) as u64;
        let max_items = memory / itemsize.saturating_add(VALUE_NBYTES) / 2;
        if max_items == 0 {
            return Err(Error::MaxMemory { needed: 2 * (itemsize + VALUE_NBYTES), limit: memory });
        }
        let (mut bytes, mut values) = (vec![], vec![]);
        for tile in Tiles::new(axes, &self.grid.box_lens(), max_items) {
            let bounds: Vec<Range<u64>> =
                axes.iter().zip(&tile).map(|(axis, part)| axis.cover(part)).collect();
            let valid = self.grid.read(&bounds, &mut bytes)?;
            values.clear();
            let (bytes, itemsize) =
                (bytes.get(self.offset..).unwrap_or_default(), self.dtype.itemsize());
            let sizes = (self.grid.dtype().itemsize(), itemsize);
            numbers_of_tile(self.number, sizes, axes, (&tile, &bounds), bytes, &mut values);
            if let (Some(valid), [axis], [bound]) = (&valid, axes, &bounds[..]) {
                for (n, value) in values.iter_mut().enumerate() {
                    let row = axis.position(tile[0].start + n as u64) - bound.start;
                    let is_valid = usize::try_from(row).ok().and_then(|row| valid.get(row));
                    if is_valid == Some(&false) {
                        *value = f64::NAN;
                    }
                }
            }
            sink(&tile, &values)?;
        }
        if self.grid.is_all(axes) { self.grid.compare_seals() } else { Ok(()) }
    }

    /// The unit of numbers that are points in time.
    pub(crate) fn time_unit(&self) -> Option<String> {
        let scalar = self.dtype.scalar().filter(|scalar| scalar.kind() == Kind::DateTime)?;
        scalar.unit().map(str::to_owned)
    }
}

/// Bytes of a number in memory.
const VALUE_NBYTES: u64 = 8;

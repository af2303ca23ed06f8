//! ZFP (plugins 33, 34, 35): a lossy codec for arrays of `f32` or `f64` of one to four dimensions.
//!
//! ```text
//! stream  cell  cell  ...                       cells of 4^d values, row-major; bits from the least significant on
//! cell    0                                     all zeros
//!         1  exponent (8 or 11 bits)  planes    bit planes of the coefficients, most significant first
//! ```
//!
//! The payload is a bare ZFP 1.0 bit stream without shape, type and mode, so these codecs need the
//! shape of the block. A shuffle before them makes no sense.
//!
//! The encoder follows P. Lindstrom ("Fixed-Rate Compressed Floating-Point Arrays", 2014), cell by
//! cell:
//!
//! 1. *Block floating point* (`cell`): the values become integers with the largest exponent of the
//!    cell in common. Cells that the edge of the array cuts are padded (`array`).
//! 2. *Decorrelating transform* (`cell`): a lifted, nearly orthogonal transform of four values,
//!    along each dimension in turn.
//! 3. *Reordering and negabinary* (`cell`): coefficients by total sequency, as unsigned numbers
//!    whose leading zeros tell how small they are.
//! 4. *Embedded coding* (`planes`): bit planes, most significant first, with group testing: the
//!    coefficients that are known to be significant are written verbatim, the others by unary runs.
//!
//! The three modes differ in where the planes of a cell end: at an absolute error
//! ([`Mode::Accuracy`]), after a number of planes ([`Mode::Precision`]), or after a number of bits
//! ([`Mode::Rate`]). [`Planes`] has the numbers.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "each value is below its bound"
)]

mod array;
mod bits;
mod cell;
mod planes;
mod real;

use alloc::boxed::Box;

use array::Grid;
use bits::{BitReader, BitWriter};
use planes::Budget;
use real::Real;

use crate::{
    Codec, CodecId, Corrupt, DecodeOptions, EncodeOptions, Error, Param, StreamDecoder,
    StreamEncoder,
    codec::{refuse_dict, require_write},
};

/// The codec, in one of its modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Zfp {
    mode: Mode,
}

/// The bound on the size or the error. The codec's id sets the kind, `meta` the amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Absolute error up to about `10^meta`, with `meta` as a signed byte.
    Accuracy,
    /// `meta` bit planes and a few more.
    Precision,
    /// `meta` percent of the plain size, 1 to 100.
    Rate,
}

impl Zfp {
    /// `zfp_acc`.
    pub(crate) const ACCURACY: Self = Self { mode: Mode::Accuracy };
    /// `zfp_prec`.
    pub(crate) const PRECISION: Self = Self { mode: Mode::Precision };
    /// `zfp_rate`.
    pub(crate) const RATE: Self = Self { mode: Mode::Rate };

    fn array(&self, meta: u8, typesize: usize, shape: Option<&[u32]>) -> Result<Array, Error> {
        let shape = shape.ok_or(self.param(Param::NoShape))?;
        let grid = Grid::new(shape)
            .ok_or(self.param(Param::Dimensions { ndim: shape.len(), allowed: "1, 2, 3, 4" }))?;
        let width = match typesize {
            4 => Width::Single,
            8 => Width::Double,
            _ => return Err(self.param(Param::Typesize { typesize, allowed: "4, 8" })),
        };
        let planes = Planes::new(self.mode, meta, typesize, grid.ndim())
            .ok_or(self.param(Param::Meta { meta, allowed: "1 to 100" }))?;
        Ok(Array { codec: self.id(), grid, width, planes })
    }

    fn param(&self, what: Param) -> Error {
        Error::Param { codec: self.id(), what }
    }
}

impl Codec for Zfp {
    fn id(&self) -> CodecId {
        match self.mode {
            Mode::Accuracy => CodecId::ZFP_ACC,
            Mode::Precision => CodecId::ZFP_PREC,
            Mode::Rate => CodecId::ZFP_RATE,
        }
    }

    fn version(&self) -> &str {
        concat!("blosc-codecs ", env!("CARGO_PKG_VERSION"))
    }

    fn max_compressed_len(&self, len: usize) -> usize {
        // A cut cell is written whole: up to 4^4 values for one value. A plane takes at most two
        // bits per value.
        len.saturating_mul(2 * cell::MAX_CELL).saturating_add(64)
    }

    fn new_encoder(&self, options: &EncodeOptions<'_>) -> Result<Box<dyn StreamEncoder>, Error> {
        require_write(self.id())?;
        refuse_dict(self.id(), options.dict)?;
        Ok(Box::new(self.array(options.meta, options.typesize, options.blockshape)?))
    }

    fn new_decoder(&self, options: &DecodeOptions<'_>) -> Result<Box<dyn StreamDecoder>, Error> {
        refuse_dict(self.id(), options.dict)?;
        Ok(Box::new(self.array(options.meta, options.typesize, options.blockshape)?))
    }

    fn is_lossy(&self) -> bool {
        true
    }
}

/// The type of the items.
#[derive(Clone, Copy, Debug)]
enum Width {
    Single,
    Double,
}

/// The end of a cell's bit planes: the four parameters of ZFP (`zfp_stream_set_params`).
#[derive(Clone, Copy, Debug)]
struct Planes {
    /// Fewest bits of a cell, which is padded with zeros.
    min_bits: u32,
    /// Most bits of a cell.
    max_bits: u32,
    /// Most coded planes.
    max_planes: i32,
    /// Exponent of the last plane that matters.
    min_exponent: i32,
}

impl Planes {
    const UNBOUNDED: Self =
        Self { min_bits: 1, max_bits: 16_658, max_planes: 64, min_exponent: -1074 };

    /// `None` if the mode does not know `meta`.
    fn new(mode: Mode, meta: u8, typesize: usize, ndim: usize) -> Option<Self> {
        match mode {
            Mode::Accuracy => Some(Self {
                min_exponent: floor_log2_of_power_of_ten(meta.cast_signed()),
                ..Self::UNBOUNDED
            }),
            Mode::Precision => {
                let extra = [5, 7, 9, 11][ndim - 1];
                Some(Self { max_planes: (i32::from(meta) + extra).min(64), ..Self::UNBOUNDED })
            }
            Mode::Rate => {
                let bits = bits_per_cell(meta, typesize, ndim)?;
                Some(Self { min_bits: bits, max_bits: bits, ..Self::UNBOUNDED })
            }
        }
    }

    /// The number of coded planes of a cell with this exponent.
    fn count(&self, emax: i32, ndim: usize) -> u32 {
        let guard = 2 * (ndim as i32 + 1);
        (emax - self.min_exponent + guard).clamp(0, self.max_planes).cast_unsigned()
    }
}

fn floor_log2_of_power_of_ten(k: i8) -> i32 {
    let log2 = f64::from(k) * core::f64::consts::LOG2_10;
    // Among the powers of ten only 1 is a power of two, so this is never close to an integer.
    let toward_zero = log2 as i32;
    if f64::from(toward_zero) > log2 { toward_zero - 1 } else { toward_zero }
}

fn bits_per_cell(percent: u8, typesize: usize, ndim: usize) -> Option<u32> {
    let (bits_per_item, header) = match typesize {
        4 => (32.0, 1 + f32::EXPONENT_BITS),
        _ => (64.0, 1 + f64::EXPONENT_BITS),
    };
    let rate = f64::from(percent) / 100.0 * bits_per_item;
    let bits = (f64::from(1u32 << (2 * ndim)) * rate + 0.5) as u32;
    (1..=100).contains(&percent).then_some(bits.max(header))
}

/// Encodes and decodes blocks of one shape.
struct Array {
    codec: CodecId,
    grid: Grid,
    width: Width,
    planes: Planes,
}

impl Array {
    /// Checks that the shape holds this number of bytes.
    fn check_nbytes(&self, nbytes: usize) -> Result<(), Error> {
        let typesize = match self.width {
            Width::Single => 4,
            Width::Double => 8,
        };
        match self.grid.nitems().checked_mul(typesize) {
            Some(shape) if shape == nbytes as u64 => Ok(()),
            shape => {
                let what = Param::ShapeSize { shape: shape.unwrap_or(u64::MAX), nbytes };
                Err(Error::Param { codec: self.codec, what })
            }
        }
    }

    /// `None` if the stream does not fit, or a value is not finite.
    fn encode_as<R: Real>(&self, src: &[u8], dest: &mut [u8]) -> Option<usize> {
        let mut out = BitWriter::new(dest);
        let mut values = [R::default(); cell::MAX_CELL];
        let mut coefficients = [0; cell::MAX_CELL];
        let size = self.grid.cell_len();
        for cell in self.grid.cells() {
            self.grid.gather(&cell, src, &mut values);
            let emax = R::common_exponent(&values[..size])?;
            self.encode_cell(emax, &values[..size], &mut coefficients[..size], &mut out)?;
        }
        out.finish()
    }

    fn encode_cell<R: Real>(
        &self,
        emax: Option<i32>,
        values: &[R],
        coefficients: &mut [u64],
        out: &mut BitWriter<'_>,
    ) -> Option<()> {
        let start = out.position();
        let planes = emax.map_or(0, |e| self.planes.count(e, self.grid.ndim()));
        match emax {
            Some(emax) if planes > 0 => {
                out.write(u64::from(R::biased(emax)) << 1 | 1, 1 + R::EXPONENT_BITS)?;
                cell::forward(self.grid.ndim(), values, emax, coefficients);
                let bits = self.planes.max_bits - 1 - R::EXPONENT_BITS;
                planes::encode(coefficients, Budget { width: R::BITS, planes, bits }, out)?;
            }
            _ => out.write(0, 1)?,
        }
        out.fill_up_to(start + u64::from(self.planes.min_bits))
    }

    fn decode_as<R: Real>(&self, src: &[u8], dest: &mut [u8]) -> Result<(), Error> {
        let mut input = BitReader::new(src);
        let mut values = [R::default(); cell::MAX_CELL];
        let mut coefficients = [0; cell::MAX_CELL];
        let size = self.grid.cell_len();
        for cell in self.grid.cells() {
            self.decode_cell(&mut input, &mut coefficients[..size], &mut values[..size]);
            if input.is_past_the_end() {
                let what = Corrupt::Truncated { need: 1, have: 0 };
                return Err(Error::Corrupt { codec: self.codec, at: src.len(), what });
            }
            self.grid.scatter(&cell, &values, dest);
        }
        Ok(())
    }

    fn decode_cell<R: Real>(
        &self,
        input: &mut BitReader<'_>,
        coefficients: &mut [u64],
        values: &mut [R],
    ) {
        let start = input.position();
        if input.read(1) == 0 {
            values.fill(R::default());
        } else {
            let emax = R::unbiased(input.read(R::EXPONENT_BITS));
            let planes = self.planes.count(emax, self.grid.ndim());
            let bits = self.planes.max_bits - 1 - R::EXPONENT_BITS;
            coefficients.fill(0);
            planes::decode(coefficients, Budget { width: R::BITS, planes, bits }, input);
            cell::backward(self.grid.ndim(), coefficients, emax, values);
        }
        input.skip_to(start + u64::from(self.planes.min_bits));
    }
}

impl StreamEncoder for Array {
    /// Values that are not finite have no common exponent, and C-Blosc2 encodes no dimension below
    /// 4: for these blocks this returns `None`, and a chunk stores them.
    fn encode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<Option<usize>, Error> {
        self.check_nbytes(src.len())?;
        if self.grid.is_thin() {
            return Ok(None);
        }
        Ok(match self.width {
            Width::Single => self.encode_as::<f32>(src, dest),
            Width::Double => self.encode_as::<f64>(src, dest),
        })
    }
}

impl StreamDecoder for Array {
    fn decode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<(), Error> {
        self.check_nbytes(dest.len())?;
        match self.width {
            Width::Single => self.decode_as::<f32>(src, dest),
            Width::Double => self.decode_as::<f64>(src, dest),
        }
    }
}

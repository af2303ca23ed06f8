//! The distance of two items of different types: numbers of any size and byte order, text and byte
//! strings of any length, and compounds of these.

use blosc_dtype::{ByteOrder, Dtype, Kind, Scalar, numbers::NumberType};

/// The largest distance of numbers that count as equal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// A multiple of the second number.
    pub rtol: f64,
    /// A difference.
    pub atol: f64,
}

/// Two types whose items can be compared.
#[derive(Clone, Debug)]
pub struct Pair {
    pub(super) dtypes: [Dtype; 2],
    how: How,
}

#[derive(Clone, Debug)]
enum How {
    Numbers([NumberType; 2]),
    /// Times in different units: for both, whether they are big-endian, and the length of a unit in
    /// the finer one.
    Times([(bool, i128); 2]),
    /// Complex numbers: of both, the type of a part.
    Complex([NumberType; 2]),
    /// Characters of `width` bytes, whose padding at the end does not count; for both, whether they
    /// are big-endian.
    Text {
        width: usize,
        is_big: [bool; 2],
    },
    /// Opaque bytes; one of the two may be in reverse order.
    Bytes {
        is_reversed: bool,
    },
    /// Fields: their offsets in both types, and their comparison. Padding does not count.
    Fields(Vec<([usize; 2], Pair)>),
    /// Several items, one after the other.
    Items(Box<Pair>),
}

impl Pair {
    /// `None` for types whose items are never equal.
    #[must_use]
    pub fn new(a: &Dtype, b: &Dtype) -> Option<Self> {
        let how = match (a.scalar(), b.scalar(), a.subarray(), b.subarray()) {
            (Some(a), Some(b), ..) => scalars(a, b)?,
            (_, _, Some((a, shape)), Some((b, other))) if shape == other => {
                How::Items(Box::new(Self::new(a, b)?))
            }
            (None, None, None, None) => fields(a, b)?,
            _ => return None,
        };
        Some(Self { dtypes: [a.clone(), b.clone()], how })
    }

    /// The same for items of which both [mark](crate::content::Items::is_marked) nulls: a null
    /// equals nothing but a null.
    #[must_use]
    pub fn marked(a: &Dtype, b: &Dtype) -> Option<Self> {
        let mut pair = Self::new(a, b)?;
        let nmarks = a.fields().len();
        if let How::Fields(fields) = &mut pair.how {
            let marks = Dtype::parse(&format!("|V{nmarks}")).ok()?;
            let places = [a, b].map(|dtype| dtype.itemsize().saturating_sub(nmarks));
            fields.push((places, Self::new(&marks, &marks)?));
        }
        Some(pair)
    }

    /// Whether items with equal bytes are always equal.
    pub(super) fn is_of_one_type(&self) -> bool {
        self.dtypes[0] == self.dtypes[1]
    }

    /// Bytes of an item of each type.
    pub(super) fn sizes(&self) -> [usize; 2] {
        [&self.dtypes[0], &self.dtypes[1]].map(|dtype| dtype.itemsize().max(1))
    }

    /// The distance of two items; `None` if they count as equal, NaN if no number describes it.
    pub(super) fn distance(&self, tolerance: Tolerance, x: &[u8], y: &[u8]) -> Option<f64> {
        match &self.how {
            How::Numbers([a, b]) => {
                let (x, y) = (a.read(x), b.read(y));
                is_far(tolerance, x.distance(y), y.to_f64().abs())
            }
            How::Times(units) => {
                let [x, y] = [(x, units[0]), (y, units[1])].map(|(item, (is_big, size))| {
                    let bytes = item.try_into().unwrap_or_default();
                    let count =
                        if is_big { i64::from_be_bytes(bytes) } else { i64::from_le_bytes(bytes) };
                    // NaT has no position in time.
                    (count != i64::MIN).then(|| i128::from(count).saturating_mul(size))
                });
                match (x, y) {
                    (None, None) => None,
                    #[allow(clippy::cast_precision_loss, reason = "how far, for people")]
                    (Some(x), Some(y)) => {
                        let in_first = |count: i128| count as f64 / units[0].1 as f64;
                        let distance = in_first(x.saturating_sub(y).saturating_abs());
                        is_far(tolerance, distance, in_first(y).abs())
                    }
                    _ => Some(f64::NAN),
                }
            }
            How::Complex([a, b]) => {
                let parts = |number: &NumberType, item: &[u8]| {
                    let (real, imaginary) = item.split_at(item.len() / 2);
                    [number.read(real), number.read(imaginary)]
                };
                let (x, y) = (parts(a, x), parts(b, y));
                let distance = x[0].distance(y[0]).hypot(x[1].distance(y[1]));
                is_far(tolerance, distance, y[0].to_f64().hypot(y[1].to_f64()))
            }
            How::Text { width, is_big } => {
                let [x, y] = [(x, is_big[0]), (y, is_big[1])].map(|(item, is_big)| {
                    let mut text: Vec<u32> =
                        item.chunks(*width).map(|bytes| character(bytes, is_big)).collect();
                    text.truncate(text.iter().rposition(|c| *c != 0).map_or(0, |last| last + 1));
                    text
                });
                (x != y).then_some(f64::NAN)
            }
            How::Bytes { is_reversed: false } => (x != y).then_some(f64::NAN),
            How::Bytes { is_reversed: true } => (!x.iter().eq(y.iter().rev())).then_some(f64::NAN),
            How::Fields(fields) => {
                let distances = fields.iter().filter_map(|([at, other], pair)| {
                    let [len, other_len] = pair.dtypes.each_ref().map(Dtype::itemsize);
                    let x = x.get(*at..*at + len)?;
                    pair.distance(tolerance, x, y.get(*other..*other + other_len)?)
                });
                distances.fold(None, worst)
            }
            How::Items(pair) => {
                let [size, other] = pair.sizes();
                let items = x.chunks_exact(size).zip(y.chunks_exact(other));
                items.filter_map(|(x, y)| pair.distance(tolerance, x, y)).fold(None, worst)
            }
        }
    }
}

fn scalars(a: &Scalar, b: &Scalar) -> Option<How> {
    let number = |scalar: &Scalar| NumberType::new(scalar);
    let is_one_size = a.itemsize() == b.itemsize();
    match (number(a), number(b)) {
        (Some(x), Some(y)) if x.is_time() || y.is_time() => {
            match (a.kind() == b.kind(), a.unit()) {
                (true, unit) if unit == b.unit() => Some(How::Numbers([x, y])),
                // A duration in seconds differs from one in days, but points in time are
                // comparable.
                (true, _) if is_one_size => times(a, b),
                _ => None,
            }
        }
        (Some(x), Some(y)) => Some(How::Numbers([x, y])),
        _ if a.kind() != b.kind() => None,
        _ => match (a.kind(), part_of_complex(a), part_of_complex(b)) {
            (Kind::Complex, Some(x), Some(y)) => Some(How::Complex([x, y])),
            (Kind::Bytes, ..) => Some(How::Text { width: 1, is_big: [false; 2] }),
            (Kind::Unicode, ..) => Some(How::Text { width: 4, is_big: [is_big(a), is_big(b)] }),
            (Kind::Object, ..) if a != b => None,
            _ => is_one_size.then_some(How::Bytes { is_reversed: is_big(a) != is_big(b) }),
        },
    }
}

/// Times in comparable units; months and years have no fixed length.
fn times(a: &Scalar, b: &Scalar) -> Option<How> {
    const UNITS: [(&str, i128); 11] = [
        ("as", 1),
        ("fs", 1_000),
        ("ps", 1_000),
        ("ns", 1_000),
        ("us", 1_000),
        ("ms", 1_000),
        ("s", 1_000),
        ("m", 60),
        ("h", 60),
        ("D", 24),
        ("W", 7),
    ];
    let place = |scalar: &Scalar| UNITS.iter().position(|(unit, _)| scalar.unit() == Some(*unit));
    let (first, second) = (place(a)?, place(b)?);
    let finer = first.min(second);
    let size = |place: usize| UNITS[finer + 1..=place].iter().map(|(_, of)| *of).product();
    Some(How::Times([(is_big(a), size(first)), (is_big(b), size(second))]))
}

fn fields(a: &Dtype, b: &Dtype) -> Option<How> {
    let (left, right) = (a.fields(), b.fields());
    if left.len() != right.len() || left.is_empty() {
        return (a == b).then_some(How::Bytes { is_reversed: false });
    }
    let pairs = left.iter().zip(right).map(|(a, b)| {
        let pair = Pair::new(a.dtype(), b.dtype()).filter(|_| a.name() == b.name());
        Some(([a.offset(), b.offset()], pair?))
    });
    pairs.collect::<Option<_>>().map(How::Fields)
}

/// The type of the parts of a complex number.
fn part_of_complex(scalar: &Scalar) -> Option<NumberType> {
    if scalar.kind() != Kind::Complex {
        return None;
    }
    let order = if is_big(scalar) { '>' } else { '<' };
    let part = Dtype::parse(&format!("{order}f{}", scalar.itemsize() / 2)).ok()?;
    part.scalar().and_then(NumberType::new)
}

fn is_big(scalar: &Scalar) -> bool {
    scalar.order() == ByteOrder::Big
}

fn character(bytes: &[u8], is_big: bool) -> u32 {
    let join = |c: u32, byte: &u8| c << 8 | u32::from(*byte);
    if is_big { bytes.iter().fold(0, join) } else { bytes.iter().rev().fold(0, join) }
}

/// The distance, unless the tolerance allows it at this magnitude.
fn is_far(tolerance: Tolerance, distance: f64, magnitude: f64) -> Option<f64> {
    let allowed = tolerance.rtol.mul_add(magnitude, tolerance.atol);
    // An infinite number is far from all others under any tolerance.
    let is_close = distance == 0.0 || (distance <= allowed && distance.is_finite());
    (!is_close).then_some(distance)
}

/// The larger of two distances; a number beats an undefined distance.
fn worst(worst: Option<f64>, found: f64) -> Option<f64> {
    Some(worst.map_or(found, |worst| if found > worst || worst.is_nan() { found } else { worst }))
}

//! Items of an array in NumPy's format: numbers in columns of one notation, and lines of at most 75
//! characters.
//!
//! Floats have at most eight digits after the point. They have exponents if the largest is 1e8 or
//! more (of 32 bits 1e6, of 16 bits 1000), if the smallest is less than 1e-4, or if their ratio
//! exceeds a thousand: the rules of NumPy 2.4.

use blosc_dtype::{ByteOrder, Dtype, Kind, Scalar};
use half::f16;

use crate::item;

/// Characters of a line.
const LINE_LEN: usize = 75;

/// Digits after the point.
const PRECISION: usize = 8;

/// Number of items at each end of a dimension with an omitted middle.
pub const EDGE: u64 = 3;

/// Items in C order, and the dimensions with omitted items.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The type of the items.
    pub dtype: Dtype,
    /// Items per dimension, without omitted ones.
    pub shape: Vec<u64>,
    /// Whether the middle of each dimension is omitted; [`EDGE`] items precede it.
    pub elided: Vec<bool>,
    /// The items.
    pub bytes: Vec<u8>,
}

impl Part {
    /// The items in nested brackets, on several lines.
    #[must_use]
    pub fn brackets(&self) -> String {
        let items: Vec<&[u8]> = self.bytes.chunks_exact(self.dtype.itemsize().max(1)).collect();
        if self.shape.is_empty() {
            let text = items.first().map(|bytes| item::text(&self.dtype, bytes));
            return text.unwrap_or_default() + "\n";
        }
        let texts = texts(&self.dtype, &items);
        let mut out = Brackets { part: self, texts: texts.iter() }.nest(0, " ", LINE_LEN);
        out.push('\n');
        out
    }
}

/// The texts of items in their order, with the positions of brackets and line breaks.
struct Brackets<'a, I> {
    part: &'a Part,
    texts: I,
}

impl<'a, I: Iterator<Item = &'a String>> Brackets<'a, I> {
    /// The part from dimension `depth` on. Lines after the first begin with `indent`.
    fn nest(&mut self, depth: usize, indent: &str, width: usize) -> String {
        let Some(&len) = self.part.shape.get(depth) else {
            return self.texts.next().cloned().unwrap_or_default();
        };
        let is_elided = self.part.elided.get(depth).copied().unwrap_or(false);
        let dots_before = |i: u64| is_elided && i == EDGE;
        let dimensions_left = self.part.shape.len() - depth;
        let (inner_indent, inner_width) = (format!("{indent} "), width.saturating_sub(1));
        let mut out = String::new();
        if dimensions_left == 1 {
            let mut line = indent.to_owned();
            for i in 0..len {
                if dots_before(i) {
                    extend(&mut out, &mut line, "...", width - 1, indent);
                    line.push(' ');
                }
                let word = self.nest(depth + 1, &inner_indent, inner_width);
                extend(&mut out, &mut line, &word, width.saturating_sub(1), indent);
                if i + 1 < len {
                    line.push(' ');
                }
            }
            out += &line;
        } else {
            let between = "\n".repeat(dimensions_left - 1);
            for i in 0..len {
                if dots_before(i) {
                    out = out + indent + "..." + &between;
                }
                out += indent;
                out += &self.nest(depth + 1, &inner_indent, inner_width);
                if i + 1 < len {
                    out += &between;
                }
            }
        }
        format!("[{}]", out.get(indent.len()..).unwrap_or_default())
    }
}

/// Adds a word to a line, or to the next one if it does not fit.
fn extend(out: &mut String, line: &mut String, word: &str, width: usize, indent: &str) {
    let len = |text: &str| text.chars().count();
    if len(line) + len(word) > width && len(line) > len(indent) {
        out.push_str(line.trim_end());
        out.push('\n');
        indent.clone_into(line);
    }
    line.push_str(word);
}

/// The texts of the items of one array.
fn texts(dtype: &Dtype, items: &[&[u8]]) -> Vec<String> {
    if let Some(scalar) = dtype.scalar() {
        return scalars(dtype, scalar, items);
    }
    if let Some((base, _)) = dtype.subarray() {
        return subarrays(dtype, base, items);
    }
    let mut rows = vec![String::from("("); items.len()];
    for (n, field) in dtype.fields().iter().enumerate() {
        let cells: Vec<&[u8]> = items.iter().map(|item| field.bytes_of(item)).collect();
        for (row, cell) in rows.iter_mut().zip(texts(field.dtype(), &cells)) {
            row.push_str(if n > 0 { ", " } else { "" });
            row.push_str(&cell);
        }
    }
    let end = if dtype.fields().len() == 1 { ",)" } else { ")" };
    rows.iter_mut().for_each(|row| row.push_str(end));
    rows
}

/// Items that are arrays themselves.
fn subarrays(dtype: &Dtype, base: &Dtype, items: &[&[u8]]) -> Vec<String> {
    /// Brackets around the next items of this shape.
    fn nest(shape: &[u64], cells: &mut dyn Iterator<Item = &String>) -> String {
        let Some((len, inner)) = shape.split_first() else {
            return cells.next().cloned().unwrap_or_default();
        };
        let parts: Vec<String> = (0..*len).map(|_| nest(inner, cells)).collect();
        format!("[{}]", parts.join(", "))
    }
    let size = base.itemsize().max(1);
    let cells: Vec<&[u8]> = items.iter().flat_map(|item| item.chunks_exact(size)).collect();
    let cells = texts(base, &cells);
    let shape: Vec<u64> = dtype.subarray().map(|(_, shape)| shape.to_vec()).unwrap_or_default();
    let mut cells = cells.iter();
    items.iter().map(|_| nest(&shape, &mut cells)).collect()
}

fn scalars(dtype: &Dtype, scalar: &Scalar, items: &[&[u8]]) -> Vec<String> {
    let plain = || items.iter().map(|item| item::text(dtype, item));
    match (scalar.kind(), dtype.itemsize()) {
        (Kind::Float, 2 | 4 | 8) => {
            let values: Vec<Float> =
                items.iter().map(|item| Float::of_item(scalar, item)).collect();
            let columns = FloatColumns::new(&values, false);
            values.iter().map(|value| columns.text(value)).collect()
        }
        (Kind::Complex, size @ (8 | 16)) => {
            let half = |range: core::ops::Range<usize>| -> Vec<Float> {
                let part = |item: &&[u8]| {
                    Float::of_item(scalar, item.get(range.clone()).unwrap_or_default())
                };
                items.iter().map(part).collect()
            };
            let (real, imaginary) = (half(0..size / 2), half(size / 2..size));
            let columns = (FloatColumns::new(&real, false), FloatColumns::new(&imaginary, true));
            let text = |(real, imaginary): (&Float, &Float)| {
                let imaginary = columns.1.text(imaginary);
                let digits = imaginary.trim_end();
                let blanks = imaginary.get(digits.len()..).unwrap_or_default();
                format!("{}{digits}j{blanks}", columns.0.text(real))
            };
            real.iter().zip(&imaginary).map(text).collect()
        }
        (Kind::Bool | Kind::Int | Kind::Uint, _) => {
            aligned(plain(), if scalar.kind() == Kind::Bool { 5 } else { 0 })
        }
        (Kind::DateTime, _) => aligned(plain().map(|text| format!("'{text}'")), 0),
        (Kind::TimeDelta, 8) => {
            let count = |item: &&[u8]| {
                let bytes = item.first_chunk().copied().unwrap_or_default();
                match scalar.order() {
                    ByteOrder::Big => i64::from_be_bytes(bytes),
                    _ => i64::from_le_bytes(bytes),
                }
            };
            let text =
                |count: i64| if count == i64::MIN { "'NaT'".to_owned() } else { count.to_string() };
            aligned(items.iter().map(count).map(text), 0)
        }
        _ => plain().collect(),
    }
}

/// Texts, right-aligned to a common width of at least `width`.
fn aligned(texts: impl Iterator<Item = String>, width: usize) -> Vec<String> {
    let texts: Vec<String> = texts.collect();
    let width = texts.iter().map(|text| text.chars().count()).fold(width, usize::max);
    texts.into_iter().map(|text| format!("{text:>width$}")).collect()
}

/// A float of a size.
#[derive(Clone, Copy, Debug)]
enum Float {
    Half(f32),
    Single(f32),
    Double(f64),
}

impl Float {
    fn of_item(scalar: &Scalar, item: &[u8]) -> Self {
        let mut bytes = item.to_vec();
        if scalar.order() == ByteOrder::Big {
            bytes.reverse();
        }
        match *bytes.as_slice() {
            [a, b] => Self::Half(f16::from_le_bytes([a, b]).to_f32()),
            [a, b, c, d] => Self::Single(f32::from_le_bytes([a, b, c, d])),
            _ => Self::Double(f64::from_le_bytes(bytes.first_chunk().copied().unwrap_or_default())),
        }
    }

    fn value(self) -> f64 {
        match self {
            Self::Half(value) | Self::Single(value) => value.into(),
            Self::Double(value) => value,
        }
    }

    /// The limit from which an array has exponents: ten to the number of digits of its type, at
    /// most eight.
    fn max_plain(self) -> f64 {
        match self {
            Self::Half(_) => 1e3,
            Self::Single(_) => 1e6,
            Self::Double(_) => 1e8,
        }
    }

    /// Its ratio to another float, in its own precision.
    fn ratio(self, other: Self) -> f64 {
        match (self, other) {
            (Self::Single(a), Self::Single(b)) => (a.abs() / b.abs()).into(),
            (a, b) => a.value().abs() / b.value().abs(),
        }
    }

    /// The fewest digits that identify this number among those of its size, as `1.25e-5`.
    fn shortest(self) -> String {
        match self {
            Self::Half(value) if value != 0.0 => {
                let value = f64::from(value);
                // Half of the distance to the next number, which is constant below 2^-14.
                let exponent = value.abs().log2().floor().max(-14.0);
                let margin = 2f64.powf(exponent - 11.0);
                // The distance below a power of two is half as large.
                let is_power = exponent > -14.0 && value.abs() == 2f64.powf(exponent);
                // A text in the middle between two numbers denotes the even one.
                let is_even = (value / (2.0 * margin)) % 2.0 == 0.0;
                // If two texts are equally near, only the upper one may be within the margin.
                let upper = value * (1.0 + f64::from(f32::EPSILON));
                let mut texts = (0..5)
                    .flat_map(|digits| [value, upper].map(|value| format!("{value:.digits$e}")));
                let is_near = |text: &String| {
                    text.parse::<f64>().is_ok_and(|near| {
                        let is_below = near.abs() < value.abs();
                        let margin = if is_below && is_power { margin / 2.0 } else { margin };
                        let distance = (near - value).abs();
                        distance < margin || (is_even && distance <= margin)
                    })
                };
                texts.find(is_near).unwrap_or_else(|| format!("{value:e}"))
            }
            Self::Half(value) | Self::Single(value) => {
                let text = format!("{value:e}");
                let even = to_even(&text, &value);
                if even.parse() == Ok(value) { even } else { text }
            }
            Self::Double(value) => {
                let text = format!("{value:e}");
                let even = to_even(&text, &value);
                if even.parse() == Ok(value) { even } else { text }
            }
        }
    }

    /// With at most [`PRECISION`] digits after the point: `-1.25`, `3.`.
    fn positional(self) -> String {
        let text = self.shortest();
        let (digits, exponent) = parts(&text);
        let nfraction = digits.split('.').nth(1).map_or(0, str::len);
        let nfraction = i64::try_from(nfraction).unwrap_or(0).saturating_sub(exponent).max(0);
        let places = usize::try_from(nfraction).unwrap_or(0).min(PRECISION);
        let text = if nfraction > PRECISION as i64 {
            match self {
                Self::Half(value) | Self::Single(value) => format!("{value:.places$}"),
                Self::Double(value) => format!("{value:.places$}"),
            }
        } else {
            shifted(digits, exponent)
        };
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        format!("{whole}.{}", fraction.trim_end_matches('0'))
    }

    /// Digits of the mantissa, at most [`PRECISION`] after the point, and the exponent.
    fn scientific(self) -> (String, i64) {
        let mut text = self.shortest();
        let digits = parts(&text).0.split('.').nth(1).map_or(0, str::len);
        if digits > PRECISION {
            text = match self {
                Self::Half(value) | Self::Single(value) => format!("{value:.PRECISION$e}"),
                Self::Double(value) => format!("{value:.PRECISION$e}"),
            };
        }
        let (mantissa, exponent) = parts(&text);
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        (format!("{whole}.{}", fraction.trim_end_matches('0')), exponent)
    }
}

/// A number with as many digits as `text`, rounded half to even: Rust's shortest text rounds up.
fn to_even(text: &str, value: &impl core::fmt::LowerExp) -> String {
    let digits = parts(text).0.split('.').nth(1).map_or(0, str::len);
    format!("{value:.digits$e}")
}

/// Mantissa and exponent of `1.25e-5`.
fn parts(text: &str) -> (&str, i64) {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    (mantissa, exponent.parse().unwrap_or(0))
}

/// The number of a mantissa such as `-1.25` and an exponent, in positional notation.
fn shifted(mantissa: &str, exponent: i64) -> String {
    let (sign, digits) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let digits = format!("{whole}{fraction}");
    let point = i64::try_from(whole.len()).unwrap_or(0).saturating_add(exponent);
    let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or(0));
    let len = i64::try_from(digits.len()).unwrap_or(0);
    if point <= 0 {
        return format!("{sign}0.{}{digits}", zeros(-point));
    }
    if point >= len {
        return format!("{sign}{digits}{}.", zeros(point - len));
    }
    let (whole, fraction) = digits.split_at(usize::try_from(point).unwrap_or(0));
    format!("{sign}{whole}.{fraction}")
}

/// The notation of the floats of an array, and the width of its parts.
struct FloatColumns {
    has_exponents: bool,
    has_plus: bool,
    /// Characters before the point, and after it.
    left: usize,
    right: usize,
    /// Within `right`: digits of the mantissa, and of the exponent.
    ndigits: usize,
    exponent_len: usize,
}

impl FloatColumns {
    fn new(values: &[Float], has_plus: bool) -> Self {
        let finite = || values.iter().filter(|value| value.value().is_finite());
        let larger = |a: &&Float, b: &&Float| a.value().abs().total_cmp(&b.value().abs());
        let nonzero = || finite().filter(|value| value.value() != 0.0);
        let extremes = nonzero().max_by(larger).zip(nonzero().min_by(larger));
        let has_exponents = extremes.is_some_and(|(max, min)| {
            max.value().abs() >= max.max_plain()
                || min.value().abs() < 1e-4
                || max.ratio(*min) > 1000.0
        });
        let mut columns =
            Self { has_exponents, has_plus, left: 0, right: 0, ndigits: 0, exponent_len: 0 };
        for value in finite() {
            let (mantissa, exponent) = match has_exponents {
                true => value.scientific(),
                false => (value.positional(), 0),
            };
            let (whole, fraction) = mantissa.split_once('.').unwrap_or((&mantissa, ""));
            columns.left = columns.left.max(columns.signed(whole, *value).len());
            columns.ndigits = columns.ndigits.max(fraction.len());
            let len = format!("{:02}", exponent.abs()).len();
            columns.exponent_len = columns.exponent_len.max(len);
        }
        columns.right = match has_exponents {
            true => columns.ndigits + 2 + columns.exponent_len,
            false => columns.ndigits,
        };
        let is_negative = |value: &Float| value.value() == f64::NEG_INFINITY;
        if values.iter().any(|value| !value.value().is_finite()) {
            // Space for an infinity with its sign.
            let longest = if has_plus || values.iter().any(is_negative) { 4_usize } else { 3 };
            columns.left = columns.left.max(longest.saturating_sub(columns.right + 1));
        }
        columns
    }

    /// The digits with a plus if the notation has one.
    fn signed(&self, digits: &str, value: Float) -> String {
        let is_plus = self.has_plus && !digits.starts_with('-') && !value.value().is_nan();
        if is_plus { format!("+{digits}") } else { digits.to_owned() }
    }

    fn text(&self, value: &Float) -> String {
        let width = self.left + self.right + 1;
        let number = value.value();
        if !number.is_finite() {
            let name = item::named(number, String::new());
            let plus = if self.has_plus && !name.starts_with('-') { "+" } else { "" };
            return format!("{:>width$}", format!("{plus}{name}"));
        }
        let left = self.left;
        if self.has_exponents {
            // Digits beyond the shortest text are those of the exact number, instead of zeros.
            let text = match *value {
                Float::Half(value) | Float::Single(value) => format!("{value:.*e}", self.ndigits),
                Float::Double(value) => format!("{value:.*e}", self.ndigits),
            };
            let (mantissa, exponent) = parts(&text);
            let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
            let (len, whole) = (self.exponent_len, self.signed(whole, *value));
            let sign = if exponent < 0 { '-' } else { '+' };
            return format!("{whole:>left$}.{fraction}e{sign}{:0len$}", exponent.abs());
        }
        let text = value.positional();
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let (whole, right) = (self.signed(whole, *value), self.right);
        format!("{whole:>left$}.{fraction:<right$}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(dtype: &str, shape: &[u64], bytes: Vec<u8>) -> String {
        let (dtype, elided) = (dtype.parse().unwrap(), vec![false; shape.len()]);
        Part { dtype, shape: shape.to_vec(), elided, bytes }.brackets()
    }

    #[test]
    fn brackets_are_those_of_numpy() {
        assert_eq!(
            shown("u1", &[2, 2, 3], (5..17).collect()),
            "[[[ 5  6  7]\n  [ 8  9 10]]\n\n [[11 12 13]\n  [14 15 16]]]\n"
        );
        let (dtype, bytes) = ("u1".parse().unwrap(), vec![0, 1, 2, 97, 98, 99]);
        let flat = Part { dtype, shape: vec![6], elided: vec![true], bytes };
        assert_eq!(flat.brackets(), "[ 0  1  2 ... 97 98 99]\n");
        assert_eq!(shown("u1", &[], vec![7]), "7\n");
        assert_eq!(shown("u1", &[0], vec![]), "[]\n");
    }

    fn doubles(values: &[f64]) -> String {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        shown("<f8", &[values.len() as u64], bytes)
    }

    #[test]
    fn floats_stand_in_columns_of_one_notation() {
        assert_eq!(doubles(&[0.0, 1.0 / 7.0, 2.5]), "[0.         0.14285714 2.5       ]\n");
        assert_eq!(doubles(&[1e-5, 1.0, 2.0]), "[1.e-05 1.e+00 2.e+00]\n");
        assert_eq!(doubles(&[1e10, -1.25e100]), "[ 1.00e+010 -1.25e+100]\n");
        assert_eq!(doubles(&[f64::NAN, 1.0, f64::NEG_INFINITY]), "[ nan   1. -inf]\n");
        assert_eq!(doubles(&[f64::NAN]), "[nan]\n");
        assert_eq!(doubles(&[-0.0, 123_456.75]), "[    -0.   123456.75]\n");
        let halves = [0x2e66_u16, 0x3266].iter().flat_map(|half| half.to_le_bytes()).collect();
        assert_eq!(shown("<f2", &[2], halves), "[0.1 0.2]\n");
        // Halfway between two texts of eight digits.
        let single = (-342_832.63_f32).to_le_bytes().to_vec();
        assert_eq!(shown("<f4", &[1], single), "[-342832.62]\n");
    }

    #[test]
    fn complex_numbers_have_a_sign_between_their_parts() {
        let values = [1.0, 2.0, 3.25, -1.0];
        let bytes = values.iter().flat_map(|value: &f64| value.to_le_bytes()).collect();
        assert_eq!(shown("<c16", &[2], bytes), "[1.  +2.j 3.25-1.j]\n");
    }

    #[test]
    fn other_items_are_aligned_or_quoted() {
        assert_eq!(shown("|b1", &[2], vec![1, 0]), "[ True False]\n");
        assert_eq!(shown("|S3", &[2], b"a\0\0bcd".to_vec()), "[b'a' b'bcd']\n");
        let days = [0, i64::MIN].iter().flat_map(|day| day.to_le_bytes()).collect();
        assert_eq!(shown("<M8[D]", &[2], days), "['1970-01-01'        'NaT']\n");
        let spans = [1i64, 100].iter().flat_map(|span| span.to_le_bytes()).collect();
        assert_eq!(shown("<m8[s]", &[2], spans), "[  1 100]\n");
        let rows = [[1, 5, 6], [100, 7, 80]].concat();
        let dtype = "[('x', 'u1'), ('v', 'u1', (2,))]";
        assert_eq!(shown(dtype, &[2], rows), "[(  1, [ 5,  6]) (100, [ 7, 80])]\n");
    }

    #[test]
    fn lines_are_wrapped() {
        let wide = shown("|u1", &[2, 30], vec![100; 60]);
        let longest = wide.lines().map(str::len).max();
        assert_eq!((wide.lines().count(), longest), (4, Some(73)), "{wide}");
        assert!(wide.starts_with("[[100 100") && wide.lines().nth(1).unwrap().starts_with("  100"));
    }
}

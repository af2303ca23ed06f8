//! Numbers as their bits describe them.
//!
//! | class | bits of the class | properties |
//! |---|---|---|
//! | integer, bit field | 0: byte order, 3: sign | bit offset, precision |
//! | float | 0 and 6: byte order, 4 and 5: first bit of the mantissa, 8 to 15: place of the sign | bit offset, precision, place and size of exponent and mantissa, bias |

use super::{Head, Result, TypeError, bytes::Bytes, unsupported};

/// A number of up to 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    /// Size of the stored number (bytes).
    size: usize,
    is_big: bool,
    bits: Bits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bits {
    /// Some bits of the bytes.
    Integer { offset: u32, precision: u32, is_signed: bool },
    /// A float as IEEE 754 has it, of the size of a type of NumPy.
    Ieee,
    /// Seconds and microseconds, each of 4 bytes with a sign, which become a float of seconds.
    Seconds,
    /// A float that one of these holds exactly.
    Float { parts: FloatParts, to: Ieee },
}

/// Where the parts of a float are (bits).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FloatParts {
    sign: u32,
    exponent: (u32, u32),
    mantissa: (u32, u32),
    bias: u32,
}

/// A float of IEEE 754: bits of exponent and mantissa.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ieee {
    nbytes: usize,
    exponent: u32,
    mantissa: u32,
}

const HALF: Ieee = Ieee { nbytes: 2, exponent: 5, mantissa: 10 };
const SINGLE: Ieee = Ieee { nbytes: 4, exponent: 8, mantissa: 23 };
const DOUBLE: Ieee = Ieee { nbytes: 8, exponent: 11, mantissa: 52 };

impl Ieee {
    fn bias(self) -> i64 {
        low_bits(self.exponent.saturating_sub(1)).cast_signed()
    }

    fn parts(self) -> FloatParts {
        FloatParts {
            sign: self.exponent.saturating_add(self.mantissa),
            exponent: (self.mantissa, self.exponent),
            mantissa: (0, self.mantissa),
            bias: u32::try_from(self.bias()).unwrap_or(0),
        }
    }

    /// Whether every number of these parts is one of this type: neither its last bit nor its
    /// largest exponent is out of reach.
    fn holds(self, parts: &FloatParts) -> bool {
        let bias = i64::from(parts.bias);
        let last = |bias: i64, mantissa: u32| {
            1_i64.saturating_sub(bias).saturating_sub(i64::from(mantissa))
        };
        let largest = low_bits(parts.exponent.1).cast_signed().saturating_sub(1);
        parts.mantissa.1 <= self.mantissa
            && last(bias, parts.mantissa.1) >= last(self.bias(), self.mantissa)
            && largest.saturating_sub(bias) <= self.bias()
    }

    /// The bits of `significand * 2^exponent`, which this type holds.
    fn bits_of(self, significand: u64, exponent: i64) -> u64 {
        let top = i64::from(significand.checked_ilog2().unwrap_or(0));
        let biased = top.saturating_add(exponent).saturating_add(self.bias());
        let mantissa = i64::from(self.mantissa);
        let shift = if biased >= 1 {
            mantissa.saturating_sub(top)
        } else {
            exponent.saturating_sub(1_i64.saturating_sub(self.bias()).saturating_sub(mantissa))
        };
        let shifted = significand.wrapping_shl(u32::try_from(shift).unwrap_or(0));
        let high = u64::try_from(biased.max(0)).unwrap_or(0).wrapping_shl(self.mantissa);
        high | (shifted & low_bits(self.mantissa))
    }
}

/// A mask of the lowest `count` bits.
fn low_bits(count: u32) -> u64 {
    u64::MAX.checked_shr(u64::BITS.saturating_sub(count)).unwrap_or(0)
}

fn field(word: u64, (at, count): (u32, u32)) -> u64 {
    word.checked_shr(at).unwrap_or(0) & low_bits(count)
}

impl FloatParts {
    /// The same number as the bits of another type, which holds it.
    fn to(self, ieee: Ieee, word: u64) -> u64 {
        let exponent = field(word, self.exponent);
        let mantissa = field(word, self.mantissa);
        let sign_at = ieee.exponent.saturating_add(ieee.mantissa);
        let sign = field(word, (self.sign, 1)).wrapping_shl(sign_at);
        let scale = i64::from(self.bias).saturating_add(i64::from(self.mantissa.1));
        let scaled = |exponent: u64| exponent.cast_signed().saturating_sub(scale);
        let infinite = low_bits(ieee.exponent).wrapping_shl(ieee.mantissa);
        let quiet = 1_u64.wrapping_shl(ieee.mantissa.saturating_sub(1));
        let value = match (exponent, mantissa) {
            (0, 0) => 0,
            (0, _) => ieee.bits_of(mantissa, scaled(1)),
            (largest, 0) if largest == low_bits(self.exponent.1) => infinite,
            (largest, _) if largest == low_bits(self.exponent.1) => infinite | quiet,
            _ => ieee.bits_of(mantissa | 1_u64.wrapping_shl(self.mantissa.1), scaled(exponent)),
        };
        sign | value
    }

    /// How its users call it.
    fn name(&self) -> String {
        let (exponent, mantissa) = (self.exponent.1, self.mantissa.1);
        match (exponent, mantissa) {
            (15, 112) => "floats of 128 bits (binary128)".to_owned(),
            (15, 63 | 64) => "floats of 80 bits of x87".to_owned(),
            (8, 7) => "floats of the type bfloat16".to_owned(),
            (4, 3) | (5, 2) => format!("floats of 8 bits (float8_e{exponent}m{mantissa})"),
            _ => format!("floats with {exponent} bits of exponent and {mantissa} of mantissa"),
        }
    }
}

/// Bit offset and precision, which lie in the bytes of the number.
fn precision(head: &Head, bytes: &mut Bytes<'_>) -> Result<(u32, u32)> {
    let (offset, precision) = (u32::from(bytes.u16()?), u32::from(bytes.u16()?));
    let nbits = head.size.saturating_mul(8);
    let end = usize::try_from(offset.saturating_add(precision)).unwrap_or(usize::MAX);
    match precision > 0 && end <= nbits {
        true => Ok((offset, precision)),
        false => Err(TypeError::Damaged("bits that the number does not have")),
    }
}

impl Number {
    /// An integer, or a bit field.
    pub(super) fn integer(head: &Head, bytes: &mut Bytes<'_>, is_signed: bool) -> Result<Self> {
        let (offset, precision) = precision(head, bytes)?;
        if head.size > 8 {
            return unsupported(format!("integers of {} bytes", head.size));
        }
        let bits = Bits::Integer { offset, precision, is_signed };
        Ok(Self { size: head.size, is_big: head.bits & 1 != 0, bits })
    }

    /// A time of PyTables.
    pub(super) fn time(head: &Head, bytes: &mut Bytes<'_>) -> Result<Self> {
        let precision = bytes.u16()?;
        let bits = match head.size {
            4 => Bits::Integer { offset: 0, precision: precision.into(), is_signed: true },
            8 => Bits::Seconds,
            size => return unsupported(format!("times of {size} bytes")),
        };
        if usize::from(precision) != head.size.saturating_mul(8) {
            return Err(TypeError::Damaged("bits that the time does not have"));
        }
        Ok(Self { size: head.size, is_big: head.bits & 1 != 0, bits })
    }

    pub(super) fn float(head: &Head, bytes: &mut Bytes<'_>) -> Result<Self> {
        let (offset, precision) = precision(head, bytes)?;
        let [exponent_at, exponent, mantissa_at, mantissa] =
            [bytes.u8()?, bytes.u8()?, bytes.u8()?, bytes.u8()?].map(u32::from);
        let [_, sign, ..] = head.bits.to_le_bytes();
        let parts = FloatParts {
            sign: u32::from(sign),
            exponent: (exponent_at, exponent),
            mantissa: (mantissa_at, mantissa),
            bias: bytes.u32()?,
        };
        let ends = [(parts.sign, 1), parts.exponent, parts.mantissa];
        let end = offset.saturating_add(precision);
        if ends.iter().any(|(at, count)| *count == 0 || at.saturating_add(*count) > end) {
            return Err(TypeError::Damaged("a part of a float that the number does not have"));
        }
        let is_big = match head.bits & 0x41 {
            0 => false,
            1 => true,
            _ => return unsupported("floats in the byte order of VAX"),
        };
        // An implied first bit is what IEEE 754 has.
        let is_implied = (head.bits >> 4) & 3 == 2;
        let bits = match is_implied {
            true => float_bits(head.size, offset, &parts),
            false => None,
        };
        match bits {
            Some(bits) => Ok(Self { size: head.size, is_big, bits }),
            None => unsupported(parts.name()),
        }
    }

    /// Size of the stored number (bytes).
    pub(super) fn stored(&self) -> usize {
        self.size
    }

    /// Size of the number in NumPy (bytes).
    pub(super) fn nbytes(&self) -> usize {
        match self.bits {
            Bits::Integer { .. } => self.size.next_power_of_two(),
            Bits::Ieee | Bits::Seconds => self.size,
            Bits::Float { to, .. } => to.nbytes,
        }
    }

    /// Whether NumPy has the number as it is stored.
    pub(super) fn is_as_stored(&self) -> bool {
        match self.bits {
            Bits::Integer { offset, precision, .. } => {
                offset == 0
                    && self.size.is_power_of_two()
                    && usize::try_from(precision).ok() == self.size.checked_mul(8)
            }
            Bits::Ieee => true,
            Bits::Float { .. } | Bits::Seconds => false,
        }
    }

    /// The code of NumPy. What is converted is in little-endian order.
    pub(super) fn code(&self) -> String {
        let kind = match self.bits {
            Bits::Integer { is_signed: true, .. } => 'i',
            Bits::Integer { .. } => 'u',
            Bits::Ieee | Bits::Seconds | Bits::Float { .. } => 'f',
        };
        let order = match self.nbytes() {
            1 => '|',
            _ if self.is_big && self.is_as_stored() => '>',
            _ => '<',
        };
        format!("{order}{kind}{}", self.nbytes())
    }

    /// Makes the number of NumPy of the one that `stored` begins with.
    pub(super) fn convert(&self, stored: &[u8], item: &mut [u8]) {
        let word = self.word(stored);
        let value = match self.bits {
            Bits::Integer { offset, precision, is_signed } => {
                let unused = u64::BITS.saturating_sub(precision);
                let high = field(word, (offset, precision)).wrapping_shl(unused);
                match is_signed {
                    true => high.cast_signed().wrapping_shr(unused).cast_unsigned(),
                    false => high.wrapping_shr(unused),
                }
            }
            Bits::Float { parts, to } => parts.to(to, word),
            Bits::Seconds => seconds(word).to_bits(),
            Bits::Ieee => word,
        };
        item.iter_mut()
            .zip(value.to_le_bytes())
            .take(self.nbytes())
            .for_each(|(to, from)| *to = from);
    }

    /// The stored bytes as one number.
    fn word(&self, stored: &[u8]) -> u64 {
        let bytes = stored.iter().take(self.size);
        let add = |word: u64, byte: &u8| word.wrapping_shl(8) | u64::from(*byte);
        if self.is_big { bytes.fold(0, add) } else { bytes.rev().fold(0, add) }
    }
}

/// The seconds of a time whose high half is seconds, and whose low half is microseconds.
fn seconds(word: u64) -> f64 {
    let [a, b, c, d, high @ ..] = word.to_le_bytes();
    let (seconds, micros) = (i32::from_le_bytes(high), i32::from_le_bytes([a, b, c, d]));
    1e-6 * f64::from(micros) + f64::from(seconds)
}

/// The type of a float with an implied first bit, if NumPy has one that holds it.
fn float_bits(size: usize, offset: u32, parts: &FloatParts) -> Option<Bits> {
    let is = |ieee: &&Ieee| ieee.nbytes == size && offset == 0 && ieee.parts() == *parts;
    if [HALF, SINGLE, DOUBLE].iter().find(is).is_some() {
        return Some(Bits::Ieee);
    }
    // Floats of 8 bits have no one rule for infinity and NaN.
    if !(2..=8).contains(&size) || parts.exponent.1.saturating_add(parts.mantissa.1) < 8 {
        return None;
    }
    let to = [SINGLE, DOUBLE].into_iter().find(|ieee| ieee.holds(parts))?;
    Some(Bits::Float { parts: *parts, to })
}

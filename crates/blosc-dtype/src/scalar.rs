//! Plain types: byte order, kind and size, as in `<f8`, `|S7`, `<M8[ns]`.

use alloc::string::{String, ToString};

use crate::Error;

/// Order of the bytes of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Least significant byte first (`<`; also no mark, or `=`).
    Little,
    /// Most significant byte first (`>`).
    Big,
    /// The item has no byte order (`|`): single bytes, strings of bytes, raw data.
    NotApplicable,
}

/// The kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// `b1` or `?`: one byte, 0 or 1.
    Bool,
    /// `i`: signed integer of 1, 2, 4 or 8 bytes.
    Int,
    /// `u`: unsigned integer of 1, 2, 4 or 8 bytes.
    Uint,
    /// `f`: IEEE float of 2, 4 or 8 bytes; 10, 12 or 16 bytes in the writing machine's format.
    Float,
    /// `c`: two floats of half the size each.
    Complex,
    /// `S` (or `a`): bytes, padded with zero bytes at the end.
    Bytes,
    /// `U`: text of 4 bytes per character, padded with zero characters at the end.
    Unicode,
    /// `V`: raw data.
    Void,
    /// `M8`: date and time, 8 bytes; the unit is in [`Scalar::unit`].
    DateTime,
    /// `m8`: time span, 8 bytes; the unit is in [`Scalar::unit`].
    TimeDelta,
    /// `O`: a memory address of the writing program, which must never be interpreted.
    Object,
}

/// A plain type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scalar {
    order: ByteOrder,
    kind: Kind,
    itemsize: u32,
    unit: Option<String>,
}

impl Scalar {
    /// A type of `itemsize` bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Size`] if no item of this kind has that size.
    pub fn new(kind: Kind, order: ByteOrder, itemsize: u32) -> Result<Self, Error> {
        let has_order =
            itemsize > 1 && !matches!(kind, Kind::Bytes | Kind::Void | Kind::Object | Kind::Bool);
        let order = match order {
            _ if !has_order && kind != Kind::Unicode => ByteOrder::NotApplicable,
            ByteOrder::NotApplicable => ByteOrder::Little,
            other => other,
        };
        let scalar = Self { order, kind, itemsize, unit: None };
        let allowed = match kind {
            Kind::Bool => itemsize == 1,
            Kind::Int | Kind::Uint => matches!(itemsize, 1 | 2 | 4 | 8),
            Kind::Float => matches!(itemsize, 2 | 4 | 8 | 10 | 12 | 16),
            Kind::Complex => matches!(itemsize, 4 | 8 | 16 | 20 | 24 | 32),
            Kind::Unicode => itemsize.is_multiple_of(4),
            Kind::DateTime | Kind::TimeDelta | Kind::Object => itemsize == 8,
            Kind::Bytes | Kind::Void => true,
        };
        if allowed {
            Ok(scalar)
        } else {
            Err(Error::Size { code: scalar.to_string(), size: itemsize.into() })
        }
    }

    /// Parses a type code such as `<f8`, `|u1`, `?`, `S7` or `<M8[25us]`, or a NumPy name such as
    /// `float64`.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownCode`], [`Error::Size`] or [`Error::TooLarge`].
    pub fn parse(code: &str) -> Result<Self, Error> {
        let unknown = || Error::UnknownCode { code: code.to_string() };
        let plain = named(code).unwrap_or(code);
        let (order, rest) = match plain.as_bytes().first() {
            Some(b'<' | b'=') => (ByteOrder::Little, rest_of(plain)),
            Some(b'>' | b'!') => (ByteOrder::Big, rest_of(plain)),
            Some(b'|') => (ByteOrder::NotApplicable, rest_of(plain)),
            _ => (ByteOrder::Little, plain),
        };
        if rest == "?" {
            return Self::new(Kind::Bool, order, 1);
        }
        let (letter, rest) = rest.split_at_checked(1).ok_or_else(unknown)?;
        let kind = kind_of(letter).ok_or_else(unknown)?;
        let (digits, unit) = split_unit(rest).ok_or_else(unknown)?;
        let time = matches!(kind, Kind::DateTime | Kind::TimeDelta);
        if unit.is_some() && !time {
            return Err(unknown());
        }
        let size = match digits {
            "" => default_size(kind).ok_or_else(unknown)?,
            _ if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                digits.parse().map_err(|_| Error::TooLarge)?
            }
            _ => return Err(unknown()),
        };
        let itemsize =
            if kind == Kind::Unicode { size.checked_mul(4).ok_or(Error::TooLarge)? } else { size };
        if itemsize > u32::MAX / 2 {
            return Err(Error::TooLarge);
        }
        let sized = Self::new(kind, order, itemsize).map_err(|error| match error {
            Error::Size { size, .. } => Error::Size { code: code.to_string(), size },
            other => other,
        })?;
        Ok(Self { unit: unit.map(ToString::to_string), ..sized })
    }

    /// Order of the bytes of an item.
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// The kind of an item.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Size of an item (bytes).
    pub fn itemsize(&self) -> usize {
        self.itemsize as usize
    }

    /// The unit of a date or time span in NumPy's form (`ns`, `25us`, `D`); `None` for other kinds
    /// and for generic units.
    pub fn unit(&self) -> Option<&str> {
        self.unit.as_deref()
    }
}

impl core::fmt::Display for Scalar {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let order = match self.order {
            ByteOrder::Little => '<',
            ByteOrder::Big => '>',
            ByteOrder::NotApplicable => '|',
        };
        let count = if self.kind == Kind::Unicode { self.itemsize / 4 } else { self.itemsize };
        let letter = letter_of(self.kind);
        match (self.kind, &self.unit) {
            (Kind::Object, _) => write!(f, "{order}{letter}"),
            (_, Some(unit)) => write!(f, "{order}{letter}{count}[{unit}]"),
            _ => write!(f, "{order}{letter}{count}"),
        }
    }
}

/// The code after its byte order.
fn rest_of(code: &str) -> &str {
    code.get(1..).unwrap_or_default()
}

/// Splits `8[ns]` into its digits and its unit; `None` if the brackets do not match.
fn split_unit(text: &str) -> Option<(&str, Option<&str>)> {
    let Some((digits, unit)) = text.split_once('[') else { return Some((text, None)) };
    let unit = unit.strip_suffix(']')?;
    let counted = unit.trim_start_matches(|c: char| c.is_ascii_digit());
    UNITS.contains(&counted).then_some((digits, Some(unit)))
}

fn kind_of(letter: &str) -> Option<Kind> {
    KINDS.iter().find(|(known, _)| *known == letter).map(|(_, kind)| *kind)
}

fn letter_of(kind: Kind) -> &'static str {
    KINDS.iter().find(|(_, known)| *known == kind).map_or("V", |(letter, _)| letter)
}

/// The size of a code without digits (bytes, or characters for `U`).
fn default_size(kind: Kind) -> Option<u32> {
    match kind {
        Kind::Object | Kind::DateTime | Kind::TimeDelta => Some(8),
        Kind::Bytes | Kind::Unicode | Kind::Void => Some(0),
        _ => None,
    }
}

fn named(name: &str) -> Option<&str> {
    if let Some(unit) = name.strip_prefix("datetime64") {
        return NAMED_TIMES.iter().find(|(u, _, _)| *u == unit).map(|(_, code, _)| *code);
    }
    if let Some(unit) = name.strip_prefix("timedelta64") {
        return NAMED_TIMES.iter().find(|(u, _, _)| *u == unit).map(|(_, _, code)| *code);
    }
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, code)| *code)
}

/// The first letter of each kind is the one that is written.
const KINDS: [(&str, Kind); 12] = [
    ("b", Kind::Bool),
    ("i", Kind::Int),
    ("u", Kind::Uint),
    ("f", Kind::Float),
    ("c", Kind::Complex),
    ("S", Kind::Bytes),
    ("a", Kind::Bytes),
    ("U", Kind::Unicode),
    ("V", Kind::Void),
    ("M", Kind::DateTime),
    ("m", Kind::TimeDelta),
    ("O", Kind::Object),
];

const UNITS: [&str; 14] =
    ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "generic"];

const NAMES: [(&str, &str); 17] = [
    ("bool", "|b1"),
    ("int8", "|i1"),
    ("int16", "<i2"),
    ("int32", "<i4"),
    ("int64", "<i8"),
    ("uint8", "|u1"),
    ("uint16", "<u2"),
    ("uint32", "<u4"),
    ("uint64", "<u8"),
    ("float16", "<f2"),
    ("float32", "<f4"),
    ("float64", "<f8"),
    ("float128", "<f16"),
    ("complex64", "<c8"),
    ("complex128", "<c16"),
    ("complex256", "<c32"),
    ("object", "|O"),
];

const NAMED_TIMES: [(&str, &str, &str); 14] = [
    ("", "<M8", "<m8"),
    ("[Y]", "<M8[Y]", "<m8[Y]"),
    ("[M]", "<M8[M]", "<m8[M]"),
    ("[W]", "<M8[W]", "<m8[W]"),
    ("[D]", "<M8[D]", "<m8[D]"),
    ("[h]", "<M8[h]", "<m8[h]"),
    ("[m]", "<M8[m]", "<m8[m]"),
    ("[s]", "<M8[s]", "<m8[s]"),
    ("[ms]", "<M8[ms]", "<m8[ms]"),
    ("[us]", "<M8[us]", "<m8[us]"),
    ("[ns]", "<M8[ns]", "<m8[ns]"),
    ("[ps]", "<M8[ps]", "<m8[ps]"),
    ("[fs]", "<M8[fs]", "<m8[fs]"),
    ("[as]", "<M8[as]", "<m8[as]"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_give_kind_order_and_size() {
        for (code, kind, order, itemsize) in [
            ("<i4", Kind::Int, ByteOrder::Little, 4),
            (">f8", Kind::Float, ByteOrder::Big, 8),
            ("|u1", Kind::Uint, ByteOrder::NotApplicable, 1),
            ("?", Kind::Bool, ByteOrder::NotApplicable, 1),
            ("|b1", Kind::Bool, ByteOrder::NotApplicable, 1),
            ("S7", Kind::Bytes, ByteOrder::NotApplicable, 7),
            ("<U5", Kind::Unicode, ByteOrder::Little, 20),
            ("V5", Kind::Void, ByteOrder::NotApplicable, 5),
            ("|O", Kind::Object, ByteOrder::NotApplicable, 8),
            ("<c16", Kind::Complex, ByteOrder::Little, 16),
            ("f2", Kind::Float, ByteOrder::Little, 2),
            ("float32", Kind::Float, ByteOrder::Little, 4),
            ("datetime64[ns]", Kind::DateTime, ByteOrder::Little, 8),
        ] {
            let scalar = Scalar::parse(code).unwrap();
            assert_eq!(
                (scalar.kind(), scalar.order(), scalar.itemsize()),
                (kind, order, itemsize),
                "{code}"
            );
        }
    }

    #[test]
    fn codes_print_as_numpy_prints_them() {
        for (code, printed) in [
            ("i4", "<i4"),
            ("u1", "|u1"),
            ("?", "|b1"),
            ("S3", "|S3"),
            ("U2", "<U2"),
            ("M8[25us]", "<M8[25us]"),
            ("M8", "<M8"),
            ("O", "|O"),
            (">m8[D]", ">m8[D]"),
        ] {
            let found = Scalar::parse(code).unwrap().to_string();
            assert_eq!(found, printed, "{code}");
        }
    }

    #[test]
    fn wrong_codes_are_named() {
        assert_eq!(Scalar::parse("<q9"), Err(Error::UnknownCode { code: "<q9".to_string() }));
        assert_eq!(Scalar::parse(""), Err(Error::UnknownCode { code: String::new() }));
        assert_eq!(Scalar::parse("<i3"), Err(Error::Size { code: "<i3".to_string(), size: 3 }));
        assert_eq!(Scalar::parse("i"), Err(Error::UnknownCode { code: "i".to_string() }));
        assert_eq!(Scalar::parse("S4294967296"), Err(Error::TooLarge));
        assert_eq!(Scalar::parse("U2147483648"), Err(Error::TooLarge));
        assert_eq!(
            Scalar::parse("<M8[parsec]"),
            Err(Error::UnknownCode { code: "<M8[parsec]".to_string() })
        );
        assert_eq!(
            Scalar::parse("<i4[ns]"),
            Err(Error::UnknownCode { code: "<i4[ns]".to_string() })
        );
    }
}

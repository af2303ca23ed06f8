//! The dtype text: NumPy's `str(dtype)`, with names for types in the byte order of the writing
//! machine.

use blosc_dtype::{ByteOrder, Dtype, Kind};

use crate::error::{Corrupt, Error, Field, Result};

/// The type that a text of `meta/storage` stands for.
pub(crate) fn parse(text: &str, path: &str) -> Result<Dtype> {
    let dtype = Dtype::parse(&short_time(text))
        .map_err(|source| Error::Dtype { path: path.to_owned(), source })?;
    if dtype.itemsize() == 0 {
        let (value, max) = (0, i32::MAX.into());
        return Err(Error::corrupt(
            path,
            Corrupt::Range { field: Field::ItemSize, value, min: 1, max },
        ));
    }
    let count = fields(&dtype);
    if count > MAX_FIELDS {
        return Err(Error::corrupt(path, Corrupt::Fields { count, limit: MAX_FIELDS }));
    }
    Ok(dtype)
}

/// The text that NumPy prints on a little-endian machine.
pub(crate) fn print(dtype: &Dtype) -> String {
    let Some(scalar) = dtype.scalar() else { return dtype.to_string() };
    let bits = scalar.itemsize().saturating_mul(8);
    let unit = || scalar.unit().map(|unit| format!("[{unit}]")).unwrap_or_default();
    match (scalar.kind(), scalar.order()) {
        (_, ByteOrder::Big) => scalar.to_string(),
        (Kind::Bool, _) => "bool".to_owned(),
        (Kind::Int, _) => format!("int{bits}"),
        (Kind::Uint, _) => format!("uint{bits}"),
        (Kind::Float, _) => format!("float{bits}"),
        (Kind::Complex, _) => format!("complex{bits}"),
        (Kind::DateTime, _) => format!("datetime64{}", unit()),
        (Kind::TimeDelta, _) => format!("timedelta64{}", unit()),
        (Kind::Object, _) => "object".to_owned(),
        _ => scalar.to_string(),
    }
}

/// The typesize that bcolz passes to Blosc.
pub(crate) fn typesize(dtype: &Dtype) -> usize {
    match dtype.kind() {
        Some(Kind::Bytes | Kind::Object) => 1,
        Some(Kind::Unicode) => 4,
        // A chunk header holds at most 255.
        _ if dtype.itemsize() > 255 => 1,
        _ => dtype.itemsize(),
    }
}

/// `datetime64[25s]` as `<M8[25s]`: any unit with any multiple.
fn short_time(text: &str) -> String {
    let text = text.trim();
    let short = |name, code| text.strip_prefix(name).map(|unit: &str| format!("{code}{unit}"));
    short("datetime64", "<M8")
        .or_else(|| short("timedelta64", "<m8"))
        .unwrap_or_else(|| text.to_owned())
}

/// Fields, including the fields of nested types.
fn fields(dtype: &Dtype) -> usize {
    let inner = dtype.subarray().map_or(0, |(base, _)| fields(base));
    let each = dtype.fields().iter().map(|field| fields(field.dtype()).saturating_add(1));
    each.fold(inner, usize::saturating_add)
}

const MAX_FIELDS: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_as_numpy_prints_them() {
        for text in [
            "bool",
            "int8",
            "int64",
            "uint16",
            "float16",
            "float64",
            "complex128",
            ">i4",
            ">f8",
            ">M8[D]",
            "<U4",
            ">U4",
            "|S5",
            "|V7",
            "datetime64[ns]",
            "datetime64[25s]",
            "datetime64",
            "timedelta64[Y]",
            "object",
            "[('a', '<i4'), ('b', '<f8', (2,)), ('c', '<U3')]",
        ] {
            assert_eq!(print(&parse(text, "").unwrap()), text);
        }
        assert_eq!(print(&parse("<i4", "").unwrap()), "int32");
        assert_eq!(print(&parse("S5", "").unwrap()), "|S5");
    }

    #[test]
    fn items_without_bytes_and_masses_of_fields_are_refused() {
        for text in ["|S0", "[]", "V"] {
            assert!(
                matches!(parse(text, "p"), Err(Error::Corrupt { what: Corrupt::Range { .. }, .. })),
                "{text}"
            );
        }
        let fields: Vec<String> = (0..5000).map(|i| format!("('{i}','u1')")).collect();
        let result = parse(&format!("[{}]", fields.join(",")), "p");
        // Longer names exceed the limit of the text first.
        assert!(matches!(
            result,
            Err(Error::Corrupt { what: Corrupt::Fields { .. }, .. } | Error::Dtype { .. })
        ));
    }

    #[test]
    fn typesizes_are_those_of_bcolz() {
        for (text, expected) in
            [("|S300", 1), ("<U100", 4), ("|V300", 1), ("|V7", 7), ("float64", 8), ("object", 1)]
        {
            assert_eq!(typesize(&parse(text, "").unwrap()), expected, "{text}");
        }
    }
}

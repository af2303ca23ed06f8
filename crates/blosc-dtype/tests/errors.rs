//! One test for each fault of a dtype text or a `.npy` header.

use blosc_dtype::npy::{MAGIC, NpyError, NpyHeader, START_NBYTES, header_len};
use blosc_dtype::{Dtype, Error};

const MAX_DEPTH: usize = Dtype::MAX_DEPTH;
const MAX_TEXT_NBYTES: usize = Dtype::MAX_TEXT_NBYTES;

fn dtype_error(text: &str) -> Error {
    Dtype::parse(text).unwrap_err()
}

#[test]
fn text_over_the_limit_is_refused() {
    let text = format!("['{}']", " ".repeat(MAX_TEXT_NBYTES));
    let (len, limit) = (MAX_TEXT_NBYTES + 4, 1_048_576);
    assert_eq!(dtype_error(&text), Error::TextTooLong { len, limit });
}

#[test]
fn nesting_over_the_limit_is_refused_at_its_bracket() {
    let text = format!("{}'<i4'{}", "[('a', ".repeat(MAX_DEPTH), ")]".repeat(MAX_DEPTH));
    assert_eq!(dtype_error(&text), Error::TooDeep { at: 16 * 7, limit: MAX_DEPTH });
    assert_eq!(dtype_error(&"(".repeat(1000)), Error::TooDeep { at: 32, limit: MAX_DEPTH });
}

#[test]
fn text_that_is_no_literal_is_refused_at_the_byte() {
    for (text, at, expected) in [
        ("[('a', '<i4'", 12, "',' or a closing bracket"),
        ("[('a' '<i4')]", 6, "',' or a closing bracket"),
        ("{'names' ['a']}", 9, "':'"),
        ("{'names': ['a'] 'formats'}", 16, "',' or '}'"),
        ("[('a', eval)]", 7, "a value"),
        ("['a", 3, "a closing quote"),
        (r"['\N{DASH}']", 3, "an escape"),
        (r"['\ud800']", 4, "hexadecimal digits of a character"),
        ("('<i4', 9223372036854775808)", 8, "a 64-bit integer"),
        ("('<i4', 2) + 1", 11, "the end of the text"),
    ] {
        assert_eq!(dtype_error(text), Error::Syntax { at, expected }, "{text}");
    }
}

#[test]
fn literal_of_another_form_is_refused() {
    for text in ["('<i4',)", "[3]", "[('a', '<i4', 2, 2)]", "{'names': ['a']}", "('<i4', -1)"] {
        assert!(matches!(dtype_error(text), Error::Form { .. }), "{text}");
    }
}

#[test]
fn unknown_type_code_is_refused_by_its_text() {
    for code in ["<q8", "x", "<i4x", "<", "int7", "<M8[parsec]", "<f8[ns]", "<i-4", "ä4"] {
        assert_eq!(dtype_error(code), Error::UnknownCode { code: code.into() });
    }
}

#[test]
fn size_that_a_kind_does_not_have_is_refused() {
    for (code, size) in [("<i3", 3), ("<f5", 5), ("<c7", 7), ("<M4", 4), ("|O4", 4), ("b2", 2)] {
        assert_eq!(dtype_error(code), Error::Size { code: code.into(), size }, "{code}");
    }
}

#[test]
fn field_outside_of_its_item_is_refused() {
    let text = "{'names': ['a'], 'formats': ['<i4'], 'offsets': [5], 'itemsize': 8}";
    let name = "a".to_string();
    assert_eq!(dtype_error(text), Error::FieldOutside { name, end: 9, itemsize: 8 });
}

#[test]
fn field_name_that_occurs_twice_is_refused() {
    let name = "a".to_string();
    let text = "[('a', '<i4'), ('b', '<i4'), ('a', '<i8')]";
    assert_eq!(dtype_error(text), Error::DuplicateField { name });
}

#[test]
fn lists_of_different_lengths_are_refused() {
    let text = "{'names': ['a', 'b'], 'formats': ['<i4'], 'offsets': [0, 4, 8]}";
    assert_eq!(dtype_error(text), Error::FieldCounts { names: 2, formats: 1, offsets: 3 });
}

#[test]
fn item_of_2_gib_is_refused() {
    for text in [
        "S2147483648",
        "U536870912",
        "('<i8', (1024, 1024, 256))",
        "('S0', (65536, 65536, 65536, 65536))",
    ] {
        assert_eq!(dtype_error(text), Error::TooLarge, "{text}");
    }
    assert_eq!(Dtype::parse("S2147483647").unwrap().itemsize(), 2_147_483_647);
}

/// A file of version `major` whose header has this text.
fn npy(major: u8, text: &[u8]) -> Vec<u8> {
    let len = u32::try_from(text.len()).unwrap().to_le_bytes();
    let len = if major == 1 { &len[..2] } else { &len[..] };
    [&MAGIC[..], &[major, 0], len, text].concat()
}

fn npy_error(bytes: &[u8]) -> NpyError {
    NpyHeader::parse(bytes).unwrap_err()
}

#[test]
fn npy_other_magic_is_refused() {
    for start in [&b""[..], b"\x93NUMP", b"\x93NUMPX\x01\0\x02\0{}", b"PK\x03\x04"] {
        assert_eq!(npy_error(start), NpyError::NotNpy);
        assert_eq!(header_len(start), Err(NpyError::NotNpy));
    }
}

#[test]
fn npy_other_version_is_refused() {
    for (major, minor) in [(0, 0), (4, 0), (1, 1), (3, 9)] {
        let bytes = [&MAGIC[..], &[major, minor], b"\x02\0\0\0{}"].concat();
        assert_eq!(npy_error(&bytes), NpyError::Version { major, minor });
    }
}

#[test]
fn npy_truncated_header_is_refused_at_every_length() {
    let whole = NpyHeader::new("<f8".parse().unwrap(), vec![3]).to_bytes().unwrap();
    assert_eq!(header_len(&whole[..START_NBYTES]), Ok(128));
    for found in MAGIC.len()..whole.len() {
        let needed = if found < START_NBYTES { START_NBYTES } else { 128 };
        assert_eq!(npy_error(&whole[..found]), NpyError::Truncated { needed, found });
    }
}

#[test]
fn npy_text_over_the_limit_is_refused_before_it_is_read() {
    let start = [&MAGIC[..], b"\x02\0\x01\0\x10\0"].concat();
    let (len, limit) = (1_048_577, MAX_TEXT_NBYTES);
    assert_eq!(npy_error(&start), NpyError::TooLong { len, limit });
    assert_eq!(header_len(&start), Err(NpyError::TooLong { len, limit }));
}

#[test]
fn npy_text_of_version_3_must_be_utf8() {
    let text = b"{'descr': [('\xe4', '<f8')], 'fortran_order': False, 'shape': (3,), }";
    assert_eq!(npy_error(&npy(3, text)), NpyError::NotUtf8 { at: 25 });
    let header = NpyHeader::parse(&npy(1, text)).unwrap();
    assert_eq!(header.dtype.fields()[0].name(), "ä");
}

#[test]
fn npy_other_keys_are_refused() {
    for text in [
        "{}",
        "{'descr': '<f8', 'shape': (1,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'x': 1, }",
        "{'descr': '<f8', 'fortran_order': False, 'descr': '<f8', }",
        "{'Descr': '<f8', 'fortran_order': False, 'shape': (1,), }",
    ] {
        assert_eq!(npy_error(&npy(1, text.as_bytes())), NpyError::Keys, "{text}");
    }
}

#[test]
fn npy_order_must_be_a_bool() {
    for order in ["0", "'False'", "None"] {
        let text = format!("{{'descr': '<f8', 'fortran_order': {order}, 'shape': (1,), }}");
        let expected = NpyError::Value { key: "fortran_order", expected: "True or False" };
        assert_eq!(npy_error(&npy(1, text.as_bytes())), expected);
    }
}

#[test]
fn npy_shape_must_be_a_tuple_of_lengths() {
    for shape in ["1", "(1)", "[1]", "(-1,)", "('1',)", "(True,)"] {
        let text = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
        let expected = NpyError::Value { key: "shape", expected: "a tuple of lengths" };
        assert_eq!(npy_error(&npy(1, text.as_bytes())), expected, "{shape}");
    }
}

#[test]
fn npy_text_that_is_no_dict_or_no_type_is_refused() {
    for (text, error) in [
        ("[]", Error::Syntax { at: 0, expected: "a dict" }),
        ("  ", Error::Syntax { at: 2, expected: "a dict" }),
        (
            "{'descr': eval('1'), 'fortran_order': False, 'shape': (1,)}",
            Error::Syntax { at: 10, expected: "a value" },
        ),
        (
            "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} x",
            Error::Syntax { at: 56, expected: "the end of the text" },
        ),
        (
            "{'descr': '<q8', 'fortran_order': False, 'shape': (1,)}",
            Error::UnknownCode { code: "<q8".into() },
        ),
    ] {
        assert_eq!(npy_error(&npy(1, text.as_bytes())), NpyError::Dtype(error), "{text}");
    }
}

#[test]
fn npy_objects_are_refused() {
    for descr in ["'|O'", "[('a', '<i4'), ('b', '|O', (2,))]"] {
        let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (1,), }}");
        assert_eq!(npy_error(&npy(1, text.as_bytes())), NpyError::Objects);
    }
}

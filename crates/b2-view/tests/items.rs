//! Items of every type as text, and untrusted texts.

use b2_view::{item, text};

#[test]
fn numbers_of_every_width_and_order_are_what_numpy_says() {
    for (dtype, bytes, expected) in [
        ("|i1", &[0x80][..], "-128"),
        ("|u1", &[0x80], "128"),
        ("<i2", &[0, 1], "256"),
        (">i2", &[0, 1], "1"),
        ("<i4", &[0xff, 0xff, 0xff, 0xff], "-1"),
        (">u4", &[0, 0, 1, 0], "256"),
        ("<i8", &i64::MIN.to_le_bytes(), "-9223372036854775808"),
        ("<f2", &[0x00, 0x3c], "1.0"),
        (">f4", &1.5f32.to_be_bytes(), "1.5"),
        ("<f8", &f64::INFINITY.to_le_bytes(), "inf"),
        ("<f8", &1e300f64.to_le_bytes(), "1e300"),
        ("<c8", &[0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0], "1.0-2.0j"),
        ("<M8[s]", &0i64.to_le_bytes(), "1970-01-01T00:00:00"),
        ("<M8[D]", &i64::MIN.to_le_bytes(), "NaT"),
        ("<m8[ms]", &7i64.to_le_bytes(), "7 ms"),
        ("|b1", &[0], "False"),
    ] {
        assert_eq!(item::text(&dtype.parse().unwrap(), bytes), expected, "{dtype}");
    }
}

#[test]
fn strings_in_no_encoding_are_escaped() {
    let dtype = "|S2".parse().unwrap();
    assert_eq!(item::cell(&dtype, &[0xff, b'a']), r"\xffa");
    assert_eq!(item::text(&dtype, &[0xff, b'a']), r"b'\xffa'");
    assert_eq!(item::cell(&dtype, b"\x1b["), "\u{1b}[");
    assert_eq!(text::harmless(&item::cell(&dtype, b"\x1b[")), r"\u{1b}[");
}

#[test]
fn floats_that_are_no_numbers_have_names() {
    assert_eq!(item::named(f64::NAN, "x".to_owned()), "nan");
    assert_eq!(item::named(f64::NEG_INFINITY, "x".to_owned()), "-inf");
    assert_eq!(item::named(1.0, "x".to_owned()), "x");
}

//! Descriptions of number types, byte by byte.

use super::*;

/// A description: class and version, bits of the class, size, properties.
fn message(class: u8, bits: u32, size: u32, properties: &[u8]) -> Vec<u8> {
    let [a, b, c, _] = bits.to_le_bytes();
    [&[class, a, b, c][..], &size.to_le_bytes(), properties].concat()
}

fn integer(bits: u32, size: u32, offset: u8, precision: u8) -> Vec<u8> {
    message(0x10, bits, size, &[offset, 0, precision, 0])
}

/// Precision, place of the sign, place and size of exponent and mantissa, bias.
fn float(bits: u32, size: u32, precision: u8, sign: u8, parts: [u8; 4], bias: u32) -> Vec<u8> {
    let properties = [&[0, 0, precision, 0][..], &parts, &bias.to_le_bytes()].concat();
    message(0x11, bits | u32::from(sign) << 8, size, &properties)
}

const IMPLIED: u32 = 0x20;

fn half() -> Vec<u8> {
    float(IMPLIED, 2, 16, 15, [10, 5, 0, 10], 15)
}

fn bfloat16() -> Vec<u8> {
    float(IMPLIED, 2, 16, 15, [7, 8, 0, 7], 127)
}

fn field(name: &[u8], at: u8, item: &[u8]) -> Vec<u8> {
    [name, &[0, at], item].concat()
}

fn parsed(message: &[u8]) -> String {
    ItemType::parse(message).map_or_else(
        |error| error.to_string(),
        |item| format!("{}{}", item.numpy(), item.stored_nbytes()),
    )
}

#[test]
fn descriptions_are_types_of_numpy_or_refused_by_name() {
    let pair = [field(b"r", 0, &half()), field(b"i", 2, &half())].concat();
    let single = float(IMPLIED, 4, 32, 31, [23, 8, 0, 23], 127);
    let complex = [field(b"r", 0, &single), field(b"i", 4, &single)].concat();
    let record = [field(b"a'b", 0, &integer(8, 2, 0, 12)), field(b"c", 2, &integer(0, 1, 0, 8))];
    let boolean = |values: &[u8]| [&integer(8, 1, 0, 8)[..], b"FALSE\0TRUE\0", values].concat();
    let array = |base: &[u8]| [&[1, 2, 0, 0, 0][..], base].concat();
    for (message, expected) in [
        (integer(8, 4, 0, 32), "<i44"),
        (integer(9, 2, 0, 16), ">i22"),
        (integer(1, 1, 0, 8), "|u11"),
        (integer(9, 2, 4, 12), "<i22"),
        (integer(0, 3, 0, 24), "<u43"),
        (integer(0, 16, 0, 128), "integers of 16 bytes, which have no counterpart"),
        (integer(0, 2, 8, 12), "a damaged datatype message: bits that the number does not have"),
        (integer(0, 2, 0, 0), "a damaged datatype message: bits that the number does not have"),
        (half(), "<f22"),
        (bfloat16(), "<f42"),
        (float(IMPLIED | 1, 2, 16, 15, [10, 5, 0, 10], 15), ">f22"),
        (
            float(IMPLIED | 0x41, 2, 16, 15, [10, 5, 0, 10], 15),
            "floats in the byte order of VAX, which have no counterpart",
        ),
        (
            float(0, 2, 16, 15, [10, 5, 0, 10], 15),
            "floats with 5 bits of exponent and 10 of mantissa, which have no counterpart",
        ),
        (
            float(IMPLIED, 1, 8, 7, [3, 4, 0, 3], 7),
            "floats of 8 bits (float8_e4m3), which have no counterpart",
        ),
        (
            float(IMPLIED, 2, 16, 16, [10, 5, 0, 10], 15),
            "a damaged datatype message: a part of a float that the number does not have",
        ),
        (message(0x14, 0, 1, &[0, 0, 8, 0]), "|u11"),
        (message(0x13, 0, 5, &[]), "|S55"),
        (message(0x15, 16, 8, b"NUMPY:<M8[us]\0\0\0"), "<M8[us]8"),
        (message(0x15, 8, 8, b"picture\0"), "|V88"),
        (message(0x36, 2, 8, &complex), "<c88"),
        (
            message(0x36, 2, 4, &pair),
            "{'names': ['r', 'i'], 'formats': ['<f2', '<f2'], 'offsets': [0, 2], 'itemsize': 4}4",
        ),
        (
            message(0x36, 2, 3, &record.concat()),
            "{'names': ['a\\'b', 'c'], 'formats': ['<i2', '|u1'], 'offsets': [0, 2], 'itemsize': 3}3",
        ),
        (
            message(0x36, 2, 2, &record.concat()),
            "a damaged datatype message: a field ends after its record",
        ),
        (
            message(0x36, 1, 2, &field(b"x", 0, &bfloat16())),
            "field `x` of a record: numbers that become <f4, which have no counterpart",
        ),
        (
            message(0x36, 1, 8, &field(b"x", 0, &message(0x17, 0, 8, &[]))),
            "records with a field `x` of references, which have no counterpart",
        ),
        (message(0x38, 2, 1, &boolean(&[0, 1])), "|b11"),
        (message(0x38, 2, 1, &boolean(&[1, 0])), "|i11"),
        (message(0x38, 2, 1, &boolean(&[0])), "a damaged datatype message: it ends too early"),
        (message(0x3a, 0, 4, &array(&half())), "items that are arrays, which have no counterpart"),
        (
            message(0x3a, 0, 5, &array(&half())),
            "a damaged datatype message: an array and its items have two sizes",
        ),
        (message(0x12, 0, 4, &[32, 0]), "times of HDF5 (H5T_TIME), which have no counterpart"),
        (
            message(0x19, 1, 16, &integer(0, 1, 0, 8)),
            "items of variable length, which have no counterpart",
        ),
        (
            message(0x5b, 0, 8, &single),
            "complex numbers of HDF5 2.0 (class 11), which have no counterpart",
        ),
        (message(0x1c, 0, 8, &[]), "items of the class 12, which have no counterpart"),
        (vec![0x10], "a damaged datatype message: it ends too early"),
    ] {
        assert_eq!(parsed(&message), expected, "{message:02x?}");
    }
    let nested = (0..40).fold(integer(0, 1, 0, 8), |base, _| {
        message(0x3a, 0, 1, &[&[1, 1, 0, 0, 0][..], &base].concat())
    });
    assert!(parsed(&nested).contains("within too many types"));
}

#[test]
fn names_and_offsets_are_padded_before_version_3() {
    let flags = integer(8, 4, 0, 32);
    let first = [&b"x\0\0\0\0\0\0\0"[..], &[0; 32], &flags].concat();
    let second = [&b"longname\0\0\0\0\0\0\0\0"[..], &[4, 0, 0, 0], &[0; 28], &flags].concat();
    let old = message(0x16, 2, 8, &[first, second].concat());
    let expected = "{'names': ['x', 'longname'], 'formats': ['<i4', '<i4'], 'offsets': [0, 4], 'itemsize': 8}8";
    assert_eq!(parsed(&old), expected);
}

fn converted(message: &[u8], stored: &[u8]) -> Vec<u8> {
    let item = ItemType::parse(message).unwrap();
    let count = stored.len() / item.stored_nbytes();
    let mut items = vec![0xee; count * item.nbytes()];
    item.convert(stored, &mut items);
    items
}

#[test]
fn numbers_of_a_record_are_converted_where_they_are() {
    let fields = [
        field(b"a", 0, &integer(9, 2, 0, 12)),
        field(
            b"b",
            3,
            &message(0x3a, 0, 4, &[&[1, 2, 0, 0, 0][..], &integer(0, 2, 4, 12)].concat()),
        ),
    ];
    let record = message(0x36, 2, 8, &fields.concat());
    let stored = [0xaf, 0xfe, 7, 0x1f, 0, 0xff, 0xff, 9, 0x00, 0x02, 6, 0x20, 0, 0, 0, 5];
    let items = [0xfe, 0xff, 7, 1, 0, 0xff, 0x0f, 9, 0x02, 0x00, 6, 2, 0, 0, 0, 5];
    assert_eq!(converted(&record, &stored), items);
}

#[test]
fn times_of_pytables_are_seconds() {
    let times = |size: u32, precision: u8| message(0x12, 0, size, &[precision, 0]);
    let item = |message: &[u8]| ItemType::parse_of_pytables(message);
    assert_eq!(item(&times(4, 32)).unwrap().numpy(), "<i4");
    let double = item(&times(8, 64)).unwrap();
    assert_eq!(double.numpy(), "<f8");
    for (seconds, micros, expected) in [(1, 500_000, 1.5), (-3, -750_000, -3.75), (0, 0, 0.0)] {
        let stored = [i32::to_le_bytes(micros), i32::to_le_bytes(seconds)].concat();
        let mut found = [0; 8];
        double.convert(&stored, &mut found);
        assert_eq!(f64::from_le_bytes(found), expected);
    }
    for (size, precision) in [(2, 16), (8, 32), (16, 128)] {
        item(&times(size, precision)).unwrap_err();
    }
}

//! Headers of `.npy` files, byte by byte those of NumPy 2.4.6 (`numpy.lib.format`).

use blosc_dtype::Dtype;
use blosc_dtype::npy::NpyHeader;

/// Type, shape, Fortran order; version, length of the header, spaces before the line feed, dict.
type Row = (&'static str, &'static [u64], bool, u8, usize, usize, &'static str);

const HEADERS: [Row; 15] = [
    (
        "<f8",
        &[3, 4],
        false,
        1,
        128,
        58,
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }",
    ),
    ("<f8", &[], false, 1, 128, 62, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }"),
    ("|u1", &[5], false, 1, 128, 60, "{'descr': '|u1', 'fortran_order': False, 'shape': (5,), }"),
    (
        ">i2",
        &[2, 3, 4],
        true,
        1,
        128,
        56,
        "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3, 4), }",
    ),
    (
        "<M8[25us]",
        &[0],
        false,
        1,
        128,
        54,
        "{'descr': '<M8[25us]', 'fortran_order': False, 'shape': (0,), }",
    ),
    (
        "<U5",
        &[1 << 40],
        false,
        1,
        128,
        48,
        "{'descr': '<U5', 'fortran_order': False, 'shape': (1099511627776,), }",
    ),
    (
        "[('a', '<i4'), ('b', 'S3'), ('x', '<f8', (2, 3))]",
        &[7],
        false,
        1,
        192,
        79,
        "{'descr': [('a', '<i4'), ('b', '|S3'), ('x', '<f8', (2, 3))], 'fortran_order': False, 'shape': (7,), }",
    ),
    (
        "{'names': ['a', 'b'], 'formats': ['i1', '<f8'], 'offsets': [0, 8], 'itemsize': 16}",
        &[5],
        false,
        1,
        128,
        24,
        "{'descr': [('a', '|i1'), ('', '|V7'), ('b', '<f8')], 'fortran_order': False, 'shape': (5,), }",
    ),
    (
        "[('ä', '<f4')]",
        &[1],
        false,
        1,
        128,
        51,
        "{'descr': [('ä', '<f4')], 'fortran_order': False, 'shape': (1,), }",
    ),
    (
        "[('€', '<f4')]",
        &[1],
        false,
        3,
        128,
        47,
        "{'descr': [('€', '<f4')], 'fortran_order': False, 'shape': (1,), }",
    ),
    (
        "[(\"it's\", '<f4')]",
        &[1],
        false,
        1,
        128,
        48,
        "{'descr': [(\"it's\", '<f4')], 'fortran_order': False, 'shape': (1,), }",
    ),
    (
        "[(('title', 'n'), '<f4')]",
        &[1],
        false,
        1,
        128,
        40,
        "{'descr': [(('title', 'n'), '<f4')], 'fortran_order': False, 'shape': (1,), }",
    ),
    (
        "[('in', [('p', 'u1'), ('q', '<c8')])]",
        &[2],
        true,
        1,
        128,
        28,
        "{'descr': [('in', [('p', '|u1'), ('q', '<c8')])], 'fortran_order': True, 'shape': (2,), }",
    ),
    (
        "?",
        &[1; 9],
        false,
        1,
        128,
        37,
        "{'descr': '|b1', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1), }",
    ),
    // The dict ends where 63 bytes remain: NumPy adds 64 spaces rather than none.
    (
        "[('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', '<f4')]",
        &[1],
        false,
        1,
        192,
        84,
        "{'descr': [('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', '<f4')], 'fortran_order': False, 'shape': (1,), }",
    ),
];

#[test]
fn headers_have_the_bytes_of_numpy() {
    for (dtype, shape, fortran_order, version, len, spaces, dict) in HEADERS {
        let header = NpyHeader {
            fortran_order,
            ..NpyHeader::new(Dtype::parse(dtype).unwrap(), shape.to_vec())
        };
        let bytes = header.to_bytes().unwrap();
        let text: Vec<u8> = match version {
            3 => dict.bytes().collect(),
            _ => dict.chars().map(|c| u8::try_from(c).unwrap()).collect(),
        };
        let text_len = text.len() + spaces + 1;
        let length = match version {
            1 => u16::try_from(text_len).unwrap().to_le_bytes().to_vec(),
            _ => u32::try_from(text_len).unwrap().to_le_bytes().to_vec(),
        };
        let spaces = vec![b' '; spaces];
        let expected = [b"\x93NUMPY", &[version, 0][..], &length, &text, &spaces, b"\n"].concat();
        assert_eq!(
            (bytes.len(), bytes.escape_ascii().to_string()),
            (len, expected.escape_ascii().to_string())
        );
        assert_eq!(NpyHeader::parse(&bytes), Ok(NpyHeader { len, ..header }), "{dtype}");
    }
}

#[test]
fn version_2_starts_at_the_length_at_which_numpy_starts_it() {
    for (name_len, version, len) in [(65_423, 1, 65_536), (65_439, 1, 65_536), (65_440, 2, 65_600)]
    {
        let dtype = Dtype::parse(&format!("[('{}', '<f4')]", "a".repeat(name_len))).unwrap();
        let bytes = NpyHeader::new(dtype.clone(), vec![1]).to_bytes().unwrap();
        assert_eq!((bytes[6], bytes.len()), (version, len), "{name_len}");
        assert_eq!(NpyHeader::parse(&bytes).unwrap().dtype, dtype);
    }
}

//! Headers of `.npy` files, and arrays back and forth.

use super::*;
use blosc_dtype::npy::MAGIC;
use std::io::Cursor;

fn file(version: u8, text: &str) -> Vec<u8> {
    let len = u32::try_from(text.len()).unwrap().to_le_bytes();
    let len = if version == 1 { &len[..2] } else { &len[..] };
    [&MAGIC[..], &[version, 0], len, text.as_bytes()].concat()
}

fn error(bytes: &[u8]) -> Error {
    read_header(&mut &bytes[..]).unwrap_err()
}

#[test]
fn headers_come_back() {
    for (dtype, shape, order) in [
        ("<f8", vec![], Order::C),
        ("|S3", vec![7], Order::C),
        (">i4", vec![2, 3], Order::F),
        (
            "{'names': ['a', 'b'], 'formats': ['|i1', '<f8'], 'offsets': [0, 8], 'itemsize': 16}",
            vec![0, 4],
            Order::C,
        ),
        ("[('ä', '<M8[25us]')]", vec![1 << 40], Order::C),
        ("[('€', '<f4')]", vec![3], Order::C),
    ] {
        let info = ArrayInfo::new(dtype.parse().unwrap(), shape, order).unwrap();
        let bytes = header(&info).unwrap();
        assert_eq!(bytes.len() % 64, 0);
        assert_eq!(bytes[6], if dtype.contains('€') { 3 } else { 1 });
        assert_eq!(read_header(&mut &bytes[..]).unwrap(), info);
    }
}

#[test]
fn all_versions_and_spellings_are_read() {
    let text = "{'shape': (3L, 4L), \"descr\": [(u'a:,}', '<i4')], 'fortran_order': True}\n";
    for version in [1, 2, 3] {
        let info = read_header(&mut &file(version, text)[..]).unwrap();
        assert_eq!((info.shape(), info.order(), info.nbytes()), (&[3, 4][..], Order::F, 48));
        assert_eq!(info.dtype().fields()[0].name(), "a:,}");
    }
    let latin =
        [&file(1, "{'descr': [('")[..], b"\xe4', 'u1')], 'fortran_order': False, 'shape': ()}"]
            .concat();
    let mut latin = latin;
    latin[8] = u8::try_from(latin.len() - 10).unwrap();
    assert_eq!(read_header(&mut &latin[..]).unwrap().dtype().fields()[0].name(), "ä");
}

#[test]
fn long_headers_are_version_2() {
    let fields: Vec<String> = (0..5000).map(|n| format!("('f{n}', '<f8')")).collect();
    let info =
        ArrayInfo::new(format!("[{}]", fields.join(", ")).parse().unwrap(), vec![1], Order::C)
            .unwrap();
    let bytes = header(&info).unwrap();
    assert_eq!(bytes[6], 2);
    assert_eq!(read_header(&mut &bytes[..]).unwrap(), info);
}

#[test]
fn wrong_headers_are_refused() {
    for (bytes, expected) in [
        (b"PK\x03\x04.........".to_vec(), "at byte 0: not the beginning of a .npy file"),
        (file(4, "    "), "at byte 0: a .npy file of version 4.0, known are 1.0, 2.0 and 3.0"),
        (
            file(1, "{'fortran_order': True}"),
            "at byte 0: the header of the .npy file: expected the keys descr, fortran_order and shape",
        ),
        (
            file(1, "{'descr': '<i4', 'fortran_order': False, 'shape': (-1,)}"),
            "at byte 0: the header of the .npy file: shape is not a tuple of lengths",
        ),
        (
            file(1, "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}"),
            "at byte 0: array of objects",
        ),
        (file(2, "{'descr'")[..11].to_vec(), "at byte 0: .npy header of 12 bytes, 11 are left"),
        (file(2, "{'descr'")[..15].to_vec(), "at byte 12: .npy header of 8 bytes, 3 are left"),
        (
            [&MAGIC[..], &[2, 0, 0xff, 0xff, 0xff, 0xff]].concat(),
            "at byte 0: the header of the .npy file has a text of 4294967295 bytes, the limit is 1048576",
        ),
    ] {
        assert_eq!(error(&bytes).to_string(), expected);
    }
    assert!(matches!(error(&file(1, "[]")), Error::Dtype { .. }));
    let code = file(1, "{'descr': eval('1'), 'fortran_order': False, 'shape': (1,)}");
    assert!(matches!(error(&code), Error::Dtype { .. }));
}

#[test]
fn arrays_go_in_and_out() {
    let info = ArrayInfo::new("<u2".parse().unwrap(), vec![30, 40], Order::F).unwrap();
    let items: Vec<u8> = (0..1200_u16).flat_map(u16::to_le_bytes).collect();
    let npy = [header(&info).unwrap(), items].concat();
    let options = WriteOptions::default().chunksize(501);
    let blp = to_blp(&npy[..], Cursor::new(vec![]), options.clone()).unwrap().into_inner();
    let mut reader = Reader::new(&blp[..]).unwrap();
    assert_eq!(reader.header().chunksize(), Some(500));
    let mut back = vec![];
    assert_eq!(from_blp(&mut reader, &mut back).unwrap(), info);
    assert_eq!(back, npy);
    for wrong in [&npy[..npy.len() - 1], &[&npy[..], b"x"].concat()] {
        let result = to_blp(wrong, Cursor::new(vec![]), options.clone());
        assert!(
            matches!(result, Err(Error::Param(Param::DataSize { announced: 2400, .. }))),
            "{result:?}"
        );
    }
}

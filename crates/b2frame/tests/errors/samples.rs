//! Frames with one error each: `conformance/samples/frames/malformed.json` gives the sample, the change and
//! the behaviour required of a reader; the table here gives the behaviour of ours.

use std::sync::Arc;

use b2frame::{Error, SChunk};
use serde_json::Value;

/// The result of reading each frame: id of the case, and the error, or "reads" with a summary of
/// the data.
const CASES: &[(&str, &str)] = &[
    ("H01", "open: not a Blosc2 frame: the file starts like nothing known"),
    ("H02", "open: not a Blosc2 frame: the file starts like nothing known"),
    ("H03", "open: frame format version 4, known are 2 and 3"),
    ("H04", "open: frame format version 0, known are 2 and 3"),
    ("H05", "open: at byte 11: header_len is 86, at least 97"),
    ("H06", "open: at byte 11: header_len is -1, at least 97"),
    ("H07", "open: at byte 16: frame_len is 369, header and trailer need 2147483682"),
    ("H08", "open: at byte 112: 5 bytes expected, 4 are left"),
    ("H09", "open: at byte 16: frame_len is 18446744073709551615, header and trailer need 152"),
    ("H10", "open: at byte 16: frame_len is 370, the file has 369"),
    ("H11", "open: at byte 16: frame_len is 111, header and trailer need 152"),
    ("H12", "open: a sparse frame, one file for every chunk"),
    ("H13", "open: at byte 26: frame type 2, known are 0 and 1"),
    ("H14", "open: at byte 30: nbytes is -8"),
    ("H15", "open: at byte 228: the index has 24 bytes, 32 expected"),
    ("H16", "open: at byte 228: 72057594037927936 chunks, at most 268435455"),
    ("H17", "reads"),
    ("H18", "open: at byte 39: cbytes is -1, the frame has room for 217"),
    ("H19", "open: at byte 39: cbytes is 9223372036854775807, the frame has room for 217"),
    ("H20", "open: index chunk at byte 229: at byte 2: flags 0x08 in a Blosc 1 chunk"),
    ("H21", "open: at byte 48: typesize is 0, at least 1"),
    ("H22", "open: at byte 48: typesize is -4, at least 1"),
    ("H23", "open: at byte 53: blocksize is -1"),
    ("H24", "open: at byte 58: chunk_size is -1"),
    ("H25", "reads 64 64 20"),
    ("H26", "open: at byte 228: the index has 24 bytes, 1184 expected"),
    ("H27", "open: at byte 228: the index has 24 bytes, 8 expected"),
    ("H28", "open: at byte 70: 7 filter slots, at most 6"),
    ("H29", "open: at byte 25: offset width 0, only 1 (64 bits) is in use"),
    ("H30", "reads 64 64 20"),
    ("H31", "reads 64 64 20"),
    ("H32", "reads 64 64 20"),
    ("H33", "open: at byte 0: the frame ends after 86 bytes, its header has 87"),
    ("H34", "open: at byte 16: frame_len is 369, the file has 368"),
    ("H35", "reads 64 64 20"),
    ("H36", "open: at byte 10: header_len has the marker 0xd3, it is always 0xd2"),
    ("H37", "open: at byte 57: compression threads has the marker 0xd2, it is always 0xd1"),
    ("H38", "open: at byte 47: typesize has the marker 0xce, it is always 0xd2"),
    ("M01", "open: at byte 91: metalayer map has the marker 0xdf, it is always 0xde"),
    ("M02", "open: at byte 91: 17 metalayers, at most 16"),
    ("M03", "open: at byte 104: metalayer name has the marker 0xdc, 0xa1..=0xbf are names"),
    ("M04", "open: at byte 94: metalayer name has the marker 0xc4, 0xa1..=0xbf are names"),
    ("M05", "open: at byte 95: 31 bytes expected, 22 are left"),
    ("M06", "open: at byte 99: metalayer position has the marker 0xce, it is always 0xd2"),
    ("M07", "open: at byte 99: metalayer value at -1, the section ends at 117"),
    ("M08", "open: at byte 117: 1 bytes expected, 0 are left"),
    ("M09", "open: at byte 116: metalayer value has the marker 0x6f, it is always 0xc6"),
    ("M10", "open: at byte 87: metalayer value has the marker 0x93, it is always 0xc6"),
    ("M11", "open: at byte 107: metalayer value has the marker 0xc5, it is always 0xc6"),
    ("M12", "open: at byte 112: 2147483647 bytes expected, 5 are left"),
    ("M13", "open: at byte 112: 4294967295 bytes expected, 5 are left"),
    ("M14", "open: at byte 112: 6 bytes expected, 5 are left"),
    ("M15", "reads 64 64 20"),
    ("M16", "reads 64 64 20"),
    ("I01", "open: at byte 228: chunk 2 has offset 1099511627776, the data section has 111 bytes"),
    ("I02", "open: at byte 228: chunk 2 has offset 80, the data section has 111 bytes"),
    ("I03", "chunk 2 at byte 133: chunk format version 0, known are 1 to 6"),
    ("I04", "at byte 117: chunk 2 holds 64 bytes, its place demands 20"),
    ("I05", "at byte 228: chunk 1 has offset 0x8000000000000000, no known special value"),
    ("I06", "at byte 228: chunk 1 has offset 0x8300000000000000, no known special value"),
    ("I07", "at byte 228: chunk 1 has offset 0x8500000000000000, no known special value"),
    ("I08", "reads 64 64 20"),
    ("I09", "reads 64 64 20"),
    ("I10", "at byte 228: chunk 1 has offset 0x8800000000000000, no known special value"),
    (
        "I11",
        "open: index chunk at byte 228: at byte 12: memcpyed with cbytes 56, header and data have 48",
    ),
    (
        "I12",
        "open: index chunk at byte 228: at byte 12: memcpyed with cbytes 1000, header and data have 56",
    ),
    ("I13", "open: index chunk at byte 228: chunk format version 99, known are 1 to 6"),
    ("I14", "open: index chunk at byte 228: at byte 12: cbytes 31, the header alone has 32"),
    ("C01", "at byte 117: chunk 0 has 5000 bytes, outside 16..=111"),
    ("C02", "at byte 117: chunk 0 holds 128 bytes, its place demands 64"),
    ("C03", "at byte 117: chunk 0 holds 60 bytes, its place demands 64"),
    ("C04", "chunk 0 at byte 117: at byte 12: cbytes 31, the header alone has 32"),
    ("C05", "chunk 2 at byte 176: at byte 12: memcpyed with cbytes 52, header and data have 96"),
    ("C06", "chunk 0 at byte 117: at byte 32: block 0 starts at 5, outside 36..=55"),
    ("C07", "at byte 117: chunk 0 has VL-blocks: true; the frame says false"),
    ("T01", "open: at byte 346: trailer_len has the marker 0x00, it is always 0xce"),
    ("T02", "open: at byte 347: trailer_len is 4294967295, outside 35..=252"),
    ("T03", "open: at byte 347: trailer_len is 24, outside 35..=252"),
    ("T04", "open: at byte 347: trailer_len is 370, outside 35..=252"),
    ("T05", "open: at byte 347: trailer_len is 283, outside 35..=252"),
    ("T06", "open: at byte 285: trailer has the marker 0x01, it is always 0x94"),
    ("T07", "open: at byte 290: 65535 metalayers, at most 8192"),
    ("T08", "open: at byte 290: 8193 metalayers, at most 8192"),
    ("T09", "open: at byte 298: metalayer value at -1, the section ends at 62"),
    ("T10", "open: at byte 369: 1 bytes expected, 0 are left"),
    ("T11", "open: at byte 311: 2147483647 bytes expected, 35 are left"),
    ("T12", "open: at byte 286: the vlmetalayers end at 61 of the trailer, it goes on at 62"),
    (
        "T13",
        "vlmetalayer \"note\" at byte 311: at byte 12: memcpyed with cbytes 35, header and data have 2147483679",
    ),
    ("T14", "open: trailer version 0, known is 1"),
    ("T15", "open: at byte 351: fingerprint has the marker 0x00, it is always 0xd8"),
    ("T16", "reads 64 64 20"),
    ("T17", "reads 64 64 20"),
    ("T18", "open: at byte 284: trailer has the marker 0x0d, it is always 0x94"),
    ("T19", "open: at byte 293: metalayer name has the marker 0xd9, 0xa1..=0xbf are names"),
    ("B01", "at byte 112: b2nd has the marker 0x96, it is always 0x97"),
    ("B02", "b2nd metalayer version 1, known is 0"),
    ("B03", "at byte 114: 17 dimensions, at most 16"),
    ("B04", "at byte 114: 255 dimensions, at most 16"),
    ("B05", "at byte 115: shape has the marker 0x92, it is always 0x93"),
    ("B06", "at byte 115: shape has the marker 0x92, it is always 0x91"),
    ("B07", "at byte 115: shape has the marker 0x93, it is always 0x92"),
    ("B08", "at byte 116: shape has the marker 0xcf, it is always 0xd3"),
    ("B09", "at byte 116: shape[0] is -1"),
    ("B10", "at byte 112: the items of the array cannot be counted in 64 bits"),
    ("B11", "at byte 112: 6 chunks by the shapes, the frame has 4"),
    ("B12", "at byte 112: 0 chunks by the shapes, the frame has 4"),
    ("B13", "at byte 135: chunkshape[0] is 0"),
    ("B14", "at byte 135: chunkshape[0] is 0"),
    ("B15", "at byte 135: chunkshape[0] is -4"),
    ("B16", "at byte 112: the items of a chunk cannot be counted in 64 bits"),
    ("B17", "reads 16 16 16 16, [5, 3] <i2 [1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 14, 15, 0, 0, 0]"),
    ("B18", "at byte 112: 2 chunks by the shapes, the frame has 4"),
    ("B19", "at byte 146: blockshape[0] is 0"),
    ("B20", "at byte 112: the items of a chunk cannot be counted in 64 bits"),
    ("B21", "at byte 112: chunks of 20 bytes by shape and typesize, chunk_size is 16"),
    ("B22", "at byte 146: blockshape[0] is -2"),
    ("B23", "reads 16 16 16 16, [5, 3] <i2 [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]"),
    ("B24", "at byte 157: dtype has the marker 0xa3, it is always 0xdb"),
    ("B25", "at byte 162: 4294967295 bytes expected, 3 are left"),
    ("B26", "at byte 162: 4 bytes expected, 3 are left"),
    ("B27", "at byte 164: 1 bytes after the dtype"),
    ("B28", "reads 16 16 16 16, [5, 3] <i4 [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]"),
    ("B29", "reads 16 16 16 16, [5, 3] ��� [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]"),
    ("B30", "reads 16 16 16 16, [5, 3] |O8 [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]"),
];

/// The cases of the list with contiguous frames. Ids with S are sparse frames.
fn cases() -> Vec<Value> {
    let list = blosc_testdata::fixture::read("frames/malformed.json").unwrap();
    let list: Value = serde_json::from_slice(&list).unwrap();
    let cases = list["cases"].as_array().unwrap().iter();
    cases.filter(|case| !id(case).starts_with('S')).cloned().collect()
}

fn id(case: &Value) -> &str {
    case["id"].as_str().unwrap()
}

fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

/// The frame of a case.
fn frame(case: &Value) -> Vec<u8> {
    let mut bytes =
        blosc_testdata::fixture::read(format!("frames/{}", case["base"].as_str().unwrap()))
            .unwrap();
    for edit in case["edits"].as_array().unwrap() {
        let (at, new) = (number(&edit["at"]), unhex(edit["hex"].as_str().unwrap()));
        bytes[at..at + new.len()].copy_from_slice(&new);
    }
    if let Some(len) = case.get("truncate_to") {
        bytes.truncate(number(len));
    }
    if let Some(more) = case.get("append_bytes") {
        let byte = unhex(more["value"].as_str().unwrap())[0];
        bytes.resize(bytes.len() + number(&more["count"]), byte);
    }
    bytes
}

/// An error with its causes, as a program would print it.
fn chain(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = core::error::Error::source(error);
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text
}

/// Reads all of the frame; an error of opening starts with "open: ".
fn read(bytes: Vec<u8>) -> Result<String, String> {
    let store = Arc::new(blosc_io::MemStore::new(bytes));
    let schunk = SChunk::from_store(store).map_err(|error| format!("open: {}", chain(&error)))?;
    let wrong = |error: Error| chain(&error);
    let mut read = "reads".to_owned();
    for nchunk in 0..schunk.nchunks() {
        let chunk = schunk.decode_chunk(nchunk).map_err(wrong)?;
        read += &format!(" {}", chunk.len());
    }
    for layer in schunk.vlmeta().stored().iter() {
        schunk.vlmeta().decode(layer).map_err(wrong)?;
    }
    if let Some(array) = Arc::new(schunk).nd_array().map_err(wrong)? {
        let items = array.to_bytes(..).map_err(wrong)?;
        let items: Vec<_> =
            items.chunks_exact(2).map(|item| i16::from_le_bytes([item[0], item[1]])).collect();
        read += &format!(", {:?} {} {items:?}", array.meta().shape(), array.meta().dtype_text(2));
    }
    Ok(read)
}

#[test]
fn every_case_does_what_the_table_says() {
    let found: Vec<_> = cases()
        .iter()
        .map(|case| (id(case).to_owned(), read(frame(case)).unwrap_or_else(|error| error)))
        .collect();
    let expected: Vec<_> =
        CASES.iter().map(|(id, text)| (id.to_string(), text.to_string())).collect();
    assert_eq!(found, expected);
}

#[test]
fn every_case_does_what_the_list_demands() {
    for case in cases() {
        let (result, required) = (read(frame(&case)), case["required"].as_str().unwrap());
        let is_array = id(&case).starts_with('B');
        match required {
            // The description of an array is read when the array is opened, not the frame.
            "reject" if is_array => assert!(result.is_err(), "{case}: {result:?}"),
            "reject" => assert!(
                result.clone().is_err_and(|e| e.starts_with("open: ")),
                "{case}: {result:?}"
            ),
            "reject-on-read" => assert!(result.is_err(), "{case}: {result:?}"),
            "accept" => assert!(result.is_ok(), "{case}: {result:?}"),
            other => assert_eq!(other, "either", "{case}"),
        }
    }
}

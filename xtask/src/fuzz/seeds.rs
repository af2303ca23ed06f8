//! The first inputs of the fuzz targets: samples of the containers and texts, in each target's
//! format.

use std::{fs, path::Path};

use blosc_trials::container::{Files, Sample, samples};

use crate::failure::{Context, Result};

/// Conditions and expressions on the columns of the target.
const EXPRESSIONS: &[&str] = &[
    "i > 3",
    "(i > 3) & (f <= 2.5) | ~b",
    "s == 'a'",
    "t != \"b\" and not b",
    "d >= '2020-01-01'",
    "i * 2 + u // 3 - f % 4",
    "-i ** 2 < 1e3",
    "where(b, i, u) == 1",
    "sqrt(f) + abs(i) + sin(f)",
    "((((i))))",
    "i == 0x7f | u == 18446744073709551615",
];

/// Texts that `b2` takes, after the number of their kind: CSV, JSON of an object, a value, a slice,
/// a range, the number of a frame.
const TEXTS: &[(u8, &str)] = &[
    (0, "id,price,name\n1,2.5,one\n2,,\"two, three\"\n"),
    (0, "a\n2020-01-01\n\n1e5\n\"quoted \"\"twice\"\"\"\n"),
    (1, "{\"meta\": {}, \"vlmeta\": {\"unit\": \"K\", \"n\": [1, 2.5, null, true]}}"),
    (1, "{\"unit\": {\"a\": {\"b\": -9223372036854775808}}}"),
    (2, "{\"a\": [1, {\"b\": \"\\ud83d\\ude00\"}]}"),
    (2, "plain"),
    (2, "1e400"),
    (3, "0,:"),
    (3, "::-1,-2:"),
    (3, "9223372036854775807:,0"),
    (4, "3:10"),
    (4, "-4:"),
    (5, "0"),
    (5, "132"),
    (6, "0"),
    (7, "/group/value"),
    (7, "//group/../x:"),
    (8, "[('a', '<f4', (2,)), ('b', 'S3')]"),
    (8, "<U2"),
];

/// Conditions on the columns of a table of a store.
const CONDITIONS: &[&str] = &[
    "(i > 3) & ~(f < 2.5) | (w == 'low')",
    "d >= '1970-01-05' and t != '7'",
    "not (f == f) or i ** 2 // 3 % 4 == 1",
    "sqrt(abs(f)) < i << 2",
];

/// Schemas of tables.
const SCHEMAS: &[&str] = &[
    r#"{"version": 1, "columns": [{"name": "id", "kind": "int64", "ge": 0},
    {"name": "by", "kind": "bytes", "max_length": 4},
    {"name": "t", "kind": "timestamp", "unit": "ms", "timezone": "UTC"},
    {"name": "vs", "kind": "vlstring", "nullable": true, "serializer": "msgpack", "batch_rows": 8},
    {"name": "d", "kind": "dictionary", "index_type": {"kind": "int32"},
    "value_type": {"kind": "vlstring"}, "ordered": false, "null_code": -1},
    {"name": "st", "kind": "struct", "fields": [{"name": "p", "kind": "int64"}]}], "n_rows": 5}"#,
    r#"{"version": 3, "columns": [{"name": "i", "kind": "int8", "null_storage": "mask"},
    {"name": "u", "kind": "utf8", "nullable": true, "null_storage": "mask"},
    {"name": "a", "kind": "ndarray", "item_shape": [2], "dtype_str": "<i2"},
    {"name": "li", "kind": "list", "item": {"kind": "int64"}, "storage": "batch"}]}"#,
];

/// Values of MessagePack with the extensions of python-blosc2, and one that nests.
const VALUES: &[&[u8]] = &[
    b"\x83\xa1a\x93\x01\xd3\xff\xff\xff\xff\xff\xff\xff\xff\xcb\x3f\xf8\0\0\0\0\0\0\xa1b\xc4\x02xy\x02\xc3",
    b"\xd6\x2a\xa3abc",
    b"\xc7\x05\x2b\x81\xa1a\xa1b",
    b"\x91\x91\x91\x91\x91\xc0",
];

/// Headers of `.npy` files, without padding.
const NPY: &[&[u8]] = &[
    b"\x93NUMPY\x01\0\x3b\0{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n",
    b"\x93NUMPY\x02\0\x44\0\0\0{'descr': [('a', '<i4'), ('b', '|S3', (2,))], 'fortran_order': True, 'shape': (), }\n",
];

/// The names of files, for the targets that read several.
const SPARSE: [&str; 6] = [
    "chunks.b2frame",
    "00000000.chunk",
    "00000001.chunk",
    "00000002.chunk",
    "FFFFFFFF.chunk",
    ".b2lock",
];
const DIRECTORY: [&str; 8] = [
    "embed.b2e",
    "group/array.b2nd",
    "bytes.b2f",
    "table/_meta.b2f",
    "table/_valid_rows.b2nd",
    "table/_cols/id.b2nd",
    "table/_cols/name.b2nd",
    "table/_cols/name.utf8.b2nd",
];
const CARRAY: [&str; 4] = ["meta/sizes", "meta/storage", "data/__0.blp", "data/__1.blp"];

/// Makes a folder with the inputs of a target.
pub(super) fn write(target: &str, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).at(folder.display())?;
    for (number, input) in inputs(target)?.iter().enumerate() {
        fs::write(folder.join(format!("{number}")), input).at(folder.display())?;
    }
    Ok(())
}

fn inputs(target: &str) -> Result<Vec<Vec<u8>>> {
    if target == "bcolz_query" {
        return Ok(EXPRESSIONS.iter().map(|text| text.as_bytes().to_vec()).collect());
    }
    if target == "cli_text" {
        return Ok(TEXTS.iter().map(|(kind, text)| [&[*kind], text.as_bytes()].concat()).collect());
    }
    let bytes = |all: &[&[u8]]| all.iter().map(|input| input.to_vec()).collect();
    match target {
        "store_query" => {
            return Ok(CONDITIONS.iter().map(|text| text.as_bytes().to_vec()).collect());
        }
        "dtype_npy" => return Ok(bytes(NPY)),
        "store_value" => {
            let schemas = SCHEMAS.iter().map(|text| text.as_bytes());
            return Ok(VALUES.iter().copied().chain(schemas).map(<[u8]>::to_vec).collect());
        }
        _ => {}
    }
    Ok(samples()?.iter().filter_map(|sample| input(target, sample)).collect())
}

/// A sample as an input of the target, if the target reads its format.
fn input(target: &str, sample: &Sample) -> Option<Vec<u8>> {
    let files = &sample.files;
    let only = || files.0.first().map(|(_, bytes)| bytes.clone());
    match (target, sample.container) {
        ("frame_sparse", "sparse-frame") => Some(numbered(files, &SPARSE)),
        ("store_directory", "b2d") => Some(numbered(files, &DIRECTORY)),
        ("bcolz_open", "carray") => Some(joined(files)),
        ("frame_open_decode" | "frame_edit" | "frame_rescue", "frame" | "b2nd") => only(),
        ("array_read", "b2nd") | ("store_open", "b2z" | "b2e") => only(),
        ("bloscpack_read" | "bloscpack_append", "blp") => only(),
        ("chunk_decode" | "chunk_partial" | "chunk_rescue", "chunk") => only(),
        ("cli_file", container) => {
            let kinds = ["frame", "chunk", "blp", "b2z", "npy", "b2nd"];
            let kind = kinds.iter().position(|kind| *kind == container)?;
            Some([&[u8::try_from(kind).ok()?], only()?.as_slice()].concat())
        }
        _ => None,
    }
}

/// Number of the name, length, bytes of each file.
fn numbered(files: &Files, names: &[&str]) -> Vec<u8> {
    let mut input = vec![];
    for (path, bytes) in &files.0 {
        let number = names.iter().position(|name| name == path);
        let number = number.and_then(|number| u8::try_from(number).ok());
        let (Some(number), Ok(len)) = (number, u16::try_from(bytes.len())) else { continue };
        input.push(number);
        input.extend(len.to_le_bytes());
        input.extend(bytes);
    }
    input
}

/// The files one after another, with two bytes of ones between them.
fn joined(files: &Files) -> Vec<u8> {
    let find = |name: &str| files.0.iter().find(|(path, _)| path == name);
    let parts: Vec<&[u8]> =
        CARRAY.iter().filter_map(|name| find(name)).map(|(_, bytes)| bytes.as_slice()).collect();
    parts.join(&[0xff, 0xff][..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_that_read_several_files_have_inputs() {
        for target in [
            "frame_sparse",
            "store_directory",
            "bcolz_open",
            "bcolz_query",
            "cli_text",
            "cli_file",
            "bloscpack_append",
            "store_query",
            "store_value",
            "dtype_npy",
        ] {
            let inputs = inputs(target).unwrap();
            let nbytes: usize = inputs.iter().map(Vec::len).sum();
            assert!(inputs.len() >= 2 && nbytes > 100, "{target}: {} {nbytes}", inputs.len());
        }
    }
}

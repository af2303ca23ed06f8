//! The first inputs of the fuzz targets: samples of the containers and texts, in the form that each
//! target reads.

use std::{fs, path::Path};

use crate::{
    containers::{Files, Sample, samples},
    failure::{Context, Result},
};

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

/// What `b2` takes as text, after the number of the kind: CSV, JSON of an object, a value, a slice,
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
];

/// The names of files, by the targets that read several.
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

/// Writes the inputs of a target to a folder, which is made.
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
    Ok(samples()?.iter().filter_map(|sample| input(target, sample)).collect())
}

/// A sample as an input of the target, if it reads such.
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
        ("chunk_decode" | "chunk_partial", "chunk") => only(),
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
        ] {
            let inputs = inputs(target).unwrap();
            let nbytes: usize = inputs.iter().map(Vec::len).sum();
            assert!(inputs.len() >= 2 && nbytes > 100, "{target}: {} {nbytes}", inputs.len());
        }
    }
}

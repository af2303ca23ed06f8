//! One small object of each format, made once for each test over all formats.

use std::{fs, path::Path};

use blosc_testdata::fixture::path;

use crate::session::Dir;

/// The objects: name, and kind.
pub(crate) const OBJECTS: &[&str] = &[
    "x.f32",
    "x.npy",
    "t.csv",
    "x.b2frame",
    "x.sframe",
    "x.b2nd",
    "x.blp",
    "array.blp",
    "x.chunk",
    "blosc1.chunk",
    "sequence.b2frame",
    "legacy.b2frame",
    "objects.b2f",
    "batches.b2b",
    "x.bcolz",
    "t.bcolz",
    "t.bcolz::/price",
    "x.b2z",
    "t.b2z",
    "t.b2d",
    "tree.b2z",
    "tree.b2z::/arr",
    "tree.b2z::/g/tab",
    "embed.b2e",
    "x.parquet",
    "cut.b2frame",
    "empty",
    "picture.png",
    "missing",
];

/// Makes all objects in a directory.
pub(crate) fn make() -> Dir {
    let dir = Dir::new();
    let temperatures = fs::read(path("samples/temperature.f32")).unwrap();
    dir.write("x.f32", &temperatures[..24_000]);
    dir.write("t.csv", "id,price,name\n1,2.5,a\n2,-0.5,bc\n3,4.25,d\n");
    for line in [
        "convert -q --dtype f4 --shape 60,100 x.f32 x.npy",
        "c -q -z 8K x.f32 -o x.b2frame",
        "convert -q x.b2frame x.sframe",
        "convert -q --chunks 20,100 --blocks 10,50 x.npy x.b2nd",
        "c -q --format blp x.f32 -o x.blp",
        "convert -q x.npy array.blp",
        "c -q --format chunk x.f32 -o x.chunk",
        "c -q --format chunk --target blosc-1.11 x.f32 -o blosc1.chunk",
        "convert -q x.npy x.bcolz",
        "convert -q t.csv t.bcolz",
        "convert -q t.csv t.b2z",
        "convert -q t.csv t.b2d",
        "convert -q x.npy x.b2z",
    ] {
        dir.b2(line).ok();
    }
    let frame = dir.read("x.b2frame");
    dir.write("sequence.b2frame", [&frame[..], &frame].concat());
    dir.write("cut.b2frame", &frame[..9000]);
    dir.write("empty", "").write("picture.png", b"\x89PNG\r\n\x1a\n");
    for (from, to) in [
        ("frames/legacy/beta5-lz4-multiblock-rec12.b2frame", "legacy.b2frame"),
        ("stores/objects.b2f", "objects.b2f"),
        ("stores/batches.b2b", "batches.b2b"),
        ("stores/tree-with-table.b2z", "tree.b2z"),
        ("stores/embed-basic.b2e", "embed.b2e"),
        ("parquet/pyarrow.parquet", "x.parquet"),
    ] {
        fs::copy(path(from), dir.path(to)).unwrap();
    }
    dir
}

/// Copies an object, a file or a directory, to another directory.
pub(crate) fn copy_to(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copy_to(&entry.path(), &to.join(entry.file_name()));
        }
    } else if from.is_file() {
        fs::copy(from, to).unwrap();
    }
}

/// The path of an object's file, without the name of a member.
pub(crate) fn file_of(object: &str) -> &str {
    object.split("::").next().unwrap_or(object)
}

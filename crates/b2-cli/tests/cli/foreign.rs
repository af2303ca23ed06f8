//! Data of Zarr and HDF5, which this program does not read: they are named, and never taken for
//! loose files.

use std::fs;

use crate::session::{self, Dir};

const HDF5: &[u8] = b"\x89HDF\r\n\x1a\n and more";

/// Data of Zarr 2 and 3 and of HDF5, each with the name of its kind.
fn data(dir: &Dir) -> [(&'static str, &'static str); 5] {
    for (folder, file, metadata) in [
        ("v2.zarr", ".zgroup", "{\"zarr_format\": 2}"),
        ("v2.zarr/temp", ".zarray", "{\"zarr_format\": 2}"),
        ("v3.zarr", "zarr.json", "{\"node_type\": \"group\"}"),
        ("v3.zarr/temp", "zarr.json", "{\"node_type\": \"array\"}"),
    ] {
        fs::create_dir_all(dir.path(folder)).unwrap();
        dir.write(&format!("{folder}/{file}"), metadata);
    }
    dir.write("v2.zarr/temp/0.0", b"a chunk").write("x.h5", HDF5);
    [
        ("v2.zarr", "a Zarr group"),
        ("v2.zarr/temp", "a Zarr array"),
        ("v3.zarr", "a Zarr group"),
        ("v3.zarr/temp", "a Zarr array"),
        ("x.h5", "an HDF5 file"),
    ]
}

#[test]
fn every_command_names_what_it_does_not_read_and_writes_nothing() {
    let dir = Dir::new();
    for (name, what) in data(&dir) {
        let member = format!("{}::/temp", name.trim_end_matches("/temp"));
        for line in [
            format!("info {name}"),
            format!("info {member}"),
            format!("list {name}"),
            format!("show {name}"),
            format!("show {member}"),
            format!("verify {name}"),
            format!("convert {name} out.b2z"),
            format!("convert {name} out.b2d"),
            format!("convert {name} out.b2nd"),
            format!("convert {name} out.npy"),
            format!("convert {member} out.b2nd"),
            format!("convert -r {name} --format b2frame --output-dir out"),
            format!("pack {name}"),
            format!("unpack {name} -o out"),
            format!("recompress -C lz4 {name} -o out"),
            format!("append {name} {name}"),
            format!("meta get {name}"),
            format!("meta get {member}"),
            format!("diff {member} {member}"),
            format!("stats {name}"),
            format!("stats {member}"),
            format!("plot {name}"),
            format!("diff {name} {name}"),
            format!("rescue {name} -o out"),
            format!("list --tree {name}"),
            format!("repack {name}"),
        ] {
            let run = dir.b2(&line);
            assert_eq!(run.code, Some(4), "{line}: {}", run.stderr);
            let what =
                if line.contains("::") && what.contains("Zarr") { "a Zarr array" } else { what };
            assert!(
                run.stderr.contains(what) && run.stderr.contains("b2-full"),
                "{line}: {}",
                run.stderr
            );
        }
    }
    // The folder of outputs is made before they are written, and has stayed empty.
    fs::remove_dir(dir.path("out")).unwrap();
    assert_eq!(dir.names(), ["v2.zarr", "v3.zarr", "x.h5"]);
    let typed = Dir::new();
    typed.write("x.h5", [HDF5, &[0; 64 - HDF5.len()]].concat()).write("a", [0; 160]);
    typed.b2("c -q --dtype f4 a -o a.b2nd").ok();
    for line in ["append a.b2nd x.h5", "diff a.b2nd x.h5", "diff x.h5 a.b2nd"] {
        let run = typed.b2(line);
        assert!(run.code == Some(4) && run.stderr.contains("an HDF5 file"), "{}", run.all());
    }
    // On request, a file is compressed as bytes.
    dir.b2("compress x.h5").ok();
}

#[test]
fn errors_name_a_program_that_reads_the_format() {
    let dir = Dir::new();
    data(&dir);
    dir.write("x.parquet", b"PAR1 and more PAR1");
    dir.write("z.zip", session::zip(&[(".zgroup", b"")]));
    let full = "cargo install --path engines/b2-full";
    for (name, what, program) in [
        ("v2.zarr", "a Zarr group", full),
        ("v3.zarr/temp", "a Zarr array", full),
        ("x.h5", "an HDF5 file", full),
        ("z.zip", "a Zarr group in a zip archive", full),
        #[cfg(not(feature = "parquet"))]
        ("x.parquet", "Parquet", "cargo install --path crates/b2-cli --features parquet"),
        ("https://host/x.b2nd", "no client for addresses", full),
    ] {
        for command in ["info", "list", "show", "verify", "cat"] {
            let run = dir.b2(&format!("{command} {name}"));
            assert_eq!(run.code, Some(4), "{command} {name}: {}", run.stderr);
            let is_said = run.stderr.contains(what) && run.stderr.contains(program);
            assert!(is_said, "{command} {name}: {}", run.stderr);
        }
    }
}

#[test]
fn a_chunk_beside_the_metadata_of_its_array_has_a_type() {
    let dir = Dir::new();
    fs::create_dir_all(dir.path("a/0")).unwrap();
    dir.write("x", (0..6_i32).flat_map(i32::to_le_bytes).collect::<Vec<u8>>());
    dir.b2("compress --format chunk --target blosc-1.14 -t 4 x -o a/0.0").ok();
    fs::copy(dir.path("a/0.0"), dir.path("a/0/0")).unwrap();
    let metadata = |filters: &str| {
        format!("{{\"zarr_format\": 2, \"dtype\": \"<i4\", \"filters\": {filters}}}")
    };
    for filters in ["null", "[]"] {
        dir.write("a/.zarray", metadata(filters));
        for chunk in ["a/0.0", "a/0/0"] {
            assert_eq!(dir.b2(&format!("show {chunk}")).ok().text(), "[0 1 2 3 4 5]\n");
        }
    }
    // Filters, and given types, win over this check.
    assert!(dir.b2("show --dtype u1 a/0.0").ok().text().contains("0 0 0 1"));
    dir.write("a/.zarray", metadata("[{\"id\": \"delta\"}]"));
    assert!(dir.b2("show a/0.0").stderr.contains("bytes without a type"));
}

#[test]
fn a_folder_becomes_a_store_without_what_is_no_value() {
    let dir = Dir::new();
    for (name, _) in data(&dir) {
        let to = dir.path("folder").join(name);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        match name {
            "x.h5" => drop(fs::copy(dir.path(name), to).unwrap()),
            name if name.ends_with("temp") => fs::rename(dir.path(name), to).unwrap(),
            _ => fs::create_dir_all(to).unwrap(),
        }
    }
    for (name, metadata) in [("v2.zarr/.zgroup", "{}"), ("v3.zarr/zarr.json", "{}")] {
        dir.write(&format!("folder/{name}"), metadata);
    }
    // A zip archive, an empty table, Python objects, and a text.
    dir.write("folder/a.docx", b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")
        .write("folder/b.csv", "")
        .write(
            "folder/c.npy",
            b"\x93NUMPY\x01\x00\x36\x00{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
        )
        .write("folder/d.txt", "text");
    let run = dir.b2("convert folder out.b2z");
    assert_eq!(run.code, Some(4), "{}", run.stderr);
    for (name, what) in [
        ("v2.zarr", "left out: a Zarr group"),
        ("v3.zarr", "left out: a Zarr group"),
        ("x.h5", "left out: an HDF5 file"),
        ("b.csv", "left out: "),
        ("c.npy", "left out: "),
    ] {
        let told =
            run.stderr.lines().find(|line| line.contains(&format!("folder/{name}: warning")));
        assert!(told.is_some_and(|line| line.contains(what)), "{name}: {}", run.stderr);
    }
    let store = b2store::Store::open(dir.path("out.b2z")).unwrap();
    assert!(store.keys().eq(["/a.docx", "/d.txt"]));
    // No output is left.
    for name in ["a.docx", "d.txt"] {
        fs::remove_file(dir.path("folder").join(name)).unwrap();
    }
    let run = dir.b2("convert folder none.b2z");
    assert_eq!(run.code, Some(4), "{}", run.stderr);
    assert!(
        run.stderr.contains("nothing was written") && !dir.path("none.b2z").exists(),
        "{}",
        run.stderr
    );
}

//! `info` and `list`, on frames of the fixtures, whose numbers never change.

use blosc_testdata::fixture::path;

use crate::session::{Dir, snapshot, walk};

/// A directory with some of the sample frames.
fn samples(names: &[&str]) -> Dir {
    let dir = Dir::new();
    for name in names {
        std::fs::copy(path("frames").join(name), dir.path(name)).unwrap();
    }
    dir
}

#[test]
fn a_frame() {
    snapshot!(samples(&["tiny.b2frame"]).b2("info tiny.b2frame"), @r#"
    exit 0
    --- stdout
    tiny.b2frame: Blosc2 super-chunk, contiguous frame (format 2)
      items       37 x 4 bytes     148 B -> 111 B  1.33x
      chunks      3 of 64 B, last 20 B, blocks of 64 B; 1 all zero
      pipeline    shuffle -> lz4 level 5
      file        369 B     header 117 B, index 56 B, trailer 85 B, dead 0 B
      checksums   none
      opens with  C-Blosc2 2.0.3 or newer
      meta        kind
      vlmeta      note
    --- stderr
    "#);
}

#[test]
fn a_frame_with_all_details() {
    snapshot!(samples(&["tiny.b2frame"]).b2("info -vv tiny.b2frame"), @r#"
    exit 0
    --- stdout
    tiny.b2frame: Blosc2 super-chunk, contiguous frame (format 2)
      items       37 x 4 bytes     148 B -> 111 B  1.33x
      chunks      3 of 64 B, last 20 B, blocks of 64 B; 1 all zero
      pipeline    shuffle -> lz4 level 5, split forward
      file        369 B     header 117 B, index 56 B, trailer 85 B, dead 0 B
      checksums   none
      opens with  C-Blosc2 2.0.3 or newer, python-blosc2 after 2.0.0 (split forward)
      meta        kind
      vlmeta      note
      kind        "demo"
      note        "hi"
        chunk          offset         bytes          data    ratio  blocksize  special  pipeline
            0             117            59            64     1.08         64  -        shuffle -> lz4
            1               -             0            64        -          -  zeros    -
            2             176            52            20     0.38         20  -        stored
    --- stderr
    "#);
}

#[test]
fn a_frame_as_json() {
    snapshot!(samples(&["tiny.b2frame"]).b2("info --json tiny.b2frame"), @r#"
    exit 0
    --- stdout
    {"schema":"b2.info/1","path":"tiny.b2frame","format":"b2frame","format_version":2,"nbytes":148,"cbytes":111,"cratio":1.3333333333333333,"file_bytes":369,"dead_bytes":0,"nchunks":3,"chunksize":64,"blocksize":64,"typesize":4,"codec":"lz4","clevel":5,"filters":["shuffle"],"filters_meta":[0],"split":"forward","dict":false,"special":{"zeros":1,"nan":0,"value":0,"uninit":0},"metalayers":{"kind":"demo"},"vlmetalayers":{"note":"hi"},"checksum":"none"}
    --- stderr
    "#);
    snapshot!(samples(&["tiny.b2frame"]).b2("info --json -vv tiny.b2frame"), @r#"
    exit 0
    --- stdout
    {"schema":"b2.info/1","path":"tiny.b2frame","format":"b2frame","format_version":2,"nbytes":148,"cbytes":111,"cratio":1.3333333333333333,"file_bytes":369,"dead_bytes":0,"nchunks":3,"chunksize":64,"blocksize":64,"typesize":4,"codec":"lz4","clevel":5,"filters":["shuffle"],"filters_meta":[0],"split":"forward","dict":false,"special":{"zeros":1,"nan":0,"value":0,"uninit":0},"metalayers":{"kind":"demo"},"vlmetalayers":{"note":"hi"},"chunks":[{"nchunk":0,"offset":117,"cbytes":59,"nbytes":64,"codec":"lz4","filters":["shuffle"],"blocksize":64},{"nchunk":1,"cbytes":0,"nbytes":64,"special":"zeros"},{"nchunk":2,"offset":176,"cbytes":52,"nbytes":20,"codec":"blosclz","filters":["shuffle"],"blocksize":20,"memcpyed":true}],"checksum":"none"}
    --- stderr
    "#);
}

#[test]
fn an_array() {
    snapshot!(samples(&["nd-struct.b2nd"]).b2("nd-struct.b2nd"), @r#"
    exit 0
    --- stdout
    nd-struct.b2nd: Blosc2 n-d array, contiguous frame (format 2)
      shape       2     [('a', '<i4'), ('b', '<f8'), ('c', 'S3')], items of 15 bytes, C order
      chunks      2
      blocks      2
      size        30 B -> 62 B  0.48x
      stored      1 of 30 B, blocks of 30 B
      pipeline    shuffle -> zstd level 5
      file        321 B     header 184 B, index 40 B, trailer 35 B, dead 0 B
      checksums   none
      opens with  C-Blosc2 2.0.3 or newer
      meta        b2nd
    --- stderr
    "#);
    snapshot!(samples(&["nd-struct.b2nd"]).b2("info --json nd-struct.b2nd"), @r#"
    exit 0
    --- stdout
    {"schema":"b2.info/1","path":"nd-struct.b2nd","format":"b2nd","format_version":2,"nbytes":30,"cbytes":62,"cratio":0.4838709677419355,"file_bytes":321,"dead_bytes":0,"nchunks":1,"chunksize":30,"blocksize":30,"typesize":15,"codec":"zstd","clevel":5,"filters":["shuffle"],"filters_meta":[0],"split":"auto","dict":false,"special":{"zeros":0,"nan":0,"value":0,"uninit":0},"shape":[2],"chunkshape":[2],"blockshape":[2],"dtype":"[('a', '<i4'), ('b', '<f8'), ('c', 'S3')]","metalayers":{"b2nd":[0,1,[2],[2],[2],0,"[('a', '<i4'), ('b', '<f8'), ('c', 'S3')]"]},"checksum":"none"}
    --- stderr
    "#);
}

#[test]
fn runs_and_dead_bytes() {
    snapshot!(samples(&["special-nan.b2frame"]).b2("special-nan.b2frame"), @r#"
    exit 0
    --- stdout
    special-nan.b2frame: Blosc2 super-chunk, contiguous frame (format 2)
      items       250 x 4 bytes     1000 B -> 0 B
      chunks      3 of 400 B, last 200 B, blocks of 400 B; 3 all NaN
      pipeline    shuffle -> lz4 level 5
      file        172 B     header 97 B, index 40 B, trailer 35 B, dead 0 B
      checksums   none
      opens with  C-Blosc2 2.0.3 or newer
    --- stderr
    "#);
    snapshot!(samples(&["delete-all-then-append.b2frame"]).b2("delete-all-then-append.b2frame"), @r#"
    exit 0
    --- stdout
    delete-all-then-append.b2frame: Blosc2 super-chunk, contiguous frame (format 2)
      items       100 x 4 bytes     400 B -> 177 B  2.26x
      chunks      1 of 400 B, blocks of 400 B
      pipeline    shuffle -> lz4 level 5
      file        706 B     header 97 B, index 40 B, trailer 35 B, dead 357 B
      checksums   none
      opens with  C-Blosc2 2.0.3 or newer
    --- stderr
    "#);
    snapshot!(samples(&["empty.b2frame"]).b2("empty.b2frame"), @r#"
    exit 0
    --- stdout
    empty.b2frame: Blosc2 super-chunk, contiguous frame (format 2)
      items       0 x 4 bytes     0 B -> 0 B
      chunks      0
      pipeline    shuffle -> lz4 level 5
      file        132 B     header 97 B, index 0 B, trailer 35 B, dead 0 B
      checksums   none
      opens with  C-Blosc2 2.0.3 or newer
    --- stderr
    "#);
}

#[test]
fn chunks_of_many_sizes() {
    snapshot!(samples(&["variable-with-one-special.b2frame"]).b2("info -vv variable-with-one-special.b2frame"), @r#"
    exit 0
    --- stdout
    variable-with-one-special.b2frame: Blosc2 super-chunk, contiguous frame (format 3: variable chunks)
      items       450 x 4 bytes     1.8 KiB -> 595 B  3.03x
      chunks      5, blocks of 400 B; 1 all zero
      pipeline    shuffle -> lz4 level 5, split forward
      file        799 B     header 97 B, index 72 B, trailer 35 B, dead 0 B
      checksums   none
      opens with  C-Blosc2 3.0.0 or newer (format 3)
        chunk          offset         bytes          data    ratio  blocksize  special  pipeline
            0              97           152           400     2.63        400  -        shuffle -> lz4
            1             503           189           400     2.12        200  -        shuffle -> lz4
            2               -             0           400        -          -  zeros    -
            3             249           152           400     2.63        400  -        shuffle -> lz4
            4             401           102           200     1.96        200  -        shuffle -> lz4
    --- stderr
    "#);
}

#[test]
fn unreadable_parts_are_problems_and_exit_code_1() {
    snapshot!(samples(&["variable-with-two-specials.b2frame"]).b2("variable-with-two-specials.b2frame"), @r#"
    exit 1
    --- stdout
    variable-with-two-specials.b2frame: Blosc2 super-chunk, contiguous frame (format 3: variable chunks)
      items       450 x 4 bytes     1.8 KiB -> 0 B
      chunks      5, blocks of 400 B
      pipeline    shuffle -> lz4 level 5
      file        647 B     header 97 B, index 72 B, trailer 35 B, dead 0 B
      checksums   none
      opens with  C-Blosc2 3.0.0 or newer (format 3)
      problem     at byte 540: chunk 2 has no size: 2 special chunks share 800 bytes
    --- stderr
    "#);
}

#[test]
fn sizes_in_powers_of_1000() {
    let dir = samples(&["nd-typesize300.b2nd"]);
    assert!(dir.b2("info --si nd-typesize300.b2nd").ok().text().contains("13.5 kB -> "));
    assert!(dir.b2("info nd-typesize300.b2nd").ok().text().contains("13.2 KiB -> "));
}

#[test]
fn a_list() {
    let names = ["tiny.b2frame", "tiny-nd.b2nd", "special-zero.b2frame"];
    let dir = samples(&names);
    snapshot!(dir.b2(&format!("-l {}", names.join(" "))), @r#"
    exit 0
    --- stdout
    Format   Chunks  Compressed  Uncompressed  Ratio  Check  Name
    b2frame       3       369 B         148 B   0.40  none   tiny.b2frame
    b2nd          4       456 B          30 B   0.07  none   tiny-nd.b2nd
    b2frame       3       172 B        1000 B   5.81  none   special-zero.b2frame
                 10       997 B       1.2 KiB   1.18         3 files
    --- stderr
    "#);
    snapshot!(dir.b2("list --json tiny-nd.b2nd"), @r#"
    exit 0
    --- stdout
    {"schema":"b2.list/1","path":"tiny-nd.b2nd","format":"b2nd","nchunks":4,"file_bytes":456,"nbytes":30,"file_ratio":0.06578947368421052,"frames":1}
    --- stderr
    "#);
    snapshot!(dir.b2("ls -r ."), @r#"
    exit 0
    --- stdout
    Format   Chunks  Compressed  Uncompressed  Ratio  Check  Name
    b2frame       3       172 B        1000 B   5.81  none   ./special-zero.b2frame
    b2nd          4       456 B          30 B   0.07  none   ./tiny-nd.b2nd
    b2frame       3       369 B         148 B   0.40  none   ./tiny.b2frame
                 10       997 B       1.2 KiB   1.18         3 files
    --- stderr
    "#);
}

#[test]
fn missing_chunk_files_of_a_sparse_frame_are_reported() {
    let dir = Dir::new();
    std::fs::create_dir(dir.path("s.b2frame")).unwrap();
    std::fs::copy(
        path("frames/tiny-sparse.b2frame/chunks.b2frame"),
        dir.path("s.b2frame/chunks.b2frame"),
    )
    .unwrap();
    snapshot!(dir.b2("s.b2frame"), @r"
    exit 1
    --- stdout
    s.b2frame: Blosc2 super-chunk, sparse frame (format 2)
      items       37 x 4 bytes     148 B -> 0 B
      chunks      3 of 64 B, last 20 B
      pipeline    shuffle -> lz4 level 5
      file        369 B     header 117 B, index 56 B, trailer 85 B, dead 0 B
      checksums   none
      opens with  C-Blosc2 2.0.3 or newer
      meta        kind
      vlmeta      note
      problem     chunk 0 in file 00000000.chunk: no such file or directory
    --- stderr
    ");
}

#[test]
fn older_frames_and_other_formats_are_named() {
    let dir = Dir::new();
    dir.write("old", b"\x9d\xa8b2frame\0\xd2\0\0\0\x57")
        .write("png", b"\x89PNG\r\n\x1a\n")
        .write("empty", b"");
    dir.write("blp", b"blpk\x03\0\0\0").write("text", b"some text");
    snapshot!(dir.b2("old png empty blp text"), @r#"
    exit 4
    --- stdout
    --- stderr
    b2: old: an older frame layout, of the 2.0.0 betas (first byte 0x9d)
    b2: png: not a Blosc file (starts with 89 50 4e 47: a PNG image)
    b2: empty: not a Blosc file (it is empty)
    b2: blp: at byte 0: header of 32 bytes, 8 are left
    b2: text: not a Blosc file (starts with 73 6f 6d 65)
    "#);
    snapshot!(dir.b2("info --json png"), @r#"
    exit 4
    --- stdout
    --- stderr
    {"schema":"b2.error/1","kind":"foreign","message":"not a Blosc file (starts with 89 50 4e 47: a PNG image)","file":"png"}
    "#);
}

/// The programs that open the file, as `info` reports them.
fn opens_with(dir: &Dir, name: &str) -> String {
    let run = dir.b2(&format!("info {name}")).ok();
    let line = run.text().lines().find_map(|line| line.strip_prefix("  opens with  "));
    line.unwrap().to_owned()
}

#[test]
fn readers_must_open_everything_in_a_file() {
    let dir = Dir::new();
    dir.write("a", walk(5000));
    dir.b2("c -q -t 4 -C lz4 --filter bitshuffle,shuffle a -o a.b2frame").ok();
    let order =
        "C-Blosc2 2.7.0 or newer (bitshuffle before shuffle, which older ones read as other data)";
    assert_eq!(opens_with(&dir, "a.b2frame"), order);
    dir.b2("c -q -t 4 -C snappy --target blosc-1.3 a -o a.chunk").ok();
    let snappy = "C-Blosc 1.3 or newer that was built with Snappy, no C-Blosc2";
    assert_eq!(opens_with(&dir, "a.chunk"), snappy);
    dir.b2("c -q -t 4 -C lz4 --filter shuffle,bytedelta:4 a -o b.chunk").ok();
    assert_eq!(opens_with(&dir, "b.chunk"), "C-Blosc2 2.10.0 or newer (bytedelta)");
    let mut chunk = dir.read("b.chunk");
    let meta = chunk[24..30].iter().position(|meta| *meta == 4).unwrap();
    chunk[24 + meta] = 0;
    dir.write("b.chunk", chunk);
    let nobody = "no C-Blosc2 (bytedelta without its parameter, outside of a frame)";
    assert_eq!(opens_with(&dir, "b.chunk"), nobody);
    for entry in std::fs::read_dir(path("frames/legacy")).unwrap() {
        let beta = entry.unwrap().path();
        let name = beta.file_name().unwrap().to_str().unwrap();
        if name.starts_with("beta") && name.ends_with(".b2frame") {
            std::fs::copy(&beta, dir.path("beta")).unwrap();
            let few = opens_with(&dir, "beta");
            assert!(few.contains("beta") || few.contains("never released"), "{beta:?} {few}");
        }
    }
}

/// The readers that open an object, and the note of `program`.
fn readers(dir: &Dir, path: &str, program: &str) -> (Vec<String>, String) {
    let document = dir.b2(&format!("compat --json {path}")).ok();
    let document: serde_json::Value = serde_json::from_slice(&document.stdout).unwrap();
    assert_eq!(
        (document["schema"].as_str(), document["path"].as_str()),
        (Some("b2.compat/1"), Some(path))
    );
    let all = document["readers"].as_array().unwrap();
    let name = |reader: &serde_json::Value| reader["program"].as_str().unwrap().to_owned();
    let opening = all.iter().filter(|reader| reader["opens"] == true).map(name).collect();
    let asked = all.iter().find(|reader| reader["program"] == program).unwrap();
    (opening, asked["note"].as_str().unwrap().to_owned())
}

#[test]
fn compat_names_the_readers_of_a_file() {
    let dir = Dir::new();
    dir.write("x.i32", vec![7; 4000]);
    dir.b2("c -q -t 4 --filter shuffle,bytedelta -C zstd x.i32 -o new.b2frame").ok();
    dir.b2("c -q -t 4 --format chunk --target blosc-1.14 x.i32 -o old.chunk").ok();
    dir.b2("c -q -t 4 --format chunk x.i32 -o new.chunk").ok();
    dir.b2("c -q -t 4 x.i32 -o x.blp").ok();
    let (opening, note) = readers(&dir, "new.b2frame", "C-Blosc2");
    assert_eq!(opening, ["C-Blosc2", "python-blosc2"]);
    assert_eq!(note, "2.10.0 or newer (bytedelta)");
    let (opening, note) = readers(&dir, "old.chunk", "C-Blosc, python-blosc");
    assert_eq!(opening, ["C-Blosc2", "python-blosc2", "C-Blosc, python-blosc", "numcodecs, zarr"]);
    assert_eq!(note, "1.11 or newer");
    let (opening, note) = readers(&dir, "new.chunk", "numcodecs, zarr");
    assert_eq!(opening, ["C-Blosc2", "python-blosc2"]);
    assert!(note.contains("--target blosc-1.14"), "{note}");
    assert_eq!(readers(&dir, "x.blp", "bcolz").0, ["Bloscpack"]);
    let run = dir.b2("compat x.i32");
    assert_eq!(run.code, Some(4), "{}", run.stderr);
}

#[test]
fn compat_of_a_store_goes_by_its_tables() {
    let dir =
        crate::stores::samples(&["tree-basic.b2z", "table-basic.b2z", "table-nulls-mask.b2d"]);
    for (path, expected) in [
        ("tree-basic.b2z", "3.7 or newer (stores)"),
        ("table-basic.b2z", "4.9 or newer (columns of text of any length)"),
        ("table-nulls-mask.b2d", "4.11 or newer (masks of nulls)"),
    ] {
        let (opening, note) = readers(&dir, path, "python-blosc2");
        assert_eq!((opening, note.as_str()), (vec!["python-blosc2".to_owned()], expected));
    }
}

//! Arrays in Bloscpack files: the metadata of NumPy describe them.

use std::fs;

use blosc_testdata::fixture::path;

use crate::session::{Dir, snapshot};

/// A folder with a file of Bloscpack 0.16.0.
fn with(name: &str) -> Dir {
    let dir = Dir::new();
    dir.write("x.blp", fs::read(path(format!("bloscpack/{name}.blp"))).unwrap());
    dir
}

/// The file that `numpy.save` writes for these items.
fn npy(descr: &str, order: &str, shape: &str, growth: usize, items: &[u8]) -> Vec<u8> {
    let mut text = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}");
    text.push_str(&" ".repeat(growth));
    let len = (10 + text.len() + 1).next_multiple_of(64) - 10;
    let text = format!("{text:<width$}\n", width = len - 1);
    [b"\x93NUMPY\x01\0", &u16::try_from(len).unwrap().to_le_bytes()[..], text.as_bytes(), items]
        .concat()
}

/// Items of 2 bytes: 0, 1, 2, ...
fn counted(n: u16) -> Vec<u8> {
    (0..n).flat_map(u16::to_le_bytes).collect()
}

#[test]
fn npy_files_become_arrays_and_come_back_to_the_byte() {
    let dir = Dir::new();
    let structured = "[('a', '|i1'), ('', '|V7'), ('b', '<f8')]";
    for (descr, order, shape, growth, items) in [
        ("'<i2'", "False", "(20, 30)", 19, counted(600)),
        ("'<i2'", "True", "(20, 30)", 19, counted(600)),
        ("'>u2'", "True", "(2, 3, 100)", 18, counted(600)),
        ("'<M8[ns]'", "False", "(5,)", 20, vec![7; 40]),
        ("'|S3'", "False", "()", 0, b"abc".to_vec()),
        ("'<f8'", "False", "(0, 3)", 20, vec![]),
        ("'<U100'", "False", "(3,)", 20, vec![0; 1200]),
        (structured, "False", "(5,)", 20, vec![3; 80]),
    ] {
        let file = npy(descr, order, shape, growth, &items);
        dir.write("x.npy", &file);
        dir.b2("c -q -f --rm --format blp -z 1000 x.npy").ok();
        assert_eq!(dir.names(), ["x.npy.blp"]);
        assert_eq!(dir.b2("cat x.npy.blp").ok().stdout, items, "{descr} {order} {shape}");
        assert_eq!(
            dir.b2("d --format npy -c x.npy.blp").ok().stdout,
            file,
            "{descr} {order} {shape}"
        );
        assert_eq!(dir.b2("d -c x.npy.blp").ok().stdout, items, "{descr} {order} {shape}");
        // The metadata are kept, so that the input can go.
        dir.b2("d --rm x.npy.blp").ok();
        assert_eq!(dir.names(), ["x.npy"]);
        assert_eq!(dir.read("x.npy"), file, "{descr} {order} {shape}");
        dir.b2("c -q -o other.blp x.npy").ok();
        dir.b2("d other.blp").ok();
        assert_eq!(dir.read("other"), items, "{descr} {order} {shape}");
        dir.b2("d other.blp -o y.npy").ok();
        assert_eq!(dir.read("y.npy"), file, "{descr} {order} {shape}");
        for name in ["x.npy", "y.npy", "other", "other.blp"] {
            fs::remove_file(dir.path(name)).unwrap();
        }
    }
}

#[test]
fn chunks_hold_whole_items() {
    let dir = Dir::new();
    dir.write("x.npy", npy("'|S3'", "False", "(1000,)", 17, &[5; 3000]));
    dir.b2("c -q -o x.blp -z 1000 x.npy").ok();
    snapshot!(dir.b2("info x.blp"), @r#"
    exit 0
    --- stdout
    x.blp: Bloscpack file (format version 3)
      shape       1 000     |S3, C order
      size        2.9 KiB -> 148 B  20.3x
      chunks      4 of 999 B, last 3 B
      offsets     yes, room for 40 more chunks
      pipeline    shuffle -> zstd (first chunk, blocks of 999 B)
      file        1.2 KiB     dead 0 B
      checksums   adler32 per chunk
      metadata    64 B, room for 640 B: {"dtype":"'|S3'","shape":[1000],"order":"C","container":"numpy"}
    --- stderr
    "#);
}

#[test]
fn raw_data_with_a_shape_and_pipes_are_arrays_too() {
    let dir = Dir::new();
    dir.write("x.i16", counted(600));
    let file = npy("'<i2'", "False", "(20, 30)", 19, &counted(600));
    dir.b2("c -q --shape 20,30 --dtype i2 -o x.blp --verify x.i16").ok();
    assert_eq!(dir.b2("d --format npy -c x.blp").ok().stdout, file);
    // A pipe needs no offsets, since it gives the number of items.
    let packed = dir.b2_with("c --format blp", &file).ok();
    assert_eq!(packed.stdout[16..24], 1_u64.to_le_bytes());
    assert_eq!(dir.b2_with("d --format npy", &packed.stdout).ok().stdout, file);
    let fortran = npy("'<i2'", "True", "(20, 30)", 19, &counted(600));
    let packed = dir.b2_with("c --format blp", &fortran).ok();
    assert_eq!(dir.b2_with("d --format npy", &packed.stdout).ok().stdout, fortran);
    dir.b2_with("c -q -o y.blp --verify", &file).ok();
    assert!(dir.b2("info y.blp").ok().text().contains("20 x 30"));
}

#[test]
fn incomplete_array_is_kept_as_bytes_or_refused() {
    let dir = Dir::new();
    let file = npy("'<i2'", "False", "(20, 30)", 19, &counted(600));
    for (name, bytes, options) in [
        ("two", [&file[..], &file].concat(), ""),
        ("objects", npy("'|O'", "False", "(5,)", 20, &[0; 40]), ""),
        ("bytes", file.clone(), "-t 2"),
    ] {
        dir.write(name, &bytes);
        dir.b2(&format!("c -q --format blp {options} {name}")).ok();
        assert_eq!(dir.b2(&format!("cat {name}.blp")).ok().stdout, bytes, "{name}");
        assert!(dir.b2(&format!("info {name}.blp")).ok().text().contains(" items "), "{name}");
    }
    dir.write("x.npy", &file);
    snapshot!(dir.b2("c --chunks 3,3 -o x.blp x.npy"), @"
    exit 2
    --- stdout
    --- stderr
    b2: --chunks and --blocks do not apply: the chunks of a Bloscpack file are numbers of bytes
    hint: use -z, or --format b2nd
    ");
    snapshot!(dir.b2_with("c -o x.blp", &file[..1000]), @"
    exit 1
    --- stdout
    --- stderr
    b2: stdin: the array needs 1200 bytes, the input ends earlier
    ");
    snapshot!(dir.b2_with("c -o x.blp", &[&file[..], b"more"].concat()), @"
    exit 1
    --- stdout
    --- stderr
    b2: stdin: the array needs 1200 bytes, the file has 1201 for it
    ");
    snapshot!(dir.b2("d --format npy bytes.blp"), @"
    exit 2
    --- stdout
    --- stderr
    b2: bytes.blp: not an array, so it cannot become a .npy file
    hint: use --format raw
    ");
    assert!(!dir.names().contains(&"x.blp".to_owned()));
}

#[test]
fn more_metadata_than_an_array_needs_are_not_lost() {
    let dir = with("real_np_2d_F");
    dir.b2("d --rm x.blp -o x.npy").ok();
    assert_eq!(dir.names(), ["x.npy"]);
    let dir = with("real_meta_zlib");
    assert_eq!(dir.b2("d --rm x.blp").code, Some(1));
}

#[test]
fn arrays_of_c_blosc2_are_shown() {
    // a[i, j] = 15 i + j, stored in Fortran order.
    snapshot!(with("real_np_2d_F").b2("show x.blp --slice 2:4,::7"), @r"
    exit 0
    --- stdout
    [[30 37 44]
     [45 52 59]]
    --- stderr
    ");
    snapshot!(with("old_np_071_struct").b2("show -n 2 x.blp"), @r"
    exit 0
    --- stdout
    [(1, 2.5, b'x') (2, 3.5, b'yy')]
    --- stderr
    ");
    snapshot!(with("real_np_0d").b2("show x.blp"), @r"
    exit 0
    --- stdout
    5.0
    --- stderr
    ");
    snapshot!(with("real_np_3d_F").b2("show --json x.blp --slice=-1,::-2,1"), @r#"
    exit 0
    --- stdout
    {"schema":"b2.show/1","path":"x.blp","dtype":"<i8","shape":[2],"values":[21,13]}
    --- stderr
    "#);
    snapshot!(with("real_np_multichunk").b2("show x.blp"), @r"
    exit 0
    --- stdout
    [  0   1   2 ... 997 998 999]
    --- stderr
    ");
    snapshot!(with("real_np_zero_2d").b2("show x.blp"), @r"
    exit 0
    --- stdout
    []
    --- stderr
    ");
}

#[test]
fn the_type_can_be_another_of_the_same_size() {
    snapshot!(with("real_np_2d_C").b2("show --dtype f4 x.blp --slice 0,:3"), @r"
    exit 0
    --- stdout
    [0.e+00 1.e-45 3.e-45]
    --- stderr
    ");
    snapshot!(with("real_np_2d_C").b2("show --dtype f8 x.blp --slice 0,:3"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: x.blp: an item of the type <f8 has 8 bytes, the items of the array have 4
    ");
    snapshot!(with("real_multichunk").b2("show --dtype i4 x.blp --slice :3"), @r"
    exit 0
    --- stdout
    [0 0 0]
    --- stderr
    ");
    snapshot!(with("real_np_2d_C").b2("show x.blp --slice 99"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: x.blp: index 99 in dimension 0, which has 8 items
    ");
}

#[test]
fn padding_of_items_is_no_field() {
    let dir = Dir::new();
    let items: Vec<u8> = (0..80).collect();
    for descr in [
        "[('a', '|i1'), ('', '|V7'), ('b', '<f8')]",
        "[('a', '<i8'), ('b', '<i4'), ('', '|V4')]",
        "[('', '|V8'), ('a', '<f8')]",
    ] {
        dir.write("al.npy", npy(descr, "False", "(5,)", 20, &items));
        for format in ["blp", "b2nd", "npy"] {
            dir.b2(&format!("convert -q -f --strict al.npy --format {format} -o al")).ok();
            let run = dir.b2("diff al.npy al");
            assert_eq!(run.code, Some(0), "{descr} {format}: {}", run.all());
            // The metadata are printed as they are stored.
            let run = dir.b2("info al").ok();
            let info = run.text();
            let named = info.lines().filter(|line| line.contains("('', "));
            assert!(named.clone().all(|line| line.contains(" metadata ")), "{descr} {format}");
        }
        // The way back is the same to the byte, so that the input can go.
        fs::copy(dir.path("al.npy"), dir.path("gone.npy")).unwrap();
        dir.b2("convert -q -f --rm gone.npy gone.blp").ok();
        dir.b2("convert -q -f gone.blp back.npy").ok();
        assert!(dir.read("back.npy") == dir.read("al.npy"), "{descr}");
    }
}

//! Arrays: `.npy` files and raw data with a shape, to `.b2nd` and back.

use std::fs;

use blosc_testdata::{fixture::path, sha256_hex};

use crate::session::{Dir, snapshot, walk};

/// A `.npy` file as `numpy.save` writes it.
fn npy(descr: &str, fortran_order: bool, shape: &str, growth: usize, items: &[u8]) -> Vec<u8> {
    let order = if fortran_order { "True" } else { "False" };
    let mut text = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}");
    text.push_str(&" ".repeat(growth));
    let len = (10 + text.len() + 1).next_multiple_of(64) - 10;
    let head = [&b"\x93NUMPY\x01\0"[..], &u16::try_from(len).unwrap().to_le_bytes()].concat();
    [&head[..], text.as_bytes(), &vec![b' '; len - text.len() - 1], b"\n", items].concat()
}

fn info(dir: &Dir, file: &str) -> serde_json::Value {
    serde_json::from_slice(&dir.b2(&format!("info --json {file}")).ok().stdout).unwrap()
}

#[test]
fn a_npy_file_comes_back_byte_by_byte() {
    let dir = Dir::new();
    let walked = walk(60_000);
    for (name, descr, shape, growth, nbytes) in [
        ("flat", "'<i4'", "(60000,)", 16, 240_000),
        ("plane", "'>u2'", "(300, 400)", 18, 240_000),
        ("cube", "'<f8'", "(20, 30, 50)", 19, 240_000),
        ("scalar", "'|u1'", "()", 0, 1),
        ("empty", "'<f4'", "(0, 7)", 20, 0),
        ("fields", "[('a', '<i4'), ('b', '|S2')]", "(100,)", 18, 600),
    ] {
        let file = format!("{name}.npy");
        let bytes = npy(descr, false, shape, growth, &walked[..nbytes]);
        dir.write(&file, &bytes);
        dir.b2(&format!("c -q --rm {file}")).ok();
        let found = info(&dir, &format!("{file}.b2nd"));
        let lens: Vec<u64> = serde_json::from_value(found["shape"].clone()).unwrap();
        let expected = shape.trim_matches(['(', ')']).split(", ").filter(|len| !len.is_empty());
        let expected: Vec<u64> =
            expected.map(|len| len.trim_end_matches(',').parse().unwrap()).collect();
        assert_eq!(lens, expected, "{name}");
        dir.b2(&format!("d --rm {file}.b2nd")).ok();
        assert!(dir.read(&file) == bytes, "{name}");
    }
}

#[test]
fn narrow_memory_and_any_chunks_give_the_same_items() {
    let dir = Dir::new();
    let data = walk(300 * 1000);
    dir.write("a.npy", npy("'<i4'", false, "(300, 1000)", 18, &data));
    for options in [
        "",
        "--chunks 70,130 --blocks 7,65",
        "--chunks 300,1",
        "-M 2M --chunks 64,64",
        "-T 1 -C lz4",
    ] {
        dir.b2(&format!("c -q -f --verify {options} a.npy")).ok();
        assert!(dir.b2("cat a.npy.b2nd").ok().stdout == data, "{options}");
    }
    dir.b2("c -q -f --chunks 70,130 --blocks 7,65 a.npy").ok();
    let found = info(&dir, "a.npy.b2nd");
    assert_eq!(found["chunkshape"], serde_json::json!([70, 130]));
    assert_eq!(found["blockshape"], serde_json::json!([7, 65]));
    assert_eq!(found["dtype"], "<i4");
}

#[test]
fn fortran_order_is_put_in_order() {
    let dir = Dir::new();
    let items: Vec<u8> =
        (0..5u8).flat_map(|column| (0..3u8).map(move |row| 10 * row + column)).collect();
    dir.write("f.npy", npy("'|u1'", true, "(3, 5)", 20, &items));
    dir.b2("c -q --verify --chunks 2,2 --blocks 1,2 f.npy").ok();
    let expected: Vec<u8> =
        (0..3u8).flat_map(|row| (0..5u8).map(move |column| 10 * row + column)).collect();
    assert_eq!(dir.b2("cat f.npy.b2nd").ok().stdout, expected);
    dir.b2("d -o c.npy f.npy.b2nd").ok();
    assert_eq!(dir.read("c.npy"), npy("'|u1'", false, "(3, 5)", 20, &expected));
    let run = dir.b2_with("c", &dir.read("f.npy"));
    assert_eq!(run.code, Some(2), "{}", run.stderr);
}

#[test]
fn raw_data_with_shape_and_dtype_is_an_array() {
    let dir = Dir::new();
    let data = walk(1200);
    dir.write("w.i32", &data);
    dir.b2("c -q --shape 30,40 --dtype i4 w.i32").ok();
    let found = info(&dir, "w.i32.b2nd");
    assert_eq!((&found["shape"], &found["dtype"]), (&serde_json::json!([30, 40]), &"<i4".into()));
    // Raw input becomes raw again.
    dir.b2("d -f w.i32.b2nd").ok();
    assert!(dir.read("w.i32") == data);
    dir.b2("d --format npy -o w.npy w.i32.b2nd").ok();
    assert!(dir.read("w.npy") == npy("'<i4'", false, "(30, 40)", 19, &data));
}

#[test]
fn pipes_carry_arrays() {
    let dir = Dir::new();
    let data = walk(120_000);
    let bytes = npy("'<i4'", false, "(300, 400)", 18, &data);
    let run = dir.b2_with("c --verify", &bytes).ok();
    assert!(dir.b2_with("cat", &run.stdout).ok().stdout == data);
    assert!(dir.b2_with("d --format npy", &run.stdout).ok().stdout == bytes);
    assert!(dir.b2_with("d", &run.stdout).ok().stdout == data);
    assert_eq!(dir.b2_with("c", &bytes[..5000]).code, Some(1));
    assert_eq!(dir.b2_with("c", &[&bytes[..], b"!"].concat()).code, Some(1));
    assert_eq!(dir.b2_with("c -M 1M --chunks 300,1", &bytes).code, Some(5));
}

#[test]
fn input_without_array_stays_bytes_or_is_refused() {
    let dir = Dir::new();
    let objects = npy("'|O'", false, "(3,)", 20, b"a pickle");
    dir.write("objects.npy", &objects).b2("c -q objects.npy").ok();
    dir.b2("d -o back objects.npy.b2frame").ok();
    assert!(dir.read("back") == objects);
    dir.write("w.i32", walk(100)).write("cut.npy", npy("'<i4'", false, "(30,)", 20, b"few"));
    snapshot!(dir.b2("c --format b2nd w.i32"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: w.i32: not an array: neither a .npy file nor raw data with --shape and --dtype
    hint: use --format b2frame to compress the bytes as they are
    ");
    snapshot!(dir.b2("c --format b2nd objects.npy"), @r"
    exit 4
    --- stdout
    --- stderr
    b2: objects.npy: the items of the .npy file are Python objects
    hint: `b2 compress --format b2frame objects.npy` keeps the bytes as they are
    ");
    snapshot!(dir.b2("c --format b2nd cut.npy"), @r"
    exit 1
    --- stdout
    --- stderr
    b2: cut.npy: the array needs 120 bytes, the file has 3 for it
    ");
    snapshot!(dir.b2("c --shape 7,7 --dtype i4 w.i32"), @r"
    exit 1
    --- stdout
    --- stderr
    b2: w.i32: the array needs 196 bytes, the file has 400 for it
    ");
    snapshot!(dir.b2("c --shape 10,10 --dtype i4 -t 4 w.i32"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: w.i32: -t, -z and --block-size do not apply to an array
    hint: use --chunks and --blocks, or --format b2frame
    ");
    snapshot!(dir.b2("d --format npy objects.npy.b2frame -o x.npy"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: objects.npy.b2frame: not an array, so it cannot become a .npy file
    hint: use --format raw
    ");
    for line in
        ["c --shape 3 w.i32", "c --shape 3x4 --dtype i4 w.i32", "c --shape 3 --dtype i3 w.i32"]
    {
        assert_eq!(dir.b2(line).code, Some(2), "{line}");
    }
    // A file that does not fit its header (two arrays, a cut) is compressed as bytes.
    dir.b2("c -q cut.npy").ok();
    assert!(dir.b2("cat cut.npy.b2frame").ok().stdout == dir.read("cut.npy"));
    // With an item size, an array is compressed as bytes.
    dir.write("a.npy", npy("'<i4'", false, "(100,)", 18, &walk(100))).b2("c -q -t 4 a.npy").ok();
    assert!(dir.b2("cat a.npy.b2frame").ok().stdout == dir.read("a.npy"));
}

#[test]
fn arrays_of_other_programs_become_npy_files() {
    let dir = Dir::new();
    fs::copy(path("frames/generated/array-2d.b2nd"), dir.path("a.b2nd")).unwrap();
    dir.b2("d a.b2nd").ok();
    let raw = dir.b2("cat a.b2nd").ok().stdout;
    assert!(dir.read("a.npy") == npy("'<i4'", false, "(40, 50)", 19, &raw));
    dir.b2("d -o a.raw a.b2nd").ok();
    assert_eq!(sha256_hex(&dir.read("a.raw")), sha256_hex(&raw));
}

/// Parts of `arange(24).reshape(4, 6)` as NumPy cuts them, in every format of arrays.
#[test]
fn cat_writes_a_part_of_an_array() {
    let dir = Dir::new();
    let items: Vec<u8> = (0..24_i16).flat_map(i16::to_le_bytes).collect();
    dir.write("a.npy", npy("'<i2'", false, "(4, 6)", 18, &items));
    for name in ["a.b2nd", "a.blp", "a.bcolz", "a.b2z"] {
        dir.b2(&format!("convert -q a.npy -o {name}")).ok();
    }
    let parts: [(&str, &[i16]); 6] = [
        ("1", &[6, 7, 8, 9, 10, 11]),
        (":,-1", &[5, 11, 17, 23]),
        ("::-2,1:4:2", &[19, 21, 7, 9]),
        ("2:,::-5", &[17, 12, 23, 18]),
        ("3:1", &[]),
        ("-1,-1", &[23]),
    ];
    for (slice, expected) in parts {
        let expected: Vec<u8> = expected.iter().flat_map(|item| item.to_le_bytes()).collect();
        for name in ["a.npy", "a.b2nd", "a.blp", "a.bcolz", "a.b2z::/a"] {
            let run = dir.b2(&format!("cat --slice={slice} {name}")).ok();
            assert_eq!(run.stdout, expected, "{slice} of {name}");
        }
    }
    let run = dir.b2("cat --slice=9 a.b2nd");
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert_eq!(dir.b2("cat --slice=1 --items=1 a.b2nd").code, Some(2));
}

#[test]
fn a_npy_file_is_shown_and_described_like_an_array() {
    let dir = Dir::new();
    let items: Vec<u8> = (0..600_i32).flat_map(i32::to_le_bytes).collect();
    for (name, shape) in
        [("a", "(20, 30)"), ("b", "(600,)"), ("c", "(2, 3, 100)"), ("d", "(3, 200)")]
    {
        dir.write(&format!("{name}.npy"), npy("'<i4'", false, shape, 18, &items));
        dir.b2(&format!("convert -q {name}.npy -o {name}.b2nd")).ok();
        for options in ["", "--slice=1", "--slice=:2", "-n 1", "--csv", "--json", "--slice=::-3"] {
            let [ours, expected] = [".npy", ".b2nd"].map(|suffix| {
                let run = dir.b2(&format!("show {options} {name}{suffix}")).ok();
                run.text().replace(suffix, "")
            });
            assert_eq!(ours, expected, "{options} of {name}");
        }
    }
    dir.write("f.npy", npy("'<i4'", true, "(20, 30)", 18, &items));
    assert_eq!(dir.b2("show --slice=1,2 f.npy").ok().text(), "41\n");
    let text = dir.b2("info a.npy").ok();
    assert!(text.text().contains("20 x 30 of <i4, C order"), "{}", text.text());
    let json: serde_json::Value =
        serde_json::from_slice(&dir.b2("info --json f.npy").ok().stdout).unwrap();
    assert_eq!((json["format"].as_str(), json["order"].as_str()), (Some("npy"), Some("F")));
    assert_eq!(json["shape"], serde_json::json!([20, 30]));
    dir.write("cut.npy", npy("'<i4'", false, "(20, 31)", 18, &items));
    let cut = dir.b2("info cut.npy");
    assert!(cut.code == Some(1) && cut.text().contains("80 bytes are missing"), "{}", cut.all());
    let cut = dir.b2("info --json cut.npy");
    assert!(cut.code == Some(1) && cut.text().contains("\"problems\":[\"cut off"), "{}", cut.all());
    assert_eq!(dir.b2("show cut.npy").code, Some(1));
}

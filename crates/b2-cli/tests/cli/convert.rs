//! Conversions between formats: the content stays, chunks are moved if possible, and metadata if
//! the format can hold them.

use std::{fs, path::PathBuf};

use blosc_testdata::fixture::path;
use serde_json::{Value, json};

use crate::session::{Dir, Run, snapshot, walk};

/// A frame of three chunks with metalayers of both kinds.
fn with_frame() -> Dir {
    let dir = Dir::new();
    dir.write("x.i32", walk(40_000));
    dir.b2("c -q -z 64K -t 4 --meta unit=K --vlmeta log=[1,\"b\"] x.i32 -o x.b2frame").ok();
    dir
}

fn report(run: &Run) -> Value {
    serde_json::from_slice(&run.stdout).unwrap()
}

fn info(dir: &Dir, name: &str) -> Value {
    report(&dir.b2(&format!("info --json {name}")))
}

/// Fixtures below a folder of the test data, with one of these suffixes.
fn fixtures(folder: &str, endings: &[&str]) -> Vec<PathBuf> {
    let mut files: Vec<_> =
        fs::read_dir(path(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| endings.iter().any(|ending| file.to_str().unwrap().ends_with(ending)));
    files.sort();
    files
}

#[test]
fn frames_become_sparse_and_contiguous_without_compression() {
    let dir = with_frame();
    snapshot!(dir.b2("convert x.b2frame sparse.sframe"), @r"
    exit 0
    --- stdout
    --- stderr
    x.b2frame -> sparse.sframe   41.3 KiB -> 41.3 KiB   3 chunks moved
    ");
    snapshot!(dir.b2("convert sparse.sframe back.b2frame"), @r"
    exit 0
    --- stdout
    --- stderr
    sparse.sframe -> back.b2frame   41.3 KiB -> 41.3 KiB   3 chunks moved
    ");
    assert!(dir.read("back.b2frame") == dir.read("x.b2frame"));
    assert!(dir.b2("cat sparse.sframe").ok().stdout == dir.read("x.i32"));
    assert_eq!(fs::read_dir(dir.path("sparse.sframe")).unwrap().count(), 1 + 3);
}

#[test]
fn chunks_and_metadata_go_to_bloscpack_and_back() {
    let dir = with_frame();
    snapshot!(dir.b2("convert --verify x.b2frame y.blp"), @r"
    exit 0
    --- stdout
    --- stderr
    x.b2frame -> y.blp   41.3 KiB -> 42.0 KiB   3 chunks recompressed
    ");
    let metadata = json!({"metalayers": {"unit": "K"}, "vlmetalayers": {"log": [1, "b"]}});
    assert_eq!(info(&dir, "y.blp")["metadata"], metadata);
    snapshot!(dir.b2("convert --verify y.blp z.b2frame"), @r"
    exit 0
    --- stdout
    --- stderr
    y.blp -> z.b2frame   42.0 KiB -> 41.5 KiB   3 chunks moved
    ");
    assert!(dir.b2("cat z.b2frame").ok().stdout == dir.read("x.i32"));
    let layers =
        |name| ["metalayers", "vlmetalayers", "chunksize"].map(|key| info(&dir, name)[key].clone());
    assert_eq!(layers("z.b2frame"), layers("x.b2frame"));
    // The name of the output is derived from that of the input.
    dir.b2("convert --format sframe y.blp").ok();
    assert!(dir.b2("cat y.sframe").ok().stdout == dir.read("x.i32"));
}

/// A `.npy` file of 400 x 50 items, and the same in Fortran order.
fn with_arrays() -> Dir {
    let dir = Dir::new();
    let items: Vec<[u8; 4]> = walk(20_000).chunks(4).map(|item| item.try_into().unwrap()).collect();
    let header = |order: &str| {
        let text = format!("{{'descr': '<i4', 'fortran_order': {order}, 'shape': (400, 50), }}");
        [b"\x93NUMPY\x01\0\x76\0".as_slice(), format!("{text:<117}\n").as_bytes()].concat()
    };
    let turned = (0..50).flat_map(|column| items.iter().skip(column).step_by(50));
    dir.write("c.npy", [header("False"), items.concat()].concat());
    dir.write("f.npy", [header("True"), turned.flatten().copied().collect()].concat());
    dir
}

#[test]
fn arrays_go_through_every_format_of_arrays() {
    let dir = with_arrays();
    let npy = dir.b2("convert -c --format npy c.npy").ok().stdout;
    for first in ["c.npy", "f.npy"] {
        let mut input = first.to_owned();
        for output in
            ["a.b2nd", "a.blp", "b.b2nd", "b.sframe", "c.b2nd", "b.blp", "c.b2frame", "c.blp"]
        {
            dir.b2(&format!("convert -qf --verify {input} {output}")).ok();
            let found = dir.b2(&format!("convert -qc --format npy {output}")).ok().stdout;
            assert!(found == npy, "{first} {input} {output}");
            input = output.to_owned();
        }
        let raw = dir.b2(&format!("convert -qc --format raw {first}")).ok().stdout;
        assert!(npy.ends_with(&raw) && raw.len() == 80_000);
        // Bloscpack keeps Fortran order; the next conversion makes it C order.
        dir.b2(&format!("convert -qf --verify {first} d.blp")).ok();
        for output in ["d.b2nd", "d.npy"] {
            dir.b2(&format!("convert -qf --verify d.blp {output}")).ok();
        }
        assert!(dir.read("d.npy") == npy);
        assert!(dir.b2("convert -qc --format npy d.b2nd").ok().stdout == npy);
    }
    dir.b2("convert -q --chunks 100,50 --blocks 10,50 c.npy e.b2nd").ok();
    let shapes = ["chunkshape", "blockshape"].map(|key| info(&dir, "e.b2nd")[key].clone());
    assert_eq!(shapes, [json!([100, 50]), json!([10, 50])]);
    // Both formats store these rows in the same order.
    snapshot!(dir.b2("convert e.b2nd e.blp"), @r"
    exit 0
    --- stdout
    --- stderr
    e.b2nd -> e.blp   22.6 KiB -> 21.7 KiB   4 chunks recompressed
    ");
    snapshot!(dir.b2("convert e.blp f.b2nd"), @r"
    exit 0
    --- stdout
    --- stderr
    e.blp -> f.b2nd   21.7 KiB -> 21.0 KiB   4 chunks moved
    ");
    assert!(dir.b2("convert -c --format npy f.b2nd").ok().stdout == npy);
}

#[test]
fn whole_rows_are_moved_between_arrays_and_bloscpack() {
    let dir = Dir::new();
    // Blocks of noise and of small steps, without runs.
    let noise: Vec<u8> =
        (0..400_000u32).flat_map(|i| (i.wrapping_mul(2_654_435_769) >> 12).to_le_bytes()).collect();
    dir.write("x.raw", &noise);
    for (shape, rows) in [("400000", 1), ("4000,100", 100)] {
        dir.b2(&format!(
            "c -qf --dtype u4 --shape {shape} -C lz4 --filter none --format b2nd x.raw -o x.b2nd"
        ))
        .ok();
        let chunks = if rows == 1 {
            "--chunks 65000 --blocks 13000"
        } else {
            "--chunks 650,100 --blocks 130,100"
        };
        dir.b2(&format!("convert -qf {chunks} x.b2nd -o y.b2nd")).ok();
        for line in
            ["convert --json -f --verify y.b2nd y.blp", "convert --json -f --verify y.blp z.b2nd"]
        {
            let report = report(&dir.b2(line).ok());
            // The last chunk is cut in one format, and padded in the other.
            assert_eq!(
                (&report["moved"], &report["recompressed"]),
                (&json!(6), &json!(1)),
                "{shape} {line}"
            );
        }
        assert!(dir.b2("cat z.b2nd").ok().stdout == noise);
        assert_eq!(info(&dir, "z.b2nd")["chunkshape"], info(&dir, "y.b2nd")["chunkshape"]);
    }
}

#[test]
fn options_give_the_type_of_untyped_data() {
    let dir = with_frame();
    snapshot!(dir.b2("convert x.b2frame y.npy"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: x.b2frame: not an array, and the type of its items is unknown
    hint: use --dtype, and --shape for more than one dimension
    ");
    snapshot!(dir.b2("convert --dtype i4 --shape 7,7 x.b2frame y.npy"), @r"
    exit 1
    --- stdout
    --- stderr
    b2: x.b2frame: the array needs 196 bytes, the file has 160000 for it
    ");
    dir.b2("convert -q --dtype i4 --shape 200,200 x.b2frame y.npy").ok();
    dir.b2("convert --verify --dtype i4 x.i32 z.b2nd").ok();
    dir.b2("convert --verify --dtype i4 --shape 200,200 x.b2frame w.b2nd").ok();
    assert_eq!(info(&dir, "z.b2nd")["shape"], json!([40_000]));
    assert_eq!(info(&dir, "w.b2nd")["vlmetalayers"], json!({"log": [1, "b"]}));
    assert!(dir.read("y.npy").ends_with(&dir.read("x.i32")));
    assert!(dir.b2("cat w.b2nd").ok().stdout == dir.read("x.i32"));
}

#[test]
fn one_chunk_is_moved_or_made() {
    let dir = with_frame();
    snapshot!(dir.b2("convert x.b2frame x.chunk"), @r"
    exit 0
    --- stdout
    --- stderr
    b2: x.b2frame: warning: no room for the metalayers `unit`, `log` in a .chunk file
    x.b2frame -> x.chunk   41.3 KiB -> 40.9 KiB   1 chunk recompressed
    ");
    snapshot!(dir.b2("convert x.chunk y.b2frame"), @r"
    exit 0
    --- stdout
    --- stderr
    x.chunk -> y.b2frame   40.9 KiB -> 41.2 KiB   1 chunk moved
    ");
    snapshot!(dir.b2("convert -C lz4 --target blosc-1.11 x.chunk y.chunk"), @r"
    exit 0
    --- stdout
    --- stderr
    x.chunk -> y.chunk   40.9 KiB -> 43.1 KiB   1 chunk recompressed
    ");
    snapshot!(dir.b2("convert --target blosc2-2.0 y.chunk z.chunk"), @r"
    exit 0
    --- stdout
    --- stderr
    y.chunk -> z.chunk   43.1 KiB -> 43.1 KiB   1 chunk moved
    ");
    snapshot!(dir.b2("convert y.chunk z.blp"), @r"
    exit 0
    --- stdout
    --- stderr
    y.chunk -> z.blp   43.1 KiB -> 43.2 KiB   1 chunk moved
    ");
    for name in ["x.chunk", "y.b2frame", "y.chunk", "z.chunk", "z.blp"] {
        assert!(dir.b2(&format!("cat {name}")).ok().stdout == dir.read("x.i32"), "{name}");
    }
    assert_eq!(info(&dir, "y.chunk")["format_version"], json!(2));
    assert_eq!(info(&dir, "z.chunk")["format_version"], json!(5));
}

#[test]
fn options_compress_anew() {
    let dir = with_frame();
    let run = dir.b2("convert --json -C lz4 -9 --filter bitshuffle -z 32K x.b2frame y.sframe").ok();
    let (moved, recompressed) =
        (report(&run)["moved"].clone(), report(&run)["recompressed"].clone());
    assert_eq!((moved, recompressed), (json!(0), json!(5)));
    let info = info(&dir, "y.sframe");
    let parameters = ["codec", "clevel", "filters", "chunksize", "metalayers", "vlmetalayers"];
    let expected = [
        json!("lz4"),
        json!(9),
        json!(["bitshuffle"]),
        json!(32768),
        json!({"unit": "K"}),
        json!({"log": [1, "b"]}),
    ];
    assert_eq!(parameters.map(|key| info[key].clone()), expected);
    assert!(dir.b2("cat y.sframe").ok().stdout == dir.read("x.i32"));
    dir.b2("convert -C blosclz --checksum sha256 y.sframe y.blp").ok();
    let info = self::info(&dir, "y.blp");
    let parameters = ["codec", "checksum", "chunk_size"].map(|key| info[key].clone());
    assert_eq!(parameters, [json!("blosclz"), json!("sha256"), json!(32768)]);
    assert!(dir.b2("cat y.blp").ok().stdout == dir.read("x.i32"));
}

#[test]
fn every_frame_goes_through_every_format() {
    let endings = [".b2frame", ".b2nd"];
    let files: Vec<_> = ["frames", "frames/generated", "frames/legacy"]
        .iter()
        .flat_map(|folder| fixtures(folder, &endings))
        .collect();
    assert!(files.len() > 30, "{}", files.len());
    let dir = Dir::new();
    for file in files {
        let name = file.display();
        let content = dir.b2(&format!("cat {name}"));
        if content.code != Some(0) || content.stdout.len() > 1 << 20 {
            continue;
        }
        // `--verify` compares each output with its input.
        for line in [
            format!("convert -qf --no-sync --verify {name} a.sframe"),
            "convert -qf --no-sync --verify a.sframe b.blp".into(),
            "convert -qf --no-sync --verify -l 1 b.blp e.b2frame".into(),
        ] {
            let run = dir.b2(&line);
            assert_eq!(run.code, Some(0), "{line}: {}", run.all());
        }
        assert!(dir.b2("cat e.b2frame").ok().stdout == content.stdout, "{name}");
    }
}

#[test]
fn every_bloscpack_file_becomes_a_frame_and_itself_again() {
    let dir = Dir::new();
    let files = fixtures("bloscpack", &[".blp"]);
    assert!(files.len() > 70);
    for file in files {
        let name = file.display();
        let metadata = |file: &str| info(&dir, file)["metadata"].clone();
        let run = dir.b2(&format!("convert -qf --no-sync --verify {name} a.b2frame"));
        if name.to_string().ends_with("synth_v3_aborted.blp") {
            assert_eq!(run.code, Some(1), "{}", run.all());
            continue;
        }
        run.ok();
        dir.b2("convert -qf --no-sync --verify a.b2frame b.blp").ok();
        assert_eq!(metadata("b.blp"), metadata(&name.to_string()), "{name}");
    }
}

#[test]
fn contradictory_options_are_refused() {
    let dir = with_frame();
    snapshot!(dir.b2("convert x.b2frame"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: neither an output nor its format is named
    hint: use --format, as in `b2 convert --format b2frame data.blp`: `b2 formats` lists them
    ");
    snapshot!(dir.b2("convert x.b2frame y.unknown"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: y.unknown: the name of the output tells no format
    hint: use --format, as in `b2 convert --format b2frame data.blp`: `b2 formats` lists them
    ");
    snapshot!(dir.b2("convert --filter trunc:8 x.b2frame y.blp"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: the filter trunc_prec:8 loses data, and conversions do not
    hint: use `b2 cat` and `b2 compress --lossy`
    ");
    snapshot!(dir.b2("convert --target blosc-1.11 x.b2frame y.b2frame"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: a .b2frame file is not for readers of blosc-1.11
    ");
    snapshot!(dir.b2("convert --checksum md5 x.b2frame y.b2frame"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: a .b2frame file has no such checksum
    hint: --checksum body, chunks or none is for frames and arrays, adler32 to sha512 or none for --format blp
    ");
    snapshot!(dir.b2("convert --chunks 7 x.b2frame y.b2frame"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: x.b2frame: --chunks and --blocks are for arrays
    hint: use -z and --block-size, or --format b2nd
    ");
    snapshot!(dir.b2("convert -c --format sframe x.b2frame"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: x.b2frame: the output is a directory, which standard output cannot take
    hint: use -o to name a directory
    ");
    snapshot!(dir.b2("convert -9 x.b2frame y.raw"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: a .raw file is not compressed: options of compression do not apply
    ");
    snapshot!(dir.b2("convert x.i32 y.b2frame"), @r"
    exit 4
    --- stdout
    --- stderr
    b2: x.i32: not a Blosc file (starts with f0 ff 0f 00)
    hint: --dtype gives raw data a type, --from csv reads text in columns
    ");
    snapshot!(dir.b2("convert x.b2frame x.b2frame"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: x.b2frame: is the input itself
    hint: use -o to choose another name
    ");
    snapshot!(dir.b2("convert missing.blp y.b2frame"), @r"
    exit 3
    --- stdout
    --- stderr
    b2: missing.blp: no such file or directory
    ");
    dir.write("two.b2frame", [dir.read("x.b2frame"), dir.read("x.b2frame")].concat());
    dir.b2("convert two.b2frame#1 y.blp").ok();
    snapshot!(dir.b2("convert x.b2frame y.blp"), @r"
    exit 3
    --- stdout
    --- stderr
    b2: y.blp: file exists
    hint: use -f to overwrite, or -o to choose another name
    ");
    dir.b2("convert -f x.b2frame y.blp").ok();
    assert_eq!(dir.names(), ["two.b2frame", "x.b2frame", "x.i32", "y.blp"]);
}

#[test]
fn damaged_input_leaves_no_output() {
    let dir = with_frame();
    let mut frame = dir.read("x.b2frame");
    frame[130..200].fill(0xff);
    dir.write("x.b2frame", &frame);
    let run = dir.b2("convert -C lz4 x.b2frame y.b2frame");
    assert_eq!(run.code, Some(1), "{}", run.all());
    let run = dir.b2("convert --verify x.b2frame y.blp");
    assert_eq!(run.code, Some(1), "{}", run.all());
    assert_eq!(dir.names(), ["x.b2frame", "x.i32"]);
    dir.write("cut.blp", &fs::read(path("bloscpack/real_multichunk.blp")).unwrap()[..900]);
    let run = dir.b2("convert cut.blp y.b2frame");
    assert_eq!(run.code, Some(1), "{}", run.all());
    assert_eq!(dir.names(), ["cut.blp", "x.b2frame", "x.i32"]);
}

#[test]
fn pipes_and_many_inputs() {
    let dir = with_frame();
    let frame = dir.read("x.b2frame");
    let blp = dir.b2_with("convert --format blp", &frame).ok();
    dir.write("y.blp", &blp.stdout);
    assert!(dir.b2("cat y.blp").ok().stdout == dir.read("x.i32"));
    dir.b2_with("convert - z.b2frame", &blp.stdout).ok();
    assert!(dir.b2("cat z.b2frame").ok().stdout == dir.read("x.i32"));
    dir.b2("convert --format blp --output-dir out x.b2frame z.b2frame").ok();
    assert!(fs::read(dir.path("out/x.blp")).unwrap() == fs::read(dir.path("out/z.blp")).unwrap());
    assert_eq!(dir.b2("convert x.b2frame y.blp z.blp").code, Some(2));
}

#[test]
fn rm_removes_the_input_of_a_complete_output() {
    let dir = with_frame();
    dir.b2("convert -q --rm x.b2frame y.blp").ok();
    assert_eq!(dir.names(), ["x.i32", "y.blp"]);
    dir.b2("convert -q --rm y.blp x.sframe").ok();
    dir.b2("convert -q --rm x.sframe x.b2frame").ok();
    assert_eq!(dir.names(), ["x.b2frame", "x.i32"]);
}

#[test]
fn text_comes_from_pipes_under_any_name_and_with_any_delimiter() {
    let dir = Dir::new();
    dir.write("x.txt", "n;s\n1;a,b\n2;c\n");
    dir.b2("convert -q --from csv --delimiter ; x.txt x.bcolz").ok();
    assert_eq!(dir.b2("show --csv x.bcolz").ok().text(), "n,s\n1,\"a,b\"\n2,c\n");
    dir.b2_with("convert -q --from csv - -o piped.bcolz", b"n,s\n7,x\n").ok();
    assert_eq!(dir.b2("show --csv piped.bcolz").ok().text(), "n,s\n7,x\n");
    dir.write("tab.csv", "n\ts\n1\ta\n");
    dir.b2("convert -q --from csv --delimiter tab tab.csv tab.bcolz").ok();
    assert_eq!(dir.b2("show --csv tab.bcolz").ok().text(), "n,s\n1,a\n");
    for wrong in ["--from csv --delimiter ab", "--from csv --delimiter \""] {
        assert_eq!(dir.b2(&format!("convert {wrong} x.txt y.bcolz")).code, Some(2), "{wrong}");
    }
}

#[test]
fn columns_and_rows_of_text_and_of_structured_items_are_chosen() {
    let dir = Dir::new();
    dir.write("t.csv", "id,price,name\n1,2.5,ab\n2,3.5,c\n3,4.5,ab\n");
    dir.b2("convert -q t.csv t.npy").ok();
    for input in ["t.csv", "t.npy"] {
        let line = format!("convert -q -f --columns price,name {input} -o new.bcolz");
        dir.b2(&line).ok();
        let shown = dir.b2("show --csv new.bcolz").ok();
        assert_eq!(shown.text(), "price,name\n2.5,ab\n3.5,c\n4.5,ab\n", "{input}");
        let mut command = dir.command("convert -q -f --columns id --where");
        let command = command.args(["name == 'ab'", input, "-o", "new.csv"]);
        Run::of(command.output().unwrap()).ok();
        assert_eq!(dir.read("new.csv"), b"id\n1\n3\n", "{input}");
        let run = dir.b2(&format!("convert --columns nope {input} -o no.csv"));
        assert_eq!(run.code, Some(2));
        assert!(run.stderr.contains("there are id, price, name"), "{}", run.stderr);
    }
    dir.write("x.i32", walk(10)).b2("c -q --dtype i4 x.i32 -o x.b2nd").ok();
    dir.b2("convert -q x.b2nd x.npy").ok();
    assert_eq!(dir.b2("convert --columns a x.npy -o no.csv").code, Some(2));
}

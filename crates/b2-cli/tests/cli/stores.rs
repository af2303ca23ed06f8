//! Stores and tables of python-blosc2, as a whole and value by value.

use std::fs;

use blosc_testdata::fixture::path;
use serde_json::Value;

use crate::session::Dir;

/// A directory with these samples.
pub(crate) fn samples(names: &[&str]) -> Dir {
    let dir = Dir::new();
    for name in names {
        let from = path("stores").join(name);
        match from.is_dir() {
            true => super::bcolz::copy(&from, &dir.path(name)),
            false => drop(fs::copy(from, dir.path(name)).unwrap()),
        }
    }
    dir
}

fn json(dir: &Dir, line: &str) -> Value {
    serde_json::from_slice(&dir.b2(line).ok().stdout).unwrap()
}

#[test]
fn a_store_is_listed_as_a_tree_in_a_directory_and_an_archive() {
    let dir = samples(&["tree-basic.b2z", "tree-basic.b2d"]);
    for name in ["tree-basic.b2z", "tree-basic.b2d"] {
        let expected = format!(
            "{name}   store, a tree of keys\n\
             ├── a                 array, 5 of <i8, 40 B -> 282 B\n\
             ├── g\n\
             │   ├── b   array, 2 x 3 of <f8, 48 B -> 308 B\n\
             │   └── h\n\
             │       └── c   array, 2 of <U2, 16 B -> 269 B\n\
             └── only-attributes\n"
        );
        assert_eq!(dir.b2(&format!("list --tree {name}")).ok().text(), expected);
        let info = json(&dir, &format!("info --json {name}"));
        assert_eq!(info["attributes"]["title"], "root");
        assert_eq!((&info["nbytes"], &info["kind"]), (&104.into(), &"a tree of keys".into()));
        let keys = info["members"].as_array().unwrap().iter();
        let keys: Vec<&str> = keys.map(|member| member["key"].as_str().unwrap()).collect();
        assert_eq!(keys, ["/a", "/g", "/g/b", "/g/h", "/g/h/c", "/only-attributes"]);
        let row = json(&dir, &format!("list --json {name}"));
        assert_eq!((&row["nbytes"], &row["nchunks"]), (&104.into(), &3.into()));
    }
    let rows = dir.b2("list -r .").ok();
    assert_eq!(rows.text().lines().count(), 4, "{}", rows.text());
}

#[test]
fn a_value_in_a_store_is_read_like_a_file() {
    let dir = samples(&["tree-basic.b2z", "embed-basic.b2e"]);
    assert_eq!(dir.b2("show tree-basic.b2z::/g/b").ok().text(), "[[0. 1. 2.]\n [3. 4. 5.]]\n");
    assert_eq!(dir.b2("show --slice 1 tree-basic.b2z::/g/b").ok().text(), "[3. 4. 5.]\n");
    assert_eq!(dir.b2("cat tree-basic.b2z::/a").ok().stdout.len(), 40);
    dir.b2("convert -q tree-basic.b2z::/g/b b.npy").ok();
    dir.b2("decompress -q tree-basic.b2z::/g/b -o b2.npy").ok();
    assert_eq!(dir.read("b.npy"), dir.read("b2.npy"));
    assert_eq!(json(&dir, "info --json tree-basic.b2z::/g/b")["shape"], Value::from([2, 3]));
    assert!(dir.b2("verify tree-basic.b2z::/g/b").ok().text().contains("OK"));
    assert_eq!(dir.b2("show embed-basic.b2e::/n1").ok().text(), "[0 1 2 3 4]\n");
    assert_eq!(dir.b2("show embed-basic.b2e::/oa").ok().text().lines().count(), 7);
    let run = dir.b2("cat tree-basic.b2z::/nope");
    assert_eq!(
        (run.code, run.stderr.as_str()),
        (Some(2), "b2: tree-basic.b2z::/nope: no key \"/nope\"\n")
    );
    let run = dir.b2("cat tree-basic.b2z::/g");
    assert!(run.code == Some(2) && run.stderr.contains("/g is a group"), "{}", run.stderr);
    let run = dir.b2("cat tree-basic.b2z");
    assert!(run.code == Some(2) && run.stderr.contains("tree-basic.b2z::/key"), "{}", run.stderr);
}

#[test]
fn nothing_that_would_change_a_store_by_its_path_is_done_to_a_value() {
    let dir = samples(&["tree-basic.b2z"]);
    let before = dir.read("tree-basic.b2z");
    for line in [
        "append tree-basic.b2z::/a tree-basic.b2z",
        "seal tree-basic.b2z::/a",
        "rescue tree-basic.b2z::/a -o saved",
        "decompress --rm tree-basic.b2z::/a -o raw",
    ] {
        let run = dir.b2(line);
        assert!(run.code != Some(0), "{line}");
        assert!(dir.read("tree-basic.b2z") == before, "{line}");
    }
}

#[test]
fn values_without_data_are_named_and_refused() {
    let dir = samples(&["dict-lazy.b2d", "lazy"]);
    for line in [
        "show dict-lazy.b2d::/sum",
        "cat dict-lazy.b2d::/sum",
        "show lazy/expr.b2nd",
        "cat lazy/expr.b2nd",
    ] {
        let run = dir.b2(line);
        assert!(
            run.code != Some(0) && run.stderr.contains("a lazy expression"),
            "{line}: {}",
            run.stderr
        );
        assert!(run.stdout.is_empty(), "{line}");
    }
    let tree = dir.b2("list --tree dict-lazy.b2d").ok();
    assert!(tree.text().contains("sum   no data: a lazy expression"), "{}", tree.text());
}

#[test]
fn a_table_is_shown_by_columns_and_rows() {
    let dir = samples(&["table-basic.b2z", "tree-with-table.b2z", "table-nulls-mask.b2d"]);
    for table in ["table-basic.b2z", "tree-with-table.b2z::/g/tab"] {
        assert_eq!(
            dir.b2(&format!("show --columns id,vs,li -n 3 {table}")).ok().text(),
            "id  vs  li\n 0      []\n 2  vv  [0,1]\n 3      [0,1,2]\n"
        );
        assert_eq!(
            dir.b2(&format!("show --csv --columns id,d,ok --skip 3 {table}")).ok().text(),
            "id,d,ok\n4,green,True\n5,,False\n"
        );
        let lines = dir.b2(&format!("show --json --columns id,vs,t --slice 1:3 {table}")).ok();
        let rows: Vec<Value> =
            lines.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(rows[0]["vs"], "vv");
        assert_eq!((rows.len(), &rows[1]["vs"]), (2, &Value::Null));
        assert_eq!(json(&dir, &format!("info --json {table}"))["table"]["rows"], 5);
    }
    let run = dir.b2("show --columns nope table-basic.b2z");
    assert!(run.code == Some(2) && run.stderr.contains("nope"), "{}", run.stderr);
    for how in ["--csv", "--json"] {
        let run = dir.b2(&format!("show {how} --max-output 500 table-basic.b2z"));
        assert!(run.code == Some(5) && run.stdout.is_empty(), "{}", run.stderr);
    }
    let nulls = dir.b2("show --json table-nulls-mask.b2d").ok();
    assert!(nulls.text().contains(":null"), "{}", nulls.text());
}

#[test]
fn all_samples_are_sound_and_damage_is_named_by_key() {
    let stores = path("stores");
    for entry in fs::read_dir(&stores).unwrap().map(|entry| entry.unwrap().path()) {
        let is_store = ["b2z", "b2d", "b2e"]
            .iter()
            .any(|suffix| entry.extension().is_some_and(|found| found == *suffix));
        if is_store {
            let run = Dir::new().b2(&format!("verify {}", entry.display())).ok();
            assert!(run.text().contains(": OK ("), "{}", run.text());
        }
    }
    let dir = samples(&["tree-basic.b2d", "tree-basic.b2z"]);
    let mut bytes = dir.read("tree-basic.b2d/a.b2nd");
    let at = bytes.len() / 2;
    bytes.truncate(at);
    dir.write("tree-basic.b2d/a.b2nd", &bytes);
    let run = dir.b2("verify tree-basic.b2d");
    assert!(run.code == Some(1) && run.stderr.contains("/a: "), "{}", run.stderr);
    assert_eq!(dir.b2("show --slice 0 tree-basic.b2d::/g/b").ok().text(), "[0. 1. 2.]\n");
    // For a table in a store, only the table is read.
    let dir2 = samples(&["tree-with-table.b2z"]);
    let all = json(&dir2, "verify --json tree-with-table.b2z");
    let table = json(&dir2, "verify --json tree-with-table.b2z::/g/tab");
    assert_eq!(all["nchunks"].as_u64().unwrap(), table["nchunks"].as_u64().unwrap() + 1);
    dir2.b2("unpack -q tree-with-table.b2z -o t.b2d").ok();
    let id = "t.b2d/g/tab/_cols/id.b2nd";
    let mut bytes = dir2.read(id);
    let len = bytes.len();
    bytes.truncate(len - 40);
    dir2.write(id, &bytes);
    let run = dir2.b2("verify --json t.b2d::/g/tab");
    let found: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((run.code, found["other"].as_array().unwrap().len()), (Some(1), 1), "{found}");
    // A changed byte of a frame in an archive, which the archive's checksum shows.
    let frame = dir.read("tree-basic.b2z");
    let magic = frame.windows(8).position(|bytes| bytes == b"b2frame\0").unwrap();
    let mut frame = frame;
    frame[magic + 130] ^= 1;
    dir.write("tree-basic.b2z", &frame);
    assert_eq!(dir.b2("verify tree-basic.b2z").code, Some(1));
}

#[test]
fn hostile_stores_end_in_an_error_or_are_read() {
    let cases: Value =
        serde_json::from_slice(&fs::read(path("stores/malformed.json")).unwrap()).unwrap();
    for case in cases["cases"].as_array().unwrap() {
        let (file, required) = (case["file"].as_str().unwrap(), case["required"].as_str().unwrap());
        let run = Dir::new().b2(&format!("verify {}", path("stores").join(file).display()));
        match required {
            // The value is read, and the damage reported. B07 also states a wrong number of items,
            // so `show` refuses it.
            "accept"
                if run.stderr.contains("its local header has another")
                    || run.stderr.contains("items of a batch: 1, expected 3") =>
            {
                assert_eq!(run.code, Some(1), "{case}: {}", run.all());
            }
            "accept" => assert_eq!(run.code, Some(0), "{case}: {}", run.all()),
            "either" => {}
            // `show` reads the objects of a frame outside of a store.
            _ if file.ends_with(".b2b") => {}
            _ => assert!(matches!(run.code, Some(1 | 4 | 5)), "{case}: {}", run.all()),
        }
    }
    for entry in fs::read_dir(path("stores/malformed")).unwrap().map(|entry| entry.unwrap().path())
    {
        for command in ["info", "list --tree", "verify", "show -n 2"] {
            let run = Dir::new().b2(&format!("{command} {}", entry.display()));
            let code = run.code.unwrap_or(-1);
            assert!((0..=6).contains(&code), "{command} {}: {}", entry.display(), run.all());
        }
    }
}

#[test]
fn a_store_is_packed_and_unpacked() {
    let dir = samples(&["tree-with-table.b2z"]);
    let run = dir.b2("unpack tree-with-table.b2z").ok();
    assert!(run.stderr.contains("tree-with-table.b2z -> tree-with-table.b2d: "), "{}", run.stderr);
    assert!(dir.path("tree-with-table.b2d/embed.b2e").exists());
    let run = dir.b2("pack tree-with-table.b2d");
    assert!(run.code == Some(3) && run.stderr.contains("file exists"), "{}", run.stderr);
    dir.b2("pack -q tree-with-table.b2d -o new.b2z").ok();
    assert_eq!(dir.b2("unpack new.b2z -o tree-with-table.b2d").code, Some(3));
    let shown = |name: &str| dir.b2(&format!("show --csv {name}::/g/tab")).ok().text().to_owned();
    assert_eq!(shown("new.b2z"), shown("tree-with-table.b2z"));
    assert_eq!(shown("tree-with-table.b2d"), shown("new.b2z"));
    let made = json(&dir, "pack --json -f tree-with-table.b2d");
    assert_eq!(
        (&made["schema"], &made["output"]),
        (&"b2.pack/1".into(), &"tree-with-table.b2z".into())
    );
    assert!(dir.b2("verify tree-with-table.b2z").ok().text().contains("OK"));
}

#[cfg(not(feature = "parquet"))]
#[test]
fn without_parquet_a_table_names_the_feature_and_other_formats_the_ways() {
    let dir = samples(&["table-basic.b2z"]);
    let run = dir.b2("convert table-basic.b2z x.parquet");
    assert!(run.code == Some(4) && run.stderr.contains("--features parquet"), "{}", run.stderr);
    assert_eq!(dir.names(), ["table-basic.b2z"]);
}

#[cfg(feature = "parquet")]
#[test]
fn a_table_becomes_parquet() {
    let dir = samples(&["tree-with-table.b2z"]);
    let run = dir.b2("convert tree-with-table.b2z::/g/tab x.parquet").ok();
    assert!(run.stderr.contains("-> x.parquet   5 rows\n"), "{}", run.stderr);
    assert!(run.stderr.contains("no room for column o, the attribute"), "{}", run.stderr);
    assert!(dir.read("x.parquet").starts_with(b"PAR1"));
}

#[test]
fn rows_of_a_table_are_chosen_by_a_condition() {
    let dir = samples(&["table-basic.b2z", "table-nulls-mask.b2d"]);
    let show = |line: &str| dir.b2(&format!("show {line}")).ok().text().to_owned();
    assert_eq!(
        show("--where f>=0.75 --columns id,f,d table-basic.b2z"),
        "id     f  d\n 3  0.75  red\n 4   1.0  green\n 5  1.25\n"
    );
    assert_eq!(show("--where ok&(d=='red') --csv --columns id table-basic.b2z"), "id\n0\n");
    assert_eq!(
        show("--where t>'2020-01-03' --json --skip 1 -n 1 --columns id,t table-basic.b2z"),
        "{\"id\":4,\"t\":\"2020-01-05T00:00:00.000\"}\n"
    );
    assert_eq!(
        show("--where id>=0 --slice 1:4 --csv --columns id table-basic.b2z"),
        "id\n2\n3\n4\n"
    );
    // The result of an expression with null is unknown, and so is its negation.
    for (condition, found) in
        [("i<0", "k\n1\n"), ("~(i<0)", "k\n3\n"), ("(i<0)|(k==2)", "k\n1\n2\n")]
    {
        assert_eq!(
            show(&format!("--where {condition} --csv --columns k table-nulls-mask.b2d")),
            found
        );
    }
    let run = dir.b2("show --where f+1 table-basic.b2z");
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("the expression gives floats, not truth values"), "{}", run.stderr);
}

/// Members need reads at any position, so a pipe is copied first.
#[test]
fn a_store_by_standard_input_is_one() {
    let dir = samples(&["table-basic.b2z", "tree-with-table.b2z"]);
    let table = dir.read("table-basic.b2z");
    let from_file = |line: &str, name: &str| {
        let run = dir.b2(&line.replace(" -", &format!(" {name}"))).ok();
        run.text().replace(name, "stdin")
    };
    for line in ["info -", "list -", "show -", "verify -", "stats -"] {
        let piped = dir.b2_with(line, &table).ok();
        assert_eq!(piped.text(), from_file(line, "table-basic.b2z"), "{line}");
    }
    let tree = dir.read("tree-with-table.b2z");
    let piped = dir.b2_with("show -- -::/arr", &tree).ok();
    assert_eq!(piped.text(), dir.b2("show tree-with-table.b2z::/arr").ok().text());
    dir.b2_with("convert - -o piped.csv --columns id,f", &table).ok();
    dir.b2("convert table-basic.b2z -o file.csv --columns id,f").ok();
    assert_eq!(dir.read("piped.csv"), dir.read("file.csv"));
    // `compress` takes it as bytes.
    let frame = dir.b2_with("c -q -", &table).ok().stdout;
    assert_eq!(dir.b2_with("d -q -", &frame).ok().stdout, table);
}

#[test]
fn verify_names_the_chunk_that_is_damaged_in_an_archive() {
    let dir = Dir::new();
    let params = b2frame::FrameParams::default().chunksize(4000);
    let params = params.checksums(b2frame::Checksums::Chunks);
    let frame = b2frame::to_cframe(&crate::session::walk(3000), &params).unwrap();
    let chunk = b2frame::SChunk::from_cframe(frame.clone()).unwrap().chunk_info(1).unwrap();
    let mut writer = b2store::StoreWriter::create(dir.path("x.b2z")).unwrap();
    writer.insert_cframe("/v", frame.clone()).unwrap();
    writer.commit().unwrap();
    let mut archive = dir.read("x.b2z");
    let at = archive.windows(frame.len()).position(|window| window == frame).unwrap();
    archive[at + usize::try_from(chunk.offset.unwrap()).unwrap() + 50] ^= 4;
    dir.write("x.b2z", archive);
    let run = dir.b2("verify --json x.b2z");
    let found: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((run.code, &found["bad"][0]["chunk"]), (Some(1), &1.into()), "{found}");
}

/// A flipped bit in the header before a value with sound bytes: all commands read the value and
/// report the damage, and the rescued archive is sound.
#[test]
fn a_value_is_read_whose_header_in_the_archive_is_damaged() {
    let dir = samples(&["tree-basic.b2z"]);
    let mut bytes = dir.read("tree-basic.b2z");
    let name = bytes.windows(6).position(|window| window == b"a.b2nd").unwrap();
    bytes[name] ^= 1;
    dir.write("t.b2z", &bytes);
    let told = "member \"a.b2nd\": its local header has another name than the directory";
    for (line, code) in [
        ("list t.b2z", 0),
        ("list --tree t.b2z", 0),
        ("show t.b2z::/a", 0),
        ("cat t.b2z::/a", 0),
        ("sum t.b2z", 0),
        ("info t.b2z", 0),
        ("stats t.b2z::/a", 0),
        ("convert t.b2z::/a a.npy", 0),
        ("verify t.b2z", 1),
        ("rescue t.b2z -o r.b2z", 1),
    ] {
        let run = dir.b2(line);
        assert_eq!(run.code, Some(code), "{line}: {}", run.all());
        assert!(run.all().contains(told), "{line}: {}", run.all());
    }
    assert_eq!(dir.b2("show t.b2z::/a").text(), "[0 1 2 3 4]\n");
    assert_eq!(dir.b2("verify r.b2z").ok().stderr, "");
    assert_eq!(
        dir.b2("sum r.b2z").ok().text().replace("r.b2z", "t.b2z"),
        dir.b2("sum t.b2z").ok().text()
    );
}

#[test]
fn stores_without_marker_manifest_or_column_are_damaged_for_every_command() {
    let dir = Dir::new();
    dir.write("t.csv", "id,x\n1,2\n3,4\n").write("r.raw", [7; 100_000]);
    for lost in ["embed.b2e", "_meta.b2f", "_valid_rows.b2nd", "_cols/id.b2nd"] {
        dir.b2("convert -q t.csv t.b2d").ok();
        fs::remove_file(dir.path("t.b2d").join(lost)).unwrap();
        for command in
            ["info", "list", "list --tree", "verify", "convert -o out.b2z", "pack -o out.b2z"]
        {
            let run = dir.b2(&format!("{command} t.b2d"));
            assert_eq!(run.code, Some(1), "{command} without {lost}: {}", run.all());
            assert!(!dir.path("out.b2z").exists(), "{command} without {lost}");
        }
        fs::remove_dir_all(dir.path("t.b2d")).unwrap();
    }
    dir.b2("compress -q -z 16K r.raw -o r.b2frame").ok();
    dir.b2("convert -q --format sframe r.b2frame -o r.sframe").ok();
    fs::remove_file(dir.path("r.sframe/chunks.b2frame")).unwrap();
    for command in ["info", "list", "verify", "cat", "convert -o out.b2nd"] {
        let run = dir.b2(&format!("{command} r.sframe"));
        assert!(run.code == Some(1), "{command}: {}", run.all());
        assert!(run.all().contains("b2 rescue"), "{command}: {}", run.all());
    }
    assert_eq!(dir.b2("rescue r.sframe -o saved.b2frame").code, Some(1));
    assert_eq!(dir.b2("cat saved.b2frame").ok().stdout, [7; 100_000]);
}

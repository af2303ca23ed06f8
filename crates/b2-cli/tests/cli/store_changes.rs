//! Stores changed value by value: attributes, rows, items, codecs.

use crate::{
    session::{Dir, snapshot, walk, zip},
    stores::samples,
};

#[test]
fn groups_tables_and_values_have_metadata() {
    let dir = samples(&["tree-basic.b2z", "tree-basic.b2d", "tree-with-table.b2z"]);
    for store in ["tree-basic.b2z", "tree-basic.b2d"] {
        dir.b2(&format!("meta set {store} unit=K levels=[1,2.5,null]")).ok();
        let found = dir.b2(&format!("meta get {store}")).ok().text().to_owned();
        assert_eq!(found, "title   \"root\"\nunit    \"K\"\nlevels  [1,2.5,null]\n");
        dir.b2(&format!("meta set {store}::/g n=3")).ok();
        dir.b2(&format!("meta del {store}::/g unit")).ok();
        let found = dir.b2(&format!("meta get {store}::/g")).ok().text().to_owned();
        assert_eq!(found, "range  [1,2.5]\nn      3\n");
        dir.b2(&format!("meta set --meta {store}::/g/b fixed=1")).ok();
        dir.b2(&format!("meta set {store}::/g/b x=true")).ok();
        let found = dir.b2(&format!("meta get {store}::/g/b")).ok().text().to_owned();
        assert_eq!(found, "fixed  1\nx      true\n");
        dir.b2(&format!("verify {store}")).ok();
    }
    let tab = "tree-with-table.b2z::/g/tab";
    dir.b2(&format!("meta set {tab} q=1")).ok();
    assert_eq!(dir.b2(&format!("meta get {tab} q")).ok().text(), "1\n");
    let exported = dir.b2(&format!("meta export {tab}")).ok().text().to_owned();
    assert_eq!(
        exported,
        "{\n  \"metadata\": {\n    \"note\": \"table attribute\",\n    \"q\": 1\n  }\n}\n"
    );
    dir.write("new.json", "{\"metadata\": {\"q\": 1, \"r\": [2]}}");
    dir.b2(&format!("meta import {tab} new.json")).ok();
    assert_eq!(dir.b2(&format!("meta get {tab}")).ok().text(), "q  1\nr  [2]\n");
    snapshot!(dir.b2("meta set tree-with-table.b2z::/g/tab/id a=1"), @"
    exit 2
    --- stdout
    --- stderr
    b2: tree-with-table.b2z::/g/tab/id: a column of a table has no metadata of its own
    hint: the table has attributes
    ");
}

#[test]
fn attributes_that_python_cannot_write_are_refused_before_anything_is() {
    let dir = samples(&["tree-basic.b2z"]);
    let before = dir.read("tree-basic.b2z");
    let run = dir.b2(&format!("meta set tree-basic.b2z a=1 {}=2", "n".repeat(32)));
    assert_ne!(run.code, Some(0));
    assert_eq!(dir.read("tree-basic.b2z"), before);
    dir.write("rows.csv", "id\n1\n");
    dir.b2("convert -q rows.csv rows.bcolz").ok();
    let many: Vec<String> = (0..17).map(|n| format!("a{n}={n}")).collect();
    dir.b2(&format!("meta set rows.bcolz {}", many.join(" "))).ok();
    let run = dir.b2("convert rows.bcolz rows.b2z");
    assert_ne!(run.code, Some(0));
    assert!(!dir.path("rows.b2z").exists());
}

#[test]
fn values_of_stores_grow() {
    let dir = samples(&["tree-with-table.b2z"]);
    dir.write("more", [1_i32, 2].map(i32::to_le_bytes).concat());
    snapshot!(dir.b2("append tree-with-table.b2z::/arr more"), @"
    exit 0
    --- stdout
    --- stderr
    tree-with-table.b2z::/arr: 8 B appended, now 20 B, 5 items
    ");
    assert_eq!(dir.b2("show tree-with-table.b2z::/arr").ok().text(), "[0 1 2 1 2]\n");
    let before = dir.read("tree-with-table.b2z");
    dir.write("part", "abc");
    assert_ne!(dir.b2("append tree-with-table.b2z::/arr part").code, Some(0));
    assert_eq!(dir.read("tree-with-table.b2z"), before);
    // A super-chunk, which has no shape.
    dir.write("text", "some text");
    dir.b2("compress -q text -o s.b2d::/text").ok();
    dir.b2("append s.b2d::/text part").ok();
    assert_eq!(dir.b2("cat s.b2d::/text").ok().text(), "some textabc");
    dir.b2("verify s.b2d tree-with-table.b2z").ok();
}

#[test]
fn tables_take_rows_by_the_names_of_columns() {
    let dir = samples(&["table-basic.b2z", "tree-with-table.b2z"]);
    snapshot!(dir.b2("append table-basic.b2z tree-with-table.b2z::/g/tab"), @"
    exit 0
    --- stdout
    --- stderr
    table-basic.b2z: 685 B appended, now 1.4 KiB, 10 rows
    ");
    let rows = dir.b2("show --csv table-basic.b2z").ok().text().to_owned();
    let rows: Vec<&str> = rows.lines().collect();
    assert_eq!(rows.len(), 11);
    assert_eq!(rows[1..6], rows[6..]);
    dir.write("rows.csv", "a,b,name\n1,2.5,x\n2,3.5,yy\n");
    dir.b2("convert -q rows.csv rows.b2z").ok();
    dir.write("new.csv", "name,b,a\nz,0.0,7\n");
    dir.b2("append -q rows.b2z new.csv").ok();
    dir.b2("convert -q new.csv new.bcolz").ok();
    dir.b2("append -q rows.b2z new.bcolz").ok();
    let expected = "a,b,name\n1,2.5,x\n2,3.5,yy\n7,0.0,z\n7,0.0,z\n";
    assert_eq!(dir.b2("show --csv rows.b2z").ok().text(), expected);
    for text in ["name,b\nz,0\n", "name,b,a\nlonger,0,7\n", "name,b,a\nz,0,1.5\n"] {
        dir.write("wrong.csv", text);
        assert_ne!(dir.b2("append rows.b2z wrong.csv").code, Some(0), "{text}");
        assert_eq!(dir.b2("show --csv rows.b2z").ok().text(), expected);
    }
    dir.b2("verify rows.b2z table-basic.b2z").ok();
}

#[test]
fn text_of_any_length_is_appended_whole() {
    let dir = samples(&["table-basic.b2z"]);
    dir.b2("convert -q --columns u,vs,d,id table-basic.b2z words.b2z").ok();
    dir.write("new.csv", "id,u,d,vs\n9,a long text \u{20ac},green,\"x, y\"\n");
    dir.b2("append -q words.b2z new.csv").ok();
    let shown = dir.b2("show --csv words.b2z").ok().text().to_owned();
    assert_eq!(shown.lines().last(), Some("a long text \u{20ac},\"x, y\",green,9"));
    dir.b2("verify words.b2z").ok();
    assert_ne!(dir.b2("append words.b2z::/id new.csv").code, Some(0));
}

#[test]
fn a_value_is_recompressed_in_its_store() {
    let dir = samples(&["tree-dtypes.b2z"]);
    let before = dir.b2("cat tree-dtypes.b2z::/chunks").ok().stdout.clone();
    dir.b2("recompress -q -C lz4 -9 tree-dtypes.b2z::/chunks").ok();
    assert_eq!(dir.b2("cat tree-dtypes.b2z::/chunks").ok().stdout, before);
    assert!(dir.b2("info tree-dtypes.b2z::/chunks").ok().text().contains("lz4"));
    dir.b2("verify tree-dtypes.b2z").ok();
}

#[test]
fn the_bytes_of_a_value_are_dumped() {
    let dir = samples(&["tree-basic.b2z", "tree-basic.b2d"]);
    let fields = |store: &str| {
        let text = dir.b2(&format!("dump {store}::/g/b")).ok().text().to_owned();
        text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(fields("tree-basic.b2z").iter().any(|line| line.contains("magic = b2frame")));
    assert_eq!(fields("tree-basic.b2z").len(), fields("tree-basic.b2d").len());
    assert_ne!(dir.b2("dump tree-basic.b2z::/g").code, Some(0));
}

#[test]
fn a_folder_becomes_a_store_and_a_store_a_folder() {
    let dir = samples(&["tree-basic.b2z"]);
    std::fs::create_dir_all(dir.path("in/g")).unwrap();
    dir.write("in/readme.txt", "some text");
    dir.write("in/g/rows.csv", "a,b\n1,x\n2,y\n");
    dir.b2("convert -q tree-basic.b2z::/g/b in/g/b.npy").ok();
    dir.b2("convert -q tree-basic.b2z::/a in/a.b2nd").ok();
    for store in ["out.b2z", "out.b2d"] {
        dir.b2(&format!("convert in {store}")).ok();
        assert_eq!(dir.b2(&format!("show --csv {store}::/g/rows")).ok().text(), "a,b\n1,x\n2,y\n");
        assert_eq!(dir.b2(&format!("cat {store}::/readme.txt")).ok().text(), "some text");
        for key in ["/a", "/g/b"] {
            let found = dir.b2(&format!("cat {store}::{key}")).ok().stdout.clone();
            assert_eq!(found, dir.b2(&format!("cat tree-basic.b2z::{key}")).ok().stdout, "{key}");
        }
        dir.b2(&format!("verify {store}")).ok();
    }
    // Two files with the same key keep their suffixes.
    dir.b2("convert -q in/a.b2nd in/a.npy").ok();
    dir.b2("convert in twice.b2z").ok();
    for key in ["/a.b2nd", "/a.npy"] {
        let found = dir.b2(&format!("cat twice.b2z::{key}")).ok().stdout;
        assert_eq!(found, dir.b2("cat tree-basic.b2z::/a").ok().stdout, "{key}");
    }
    // A store becomes a folder.
    dir.b2("unpack out.b2z -o folder.b2d").ok();
    assert!(dir.path("folder.b2d/g/b.b2nd").exists());
}

#[test]
fn info_counts_the_dead_bytes_of_changed_values() {
    let dir = Dir::new();
    let numbers: Vec<u8> = (0..5000_u32).flat_map(|n| n.wrapping_mul(n).to_le_bytes()).collect();
    dir.write("a.raw", numbers).b2("c -q --shape 5000 --dtype i4 a.raw -o a.b2nd").ok();
    dir.write("more", [1; 4]);
    for store in ["s.b2d", "s.b2z"] {
        dir.b2(&format!("convert -q a.b2nd {store}::/a")).ok();
        assert!(!dir.b2(&format!("info {store}")).ok().text().contains("dead"));
        dir.b2(&format!("append -q {store}::/a more")).ok();
        let info = dir.b2(&format!("info --json {store}")).ok();
        let info: serde_json::Value = serde_json::from_slice(&info.stdout).unwrap();
        let dead = info["dead_bytes"].as_u64().unwrap();
        let text = dir.b2(&format!("info {store}")).ok();
        assert_eq!(dead > 0, text.text().contains("  dead "), "{}", text.text());
        assert!(dead > 0, "{store}: {info}");
    }
}

#[test]
fn a_damaged_member_is_not_packed() {
    let dir = Dir::new();
    dir.write("x.i32", walk(5000)).b2("c -q --dtype i4 --chunks 500 x.i32 -o x.b2nd").ok();
    dir.b2("convert -q x.b2nd s.b2d::/a").ok();
    dir.b2("convert -q x.b2nd s.b2d::/g/b").ok();
    dir.b2("pack -q s.b2d -o sound.b2z").ok();
    let sound = dir.read("s.b2d/g/b.b2nd");
    let frame = b2frame::SChunk::from_cframe(sound.clone()).unwrap();
    let chunk = usize::try_from(frame.chunk_info(3).unwrap().offset.unwrap()).unwrap();
    let changed = |at: usize| {
        let mut bytes = sound.clone();
        bytes[at] ^= 4;
        bytes
    };
    for (what, bytes) in [
        ("cut off", sound[..sound.len() / 2].to_vec()),
        ("cut off", sound[..sound.len() - 1].to_vec()),
        ("chunk 3", changed(chunk)),
        ("not those that were sealed", changed(chunk + 100)),
    ] {
        dir.write("s.b2d/g/b.b2nd", bytes);
        let run = dir.b2("pack -q s.b2d -o new.b2z");
        assert_eq!(run.code, Some(1), "{what}: {}", run.stderr);
        assert!(run.stderr.starts_with("b2: s.b2d: /g/b: "), "{}", run.stderr);
        assert!(run.stderr.contains(what), "{what}: {}", run.stderr);
        assert!(run.stderr.contains("`b2 rescue s.b2d -o NEW`"), "{}", run.stderr);
        assert!(!dir.path("new.b2z").exists(), "{what}");
    }
    let mut archive = dir.read("sound.b2z");
    let at = archive.windows(sound.len()).position(|window| window == sound).unwrap();
    archive[at + chunk + 100] ^= 4;
    dir.write("damaged.b2z", archive);
    let run = dir.b2("unpack damaged.b2z");
    assert_eq!((run.code, run.stderr.contains("/a: at byte ")), (Some(1), true), "{}", run.stderr);
    assert!(!dir.path("damaged.b2d").exists());
}

#[test]
fn members_that_are_not_there_are_made_and_groups_are_compressed_anew() {
    let dir = Dir::new();
    let items: Vec<u8> = (0..999_u16).flat_map(u16::to_le_bytes).collect();
    dir.write("a.u16", &items);
    dir.b2("convert -q --dtype u2 a.u16 a.npy").ok();
    for store in ["s.b2z", "s.b2d"] {
        for (key, n) in [("/x", 1), ("/g/y", 2), ("/g/h/z", 1)] {
            let line = format!("append -q --create {store}::{key} a.npy");
            (0..n).for_each(|_| drop(dir.b2(&line).ok()));
            let shown = dir.b2(&format!("cat {store}::{key}")).ok().stdout;
            assert_eq!(shown, items.repeat(n), "{store}::{key}");
        }
        let run = dir.b2(&format!("append {store}::/new a.npy"));
        assert!(run.code == Some(2) && run.stderr.contains("no key"), "{}", run.all());
        let run = dir.b2(&format!("recompress --codec lz4 {store}::/g")).ok();
        assert_eq!(run.stderr.lines().count(), 2, "{}", run.stderr);
        for (key, n, codec) in [("/x", 1, "zstd"), ("/g/y", 2, "lz4"), ("/g/h/z", 1, "lz4")] {
            let info = dir.b2(&format!("info {store}::{key}")).ok();
            assert!(info.text().contains(codec), "{store}::{key}: {}", info.text());
            assert_eq!(dir.b2(&format!("cat {store}::{key}")).ok().stdout, items.repeat(n));
        }
    }
    dir.write("g.npz", zip(&[("a.npy", &dir.read("a.npy"))]));
    for line in
        ["append --create g.npz::/new a.npy", "recompress -9 g.npz", "recompress -9 g.npz::/a"]
    {
        let run = dir.b2(line);
        assert_eq!(run.code, Some(4), "{line}: {}", run.all());
        let hint = run.stderr.split('`').nth(1).unwrap().strip_prefix("b2 ").unwrap();
        dir.b2(&hint.replace("convert", "convert -f")).ok();
        assert!(dir.b2("verify new.b2z").ok().text().contains("OK"), "{hint}");
    }
}

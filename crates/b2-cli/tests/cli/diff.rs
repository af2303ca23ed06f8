//! `b2 diff`: values, types, shapes and metadata of any two formats.

use crate::session::{Dir, Run, snapshot, walk, zip};

/// An array of 30 x 40, and the same with three other numbers.
fn two() -> Dir {
    let dir = Dir::new();
    let items: Vec<f32> = (0..1200u16).map(f32::from).collect();
    let bytes = |items: &[f32]| items.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<_>>();
    let mut other = items.clone();
    (other[7], other[500], other[1199]) = (7.25, f32::NAN, 1200.0);
    dir.write("a", bytes(&items)).write("b", bytes(&other));
    dir.b2("c -q --dtype f4 --shape 30,40 a b --format b2nd").ok();
    dir
}

#[test]
fn equal_content_is_equal_in_every_format() {
    let dir = two();
    for output in ["a.npy", "a.blp", "a.b2frame", "a.sframe", "a.bcolz", "a.chunk", "a.raw"] {
        dir.b2(&format!("convert -q a.b2nd -o {output}")).ok();
        let run = dir.b2(&format!("diff a.b2nd {output}"));
        assert_eq!(
            (run.code, run.text()),
            (Some(0), "equal: 1 200 items\n"),
            "{output} {}",
            run.stderr
        );
    }
    let piped = dir.b2_with("diff a.npy -", &dir.read("a.b2nd"));
    assert_eq!(piped.text(), "equal: 1 200 items\n", "{}", piped.stderr);
}

#[test]
fn first_difference_and_counts_are_told() {
    let dir = two();
    snapshot!(dir.b2("diff a.b2nd b.b2nd"), @"
    exit 1
    --- stdout
    differ: 3 of 1 200 items, first at [0, 7]: 7.0 and 7.25; largest difference 1
    --- stderr
    ");
    snapshot!(dir.b2("diff --json a.b2nd b"), @r#"
    exit 1
    --- stdout
    {"schema":"b2.diff/1","path":"a.b2nd","other":"b","equal":false,"items":1200,"different":3,"first":{"index":[0,7],"values":[7.0,7.25]},"largest_difference":1.0,"surplus":0}
    --- stderr
    "#);
    snapshot!(dir.b2("diff --atol 0.5 a.b2nd b.b2nd"), @"
    exit 1
    --- stdout
    differ: 2 of 1 200 items, first at [12, 20]: 500.0 and nan; largest difference 1
    --- stderr
    ");
    snapshot!(dir.b2("diff --rtol 0.1 a.b2nd b.b2nd"), @"
    exit 1
    --- stdout
    differ: 1 of 1 200 items, first at [12, 20]: 500.0 and nan
    --- stderr
    ");
    dir.b2("diff --atol 1 b.b2nd b").ok();
}

#[test]
fn types_shapes_lengths_and_metadata_count() {
    let dir = two();
    let wide: Vec<u8> = (0..1200u16).flat_map(|n| f64::from(n).to_be_bytes()).collect();
    dir.write("w", wide).b2("c -q --dtype >f8 --format b2nd w").ok();
    snapshot!(dir.b2("diff a.b2nd w.b2nd"), @"
    exit 1
    --- stdout
    type: <f4 and >f8
    shape: [30, 40] and [1200]
    the values are equal: 1 200 items
    --- stderr
    ");
    dir.b2("diff --values a.b2nd w.b2nd").ok();
    dir.write("short", &dir.read("a")[..4_402]).b2("c -q -t 1 short").ok();
    snapshot!(dir.b2("diff a.b2nd short.b2frame"), @"
    exit 1
    --- stdout
    the values are equal: 1 100 items
    a.b2nd has 100 more items
    --- stderr
    ");
    dir.b2("c -q -f --dtype f4 --shape 30,40 --vlmeta unit=K a -o m.b2nd").ok();
    snapshot!(dir.b2("diff a.b2nd m.b2nd"), @"
    exit 1
    --- stdout
    metadata: unit
    the values are equal: 1 200 items
    --- stderr
    ");
    dir.b2("diff --values a.b2nd m.b2nd").ok();
}

#[test]
fn a_missing_or_damaged_side_is_named() {
    let dir = two();
    snapshot!(dir.b2("diff a.b2nd missing"), @"
    exit 3
    --- stdout
    --- stderr
    b2: missing: no such file or directory
    ");
    dir.write("d", walk(9_000)).b2("c -q --checksum none d").ok();
    let mut frame = dir.read("d.b2frame");
    frame[120..170].fill(0xa5);
    dir.write("d.b2frame", frame);
    let run = dir.b2("diff d d.b2frame");
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("d.b2frame") && run.stderr.contains("chunk 0"), "{}", run.stderr);
    assert_eq!(dir.b2("diff --rtol=-1 a b").code, Some(2));
}

#[test]
fn columns_of_tables_are_compared_by_value() {
    let dir = Dir::new();
    dir.write("a.csv", "n,x\n1,0.5\n2,nan\n3,2.5\n").write("b.csv", "n,x\n1,0.5\n2,nan\n3,2.75\n");
    dir.b2("convert -q a.csv -o a.bcolz").ok();
    dir.b2("convert -q b.csv -o b.bcolz").ok();
    snapshot!(dir.b2("diff a.bcolz b.bcolz"), @"
    exit 1
    --- stdout
    differ: 1 of 3 items, first at [2]: (3, 2.5) and (3, 2.75); largest difference 0.25
    --- stderr
    ");
    dir.b2("diff --atol 0.25 a.bcolz b.bcolz").ok();
    dir.b2("diff a.bcolz/n b.bcolz::/n").ok();
}

#[test]
fn text_is_compared_by_its_values() {
    let dir = Dir::new();
    dir.write("t.csv", "id,price,name\n1,2.5,a\n2,-0.5,bc\n");
    dir.write("other.csv", "id,price,name\n1,2.5,a\n2,-0.75,bc\n");
    for table in ["t.b2z", "t.bcolz"] {
        dir.b2(&format!("convert -q t.csv {table}")).ok();
        for line in [format!("diff t.csv {table}"), format!("diff {table} t.csv")] {
            assert_eq!(dir.b2(&line).ok().text(), "equal: 2 items\n", "{line}");
        }
        assert_eq!(dir.b2(&format!("diff other.csv {table}")).code, Some(1));
    }
    let sum = |name: &str| {
        let text = dir.b2(&format!("sum {name}")).ok().text().to_owned();
        text.split_whitespace().next().unwrap().to_owned()
    };
    assert_eq!(sum("t.b2z"), sum("t.bcolz"));
}

#[test]
fn two_texts_are_compared_as_tables() {
    let dir = Dir::new();
    dir.write("a.csv", "id,price,name\n1,2.5,a\n2,-0.5,bc\n");
    dir.write("same.csv", "id,price,name\r\n1,2.50,\"a\"\r\n2,-5e-1,bc\r\n");
    dir.write("other.csv", "id,price,name\n1,2.5,a\n2,-0.75,bc\n");
    dir.write("less.csv", "id,price\n1,2.5\n2,-0.5\n");
    dir.write("more.csv", "id,price,name\n1,2.5,a\n2,-0.5,bc\n3,1.5,d\n");
    assert_eq!(dir.b2("diff a.csv same.csv").ok().text(), "equal: 2 items\n");
    for (line, start, part) in [
        ("a.csv other.csv", "differ: 1 of 2 items, first at [1]: (2, -0.5, ", "difference 0.25"),
        ("a.csv less.csv", "type: [('id', '<i8'), ('price', '<f8'), ('name', ", "not equal"),
        ("a.csv more.csv", "shape: [2] and [3]\n", "more.csv has 1 more item"),
    ] {
        let run = dir.b2(&format!("diff {line}"));
        assert_eq!((run.code, run.stderr.as_str()), (Some(1), ""), "{line}: {}", run.all());
        assert!(run.text().starts_with(start) && run.text().contains(part), "{}", run.all());
    }
    // Text that is no table is compared byte by byte.
    dir.write("ragged.csv", "id,price,name\n1,2.5\n");
    let run = dir.b2("diff ragged.csv a.csv");
    assert_eq!(run.code, Some(1), "{}", run.all());
    assert!(run.stderr.contains("ragged.csv: warning: no table, so that bytes"), "{}", run.all());
    dir.write("copy.csv", "id,price,name\n1,2.5\n");
    assert!(dir.b2("diff ragged.csv copy.csv").ok().text().starts_with("equal: "));
    dir.write("empty.csv", "").write("zeros.csv", vec![0; 9]);
    for line in ["diff empty.csv empty.csv", "diff zeros.csv zeros.csv"] {
        dir.b2(line).ok();
    }
}

/// A `.npy` file of one dimension.
fn npy(dtype: &str, nitems: usize, items: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': {dtype}, 'fortran_order': False, 'shape': ({nitems},), }}");
    let header = format!("{header:<117}\n");
    [b"\x93NUMPY\x01\x00\x76\x00", header.as_bytes(), items].concat()
}

#[test]
fn values_are_compared_across_byte_orders_and_lengths_of_text() {
    let dir = Dir::new();
    let both = |name: &str, le: (&str, Vec<u8>), be: (&str, Vec<u8>)| {
        dir.write(&format!("{name}-a.npy"), npy(le.0, 2, &le.1));
        dir.write(&format!("{name}-b.npy"), npy(be.0, 2, &be.1));
    };
    let text = |order: fn(u32) -> [u8; 4], len: usize| -> Vec<u8> {
        let pad = |word: &str| {
            let chars: Vec<u32> = word.chars().map(u32::from).collect();
            (0..len).flat_map(|n| order(chars.get(n).copied().unwrap_or(0))).collect::<Vec<u8>>()
        };
        [pad("gr\u{fc}n"), pad("b")].concat()
    };
    let floats = [1.5_f64, -0.0, f64::NAN, 7.0];
    let le = |values: &[f64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let be = |values: &[f64]| values.iter().flat_map(|v| v.to_be_bytes()).collect::<Vec<u8>>();
    both("complex", ("'<c16'", le(&floats)), ("'>c16'", be(&floats)));
    both("text", ("'<U4'", text(u32::to_le_bytes, 4)), ("'>U6'", text(u32::to_be_bytes, 6)));
    both("bytes", ("'|S2'", b"abc\0".to_vec()), ("'|S3'", b"ab\0c\0\0".to_vec()));
    let row = |n: i16, v: f64| [&n.to_le_bytes()[..], &v.to_le_bytes()].concat();
    let other = |n: i16, v: f64| [&n.to_be_bytes()[..], b"\0\0", &v.to_be_bytes()].concat();
    both(
        "rows",
        ("[('n', '<i2'), ('v', '<f8', (1,))]", [row(-2, 0.5), row(3, 8.0)].concat()),
        (
            "[('n', '>i2'), ('', '|V2'), ('v', '>f8', (1,))]",
            [other(-2, 0.5), other(3, 8.0)].concat(),
        ),
    );
    both(
        "long",
        ("'<f16'", (0..32).collect()),
        ("'>f16'", (0..16).rev().chain((16..32).rev()).collect()),
    );
    both("dates", ("'<M8[s]'", le(&[0.0, 1.0])), ("'>M8[s]'", be(&[0.0, 1.0])));
    for name in ["complex", "text", "bytes", "rows", "long", "dates"] {
        let run = dir.b2(&format!("diff --values {name}-a.npy {name}-b.npy"));
        assert_eq!((run.code, run.text()), (Some(0), "equal: 2 items\n"), "{name} {}", run.stderr);
        // Without the option types count, but the values are reported equal.
        let run = dir.b2(&format!("diff {name}-a.npy {name}-b.npy"));
        assert_eq!(run.code, Some(1), "{name}");
        assert!(run.text().starts_with("type: "), "{name} {}", run.text());
        assert!(run.text().ends_with("the values are equal: 2 items\n"), "{name} {}", run.text());
    }
    let mut changed = be(&floats);
    changed[9] = 0x20;
    dir.write("changed.npy", npy("'>c16'", 2, &changed));
    let run = dir.b2("diff --values complex-a.npy changed.npy");
    assert_eq!(run.code, Some(1));
    assert!(run.text().contains("\ndiffer: 1 of 2 items, first at [0]"), "{}", run.text());
    // Five seconds differ from five days.
    dir.write("days.npy", npy("'<M8[D]'", 2, &le(&[0.0, 1.0])));
    let run = dir.b2("diff --values dates-a.npy days.npy");
    assert_eq!(
        (run.code, run.text().contains("differ: 1 of 2")),
        (Some(1), true),
        "{}",
        run.text()
    );
}

#[test]
fn folders_are_compared_by_their_sums() {
    let dir = two();
    for folder in ["one", "other"] {
        std::fs::create_dir(dir.path(folder)).unwrap();
        std::fs::copy(dir.path("a.b2nd"), dir.path(folder).join("x.b2nd")).unwrap();
    }
    snapshot!(dir.b2("diff one other"), @"
    exit 2
    --- stdout
    --- stderr
    b2: diff compares two objects, not two folders
    hint: `(cd A && b2 sum -r .) > list` and `(cd B && b2 sum -c ../list)` compare two folders
    ");
    // The command of the hint.
    let run = |folder: &str, line: &str| {
        Run::of(dir.command(line).current_dir(dir.path(folder)).output().unwrap())
    };
    dir.write("list", run("one", "sum -r .").ok().stdout);
    assert_eq!(run("other", "sum -c ../list").ok().text(), "./x.b2nd: OK\n");
}

#[test]
fn two_stores_differ_by_attributes_of_groups_and_by_keys() {
    let dir = two();
    dir.b2("convert -q a.b2nd x.b2z::/g/a").ok();
    dir.b2("convert -q b.b2nd x.b2z::/b").ok();
    for key in ["/", "/g"] {
        dir.b2(&format!("meta set x.b2z::{key} title=x same=1")).ok();
    }
    std::fs::copy(dir.path("x.b2z"), dir.path("y.b2z")).unwrap();
    assert_eq!(dir.b2("diff x.b2z y.b2z").code, Some(0));
    for key in ["/", "/g"] {
        dir.b2(&format!("meta set y.b2z::{key} title=y")).ok();
    }
    dir.b2("convert -q a.b2nd y.b2z::/more").ok();
    snapshot!(dir.b2("diff x.b2z y.b2z"), @"
    exit 1
    --- stdout
    /: metadata: title
    /g: metadata: title
    only y.b2z has /more
    /b: equal: 1 200 items
    /g/a: equal: 1 200 items
    --- stderr
    ");
    snapshot!(dir.b2("diff --json x.b2z y.b2z"), @r#"
    exit 1
    --- stdout
    {"schema":"b2.diff/1","path":"x.b2z::/","other":"y.b2z::/","equal":false,"metadata":["title"],"items":0,"different":0,"surplus":0}
    {"schema":"b2.diff/1","path":"x.b2z::/g","other":"y.b2z::/g","equal":false,"metadata":["title"],"items":0,"different":0,"surplus":0}
    {"schema":"b2.diff/1","path":"x.b2z::/more","other":"y.b2z::/more","equal":false,"only":"y.b2z","items":0,"different":0,"surplus":0}
    {"schema":"b2.diff/1","path":"x.b2z::/b","other":"y.b2z::/b","equal":true,"items":1200,"different":0,"surplus":0}
    {"schema":"b2.diff/1","path":"x.b2z::/g/a","other":"y.b2z::/g/a","equal":true,"items":1200,"different":0,"surplus":0}
    --- stderr
    "#);
    let run = dir.b2("diff --values x.b2z y.b2z");
    assert!(run.code == Some(1) && !run.text().contains("title"), "{}", run.all());
    // A single value is compared as such, and the key of the root stays the root.
    for (name, title) in [("one.b2z", "x"), ("two.b2z", "y")] {
        dir.b2(&format!("convert -q a.b2nd {name}")).ok();
        dir.b2(&format!("meta set {name}::/ title={title}")).ok();
    }
    let run = dir.b2("diff one.b2z two.b2z");
    assert!(run.code == Some(1) && run.text().starts_with("/: metadata: title\n"), "{}", run.all());
}

#[test]
fn times_of_different_units_are_compared_by_value() {
    let dir = Dir::new();
    let items = |counts: [i64; 3]| counts.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<_>>();
    dir.write("days.npy", npy("'<M8[D]'", 3, &items([-1, 17_536, i64::MIN])));
    dir.write("ns.npy", npy("'<M8[ns]'", 3, &items([-DAY, 17_536 * DAY, i64::MIN])));
    dir.write("later.npy", npy("'<M8[ns]'", 3, &items([-DAY, 17_538 * DAY, i64::MIN])));
    dir.write("gap.npy", npy("'<M8[ns]'", 3, &items([i64::MIN, 17_536 * DAY, i64::MIN])));
    dir.write("spans.npy", npy("'<m8[ns]'", 3, &items([-DAY, 17_536 * DAY, i64::MIN])));
    let same = dir.b2("diff --values days.npy ns.npy");
    assert_eq!(same.code, Some(0), "{}", same.all());
    let later = dir.b2("diff --values days.npy later.npy");
    assert_eq!(later.code, Some(1));
    assert!(
        later.text().contains("1 of 3 items") && later.text().contains("2 days"),
        "{}",
        later.all()
    );
    for other in ["gap.npy", "spans.npy"] {
        assert_eq!(dir.b2(&format!("diff --values days.npy {other}")).code, Some(1), "{other}");
    }
}

/// Nanoseconds of a day.
const DAY: i64 = 86_400_000_000_000;

#[test]
fn groups_of_every_format_are_compared_and_described_member_by_member() {
    let dir = Dir::new();
    let (a, b) = (npy("'<i4'", 2, &[1, 0, 0, 0, 2, 0, 0, 0]), npy("'|u1'", 3, b"xyz"));
    let objects = npy("'|O'", 1, b"\x80\x04K\x01.");
    dir.write("g.npz", zip(&[("a.npy", &a), ("g/b.npy", &b)]));
    dir.write("one.npz", zip(&[("c.npy", &b)])).write("b.npy", &b);
    dir.write("other.npz", zip(&[("a.npy", &a), ("g/b.npy", &a)]));
    dir.write("o.npz", zip(&[("a.npy", &a), ("g/b.npy", &b), ("o.npy", &objects)]));
    dir.b2("convert -q g.npz g.b2z").ok();
    dir.b2("convert -q g.npz g.b2d").ok();
    let all = ["g.npz", "g.b2z", "g.b2d"];
    for (first, second) in all.iter().flat_map(|a| all.map(|b| (a, b))) {
        let run = dir.b2(&format!("diff {first} {second}")).ok();
        assert_eq!(run.text(), "/a: equal: 2 items\n/g/b: equal: 3 items\n", "{first} {second}");
    }
    for (line, code, text, said) in [
        ("g.b2z::/g g.b2d::/g", 0, "equal: 3 items\n", ""),
        ("g.b2z::/g one.npz", 0, "equal: 3 items\n", ""),
        ("g.b2z other.npz", 1, "/a: equal: 2 items\n/g/b: type: |u1 and <i4\n", ""),
        ("o.npz o.npz", 4, "/a: equal: 2 items\n/g/b: equal: 3 items\n", "warning: not compared"),
        ("--strict o.npz o.npz", 4, "/a: equal", "b2: o.npz::/o: the items"),
        ("g.npz o.npz", 1, "only o.npz has /o\n/a: equal: 2 items\n", ""),
    ] {
        let run = dir.b2(&format!("diff {line}"));
        assert_eq!(run.code, Some(code), "{line}: {}", run.all());
        assert!(run.text().starts_with(text), "{line}: {}", run.all());
        assert!(run.stderr.contains(said), "{line}: {}", run.all());
    }
    for (input, names, code) in [
        ("g.npz", &["g.npz::/a", "g.npz::/g/b"][..], 0),
        ("g.b2z", &["g.b2z::/a", "g.b2z::/g/b"], 0),
        ("g.b2d::/g", &["g.b2d::/g/b"], 0),
        ("o.npz", &["o.npz::/a", "o.npz::/g/b"], 4),
    ] {
        let run = dir.b2(&format!("stats {input}"));
        let found = run.text().lines().filter(|line| line.contains("items of"));
        let found: Vec<&str> = found.filter_map(|line| line.split(": ").next()).collect();
        assert_eq!((run.code, &found[..]), (Some(code), names), "{input}: {}", run.all());
    }
}

#[test]
fn columns_that_cannot_be_compared_are_named_and_the_others_are_compared() {
    let dir = Dir::new();
    let lists = blosc_testdata::fixture::path("stores/v4.13.1-lists.b2z");
    std::fs::copy(lists, dir.path("l.b2z")).unwrap();
    dir.b2("convert -q l.b2z l.csv").ok();
    dir.b2("convert -q --columns id l.b2z id.csv").ok();
    let other = String::from_utf8(dir.read("l.csv")).unwrap().replacen("\n4,", "\n5,", 1);
    dir.write("other.csv", other);
    for (line, code, text) in [
        ("l.b2z l.b2z", 4, "equal: 4 items\n"),
        ("l.b2z l.csv", 4, "equal: 4 items\n"),
        ("l.csv l.b2z", 4, "equal: 4 items\n"),
        ("l.b2z id.csv", 4, "equal: 4 items\n"),
        ("l.b2z other.csv", 1, "differ: 1 of 4 items, first at [3]"),
    ] {
        let run = dir.b2(&format!("diff {line}"));
        assert_eq!(run.code, Some(code), "{line}: {}", run.all());
        assert!(run.text().starts_with(text), "{line}: {}", run.all());
        let named = "column \"words\" is not compared: NumPy has no type";
        assert!(run.stderr.contains(named), "{line}: {}", run.stderr);
        let run = dir.b2(&format!("diff --strict {line}"));
        assert!(run.code == Some(4) && run.text().is_empty(), "{line}: {}", run.all());
    }
}

#[test]
fn truth_values_come_back_from_text_however_they_are_written() {
    let dir = Dir::new();
    for (words, null) in [("TRUE,FALSE", ""), ("True,False", ""), ("true,false", "")] {
        let (yes, no) = words.split_once(',').unwrap();
        dir.write("t.csv", format!("t,n\n{yes},1\n{null},2\n{no},3\n"));
        dir.write("no.csv", format!("t,n\n{yes},1\n{no},2\n{no},3\n"));
        for store in ["t.b2z", "t.b2d"] {
            dir.b2(&format!("convert -q -f t.csv {store}")).ok();
            dir.b2(&format!("convert -q -f {store} back.csv")).ok();
            for (line, code) in [
                (format!("{store} t.csv"), 0),
                (format!("back.csv {store}"), 0),
                (format!("{store} {store}"), 0),
                ("back.csv back.csv".to_owned(), 0),
                (format!("{store} no.csv"), 1),
                ("no.csv t.csv".to_owned(), 1),
            ] {
                let run = dir.b2(&format!("diff {line}"));
                assert_eq!(run.code, Some(code), "{words} {line}: {}", run.all());
            }
        }
    }
    dir.write("t.csv", "t\nTRUE\nFALSE\n");
    dir.b2("convert -q t.csv t.bcolz").ok();
    assert_eq!(dir.b2("show --csv t.bcolz").ok().text(), "t\nTrue\nFalse\n");
}

/// Columns of unequal types have no equal rows; the marks of nulls are no part of their length.
#[test]
fn rows_with_nulls_of_unequal_types_are_counted_once() {
    let dir = Dir::new();
    dir.write("t.csv", "n\n1\n2\n3\n");
    for (store, kind) in [("a.b2z", "f8"), ("b.b2z", "text")] {
        dir.b2(&format!("convert -q t.csv {store}")).ok();
        dir.b2(&format!("table add -q {store} x:{kind}")).ok();
    }
    let run = dir.b2("diff --json a.b2z b.b2z");
    assert_eq!(run.code, Some(1), "{}", run.all());
    assert!(run.text().contains("\"different\":3,"), "{}", run.all());
}

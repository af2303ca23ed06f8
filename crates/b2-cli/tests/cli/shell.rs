//! Findings of shell users: one table of lines for each kind.

use serde_json::{Value, json};

use crate::session::{Dir, Run};

/// A table in four formats, and an array `a.npy` of 4 x 6 floats.
fn dir() -> Dir {
    let dir = Dir::new();
    let rows = "time,price,size,sym,Adj Close,trip.lon,x-y\n\
                2018-01-05T10:00:00,1.5,3,AB,1,2,3\n\
                2018-01-05T10:00:10,,40,BC,2,3,4\n\
                2018-01-05T10:00:40,2.5,500,AC,3,4,5\n";
    dir.write("t.csv", rows);
    for name in ["t.bcolz", "t.b2z", "t.npy"] {
        dir.b2(&format!("convert -q t.csv {name}")).ok();
    }
    let items: Vec<u8> = (0..24_u8).flat_map(|n| f32::from(n).to_le_bytes()).collect();
    dir.write("a.f32", items);
    dir.b2("convert -q --dtype f4 --shape 4,6 a.f32 a.npy").ok();
    dir
}

/// Runs a line, with more arguments that may hold spaces.
fn run(dir: &Dir, line: &str, more: &[&str]) -> Run {
    Run::of(dir.command(line).args(more).output().unwrap())
}

const TABLES: [&str; 4] = ["t.csv", "t.bcolz", "t.b2z", "t.npy"];

#[test]
fn conditions_take_what_users_write() {
    let dir = dir();
    for name in TABLES {
        for (condition, sizes) in [
            ("sym in (\"AB\", \"AC\")", "3 500"),
            ("sym not in (\"AB\", \"AC\")", "40"),
            ("startswith(sym, \"A\")", "3 500"),
            ("sym.endswith(\"C\")", "40 500"),
            ("size between 3 and 40", "3 40"),
            ("price is null", "40"),
            ("price is not null", "3 500"),
            ("time between '2018-01-05T10:00:05' and '2018-01-05T10:00:40'", "40 500"),
            ("`Adj Close` > 1", "40 500"),
            ("Adj Close > 1", "40 500"),
            ("trip.lon > 3", "500"),
            ("`x-y` == 3", "3"),
            ("x-y == 3", "3"),
        ] {
            let found = run(&dir, "show --csv --columns size", &["--where", condition, name]).ok();
            let lines: Vec<&str> = found.text().lines().skip(1).collect();
            assert_eq!(lines.join(" "), sizes, "{condition} of {name}");
        }
    }
}

#[test]
fn conditions_that_are_none_are_marked_at_their_place() {
    let dir = dir();
    for name in TABLES {
        for (condition, place, right) in [
            ("sym = \"AB\"", "= ", "`==`"),
            ("size > 1 && size < 9", "&& ", "`and`"),
            ("size > 1 || size < 9", "|| ", "`or`"),
            ("size > 1 AND size < 9", "AND ", "`and`"),
            ("sym like \"A%\"", "like ", "startswith"),
            ("price == null", "null", "`is null`"),
            ("\"Adj Close\" > 2", "> 2", "backquotes"),
            ("size >", "", "expected"),
        ] {
            for line in ["show", "convert -f -o out.csv", "plot --columns size"] {
                let run = run(&dir, line, &["--where", condition, name]);
                assert_eq!(run.code, Some(2), "{line} {condition} of {name}: {}", run.stderr);
                let lines: Vec<&str> = run.stderr.lines().collect();
                let [first, second] = lines[..] else { panic!("{}", run.stderr) };
                assert!(first.ends_with(condition), "{line} of {name}: {first}");
                let mark = second.find('^').unwrap();
                assert!(first[mark..].starts_with(place), "{first}\n{second}");
                assert!(second.contains(right), "{first}\n{second}");
            }
        }
    }
    let run = run(&dir, "show", &["--where", "Adj > 1", "t.b2z"]);
    assert!(run.stderr.contains("`Adj Close`, trip.lon, `x-y`"), "{}", run.stderr);
    let run = run_json(&dir, &["--where", "size = 1", "t.b2z"]);
    assert!(run["message"].as_str().unwrap().contains("at byte 5"), "{run}");
}

fn run_json(dir: &Dir, more: &[&str]) -> Value {
    serde_json::from_str(&run(dir, "show --json", more).stderr).unwrap()
}

#[test]
fn plots_of_tables_have_an_x_axis_of_one_kind() {
    let dir = dir();
    for name in TABLES {
        let plot = |line: &str| dir.b2(&format!("plot --json {line} {name}"));
        let drawn = |line: &str| -> Value {
            serde_json::from_slice(&plot(line).ok().stdout).unwrap_or_else(|_| panic!("{line}"))
        };
        // A first column of times is the x axis, and not a line.
        let names = |value: &Value| -> Vec<String> {
            let lines = value["lines"].as_array().unwrap().iter();
            lines.map(|line| line["name"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(names(&drawn("--columns time,price,size")), ["price", "size"], "{name}");
        assert_eq!(names(&drawn("--columns price --x size")), ["price"], "{name}");
        // The rows at 10 and 40 of 50 seconds: the columns are as far apart.
        let line = &drawn("--columns time,size")["lines"][0]["max"];
        let line = line.as_array().unwrap();
        let places: Vec<usize> = (0..line.len()).filter(|n| !line[*n].is_null()).collect();
        assert_eq!(places.len(), 3);
        assert!((places[1] * 4).abs_diff(line.len()) < 5, "{places:?} of {}", line.len());
        let refused = plot("--columns price,time");
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        assert!(refused.stderr.contains("cannot share an axis"), "{}", refused.stderr);
        // Only rows of the condition are drawn; with logarithms, values are still reported
        // unchanged.
        let found = run(&dir, "plot --json --columns size", &["--where", "size > 3", name]).ok();
        let found: Value = serde_json::from_slice(&found.stdout).unwrap();
        assert_eq!((&found["shape"], &found["min"]), (&json!([2]), &json!(40.0)), "{name}");
        let log = drawn("--columns size --log");
        assert!((log["max"].as_f64().unwrap() - 500.0).abs() < 1e-9, "{name}");
        assert_eq!(plot("--columns size --kind histogram --log").code, Some(0));
    }
    let rows = dir.b2("plot --json --kind line --slice 1:3,: a.npy").ok();
    let rows: Value = serde_json::from_slice(&rows.stdout).unwrap();
    assert_eq!(rows["lines"][1]["name"], json!("dimension 0 = 2"));
    assert_eq!(rows["lines"][1]["max"], json!([12.0, 13.0, 14.0, 15.0, 16.0, 17.0]));
    for line in ["plot --x a a.npy", "plot --where a>1 a.npy"] {
        assert_eq!(dir.b2(line).code, Some(2), "{line}");
    }
    let run = dir.b2("plot --slice 0,:1 a.npy -o p.png").ok();
    assert!(run.stderr.ends_with("line of 1 item\n"), "{}", run.stderr);
}

#[test]
fn guesses_about_text_are_warned_of() {
    let dir = Dir::new();
    dir.write("na.csv", "a,b,t\n1,NA,2018-01-05T10:00:00Z\nnull,2.5,2018-01-05T10:00:00-05:00\n");
    dir.write("bad.csv", "a,b\n1,2\nx,3\n").write("semi.csv", "a;b\n1;2\n");
    for command in ["show", "stats", "convert -f -o o.b2z", "plot --columns a"] {
        let run = dir.b2(&format!("{command} bad.csv"));
        let said =
            "warning: column \"a\" is text: line 3 has \"x\", and the values before it are numbers";
        assert!(run.stderr.contains(said), "{command}: {}", run.stderr);
    }
    let found = dir.b2("show --csv na.csv").ok();
    assert_eq!(found.stderr, "");
    let lines = ["a,b,t", "1.0,nan,2018-01-05T10:00:00", "nan,2.5,2018-01-05T15:00:00"];
    assert_eq!(found.text().lines().collect::<Vec<_>>(), lines);
    let run = dir.b2("show semi.csv").ok();
    assert!(run.stderr.contains("`b2 convert --delimiter ';'`"), "{}", run.stderr);
    dir.b2("convert --delimiter ; semi.csv s.b2z").ok();
    assert_eq!(dir.b2("show --csv s.b2z").ok().text(), "a,b\n1,2\n");
}

#[test]
fn parts_are_chosen_the_same_way_everywhere() {
    let dir = dir();
    let shown = |line: &str| dir.b2(line).ok().text().to_owned();
    assert_eq!(shown("show --slice [0,...] a.npy"), shown("show --slice 0 a.npy"));
    assert_eq!(shown("show --slice 1:,::2 -n 2 a.npy"), "[[ 6.  8. 10.]\n [12. 14. 16.]]\n");
    assert_eq!(shown("show --csv --slice 1: -n 1 --columns size t.b2z"), "size\n40\n");
    // A part can become a file, and have statistics.
    dir.b2("convert -q --slice 1,2:5 a.npy part.npy").ok();
    assert_eq!(shown("show part.npy"), "[ 8.  9. 10.]\n");
    dir.b2("convert -q --slice 1,2:5 a.npy part.b2nd").ok();
    assert_eq!(shown("show part.b2nd"), "[ 8.  9. 10.]\n");
    dir.b2("convert --slice 0:2 t.b2z x.b2z").ok();
    assert_eq!(
        shown("show --csv --columns size x.b2z"),
        shown("show --csv --slice 0:2 --columns size t.b2z")
    );
    assert_eq!(dir.b2("convert --slice 0:2,1 t.b2z y.b2z").code, Some(2));
    let stats = |line: &str| -> Value { serde_json::from_str(&shown(line)).unwrap() };
    let part = stats("stats --json --slice 1,2:5 a.npy");
    assert_eq!((&part["items"], &part["columns"][0]["mean"]), (&json!(3), &json!(9.0)));
    for (axis, count, name, mean) in
        [("0", 6, "[:, 1]", 10.0), ("1", 4, "[1, :]", 8.5), ("-1", 4, "[1, :]", 8.5)]
    {
        for line in [format!("--axis {axis}"), format!("--axis={axis}")] {
            let found = stats(&format!("stats --json {line} a.npy"));
            let columns = found["columns"].as_array().unwrap();
            assert_eq!((columns.len(), &columns[1]["name"]), (count, &json!(name)), "{axis}");
            assert_eq!(columns[1]["mean"], json!(mean), "{axis}");
        }
    }
    assert_eq!(dir.b2("stats --axis 2 a.npy").code, Some(2));
    for name in TABLES {
        let text = shown(&format!("stats {name}"));
        assert!(text.starts_with(&format!("{name}: 3 rows\n")), "{text}");
        let part = stats(&format!("stats --json --slice 1: --columns size {name}"));
        assert_eq!(part["columns"][0]["min"], json!(40), "{name}");
    }
}

#[test]
fn members_stand_in_the_order_of_their_numbers() {
    let dir = dir();
    std::fs::create_dir(dir.path("f")).unwrap();
    for n in [10, 9, 1, 2] {
        dir.b2(&format!("c -q a.npy -o f/c{n}.b2nd")).ok();
    }
    dir.b2("convert -q f s.b2z").ok();
    let order = ["c1", "c2", "c9", "c10"];
    for line in ["list f", "list -r f", "list --tree f", "list --tree s.b2z", "sum -r f"] {
        let found = dir.b2(line).ok();
        let places = order.map(|name| found.text().find(&format!("{name}.b2nd")));
        let places = if line.ends_with("s.b2z") {
            order.map(|name| found.text().find(&format!("{name} ")))
        } else {
            places
        };
        assert!(
            places.iter().all(Option::is_some) && places.is_sorted(),
            "{line}\n{}",
            found.text()
        );
    }
    // Folders in a folder are reported, not walked.
    std::fs::create_dir(dir.path("f/sub")).unwrap();
    let run = dir.b2("list f").ok();
    assert!(run.stderr.contains("1 folder"), "{}", run.stderr);
}

#[test]
fn differences_are_told_so_that_they_can_be_seen() {
    let dir = Dir::new();
    dir.write("f4.raw", 0.1_f32.to_le_bytes()).write("f8.raw", 0.1_f64.to_le_bytes());
    dir.b2("convert -q --dtype f4 f4.raw f4.npy").ok();
    dir.b2("convert -q --dtype f8 f8.raw f8.npy").ok();
    let text = dir.b2("diff f4.npy f8.npy").text().to_owned();
    assert!(text.contains("0.10000000149011612 and 0.1;"), "{text}");
    let times = [0_i64, 86_400 * 400].map(i64::to_le_bytes).concat();
    dir.write("t1.raw", [0_i64, 1].map(i64::to_le_bytes).concat()).write("t2.raw", times);
    for name in ["t1", "t2"] {
        dir.b2(&format!("convert -q --dtype M8[s] {name}.raw {name}.npy")).ok();
    }
    let text = dir.b2("diff t1.npy t2.npy").text().to_owned();
    assert!(text.ends_with("largest difference 400 days\n"), "{text}");
    for (line, said) in [
        ("diff f8.npy t1.npy", "never"),
        ("diff t1.npy more.npy", "more.npy has 1 more item\n"),
        ("diff more.npy t1.npy", "more.npy has 1 more item\n"),
    ] {
        dir.write("more.raw", [0_i64, 1, 2].map(i64::to_le_bytes).concat());
        dir.b2("convert -q -f --dtype M8[s] more.raw more.npy").ok();
        let run = dir.b2(line);
        assert_eq!(run.code, Some(1), "{line}");
        assert!(said == "never" || run.text().ends_with(said), "{line}: {}", run.text());
    }
}

#[test]
fn stores_are_compared_by_their_keys() {
    let dir = dir();
    for (name, files) in [("one", ["a.npy", "t.csv"]), ("two", ["a.npy", "t.npy"])] {
        std::fs::create_dir(dir.path(name)).unwrap();
        for file in files {
            std::fs::copy(dir.path(file), dir.path(format!("{name}/{file}"))).unwrap();
        }
        dir.b2(&format!("convert -q {name} {name}.b2z")).ok();
    }
    dir.b2("unpack -q one.b2z -o three.b2d").ok();
    assert_eq!(dir.b2("diff one.b2z three.b2d").code, Some(0));
    dir.b2("convert -q -f --slice 1: a.npy -o one/a.npy").ok();
    dir.b2("convert -q -f a.npy one/more.npy").ok();
    dir.b2("convert -q -f one four.b2z").ok();
    let run = dir.b2("diff one.b2z four.b2z");
    assert_eq!(run.code, Some(1));
    let text = run.text();
    for line in
        ["only four.b2z has /more\n", "/a: shape: [4, 6] and [3, 6]\n", "/t: equal: 3 items\n"]
    {
        assert!(text.contains(line), "{line:?} in\n{text}");
    }
}

#[test]
fn stores_have_as_many_values_as_their_tree_shows() {
    let dir = dir();
    std::fs::create_dir(dir.path("f")).unwrap();
    for file in ["a.npy", "t.csv"] {
        std::fs::copy(dir.path(file), dir.path(format!("f/{file}"))).unwrap();
    }
    for (line, said) in [
        ("convert f f.b2z", "2 values"),
        ("unpack f.b2z", "2 values"),
        ("pack f.b2d -o g.b2z", "2 values"),
        ("pack t.b2d -o u.b2z", "1 value"),
    ] {
        if line.contains("t.b2d") {
            dir.b2("unpack -q t.b2z").ok();
        }
        let run = dir.b2(line).ok();
        assert!(run.stderr.ends_with(&format!("{said}\n")), "{line}: {}", run.stderr);
    }
}

#[test]
fn outputs_that_are_larger_or_hold_no_numbers_are_told() {
    let dir = Dir::new();
    let mut random = blosc_testdata::data::XorShift32::new(5);
    let noise: Vec<u8> = (0..250).flat_map(|_| random.next_u32().to_le_bytes()).collect();
    dir.write("noise", noise);
    for line in ["c noise", "c --json -f noise"] {
        let run = dir.b2(line).ok();
        assert!(run.stderr.contains("the output is larger"), "{line}: {}", run.stderr);
    }
    let items = (0..4096_u16).map(|n| if n % 4 == 0 { f32::NAN } else { f32::from(n) });
    dir.write("x.f32", items.flat_map(f32::to_le_bytes).collect::<Vec<u8>>());
    let run = dir.b2("c --lossy -C zfp_acc:-2 --dtype f4 --shape 64,64 x.f32").ok();
    let said = "1 024 items are no finite numbers: ZFP takes no blocks with NaN";
    assert!(run.stderr.contains(said), "{}", run.stderr);
}

#[test]
fn help_has_topics() {
    let dir = Dir::new();
    let run = dir.b2("help recipes").ok();
    assert!(run.text().contains("Compress every file of a folder"), "{}", run.text());
    assert!(!run.text().contains("\\f") && !run.text().contains(".nf"), "{}", run.text());
    for code in ["\\(", "\\&", "\\:"] {
        assert!(!run.text().contains(code), "{code}: {}", run.text());
    }
    assert!(run.text().contains("`b2 ") && run.text().contains('\''), "{}", run.text());
}

/// Inputs of all kinds in `dir`, with their names.
fn inputs(dir: &Dir) -> Vec<String> {
    for format in ["b2nd", "b2frame", "sframe", "chunk", "blp", "carray"] {
        dir.b2(&format!("convert -q --format {format} a.npy -o a.{format}")).ok();
    }
    let arrays = ["npy", "b2nd", "b2frame", "sframe", "chunk", "blp", "carray"];
    let arrays = arrays.map(|format| format!("a.{format}"));
    arrays.into_iter().chain(TABLES.map(str::to_owned)).collect()
}

/// A command, its other arguments, and options that choose a part; each option has the inputs on
/// which it has no effect.
type Case = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const OPTIONS: [Case; 8] = [
    (
        "show",
        "",
        &[
            ("--slice 1", ""),
            ("-n 1", ""),
            ("--tail 1", ""),
            ("--skip 1", ""),
            ("--columns size", ""),
            ("--where size>3", ""),
            ("--dtype i4", "a.b2nd a.blp"),
            ("--dtype f4 --shape 2,-1", ""),
            ("--csv", ""),
            ("--json", ""),
        ],
    ),
    ("cat", "", &[("--items 1:2", ""), ("--bytes 1:5", ""), ("--slice 1", "")]),
    (
        "stats",
        "",
        &[
            ("--dtype i4", ""),
            ("--columns size", ""),
            ("--slice 1", ""),
            ("--axis 0", ""),
            ("--histogram", ""),
        ],
    ),
    ("list", "", &[("--tree", ""), ("--json", ""), ("--tree --json", "")]),
    ("info", "", &[("--json", "")]),
    ("sum", "", &[("-a xxh3", ""), ("-a crc32c", ""), ("--json", "")]),
    (
        "plot",
        "--columns size",
        &[
            ("--dtype i4", ""),
            ("--slice 1:", ""),
            ("--x price", ""),
            ("--where size>3", ""),
            ("--kind histogram", ""),
            ("--log", ""),
            ("--title T", ""),
            ("--size 60x20", ""),
        ],
    ),
    (
        "plot",
        "",
        &[
            ("--dtype i4", "a.b2nd"),
            ("--slice 1", ""),
            ("--kind histogram", ""),
            ("--bins 7", ""),
            ("--log", ""),
            ("--title T", ""),
            ("--size 60x20", ""),
        ],
    ),
];

#[test]
fn options_of_commands_that_read_do_something_or_are_refused() {
    let dir = dir();
    let mut idle = vec![];
    for (command, more, options) in OPTIONS {
        for input in inputs_once(&dir) {
            let plain = dir.b2(&format!("{command} {more} {input}"));
            for (option, same) in options {
                let run = dir.b2(&format!("{command} {more} {option} {input}"));
                // A refused line cannot show an effect.
                let is_refused = !matches!(run.code, Some(0 | 1));
                if is_refused || run.stdout != plain.stdout || run.code != plain.code {
                    continue;
                }
                if !same.split(' ').any(|name| name == input) {
                    idle.push(format!("{command} {more} {option} {input}"));
                }
            }
        }
    }
    assert!(idle.is_empty(), "options without effect:\n{}", idle.join("\n"));
}

fn inputs_once(dir: &Dir) -> Vec<String> {
    match dir.path("a.b2nd").exists() {
        true => {
            let arrays = ["npy", "b2nd", "b2frame", "sframe", "chunk", "blp", "carray"];
            let arrays = arrays.map(|format| format!("a.{format}"));
            arrays.into_iter().chain(TABLES.map(str::to_owned)).collect()
        }
        false => inputs(dir),
    }
}

#[test]
fn options_of_diff_change_what_counts_as_equal() {
    let dir = dir();
    dir.write(
        "b.f32",
        (0..24_u8).flat_map(|n| (f32::from(n) + 0.5).to_le_bytes()).collect::<Vec<_>>(),
    );
    dir.b2("convert -q --dtype f4 --shape 4,6 b.f32 b.npy").ok();
    dir.b2("convert -q --dtype f4 --shape 24 a.f32 flat.npy").ok();
    assert_eq!(dir.b2("diff a.npy b.npy").code, Some(1));
    assert_eq!(dir.b2("diff --atol 1 a.npy b.npy").code, Some(0));
    assert_eq!(dir.b2("diff --rtol 1 a.npy b.npy").code, Some(0));
    assert_eq!(dir.b2("diff a.npy flat.npy").code, Some(1));
    assert_eq!(dir.b2("diff --values a.npy flat.npy").code, Some(0));
}

/// Preparing lines; a line that fails with a hint; a part of the hint; the line that the hint
/// suggests, and its exit code.
const HINTS: [(&str, &str, &str, &str, i32); 30] = [
    ("", "c a.npy -o x.csv", "use `b2 convert`", "convert t.npy x.csv", 0),
    ("", "c a.npy -o x.nc", "--format to choose", "c a.npy --format b2nd -o x.nc", 0),
    (
        "mkdir d",
        "convert a.npy d",
        "--output-dir FOLDER",
        "convert --format b2nd --output-dir d a.npy",
        0,
    ),
    ("", "convert a.npy x.unknown", "use --format", "convert --format b2nd a.npy -o x.unknown", 0),
    ("", "info d", "-r", "info -r .", 0),
    ("c a.f32 -o x", "c a.f32 -o x", "use -f", "c -f a.f32 -o x", 0),
    ("", "show --where nope>1 t.b2z", "quotation marks", "show --where size>1 t.b2z", 0),
    ("", "plot t.b2z", "--columns NAME", "plot --columns size t.b2z", 0),
    ("", "plot --columns price,time t.b2z", "--x NAME", "plot --columns price --x time t.b2z", 0),
    ("", "plot --kind heat --slice 0 a.npy", "--kind line", "plot --kind line --slice 0 a.npy", 0),
    ("convert a.npy a.b2frame", "plot a.b2frame", "--dtype", "plot --dtype f4 a.b2frame", 0),
    ("", "stats --axis 0 t.b2z", "--slice A:B", "stats --slice 0:2 t.b2z", 0),
    ("", "convert --slice ::2 t.b2z x.b2z", "--where", "convert --where size>3 t.b2z x.b2z", 0),
    ("pack", "unpack t.b2z", "use -f", "unpack -f t.b2z", 0),
    (
        "",
        "c --lossy -C zfp_acc:-2 --verify a.npy -o x.b2nd",
        "leave out --verify",
        "c --lossy -C zfp_acc:-2 a.npy -o x.b2nd",
        0,
    ),
    (
        "",
        "c -C zfp_acc:-2 a.npy -o x.b2nd",
        "use --lossy",
        "c --lossy -C zfp_acc:-2 a.npy -o x.b2nd",
        0,
    ),
    ("", "c --chunks 2,2 a.f32 -o x", "--format b2frame", "c --format b2frame a.f32 -o x", 0),
    (
        "",
        "c -t 4 -z 64 --format b2nd a.npy -o x.b2nd",
        "--chunks and --blocks",
        "c --chunks 2,2 a.npy -o x.b2nd",
        0,
    ),
    ("", "recompress a.b2nd", "b2 recompress -C", "recompress -C lz4 a.b2nd", 0),
    ("", "verify t.csv", "b2 show", "show t.csv", 0),
    ("", "d a.b2nd -o x.csv", "use `b2 convert`", "convert t.npy x.csv -f", 0),
    ("", "dump t.b2z", "list --tree", "list --tree t.b2z", 0),
    ("", "append t.b2z t.b2z", "cp -r t.b2z COPY", "append t.b2z t.npy", 0),
    ("", "convert --delimiter ; a.npy x.csv", "leave it out", "convert a.npy x.csv", 0),
    ("", "convert --shape 24 a.b2nd x.npy", "leave them out", "convert a.b2nd x.npy", 0),
    (
        "",
        "convert --shape 24 a.f32 x.npy",
        "--dtype",
        "convert --shape 24 --dtype f4 a.f32 x.npy",
        0,
    ),
    ("", "show -n -1 a.npy", "`b2 show -h`", "show -h", 0),
    ("", "compress --dict -C blosclz a.f32", "zstd", "compress --dict -C zstd a.f32", 0),
    ("", "convert a.npy -o t.b2z::a", "::/key", "convert a.npy -o new.b2z::/a", 0),
    ("", "plot --format svg -o x.png a.npy", "leave out --format", "plot -o x.png a.npy", 0),
];

#[test]
fn hints_lead_to_lines_that_help() {
    for (before, line, hint, hinted, code) in HINTS {
        let dir = dir();
        dir.b2("convert -q a.npy a.b2nd").ok();
        std::fs::create_dir(dir.path("d")).unwrap();
        match before {
            "" | "mkdir d" => {}
            "pack" => drop(dir.b2("unpack -q t.b2z").ok()),
            before => drop(dir.b2(&format!("{before} -q")).ok()),
        }
        let run = dir.b2(line);
        assert!(!matches!(run.code, Some(0)), "{line}");
        let said = run.stderr.lines().find_map(|line| line.strip_prefix("hint: "));
        assert!(said.unwrap_or_default().contains(hint), "{line}: {}", run.stderr);
        let followed = dir.b2(hinted);
        assert_eq!(followed.code, Some(code), "{hinted}: {}", followed.stderr);
    }
}

#[cfg(unix)]
#[test]
fn hints_name_the_file_so_that_a_shell_runs_them() {
    let dir = dir();
    dir.b2("c -q -t 4 -z 32 a.f32 -o a.b2frame").ok();
    dir.b2("convert -q a.npy a.b2nd").ok();
    let (frame, two) = (dir.read("a.b2frame"), dir.read("a.b2nd").repeat(2));
    let cut = &frame[..frame.len() - 40];
    for name in ["two words", "it's", "-f", "a$b;c", "plain"] {
        let path = dir.path(name);
        for (bytes, command) in [(cut, "verify"), (cut, "sum"), (&two, "append")] {
            std::fs::write(&path, bytes).unwrap();
            let mut run = dir.command(command);
            let run = Run::of(run.args(["--", name, "a.npy"]).output().unwrap());
            let hint = run.stderr.lines().find_map(|line| line.strip_prefix("hint: "));
            let hint = hint.unwrap_or_else(|| panic!("{command} {name}: {}", run.stderr));
            let start = hint.find('`').unwrap() + 1;
            let end = start + hint[start..].find('`').unwrap();
            let hinted = hint[start..end].replace("NEW", "new -f").replace("b2 ", "\"$B2\" ");
            let mut shell = std::process::Command::new("bash");
            let shell = shell.arg("-c").arg(&hinted).env("B2", env!("CARGO_BIN_EXE_b2"));
            let done = Run::of(shell.current_dir(dir.path("")).output().unwrap());
            assert!(matches!(done.code, Some(0 | 1)), "{hinted}: {}", done.stderr);
        }
    }
}

#[test]
fn a_chunk_of_which_nothing_can_be_saved_has_no_hint_to_rescue_it() {
    let dir = dir();
    dir.write("n.i32", crate::session::walk(20_000));
    for (block, helps) in [("80000", false), ("4K", true)] {
        dir.b2(&format!("c -q -f -t 4 --format chunk --block-size {block} n.i32 -o n.chunk")).ok();
        let whole = dir.read("n.chunk");
        dir.write("cut.chunk", &whole[..whole.len() * 2 / 3]);
        let run = dir.b2("verify cut.chunk");
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        assert_eq!(run.stderr.contains("b2 rescue cut.chunk"), helps, "{}", run.stderr);
        let saved = dir.b2("rescue -f cut.chunk -o new.chunk").stdout;
        assert_eq!(!saved.is_empty(), helps);
    }
}

#[test]
fn hints_are_not_for_other_commands() {
    let dir = dir();
    std::fs::create_dir(dir.path("d")).unwrap();
    dir.b2("c -q a.f32 -o a.b2frame").ok();
    for line in [
        "view d --picture p.png",
        "scan d",
        "compat d",
        "tune d",
        "extract d",
        "split d",
        "meta get d",
    ] {
        let run = dir.b2(line);
        assert_ne!(run.code, Some(0), "{line}");
        let command = line.split(' ').next().unwrap();
        let options = dir.b2(&format!("{command} --help")).ok();
        let hints = run.stderr.lines().filter_map(|line| line.strip_prefix("hint: "));
        for hint in hints {
            let bare: String = hint.split('`').step_by(2).collect();
            for word in bare.split_whitespace().filter(|word| word.starts_with('-')) {
                let word = word.trim_matches([',', ';', '.']);
                assert!(options.text().contains(word), "{line}: {hint}");
            }
        }
    }
}

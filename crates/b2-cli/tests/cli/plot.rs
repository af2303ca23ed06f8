//! `b2 plot`: pictures of numbers, in files and as characters.

use crate::session::{Dir, snapshot};

/// A rising line with a gap and an infinity, and an array of two dimensions.
fn drawn() -> Dir {
    let dir = Dir::new();
    let mut values: Vec<f64> = (0..40).map(|n| f64::from(n * n)).collect();
    (values[10], values[11], values[30]) = (f64::NAN, f64::NAN, f64::INFINITY);
    dir.write("l.f64", values.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<_>>());
    let cells: Vec<u8> = (0..200u16).flat_map(|n| (n % 20 * (n / 20)).to_le_bytes()).collect();
    dir.write("m", cells);
    dir.b2("c -q --dtype f8 --shape 40 l.f64 -o l.b2nd").ok();
    dir.b2("c -q --dtype u2 --shape 10,20 m -o m.b2nd").ok();
    dir.b2("meta set m.b2nd units=\"m/s\" long_name=\"speed\" dims=[\"y\",\"x\"]").ok();
    dir
}

#[test]
fn lines_have_gaps_and_marks() {
    let dir = drawn();
    snapshot!(dir.b2("plot --size 50x12 l.b2nd"), @r"
    exit 0
    --- stdout
    l.b2nd
             │                             ↑       ⣀⠔
             │                                  ⣀⠔⠉
        1000 ┤                               ⣀⠔⠉
             │                           ⣀⠤ ⠈
             │                       ⣀⠤⠒⠉
             │                  ⢀⡠⠤⠒⠉
             │            ⣀⡠⠤⠔⠊⠉⠁
           0 ┤⠤⠤⠤⠤⠔⠒⠒⠒⠊⠁××
             └┬──────────────────┬───────────────────
              0                 20
    dimension 0; 2 NaN; 1 infinite
    --- stderr
    ");
    snapshot!(dir.b2("plot --size 50x9 --slice ::-2 l.b2nd"), @r"
    exit 0
    --- stdout
             │⠒⢄
             │  ⠉⠢⣀
        1000 ┤     ⠉⠒⢄
             │        ⠉⠒⠤⣀
             │            ⠉⠒⠤⣀
             │                ⠉⠒⠤⠤⢄⣀⡀
             │                      ⠈⠑⠢⠤⢄
           0 ┤                            × ⠈⠉⠑⠒⠒⠒⠢⠤⠤
    1 NaN
    --- stderr
    ");
}

#[test]
fn maps_have_names_of_the_metadata() {
    let dir = drawn();
    snapshot!(dir.b2("plot --size 50x14 m.b2nd"), @r"
    exit 0
    --- stdout
    m.b2nd   y
           0 ┤
             │
             │                      ░░░░░░░░░░░░░░░░░
             │                ░░░░░░░░░░░░░░░░░░░░░░░
             │            ░░░░░░░░░░░░░░░░░░░░░░▒▒▒▒▒
           5 ┤          ░░░░░░░░░░░░░░░░▒▒▒▒▒▒▒▒▒▒▒▒▒
             │        ░░░░░░░░░░░░░░▒▒▒▒▒▒▒▒▒▒▒▒▒▒▓▓▓
             │        ░░░░░░░░░░░░▒▒▒▒▒▒▒▒▒▒▒▒▓▓▓▓▓▓▓
             │      ░░░░░░░░░░░░▒▒▒▒▒▒▒▒▒▒▓▓▓▓▓▓▓▓▓▓█
             │      ░░░░░░░░░░▒▒▒▒▒▒▒▒▓▓▓▓▓▓▓▓▓▓█████
             └─┬──────────────────┬──────────────────
               0                 10
    x; speed [m/s] 0 to 171
    --- stderr
    ");
    let colors = dir.b2("plot --color always --size 50x14 m.b2nd").ok();
    assert!(colors.text().contains("\u{1b}[38;5;") && colors.text().contains('▀'));
    let svg = dir.b2("plot m.b2nd -o -  --format svg").ok();
    for text in [">speed [m/s]</text>", ">x</text>", ">y</text>", "image-rendering:pixelated"] {
        assert!(svg.text().contains(text), "{text}");
    }
}

#[test]
fn histograms_take_all_dimensions() {
    let dir = drawn();
    snapshot!(dir.b2("plot --kind hist --bins 8 --size 50x12 m.b2nd"), @r"
    exit 0
    --- stdout
    m.b2nd   items
             │▆▆▆▆▆
             │█████
             │█████
          50 ┤█████
             │█████▃▃▃▃▃
             │██████████▄▄▄▄▄
             │███████████████▆▆▆▆▆▂▂▂▂▂
           0 ┤██████████████████████████████▄▄▄▄▄▃▃▃▃
             └┬─────────────────────┬────────────────
              0                    100
    speed [m/s]
    --- stderr
    ");
}

#[test]
fn json_holds_the_values_of_a_picture() {
    let dir = drawn();
    snapshot!(dir.b2("plot --json --size 21x9 --slice 5 m.b2nd"), @r#"
    exit 0
    --- stdout
    {"schema":"b2.plot/1","path":"m.b2nd","kind":"line","dtype":"<u2","shape":[20],"nan":0,"inf":0,"min":0.0,"max":95.0,"lines":[{"name":"","min":[0.0,5.0,10.0,15.0,20.0,25.0,30.0,35.0,40.0,45.0,50.0,55.0,60.0,65.0,70.0,75.0,80.0,85.0,90.0,95.0],"max":[0.0,5.0,10.0,15.0,20.0,25.0,30.0,35.0,40.0,45.0,50.0,55.0,60.0,65.0,70.0,75.0,80.0,85.0,90.0,95.0]}]}
    --- stderr
    "#);
    snapshot!(dir.b2("plot --json --kind histogram --bins 2 l.b2nd"), @r#"
    exit 0
    --- stdout
    {"schema":"b2.plot/1","path":"l.b2nd","kind":"histogram","dtype":"<f8","shape":[40],"nan":2,"inf":1,"min":0.0,"max":1521.0,"histogram":{"edges":[0.0,760.5,1521.0],"counts":[26,11]}}
    --- stderr
    "#);
    snapshot!(dir.b2("plot --json --slice 1:3,2:4 m.b2nd"), @r#"
    exit 0
    --- stdout
    {"schema":"b2.plot/1","path":"m.b2nd","kind":"heat","dtype":"<u2","shape":[2,2],"nan":0,"inf":0,"min":2.0,"max":6.0,"cells":[[2.0,3.0],[4.0,6.0]]}
    --- stderr
    "#);
    snapshot!(dir.b2("plot --json l.b2nd -o l.svg"), @r#"
    exit 0
    --- stdout
    {"schema":"b2.plot/1","path":"l.b2nd","output":"l.svg","kind":"line","dtype":"<f8","shape":[40],"nan":2,"inf":1,"min":0.0,"max":1521.0}
    --- stderr
    "#);
}

#[test]
fn pictures_are_files_of_their_formats() {
    let dir = drawn();
    snapshot!(dir.b2("plot m.b2nd -o m.png"), @r"
    exit 0
    --- stdout
    --- stderr
    m.b2nd -> m.png   heat map of 10 x 20 items
    ");
    assert!(dir.read("m.png").starts_with(b"\x89PNG\r\n\x1a\n"));
    // Nothing is overwritten by default, and the name must tell the format.
    snapshot!(dir.b2("plot m.b2nd -o m.png"), @r"
    exit 3
    --- stdout
    --- stderr
    b2: m.png: file exists
    hint: use -f to overwrite, or -o to choose another name
    ");
    dir.b2("plot -q -f --size 160x120 m.b2nd -o m.png").ok();
    snapshot!(dir.b2("plot m.b2nd -o m.jpg"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: m.jpg is not a picture: b2 writes .png and .svg
    hint: use -o NAME.png, -o NAME.svg, or --format with -o -
    ");
    snapshot!(dir.b2("plot m.b2nd --format svg -o m.png"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: --format contradicts the name m.png
    hint: leave out --format, or use another name
    ");
    snapshot!(dir.b2("plot m.b2nd --size 9000x10 -o n.png"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: a picture is 160 to 4096 pixels wide and 120 to 4096 high
    hint: use --size 800x500
    ");
    std::fs::create_dir(dir.path("out")).unwrap();
    dir.b2("plot -q m.b2nd l.b2nd --format svg -o out").ok();
    assert!(dir.path("out/m.svg").is_file() && dir.path("out/l.svg").is_file());
    assert_eq!(dir.b2("plot m.b2nd l.b2nd -o n.png").code, Some(2));
}

#[test]
fn every_format_has_the_same_picture() {
    let dir = drawn();
    let data = |line: &str| {
        let run = dir.b2(line).ok();
        run.text().split_once("\"nan\"").unwrap().1.to_owned()
    };
    let expected = data("plot --json m.b2nd");
    for output in ["m.npy", "m.blp", "m.sframe", "m.b2frame", "m.bcolz"] {
        dir.b2(&format!("convert -q m.b2nd -o {output}")).ok();
        assert_eq!(data(&format!("plot --json {output}")), expected, "{output}");
    }
    // Without a shape, items form one line.
    let line = data("plot --json --size 100x9 --dtype u2 m");
    dir.b2("convert -q m.b2nd -o m.chunk").ok();
    assert_eq!(data("plot --json --size 100x9 --dtype u2 m.chunk"), line);
    let piped = dir.b2_with("plot --json", &dir.read("m.b2nd")).ok();
    assert!(piped.text().ends_with(&expected));
    for slice in ["::-1,3", "2,1:9:3", "7:2:-2,::5", "-1"] {
        let expected = data(&format!("plot --json --slice={slice} m.b2nd"));
        for name in ["m.npy", "m.blp", "m.bcolz"] {
            assert_eq!(data(&format!("plot --json --slice={slice} {name}")), expected, "{name}");
        }
    }
}

#[test]
fn columns_are_lines() {
    let dir = Dir::new();
    dir.write("t.csv", "id,price,name\n1,2.5,abc\n2,,de\n3,7.5,f\n");
    for output in ["t.bcolz", "t.b2z", "t.npy"] {
        dir.b2(&format!("convert -q t.csv -o {output}")).ok();
        let run = dir.b2(&format!("plot --json --columns id,price {output}")).ok();
        let lines = run.text().split_once("\"nan\"").unwrap().1.to_owned();
        assert_eq!(
            lines,
            ":1,\"inf\":0,\"min\":1.0,\"max\":7.5,\"lines\":[{\"name\":\"id\",\"min\":[1.0,2.0,3.0],\
             \"max\":[1.0,2.0,3.0]},{\"name\":\"price\",\"min\":[2.5,null,7.5],\
             \"max\":[2.5,null,7.5]}]}\n",
            "{output}"
        );
        assert_eq!(dir.b2(&format!("plot {output}")).code, Some(2));
        assert_eq!(dir.b2(&format!("plot --columns name {output}")).code, Some(2));
        assert_eq!(dir.b2(&format!("plot --columns nothing {output}")).code, Some(2));
    }
    snapshot!(dir.b2("plot t.bcolz"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: t.bcolz: choose from the columns of its rows: id, price, name
    hint: use --columns NAME, or --columns NAME,NAME for several lines
    ");
    snapshot!(dir.b2("plot --columns name t.b2z"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: t.b2z: the items are strings (<U3), and only numbers can be drawn
    hint: --dtype gives bytes a type, --columns chooses a column or a field of numbers
    ");
    snapshot!(dir.b2("plot --columns name t.npy"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: t.npy: the items are strings (<U3), and only numbers can be drawn
    hint: --dtype gives bytes a type, --columns chooses a column or a field of numbers
    ");
    snapshot!(dir.b2("plot --columns id,price --kind histogram t.bcolz"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: t.bcolz: several columns can only be drawn as lines
    hint: use --columns NAME for a histogram
    ");
}

#[test]
fn data_that_cannot_be_drawn_is_an_error() {
    let dir = drawn();
    snapshot!(dir.b2("plot --slice 0,0 m.b2nd"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: m.b2nd: a single item is no picture
    hint: `b2 show` shows it
    ");
    snapshot!(dir.b2("plot --slice 3:3 m.b2nd"), @r"
    exit 1
    --- stdout
    --- stderr
    b2: m.b2nd: there is nothing to draw: the slice has no items
    ");
    snapshot!(dir.b2("plot --slice 0 --kind heat m.b2nd"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: m.b2nd: the slice has 1 dimension, and a heat map has two dimensions
    hint: `--kind line` draws one dimension, `--kind histogram` any number of them
    ");
    snapshot!(dir.b2("plot --kind line --slice :,: m.b2nd"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: m.b2nd: the slice has 2 dimensions, and a line has one dimension
    hint: choose one position of the others, or up to 6 of one, as in --slice 0:6,:
    ");
    snapshot!(dir.b2("plot --slice 99 m.b2nd"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: m.b2nd: index 99 in dimension 0, which has 10 items
    ");
    dir.b2("c -q --typesize 8 m -o eight.b2frame");
    assert_eq!(dir.b2("plot eight.b2frame").code, Some(2));
    dir.b2("c -q --dtype u1 --shape 2,2,100 m -o three.b2nd").ok();
    snapshot!(dir.b2("plot --slice : three.b2nd"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: three.b2nd: the slice has 3 dimensions, and a picture has one or two
    hint: choose one position of the others, as in --slice 0,:,: for an array of three dimensions
    ");
    // Surplus dimensions are drawn at their first position.
    let first = dir.b2("plot --json three.b2nd").ok();
    assert!(first.text().contains("\"shape\":[2,100]"));
    for name in ["m.b2nd", "l.b2nd"] {
        let mut bytes = dir.read(name);
        let middle = bytes.len() / 2;
        bytes[middle..middle + 40].fill(0xff);
        dir.write("bad.b2nd", bytes);
        assert_ne!(dir.b2("plot bad.b2nd").code, None, "{name}");
    }
}

#[test]
fn sizes_of_strangers_take_no_memory() {
    let dir = Dir::new();
    // A header that claims 8 EiB of zeros.
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1152921504606846975,), }";
    let mut npy = b"\x93NUMPY\x01\x00".to_vec();
    npy.extend(118u16.to_le_bytes());
    npy.extend(format!("{header:<117}\n").as_bytes());
    dir.write("huge.npy", &npy);
    assert_eq!(dir.b2("plot huge.npy").code, Some(1));
    dir.write("z", vec![0; 1 << 20]);
    dir.b2("c -q --dtype f8 --shape 131072 z -o z.b2nd").ok();
    assert_eq!(dir.b2("plot --max-output 1000 z.b2nd").code, Some(5));
    dir.b2("plot --max-output 1000 --slice :100 z.b2nd").ok();
    dir.b2("plot -M 4M z.b2nd").ok();
    assert_eq!(dir.b2("plot --size 4000000000x4000000000 z.b2nd").code, Some(0));
}

#[test]
fn labels_have_no_control_characters() {
    let dir = drawn();
    dir.write("units.json", r#"{"vlmetalayers": {"units": "K\u001b[31m</text>\u0007"}}"#);
    dir.b2("meta import l.b2nd units.json").ok();
    let svg = dir.b2("plot l.b2nd --format svg -o -").ok();
    assert!(!svg.text().contains('\u{1b}') && svg.text().contains("&lt;/text&gt;"));
    for line in ["plot l.b2nd", "plot --title a\u{1b}[5mb l.b2nd"] {
        let run = dir.b2(line).ok();
        assert!(!run.text().contains(['\u{1b}', '\u{7}']), "{}", run.text());
    }
}

#[test]
fn ticks_show_the_right_numbers() {
    let dir = Dir::new();
    for (name, dtype, items, wanted) in [
        ("big", "f8", [123_456_789.0, 123_456_789.5], &["123456789 ┤", "+0.2 ┤", "+0.4 ┤"][..]),
        ("days", "f8", [20_240_101.0, 20_240_107.0], &["20240102 ┤", "20240106 ┤"]),
        ("near", "f8", [100.0, 100.0 + 1e-9], &["100 ┤", "+5e-10 ┤"]),
    ] {
        dir.write(name, items.map(f64::to_le_bytes).concat());
        let text =
            dir.b2(&format!("plot --size 60x16 --dtype {dtype} {name}")).ok().text().to_owned();
        for tick in wanted {
            assert!(text.contains(tick), "{tick}: {text}");
        }
        dir.b2(&format!("plot -q --dtype {dtype} {name} -o {name}.svg")).ok();
        let svg = String::from_utf8(dir.read(&format!("{name}.svg"))).unwrap();
        assert!(!svg.contains(".0000") && !svg.contains(".9999"), "{svg}");
    }
    let times: Vec<u8> = [0_i64, 9_000_000].iter().flat_map(|it| it.to_le_bytes()).collect();
    dir.write("t", times);
    let text = dir.b2("plot --size 80x16 --dtype M8[s] t").ok().text().to_owned();
    assert!(text.contains("1970-03 ┤"), "{text}");
    let text = dir.b2("plot --size 80x16 --dtype M8[s] --slice :1 t").ok().text().to_owned();
    assert!(!text.contains("e-") && !text.contains("..."), "{text}");
}

#[test]
fn maps_may_have_one_column_and_rows_as_lines_are_named() {
    let dir = drawn();
    let text = dir.b2("plot --size 40x12 --kind heat --slice :,0:1 m.b2nd").ok().text().to_owned();
    assert!(text.contains("m.b2nd[:, 0:1]"), "{text}");
    dir.b2("c -q --dtype u2 --shape 10,20 m -o plain.b2nd").ok();
    let text =
        dir.b2("plot --size 80x12 --kind line --slice :3,: plain.b2nd").ok().text().to_owned();
    assert!(!text.contains("dimension 0 0"), "{text}");
    dir.b2("plot -q --kind line --slice :3,: plain.b2nd -o lines.svg").ok();
    let svg = String::from_utf8(dir.read("lines.svg")).unwrap();
    assert!(svg.contains("dimension 0 = 2"), "{svg}");
}

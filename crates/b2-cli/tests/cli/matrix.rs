//! `convert` from each format to each: arrays of every type, and tables with columns of every type.
//!
//! One run converts all samples for each pair. Either the output has the values of the input and
//! the run has named all losses, or the run has refused with a reason. The snapshots hold one line
//! for each outcome. Parquet needs a build with the feature.

use core::fmt::Write as _;
use std::{collections::BTreeMap, fs};

use serde_json::Value;

use crate::session::Dir;

/// The output formats.
const TO: [&str; 12] = [
    "raw", "npy", "csv", "b2frame", "sframe", "b2nd", "blp", "chunk", "carray", "ctable", "b2z",
    "b2d",
];

/// Columns that stores change, each in a table of its own.
const APART: [&str; 5] = ["f2", "be_i4", "be_f8", "V7", "m8ms"];

/// A sample: name, type, bytes.
type Sample = (String, String, Vec<u8>);

/// Arrays of each type, a table of most of them, and a table for each of the others.
fn arrays() -> Vec<Sample> {
    let all = items();
    let own = |(name, descr, items): &(&str, &str, Vec<u8>)| {
        ((*name).to_owned(), (*descr).to_owned(), items.clone())
    };
    let scalars = || all.iter().filter(|(_, descr, _)| !descr.starts_with('['));
    let (apart, together): (Vec<_>, Vec<_>) =
        scalars().partition(|(name, ..)| APART.contains(name));
    let single = apart.into_iter().map(|(name, descr, items)| {
        (format!("t_{name}"), format!("[('v', '{descr}')]"), items.clone())
    });
    let fields = together.iter().map(|(name, descr, _)| format!("('{name}', '{descr}')"));
    let descr = format!("[{}]", fields.collect::<Vec<_>>().join(", "));
    let rows = (0..8).flat_map(|row| {
        let item = move |items: &Vec<u8>| {
            let size = items.len() / 8;
            items[row * size..(row + 1) * size].to_vec()
        };
        together.iter().flat_map(move |(_, _, items)| item(items)).collect::<Vec<_>>()
    });
    let table = ("table".to_owned(), descr, rows.collect());
    all.iter().map(own).chain(single).chain([table]).collect()
}

/// Items of each type, in NumPy's form.
fn items() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let floats = [0.0, -0.0, 1.5, -2.25, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e-3];
    let f8: Vec<u8> = floats.iter().flat_map(|x| x.to_le_bytes()).collect();
    let singles = [0.0_f32, -0.0, 1.5, -2.25, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-3];
    let f4: Vec<u8> = singles.iter().flat_map(|x| x.to_le_bytes()).collect();
    let halves: [u16; 8] = [0, 0x8000, 0x3e00, 0xc080, 0x7c00, 0xfc00, 0x7e00, 0x1419];
    let f2: Vec<u8> = halves.iter().flat_map(|x| x.to_le_bytes()).collect();
    let ends = |nbytes: usize| -> Vec<u8> {
        let mut items = vec![0; 8 * nbytes];
        for (i, item) in items.chunks_mut(nbytes).enumerate() {
            match i {
                0 => item.fill(0xff),
                1 => item[nbytes - 1] = 0x80,
                2 => {
                    item.fill(0xff);
                    item[nbytes - 1] = 0x7f;
                }
                _ => item[0] = u8::try_from(i).unwrap(),
            }
        }
        items
    };
    let swapped = |bytes: &[u8], n: usize| -> Vec<u8> {
        bytes.chunks(n).flat_map(|item| item.iter().rev().copied()).collect()
    };
    let times = |nat: i64| -> Vec<u8> {
        [0, 1, -1, 86_400, nat, 1_000_000, 7, -86_400]
            .iter()
            .flat_map(|t: &i64| t.to_le_bytes())
            .collect()
    };
    let text = |chars: &str| -> Vec<u8> {
        let item = |word: &str| {
            let mut item: Vec<u8> = word.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
            item.resize(12, 0);
            item
        };
        chars.split('|').flat_map(item).collect()
    };
    let words: Vec<u8> = b"abcde\0\0\0\0\0a\0\0\0\0a b  xyzzy12345,,,,,q\0\0\0\0".to_vec();
    let row = |i: u8| [&[i, 0, 0, 0][..], b"xy\0", &f64::from(i).to_le_bytes()].concat();
    vec![
        ("bool", "|b1", vec![0, 1, 1, 0, 1, 0, 0, 1]),
        ("i1", "|i1", ends(1)),
        ("i2", "<i2", ends(2)),
        ("i4", "<i4", ends(4)),
        ("i8", "<i8", ends(8)),
        ("u1", "|u1", ends(1)),
        ("u2", "<u2", ends(2)),
        ("u4", "<u4", ends(4)),
        ("u8", "<u8", ends(8)),
        ("f2", "<f2", f2),
        ("f4", "<f4", f4.clone()),
        ("f8", "<f8", f8.clone()),
        ("be_i4", ">i4", swapped(&ends(4), 4)),
        ("be_f8", ">f8", swapped(&f8, 8)),
        ("c8", "<c8", [&f4[..], &f4].concat()),
        ("c16", "<c16", [&f8[..], &f8].concat()),
        ("S5", "|S5", words),
        ("U3", "<U3", text("abc||é|a b|漢字|x,y|\"q\"|1")),
        ("V7", "|V7", (0..56).collect()),
        ("M8s", "<M8[s]", times(i64::MIN)),
        ("M8ns", "<M8[ns]", times(i64::MIN)),
        ("m8ms", "<m8[ms]", times(i64::MIN)),
        ("struct", "[('a', '<i4'), ('b', '|S3'), ('c', '<f8')]", (1..9).flat_map(row).collect()),
    ]
}

/// A `.npy` file.
pub(crate) fn npy(descr: &str, shape: &str, fortran: bool, items: &[u8]) -> Vec<u8> {
    let descr = if descr.starts_with('[') { descr.to_owned() } else { format!("'{descr}'") };
    let order = if fortran { "True" } else { "False" };
    let text = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}");
    let len = (text.len() + 11).next_multiple_of(64) - 10;
    let text = format!("{text:<width$}\n", width = len - 1);
    let len = u16::try_from(len).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\0", &len[..], text.as_bytes(), items].concat()
}

/// All samples as `.npy` files in `npy/`, and their names.
fn samples() -> (Dir, Vec<String>) {
    let dir = Dir::new();
    fs::create_dir(dir.path("npy")).unwrap();
    let mut names = vec![];
    for (name, descr, items) in arrays() {
        dir.write(&format!("npy/{name}.npy"), npy(&descr, "(8,)", false, &items));
        names.push(name);
    }
    let grid: Vec<u8> = (0..24i32).flat_map(|i| (i * i).to_le_bytes()).collect();
    dir.write("npy/grid.npy", npy("<i4", "(4, 6)", false, &grid));
    dir.write("npy/fortran.npy", npy("<i4", "(4, 6)", true, &grid));
    dir.write("npy/scalar.npy", npy("<f8", "()", false, &1.5f64.to_le_bytes()));
    dir.write("npy/none.npy", npy("<f8", "(0,)", false, &[]));
    names.extend(["grid", "fortran", "scalar", "none"].map(str::to_owned));
    (dir, names)
}

/// The JSON documents of a stream.
fn documents(text: &str) -> Vec<Value> {
    let lines = text.lines().filter(|line| line.starts_with('{'));
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn stem(path: &str) -> String {
    path.rsplit('/').next().unwrap().split('.').next().unwrap().to_owned()
}

/// The output in a folder that was made of a file.
fn made_of(dir: &Dir, folder: &str, file: &str) -> String {
    let files = fs::read_dir(dir.path(folder)).unwrap();
    let mut names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    format!("{folder}/{}", names.find(|name| stem(name) == stem(file)).unwrap())
}

/// Values by the names of samples.
type Map = BTreeMap<String, String>;

/// The sums of the contents of files, which do not depend on the format.
fn sums(dir: &Dir, files: &[String]) -> Map {
    if files.is_empty() {
        return Map::new();
    }
    let run = dir.b2(&format!("sum --json {}", files.join(" ")));
    let text = |document: &Value, key: &str| document[key].as_str().unwrap().to_owned();
    let documents = documents(run.text());
    documents.iter().map(|one| (stem(&text(one, "path")), text(one, "sum"))).collect()
}

/// The text of values. In a store NaT is null, which has no text. A duration is a number; its unit
/// is reported as lost.
fn text_of(dir: &Dir, file: &str) -> String {
    let text = fs::read_to_string(dir.path(file)).unwrap();
    let not_a_time = i64::MIN.to_string();
    ["NaT", " ms", &not_a_time].iter().fold(text, |text, word| text.replace(word, ""))
}

/// The values of files as text.
fn texts(dir: &Dir, files: &[String]) -> Map {
    if files.is_empty() {
        return Map::new();
    }
    let line = format!("convert -qf --no-sync --format csv --output-dir text {}", files.join(" "));
    dir.b2(&line).ok();
    let read = |file: &str| text_of(dir, file);
    files.iter().map(|file| (stem(file), read(&made_of(dir, "text", file)))).collect()
}

/// The content of the samples: sums of their items, and text of their values.
struct Known {
    sums: Map,
    texts: Map,
    /// Sums after a way through `.npy` files of the tried format. Text and stores change some
    /// types, and files without types then hold the new bytes.
    npys: Map,
}

impl Known {
    fn new(dir: &Dir, npys: &[String]) -> Self {
        Self { sums: sums(dir, npys), texts: texts(dir, npys), npys: Map::new() }
    }
}

/// The outcome for each sample between two formats.
fn outcomes(dir: &Dir, files: &[String], to: &str, known: &Known) -> Map {
    let mut outcomes = Map::new();
    if files.is_empty() {
        return outcomes;
    }
    let files = files.join(" ");
    let run =
        dir.b2(&format!("convert --json --no-sync --format {to} --output-dir out/{to} {files}"));
    let said = documents(&run.stderr);
    for error in said.iter().filter(|one| one["schema"] == "b2.error/1") {
        let message = error["message"].as_str().unwrap();
        outcomes.insert(stem(error["file"].as_str().unwrap_or("?")), format!("refused: {message}"));
    }
    let done = documents(run.text());
    let written: Vec<String> =
        done.iter().map(|one| one["output"].as_str().unwrap().to_owned()).collect();
    let found = sums(dir, &written);
    let is_equal = |name: &String| known.sums.get(name) == found.get(name);
    let is_untyped = ["raw", "b2frame", "chunk"].contains(&to);
    let is_widened = |name: &String| is_untyped && known.npys.get(name) == found.get(name);
    let others = written
        .iter()
        .filter(|file| to == "csv" || !is_equal(&stem(file)) && !is_widened(&stem(file)))
        .cloned();
    let others = match to {
        "csv" => others.map(|file| (stem(&file), text_of(dir, &file))).collect(),
        _ => texts(dir, &others.collect::<Vec<_>>()),
    };
    for one in &done {
        let (path, name) = (one["path"].as_str().unwrap(), stem(one["path"].as_str().unwrap()));
        let left_out = one["left_out"].as_array().into_iter().flatten();
        let lost: Vec<&str> = left_out.filter_map(Value::as_str).collect();
        let warned = said.iter().any(|one| one["kind"] == "warning" && one["file"] == path);
        assert!(lost.is_empty() || warned || to == "raw", "{path} -> {to}: {}", run.all());
        let lost = match &lost[..] {
            [] => String::new(),
            lost => format!(", without {}", lost.join(", ")),
        };
        let word = match others.get(&name) {
            None if is_equal(&name) => "equal",
            None => "equal values",
            Some(text) if known.texts.get(&name) == Some(text) => "equal values",
            Some(_) => "OTHER VALUES",
        };
        outcomes.insert(name, format!("{word}{lost}"));
    }
    outcomes
}

/// One line for each outcome of a pair, with its samples.
fn summary(from: &str, to: &str, outcomes: &Map) -> String {
    let mut by: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (name, outcome) in outcomes {
        let outcome = outcome.replace(name.as_str(), "NAME");
        by.entry(outcome).or_default().push(name);
    }
    let mut text = String::new();
    for (outcome, names) in &by {
        let names = if by.len() == 1 { "all".to_owned() } else { names.join(" ") };
        writeln!(text, "{from} -> {to}: {outcome}: {names}").unwrap();
    }
    text
}

/// Converts from one format, made of the `.npy` files, to all formats.
fn matrix(from: &str) {
    let (dir, names) = samples();
    let npys: Vec<String> = names.iter().map(|name| format!("npy/{name}.npy")).collect();
    let mut known = Known::new(&dir, &npys);
    let files = match from {
        "npy" => npys,
        _ => {
            let made = outcomes(&dir, &npys, from, &known);
            let refused = |name: &&String| !made[*name].starts_with("refused");
            let file = |name: &String| made_of(&dir, &format!("out/{from}"), name);
            names.iter().filter(refused).map(file).collect()
        }
    };
    if from != "npy" {
        let npys = outcomes(&dir, &files, "npy", &known);
        let made = npys.iter().filter(|(_, outcome)| !outcome.starts_with("refused"));
        let made = made.map(|(name, _)| made_of(&dir, "out/npy", name)).collect::<Vec<_>>();
        known.npys = sums(&dir, &made);
        // The conversion below makes it again.
        drop(fs::remove_dir_all(dir.path("out/npy")));
    }
    let mut text = String::new();
    for to in TO.into_iter().filter(|to| *to != from) {
        let outcomes = outcomes(&dir, &files, to, &known);
        assert_eq!(outcomes.len(), files.len(), "{from} -> {to}: {outcomes:?}");
        text += &summary(from, to, &outcomes);
    }
    assert!(!text.contains("OTHER VALUES"), "{text}");
    insta::assert_snapshot!(from, text);
}

#[test]
fn from_npy() {
    matrix("npy");
}

#[test]
fn from_csv() {
    matrix("csv");
}

#[test]
fn from_frames() {
    matrix("b2frame");
}

#[test]
fn from_sparse_frames() {
    matrix("sframe");
}

#[test]
fn from_arrays() {
    matrix("b2nd");
}

#[test]
fn from_bloscpack() {
    matrix("blp");
}

#[test]
fn from_chunks() {
    matrix("chunk");
}

#[test]
fn from_carrays() {
    matrix("carray");
}

#[test]
fn from_ctables() {
    matrix("ctable");
}

#[test]
fn from_zip_stores() {
    matrix("b2z");
}

#[test]
fn from_directory_stores() {
    matrix("b2d");
}

/// `--dtype` gives a type to inputs without one: raw data, frames, chunks. From text it restores
/// the bytes of the values.
#[test]
fn given_types_bring_the_items_back() {
    let (dir, names) = samples();
    let types: BTreeMap<String, String> =
        arrays().into_iter().map(|(name, descr, _)| (name, descr.replace(' ', ""))).collect();
    let npys: Vec<String> = names.iter().map(|name| format!("npy/{name}.npy")).collect();
    let known = Known::new(&dir, &npys);
    for from in ["raw", "b2frame", "chunk", "csv"] {
        let line = format!("convert -qf --no-sync --format {from} --output-dir given");
        dir.b2(&format!("{line} {}", npys.join(" "))).ok();
        for (name, sum) in &known.sums {
            // --shape cannot express a scalar, an array without dimensions.
            let dtype = types.get(name).map_or("<f8", String::as_str);
            let options = match (from, name.as_str()) {
                (_, "scalar") => continue,
                ("csv", "grid" | "fortran") => {
                    let fields: Vec<_> = (0..6).map(|i| format!("('{i}','<i4')")).collect();
                    format!("--dtype [{}]", fields.join(","))
                }
                (_, "grid" | "fortran") => "--dtype <i4 --shape 4,-1".to_owned(),
                ("csv", _) if !dtype.starts_with('[') => format!("--dtype [('0','{dtype}')]"),
                _ => format!("--dtype {dtype}"),
            };
            let (file, back) = (made_of(&dir, "given", name), format!("{from}-{name}.npy"));
            fs::rename(dir.path(&file), dir.path("one")).unwrap();
            let from_text = if from == "csv" { "--from csv" } else { "" };
            dir.b2(&format!("convert -q --no-sync {from_text} {options} one {back}")).ok();
            let found = sums(&dir, &[back]);
            assert_eq!(found.values().next(), Some(sum), "{from} {name}");
            fs::remove_file(dir.path("one")).unwrap();
        }
        fs::remove_dir_all(dir.path("given")).unwrap();
    }
}

//! `cargo xtask same-bytes --before B2`: two builds of `b2` write the same bytes.
//!
//! A change of structure or names must not change the written bytes. Both programs run the same
//! commands, each in a separate folder with the same inputs, and the folders are compared file by
//! file: frames, sparse frames, arrays, Bloscpack files, bare chunks, bcolz directories, `.npy` and
//! text, new ones and changed ones, over all codecs, filters and levels. `--before` is the program
//! of an earlier commit; `--after` is the program to check, built from the sources by default.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use blosc_testdata::data::Kind;

use crate::{
    args::Args,
    failure::{Context, Result, fail},
    workspace,
};

pub(crate) fn run(mut args: Args) -> Result<()> {
    let Some(before) = args.option::<PathBuf>("--before")? else {
        return fail("--before names the program of an earlier commit".to_owned());
    };
    let after: Option<PathBuf> = args.option("--after")?;
    args.finish()?;
    let after = after.map_or_else(build, Ok)?;
    let folder = workspace::target().join("same-bytes");
    let cases = cases();
    let (mut files, mut nbytes) = (0, 0);
    for case in &cases {
        let [old, new] = [&before, &after].map(|program| outcome(program, case, &folder));
        let (old, new) = (old?, new?);
        if let Some(difference) = difference(&old, &new) {
            return fail(format!("b2 {}: {difference}", case.join("; b2 ")));
        }
        files += new.len();
        nbytes += new.values().map(Vec::len).sum::<usize>();
    }
    fs::remove_dir_all(&folder).at(folder.display())?;
    println!("{} cases, {files} files of {nbytes} bytes in all: the same", cases.len());
    Ok(())
}

fn build() -> Result<PathBuf> {
    workspace::run(workspace::cargo().args(["build", "--quiet", "--package", "b2-cli"]))?;
    Ok(workspace::target().join("debug").join("b2"))
}

/// Commands to run one after another in one folder.
type Case = Vec<String>;

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for codec in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"] {
        for filter in ["none", "shuffle", "bitshuffle", "delta,shuffle"] {
            for level in ["-1", "-5", "-9"] {
                for (input, typesize) in
                    [("walk", "4"), ("text", "1"), ("field", "8"), ("mixed", "2")]
                {
                    let how = format!("-C {codec} --filter {filter} {level} -t {typesize}");
                    cases.push(commands(&[&format!("c {how} -o x.b2frame {input}")]));
                }
            }
            let how = format!("-C {codec} --filter {filter} -t 4 --format chunk");
            cases.push(commands(&[&format!("c {how} -o x.chunk walk")]));
        }
        for target in ["blosc-1.3", "blosc-1.11", "blosc-1.14", "blosc2-3.0"] {
            let codec = if codec == "zstd" && target == "blosc-1.3" { "lz4" } else { codec };
            let how = format!("-C {codec} -t 4 --format chunk --target {target}");
            cases.push(commands(&[&format!("c {how} -o x.chunk walk")]));
        }
        cases.push(commands(&[
            &format!("c -C {codec} -t 4 --format blp -z 64K -o x.blp walk"),
            "append x.blp walk",
            "meta set x.blp unit=K",
        ]));
    }
    let others: &[&[&str]] = &[
        &["c -t 4 --block-size 8K --chunk-size 100K --meta a=b --vlmeta c=d -o x.b2frame walk"],
        &["c -t 4 -z 50K -o x.b2frame walk", "append x.b2frame walk", "meta set x.b2frame u=K"],
        &[
            "c -t 4 -z 50K -o x.b2frame walk",
            "convert --format sframe x.b2frame -o y",
            "append y walk",
        ],
        &[
            "c --shape 200,250 --dtype <f8 -o x.b2nd field",
            "d -o y.npy x.b2nd",
            "append x.b2nd y.npy",
        ],
        &[
            "c --shape 200,250 --dtype <f8 --chunks 100,70 --blocks 20,33 -o x.b2nd field",
            "show --csv x.b2nd",
        ],
        &["c --shape 200,250 --dtype <f8 --format blp -o x.blp field", "d -o y.npy x.blp"],
        &["c --shape 50000 --dtype <f8 -o x.b2nd field", "convert x.b2nd x.bcolz", "cat x.bcolz"],
        &["convert table.csv x.bcolz", "convert x.bcolz y.csv", "show --where day<9 x.bcolz"],
    ];
    cases.extend(others.iter().map(|words| commands(words)));
    cases
}

fn commands(words: &[&str]) -> Case {
    words.iter().map(|words| (*words).to_owned()).collect()
}

/// All files that a case leaves, and the output of each command.
fn outcome(program: &Path, case: &Case, folder: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).at(folder.display())?;
    inputs(folder)?;
    let mut found = BTreeMap::new();
    for (i, words) in case.iter().enumerate() {
        let mut command = Command::new(program.canonicalize().at(program.display())?);
        command.current_dir(folder).args(words.split(' '));
        let output = command.output().at(workspace::describe(&command))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return fail(format!("{}: {}", workspace::describe(&command), said.trim_end()));
        }
        found.insert(format!("output of command {i}"), output.stdout);
    }
    for file in workspace::files(folder)? {
        let name = file.strip_prefix(folder).unwrap_or(&file).display().to_string();
        found.insert(name, fs::read(&file).at(file.display())?);
    }
    Ok(found)
}

fn inputs(folder: &Path) -> Result<()> {
    let files = [
        ("walk", Kind::Walk),
        ("text", Kind::Text),
        ("field", Kind::Linspace),
        ("mixed", Kind::Mixed),
    ];
    for (name, kind) in files {
        fs::write(folder.join(name), kind.bytes(400_000))?;
    }
    let row = |i: u32| format!("{i},{}.5,name{}\n", i * i % 977, i % 13);
    let table: String = (0..5000).map(row).collect();
    fs::write(folder.join("table.csv"), format!("day,price,name\n{table}"))?;
    Ok(())
}

/// The first file that differs.
fn difference(old: &BTreeMap<String, Vec<u8>>, new: &BTreeMap<String, Vec<u8>>) -> Option<String> {
    let names = old.keys().chain(new.keys());
    let name = names.into_iter().find(|name| old.get(*name) != new.get(*name))?;
    let describe = |found: Option<&Vec<u8>>| {
        found.map_or("not there".to_owned(), |bytes| format!("{} bytes", bytes.len()))
    };
    Some(format!("{name}: {} before, {} after", describe(old.get(name)), describe(new.get(name))))
}

//! `cargo xtask docs`: manual pages made from documents, and pictures for documents.
//!
//! Manual pages are made from `docs/formats.md` and `docs/recipes.md`, and lie with the program,
//! which is published without `docs/`. The program itself draws the pictures, from files that this
//! task makes, so they show its real output.

mod roff;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    args::Args,
    failure::{Context, Result, fail},
    workspace,
};

/// The most bytes of a picture.
const MAX_PICTURE_NBYTES: u64 = 100_000;

/// Document, page, section, and the page's description.
const PAGES: [(&str, &str, &str, &str); 2] = [
    ("formats.md", "b2-formats", "5", "formats that b2 reads and writes"),
    ("recipes.md", "b2-recipes", "7", "tasks for b2, one command each"),
];

/// A picture: its name, the commands that make its files, and the command that draws it.
struct Picture {
    name: &'static str,
    prepare: &'static [&'static str],
    draw: &'static str,
}

const PICTURES: &[Picture] = &[
    Picture { name: "plot-line.png", prepare: &[], draw: "plot temperature.b2nd --slice 0 -o OUT" },
    Picture { name: "plot-heat.png", prepare: &[], draw: "plot field.b2nd -o OUT" },
    Picture {
        name: "plot-histogram.png",
        prepare: &[],
        draw: "plot field.b2nd --kind histogram -o OUT",
    },
    Picture { name: "view-values.png", prepare: &[], draw: "view field.b2nd --picture OUT" },
    Picture {
        name: "view-chunks.png",
        prepare: &[],
        draw: "view field.b2nd --picture OUT --keys c",
    },
    Picture {
        name: "view-table.png",
        prepare: &[],
        draw: "view survey.b2z --picture OUT --keys down,down,down,down,down",
    },
];

/// Makes pages and pictures; `--only pages` leaves out the pictures.
pub(crate) fn run(mut args: Args) -> Result<()> {
    let only: Option<String> = args.option("--only")?;
    let program: Option<PathBuf> = args.option("--program")?;
    args.finish()?;
    for (path, text) in pages()? {
        fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).at(path.display())?;
        fs::write(&path, text).at(path.display())?;
        println!("{}", workspace::relative(&path));
    }
    match only.as_deref() {
        Some("pages") => Ok(()),
        Some(other) => fail(format!("--only {other}: not pages")),
        None => pictures(&program.map_or_else(build, Ok)?),
    }
}

/// The pages that differ from their documents, for `cargo xtask ci`.
pub(crate) fn stale() -> Result<Vec<String>> {
    let pages = pages()?.into_iter();
    let is_stale = |(path, text): &(PathBuf, String)| {
        fs::read_to_string(path).map_or(true, |found| found != *text)
    };
    let named = |(path, _): (PathBuf, String)| {
        format!("{}: run `cargo xtask docs --only pages`", workspace::relative(&path))
    };
    Ok(pages.filter(is_stale).map(named).collect())
}

/// The pages with their texts.
fn pages() -> Result<Vec<(PathBuf, String)>> {
    let root = workspace::root();
    let page = |(document, name, section, about): (&str, &str, &str, &str)| {
        let from = root.join("docs").join(document);
        let markdown = fs::read_to_string(&from).at(from.display())?;
        let path = root.join("crates/b2-cli/man").join(format!("{name}.{section}"));
        Ok((path, roff::page(name, about, &markdown)))
    };
    PAGES.into_iter().map(page).collect()
}

fn build() -> Result<PathBuf> {
    workspace::run(workspace::cargo().args(["build", "--quiet", "--package", "b2-cli"]))?;
    Ok(workspace::target().join("debug").join("b2"))
}

fn pictures(program: &Path) -> Result<()> {
    let folder = workspace::target().join("pictures");
    let _absent = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).at(folder.display())?;
    make_files(program, &folder)?;
    for picture in PICTURES {
        for line in picture.prepare {
            b2(program, &folder, line)?;
        }
        let out = workspace::root().join("docs/images").join(picture.name);
        let line = picture.draw.replace("OUT", "picture.png");
        b2(program, &folder, &line)?;
        let drawn = folder.join("picture.png");
        let nbytes = fs::metadata(&drawn).at(drawn.display())?.len();
        if nbytes > MAX_PICTURE_NBYTES {
            return fail(format!("{}: {nbytes} bytes, at most {MAX_PICTURE_NBYTES}", picture.name));
        }
        fs::copy(&drawn, &out).at(out.display())?;
        fs::remove_file(&drawn).at(drawn.display())?;
        println!("{}   {nbytes} bytes", workspace::relative(&out));
    }
    Ok(())
}

fn b2(program: &Path, folder: &Path, line: &str) -> Result<()> {
    let mut command = Command::new(program);
    command.args(line.split(' ')).current_dir(folder).env("NO_COLOR", "1");
    workspace::output(&mut command).map(drop)
}

/// Makes the files of the pictures: the sample of the tour, a field with land as NaN, a store.
fn make_files(program: &Path, folder: &Path) -> Result<()> {
    for (from, to) in [
        ("samples/temperature.f32", "temperature.f32"),
        ("stores/tree-with-table.b2z", "survey.b2z"),
    ] {
        fs::copy(blosc_testdata::fixture::path(from), folder.join(to)).at(from)?;
    }
    fs::write(folder.join("field.f4"), field()).at("field.f4")?;
    for line in [
        "convert -q --dtype f4 --shape 30,1461 temperature.f32 temperature.b2nd",
        "meta set temperature.b2nd units=degC long_name=temperature",
        "compress -q --dtype f4 --shape 180,360 --chunks 30,60 --blocks 15,30 field.f4 -o field.b2nd",
        "meta set field.b2nd units=m long_name=depth",
        "convert -q temperature.b2nd -o survey.b2z::/climate/temperature",
        "convert -q field.b2nd -o survey.b2z::/climate/depth",
    ] {
        b2(program, folder, line)?;
    }
    Ok(())
}

/// A sea of 180 x 360 points with waves, and land without values.
fn field() -> Vec<u8> {
    let point = |i: u32| {
        let (y, x) = (f64::from(i / 360) / 180.0, f64::from(i % 360) / 360.0);
        let wave = (x * 19.0).sin() * (y * 11.0).cos() + (x * y * 40.0).sin() * 0.3;
        let land = (x - 0.62).hypot((y - 0.45) * 0.8) - 0.16 - 0.03 * (x * 60.0).sin();
        #[expect(clippy::cast_possible_truncation, reason = "depths of some thousand metres")]
        let depth = ((wave + 2.0) * 1400.0 * land.sqrt()) as f32;
        if land < 0.0 { f32::NAN } else { depth }
    };
    (0..180 * 360).flat_map(|i| point(i).to_le_bytes()).collect()
}

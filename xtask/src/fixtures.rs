//! `cargo xtask fixtures`: the files under `conformance/samples/*/generated`, written by the
//! oracles.
//!
//! The script `xtask/python/fixtures.py` makes the files and describes each in one line. These
//! lines become `conformance/samples/manifest.json` and the table in its `README.md`, so that a
//! review shows the changes.

use std::{fs, process::Stdio};

use blosc_testdata::fixture::{self, Fixture, Manifest};

use crate::{
    args::Args,
    failure::{Context, Result, fail},
    venv, workspace,
};

pub(crate) fn run(mut args: Args) -> Result<()> {
    let python = venv::python(args.option("--python")?)?;
    args.finish()?;
    let mut script = venv::script(&python, "fixtures.py");
    script.arg("conformance/samples").stderr(Stdio::inherit());
    let written = parse(&workspace::output(&mut script)?)?;
    let manifest = merge(Manifest::load()?, written);
    remove_unlisted(&manifest)?;
    write_manifest(&manifest)?;
    write_table(&manifest)?;
    println!(
        "{} fixtures, {} bytes in all of conformance/samples",
        manifest.fixtures.len(),
        workspace::size(&fixture::root())?
    );
    Ok(())
}

/// One fixture per line.
fn parse(lines: &[u8]) -> Result<Vec<Fixture>> {
    let lines = lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| Ok(serde_json::from_slice(line)?)).collect()
}

/// Replaces the generated entries; entries from elsewhere stay.
fn merge(old: Manifest, written: Vec<Fixture>) -> Manifest {
    let kept = old.fixtures.into_iter().filter(|fixture| !is_generated(&fixture.file));
    let mut fixtures: Vec<Fixture> = kept.chain(written).collect();
    fixtures.sort_by(|a, b| a.file.cmp(&b.file));
    Manifest { fixtures }
}

fn is_generated(file: &str) -> bool {
    file.split('/').any(|part| part == "generated")
}

/// Removes generated files that the script no longer writes.
fn remove_unlisted(manifest: &Manifest) -> Result<()> {
    for path in workspace::files(&fixture::root())? {
        let file =
            path.strip_prefix(fixture::root()).unwrap_or(&path).to_string_lossy().into_owned();
        if is_generated(&file) && !manifest.fixtures.iter().any(|fixture| fixture.file == file) {
            fs::remove_file(&path).at(path.display())?;
        }
    }
    Ok(())
}

fn write_manifest(manifest: &Manifest) -> Result<()> {
    let path = fixture::path("manifest.json");
    let mut text = serde_json::to_string_pretty(manifest)?;
    text.push('\n');
    fs::write(&path, text).at(path.display())
}

/// Replaces the table between the two marks of the README; the text around it is hand-written.
fn write_table(manifest: &Manifest) -> Result<()> {
    let path = fixture::root().join("README.md");
    let text = fs::read_to_string(&path).at(path.display())?;
    let Some((before, rest)) = text.split_once(BEGIN) else {
        return fail(format!("README.md: no {BEGIN}"));
    };
    let Some((_, after)) = rest.split_once(END) else {
        return fail(format!("README.md: no {END}"));
    };
    let text = format!("{before}{BEGIN}\n{}{END}{after}", table(manifest));
    fs::write(&path, text).at(path.display())
}

fn table(manifest: &Manifest) -> String {
    let rows = manifest.fixtures.iter().map(|fixture| {
        format!(
            "| `{}` | {} {} | {} |\n",
            fixture.file, fixture.program, fixture.version, fixture.about
        )
    });
    let head = "| file | program | what it shows |\n|---|---|---|\n".to_owned();
    core::iter::once(head).chain(rows).collect()
}

const BEGIN: &str = "<!-- begin: cargo xtask fixtures -->";
const END: &str = "<!-- end -->";

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(file: &str, about: &str) -> Fixture {
        let line = format!(
            r#"{{"file":"{file}","format":"cframe","program":"p","version":"1","command":"c","about":"{about}","nbytes":0,"sha256":""}}"#
        );
        parse(line.as_bytes()).unwrap().remove(0)
    }

    #[test]
    fn generated_entries_are_replaced_and_others_kept() {
        let old =
            Manifest { fixtures: vec![entry("a/generated/gone", ""), entry("b/kept", "old")] };
        let merged = merge(old, vec![entry("c/generated/new", ""), entry("a/generated/new", "")]);
        let files: Vec<&str> =
            merged.fixtures.iter().map(|fixture| fixture.file.as_str()).collect();
        assert_eq!(files, ["a/generated/new", "b/kept", "c/generated/new"]);
    }

    #[test]
    fn table_has_a_row_per_fixture() {
        let table = table(&Manifest { fixtures: vec![entry("x.b2frame", "a thing")] });
        assert!(table.ends_with("| `x.b2frame` | p 1 | a thing |\n"));
    }
}

//! The table of libblosc2's functions in `docs/capi.md`: which of them exist, and which PyTables
//! calls.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use super::symbols::{called, compare_table};
use crate::{
    failure::{Context, Result, fail},
    workspace,
};

const BEGIN: &str = "<!-- functions of libblosc2: begin -->\n";
const END: &str = "<!-- functions of libblosc2: end -->";
/// The file with the macro `absent`, which lists missing functions.
const EXPORTS: &str = "crates/libblosc2/src/exports.rs";

/// Compares the table with the library's exported names, or writes it.
pub(super) fn check(names: &BTreeSet<String>, tables: &Path, is_updated: bool) -> Result<()> {
    let absent = absent()?;
    if let Some(unknown) = absent.iter().find(|name| !names.contains(*name)) {
        return fail(format!("{EXPORTS}: {unknown} is not exported"));
    }
    let is_extension = |file: &PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.contains(".so") && !name.starts_with("lib")
    };
    let files: Vec<_> =
        workspace::files(&tables.join("tables"))?.into_iter().filter(is_extension).collect();
    let called = called(&files, &["blosc1_", "blosc2_", "b2nd_"])?;
    let mut table = String::from("| function | state | PyTables |\n|---|---|---|\n");
    for name in names {
        let state = if absent.contains(name) { "later" } else { "works" };
        let is_called = if called.contains(name) { "calls it" } else { "" };
        table += &format!("| `{name}` | {state} | {is_called} |\n");
    }
    let (nabsent, nnames) = (absent.len(), names.len());
    println!("libblosc2: {} of {nnames} functions work", nnames - nabsent);
    let update = "cargo xtask capi chunks --update";
    compare_table((BEGIN, END), &table, is_updated, update)
}

/// The functions in the macro `absent`.
fn absent() -> Result<BTreeSet<String>> {
    let source = fs::read_to_string(workspace::root().join(EXPORTS)).at(EXPORTS)?;
    let lists = source.split("absent! {").skip(1).filter_map(|list| list.split_once("    }"));
    let lines = lists.flat_map(|(list, _)| list.lines());
    let names = lines.filter_map(|line| line.trim().strip_prefix("fn ")?.split_once('('));
    let names: BTreeSet<String> = names.map(|(name, _)| name.to_owned()).collect();
    if names.is_empty() {
        fail(format!("{EXPORTS}: no list of absent functions"))
    } else {
        Ok(names)
    }
}

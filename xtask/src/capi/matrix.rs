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
    let table = table(names, &absent, &called);
    let (nabsent, nnames) = (absent.len(), names.len());
    println!("libblosc2: {} of {nnames} functions work", nnames - nabsent);
    let update = "cargo xtask capi chunks --update";
    compare_table((BEGIN, END), &table, is_updated, update)
}

/// A row for each state, which keeps the document short.
fn table(names: &BTreeSet<String>, absent: &BTreeSet<String>, called: &BTreeSet<String>) -> String {
    let mut table = String::from("| state | functions |\n|---|---|\n");
    for (is_absent, is_called, state) in [
        (false, true, "works, and PyTables calls it"),
        (false, false, "works"),
        (true, true, "later, and PyTables calls it"),
        (true, false, "later"),
    ] {
        let is_of_state = |name: &&String| {
            absent.contains(*name) == is_absent && called.contains(*name) == is_called
        };
        let row: Vec<_> =
            names.iter().filter(is_of_state).map(|name| format!("`{name}`")).collect();
        if !row.is_empty() {
            table += &format!("| {state} | {} |\n", row.join(", "));
        }
    }
    table
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_the_table_has_the_functions_of_a_state() {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let table = table(&set(&["a", "b", "c"]), &set(&["b"]), &set(&["c"]));
        let rows = "| works, and PyTables calls it | `c` |\n| works | `a` |\n| later | `b` |\n";
        assert_eq!(table, format!("| state | functions |\n|---|---|\n{rows}"));
    }
}

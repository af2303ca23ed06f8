//! The names that both libraries export, the loader's name of ours, and the callers of each
//! function: the table in `docs/capi.md`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{clients::Clients, library::Libraries};
use crate::{
    failure::{Context, Result, fail},
    workspace,
};

/// The document with the table, and the marks around it.
const DOCUMENT: &str = "docs/capi.md";
const BEGIN: &str = "<!-- functions: begin -->\n";
const END: &str = "<!-- functions: end -->";

pub(super) fn check(clients: &Clients, libraries: &Libraries, is_updated: bool) -> Result<()> {
    let [theirs, ours] = libraries.both().map(|library| exported(&library.file));
    let (theirs, ours) = (theirs?, ours?);
    let missing: Vec<_> = theirs.difference(&ours).collect();
    let more: Vec<_> = ours.difference(&theirs).collect();
    if !missing.is_empty() || !more.is_empty() || ours.len() != 25 {
        return fail(format!("symbols: missing {missing:?}, too many {more:?}"));
    }
    let head = workspace::output(Command::new("readelf").arg("-dW").arg(&libraries.ours.file))?;
    let head = String::from_utf8_lossy(&head);
    for wanted in ["Library soname: [libblosc.so.1]", "NODELETE"] {
        if !head.contains(wanted) {
            return fail(format!("symbols: readelf does not show {wanted}"));
        }
    }
    check_abi(libraries)?;
    check_table(clients, &ours, is_updated)?;
    println!("symbols: {} functions, as in C-Blosc", ours.len());
    Ok(())
}

/// Checks with `abidiff` that no function was removed or changed. Without debug data it compares
/// names, kinds and sizes.
fn check_abi(libraries: &Libraries) -> Result<()> {
    let [theirs, ours] = libraries.both().map(|library| &library.file);
    let mut abidiff = Command::new("abidiff");
    match abidiff.arg(theirs).arg(ours).output() {
        Ok(found) if found.status.success() => Ok(()),
        Ok(found) => fail(format!("abidiff: {}", String::from_utf8_lossy(&found.stdout))),
        Err(_) => {
            eprintln!("capi: SKIPPED abidiff, which needs Debian's package abigail-tools");
            Ok(())
        }
    }
}

/// The exported names of a library.
pub(super) fn exported(file: &Path) -> Result<BTreeSet<String>> {
    let listed = workspace::output(Command::new("nm").args(["-D", "--defined-only"]).arg(file))?;
    let listed = String::from_utf8_lossy(&listed);
    let names = listed.lines().filter_map(|line| line.split_whitespace().last());
    Ok(names.map(str::to_owned).collect())
}

/// Compares the table of callers in the document, or writes it.
fn check_table(clients: &Clients, names: &BTreeSet<String>, is_updated: bool) -> Result<()> {
    let update = "cargo xtask capi --only symbols --update";
    compare_table((BEGIN, END), &table(clients, names)?, is_updated, update)
}

/// Compares a table of the document with the expected one, or writes it.
pub(super) fn compare_table(
    (begin, end): (&str, &str),
    table: &str,
    is_updated: bool,
    command: &str,
) -> Result<()> {
    let path = workspace::root().join(DOCUMENT);
    let document = fs::read_to_string(&path).at(DOCUMENT)?;
    let parts = document
        .split_once(begin)
        .and_then(|(head, rest)| rest.split_once(end).map(|(table, tail)| (head, table, tail)));
    let Some((head, found, tail)) = parts else {
        return fail(format!("{DOCUMENT}: has no place for the table of functions"));
    };
    if is_updated {
        return fs::write(&path, [head, begin, table, end, tail].concat()).at(DOCUMENT);
    }
    if found == table {
        return Ok(());
    }
    fail(format!("{DOCUMENT}: `{command}` renews its table"))
}

/// A row for each set of clients, which keeps the document short.
fn table(clients: &Clients, names: &BTreeSet<String>) -> Result<String> {
    let mut users = Vec::new();
    for (client, files) in callers(clients)? {
        users.push((client, called(&files, &["blosc_"])?));
    }
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in names {
        let callers = users.iter().filter(|(_, called)| called.contains(name));
        let callers: Vec<_> = callers.map(|(client, _)| *client).collect();
        groups.entry(callers.join(", ")).or_default().push(format!("`{name}`"));
    }
    let mut table = String::from("| clients | functions, which all work |\n|---|---|\n");
    for (callers, names) in &groups {
        let callers = if callers.is_empty() { "none of these" } else { callers };
        table += &format!("| {callers} | {} |\n", names.join(", "));
    }
    Ok(table)
}

/// The files of each client that call the library.
fn callers(clients: &Clients) -> Result<Vec<(&'static str, Vec<PathBuf>)>> {
    let wheels = clients.folder.join("wheels/lib");
    let debian = clients.debian("usr/lib/python3/dist-packages");
    let rows = [
        ("NumCodecs", wheels.clone(), "numcodecs/blosc."),
        ("hdf5plugin", wheels.clone(), "plugins/libh5blosc."),
        ("GDAL", wheels, "rasterio.libs/libgdal-"),
        ("PyTables", debian.join("tables"), "tables/"),
        ("python-blosc", debian.join("blosc"), "blosc/blosc_extension."),
    ];
    let mut callers = Vec::new();
    for (client, folder, part) in rows {
        let files = workspace::files(&folder)?.into_iter().filter(|file| {
            let path = file.to_string_lossy();
            path.contains(part) && path.contains(".so")
        });
        callers.push((client, files.collect()));
    }
    Ok(callers)
}

/// The functions with these prefixes that files import.
pub(super) fn called(files: &[PathBuf], prefixes: &[&str]) -> Result<BTreeSet<String>> {
    let mut called = BTreeSet::new();
    for file in files {
        let listed = workspace::output(Command::new("readelf").arg("-rW").arg(file))?;
        let listed = String::from_utf8_lossy(&listed);
        let words = listed
            .split_whitespace()
            .filter(|word| prefixes.iter().any(|prefix| word.starts_with(prefix)));
        called.extend(words.map(|word| word.split('@').next().unwrap_or(word).to_owned()));
    }
    Ok(called)
}

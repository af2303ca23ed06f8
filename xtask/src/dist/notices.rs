//! The licences of everything that is linked into the programs, in one text.

use std::{collections::BTreeMap, fs, path::Path};

use crate::{
    failure::{Context, Result},
    metadata::Package,
    workspace,
};

/// The beginnings of the names of files with licences, in lower case.
const NAMES: [&str; 6] = ["licen", "copying", "copyright", "notice", "unlicense", "patents"];

/// A line for each part of others, then each text once, with the parts that have it.
pub(super) fn notices(packages: &[&Package], target: &str) -> Result<String> {
    let mut list = String::new();
    let mut texts = BTreeMap::<String, Vec<String>>::new();
    for package in packages.iter().filter(|package| package.source.is_some()) {
        let name = format!("{} {}", package.name, package.version);
        let mut found = texts_in(package.folder())?;
        let note = if found.is_empty() { note_without_text(package) } else { "" };
        if note == APACHE_IS_BELOW {
            found.push(text_of(&workspace::root().join("LICENSE-APACHE"))?);
        }
        list += &format!("{name}: {}{note}\n", package.licence());
        for text in found {
            texts.entry(text).or_default().push(name.clone());
        }
    }
    // Programs for this C library contain it.
    if target.contains("musl") {
        list += "musl: MIT\n";
        let text = text_of(&workspace::root().join("packaging/musl-COPYRIGHT"))?;
        texts.entry(text).or_default().push("musl".to_owned());
    }
    let mut notices = format!("These packages are parts of the programs b2 and blpk.\n\n{list}");
    for (text, names) in texts {
        notices += &format!("\n{}\n{}\n\n{text}\n", "=".repeat(72), names.join(", "));
    }
    Ok(notices)
}

const APACHE_IS_BELOW: &str = " (its package has no text; that of Apache-2.0 is below)";

/// The remark on a package without a text. All packages under Apache-2.0 have the same terms.
fn note_without_text(package: &Package) -> &'static str {
    match package.licence().contains("Apache-2.0") {
        true => APACHE_IS_BELOW,
        false => " (its package has no text)",
    }
}

/// A file as text, so that copies of it are equal.
fn text_of(path: &Path) -> Result<String> {
    let bytes = fs::read(path).at(path.display())?;
    Ok(String::from_utf8_lossy(&bytes).replace('\r', "").trim().to_owned())
}

/// The texts in a package, without repetitions. Sources of C bring theirs in a folder of their own.
fn texts_in(folder: &Path) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).at(folder.display())? {
        let path = entry?.path();
        if path.is_dir() {
            paths.extend(fs::read_dir(&path)?.filter_map(|entry| Some(entry.ok()?.path())));
        } else {
            paths.push(path);
        }
    }
    let mut texts = Vec::new();
    for path in paths.iter().filter(|path| has_licence(path)) {
        texts.push(text_of(path)?);
    }
    texts.sort();
    texts.dedup();
    Ok(texts)
}

fn has_licence(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let is_code = [".rs", ".py", ".json", ".toml", ".sh"].iter().any(|end| name.ends_with(end));
    NAMES.iter().any(|begin| name.starts_with(begin)) && !is_code && path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A target whose C library is not a part of the programs.
    const GNU: &str = "x86_64-unknown-linux-gnu";

    #[test]
    fn packages_share_a_text() {
        let package = |name: &str, source: Option<&str>| Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            license: Some("MIT".to_owned()),
            manifest_path: workspace::root().join("Cargo.toml"),
            source: source.map(str::to_owned),
            ..Package::default()
        };
        let packages =
            [package("a", Some("registry")), package("b", Some("registry")), package("ours", None)];
        let text = notices(&packages.iter().collect::<Vec<_>>(), GNU).unwrap();
        assert!(text.contains("\na 1.0.0: MIT\nb 1.0.0: MIT\n") && !text.contains("ours"));
        assert_eq!(text.matches("Permission is hereby granted").count(), 1);
        assert!(text.contains("\na 1.0.0, b 1.0.0\n\n"));
    }

    /// A package whose folder has no text.
    fn bare(name: &str, license: &str) -> Package {
        Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            license: Some(license.to_owned()),
            manifest_path: workspace::root().join("xtask/c/Cargo.toml"),
            source: Some("registry".to_owned()),
            ..Package::default()
        }
    }

    #[test]
    fn a_package_without_a_text_is_named() {
        let text = notices(&[&bare("a", "MIT")], GNU).unwrap();
        assert!(text.contains("\na 1.0.0: MIT (its package has no text)\n"));
    }

    #[test]
    fn packages_without_a_text_share_that_of_apache() {
        let (a, b) = (bare("a", "Apache-2.0"), bare("b", "MIT OR Apache-2.0"));
        let text = notices(&[&a, &b], GNU).unwrap();
        assert_eq!(text.matches(APACHE_IS_BELOW).count(), 2);
        assert_eq!(text.matches("TERMS AND CONDITIONS FOR USE").count(), 1);
        assert!(text.contains("\na 1.0.0, b 1.0.0\n\n"));
    }

    #[test]
    fn the_c_library_is_a_part_of_programs_that_contain_it() {
        let text = notices(&[], "x86_64-unknown-linux-musl").unwrap();
        assert!(text.contains("\nmusl: MIT\n") && text.contains("Rich Felker"));
        assert!(!notices(&[], GNU).unwrap().contains("musl"));
    }
}

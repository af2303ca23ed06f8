//! The licences of everything that is linked into the programs, in one text.

use std::{collections::BTreeMap, fs, path::Path};

use crate::{
    failure::{Context, Result},
    metadata::Package,
};

/// The beginnings of the names of files with licences, in lower case.
const NAMES: [&str; 6] = ["licen", "copying", "copyright", "notice", "unlicense", "patents"];

/// A line for each package of others, then each text once, with the packages that have it.
pub(super) fn notices(packages: &[&Package]) -> Result<String> {
    let mut list = String::new();
    let mut texts = BTreeMap::<String, Vec<String>>::new();
    for package in packages.iter().filter(|package| package.source.is_some()) {
        let name = format!("{} {}", package.name, package.version);
        let found = texts_in(package.folder())?;
        let note = if found.is_empty() { " (its package has no text)" } else { "" };
        list += &format!("{name}: {}{note}\n", package.licence());
        for text in found {
            texts.entry(text).or_default().push(name.clone());
        }
    }
    let mut notices = format!("These packages are parts of the programs b2 and blpk.\n\n{list}");
    for (text, names) in texts {
        notices += &format!("\n{}\n{}\n\n{text}\n", "=".repeat(72), names.join(", "));
    }
    Ok(notices)
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
        let bytes = fs::read(path).at(path.display())?;
        texts.push(String::from_utf8_lossy(&bytes).replace('\r', "").trim().to_owned());
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
    use crate::workspace;

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
        let text = notices(&packages.iter().collect::<Vec<_>>()).unwrap();
        assert!(text.contains("\na 1.0.0: MIT\nb 1.0.0: MIT\n") && !text.contains("ours"));
        assert_eq!(text.matches("Permission is hereby granted").count(), 1);
        assert!(text.contains("\na 1.0.0, b 1.0.0\n\n"));
    }

    #[test]
    fn a_package_without_a_text_is_named() {
        let package = Package {
            name: "a".to_owned(),
            manifest_path: workspace::root().join("xtask/c/Cargo.toml"),
            source: Some("registry".to_owned()),
            ..Package::default()
        };
        assert!(notices(&[&package]).unwrap().contains("(its package has no text)"));
    }
}

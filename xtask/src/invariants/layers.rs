//! The allowed dependencies between crates, checked by `cargo metadata`.

use super::Finding;
use crate::{
    failure::Result,
    metadata::{Dependency, Metadata, Package},
};

/// Each crate with the crates of this workspace that it may use. A crate missing here is a finding
/// too.
const ALLOWED: &[(&str, &[&str])] = &[
    ("blosc-dtype", &[]),
    ("blosc-filters", &[]),
    ("blosc-codecs", &[]),
    ("blosc-io", &[]),
    ("blosc-testdata", &[]),
    ("blosc-threads", &[]),
    ("blosc-chunk", &["blosc-filters", "blosc-codecs", "blosc-threads"]),
    ("b2frame-derive", &[]),
    (
        "blosc-capi",
        &["b2frame", "blosc-chunk", "blosc-codecs", "blosc-filters", "blosc-io", "blosc-threads"],
    ),
    ("libblosc", &["blosc-capi"]),
    ("libblosc2", &["b2frame", "blosc-capi"]),
    ("blosc-container", &["blosc-chunk", "blosc-io"]),
    ("b2frame", &["blosc-container", "blosc-chunk", "blosc-io", "blosc-dtype", "b2frame-derive"]),
    ("b2store", &["b2frame", "blosc-container", "blosc-chunk", "blosc-dtype", "blosc-io"]),
    ("bloscpack", &["blosc-container", "blosc-chunk", "blosc-io", "blosc-dtype"]),
    ("bcolz-store", &["blosc-container", "blosc-chunk", "blosc-io", "blosc-dtype"]),
    (
        "blosc-data",
        &[
            "b2frame",
            "b2store",
            "bcolz-store",
            "bloscpack",
            "blosc-container",
            "blosc-chunk",
            "blosc-dtype",
            "blosc-io",
        ],
    ),
    ("b2-plot", &["blosc-dtype"]),
    ("b2-view", &["b2-plot", "blosc-dtype"]),
    ("b2-web", &["b2-plot", "b2frame", "blosc-chunk", "blosc-data", "blosc-dtype", "blosc-io"]),
    ("b2-web-codec", &["blosc-chunk"]),
    ("b2-program", &["blosc-dtype", "blosc-io"]),
    ("blpk", &["b2-program", "bloscpack", "blosc-chunk", "blosc-dtype", "blosc-io"]),
    (
        "b2-cli",
        &[
            "b2-plot",
            "b2-program",
            "b2-view",
            "b2frame",
            "blpk",
            "bloscpack",
            "bcolz-store",
            "b2store",
            "blosc-container",
            "blosc-chunk",
            "blosc-data",
            "blosc-dtype",
            "blosc-io",
        ],
    ),
];

/// These crates may use all others: no user gets them.
const TOOLS: &[&str] = &["xtask", "blosc-peers", "blosc-trials"];

pub(super) fn check() -> Result<Vec<Finding>> {
    let metadata = Metadata::without_dependencies("Cargo.toml")?;
    Ok(metadata.packages.iter().flat_map(findings).collect())
}

fn findings(package: &Package) -> Vec<Finding> {
    if TOOLS.contains(&package.name.as_str()) {
        return Vec::new();
    }
    let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == package.name) else {
        return vec![format!("{}: not in the table of layers", package.name)];
    };
    let ours = package.dependencies.iter().filter(|dependency| dependency.path.is_some());
    let wrong = ours.filter(|dependency| !may_use(allowed, dependency));
    wrong
        .map(|dependency| format!("{}: may not depend on {}", package.name, dependency.name))
        .collect()
}

fn may_use(allowed: &[&str], dependency: &Dependency) -> bool {
    let for_tests =
        dependency.kind.as_deref() == Some("dev") && dependency.name == "blosc-testdata";
    for_tests || allowed.contains(&dependency.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dependency: &str, kind: Option<&str>) -> Package {
        let dependency = Dependency {
            name: dependency.to_owned(),
            kind: kind.map(str::to_owned),
            path: Some("crates".to_owned()),
        };
        let name = name.to_owned();
        Package { name, dependencies: vec![dependency], ..Package::default() }
    }

    #[test]
    fn layers_above_are_found() {
        let found = findings(&package("blosc-codecs", "blosc-filters", None));
        assert_eq!(found, ["blosc-codecs: may not depend on blosc-filters"]);
        assert!(findings(&package("blosc-chunk", "blosc-filters", None)).is_empty());
    }

    #[test]
    fn test_data_is_for_tests_only() {
        assert!(findings(&package("b2frame", "blosc-testdata", Some("dev"))).is_empty());
        assert_eq!(findings(&package("b2frame", "blosc-testdata", None)).len(), 1);
    }

    #[test]
    fn unknown_crates_are_found() {
        assert_eq!(
            findings(&package("blosc-new", "blosc-io", None)),
            ["blosc-new: not in the table of layers"]
        );
    }
}

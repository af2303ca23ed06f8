//! `cargo metadata`: packages, the fields of their manifests, and the graph of their dependencies.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use serde::Deserialize;

use crate::{failure::Result, workspace};

#[derive(Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    /// Absent if dependencies were not requested.
    resolve: Option<Resolve>,
}

#[derive(Default, Deserialize)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) manifest_path: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) features: BTreeMap<String, Vec<String>>,
    /// Registries that the crate may be published to: an empty list means none.
    pub(crate) publish: Option<Vec<String>>,
    /// An expression of SPDX, or of the older syntax with `/`: see [`Package::licence`].
    pub(crate) license: Option<String>,
    pub(crate) repository: Option<String>,
    pub(crate) rust_version: Option<String>,
    /// Absent for crates of this repository.
    pub(crate) source: Option<String>,
    /// The tables `[package.metadata]`.
    #[serde(default)]
    pub(crate) metadata: serde_json::Value,
}

#[derive(Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// Absent for ordinary dependencies, otherwise `dev` or `build`.
    pub(crate) kind: Option<String>,
    /// Present for crates of this workspace.
    pub(crate) path: Option<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<DepKind>,
}

#[derive(Deserialize)]
struct DepKind {
    kind: Option<String>,
}

impl Metadata {
    /// The packages of a workspace alone, by its manifest below the root.
    pub(crate) fn without_dependencies(manifest: &str) -> Result<Self> {
        Self::read(manifest, &["--no-deps", "--offline"])
    }

    /// The packages of a workspace and all dependencies of all features.
    pub(crate) fn locked(manifest: &str) -> Result<Self> {
        Self::read(manifest, &["--locked", "--all-features"])
    }

    /// The packages of a build for a target.
    pub(crate) fn for_build(manifest: &str, features: &str, target: &str) -> Result<Self> {
        Self::read(manifest, &["--locked", "--features", features, "--filter-platform", target])
    }

    fn read(manifest: &str, words: &[&str]) -> Result<Self> {
        let mut cargo = workspace::cargo();
        cargo.args(["metadata", "--quiet", "--format-version", "1", "--manifest-path", manifest]);
        Ok(serde_json::from_slice(&workspace::output(cargo.args(words))?)?)
    }

    pub(crate) fn package(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.name == name)
    }

    /// The packages that become a part of the package `name`: itself, and the ordinary dependencies
    /// of each, sorted by name and version.
    pub(crate) fn linked(&self, name: &str) -> Vec<&Package> {
        let graph = self.graph();
        let mut found = BTreeSet::new();
        let mut waiting: Vec<&str> =
            self.package(name).into_iter().map(|package| package.id.as_str()).collect();
        while let Some(id) = waiting.pop() {
            if found.insert(id) {
                waiting.extend(graph.get(id).into_iter().flatten());
            }
        }
        let mut packages: Vec<&Package> =
            self.packages.iter().filter(|package| found.contains(package.id.as_str())).collect();
        packages.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
        packages
    }

    /// The ordinary dependencies of each package, by their ids.
    pub(crate) fn graph(&self) -> BTreeMap<&str, Vec<&str>> {
        let nodes = self.resolve.iter().flat_map(|resolve| &resolve.nodes);
        nodes.map(|node| (node.id.as_str(), node.ordinary())).collect()
    }
}

impl Node {
    fn ordinary(&self) -> Vec<&str> {
        let is_ordinary = |edge: &&Edge| edge.dep_kinds.iter().any(|kind| kind.kind.is_none());
        self.deps.iter().filter(is_ordinary).map(|edge| edge.pkg.as_str()).collect()
    }
}

impl Package {
    pub(crate) fn is_published(&self) -> bool {
        self.publish.as_ref().is_none_or(|registries| !registries.is_empty())
    }

    /// The licence as an expression of SPDX; empty if the manifest has none.
    pub(crate) fn licence(&self) -> String {
        let licence = self.license.as_deref().unwrap_or_default();
        licence.split('/').map(str::trim).collect::<Vec<_>>().join(" OR ")
    }

    pub(crate) fn folder(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(&self.manifest_path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_older_syntax_of_licences_becomes_an_expression() {
        for (license, expression) in [
            (None, ""),
            (Some("MIT"), "MIT"),
            (Some("MIT/Apache-2.0"), "MIT OR Apache-2.0"),
            (Some("MIT / Apache-2.0"), "MIT OR Apache-2.0"),
            (Some("(MIT OR Zlib) AND ISC"), "(MIT OR Zlib) AND ISC"),
        ] {
            let package = Package { license: license.map(str::to_owned), ..Package::default() };
            assert_eq!(package.licence(), expression);
        }
    }
}

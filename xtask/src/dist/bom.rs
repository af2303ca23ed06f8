//! The bill of materials: the packages that are linked into `b2`, as CycloneDX 1.5 in JSON.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::metadata::{Metadata, Package};

/// The libraries in a program that are no packages of cargo: Rust's own, and musl if the program
/// contains it. `compiler` is what `rustc -vV` says.
pub(super) fn libraries(target: &str, compiler: &str) -> Vec<Value> {
    let version = compiler.lines().find_map(|line| line.strip_prefix("release: "));
    let version = version.unwrap_or("unknown");
    let mut libraries = vec![json!({
        "type": "library",
        "bom-ref": format!("pkg:generic/rust-std@{version}"),
        "name": "rust-std",
        "version": version,
        "description": "the standard library of Rust",
        "purl": format!("pkg:generic/rust-std@{version}"),
        "licenses": [{ "expression": "MIT OR Apache-2.0" }],
    })];
    if target.contains("musl") {
        // Its version is that of the compiler's target, which does not tell it.
        libraries.push(json!({
            "type": "library",
            "bom-ref": "pkg:generic/musl",
            "name": "musl",
            "description": format!("the C library of {target}, as Rust {version} has it"),
            "purl": "pkg:generic/musl",
            "licenses": [{ "expression": "MIT" }],
        }));
    }
    libraries
}

/// The bill for the package `name`, the others that are linked with it, and `libraries`; `lock` is
/// the text of `Cargo.lock`, which has the checksums.
pub(super) fn bom(
    metadata: &Metadata,
    name: &str,
    packages: &[&Package],
    libraries: &[Value],
    lock: &str,
    date: &str,
) -> Value {
    let sums = checksums(lock);
    let others = packages.iter().filter(|package| package.name != name);
    let others = others.map(|package| component(package, "library", &sums));
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": format!("{date}T00:00:00Z"),
            "component": metadata.package(name).map(|it| component(it, "application", &sums)),
        },
        "components": others.chain(libraries.iter().cloned()).collect::<Vec<_>>(),
        "dependencies": dependencies(metadata, name, packages, libraries),
    })
}

/// The name of a package everywhere: its URL.
fn purl(package: &Package) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version)
}

fn component(package: &Package, kind: &str, sums: &BTreeMap<(&str, &str), &str>) -> Value {
    let mut component = json!({
        "type": kind,
        "bom-ref": purl(package),
        "name": package.name,
        "version": package.version,
        "purl": purl(package),
    });
    if package.license.is_some() {
        component["licenses"] = json!([{ "expression": package.licence() }]);
    }
    if let Some(sum) = sums.get(&(package.name.as_str(), package.version.as_str())) {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
    }
    component
}

/// The packages that each one uses; the program alone is said to use the libraries.
fn dependencies(
    metadata: &Metadata,
    name: &str,
    packages: &[&Package],
    libraries: &[Value],
) -> Vec<Value> {
    let graph = metadata.graph();
    let purls: BTreeMap<&str, String> =
        packages.iter().map(|package| (package.id.as_str(), purl(package))).collect();
    let edges = |package: &&Package| {
        let ids = graph.get(package.id.as_str()).into_iter().flatten();
        let mut uses: BTreeSet<&str> =
            ids.filter_map(|id| purls.get(id)).map(String::as_str).collect();
        if package.name == name {
            uses.extend(libraries.iter().filter_map(|library| library["bom-ref"].as_str()));
        }
        json!({ "ref": purl(package), "dependsOn": uses })
    };
    packages.iter().map(edges).collect()
}

/// The checksums of a lock file, by name and version.
fn checksums(lock: &str) -> BTreeMap<(&str, &str), &str> {
    let blocks = lock.split("[[package]]").skip(1);
    let sum = |block| {
        let place = (field(block, "name")?, field(block, "version")?);
        Some((place, field(block, "checksum")?))
    };
    blocks.filter_map(sum).collect()
}

fn field<'a>(block: &'a str, name: &str) -> Option<&'a str> {
    let value = |line: &'a str| line.strip_prefix(name)?.strip_prefix(" = \"")?.strip_suffix('"');
    block.lines().find_map(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata() -> Metadata {
        let package = |id: &str| {
            json!({
                "id": id, "name": id, "version": "1.2.3", "manifest_path": "/x/Cargo.toml",
                "license": "MIT/Apache-2.0", "dependencies": [], "features": {},
            })
        };
        let edge = |id: &str, kind: Value| json!({ "pkg": id, "dep_kinds": [{ "kind": kind }] });
        let packages = ["b2", "used", "tests-only", "below"].map(package);
        let graph = json!({
            "packages": packages,
            "resolve": { "nodes": [
                { "id": "b2", "deps": [edge("used", Value::Null), edge("tests-only", json!("dev"))] },
                { "id": "used", "deps": [edge("below", Value::Null)] },
                { "id": "tests-only", "deps": [] },
                { "id": "below", "deps": [] },
            ] },
        });
        serde_json::from_value(graph).unwrap()
    }

    #[test]
    fn the_bill_has_what_is_linked_and_the_checksums() {
        let lock = "version = 4\n\n[[package]]\nname = \"used\"\nversion = \"1.2.3\"\n\
                    checksum = \"abc\"\n\n[[package]]\nname = \"b2\"\nversion = \"1.2.3\"\n";
        let metadata = metadata();
        let bom = bom(&metadata, "b2", &metadata.linked("b2"), &[], lock, "2026-01-02");
        assert_eq!(bom["metadata"]["component"]["purl"], "pkg:cargo/b2@1.2.3");
        let names: Vec<&Value> =
            bom["components"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
        assert_eq!(names, ["below", "used"]);
        assert_eq!(bom["components"][1]["hashes"][0]["content"], "abc");
        assert_eq!(bom["components"][0]["hashes"], Value::Null);
        assert_eq!(bom["components"][0]["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(
            bom["dependencies"][2],
            json!({ "ref": "pkg:cargo/used@1.2.3", "dependsOn": ["pkg:cargo/below@1.2.3"] })
        );
    }

    #[test]
    fn the_bill_has_libraries_that_are_no_packages() {
        let compiler = "rustc 1.2.3 (abc 2026-01-01)\nbinary: rustc\nrelease: 1.2.3";
        let metadata = metadata();
        let libraries = libraries("x86_64-unknown-linux-musl", compiler);
        let bom = bom(&metadata, "b2", &metadata.linked("b2"), &libraries, "", "2026-01-02");
        assert_eq!(bom["components"][2]["name"], "rust-std");
        assert_eq!(bom["components"][2]["version"], "1.2.3");
        assert_eq!(bom["components"][3]["name"], "musl");
        assert_eq!(
            bom["dependencies"][0]["dependsOn"],
            json!(["pkg:cargo/used@1.2.3", "pkg:generic/musl", "pkg:generic/rust-std@1.2.3"])
        );
        assert_eq!(super::libraries("x86_64-unknown-linux-gnu", compiler).len(), 1);
    }
}

//! `cargo xtask builds`: the published crates compile in every way in which users build them.
//!
//! The task checks each crate with none of its features, with each feature alone and with all of
//! them. The libraries without C code must also compile for other targets: 64-bit Arm, 32-bit x86,
//! and WebAssembly with and without WASI. `rustup` installs the missing standard libraries. At last
//! all crates compile with the lowest versions of dependencies that the manifests allow.

use std::{fs, process::Command};

use crate::{
    args::Args,
    failure::{Context, Result, fail},
    metadata::{Metadata, Package},
    workspace,
};

/// Targets to check besides this machine's.
const TARGETS: [&str; 4] = [
    "aarch64-unknown-linux-gnu",
    "i686-unknown-linux-gnu",
    "wasm32-unknown-unknown",
    "wasm32-wasip1",
];

/// Crates with programs or heavy optional dependencies, checked only for this machine.
const HOST_ONLY: [&str; 3] = ["b2-cli", "b2-program", "blpk"];

pub(crate) fn run(mut args: Args) -> Result<()> {
    let only: Option<String> = args.option("--only")?;
    args.finish()?;
    let is_wanted = |part: &str| only.as_deref().is_none_or(|only| only == part);
    let packages = published()?;
    if is_wanted("features") {
        packages.iter().try_for_each(check_features)?;
    }
    if is_wanted("targets") {
        check_targets(&packages)?;
    }
    if is_wanted("lowest") {
        check_lowest_versions(&packages)?;
    }
    Ok(())
}

fn published() -> Result<Vec<Package>> {
    let metadata = Metadata::without_dependencies("Cargo.toml")?;
    Ok(metadata.packages.into_iter().filter(Package::is_published).collect())
}

fn check_features(package: &Package) -> Result<()> {
    check(&[&package.name], &["--no-default-features"])?;
    for feature in package.features.keys() {
        check(&[&package.name], &["--no-default-features", "--features", feature])?;
    }
    check(&[&package.name], &["--all-features"])?;
    println!("{}: compiles with each of {} features", package.name, package.features.len());
    Ok(())
}

fn check_targets(packages: &[Package]) -> Result<()> {
    let names: Vec<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    let libraries: Vec<&str> = names.into_iter().filter(|name| !HOST_ONLY.contains(name)).collect();
    for target in TARGETS {
        if Command::new("rustup").args(["target", "add", target]).output().is_err() {
            return fail(format!("{target}: needs rustup, to install its standard library"));
        }
        let words = ["--no-default-features", "--target", target];
        check(&libraries, &words)?;
        println!("{target}: {} libraries compile", libraries.len());
    }
    Ok(())
}

/// Puts a lock file with the lowest versions in the place of the present one while it compiles.
fn check_lowest_versions(packages: &[Package]) -> Result<()> {
    let lock = workspace::root().join("Cargo.lock");
    let kept = fs::read(&lock).at(lock.display())?;
    let mut cargo = workspace::cargo();
    cargo.args(["generate-lockfile", "--quiet", "-Z", "direct-minimal-versions"]);
    let resolved = workspace::run(cargo.env("RUSTC_BOOTSTRAP", "1"));
    let names: Vec<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    let done = resolved.and_then(|()| check(&names, &["--all-features"]));
    fs::write(&lock, kept).at(lock.display())?;
    done?;
    println!("{} crates compile with the lowest versions of their dependencies", names.len());
    Ok(())
}

fn check(packages: &[&str], words: &[&str]) -> Result<()> {
    let mut cargo = workspace::cargo();
    cargo.args(["check", "--quiet"]).args(words);
    packages.iter().for_each(|name| {
        cargo.args(["--package", name]);
    });
    workspace::run(&mut cargo)
}

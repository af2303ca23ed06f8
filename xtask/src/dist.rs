//! `cargo xtask dist`: the archive of a release.
//!
//! It holds both programs, manual pages, completions, the JSON schemas, descriptions of the formats
//! for `file` and for desktops, the README, the licences of all linked packages and a bill of
//! materials, in the folders of an installation. Unpacked over `/usr/local` or `~/.local`, all
//! files are found there. Beside it lie an archive of the sources, files for other installers
//! (`packaging/README.md`) and the checksums.
//!
//! The programs are linked statically with musl if rustup has that target, so that they run on any
//! Linux. Otherwise they need the glibc of this machine, which the name of the archive shows. They
//! include Parquet unless `b2` becomes too large, and the page for web browsers if `cargo xtask web
//! build` has made it. With `--try` the task installs, uses and removes all of it.

mod bom;
mod capi;
mod notices;
mod packaging;
mod trial;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    args::Args,
    failure::{Context, Result},
    metadata::Metadata,
    workspace,
};

/// The most bytes of `b2` with all features; the page takes 3 MB.
const MAX_PROGRAM_NBYTES: u64 = 27_000_000;

const STATIC_TARGET: &str = "x86_64-unknown-linux-musl";

/// The paths of completions, with the name of the shell.
const COMPLETIONS: [(&str, &str); 4] = [
    ("bash", "share/bash-completion/completions/b2"),
    ("zsh", "share/zsh/site-functions/_b2"),
    ("fish", "share/fish/vendor_completions.d/b2.fish"),
    ("nushell", "share/nushell/vendor/autoload/b2.nu"),
];

/// Files copied from the sources.
const COPIES: [(&str, &str); 8] = [
    ("share/schema", "share/b2/schema"),
    ("share/magic/blosc", "share/b2/magic/blosc"),
    ("share/mime/blosc.xml", "share/mime/packages/blosc.xml"),
    ("testdata/samples/temperature.f32", "share/b2/samples/temperature.f32"),
    ("README.md", "share/doc/b2/README.md"),
    ("CHANGELOG.md", "share/doc/b2/CHANGELOG.md"),
    ("LICENSE-APACHE", "share/doc/b2/LICENSE-APACHE"),
    ("LICENSE-MIT", "share/doc/b2/LICENSE-MIT"),
];

pub(crate) fn run(mut args: Args) -> Result<()> {
    let target: Option<String> = args.option("--target")?;
    let features: Option<String> = args.option("--features")?;
    let (is_capi, is_tried) = (args.flag("--capi"), args.flag("--try"));
    args.finish()?;
    if is_capi {
        return capi::run();
    }
    let (host, installed) = (workspace::host()?, installed_targets());
    let target = match target {
        Some(target) => target,
        None if host.ends_with("linux-gnu") && installed.iter().any(|it| it == STATIC_TARGET) => {
            STATIC_TARGET.to_owned()
        }
        None => host,
    };
    if target.contains("-gnu") {
        println!("linked with the glibc of this machine: {STATIC_TARGET} is not installed");
    }
    let date = text(Command::new("git").args(["log", "-1", "--format=%cs"]))?;
    let commit = text(Command::new("git").args(["rev-parse", "--short", "HEAD"]))?;
    let release = Release { target, commit, date };
    let (built, features) = match features {
        Some(features) => (release.build(&features)?, features),
        None => release.build_all_features()?,
    };
    let name = format!("b2-{}-{}", env!("CARGO_PKG_VERSION"), release.target);
    let dist = workspace::target().join("dist");
    let folder = dist.join(&name);
    let _absent = fs::remove_dir_all(&folder);
    fill(&folder, &built, &release.target)?;
    release.document(&folder, &features)?;
    let archive = pack(&folder, &name, &release.date)?;
    report(&folder, &archive)?;
    // The tools that make packages of Debian and Fedora look for the files under a fixed name.
    let fixed = dist.join("b2");
    let _absent = fs::remove_file(&fixed);
    link(&fixed, &name)?;
    packaging::make_system_packages(&dist, &release.target, is_tried)?;
    packaging::prepare(&dist)?;
    packaging::sum_up(&dist)?;
    if is_tried { trial::run(&dist, &archive, &release.target) } else { Ok(()) }
}

/// A build of a commit.
struct Release {
    target: String,
    commit: String,
    date: String,
}

impl Release {
    /// Builds with Parquet, and again without if `b2` became too large; with the page if it is
    /// there. Returns the folder of the programs, and the features.
    fn build_all_features(&self) -> Result<(PathBuf, String)> {
        let has_page = workspace::root().join("web/dist/index.html").is_file();
        if !has_page {
            println!("without the page for web browsers: `cargo xtask web build` was not run");
        }
        let (page, all) = if has_page { ("web", "parquet,web") } else { ("", "parquet") };
        let built = self.build(all)?;
        let nbytes = fs::metadata(built.join("b2"))?.len();
        if nbytes <= MAX_PROGRAM_NBYTES {
            println!("b2 with {all}: {nbytes} bytes");
            return Ok((built, all.to_owned()));
        }
        println!("b2 with {all}: {nbytes} bytes, more than {MAX_PROGRAM_NBYTES}: left out");
        Ok((self.build(page)?, page.to_owned()))
    }

    /// Builds both programs without symbols, and returns their folder.
    fn build(&self, features: &str) -> Result<PathBuf> {
        let mut cargo = workspace::cargo();
        cargo.args(["build", "--release", "--locked", "--bins", "--target", &self.target]);
        cargo.args(["--package", "b2-cli", "--package", "blpk"]);
        let features: Vec<String> = names(features).map(|it| format!("b2-cli/{it}")).collect();
        cargo.args(["--features", &features.join(",")]);
        cargo.env("B2_COMMIT", &self.commit).env("B2_DATE", &self.date);
        workspace::run(&mut cargo)?;
        Ok(workspace::target().join(&self.target).join("release"))
    }

    /// Writes the licences of all linked packages, and the bill of materials.
    fn document(&self, folder: &Path, features: &str) -> Result<()> {
        const MANIFEST: &str = "crates/b2-cli/Cargo.toml";
        let metadata = Metadata::for_build(MANIFEST, features, &self.target)?;
        let lock = fs::read_to_string(workspace::root().join("Cargo.lock")).at("Cargo.lock")?;
        let documents = folder.join("share/doc/b2");
        let packages = metadata.linked("b2-cli");
        let notices = notices::notices(&packages, &self.target)?;
        write(&documents.join("THIRD-PARTY.txt"), notices.as_bytes())?;
        let compiler = text(Command::new("rustc").arg("-vV"))?;
        let libraries = bom::libraries(&self.target, &compiler);
        let bom = bom::bom(&metadata, "b2-cli", &packages, &libraries, &lock, &self.date);
        write(&documents.join("b2.cdx.json"), &serde_json::to_vec_pretty(&bom)?)?;
        let sysroot = text(Command::new("rustc").args(["--print", "sysroot"]))?;
        let library = Path::new(&sysroot).join("share/doc/rust/COPYRIGHT-library.html");
        match fs::read(&library) {
            Ok(html) => write(&documents.join("COPYRIGHT-rust-library.html"), &html),
            // Compilers of distributions have it elsewhere, and their packages need none.
            Err(_) => Ok(()),
        }
    }
}

/// The names in a list of features.
fn names(features: &str) -> impl Iterator<Item = &str> {
    features.split([',', ' ']).filter(|name| !name.is_empty())
}

/// The program that runs those of another processor, as cargo's variable names it.
fn emulator(target: &str) -> Option<String> {
    std::env::var(workspace::target_variable(target, "RUNNER")).ok().filter(|it| !it.is_empty())
}

/// The program, started as `cargo run` starts it.
fn start(program: &Path, target: &str) -> Command {
    let Some(emulator) = emulator(target) else { return Command::new(program) };
    let mut command = Command::new(emulator);
    command.arg(program);
    command
}

/// Puts all files at their paths in an installation.
fn fill(folder: &Path, built: &Path, target: &str) -> Result<()> {
    let bin = folder.join("bin");
    fs::create_dir_all(&bin).at(bin.display())?;
    for program in ["b2", "blpk"] {
        fs::copy(built.join(program), bin.join(program)).at(program)?;
    }
    let b2 = bin.join("b2");
    let pages = folder.join("share/man");
    workspace::output(start(&b2, target).args(["man", "--output-dir"]).arg(pages))?;
    for (shell, path) in COMPLETIONS {
        let script = workspace::output(start(&b2, target).args(["completions", shell]))?;
        write(&folder.join(path), &script)?;
    }
    copy_sources(folder)
}

/// Copies files of the sources. Links of pages lead to the sources, which are not beside them.
fn copy_sources(folder: &Path) -> Result<()> {
    let root = workspace::root();
    let metadata = Metadata::without_dependencies("Cargo.toml")?;
    let program = metadata.package("b2-cli");
    let repository = program.and_then(|it| it.repository.as_deref()).unwrap_or_default();
    for (from, to) in COPIES {
        let from = root.join(from);
        let files = if from.is_dir() { workspace::files(&from)? } else { vec![from.clone()] };
        for file in files {
            let below = file.strip_prefix(&from).ok().filter(|below| !below.as_os_str().is_empty());
            let to = folder.join(to);
            let to = below.map_or(to.clone(), |below| to.join(below));
            let bytes = fs::read(&file).at(file.display())?;
            let bytes = match file.extension().is_some_and(|end| end == "md") {
                true => {
                    let text = String::from_utf8_lossy(&bytes);
                    with_absolute_links(&text, repository).into_bytes()
                }
                false => bytes,
            };
            write(&to, &bytes)?;
        }
    }
    Ok(())
}

/// A page with the address of the repository in links to files that an installation has not beside
/// it.
fn with_absolute_links(markdown: &str, repository: &str) -> String {
    let is_beside =
        |link: &str| COPIES.iter().any(|(from, to)| *from == link && to.starts_with("share/doc/"));
    let mut parts = markdown.split("](");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let link = part.split([')', '#']).next().unwrap_or_default();
        text += "](";
        if !link.is_empty() && !link.contains("://") && !is_beside(link) {
            text += &format!("{repository}/blob/HEAD/");
        }
        text += part;
    }
    text
}

/// Makes a symbolic link; a copy where there are none.
#[cfg(unix)]
fn link(place: &Path, to: &str) -> Result<()> {
    std::os::unix::fs::symlink(to, place).at(place.display())
}

#[cfg(not(unix))]
fn link(place: &Path, to: &str) -> Result<()> {
    let from = place.with_file_name(to);
    fs::copy(&from, place).map(drop).at(place.display())
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).at(path.display())?;
    fs::write(path, bytes).at(path.display())
}

/// Makes the archive, byte for byte the same for the same files.
fn pack(folder: &Path, name: &str, date: &str) -> Result<PathBuf> {
    let archive = folder.with_file_name(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
    tar.arg(format!("--mtime={date} 00:00Z")).args(["--use-compress-program", "gzip -9n", "-cf"]);
    tar.arg(&archive).arg("-C").arg(folder.parent().unwrap_or(folder)).arg(name);
    workspace::run(&mut tar)?;
    Ok(archive)
}

/// Prints the content and the size of the archive.
fn report(folder: &Path, archive: &Path) -> Result<()> {
    let mut by_folder = std::collections::BTreeMap::<String, (usize, u64)>::new();
    for file in workspace::files(folder)? {
        let below = file.strip_prefix(folder).unwrap_or(&file).to_string_lossy().into_owned();
        let nbytes = fs::metadata(&file)?.len();
        let key = match below.starts_with("bin/") {
            true => below,
            false => below.split('/').take(2).collect::<Vec<_>>().join("/"),
        };
        let entry = by_folder.entry(key).or_default();
        *entry = (entry.0 + 1, entry.1 + nbytes);
    }
    for (name, (nfiles, nbytes)) in by_folder {
        println!("  {name:26} {nfiles:3} files {nbytes:>10} bytes");
    }
    println!("{}   {} bytes", workspace::relative(archive), fs::metadata(archive)?.len());
    Ok(())
}

/// The targets of rustup; none without rustup.
fn installed_targets() -> Vec<String> {
    let said = text(Command::new("rustup").args(["target", "list", "--installed"]));
    said.map(|said| said.lines().map(str::to_owned).collect()).unwrap_or_default()
}

fn text(command: &mut Command) -> Result<String> {
    let said = workspace::output(command.current_dir(workspace::root()))?;
    Ok(String::from_utf8_lossy(&said).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_pages_lead_to_the_repository() {
        let page = "[a](docs/guide.md), [b](CHANGELOG.md), [c](https://x.org/y), [d](#top)\n\
                    [e](docs/cli.md#exit), [`f`](crates/b2frame)";
        let expected = "[a](R/blob/HEAD/docs/guide.md), [b](CHANGELOG.md), [c](https://x.org/y), \
                        [d](#top)\n[e](R/blob/HEAD/docs/cli.md#exit), \
                        [`f`](R/blob/HEAD/crates/b2frame)";
        assert_eq!(with_absolute_links(page, "R"), expected);
        assert_eq!(with_absolute_links("no link", "R"), "no link");
    }

    #[test]
    fn links_of_the_readme_lead_to_files() {
        let root = workspace::root();
        let readme = fs::read_to_string(root.join("README.md")).unwrap();
        let text = with_absolute_links(&readme, "R");
        assert!(!text.contains("](docs/"));
        let links = text.split("](R/blob/HEAD/").skip(1);
        for link in links.map(|link| link.split([')', '#']).next().unwrap()) {
            assert!(root.join(link).exists(), "{link}");
        }
    }
}

//! The files for other installers, filled in for a release, and the checksums of all its files.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use blosc_testdata::sha256_hex;

use super::write;
use crate::{
    failure::{Context, Result, fail},
    metadata::Metadata,
    tools::Tool,
    workspace,
};

/// Files below `packaging/` with placeholders.
const TEMPLATES: [&str; 2] = ["homebrew/blosc-b2.rb", "conda/recipe.yaml"];

/// The ends of the names of files that are published.
const PUBLISHED: [&str; 3] = [".tar.gz", ".deb", ".rpm"];

/// The programs that make packages of the files in `target/dist/b2`, with their options.
const MAKERS: [(Tool, &[&str]); 2] = [
    (
        Tool { name: "cargo-deb", version: "3.8.0" },
        &["--quiet", "--package", "b2-cli", "--no-build", "--no-strip"],
    ),
    (Tool { name: "cargo-generate-rpm", version: "0.21.1" }, &["--package", "crates/b2-cli"]),
];

/// The values of the placeholders.
struct Facts {
    version: String,
    repository: String,
    sha256: String,
}

/// Makes the archive of the sources, and the files that refer to it.
pub(super) fn prepare(dist: &Path) -> Result<()> {
    let metadata = Metadata::without_dependencies("Cargo.toml")?;
    let Some(program) = metadata.package("b2-cli") else { return fail("no package b2-cli") };
    let sources = archive_sources(dist, &program.version)?;
    let facts = Facts {
        version: program.version.clone(),
        repository: program.repository.clone().unwrap_or_default(),
        sha256: sha256_hex(&fs::read(&sources).at(sources.display())?),
    };
    for name in TEMPLATES {
        let text = fs::read_to_string(template(name)).at(name)?;
        let text = facts.fill_in(&text).at(name)?;
        write(&dist.join("packaging").join(name), text.as_bytes())?;
    }
    Ok(())
}

fn template(name: &str) -> PathBuf {
    workspace::root().join("packaging").join(name)
}

/// Archives the last commit, byte for byte the same each time.
fn archive_sources(dist: &Path, version: &str) -> Result<PathBuf> {
    let name = format!("blosc-rs-{version}");
    let archive = dist.join(format!("{name}.tar.gz"));
    let mut git = Command::new("git");
    git.args(["-c", "tar.tar.gz.command=gzip -9n", "archive", "--format=tar.gz"]);
    git.arg(format!("--prefix={name}/")).arg("--output").arg(&archive).arg("HEAD");
    workspace::run(git.current_dir(workspace::root()))?;
    Ok(archive)
}

impl Facts {
    fn fill_in(&self, text: &str) -> Result<String> {
        let text = text
            .replace("@VERSION@", &self.version)
            .replace("@REPOSITORY@", &self.repository)
            .replace("@SHA256@", &self.sha256);
        if let Some(word) = text.split_whitespace().find(|word| word.matches('@').count() > 1) {
            return fail(format!("{word}: an unknown placeholder"));
        }
        Ok(text)
    }
}

/// Makes packages of Debian and Fedora. Installs the tools for them if they are `needed`.
pub(super) fn make_system_packages(dist: &Path, target: &str, needed: bool) -> Result<()> {
    for (tool, words) in MAKERS {
        let found = if needed { Some(tool.find_or_install()?) } else { tool.find() };
        let Some(program) = found else {
            println!("no package by {}, which is not installed", tool.name);
            continue;
        };
        let mut maker = Command::new(program);
        maker.args(words).args(["--target", target, "--output"]).arg(dist);
        // Programs without a C library need no other package.
        if tool.name == "cargo-generate-rpm" && target.contains("musl") {
            maker.args(["--auto-req", "disabled"]);
        }
        workspace::run(maker.current_dir(workspace::root()))?;
    }
    Ok(())
}

/// Writes `SHA256SUMS` for the archives and packages of this version in the folder.
pub(super) fn sum_up(dist: &Path) -> Result<()> {
    let mut lines = String::new();
    let mut paths =
        fs::read_dir(dist)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if is_published(&name) {
            lines += &format!("{}  {name}\n", sha256_hex(&fs::read(&path).at(path.display())?));
        }
    }
    print!("{lines}");
    write(&dist.join("SHA256SUMS"), lines.as_bytes())
}

fn is_published(name: &str) -> bool {
    name.contains(env!("CARGO_PKG_VERSION")) && PUBLISHED.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::dist::{COMPLETIONS, COPIES};

    fn filled(name: &str) -> String {
        let facts = Facts {
            version: "1.2.3".to_owned(),
            repository: "https://example.org/source".to_owned(),
            sha256: "0".repeat(64),
        };
        facts.fill_in(&fs::read_to_string(template(name)).unwrap()).unwrap()
    }

    #[test]
    fn placeholders_are_replaced() {
        for name in TEMPLATES {
            let text = filled(name);
            assert!(text.contains("1.2.3") && text.contains("https://example.org/source"));
            assert!(text.contains(&"0".repeat(64)));
        }
        let facts =
            Facts { version: String::new(), repository: String::new(), sha256: String::new() };
        assert!(facts.fill_in("a\n\"@NAME@\"").is_err());
    }

    /// The program that reads a syntax, if this machine has it, accepts the file.
    fn is_accepted(checker: &[&str], text: &str) -> bool {
        let mut command = Command::new(checker[0]);
        command.args(&checker[1..]).stdin(std::process::Stdio::piped());
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let Ok(mut child) = command.spawn() else { return true };
        // A checker that has ended before tells why by its code.
        child.stdin.take().unwrap().write_all(text.as_bytes()).ok();
        let code = child.wait().unwrap().code();
        // The script below ends so without its library.
        code == Some(0) || code == Some(77)
    }

    const YAML: &str = "import sys\ntry:\n import yaml\nexcept ImportError:\n sys.exit(77)\n\
                        assert yaml.safe_load(sys.stdin)['package']['name'] == 'blosc-b2'";

    #[test]
    fn files_for_installers_are_well_formed() {
        assert!(is_accepted(&["ruby", "-c", "-"], &filled("homebrew/blosc-b2.rb")));
        assert!(is_accepted(&["python3", "-c", YAML], &filled("conda/recipe.yaml")));
        let nix = fs::read_to_string(template("nix/package.nix")).unwrap();
        assert!(is_accepted(&["nix-instantiate", "--parse", "-"], &nix));
        assert!(!is_accepted(&["python3", "-c", YAML], "a: [") || !has_python());
    }

    fn has_python() -> bool {
        let import = Command::new("python3").args(["-c", "import yaml"]).output();
        import.is_ok_and(|output| output.status.success())
    }

    #[test]
    fn system_packages_take_all_files_of_the_archive() {
        let metadata = Metadata::without_dependencies("Cargo.toml").unwrap();
        let program = metadata.package("b2-cli").unwrap();
        let files = ["bin/b2", "bin/blpk", "share/man/man1/b2.1", "share/doc/b2/THIRD-PARTY.txt"];
        let files = files.into_iter().chain(COMPLETIONS.map(|(_, to)| to));
        let files = files.chain(COPIES.map(|(_, to)| to).into_iter().skip(1));
        let files: Vec<&str> = files.chain(["share/b2/schema/info.json"]).collect();
        for (tool, _) in MAKERS {
            let tool = tool.name.trim_start_matches("cargo-");
            let assets = program.metadata[tool]["assets"].as_array().unwrap();
            let sources = assets.iter().map(|asset| asset["source"].as_str().unwrap());
            let sources: Vec<&str> =
                sources.map(|source| source.split_once("target/dist/b2/").unwrap().1).collect();
            for file in &files {
                assert!(sources.iter().any(|source| matches(source, file)), "{tool}: {file}");
            }
        }
    }

    #[test]
    fn a_script_removes_each_folder_of_ours() {
        let metadata = Metadata::without_dependencies("Cargo.toml").unwrap();
        let rpm = &metadata.package("b2-cli").unwrap().metadata["generate-rpm"];
        let script = rpm["post_uninstall_script"].as_str().unwrap();
        for asset in rpm["assets"].as_array().unwrap() {
            let folder = asset["dest"].as_str().unwrap().rsplit_once('/').unwrap().0;
            let below = folder.strip_prefix("/usr/share/").unwrap_or_default();
            let is_ours = below.starts_with("b2/") || below.ends_with("/blosc-b2");
            assert!(!is_ours || script.split(' ').any(|word| word == below), "{folder}");
        }
    }

    /// Whether a pattern of those tools stands for the file.
    fn matches(pattern: &str, file: &str) -> bool {
        match pattern.strip_suffix('*') {
            Some(folder) => file.rsplit_once('/').is_some_and(|(of, _)| format!("{of}/") == folder),
            None => pattern == file,
        }
    }

    #[test]
    fn archives_of_this_version_are_published() {
        let version = env!("CARGO_PKG_VERSION");
        assert!(is_published(&format!("blosc-rs-{version}.tar.gz")));
        assert!(is_published(&format!("blosc-b2_{version}-1_amd64.deb")));
        assert!(!is_published("blosc-rs-0.0.0.tar.gz") && !is_published("SHA256SUMS"));
    }
}

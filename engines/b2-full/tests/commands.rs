//! Every command on foreign data and addresses: it reads them, or names the commands that do.

use std::path::{Path, PathBuf};

#[allow(dead_code, reason = "other tests use more of it")]
#[path = "../../blosc-object-store/tests/support/server.rs"]
mod server;

use server::{Fault, Server, files_in};

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples")
}

/// The exit code, and the two outputs.
fn b2(args: &[&str]) -> (i32, String, String) {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_b2")).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// An input of each kind.
struct Input {
    array: String,
    /// The group of the array, if it can be named by itself.
    group: Option<String>,
    is_address: bool,
}

fn inputs(folder: &Path, address: &str) -> Vec<Input> {
    let sample = |group: &str, array: &str| {
        let group = samples().join(group).display().to_string();
        Input { array: format!("{group}{array}"), group: Some(group), is_address: false }
    };
    let array = format!("{}::/flat", samples().join("v3.zarr").display());
    let path = folder.join("x.b2nd");
    let made = b2(&["convert", "-f", &array, path.to_str().unwrap()]);
    assert_eq!(made.0, 0, "{made:?}");
    vec![
        sample("v2.zarr", "::/flat"),
        sample("v2.zarr", "/flat"),
        sample("v3.zarr", "::/flat"),
        sample("kinds3.zarr.zip", "::/numcodecs_blosc"),
        sample("sample.h5", "::/flat"),
        sample("mixed.nc", "::/run/temp"),
        Input { array: format!("{address}/x.b2nd"), group: None, is_address: true },
    ]
}

fn started(folder: &Path) -> String {
    let files = || files_in(folder);
    Server::start(files(), Fault::None).address
}

#[test]
fn commands_that_read_data_read_other_formats() {
    let dir = tempfile::tempdir().unwrap();
    inputs(dir.path(), "");
    let address = started(dir.path());
    let out = dir.path().join("out");
    let out = |name: &str| out.join(name).display().to_string();
    std::fs::create_dir(out("")).unwrap();
    for (n, input) in inputs(dir.path(), &address).iter().enumerate() {
        let array = input.array.as_str();
        for args in [
            &["info", array][..],
            &["info", "-vv", array],
            &["info", "--json", array],
            &["list", array],
            &["show", array],
            &["show", "--csv", array],
            &["cat", array],
            &["stats", array],
            &["sum", array],
            &["diff", array, array],
            &["verify", array],
            &["verify", "--json", array],
            &["meta", "get", array],
            &["meta", "export", array],
            &["plot", array, "-o", &out(&format!("{n}.svg"))],
            &["view", "--picture", &out(&format!("{n}-view.png")), array],
            &["convert", array, &out(&format!("{n}.b2nd"))],
        ] {
            let (code, stdout, stderr) = b2(args);
            let is_quiet = !stderr.contains("warning") && !stderr.contains("hint");
            assert!(code == 0 && is_quiet, "{args:?}: {code} {stdout} {stderr}");
        }
        let Some(group) = &input.group else { continue };
        for args in [
            &["info", group][..],
            &["sum", group],
            &["list", group],
            &["list", "--tree", group],
            &["verify", group],
            &["verify", "-r", group],
            &["meta", "get", group],
            &["view", "--picture", &out(&format!("{n}-group.png")), group],
            &["convert", group, &out(&format!("{n}.b2z"))],
        ] {
            let (code, stdout, stderr) = b2(args);
            assert_eq!(code, 0, "{args:?}: {stdout} {stderr}");
            assert!(!stdout.is_empty() || args[0] != "list", "{args:?}: {stderr}");
        }
    }
}

#[test]
fn commands_that_read_no_data_of_others_say_so_and_which_do() {
    let dir = tempfile::tempdir().unwrap();
    inputs(dir.path(), "");
    let address = started(dir.path());
    let new = dir.path().join("new");
    let new = new.to_str().unwrap();
    for input in inputs(dir.path(), &address) {
        let array = input.array.as_str();
        let mut lines = vec![
            vec!["recompress", "-C", "lz4", array, "-o", new],
            vec!["decompress", array, "-o", new],
            vec!["repack", array],
            vec!["seal", array],
            vec!["tune", array],
            vec!["append", array, array],
            vec!["extract", array, "-o", new],
            vec!["split", array, "--output-dir", new],
        ];
        if !input.is_address {
            lines.extend([vec!["compat", array], vec!["dump", array]]);
        }
        for args in &lines {
            let (code, stdout, stderr) = b2(args);
            assert_eq!(code, 4, "{args:?}: {stdout} {stderr}");
            let is_said = stderr.contains("which this command does not read")
                && stderr.contains("hint: cat, convert, diff, info, list,");
            assert!(is_said && !stderr.contains("cargo install"), "{args:?}: {stderr}");
            assert!(stderr.lines().count() <= 2, "{args:?}: {stderr}");
        }
        for action in ["set", "del"] {
            let (code, _, stderr) = b2(&["meta", action, array, "name=1"]);
            assert!(code == 2 && stderr.contains("only read"), "{action} {array}: {stderr}");
        }
        if input.is_address {
            for command in ["compat", "dump"] {
                let (code, _, stderr) = b2(&[command, array]);
                assert_eq!((code, stderr.as_str()), (0, ""), "{command} {array}");
            }
        }
    }
    assert!(!Path::new(new).exists());
}

#[test]
fn verifying_decodes_chunks_and_tells_of_those_that_are_not_there() {
    let dir = tempfile::tempdir().unwrap();
    for (name, chunk, gone) in
        [("v2.zarr", "flat/1.1", "flat/0.0"), ("v3.zarr", "flat/c/1/1", "flat/c/0/0")]
    {
        let copy = dir.path().join(name);
        copy_folder(&samples().join(name), &copy);
        std::fs::remove_file(copy.join(gone)).unwrap();
        let flat = format!("{}::/flat", copy.display());
        let (code, _, stderr) = b2(&["verify", &flat]);
        assert!(code == 0 && stderr.contains("1 of 12 chunks are not there"), "{stderr}");
        let bytes = std::fs::read(copy.join(chunk)).unwrap();
        std::fs::write(copy.join(chunk), &bytes[..bytes.len() - 1]).unwrap();
        for folder in [flat.as_str(), copy.to_str().unwrap(), dir.path().to_str().unwrap()] {
            let (code, stdout, stderr) = b2(&["verify", "-r", folder]);
            assert_eq!(code, 1, "{folder}: {stdout} {stderr}");
            assert!(stdout.contains("flat: ") || stdout.contains("::/flat"), "{stdout}");
        }
    }
}

#[test]
fn version_and_help_name_the_other_formats() {
    let (_, version, _) = b2(&["-V", "-v"]);
    let (_, help, _) = b2(&["--help"]);
    let (_, short, _) = b2(&["-h"]);
    for text in [version, help, short] {
        for what in ["addresses (http, https", "Zarr", "HDF5"] {
            assert!(text.contains(what), "{what}: {text}");
        }
    }
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy_folder(&path, &to),
            false => drop(std::fs::copy(&path, &to).unwrap()),
        }
    }
}

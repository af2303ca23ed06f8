//! HDF5: links that lead nowhere or out of the file, and data sets whose items are elsewhere.

use std::path::PathBuf;
use std::process::Command;

use b2store::Store;

fn sample(name: &str) -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(name).display().to_string()
}

/// The exit code, and both outputs.
fn b2(args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_b2")).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Files with groups in the form of the first HDF5 and in that of the latest, which also has a
/// virtual data set, and the data sets that are not read.
const FILES: [(&str, &[&str]); 2] =
    [("links.h5", &["/outside"]), ("links_latest.h5", &["/outside", "/virtual"])];

/// The links of a group that lead to no data set.
const LINKS: [(&str, &str); 3] = [
    ("dead", "link to /gone, which is not there"),
    ("loop", "which is not there"),
    ("out", "link to /y in other.h5, which is not opened"),
];

/// The reason why a data set is left out.
fn reason(member: &str) -> &'static str {
    match member {
        "/virtual" => "a virtual data set, whose items are in other data sets",
        _ => "items in other files (raw.bin), which are not opened",
    }
}

#[test]
fn data_sets_whose_items_are_elsewhere_hide_no_other() {
    let dir = tempfile::tempdir().unwrap();
    for (file, unread) in FILES {
        let name = sample(file);
        for args in [&["list", &name][..], &["list", "--tree", &name], &["info", &name]] {
            let (code, output, messages) = b2(args);
            assert_eq!(code, 4, "{args:?}: {messages}");
            assert!(output.contains("rows"), "{args:?}: {output}");
            for member in unread {
                let is_named = |line: &str| line.contains(member) && line.contains(reason(member));
                assert!(messages.lines().any(is_named), "{member}: {messages}");
            }
        }
        for member in unread {
            let (code, _, messages) = b2(&["cat", &format!("{name}::{member}")]);
            assert!(code == 4 && messages.contains(reason(member)), "{code} {messages}");
        }
        let to = dir.path().join(format!("{file}.b2z"));
        let to = to.to_str().unwrap();
        let (code, _, messages) = b2(&["convert", "--strict", &name, to]);
        assert!(code != 0 && !PathBuf::from(to).exists(), "{code} {messages}");
        let (code, _, messages) = b2(&["convert", &name, to]);
        assert_eq!(code, 4, "{messages}");
        let store = Store::open(to).unwrap();
        for key in ["/x", "/few/x", "/few/soft", "/many/soft"] {
            assert!(store.contains(key), "{key}: {messages}");
        }
        assert!(!store.contains("/outside") && !store.contains("/few/dead"));
        for (link, text) in LINKS {
            let is_named = |line: &str| line.contains(&format!("/few/{link}, a link"));
            let line = messages.lines().find(|line| is_named(line));
            assert!(line.is_some_and(|line| line.contains(text)), "{link}: {messages}");
        }
    }
}

/// External raw data lie beside the file, and are not read all the same.
#[test]
fn files_beside_the_file_are_not_opened() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("links.h5");
    std::fs::copy(sample("links.h5"), &path).unwrap();
    std::fs::write(dir.path().join("raw.bin"), [7; 24]).unwrap();
    std::fs::copy(sample("sample.h5"), dir.path().join("other.h5")).unwrap();
    for member in ["outside", "few/out"] {
        let (code, output, messages) = b2(&["cat", &format!("{}::/{member}", path.display())]);
        assert!(code != 0 && output.is_empty(), "{member}: {code} {messages}");
    }
}

#[test]
fn links_that_lead_to_no_data_set_are_named() {
    for (file, _) in FILES {
        let name = sample(file);
        let (_, info, _) = b2(&["info", &name]);
        let (_, json, _) = b2(&["info", "--json", &name]);
        let (_, listed, messages) = b2(&["list", &name]);
        let (_, tree, _) = b2(&["list", "--tree", &name]);
        for (link, text) in LINKS {
            for group in ["few", "many"] {
                let path = format!("/{group}/{link}");
                let has = |lines: &str, name: &str| {
                    lines.lines().any(|line| line.contains(name) && line.contains(text))
                };
                assert!(has(&info, &format!("{path}: ")), "{path}: {info}");
                assert!(has(&messages, &format!("{name}::{path}: ")), "{path}: {messages}");
                assert!(has(&tree, &format!(" {link} ")), "{path}: {tree}");
                assert!(has(&json, &format!("\"{path}\":")), "{path}: {json}");
                assert!(!listed.contains(&path), "{path}: {listed}");
            }
        }
        assert!(messages.contains("::/many/dead_29: "), "{messages}");
        // A named type is no member, and no link that leads nowhere.
        assert!(!messages.contains("::/type"), "{messages}");
        // Both groups have one node each.
        for group in ["few", "many"] {
            let nodes = tree.lines().filter(|line| line.ends_with(&format!(" {group}")));
            assert_eq!(nodes.count(), 1, "{tree}");
        }
        // A group within has the links in it.
        let (_, _, messages) = b2(&["list", &format!("{name}::/few")]);
        assert!(messages.contains(&format!("{name}::/few/dead: ")), "{messages}");
    }
}

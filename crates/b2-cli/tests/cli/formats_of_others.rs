//! Descriptions of our files for programs of others: `share/`.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use blosc_testdata::fixture::path;

fn share(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../share").join(name)
}

/// The path of the program `file`, which reads the magic.
#[test]
fn file_knows_frames_arrays_and_bloscpack_files() {
    for (name, expected) in [
        ("frames/tiny.b2frame", "Blosc2 frame, 369 bytes"),
        ("frames/generated/array-2d.b2nd", "Blosc2 frame, n-dimensional array, 5451 bytes"),
        ("stores/embed-basic.b2e", "Blosc2 frame, store, 1889 bytes"),
        ("bloscpack/real_np_c16.blp", "Bloscpack file, version 3, items of 16 bytes"),
    ] {
        let mut file = Command::new("file");
        let Ok(run) = file.arg("-bm").arg(share("magic/blosc")).arg(path(name)).output() else {
            return;
        };
        assert_eq!(String::from_utf8(run.stdout).unwrap().trim(), expected, "{name}");
    }
}

#[test]
fn every_suffix_has_a_type() {
    let types = std::fs::read_to_string(share("mime/blosc.xml")).unwrap();
    for suffix in ["b2frame", "b2nd", "b2z", "b2e", "b2f", "blp"] {
        assert!(types.contains(&format!("pattern=\"*.{suffix}\"")), "{suffix}");
    }
}

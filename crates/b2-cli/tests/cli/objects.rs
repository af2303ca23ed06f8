//! Frames of Python objects or of recipes for data: they are named, and never read as items.

use std::fs;

use blosc_testdata::fixture::path;

use crate::session::{Dir, snapshot};

#[test]
fn nothing_is_appended_to_objects() {
    let dir = Dir::new();
    fs::copy(path("stores/objects.b2f"), dir.path("o.b2frame")).unwrap();
    dir.write("raw", "bytes").b2("c -q -t 1 raw -o raw.b2frame").ok();
    snapshot!(dir.b2("append o.b2frame raw"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: o.b2frame: holds objects of Python instead of items
    hint: `b2 show` shows them; `b2 convert` copies them to another frame
    ");
    assert_eq!(dir.b2("append raw.b2frame o.b2frame").code, Some(2));
    assert_eq!(dir.read("o.b2frame"), fs::read(path("stores/objects.b2f")).unwrap());
    let run = dir.b2("convert o.b2frame o.blp").ok();
    assert!(run.stderr.contains("its objects of Python become one content"), "{}", run.stderr);
    dir.b2("convert -q o.b2frame copy.b2frame").ok();
    assert_eq!(dir.b2("show copy.b2frame").ok().stdout, dir.b2("show o.b2frame").ok().stdout);
    assert!(dir.b2("info o.b2frame").ok().text().contains("  content     objects\n"));
}

#[test]
fn recipes_are_named_by_every_command() {
    let dir = Dir::new();
    let lazy = path("stores/lazy/expr.b2nd");
    let name = lazy.display();
    dir.b2(&format!("convert -q {name} copy.b2nd")).ok();
    for line in [
        "show copy.b2nd",
        "cat copy.b2nd",
        "d copy.b2nd -o x",
        "append copy.b2nd copy2",
        "convert copy.b2nd x.npy",
    ] {
        fs::copy(dir.path("copy.b2nd"), dir.path("copy2")).unwrap();
        let run = dir.b2(line);
        assert_eq!(run.code, Some(2), "{line}: {}", run.stderr);
        assert!(run.stderr.contains("a lazy expression, which is not resolved"), "{}", run.stderr);
    }
    let info = dir.b2("info copy.b2nd").ok();
    assert!(
        info.text().contains("content     a lazy expression, which is not resolved"),
        "{}",
        info.text()
    );
}

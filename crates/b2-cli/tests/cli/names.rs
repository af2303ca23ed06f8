//! Names on the command line: which are inputs, which is the output, what its name says.

use crate::session::{Dir, snapshot, walk};

/// Three `.npy` files of ten bytes each.
fn arrays(names: &[&str]) -> Dir {
    let dir = Dir::new();
    for (name, byte) in names.iter().zip(1u8..) {
        let mut npy = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        npy.extend(b"{'descr': '|u1', 'fortran_order': False, 'shape': (10,), }");
        npy.resize(127, b' ');
        npy.push(b'\n');
        npy.extend([byte; 10]);
        dir.write(name, npy);
    }
    dir
}

#[test]
fn with_format_every_name_is_an_input() {
    let dir = arrays(&["a.npy", "b.npy"]);
    dir.b2("convert --format b2nd a.npy b.npy").ok();
    assert_eq!(dir.names(), ["a.npy", "a.npy.b2nd", "b.npy", "b.npy.b2nd"]);
    assert_eq!(dir.b2("cat b.npy.b2nd").ok().stdout, [2; 10]);
    snapshot!(dir.b2("convert --format b2nd a.npy c.b2nd"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: c.b2nd: with --format every name is an input, and c.b2nd is not there
    hint: use -o to name the output
    ");
}

#[test]
fn last_name_is_no_output_if_it_may_be_an_input() {
    let dir = arrays(&["a.npy", "b.npy"]);
    let before = dir.read("b.npy");
    snapshot!(dir.b2("convert a.npy b.npy"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: b.npy: is there already and holds data of the same kind: another input?
    hint: use -f -o NAME to overwrite it, or --format to convert several inputs
    ");
    assert_eq!(dir.b2("convert -f a.npy b.npy").code, Some(2));
    dir.write("x", walk(100)).b2("c -q x").ok();
    std::fs::copy(dir.path("x.b2frame"), dir.path("y.b2frame")).unwrap();
    assert_eq!(dir.b2("convert -f x.b2frame y.b2frame").code, Some(2));
    assert_eq!(dir.read("b.npy"), before);
    dir.b2("convert -f a.npy -o b.npy").ok();
    assert_eq!(dir.read("b.npy"), dir.read("a.npy"));
}

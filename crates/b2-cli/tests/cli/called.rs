//! Content with a misleading name, or with its own way to describe its kind.

use std::fs;

use b2frame::{FrameParams, SChunkWriter, nd::NdMeta};
use blosc_chunk::CParams;

use crate::session::{Dir, zip};

fn sample(dir: &Dir, name: &str, to: &str) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/called/");
    fs::copy(format!("{folder}{name}"), dir.path(to)).unwrap();
}

/// Every one of these opens under every suffix.
#[test]
fn a_name_is_no_format() {
    let dir = Dir::new();
    dir.write("a", (0..=99).collect::<Vec<u8>>())
        .b2("c -q --dtype u1 --shape 10,10 a -o a.b2nd")
        .ok();
    dir.write("t.csv", "id\n1\n2\n").b2("convert -q t.csv t.b2z").ok();
    for suffix in ["b2z", "b2e", "blp", "npy", "npz", "csv", "txt", "chunk"] {
        for (file, shown) in [("a.b2nd", "[[0 1"), ("t.b2z", "id")] {
            let name = format!("x.{suffix}");
            fs::copy(dir.path(file), dir.path(&name)).unwrap();
            let run = dir.b2(&format!("show {name}")).ok();
            let text = run.text().replace("  ", " ").replace("[[ 0", "[[0");
            assert!(text.trim_start().starts_with(shown), "{file} as {name}: {text}");
        }
    }
}

/// Archives that are not stores are named, and no hint leads in a circle.
#[test]
fn archives_that_are_no_store_are_named() {
    let dir = Dir::new();
    let plain = zip(&[("word/document.xml", b"<w:document/>")]);
    let zarr = zip(&[("temp/zarr.json", b"{}"), ("zarr.json", b"{}")]);
    for (name, content, said) in [
        ("a.docx", &plain, "a zip archive"),
        ("a.b2z", &plain, "a zip archive"),
        ("a.zip", &zarr, "zip"),
        ("p.pickle", &b"\x80\x04\x95\x03\0\0\0\0\0\0\0K\x01.".to_vec(), "a pickle of Python"),
        ("n.nc", &b"CDF\x01\0\0\0\0\0\0\0\0".to_vec(), "a NetCDF file"),
    ] {
        dir.write(name, content);
        for line in ["info", "show", "list --tree", "verify", "rescue -o new"] {
            let run = dir.b2(&format!("{line} {name}"));
            assert_eq!(run.code, Some(4), "{line} {name}: {}", run.stderr);
            assert!(run.stderr.contains(said), "{line} {name}: {}", run.stderr);
            assert!(!run.stderr.contains("b2 rescue"), "{line} {name}: {}", run.stderr);
        }
    }
    // A store without its marker is still a (damaged) store.
    dir.write("t.csv", "id\n1\n").b2("convert -q t.csv t.b2d").ok();
    dir.write("lost.b2z", zip(&[("_cols/id.b2nd", &dir.read("t.b2d/_cols/id.b2nd"))]));
    let run = dir.b2("info lost.b2z");
    assert!(run.stderr.contains("`b2 rescue lost.b2z -o NEW`"), "{}", run.stderr);
    dir.write("nothing.b2z", zip(&[("a.b2nd", b"nothing")]));
    let run = dir.b2("rescue nothing.b2z -o new");
    assert_eq!(run.code, Some(1));
    assert!(!run.stderr.contains("hint"), "{}", run.stderr);
}

/// Arrays of NumPy in an archive are a group of arrays.
#[test]
fn arrays_of_numpy_in_an_archive_are_read() {
    let dir = Dir::new();
    sample(&dir, "two-arrays.npz", "x.npz");
    sample(&dir, "packed-arrays.npz", "called.zip");
    for name in ["x.npz", "called.zip"] {
        assert_eq!(dir.b2(&format!("show {name}::/a")).ok().text(), "[[0 1 2]\n [3 4 5]]\n");
        assert!(dir.b2(&format!("list {name}")).ok().text().contains("::/a"), "{name}");
        dir.b2(&format!("convert -qf {name}::/a a.npy")).ok();
        assert_eq!(dir.b2("show a.npy").ok().text(), "[[0 1 2]\n [3 4 5]]\n");
    }
    assert_eq!(dir.b2("show x.npz::/b").ok().text(), "[1. 1.]\n");
    assert!(dir.b2("info x.npz").ok().text().contains("npz"));
    for line in ["seal x.npz::/b", "extract x.npz::/b -o b.b2nd"] {
        let run = dir.b2(line);
        assert_eq!(run.code, Some(4), "{line}");
        assert!(run.stderr.contains("which this command does not read"), "{}", run.stderr);
    }
    let sound = dir.b2("verify x.npz").ok().text().to_owned();
    assert!(sound.contains("crc32"), "{sound}");
    // A flipped bit of an item: only the checksum of the archive notices it.
    let mut damaged = dir.read("x.npz");
    let item = damaged.windows(8).position(|bytes| bytes == 1_f64.to_le_bytes()).unwrap();
    damaged[item] ^= 1;
    dir.write("x.npz", damaged);
    for line in ["verify x.npz", "verify x.npz::/b", "sum x.npz::/b", "convert x.npz::/b b.b2nd"] {
        let run = dir.b2(line);
        assert_eq!(run.code, Some(1), "{line}");
        // `rescue` does not read such archives.
        assert!(!run.all().contains("b2 rescue"), "{line}: {}", run.stderr);
    }
    assert!(!dir.path("b.b2nd").exists());
    let mut damaged = dir.read("called.zip");
    damaged[60] ^= 0x10;
    dir.write("called.zip", damaged);
    assert_eq!(dir.b2("show called.zip::/a").code, Some(1));
}

/// A file in an archive that is compressed by another method, or is no array, hides no array.
#[test]
fn files_in_an_archive_that_are_not_read_are_named() {
    let dir = Dir::new();
    dir.write("n", (0..6_u8).collect::<Vec<u8>>()).b2("c -q --dtype u1 --shape 6 n -o n.b2nd").ok();
    let array = dir.b2("convert -q n.b2nd n.npy").ok();
    assert!(array.stderr.is_empty());
    let array = dir.read("n.npy");
    let mut archive = zip(&[("a.npy", &array), ("b.npy", &array), ("c/notes.txt", b"notes")]);
    let names = archive.windows(5).enumerate().filter(|(_, name)| *name == b"b.npy");
    let names: Vec<usize> = names.map(|(at, _)| at).collect();
    // The method in the header before the data, and in the directory.
    for method in [names[0] - 22, names[1] - 36] {
        archive[method] = 12;
    }
    dir.write("x.npz", &archive);
    for line in ["info x.npz", "list x.npz", "list --tree x.npz", "sum x.npz", "verify x.npz"] {
        let run = dir.b2(line);
        assert_eq!(run.code, Some(4), "{line}: {}", run.all());
        assert!(run.stderr.contains("x.npz::/b: ") && run.stderr.contains("12"), "{}", run.all());
        let is_listing = line.starts_with("info") || line.starts_with("list");
        let is_named = run.all().contains("notes.txt") && run.all().contains("is no array");
        assert_eq!(is_named, is_listing, "{line}: {}", run.all());
    }
    assert_eq!(dir.b2("convert --strict x.npz x.b2z").code, Some(4));
    let run = dir.b2("convert x.npz x.b2z");
    assert_eq!(run.code, Some(4), "{}", run.all());
    assert!(
        run.stderr.contains("left out: /c/notes.txt, a file that is no array"),
        "{}",
        run.all()
    );
    assert_eq!(dir.b2("diff x.b2z::/a n.npy").ok().text(), "equal: 6 items\n");
    let run = dir.b2("rescue x.npz -o y.npz");
    // The archive calls the bytes compressed, and they are an array.
    assert!(run.all().contains("doubtful: b.npy: ") && run.code == Some(1), "{}", run.all());
    assert_eq!(dir.b2("diff y.npz::/a n.npy").ok().text(), "equal: 6 items\n");
}

/// Frames of `pack_tensor`, `save_tensor` and `save_array` of python-blosc2.
#[test]
fn tensors_of_python_are_arrays() {
    let dir = Dir::new();
    for (name, shape, shown) in [
        ("saved-array.b2frame", "20 x 30", "0.14285715"),
        ("packed-tensor.b2frame", "3 x 4", "0.14285715"),
        ("saved-struct.b2frame", "2", "(1, 2.5)"),
    ] {
        sample(&dir, name, name);
        let run = dir.b2(&format!("show {name}")).ok();
        assert!(run.text().contains(shown), "{name}: {}", run.text());
        dir.b2(&format!("convert -qf {name} x.npy")).ok();
        assert_eq!(dir.b2("show x.npy").ok().text(), run.text(), "{name} {shape}");
        dir.b2(&format!("convert -qf {name} x.b2nd")).ok();
        assert_eq!(dir.b2("show x.b2nd").ok().text(), run.text(), "{name}");
        // python-blosc2 still reads the frame as a tensor.
        dir.b2(&format!("recompress -q -C lz4 {name}")).ok();
        assert!(dir.b2(&format!("info -v {name}")).ok().text().contains("__pack_tensor__"));
    }
}

/// A void type says nothing: C programs that name no type leave `|u1` for items of four bytes.
#[test]
fn a_type_may_be_given_where_the_items_have_none() {
    let dir = Dir::new();
    for (layer, name) in [("b2nd", "c.b2nd"), ("caterva", "caterva.b2nd")] {
        let meta = NdMeta::new(&[3, 4], &[3, 4], &[3, 4], "|u1").unwrap().encode();
        // Caterva's metalayer lacks the last two fields, and its first byte says so.
        let meta = match layer {
            "b2nd" => meta,
            _ => [&[0x95][..], &meta[1..meta.len() - 9]].concat(),
        };
        let params = FrameParams::new(CParams::default().typesize(4)).chunksize(48);
        let mut writer =
            SChunkWriter::create(dir.path(name), &params.metalayer(layer, meta)).unwrap();
        let items: Vec<u8> = (0..12_u8).flat_map(|n| f32::from(n).to_le_bytes()).collect();
        writer.append(&items).unwrap();
        writer.commit().unwrap();
        for to in ["x.npy", "x.b2nd", "x.csv"] {
            dir.b2(&format!("convert -qf {name} -o {to} --dtype f4")).ok();
            let text = dir.b2(&format!("show {to}")).ok().text().to_owned();
            assert!(text.contains("11."), "{name} to {to}: {text}");
        }
        // A type of another size does not fit these items.
        assert_eq!(dir.b2(&format!("convert -f {name} -o x.npy --dtype f8")).code, Some(2));
    }
}

//! An array for each codec, filter, item type and spelling of metadata of other programs. Each
//! holds the values of the samples' generator.

use std::path::PathBuf;
use std::process::Command;

fn sample(name: &str) -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(name).display().to_string()
}

/// The exit code, and the two outputs.
fn b2(args: &[&str]) -> (i32, Vec<u8>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_b2")).args(args).output().unwrap();
    let messages = String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), output.stdout, messages)
}

/// The numbers 0 to 23 as a type.
fn grid<const SIZE: usize>(item: fn(i32) -> [u8; SIZE]) -> Vec<u8> {
    (0..24).flat_map(item).collect()
}

fn single(n: i32) -> [u8; 4] {
    (n as f32).to_le_bytes()
}

fn double(n: i32) -> [u8; 8] {
    f64::from(n).to_le_bytes()
}

/// Texts as NumPy has them, with room for 3 characters.
fn words() -> Vec<u8> {
    let word = |text: &str| {
        let mut item = [0; 12];
        for (c, dest) in text.chars().zip(item.chunks_exact_mut(4)) {
            dest.copy_from_slice(&u32::from(c).to_le_bytes());
        }
        item
    };
    ["a", "bcd", "", "\u{e9}t\u{e9}"].into_iter().flat_map(word).collect()
}

const BYTES: &[u8] = b"a\0\0\0bcd\0\0\0\0\0xyzw";
const DAY: i64 = 86_400_000_000_000;

fn days() -> Vec<u8> {
    [18_262 * DAY, 18_263 * DAY, i64::MIN, -DAY].into_iter().flat_map(i64::to_le_bytes).collect()
}

/// Records of a number, a float and 3 bytes.
fn pairs(float: fn(f64) -> [u8; 8]) -> Vec<u8> {
    let record = |(a, b, c): (i32, f64, &[u8; 3])| [&a.to_le_bytes()[..], &float(b), c].concat();
    let rows = [(1, 2.5, b"ab\0"), (2, -0.5, b"\0\0\0"), (3, 1e9, b"abc"), (4, 0.0, b"x\0\0")];
    rows.into_iter().flat_map(record).collect()
}

/// A name, the type, the items.
type Row = (&'static str, &'static str, Vec<u8>);

fn check(file: &str, rows: &[Row]) {
    for (name, dtype, items) in rows {
        let array = format!("{}::/{name}", sample(file));
        let (code, found, messages) = b2(&["cat", &array]);
        assert_eq!((code, messages.as_str()), (0, ""), "{array}");
        assert!(found == *items, "{array}: {found:?}");
        let (_, info, _) = b2(&["info", "--json", &array]);
        let info = String::from_utf8(info).unwrap();
        assert!(info.contains(&format!("\"dtype\":\"{dtype}\"")), "{array}: {info}");
        // A part can be read as well.
        let (code, part, messages) = b2(&["cat", "--slice=3:", &array]);
        let last = items.len() / 4;
        assert_eq!(code, 0, "{array}: {messages}");
        assert!(part == items[items.len() - last..], "{array}: {part:?}");
    }
    let (code, listed, messages) = b2(&["list", &sample(file)]);
    assert_eq!((code, messages.as_str()), (0, ""), "{file}");
    let listed = String::from_utf8(listed).unwrap();
    for (name, ..) in rows {
        assert!(listed.contains(&format!("{name}\n")), "{name}: {listed}");
    }
}

#[test]
fn arrays_of_version_2_of_zarr() {
    let ints = || grid(i32::to_le_bytes);
    let bytes: Vec<u8> = (0..24).collect();
    check(
        "kinds2.zarr",
        &[
            ("delta", "<i4", ints()),
            ("delta_float", "<f4", grid(single)),
            ("scale", "<f8", grid(double)),
            ("quantize", "<f8", grid(double)),
            ("bitround", "<f4", grid(single)),
            ("astype", "<i4", ints()),
            ("packbits", "|b1", bytes.iter().map(|n| u8::from(n % 2 == 0)).collect()),
            ("shuffle", "<i4", ints()),
            ("fletcher", "<i4", ints()),
            ("two_filters", "<i4", ints()),
            ("fortran", "<i4", ints()),
            ("zstd", "<i4", ints()),
            ("gzip", "<i4", ints()),
            ("imagecodecs_blosc", "<i4", ints()),
            ("imagecodecs_blosc2", "<i4", ints()),
            ("big", "<i4", ints()),
            ("fill_text", "|u1", bytes.clone()),
            ("fill_float", "|u1", bytes),
            ("lengths", "<i4", ints()),
            ("days", "<M8[ns]", days()),
            ("bytes", "|S4", BYTES.to_vec()),
            ("words", "<U3", words()),
            ("pairs", "[('a', '<i4'), ('b', '>f8'), ('c', '|S3')]", pairs(f64::to_be_bytes)),
            ("text", "<U3", words()),
        ],
    );
}

#[test]
fn arrays_of_version_3_of_zarr() {
    let ints = || grid(i32::to_le_bytes);
    check(
        "kinds3.zarr",
        &[
            ("numcodecs_blosc", "<i4", ints()),
            ("numcodecs_zstd", "<i4", ints()),
            ("numcodecs_zlib", "<i4", ints()),
            ("zstd", "<i4", ints()),
            ("delta", "<i4", ints()),
            ("scale", "<f8", grid(double)),
            ("bitround", "<f4", grid(single)),
            ("sharded", "<i4", ints()),
            ("fill_text", "<i4", ints()),
            ("days", "<M8[ns]", days()),
            ("bytes", "|S4", BYTES.to_vec()),
            ("words", "<U3", words()),
            ("pairs", "[('a', '<i4'), ('b', '<f8'), ('c', '|S3')]", pairs(f64::to_le_bytes)),
            ("text", "<U3", words()),
        ],
    );
}

#[test]
fn archives_of_zarr() {
    let ints = || grid(i32::to_le_bytes);
    let rows: Vec<Row> = ["numcodecs_blosc", "numcodecs_zstd", "numcodecs_zlib"]
        .map(|name| (name, "<i4", ints()))
        .into();
    check("kinds3.zarr.zip", &rows);
    // A folder in an archive with deflated members.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("deep.zip");
    std::fs::write(&path, archive()).unwrap();
    let (code, found, messages) = b2(&["cat", &format!("{}::/a", path.display())]);
    assert_eq!((code, messages.as_str()), (0, ""));
    assert_eq!(found, [7, 8]);
}

/// An archive of `x.zarr/.zgroup`, `x.zarr/a/.zarray` twice, of which the last counts, and
/// `x.zarr/a/0`, deflated.
fn archive() -> Vec<u8> {
    let array = |len| {
        format!(
            "{{\"zarr_format\": 2, \"shape\": [{len}], \"chunks\": [2], \"dtype\": \"|u1\", \
             \"fill_value\": 0, \"order\": \"C\", \"filters\": null, \"compressor\": null}}"
        )
    };
    let mut writer = rawzip::ZipArchiveWriter::new(Vec::new());
    for (name, bytes) in [
        ("x.zarr/.zgroup", b"{\"zarr_format\": 2}".to_vec()),
        ("x.zarr/a/.zarray", array(9).into_bytes()),
        ("x.zarr/a/.zarray", array(2).into_bytes()),
        ("x.zarr/a/0", vec![7, 8]),
    ] {
        let file = writer.new_file(name).compression_method(rawzip::CompressionMethod::DEFLATE);
        let (mut entry, config) = file.start().unwrap();
        let packed = flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::default());
        let mut data = config.wrap(packed);
        std::io::Write::write_all(&mut data, &bytes).unwrap();
        let (packed, descriptor) = data.finish().unwrap();
        packed.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    writer.finish().unwrap()
}

#[test]
fn attributes_with_numbers_that_json_lacks_are_text() {
    for (name, expected) in [
        ("kinds2.zarr", "\"limits\":[\"-Infinity\",\"Infinity\"]"),
        ("kinds2.zarr::/big", "\"missing\":\"NaN\""),
        ("kinds3.zarr", "\"missing\":\"NaN\""),
    ] {
        let (code, info, messages) = b2(&["info", "--json", &sample(name)]);
        let info = String::from_utf8(info).unwrap();
        assert_eq!((code, messages.as_str()), (0, ""), "{name}");
        assert!(info.contains(expected), "{name}: {info}");
    }
}

#[test]
fn data_sets_with_filters_and_text() {
    let ints = || grid(i32::to_le_bytes);
    let mut rows: Vec<Row> =
        ["lzf", "zstd", "lz4", "bitshuffle", "bitshuffle_lz4", "bitshuffle_zstd"]
            .map(|name| (name, "<i4", ints()))
            .into();
    rows.push(("text", "<U3", words()));
    rows.push(("bytes", "|S4", BYTES.to_vec()));
    check("kinds.h5", &rows);
    let (_, scalar, _) = b2(&["show", &format!("{}::/scalar_text", sample("kinds.h5"))]);
    assert_eq!(String::from_utf8(scalar).unwrap(), "'one'\n");
    let long = |name: &str| b2(&["cat", &format!("{}::/long/{name}", sample("kinds.h5"))]);
    let (_, plain, _) = long("plain");
    assert_eq!(plain.len(), 2203 * 4);
    for name in ["none", "lz4", "zstd", "lzf", "lz4_blocks", "zstd_alone"] {
        let (code, found, messages) = long(name);
        assert_eq!((code, messages.as_str()), (0, ""), "{name}");
        assert!(found == plain, "{name}");
    }
}

#[test]
fn times_of_pytables_are_seconds() {
    let (code, shown, messages) = b2(&["show", "--csv", &format!("{}::/rows", sample("times.h5"))]);
    assert_eq!((code, messages.as_str()), (0, ""));
    let expected = "id,at,day\n0,1500000000.25,1500000000\n1,0.0,1500000001\n\
                    2,-3.75,1500000002\n3,1.5,1500000003\n";
    assert_eq!(String::from_utf8(shown).unwrap(), expected);
}

/// Needs `strace`, which a machine may lack.
#[test]
fn a_file_that_the_system_does_not_read_is_no_damage() {
    let dir = tempfile::tempdir().unwrap();
    for (root, array, file) in
        [("v3.zarr", "flat", "flat/c/0/0"), ("v3.zarr", "flat", "flat/zarr.json")]
    {
        let (array, file) = (sample(&format!("{root}/{array}")), sample(&format!("{root}/{file}")));
        for command in ["verify", "cat", "sum", "stats"] {
            let mut strace = Command::new("strace");
            strace.args(["-f", "-qq", "-o"]).arg(dir.path().join("trace"));
            strace.args(["-e", "inject=openat:error=EIO", "-P", &file]);
            let run = strace.args([env!("CARGO_BIN_EXE_b2"), command, &array]).output();
            let Ok(run) = run else { return };
            let trace = std::fs::read_to_string(dir.path().join("trace")).unwrap();
            if !trace.contains("INJECTED") {
                return;
            }
            let said = String::from_utf8_lossy(&run.stderr);
            assert_eq!(run.status.code(), Some(3), "{command} without {file}: {said}");
            assert!(!said.contains("rescue"), "{command} without {file}: {said}");
        }
    }
}

/// A chunk that is left out would have the fill value.
#[test]
fn members_of_archives_that_are_not_read_are_no_missing_chunks() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.zarr.zip");
    let original = archive();
    let name = b"x.zarr/a/0";
    let entries = original.windows(name.len()).enumerate().filter(|(_, it)| *it == name);
    let entry = entries.map(|(at, _)| at).next_back().unwrap() - 46;
    // The method, the flags and the sum in the directory.
    for (field, byte, code, why) in [
        (10, 12, 4, "member a/0, which is compressed by"),
        (8, original[entry + 8] | 1, 4, "member a/0, which is encrypted"),
        (16, !original[entry + 16], 1, "member a/0: another checksum"),
    ] {
        let mut changed = original.clone();
        changed[entry + field] = byte;
        std::fs::write(&path, changed).unwrap();
        for command in ["cat", "verify"] {
            let (found, output, messages) = b2(&[command, &format!("{}::/a", path.display())]);
            assert_eq!(found, code, "{command} {field}: {messages}");
            assert!(messages.contains(why), "{command} {field}: {messages}");
            assert!(command == "verify" || output.is_empty(), "{output:?}");
        }
    }
}

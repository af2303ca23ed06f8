//! Checksums of chunks of HDF5 and Zarr: `verify` compares and counts them.

use std::path::{Path, PathBuf};
use std::process::Command;

fn sample(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(name)
}

/// The exit code, and both outputs.
fn b2(args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_b2")).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn checksums_are_counted() {
    for (array, verdict) in [
        ("sums.h5::/plain", "no checksums stored"),
        ("sums.h5::/summed", "fletcher32 of 4 chunks checked"),
        ("sums.h5::/packed", "fletcher32 of 4 chunks checked"),
        ("sums.h5::/part", "fletcher32 of 2 of 4 chunks checked"),
        ("sums_latest.h5::/summed", "fletcher32 of 4 chunks checked"),
        ("sums_latest.h5::/packed", "fletcher32 of 4 chunks checked"),
        ("sums3.zarr::/plain", "no checksums stored"),
        ("sums3.zarr::/summed", "crc32c of 4 chunks checked"),
        ("sums3.zarr::/shards", "crc32c of 1 chunk checked"),
        ("sums3.zarr::/part", "crc32c of 2 of 4 chunks checked"),
        ("sums3.zarr::/text", "crc32c of 2 chunks checked"),
        ("kinds2.zarr::/fletcher", "fletcher32 of"),
    ] {
        let (code, output, messages) = b2(&["verify", sample(array).to_str().unwrap()]);
        assert!(code == 0 && output.contains(verdict), "{array}: {output} {messages}");
    }
}

/// A copy of a sample in which one byte of a file is another one.
fn damaged(dir: &Path, from: &str, change: &str, at: usize) -> PathBuf {
    let path = dir.join(change.split('/').next().unwrap());
    match sample(from).is_dir() {
        true => copy_folder(&sample(from), &path),
        false => drop(std::fs::copy(sample(from), &path).unwrap()),
    }
    let file = dir.join(change);
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[at] ^= 0x40;
    std::fs::write(file, bytes).unwrap();
    path
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

/// The position of the last bytes like these in a file.
fn position(file: &str, bytes: &[u8]) -> usize {
    let all = std::fs::read(sample(file)).unwrap();
    all.windows(bytes.len()).rposition(|found| found == bytes).unwrap()
}

#[test]
fn a_wrong_checksum_is_damage_at_the_place_of_the_chunk() {
    let dir = tempfile::tempdir().unwrap();
    // The third chunk, with the numbers 12 to 14 and 18 to 20 followed by their checksum.
    let third: Vec<u8> = [12, 13, 14, 18, 19, 20].into_iter().flat_map(i32::to_le_bytes).collect();
    for file in ["sums.h5", "sums_latest.h5"] {
        let at = sum_position(file, &third);
        let path = damaged(dir.path(), file, file, at);
        let array = format!("{}::/summed", path.display());
        check(&array, "chunk 2, from item [2, 0] on: ");
        let (code, ..) = b2(&["verify", &format!("{}::/plain", path.display())]);
        assert_eq!(code, 0, "{file}");
    }
    for (array, file, place) in [
        ("summed", "c/1/0", "chunk 2, summed/c/1/0: "),
        ("shards", "c/0/0", "chunk 0, shards/c/0/0: "),
    ] {
        let root = format!("{array}.zarr");
        let path = damaged(dir.path(), "sums3.zarr", &format!("{root}/{array}/{file}"), 3);
        check(&format!("{}::/{array}", path.display()), place);
    }
}

/// The position of the checksum after the items of a chunk.
fn sum_position(file: &str, items: &[u8]) -> usize {
    let sum = fletcher32(items).to_le_bytes();
    position(file, &[items, &sum].concat()) + items.len()
}

/// The checksum of HDF5: of words whose first byte is the higher one.
fn fletcher32(items: &[u8]) -> u32 {
    let (mut low, mut high) = (0_u32, 0_u32);
    for word in items.chunks_exact(2) {
        low = (low + u32::from(u16::from_be_bytes([word[0], word[1]]))) % 65_535;
        high = (high + low) % 65_535;
    }
    (high << 16) | low
}

fn check(array: &str, place: &str) {
    let (code, output, messages) = b2(&["verify", array]);
    assert_eq!(code, 1, "{array}: {output} {messages}");
    assert!(output.contains("DAMAGED: ") && output.contains("1 bad"), "{array}: {output}");
    assert!(messages.contains(place), "{array}: {messages}");
    assert_eq!(messages.matches("chunk ").count(), 1, "{messages}");
    let (_, json, _) = b2(&["verify", "--json", array]);
    assert!(json.contains("\"bad\":[{\"chunk\":"), "{json}");
}

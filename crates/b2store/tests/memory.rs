//! The memory for writing a table does not grow with its rows. The test is a process of its own,
//! because the system reports the peak memory of a whole process.
#![cfg(target_os = "linux")]

use b2store::{ColumnKind, ColumnValues, NewColumn, StoreWriter, Value, Values};

/// The peak memory of this process (bytes).
fn peak_nbytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib << 10
}

/// Incompressible bytes.
fn noise(state: &mut u64, count: usize) -> Vec<u8> {
    let next = |_| {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        state.to_le_bytes()
    };
    (0..count.div_ceil(8)).flat_map(next).take(count).collect()
}

#[test]
fn memory_does_not_grow_with_the_rows() {
    let dir = tempfile::tempdir().unwrap();
    let (path, mut state) = (dir.path().join("t.b2z"), 7);
    let mut writer = StoreWriter::create(&path).unwrap();
    let new = |name: &str, kind| NewColumn::new(name, kind);
    let shape = ColumnKind::NdArray { item_shape: vec![32] };
    let columns = [
        new("n", ColumnKind::Fixed("i8")),
        new("a", shape),
        new("u", ColumnKind::Utf8),
        new("b", ColumnKind::VlBytes),
        new("d", ColumnKind::Dictionary { null_code: -1 }),
    ];
    let rows = 4096;
    let mut table = writer.create_table("/", &columns).unwrap();
    let (mut before, mut nbytes) = (0, 0_u64);
    for batch in 0..64 {
        let numbers = noise(&mut state, 8 * rows);
        let arrays = Values::Fixed {
            dtype: "<f4".parse().unwrap(),
            item_shape: vec![32],
            bytes: noise(&mut state, 128 * rows),
        };
        let texts: Vec<String> = numbers.chunks(4).map(|part| format!("{part:x?}")).collect();
        let blobs = (0..rows).map(|_| Value::Bytes(noise(&mut state, 300)));
        let values = [
            ColumnValues::fixed("<i8".parse().unwrap(), numbers.clone()),
            ColumnValues::new(arrays),
            ColumnValues::text(texts.iter().take(rows).map(String::as_str)),
            ColumnValues::objects(blobs),
            ColumnValues::text(
                numbers.iter().take(rows).map(|n| if *n < 99 { "few" } else { "many" }),
            ),
        ];
        table.append(&values).unwrap();
        nbytes += (8 + 128 + 300) * rows as u64;
        if batch == 7 {
            before = peak_nbytes();
        }
    }
    table.finish().unwrap();
    let store = writer.commit().unwrap();
    let stored = std::fs::metadata(&path).unwrap().len();
    // The rows exist, and did not compress.
    assert_eq!(store.table("/").unwrap().len().unwrap(), 64 * rows as u64);
    assert!(nbytes > 100 << 20 && stored > nbytes, "{nbytes} {stored}");
    let grown = peak_nbytes() - before;
    assert!(grown < 24 << 20, "{grown} bytes more for {stored}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

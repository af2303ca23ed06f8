//! One file of each kind, and runs of the program.

use core::fmt;
use std::path::Path;
use std::process::Command;

use b2frame::{FrameParams, NdParams, NdWriter, SChunkWriter, to_cframe};
use b2store::{ColumnKind, ColumnValues, NewColumn, StoreWriter};
use bcolz_store::{CTableWriter, CreateOptions};

/// Command lines, each with a file below a root as its last word.
pub(crate) const COMMANDS: [&[&str]; 12] = [
    &["show", "--slice", "70,:3", "x.b2nd"],
    &["cat", "--slice", "70", "x.b2nd"],
    &["cat", "x.b2frame"],
    &["cat", "--bytes=100000:100010", "x.b2frame"],
    &["show", "--slice", "5:8", "x.sframe"],
    &["show", "x.bcolz"],
    &["show", "--where", "a > 99990", "x.bcolz"],
    &["show", "--where", "i > 99990", "x.b2z::/t"],
    &["show", "x.b2d::/t"],
    &["cat", "x.bcolz"],
    &["list", "--tree", "x.b2z"],
    &["show", "x.b2z::/t/i"],
];

/// Writes one file of each kind.
pub(crate) fn write(dir: &Path) {
    let numbers: Vec<u8> = (0..100_000_i64).flat_map(i64::to_le_bytes).collect();
    // Incompressible values keep files larger than their first request.
    let scatter = |n: i64| n.wrapping_mul(0x1e37_79b9_7f4a_7c15).to_le_bytes();
    let noise: Vec<u8> = (0..100_000_i64).flat_map(scatter).collect();
    let frame = to_cframe(&noise, &FrameParams::default().chunksize(100_000)).unwrap();
    std::fs::write(dir.join("x.b2frame"), frame).unwrap();
    let params = NdParams::new(&[100, 1000], "<i8".parse().unwrap()).chunkshape(&[10, 1000]);
    let mut writer = NdWriter::create(dir.join("x.b2nd"), &params).unwrap();
    writer.write_bytes(.., &noise).unwrap();
    writer.finish().unwrap();
    let params = FrameParams::default().chunksize(100_000);
    let mut sparse = SChunkWriter::create_sparse(dir.join("x.sframe"), &params).unwrap();
    sparse.append(&noise).unwrap();
    sparse.finish().unwrap();
    let new = || CreateOptions::new("<i8".parse().unwrap()).chunklen(Some(10_000));
    let columns = [("a", new()), ("b", new())];
    let mut table = CTableWriter::create(dir.join("x.bcolz"), &columns).unwrap();
    table.append(&[&numbers, &numbers]).unwrap();
    table.finish().unwrap();
    let values = ColumnValues::fixed("<i8".parse().unwrap(), numbers);
    for name in ["x.b2z", "x.b2d"] {
        let mut store = StoreWriter::create(dir.join(name)).unwrap();
        let column = NewColumn::new("i", ColumnKind::Fixed("i8"));
        store.insert_table("/t", &[column], core::slice::from_ref(&values)).unwrap();
        store.commit().unwrap();
    }
}

/// The outcome of a run.
pub(crate) struct Output {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, {} bytes, {}", self.code, self.stdout.len(), self.stderr)
    }
}

/// Runs the program with the last argument below `root`, and with only these variables in its
/// environment.
pub(crate) fn run(root: &str, args: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_b2"));
    command.env_clear().envs(variables.iter().copied());
    let (name, args) = args.split_last().unwrap();
    let output = command.args(args).arg(format!("{root}/{name}")).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    Output { code: output.status.code(), stdout: output.stdout, stderr }
}

/// Checks that every command gives the same for `remote` as for the folder.
pub(crate) fn compare(folder: &Path, remote: &str, variables: &[(&str, &str)]) {
    let folder = folder.to_str().unwrap();
    for args in COMMANDS {
        let (local, far) = (run(folder, args, &[]), run(remote, args, variables));
        assert_eq!((local.code, far.code), (Some(0), Some(0)), "{args:?}: {local:?} {far:?}");
        let named = String::from_utf8_lossy(&local.stdout).replace(folder, remote);
        let is_equal = local.stdout == far.stdout || named.as_bytes() == far.stdout;
        assert!(is_equal && !far.stdout.is_empty(), "{args:?}: {local:?} {far:?}");
    }
    for name in ["x.b2frame", "x.b2nd", "x.sframe", "x.bcolz", "x.b2z", "x.b2d"] {
        let info = run(remote, &["info", name], variables);
        assert_eq!(info.code, Some(0), "{info:?}");
        let text = String::from_utf8(info.stdout).unwrap();
        assert!(text.contains(&format!("{remote}/{name}")), "{text}");
        let list = run(remote, &["list", name], variables);
        assert_eq!(list.code, Some(0), "{list:?}");
    }
}

/// The bytes that a command with `-v` reports as transferred, and the rounds.
pub(crate) fn transferred(output: &Output) -> (u64, u64) {
    let line = output.stderr.lines().find(|line| line.contains(" requests in ")).unwrap();
    let numbers: Vec<u64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
    (numbers[0], numbers[2])
}

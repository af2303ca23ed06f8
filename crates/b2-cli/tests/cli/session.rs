//! A directory for runs of `b2`, and the results of a run.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use tempfile::TempDir;

/// A directory for one case.
pub(crate) struct Dir(TempDir);

impl Dir {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        fs::write(self.path(name), bytes).unwrap();
        self
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// The sorted names in the directory.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// A command line of `b2`, split at spaces, to run in the directory.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_b2"));
        command.args(line.split_whitespace()).current_dir(self.0.path());
        command.env_clear().env("TMPDIR", self.0.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs `b2` with a line of arguments.
    pub(crate) fn b2(&self, line: &str) -> Run {
        Run::of(self.command(line).output().unwrap())
    }

    /// Runs `b2` with bytes on its standard input.
    pub(crate) fn b2_with(&self, line: &str, input: &[u8]) -> Run {
        let mut child = self.command(line).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // A program that closes the pipe early is judged by its exit code.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        Run::of(output)
    }
}

/// A zip archive that stores these files uncompressed.
pub(crate) fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let number = |n: usize| u32::try_from(n).unwrap().to_le_bytes();
    let (mut bytes, mut directory) = (vec![], vec![]);
    for (name, data) in members {
        let [len, name_len] = [data.len(), name.len()].map(number);
        let sizes = [blosc_testdata::crc32(data).to_le_bytes(), len, len, name_len];
        // Version, flags, method and times.
        let common = [&[20, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], sizes.as_flattened()].concat();
        directory.extend([&b"PK\x01\x02\x14\x00"[..], &common, &[0; 10]].concat());
        directory.extend([&number(bytes.len()), name.as_bytes()].concat());
        bytes.extend([&b"PK\x03\x04"[..], &common, name.as_bytes(), data].concat());
    }
    let count = u16::try_from(members.len()).unwrap().to_le_bytes();
    let places = [directory.len(), bytes.len()].map(number);
    let end = [&b"PK\x05\x06\0\0\0\0"[..], &count, &count, places.as_flattened(), &[0, 0]];
    [bytes, directory, end.concat()].concat()
}

/// The results of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn of(output: Output) -> Self {
        let stderr = String::from_utf8(output.stderr).unwrap();
        Self { code: output.status.code(), stdout: output.stdout, stderr }
    }

    /// Asserts success without warnings.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self
    }

    /// Standard output as text.
    pub(crate) fn text(&self) -> &str {
        core::str::from_utf8(&self.stdout).unwrap()
    }

    /// All three results in one text, for snapshots.
    pub(crate) fn all(&self) -> String {
        let code = self.code.map_or("signal".to_owned(), |code| code.to_string());
        format!("exit {code}\n--- stdout\n{}--- stderr\n{}", self.text(), self.stderr)
    }
}

/// Compares a run with the text beside the test.
macro_rules! snapshot {
    ($run:expr, @$expected:literal) => {
        insta::assert_snapshot!($run.all(), @$expected)
    };
}
pub(crate) use snapshot;

/// Items in small steps, like measurements: they compress, and all differ.
pub(crate) fn walk(nitems: usize) -> Vec<u8> {
    let mut random = blosc_testdata::data::XorShift32::new(11);
    let mut value = 1 << 20;
    let mut step = || {
        value = value + (random.next_u32() >> 27) - 16;
        value
    };
    (0..nitems).flat_map(|_| step().to_le_bytes()).collect()
}

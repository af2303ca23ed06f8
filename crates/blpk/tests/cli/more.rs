//! Functions that Bloscpack 0.16.0 lacks or that are wrong in it.

use std::{
    fs,
    io::Write,
    process::{Command, Stdio},
};

use tempfile::TempDir;

/// A folder with `data`: 100,000 bytes in items of 8.
struct Dir(TempDir);

struct Run {
    code: Option<i32>,
    stdout: Vec<u8>,
    stderr: String,
}

impl Dir {
    fn new() -> Self {
        let dir = Self(tempfile::tempdir().unwrap());
        dir.write("data", &data());
        dir
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.0.path().join(name), bytes).unwrap();
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.0.path().join(name)).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> =
            names.map(|name| name.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn run(&self, line: &str) -> Run {
        self.run_with(line, b"")
    }

    fn run_with(&self, line: &str, input: &[u8]) -> Run {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blpk"));
        command.args(line.split_whitespace()).current_dir(self.0.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        Run { code: output.status.code(), stdout: output.stdout, stderr }
    }

    #[track_caller]
    fn ok(&self, line: &str) -> Run {
        let run = self.run(line);
        assert_eq!(run.code, Some(0), "{line}: {} {}", run.text(), run.stderr);
        run
    }

    #[track_caller]
    fn fails(&self, line: &str, message: &str) {
        let run = self.run(line);
        assert_eq!(
            (run.code, run.text()),
            (Some(1), format!("blpk: error: {message}\n")),
            "{line}"
        );
    }
}

impl Run {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

fn data() -> Vec<u8> {
    (0..12_500_u64).flat_map(|n| (n * n).to_le_bytes()).collect()
}

#[test]
fn pipes_work_in_both_directions() {
    let dir = Dir::new();
    let packed = dir.run_with("c -z 30K -", &data());
    assert_eq!((packed.code, packed.stderr.as_str()), (Some(0), ""));
    let back = dir.run_with("d -", &packed.stdout);
    assert!(back.code == Some(0) && back.stdout == data());
    // Writing to a file in between gives the number of chunks.
    dir.run_with("c -z 30K - piped.blp", &data());
    assert!(dir.ok("i piped.blp").text().contains("blpk:     nchunks: 4\n"));
    assert_eq!(dir.ok("d piped.blp -").stdout, data());
    // Messages go to standard error then.
    let verbose = dir.ok("-v c data -");
    assert!(verbose.stderr.ends_with("blpk: done\n") && verbose.stdout.starts_with(b"blpk\x03"));
}

#[test]
fn closed_stdout_ends_quietly() {
    let dir = Dir::new();
    dir.write("large", &vec![7; 3_000_000]);
    for line in ["c -l 0 large -", "d large.blp -"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blpk"));
        command.args(line.split_whitespace()).current_dir(dir.0.path()).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{line}");
        dir.run("c -l 0 large");
    }
}

#[test]
fn parts_are_decompressed_alone() {
    let dir = Dir::new();
    dir.ok("c -z 3K data");
    assert_eq!(dir.ok("d --items 10:20 data.blp -").stdout, data()[80..160]);
    assert_eq!(dir.ok("d --items -2: data.blp -").stdout, data()[99_984..]);
    assert_eq!(dir.ok("d --bytes 2999:70001 data.blp -").stdout, data()[2999..70_001]);
    let refused = dir.run("d --items 1:2 - out");
    assert_eq!(refused.code, Some(2));
}

#[test]
fn verify_names_what_is_damaged() {
    let dir = Dir::new();
    dir.ok("c -z 30K data");
    assert_eq!(
        dir.ok("verify data.blp").text(),
        "blpk: 'data.blp': OK, 4 chunks, 97.66K (100000B)\n"
    );
    assert_eq!(dir.ok("e data.blp").text(), "blpk: uncompressed size: 97.66K (100000B)\n");
    let mut bytes = dir.read("data.blp");
    let at = bytes.len() - 10;
    bytes[at] ^= 1;
    dir.write("data.blp", &bytes);
    let run = dir.run("v data.blp");
    assert_eq!(run.code, Some(1));
    let text = run.text();
    assert!(text.contains("chunk 3 does not have the adler32 digest that is stored"), "{text}");
    assert!(text.ends_with("blpk: error: 'data.blp': 3 of 4 chunks are good\n"), "{text}");
    // A failed run leaves no output.
    assert_eq!(dir.run("d data.blp out").code, Some(1));
    assert_eq!(dir.names(), ["data", "data.blp"]);
}

#[test]
fn a_file_is_not_its_own_output() {
    let dir = Dir::new();
    dir.fails("-f c data data", "output file 'data' is the input file");
    dir.ok("c data");
    dir.fails("a data.blp data.blp", "new file 'data.blp' is original_file itself");
    assert_eq!(dir.read("data"), data());
}

#[test]
fn metadata_are_saved_to_a_file() {
    let dir = Dir::new();
    dir.write("in.json", br#"{"b": 1, "a": ["x"]}"#);
    dir.ok("c -m in.json data t.blp");
    let run = dir.ok("-q d -m out.json t.blp back");
    assert_eq!(
        (run.text().as_str(), dir.read("out.json")),
        ("", b"{\"b\":1,\"a\":[\"x\"]}\n".to_vec())
    );
    dir.fails("-f d -m in.json -e missing back", "input file 'missing' does not exist!");
}

#[test]
fn appending_needs_no_offsets_and_takes_pipes() {
    let dir = Dir::new();
    dir.write("one", b"one");
    dir.ok("c -o -z 3K data t.blp");
    assert_eq!(dir.run_with("a t.blp -", b"more").code, Some(0));
    assert_eq!(dir.ok("d t.blp -").stdout, [data(), b"more".to_vec()].concat());
    // A failed append changes nothing.
    dir.ok("c --max-app-chunks 0 one");
    let before = dir.read("one.blp");
    dir.fails("a one.blp data", "33334 chunks to append, there is room for 0");
    assert_eq!(dir.read("one.blp"), before);
    dir.write("m.json", b"1");
    dir.fails("a -m m.json t.blp one", "the file has no metadata section");
    assert_eq!(dir.ok("e t.blp").text(), "blpk: uncompressed size: 97.66K (100004B)\n");
}

#[test]
fn program_options_may_follow_the_verb() {
    let dir = Dir::new();
    dir.ok("c -v data -n 1");
    assert_eq!(dir.run("c data").code, Some(1));
    dir.ok("c data --force");
    assert!(dir.ok("--version").text().starts_with("bloscpack: '"));
    assert!(dir.ok("c --help").text().contains("--chunk-size"));
}

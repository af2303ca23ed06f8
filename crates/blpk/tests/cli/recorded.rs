//! Compares `blpk` with the output of Bloscpack 0.16.0, option by option:
//! `conformance/samples/bloscpack/blpk.json`, recorded by `xtask/python/record_blpk.py`. [`expected`] and
//! `docs/blpk.md` list the deliberate differences.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Output, Stdio},
};

use serde::Deserialize;
use tempfile::TempDir;

#[derive(Deserialize)]
struct Recording {
    cases: Vec<Vec<Step>>,
    /// Small input files, in hexadecimal digits.
    files: BTreeMap<String, String>,
}

/// One command line, and the result of Bloscpack 0.16.0.
#[derive(Debug, Deserialize)]
struct Step {
    args: String,
    exit: i32,
    stdout: String,
    #[serde(default)]
    stderr_last: String,
    #[serde(default)]
    trace: bool,
}

#[test]
fn output_is_that_of_bloscpack_0_16() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/samples/bloscpack");
    let recording: Recording =
        serde_json::from_slice(&fs::read(samples.join("blpk.json")).unwrap()).unwrap();
    let mut differences = vec![];
    for case in &recording.cases {
        let folder = prepare(&recording, case, &samples);
        let before =
            case.iter().map(|step| step.args.as_str()).collect::<Vec<_>>().join(" && blpk ");
        for step in case {
            let output = blpk(&folder).args(step.args.split_whitespace()).output().unwrap();
            differences
                .extend(difference(step, &output).map(|text| format!("blpk {before}\n{text}")));
        }
    }
    assert!(recording.cases.len() > 100);
    assert!(
        differences.is_empty(),
        "{} differences\n\n{}",
        differences.len(),
        differences.join("\n\n")
    );
}

fn prepare(recording: &Recording, case: &[Step], samples: &Path) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, digits) in &recording.files {
        let byte = |i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap();
        fs::write(
            folder.path().join(name),
            (0..digits.len()).step_by(2).map(byte).collect::<Vec<_>>(),
        )
        .unwrap();
    }
    let low = |n: usize| n.to_le_bytes()[0];
    let ten: Vec<u8> = (0..10_000).map(|i| low(i * 7919 / 8)).collect();
    let seven: Vec<u8> = (0..7000).map(|i| low(i * 31)).collect();
    fs::write(folder.path().join("ten.dat"), ten).unwrap();
    fs::write(folder.path().join("seven.dat"), seven).unwrap();
    for word in case.iter().flat_map(|step| step.args.split_whitespace()) {
        if samples.join(word).is_file() {
            fs::create_dir_all(folder.path().join(word).parent().unwrap()).unwrap();
            fs::copy(samples.join(word), folder.path().join(word)).unwrap();
        }
    }
    folder
}

fn blpk(folder: &TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_blpk"));
    command
        .current_dir(folder.path())
        .env_clear()
        .env("TMPDIR", folder.path())
        .stdin(Stdio::null());
    command
}

/// The difference between a step and its recording.
fn difference(step: &Step, output: &Output) -> Option<String> {
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    let code = output.status.code();
    let expected = expected(step);
    let last = stderr.lines().last().unwrap_or_default();
    let alike = match &expected {
        Expected::Text { exit, stdout: wanted } => {
            code == Some(*exit) && stdout == *wanted && stderr.is_empty()
        }
        Expected::Usage { last: wanted } => code == Some(2) && stdout.is_empty() && last == wanted,
        Expected::Error => {
            code == Some(1) && stdout.lines().last().is_some_and(is_error) && stderr.is_empty()
        }
    };
    (!alike).then(|| {
        format!(
            "blpk {}\nexpected {expected:?}\nexit {code:?}\n--- stdout\n{stdout}--- stderr\n{stderr}",
            step.args
        )
    })
}

fn is_error(line: &str) -> bool {
    line.starts_with("blpk: error: ")
}

#[derive(Debug)]
enum Expected {
    /// These lines, and nothing on standard error.
    Text { exit: i32, stdout: String },
    /// A usage error with this last line.
    Usage { last: String },
    /// A message about the error, where Bloscpack 0.16.0 ends with a Python trace.
    Error,
}

fn expected(step: &Step) -> Expected {
    match step.args.as_str() {
        _ if step.trace => Expected::Error,
        // Bloscpack 0.16.0 prints the format of its message, not the message.
        _ if step.stdout.contains("Element %i") => Expected::Error,
        "" => Expected::Text { exit: 2, stdout: more_options(&step.stdout) },
        _ if step.exit == 2 && !step.stderr_last.is_empty() => {
            Expected::Usage { last: more_choices(&step.stderr_last) }
        }
        _ => Expected::Text { exit: step.exit, stdout: as_key_and_value(&step.stdout) },
    }
}

/// `blpk` also has `-q`.
fn more_options(stdout: &str) -> String {
    stdout.replace("[-v | -d]", "[-v | -d | -q]").replace("  ...", " subcommand ...")
}

/// `blpk` has more subcommands and codecs.
fn more_choices(line: &str) -> String {
    line.replace("'lz4hc', 'zlib'", "'lz4hc', 'snappy', 'zlib'")
        .replace("'info', 'i')", "'info', 'i', 'verify', 'v', 'estimate', 'e')")
}

/// Bloscpack prints two Python dictionaries, each on one line; here each key has a line.
fn as_key_and_value(stdout: &str) -> String {
    let mut text = String::new();
    for line in stdout.lines() {
        match line.strip_prefix("blpk: OrderedDict([(").and_then(|rest| rest.strip_suffix(")])")) {
            None => text += &format!("{line}\n"),
            Some(members) => {
                for member in members.split("), (") {
                    let (key, value) = member.split_once(", ").unwrap();
                    text += &format!("blpk:     {}: {value}\n", key.trim_matches('\''));
                }
            }
        }
    }
    text
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}
